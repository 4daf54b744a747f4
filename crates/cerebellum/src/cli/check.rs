use std::path::PathBuf;

use clap::Args;

use super::target::{self, TargetArgs};
use crate::check;
use crate::exit::{Exit, Failure};

/// Arguments of `check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CheckArgs {
    /// The robot's servers: http://HOST:PORT/mcp, http://HOST:PORT/sse, or 'stdio:PROGRAM ARGUMENT ...'
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
    /// A file with the bearer token that all of them want
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Also move the robot: turns on the spot and small refusals. It needs two metres of free floor and somebody beside it
    #[arg(long)]
    pub allow_motion: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  cerebellum check http://127.0.0.1:9206/sse http://127.0.0.1:9207/sse
  cerebellum check http://robot:9206/sse http://robot:9207/sse --allow-motion
  cerebellum check http://robot:9206/mcp --json

Exit codes: 0 nothing fails, 1 something does, 64 bad usage, 69 no server could be attached to.";

/// Examines the servers and prints the report.
pub async fn run(args: CheckArgs) -> Result<Exit, Failure> {
    let mut servers = Vec::new();
    for url in args.urls {
        let target = TargetArgs { url: url.clone(), token_file: args.token_file.clone() };
        servers.push((url, target::endpoint(&target)?));
    }
    target::choose_tls();
    let options = check::Options { servers, allow_motion: args.allow_motion, json: args.json };
    Ok(Box::pin(check::run(options)).await)
}
