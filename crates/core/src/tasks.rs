use std::time::Duration;

use async_trait::async_trait;

use crate::skill::Skill;
use crate::time::Stamp;

/// What came of creating a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTask {
    /// The name the skill runs under.
    pub name: String,
    /// All its topics: detections first, then the semantic outputs, then the overlay.
    pub topics: Vec<String>,
    /// What the node wants said, such as words the engine did not understand; empty when all is well.
    pub message: String,
}

/// What can be done to a running skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskAction {
    /// Tear it down; its topics leave the graph.
    Delete,
    /// Look again after `Disable`.
    Enable,
    /// Keep the configuration and the topics, publish nothing.
    Disable,
}

impl TaskAction {
    /// The word of the service.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Enable => "enable",
            Self::Disable => "disable",
        }
    }
}

/// What a skill has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spend {
    /// Pictures looked at.
    pub calls: u64,
    /// US dollars, for engines that are paid for.
    pub usd: Option<f64>,
}

/// A skill of the vision node, as it reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskInfo {
    /// The unique name.
    pub name: String,
    /// Whether it looks.
    pub enabled: bool,
    /// The detections topic.
    pub topic: String,
    /// The topics of its outputs.
    pub semantic_topics: Vec<String>,
    /// The whole skill; `None` when the node sent one that breaks the schema.
    pub skill: Option<Skill>,
    /// What is wrong with it, if anything.
    pub error: Option<String>,
    /// The engine that looks for it.
    pub engine: Option<String>,
    /// What the engine said about its words.
    pub notes: Vec<String>,
    /// When it was created, on the robot's clock; zero when the node does not say.
    pub created: Stamp,
    /// What it has cost.
    pub spend: Option<Spend>,
}

/// Why the vision node did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// The bus is not connected (yet).
    #[error("the ROS bus is not connected yet: {reason}")]
    BusDown {
        /// What is being waited for, and which setting changes it.
        reason: String,
    },
    /// Nobody offers the service.
    #[error("nobody offers {service}; is the vision node running?")]
    Unavailable {
        /// The full service name.
        service: String,
    },
    /// The service was called and did not answer in time. Whether it took effect is not known.
    #[error("no reply from {service} within {} s", .waited.as_secs_f64())]
    TimedOut {
        /// The full service name.
        service: String,
        /// How long was waited.
        waited: Duration,
    },
    /// The node understood and said no.
    #[error("{message}")]
    Refused {
        /// The node's own words.
        message: String,
    },
    /// The node's answer could not be read.
    #[error("{service} answered something unreadable: {reason}")]
    Garbled {
        /// The full service name.
        service: String,
        /// What is wrong with the answer.
        reason: String,
    },
}

/// The vision node's skills. Implemented by the node itself and by every bus that reaches one.
#[async_trait]
pub trait VisionTasks: Send + Sync {
    /// Starts a skill and advertises its topics. A name that runs is refused with a message that names it.
    async fn create(&self, skill: &Skill, deadline: Duration) -> Result<CreatedTask, TaskError>;
    /// Deletes, enables or disables a skill and answers the node's message. An unknown name is refused.
    async fn manage(&self, name: &str, action: TaskAction, deadline: Duration) -> Result<String, TaskError>;
    /// All skills, enabled or not, in order of creation.
    async fn list(&self, deadline: Duration) -> Result<Vec<TaskInfo>, TaskError>;
}
