use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "navigate_to";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Metres in `map`.
    pub x: f64,
    /// Metres in `map`.
    pub y: f64,
    /// Which way to face: degrees about `z`, counter-clockwise from `x` of the map.
    pub yaw_deg: f64,
}

/// Where the base stands now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// What is in the way, when the path is blocked, such as `a person` or `an obstacle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Drive to a point",
        description: "Call this to drive the base to a point of the map, round what is in the way, for example \
                      x=1.5, y=-0.5, yaw_deg=90. Prefer navigate_to_named for places that have a name. Returns \
                      when the base stands there and was measured, with where it stands. A goal in a wall, in a \
                      keep-out zone or out of reach is refused with the reason; a blocked way is answered with \
                      `blocked_by`.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
