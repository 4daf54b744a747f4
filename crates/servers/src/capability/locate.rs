use async_trait::async_trait;
use cerebellum_core::{Grasp, Pose, Side};
use glam::DVec3;

/// A thing that was looked for and seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// What it is called by who saw it.
    pub label: String,
    /// Where it is, in `map`.
    pub point: DVec3,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    /// It is not in view, or several things match.
    #[error("{reason}")]
    NotFound {
        /// What was seen instead, for a planner.
        reason: String,
    },
    /// It is in view and no arm can take it from here, or nothing free is there.
    #[error("{reason}")]
    Unreachable {
        /// Why, and what may help.
        reason: String,
    },
    /// Nobody can look now.
    #[error("{reason}")]
    Unavailable {
        /// What is wrong and what to look at.
        reason: String,
    },
}

/// Who can look for things by name: the locate server, asked over MCP or in process.
#[async_trait]
pub trait Locate: Send + Sync {
    /// Where a thing is now.
    async fn thing(&self, name: &str) -> Result<Located, LocateError>;
    /// How to take a thing, measured now, and with which arm.
    async fn grasp(&self, name: &str, side: Option<Side>) -> Result<(Side, Grasp), LocateError>;
    /// A free spot on a surface, in `map`.
    async fn spot(&self, surface: &str) -> Result<Pose, LocateError>;
}
