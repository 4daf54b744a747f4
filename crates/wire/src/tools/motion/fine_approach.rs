use schemars::JsonSchema;
use serde::Serialize;

pub use super::TargetArguments as Arguments;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "fine_approach";

/// How close the fingers are.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Metres from the fingertips to the target.
    pub distance_m: f64,
    /// The arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// What a planner should know of how it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Bring open fingers close to a thing",
        description: "Call this to bring the open fingers slowly close before a thing; they stop at contact. \
                      `target` is a point such as locate_3d answers, or the name of a thing that the robot can \
                      look for. Answers how far the fingertips are from it.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
