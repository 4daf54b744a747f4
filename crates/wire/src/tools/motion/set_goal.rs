use schemars::JsonSchema;
use serde::Serialize;

use super::Place;
pub use super::navigate_to::Arguments;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "set_goal";

/// The goal that was marked.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// Always `map`.
    pub frame: String,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Mark a goal",
        description: "Call this to mark a goal on the map without driving there, so that save_waypoint_from_goal \
                      can give it a name. The robot does not move.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
