use schemars::JsonSchema;
use serde::Deserialize;

pub use super::Stepped as Answer;
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
