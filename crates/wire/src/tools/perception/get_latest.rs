use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DetectionAnswer, ImageSize, Outputs};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "get_latest";

/// Which skill.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The `skill_id` that `instantiate_skill` answered, for example `find_object`.
    pub skill: String,
}

/// The newest detections and outputs of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The skill.
    pub skill: String,
    /// Where its detections are published.
    pub topic: String,
    /// Stamp of the picture that was looked at, Unix seconds; left out when it has looked at none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<f64>,
    /// The frame of the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_id: Option<String>,
    /// How old the detections are, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<f64>,
    /// Whether the detections are too old to act on.
    pub stale: bool,
    /// The size of the picture, which boxes refer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageSize>,
    /// What was found, best first. Empty and not stale means: looked, saw nothing.
    pub detections: Vec<DetectionAnswer>,
    /// The semantic outputs by name.
    pub outputs: Outputs,
    /// How many detections did not fit; left out when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// What the engine said about the skill's words, and what was strange about its messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong with the skill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// There when the stamp tells no age: how many seconds it lay ahead of the clock, 0 when there was no stamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_skew_s: Option<f64>,
    /// The skills there are, when `skill` is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Latest result of a skill",
        description: "Call this to get the newest result of one skill in full: each detection with label, score, box in \
                      pixels, point in metres and a reference to its mask, and the skill's semantic outputs. Answers at \
                      once, from memory. Right after instantiate_skill there is no result yet: `stale` is true then, so \
                      call again after a second. A skill that does not exist is answered with `known`.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
