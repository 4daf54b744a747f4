use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "reach";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Metres in `frame`.
    pub x: f64,
    /// Metres in `frame`.
    pub y: f64,
    /// Metres in `frame`, up from the floor.
    pub z: f64,
    /// `map` (the default) or `base_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Which arm: `left` or `right`; the better one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// Where the fingertips are now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The arm.
    pub side: String,
    /// Metres in `map`.
    pub x: f64,
    /// Metres in `map`.
    pub y: f64,
    /// Metres above the floor.
    pub z: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Bring the fingertips to a point",
        description: "Call this to bring the fingertips of an arm to a point, for example to point at it or to \
                      wait before a thing. The base does not move: call go_to_stance first when the point is out \
                      of reach. Returns where the fingertips were measured. To take a thing call pick.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
