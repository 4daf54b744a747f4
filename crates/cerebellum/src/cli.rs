//! The command line: what can be asked of the program, and what answers without a server of its own.

#![allow(clippy::doc_markdown, rustdoc::bare_urls, reason = "doc comments here are help texts, shown on a terminal")]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{Log, LogFormat};
use crate::exit::Failure;
use crate::telemetry;

/// Arguments of a tool, from the command line.
pub mod arguments;
/// `call`: one tool of one server.
pub mod call;
/// `capability`: the robot's body as tools.
pub mod capability;
/// `check`: anyone's robot against the contract.
pub mod check;
/// `config`: what is set, where, and what is wrong with it.
pub mod config;
/// `demo`: everything on a simulated robot.
pub mod demo;
/// `locate`: where things are.
pub mod locate;
/// `memory`: what was taught.
pub mod memory;
/// Pictures in answers, for people.
mod pictures;
/// `schema`: what others may rely on, as JSON Schemas.
pub mod schema;
/// How a server is reached: flags over variables over defaults.
pub mod serving;
/// `sim scene` and `sim snapshot`: the control port of a running simulator.
pub mod sim;
/// `stop` and `resume`: the latch of a robot.
pub mod stop;
/// Where a server is, from the command line, and what to say when it does not answer.
mod target;
/// `task`: whole tasks over a robot's tools.
pub mod task;
/// `tools`: what a server offers.
pub mod tools;
/// `vision-node`: the ROS node that looks.
pub mod vision_node;

pub use call::CallArgs;
pub use capability::CapabilityArgs;
pub use check::CheckArgs;
pub use config::{ConfigArgs, ConfigCommand};
pub use demo::DemoArgs;
pub use locate::LocateArgs;
pub use memory::{MemoryArgs, MemoryCommand};
pub use schema::SchemaArgs;
pub use serving::ServingArgs;
pub use sim::{SimArgs, SimCommand};
pub use stop::{ResumeArgs, StopArgs};
pub use target::TargetArgs;
pub use task::TaskArgs;
pub use tools::ToolsArgs;
pub use vision_node::{EngineArg, VisionNodeArgs};

const EXAMPLES: &str = "\
Examples:
  cerebellum demo
  cerebellum tools http://127.0.0.1:9201/mcp
  cerebellum call http://127.0.0.1:9201/mcp instantiate_skill template=find_object 'params={\"query\":\"red can\"}'
  cerebellum skill-control --transport http
  cerebellum config check

Exit codes: 0 done, 1 the outcome is a no, 64 bad usage or configuration, 69 nobody answers, 70 a fault of this program.";

const ABOUT: &str = "Cerebellum stands between an AI agent and a robot: over MCP the agent says what the robot looks for and \
asks what it sees; the robot is reached over ROS 2.";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "cerebellum", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 110, disable_help_subcommand = true)]
pub struct Cli {
    /// What holds for every subcommand.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every subcommand.
#[derive(Args, Clone, Debug, Default)]
pub struct GlobalArgs {
    /// The configuration: a folder, or a root file such as config/deployment/robot.yaml [variable: CEREBELLUM_CONFIG]
    #[arg(long, global = true, value_name = "PATH")]
    pub config: Option<PathBuf>,
    /// error, warn, info, debug, trace, or a filter such as info,cerebellum_mcp=debug [variable: RUST_LOG]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// How log lines look; auto is pretty on a terminal and JSON elsewhere
    #[arg(long, global = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormatArg>,
}

impl GlobalArgs {
    /// The log settings of the configuration, with the flags over them. A level that is none is bad usage.
    pub fn log_over(&self, configured: &Log) -> Result<Log, Failure> {
        let level = self.log_level.clone().unwrap_or_else(|| configured.level.clone());
        telemetry::check_level(&level).map_err(|message| Failure::usage(format!("--log-level: {message}")))?;
        Ok(Log { level, format: self.log_format.map_or(configured.format, Into::into) })
    }
}

/// The words of `--log-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormatArg {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}

impl From<LogFormatArg> for LogFormat {
    fn from(format: LogFormatArg) -> Self {
        match format {
            LogFormatArg::Auto => Self::Auto,
            LogFormatArg::Json => Self::Json,
            LogFormatArg::Pretty => Self::Pretty,
        }
    }
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Everything on a simulated robot: both servers, the vision node, and a page at http://127.0.0.1:8001
    Demo(DemoArgs),
    /// The MCP server that configures what is perceived (stdio, or port 9201)
    #[command(after_help = SKILL_CONTROL_EXAMPLES)]
    SkillControl(ServingArgs),
    /// The MCP server that tells what is seen (stdio, or port 9202)
    #[command(after_help = PERCEPTION_EXAMPLES)]
    PerceptionBuffer(ServingArgs),
    /// The MCP server that moves the robot (port 9206)
    #[command(after_help = capability::EXAMPLES)]
    Capability(CapabilityArgs),
    /// The MCP server that says where things are and how to take them (port 9207)
    #[command(after_help = locate::EXAMPLES)]
    Locate(LocateArgs),
    /// Stops a ROS 2 robot whose motion server died or froze: runs beside `capability`
    CapabilityWatchdog,
    /// The MCP server that keeps ways of doing things (stdio, or port 9203)
    #[command(after_help = memory::EXAMPLES)]
    Memory(MemoryArgs),
    /// The MCP server of whole tasks over a robot's motion and locate servers (stdio, or port 9208)
    #[command(after_help = task::EXAMPLES)]
    Task(TaskArgs),
    /// The ROS node that looks: skills in, topics out
    VisionNode(VisionNodeArgs),
    /// The simulated robot, and what its home looks like
    Sim(SimArgs),
    /// Call a tool of an MCP server and print its answer
    Call(CallArgs),
    /// List the tools of an MCP server
    Tools(ToolsArgs),
    /// Examine anyone's robot servers against the contract, and say what to change
    Check(CheckArgs),
    /// Stop a robot, until somebody resumes it
    Stop(StopArgs),
    /// Let a stopped robot move again
    Resume(ResumeArgs),
    /// Show, check or write the configuration
    Config(ConfigArgs),
    /// Print what others may rely on, as JSON Schemas
    Schema(SchemaArgs),
}

const SKILL_CONTROL_EXAMPLES: &str = "\
Examples:
  cerebellum skill-control                              over stdio, for a client that starts it
  cerebellum skill-control --transport http             at http://127.0.0.1:9201/mcp, and /sse for old clients
  cerebellum skill-control --transport http --host 0.0.0.0 --allowed-host robot.tailnet.ts.net --token-file token";

const PERCEPTION_EXAMPLES: &str = "\
Examples:
  cerebellum perception-buffer                          over stdio, for a client that starts it
  cerebellum perception-buffer --transport http         at http://127.0.0.1:9202/mcp, and /sse for old clients
  cerebellum perception-buffer --transport http --host 0.0.0.0 --allowed-host robot.tailnet.ts.net --token-file token";

/// JSON on one line for programs, indented for people.
fn json_text(data: &serde_json::Value, indented: bool) -> String {
    if indented { format!("{data:#}") } else { data.to_string() }
}

/// Says something on the side, on stderr. A reader that went away is not a fault.
fn note(text: &str) {
    use std::io::Write;
    drop(writeln!(std::io::stderr().lock(), "{text}"));
}

/// Prints to stdout. A reader that went away is not a fault.
pub(crate) fn print(text: &str) {
    use std::io::Write;
    let mut stdout = std::io::stdout().lock();
    drop(writeln!(stdout, "{text}").and_then(|()| stdout.flush()));
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_tool_call_of_the_documentation_is_read() {
        let line =
            ["cerebellum", "call", "http://127.0.0.1:9201/mcp", "instantiate_skill", r#"{"template":"find_object"}"#];
        let Command::Call(call) = Cli::try_parse_from(line).unwrap().command else { panic!("not a call") };
        assert_eq!((call.tool.as_str(), call.arguments.len()), ("instantiate_skill", 1));
    }

    #[test]
    fn flags_of_every_subcommand_may_stand_behind_it() {
        let line = [
            "cerebellum",
            "skill-control",
            "--transport",
            "http",
            "--port",
            "0",
            "--log-format",
            "pretty",
            "--config",
            "x",
        ];
        let cli = Cli::try_parse_from(line).unwrap();
        assert_eq!(cli.global.config, Some(PathBuf::from("x")));
        let log = cli.global.log_over(&Log { level: "warn".into(), format: LogFormat::Auto }).unwrap();
        assert_eq!(log, Log { level: "warn".into(), format: LogFormat::Pretty });
    }

    #[test]
    fn help_says_what_the_program_is_and_shows_examples_of_the_command_asked_about() {
        let help = |line: &[&str]| Cli::try_parse_from(line).unwrap_err().to_string();
        assert!(help(&["cerebellum", "--help"]).starts_with("Cerebellum stands between an AI agent and a robot"));
        let help_of_buffer = help(&["cerebellum", "perception-buffer", "--help"]);
        assert!(help_of_buffer.contains("  cerebellum perception-buffer --transport http"));
        assert!(!help_of_buffer.contains("cerebellum skill-control"));
        let help_of_scene = help(&["cerebellum", "sim", "scene", "--help"]);
        for words in ["sim scene place 'red can' --on", "lists the objects", "sim scene show"] {
            assert!(help_of_scene.contains(words), "{words}: {help_of_scene}");
        }
    }

    #[test]
    fn the_simulator_is_served_without_a_subcommand() {
        let Command::Sim(sim) = Cli::try_parse_from(["cerebellum", "sim", "--seed", "3"]).unwrap().command else {
            panic!()
        };
        assert!(sim.command.is_none() && sim.serve.seed == Some(3));
        let line = ["cerebellum", "sim", "scene", "place", "red can", "--at", "-1.5,2"];
        let Command::Sim(sim) = Cli::try_parse_from(line).unwrap().command else { panic!() };
        assert!(matches!(sim.command, Some(SimCommand::Scene(_))));
    }

    #[test]
    fn wrong_usage_is_refused() {
        for line in [
            vec!["cerebellum", "demo", "--ports", "9000"],
            vec!["cerebellum", "call", "http://x"],
            vec!["cerebellum", "call", "http://x", "t", "--timeout", "0"],
            vec!["cerebellum", "sim", "scene", "place", "red can"],
            vec!["cerebellum", "vision-node", "--engine", "magic"],
        ] {
            assert!(Cli::try_parse_from(&line).is_err(), "{line:?}");
        }
    }
}
