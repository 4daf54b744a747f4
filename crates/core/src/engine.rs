use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::detection::Found;
use crate::frame::Frame;
use crate::skill::{OutputName, OutputValue, Skill};

/// What an engine saw in one picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// What was found, best first.
    pub detections: Vec<Found>,
    /// The outputs that could be judged from this picture.
    pub outputs: Vec<(OutputName, OutputValue)>,
    /// What the engine wants said about how it looked, such as words it did not use.
    pub notes: Vec<String>,
}

/// An output that the engine cannot judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged {
    /// The output.
    pub output: OutputName,
    /// Why, what this engine can judge instead, and which engines could judge it.
    pub reason: String,
}

/// A skill made ready for an engine. Preparing never fails: what is not understood is said.
pub struct Prepared {
    /// Looks at pictures for this skill.
    pub looker: Box<dyn Looker>,
    /// Words that were not understood, and words of the owner that were used.
    pub notes: Vec<String>,
    /// Outputs that will never be published.
    pub unjudged: Vec<Unjudged>,
}

/// Why an engine gave no answer for a picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The frame lacks something this engine needs, such as depth.
    #[error("the engine needs {what}, which the camera does not give")]
    Missing {
        /// What is missing.
        what: String,
    },
    /// The engine failed on this picture.
    #[error("{reason}")]
    Failed {
        /// What is wrong, for a person.
        reason: String,
    },
    /// The engine asks to be left alone for a while.
    #[error("the engine asks to wait {} s: {reason}", .retry_after.as_secs_f64())]
    Busy {
        /// How long.
        retry_after: Duration,
        /// Why.
        reason: String,
    },
}

/// Looks at pictures for one skill, and may remember what it saw before.
#[async_trait]
pub trait Looker: Send {
    /// Looks at one picture. Dropping the future abandons the look; the looker stays usable.
    async fn look(&mut self, frame: Arc<Frame>) -> Result<Look, EngineError>;
}

/// A way to look at pictures.
pub trait VisionEngine: Send + Sync {
    /// The engine's name in configuration and answers, such as `geometry`.
    fn name(&self) -> &'static str;
    /// Reads the skill's words and makes ready to look.
    fn prepare(&self, skill: &Skill) -> Prepared;
}
