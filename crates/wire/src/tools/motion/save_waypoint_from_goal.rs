use schemars::JsonSchema;
use serde::Serialize;

use super::Place;
pub use super::save_waypoint::Arguments;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "save_waypoint_from_goal";

/// The place that was saved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The name.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// How long ago the goal was marked, in seconds.
    pub age_s: f64,
    /// Whether a place of that name was moved; left out when not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<bool>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Save the marked goal",
        description: "Call this to save the goal that was marked last, by a person on a map (such as the 2D goal \
                      arrow of RViz) or by set_goal, under a name, without driving there. `age_s` says how long \
                      ago it was marked: ask the person when that is long.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
