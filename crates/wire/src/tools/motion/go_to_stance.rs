use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TargetArgument;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "go_to_stance";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What to stand before: a point `{x, y, z, frame}` such as `locate_3d` answers, or the name of a thing.
    pub target: TargetArgument,
    /// Which arm shall reach it: `left` or `right`; the better one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// Where the base stands now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Metres in `map`.
    pub x: f64,
    /// Metres in `map`.
    pub y: f64,
    /// Degrees about `z`, counter-clockwise from `x` of the map.
    pub yaw_deg: f64,
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
