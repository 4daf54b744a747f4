use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{At, PoseArgument};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "place";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The surface, for example `other table`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<String>,
    /// Where the foot of the thing comes to stand: the `pose` of `place_pose`, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pose: Option<PoseArgument>,
    /// Which arm: `left` or `right`; the one that holds something when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// Where it was put.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Which arm, and where.
    #[serde(flatten)]
    pub at: At,
    /// What was put down, if it was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The surfaces there are, when `surface` is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Put down what is held",
        description: "Call this to put down what an arm holds, on a surface, open the fingers and withdraw. Give \
                      the `pose` that place_pose answered, or a `surface` by name, or both: then the pose is \
                      used and must lie on that surface. Refused while the hand is empty. The answer says where \
                      the thing was put.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
