use schemars::JsonSchema;
use serde::Deserialize;

pub use super::At as Answer;
use super::PointArgument;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "reach";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Where to.
    #[serde(flatten)]
    pub point: PointArgument,
    /// Which arm: `left` or `right`; the better one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
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
