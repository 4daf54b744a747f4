use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "allow_gripper_touch";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The thing, for example `drawer`; anything when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// true (the default) allows it, false forbids it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow: Option<bool>,
}

/// It is done.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Let the gripper touch a thing",
        description: "Call this before a motion in which the gripper may touch a thing, such as pushing a \
                      drawer; `target` names the thing, any thing when left out. Call it with allow=false \
                      afterwards. The robot does not move.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
