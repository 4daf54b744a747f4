//! The program: command line, configuration, telemetry, composition.

/// Each system in a process of its own.
pub mod alone;
/// Anyone's robot against the contract between robot and brain.
pub mod check;
/// The command line: what can be asked of the program.
pub mod cli;
/// The only place that names adapters.
pub mod compose;
/// The configuration: read, checked, shown.
pub mod config;
/// Stop, resume, limits and keep-out zones of a robot that this process owns.
pub mod control;
/// Everything in one process, on a simulated robot.
pub mod demo;
/// Exit codes, and why the program ends.
pub mod exit;
/// HTTP for the page and for scene control.
pub mod http;
/// What the demo's page shows, and what its buttons do.
pub mod page;
/// The tools of a robot's other servers.
pub mod robot_tools;
/// Tokens in files.
pub mod secrets;
/// The files of the state folder, one process at a time.
pub mod state;
/// Logs on stderr.
pub mod telemetry;
