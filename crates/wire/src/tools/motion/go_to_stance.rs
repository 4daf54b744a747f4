use schemars::JsonSchema;
use serde::Serialize;

use super::Place;
pub use super::TargetArguments as Arguments;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "go_to_stance";

/// Where the base stands now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The arm that can reach the target from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// What is in the way, when the path is blocked, such as `a person` or `an obstacle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Stand where an arm can work",
        description: "Call this before reach or pick when the thing is out of reach: the base drives to where an \
                      arm can work at the target. `target` is a point such as locate_3d answers, or the name of \
                      a thing that the robot can look for. Look again afterwards (grasp_pose), since the base \
                      has moved.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
