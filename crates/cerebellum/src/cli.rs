//! The command line: what can be asked of the program, and what answers without a server of its own.

#![allow(clippy::doc_markdown, rustdoc::bare_urls, reason = "doc comments here are help texts, shown on a terminal")]

use std::path::PathBuf;

use cerebellum_sim::simulator::still::View;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::config::{Log, LogFormat};
use crate::exit::Failure;
use crate::telemetry;

/// Arguments of a tool, from the command line.
pub mod arguments;
/// `call`: one tool of one server.
pub mod call;
/// `config`: what is set, where, and what is wrong with it.
pub mod config;
/// Pictures in answers, for people.
mod pictures;
/// `schema`: what others may rely on, as JSON Schemas.
pub mod schema;
/// How a server is reached: flags over variables over defaults.
pub mod serving;
/// `sim scene` and `sim snapshot`: the control port of a running simulator.
pub mod sim;
/// Where a server is, from the command line, and what to say when it does not answer.
mod target;
/// `tools`: what a server offers.
pub mod tools;

pub use serving::ServingArgs;

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
    /// The ROS node that looks: skills in, topics out
    VisionNode(VisionNodeArgs),
    /// The simulated robot, and what its home looks like
    Sim(SimArgs),
    /// Call a tool of an MCP server and print its answer
    Call(CallArgs),
    /// List the tools of an MCP server
    Tools(ToolsArgs),
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

/// Arguments of `demo`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum demo\n  cerebellum demo --port-offset 10\n  cerebellum demo --ports 0 --ready-file ready.json"
)]
pub struct DemoArgs {
    /// 0 takes free ports for everything
    #[arg(long, value_name = "0", value_parser = clap::value_parser!(u16).range(0..=0), conflicts_with = "port_offset")]
    pub ports: Option<u16>,
    /// Moves all ports by this much
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=50_000))]
    pub port_offset: u16,
    /// Where to write one JSON object with all endpoints, once everything serves
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// Join the Zenoh router of the configuration instead of opening one of the demo's own
    #[arg(long)]
    pub join: bool,
    /// Fixes everything that is random in the simulated home
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Serve no page
    #[arg(long)]
    pub no_page: bool,
}

/// Arguments of `vision-node`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum vision-node\n  cerebellum vision-node --robot sim\n  cerebellum vision-node --robot sim --engine ground-truth"
)]
pub struct VisionNodeArgs {
    /// Embed a simulated robot of its own
    #[arg(long, value_name = "ROBOT")]
    pub robot: Option<RobotArg>,
    /// The engine that looks; the configuration's unless given
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<EngineArg>,
}

/// The words of `--robot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RobotArg {
    /// The simulated one.
    Sim,
}

/// The words of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// Picture and depth alone.
    Geometry,
    /// The simulator's own knowledge: for tests.
    #[value(alias = "ground_truth")]
    GroundTruth,
}

/// Arguments of `sim`.
#[derive(Args, Clone, Debug)]
#[command(after_help = sim::EXAMPLES)]
pub struct SimArgs {
    /// What to do; without it the simulator is served
    #[command(subcommand)]
    pub command: Option<SimCommand>,
    /// How the simulator is served.
    #[command(flatten)]
    pub serve: SimServeArgs,
}

/// What `sim` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum SimCommand {
    /// Run the simulated robot as a process of its own, on the bus (also without a subcommand)
    Serve(SimServeArgs),
    /// Change what a running simulator's home looks like
    Scene(SceneArgs),
    /// Take a picture of a running simulator's home; of the home as it is shipped when none is running
    Snapshot(SnapshotArgs),
}

/// How the simulator is served.
#[derive(Args, Clone, Debug, Default)]
pub struct SimServeArgs {
    /// Fixes everything that is random; the configuration's unless given
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The control port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    pub control_port: Option<u16>,
    /// Where to write one JSON object with the endpoints, once it serves
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
}

/// Where the control port of a simulator is.
#[derive(Args, Clone, Debug)]
pub struct ControlArgs {
    /// The control port; http://127.0.0.1:9200 unless given
    #[arg(long, value_name = "URL", global = true)]
    pub control: Option<String>,
    /// A file with the operator token; the one of the state folder unless given
    #[arg(long, value_name = "FILE", global = true)]
    pub token_file: Option<PathBuf>,
}

/// Arguments of `sim scene`.
#[derive(Args, Clone, Debug)]
#[command(after_help = sim::SCENE_EXAMPLES)]
pub struct SceneArgs {
    /// Where the simulator is.
    #[command(flatten)]
    pub control: ControlArgs,
    /// What to change.
    #[command(subcommand)]
    pub action: SceneAction,
}

/// A change of the simulated home.
#[derive(Clone, Debug, Subcommand)]
pub enum SceneAction {
    /// Say what stands where
    Show,
    /// Put an object on something, or at a place
    Place {
        /// The object, such as "red can"
        object: String,
        /// What to put it on, such as "kitchen table"
        #[arg(long, value_name = "SURFACE", required_unless_present = "at")]
        on: Option<String>,
        /// Where, in metres: X,Y from the middle of the surface, or X,Y or X,Y,Z in the map
        #[arg(long, value_name = "X,Y[,Z]", value_parser = sim::parse_at, allow_hyphen_values = true)]
        at: Option<sim::At>,
    },
    /// Move an object, by metres along the axes of the map
    Move {
        /// The object, such as "red can"
        object: String,
        /// How far: X,Y or X,Y,Z
        #[arg(long, value_name = "X,Y[,Z]", value_parser = sim::parse_at, allow_hyphen_values = true)]
        by: sim::At,
    },
    /// Let the person enter or leave
    Person {
        /// enter or leave
        what: PersonArg,
    },
    /// Cover the camera, freeze its picture, or let it see again
    Camera {
        /// cover, freeze or uncover
        what: CameraArg,
    },
    /// Put the robot at a waypoint, or at a place
    Base {
        /// The waypoint, such as "sofa"
        #[arg(required_unless_present = "at", conflicts_with = "at")]
        waypoint: Option<String>,
        /// Where, in metres in the map: X,Y
        #[arg(long, value_name = "X,Y", value_parser = sim::parse_at, allow_hyphen_values = true)]
        at: Option<sim::At>,
        /// Which way it looks, in degrees from the map's x axis
        #[arg(long, value_name = "DEGREES", requires = "at", allow_hyphen_values = true)]
        yaw_deg: Option<f64>,
    },
    /// Put everything back as it was at the start
    Reset,
}

/// What the person does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PersonArg {
    /// Comes into view.
    Enter,
    /// Goes away.
    Leave,
}

/// What happens to the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CameraArg {
    /// Sees nothing.
    #[value(alias = "blind")]
    Cover,
    /// Shows its last picture again and again.
    Freeze,
    /// Sees again.
    Uncover,
}

/// Arguments of `sim snapshot`.
#[derive(Args, Clone, Debug)]
pub struct SnapshotArgs {
    /// Where to write the picture
    #[arg(value_name = "FILE.png")]
    pub file: PathBuf,
    /// From where: head, room, living, table, person, robot or plan
    #[arg(long, default_value = "head", value_parser = sim::parse_view)]
    pub view: View,
    /// Pixels in a row
    #[arg(long, value_name = "PIXELS", default_value_t = 640)]
    pub width: u32,
    /// Rows
    #[arg(long, value_name = "PIXELS", default_value_t = 480)]
    pub height: u32,
    /// Where the simulator is.
    #[command(flatten)]
    pub control: ControlArgs,
}

/// Arguments of `call`.
#[derive(Args, Clone, Debug)]
#[command(after_help = call::EXAMPLES)]
pub struct CallArgs {
    /// Where the server is.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The tool
    pub tool: String,
    /// The arguments: one JSON object, or key=value (a value that is JSON is taken as JSON; a.b=c makes {"a":{"b":"c"}})
    #[arg(value_name = "JSON|key=value")]
    pub arguments: Vec<String>,
    /// Print pictures as the base64 they are
    #[arg(long, conflicts_with = "save")]
    pub raw: bool,
    /// Write pictures into this folder and print their names
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// The longest time without news from the tool, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    pub timeout: f64,
}

/// Arguments of `tools`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum tools http://127.0.0.1:9201/mcp\n  cerebellum tools http://127.0.0.1:9202/sse --json"
)]
pub struct ToolsArgs {
    /// Where the server is.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Print the schemas too, as JSON
    #[arg(long)]
    pub json: bool,
}

/// Where an MCP server is.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// http://HOST:PORT/mcp, http://HOST:PORT/sse, or 'stdio:PROGRAM ARGUMENT ...'
    pub url: String,
    /// A file with the bearer token
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Arguments of `config`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum config show\n  CEREBELLUM_DEPLOYMENT=robot cerebellum config check\n  cerebellum config init ./config"
)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What `config` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write the shipped configuration into a folder, to be changed
    Init {
        /// The folder
        #[arg(default_value = "config")]
        folder: PathBuf,
        /// Overwrite files that are there
        #[arg(long)]
        force: bool,
    },
    /// Print every value and the file and line it comes from; secrets are redacted
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Find everything that is wrong; exit 64 if something is
    Check,
}

/// Arguments of `schema`.
#[derive(Args, Clone, Debug)]
pub struct SchemaArgs {
    /// Compare with the committed files of this folder instead; exit 1 if they differ
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = schema::FOLDER, conflicts_with = "write")]
    pub check: Option<PathBuf>,
    /// Write the files into this folder instead
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = schema::FOLDER)]
    pub write: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 86_400.0 => Ok(number),
        _ => Err("expected seconds, more than 0 and at most 86400".to_owned()),
    }
}

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
fn print(text: &str) {
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
