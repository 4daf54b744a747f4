use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "clear_octomap";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// It is done.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Forget seen obstacles",
        description: "Call this when the robot refuses to move because of an obstacle that is not there any \
                      more: it forgets the obstacles that it saw and that are not in its map, and looks anew. \
                      The robot does not move.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
