use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "turn_by";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Degrees; positive turns left.
    pub degrees: f64,
}

/// How far the base came, and where it stands now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// How far it came, in the unit and with the sign of the argument, as measured.
    pub moved: f64,
    /// Metres in `map`.
    pub x: f64,
    /// Metres in `map`.
    pub y: f64,
    /// Degrees about `z`, counter-clockwise from `x` of the map.
    pub yaw_deg: f64,
    /// What is in the way, when the path is blocked, such as `a person` or `an obstacle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Turn on the spot",
        description: "Call this to turn the base on the spot, for example to look around: degrees=30 turns left, \
                      degrees=-30 turns right, at most 180 degrees a call unless the owner set another limit. \
                      `moved` is what was measured.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
