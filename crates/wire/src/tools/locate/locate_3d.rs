use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Candidate;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "locate_3d";

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What to look for, in plain words, for example `the blue box` or `a person`.
    pub query: String,
}

/// Where it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Whether it is in view. False is an ordinary answer: look from another place.
    pub found: bool,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// How well it matches the words, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its centre, in metres. Left out when depth did not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// Metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// Metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
    /// The frame of the point: `map` when the robot is localised, else the camera's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// How old the picture is, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<f64>,
    /// All that match, best first, when more than one does: ask which is meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// What was said about the words, such as words that were not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Where is it?",
        description: "Call this to find a thing or a person that should be in view, and where it is in space. Example: \
                      {\"query\": \"red can\"}. Looks at one new picture. Answers `found`, `label`, `score` and the centre \
                      `x`, `y`, `z` in `frame`. Not in view is `found: false`, not an error: drive to where it should be \
                      and look again. When two match, `candidates` lists both and the point is that of the best: ask \
                      which one is meant before acting. `notes` says which words were not understood.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
