use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DetectionAnswer, Outputs, Reference};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "what_do_you_see";

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// Everything the robot sees.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The whole in a few lines, ready for a prompt.
    pub text: String,
    /// Each skill, the fresh ones first.
    pub skills: Vec<SkillAnswer>,
    /// The health of the camera; null when none is watched.
    pub camera: Option<CameraAnswer>,
    /// How many detections did not fit; left out when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// How many whole skills did not fit; `get_latest` has them. Left out when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_skills: Option<usize>,
    /// What keeps the robot from seeing, such as a vision node that does not answer. Left out when all is well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What one skill sees.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SkillAnswer {
    /// The skill.
    pub skill: String,
    /// Whether it looks.
    pub enabled: bool,
    /// How old the newest value is, in seconds; null when it has said nothing yet.
    pub age_s: Option<f64>,
    /// Whether all of it is too old to act on.
    pub stale: bool,
    /// Its semantic outputs.
    pub outputs: Outputs,
    /// What it found, in one line.
    pub summary: String,
    /// What it found, at most 20.
    pub detections: Vec<DetectionAnswer>,
    /// Where the annotated picture can be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay_ref: Option<Reference>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The health of the camera.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct CameraAnswer {
    /// Its topic.
    pub topic: String,
    /// Whether pictures come.
    pub alive: bool,
    /// How old the last picture is, in seconds; null when there was none.
    pub last_frame_age_s: Option<f64>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "What do you see?",
        description: "Call this to learn what the robot sees now: at the start of a task, and whenever someone asks. \
                      Answers at once, from memory, for all running skills: semantic outputs, a line and at most 20 \
                      detections each, and the camera's health; `text` says the same in a few lines. It shows only what \
                      running skills look for; start one with instantiate_skill first. Never act on what is marked stale.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
