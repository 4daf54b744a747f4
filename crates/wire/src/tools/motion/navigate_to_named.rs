use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "navigate_to_named";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The place, for example `kitchen table`.
    pub name: String,
}

/// Where the base stands now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The place, as it was saved.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What is in the way, when the path is blocked, such as `a person` or `an obstacle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
    /// The places there are, when `name` is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Drive to a saved place",
        description: "Call this to drive the base to a place that was saved by name, for example `kitchen \
                      table`; list_waypoints tells the names. Do this first when what you need is not in view. \
                      Small and capital letters are the same. Returns when the base stands there and was \
                      measured, with where it stands. An unknown name is answered with `known`; a place that was \
                      saved on another map is refused. A blocked way is answered with `blocked_by`. To move an \
                      arm or a gripper to a named posture use goto_named.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
