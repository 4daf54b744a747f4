use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "save_waypoint";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What to call the place, for example `workbench`.
    pub name: String,
}

/// The place that was saved.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The name.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// Whether a place of that name was moved; left out when not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<bool>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Save this place",
        description: "Call this to teach a place: where the base stands now is kept under the name, on disk, and \
                      navigate_to_named drives there from then on. A name that is taken is moved here; the \
                      answer then says `replaced`.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
