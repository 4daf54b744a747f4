//! Examines anyone's robot servers against the contract between robot and brain, and says of each failing item what to
//! change.

use std::io::IsTerminal;

use cerebellum_mcp::attach::Endpoint;

use crate::exit::Exit;

/// Attaches to the servers and calls their tools.
mod examinee;
/// Checks that move the robot.
mod moving;
/// Checks of pictures.
mod picture;
/// Checks that only read.
mod reading;
/// What was found, as a table and as JSON.
mod report;
/// Checks of names and schemas.
mod surface;

use examinee::Examinee;
use report::Report;

/// What is examined, and how far.
pub struct Options {
    /// The servers, by the URL that a person gave.
    pub servers: Vec<(String, Endpoint)>,
    /// Whether the robot may be moved. It turns on the spot and drives less than half a metre.
    pub allow_motion: bool,
    /// JSON instead of a table.
    pub json: bool,
}

/// Examines the servers together and prints the report. The exit code is 0 when nothing fails, 1 when something does, and
/// 69 when no server could be attached to.
pub async fn run(options: Options) -> Exit {
    let mut report = Report::default();
    let robot = Examinee::attach(options.servers, &mut report).await;
    if robot.is_empty() {
        print(&report, options.json);
        return Exit::Unavailable;
    }
    surface::examine(&robot, &mut report);
    reading::examine(&robot, &mut report).await;
    picture::examine(&robot, &mut report).await;
    if options.allow_motion {
        moving::examine(&robot, &mut report).await;
    } else {
        moving::skip(&robot, &mut report);
    }
    robot.close().await;
    print(&report, options.json);
    if report.failures() == 0 { Exit::Ok } else { Exit::Failed }
}

fn print(report: &Report, json: bool) {
    let width = std::io::stdout().is_terminal().then(|| comfy_table::Table::new().width()).flatten();
    let text = if json { report.to_json().to_string() } else { report.to_table(width) };
    crate::cli::print(&text);
}
