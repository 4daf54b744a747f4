use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "get_pose";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// Where the base is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The frame of the numbers, `map` when localised.
    pub frame: String,
    /// How old the measurement is, in seconds.
    pub age_s: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Where the base is",
        description: "Call this to learn where the base stands. `frame` is `map` when the robot knows where it \
                      is on its map, else `odom`: then the numbers count from where it started. Answers at once; \
                      `age_s` says how old the measurement is.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
