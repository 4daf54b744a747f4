use schemars::JsonSchema;
use serde::Deserialize;

pub use super::Stepped as Answer;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "drive_by";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Metres; positive is forward.
    pub distance_m: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Drive straight",
        description: "Call this to drive the base straight by a short way: distance_m=0.2 is forward, \
                      distance_m=-0.2 is backward, at most 2 m a call unless the owner set another limit. It \
                      stops before what is in the way and answers `blocked_by`. `moved` is what was measured. To \
                      get to a place use navigate_to_named.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
