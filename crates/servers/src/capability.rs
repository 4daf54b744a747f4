//! `motion`: the robot's body as tools. Each call does one whole thing, or says why not.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cerebellum_core::{Clock, Limits, MotionLease, Parts, PlanarPose, Robot, RobotError, Side, Stamp, WallClock};
use cerebellum_wire::{ToolError, ToolOutcome, ToolSpec, text};
use serde::Serialize;

use self::call_log::CallLog;
use self::drive::Drives;
pub use self::locate::{Locate, LocateError, Located};
use self::stands::Stands;
use self::waypoints::Waypoints;

/// What the tools answer from what the robot measures.
mod answers;
/// Where the base goes.
mod base;
/// The outcomes of calls with a key, on disk.
mod call_log;
/// One motion at a time: busy, lease, progress, cancel, standing still.
mod drive;
/// Pick, place, and what the arms hold.
mod hands;
/// The port to who can look for things.
mod locate;
/// Numbers, sides and frames of arguments.
mod numbers;
/// `prompt://system`.
mod prompt;
/// The server as the protocol sees it.
mod server;
/// Where the base stood when.
mod stands;
/// Which tools this robot has.
mod surface;
/// Tables and what else things stand on.
mod surfaces;
/// The waypoint file.
mod waypoints;

/// What the server is built on.
#[derive(Clone)]
pub struct Ports {
    /// The robot.
    pub robot: Arc<dyn Robot>,
    /// Who may move it.
    pub lease: Arc<dyn MotionLease>,
    /// The robot's time: stamps and ages.
    pub clock: Arc<dyn Clock>,
    /// The host's time: progress and deadlines.
    pub wall: Arc<dyn WallClock>,
    /// Who looks for things by name; without it, tools ask for points and grasps.
    pub locate: Option<Arc<dyn Locate>>,
}

/// How the server is set up.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// What people call this robot.
    pub name: String,
    /// The file of saved places.
    pub waypoints: PathBuf,
    /// The file of calls' outcomes.
    pub calls: PathBuf,
    /// The owner's prompt for planners; the embedded one when `None` or unreadable.
    pub prompt: Option<PathBuf>,
    /// Offers only tools that change nothing, and `stop`.
    pub read_only: bool,
    /// Offers only these tools, and `stop`; all when empty.
    pub allow: Vec<String>,
}

/// Why the server cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A tool that is allowed does not exist.
    #[error("no tool named {name:?} to allow; there are {known}")]
    UnknownTool {
        /// What stands in the list.
        name: String,
        /// What could.
        known: String,
    },
    /// The file of calls cannot be read or written.
    #[error("the call log {} cannot be used: {source}; check the folder's permissions", .path.display())]
    CallLog {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// The `motion` server.
pub struct Server {
    ports: Ports,
    config: Config,
    parts: Parts,
    specs: Vec<ToolSpec>,
    waypoints: Waypoints,
    calls: CallLog,
    drives: Drives,
    stands: Stands,
    /// What was picked up with each arm and not yet put down.
    labels: Mutex<Vec<(Side, String)>>,
    goal: Mutex<Option<(PlanarPose, Stamp)>>,
}

impl Server {
    /// A server over a robot. Reads the file of calls; the other files are read when they are needed.
    pub fn new(ports: Ports, config: Config) -> Result<Self, ConfigError> {
        let parts = ports.robot.parts();
        let specs = surface::of(&parts, &config)?;
        let calls = CallLog::open(&config.calls)
            .map_err(|source| ConfigError::CallLog { path: config.calls.clone(), source })?;
        Ok(Self {
            waypoints: Waypoints::new(config.waypoints.clone()),
            drives: Drives::new(ports.clone()),
            stands: Stands::default(),
            labels: Mutex::default(),
            goal: Mutex::default(),
            ports,
            config,
            parts,
            specs,
            calls,
        })
    }

    async fn limits(&self) -> Result<Limits, Failure> {
        Ok(self.drives.within("limits", self.ports.robot.limits()).await?)
    }

    fn label(&self, side: Side) -> Option<String> {
        let labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        labels.iter().find(|(of, _)| *of == side).map(|(_, label)| label.clone())
    }

    fn set_label(&self, side: Side, label: Option<String>) {
        let mut labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        labels.retain(|(of, _)| *of != side);
        labels.extend(label.map(|label| (side, label)));
    }
}

/// An answer that is not the one that was wanted: a no of the tool, or that it could not do its work.
struct Failure(ToolOutcome);

impl Failure {
    /// The tool worked and the answer is a no.
    fn no(code: &str, message: impl Into<String>, next: impl Into<String>, data: &impl Serialize) -> Self {
        Self(ToolOutcome::declined(&ToolError::new(code, message, next), data))
    }

    /// An argument is wrong.
    fn bad(message: impl Into<String>, next: impl Into<String>, data: &impl Serialize) -> Self {
        Self(ToolOutcome::failed(&ToolError::new("bad_arguments", message, next), data))
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self(ToolOutcome::failed(&error, &()))
    }
}

impl From<RobotError> for Failure {
    fn from(error: RobotError) -> Self {
        match &error {
            RobotError::Unsupported { .. } => {
                Self::no("unsupported", error.to_string(), "Do it another way; this robot has no such part.", &())
            }
            RobotError::Unavailable { .. } => ToolError::new(
                "robot_unavailable",
                error.to_string(),
                "Call again in a few seconds; if it stays so, a person must look at the robot.",
            )
            .into(),
        }
    }
}

/// A name as it is compared: compatibility forms, capital letters and spaces make no difference.
fn folded(name: &str) -> String {
    use unicode_normalization::UnicodeNormalization;
    let folded: String = name.nfkc().collect::<String>().to_lowercase().nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A caller's words as they are kept and repeated to others: short, and nothing in them is hidden.
fn plain(given: &str) -> String {
    text::cut(given.replace(text::is_hidden, " ").trim())
}

/// The answer, with what was wrong with the file of places.
fn with_warning(mut outcome: ToolOutcome, warning: Option<String>) -> ToolOutcome {
    if let Some(warning) = warning {
        outcome.warn(warning);
    }
    outcome
}

#[cfg(test)]
mod tests;
