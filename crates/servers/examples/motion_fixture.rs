//! The motion server over a robot without a body, on standard input and output: `motion_fixture FOLDER`. Its first motion
//! never ends by itself. When the server has ended, `FOLDER/ended` says how each motion did.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use cerebellum_kit::{HostClock, Leases};
use cerebellum_mcp::serve::{ServeConfig, serve};
use cerebellum_servers::capability::{Config, Ports, Server};
use cerebellum_testkit::FakeRobot;
use cerebellum_testkit::robot::Play;
use tokio_util::sync::CancellationToken;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("the folder is missing")?);
    let clock = Arc::new(HostClock::new());
    let robot = Arc::new(FakeRobot::new(clock.clone()));
    robot.play(Play::Hang);
    let lease = Arc::new(Leases::new(clock.clone()));
    let ports = Ports { robot: robot.clone(), lease, clock: clock.clone(), wall: clock, locate: None };
    let config =
        Config { waypoints: folder.join("waypoints.json"), calls: folder.join("calls.jsonl"), ..Config::default() };
    let server = Arc::new(Server::new(ports, config)?);
    serve(server, ServeConfig::default(), CancellationToken::new()).await?.finished().await;
    let ended: Vec<String> = robot.runs().iter().map(|run| format!("{:?}", run.ended)).collect();
    std::fs::write(folder.join("ended"), ended.join("\n"))?;
    Ok(())
}
