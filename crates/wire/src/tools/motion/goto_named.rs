use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "goto_named";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What to move, for example `left_arm` or `right_gripper`.
    pub group: String,
    /// The posture, for example `open`, `closed` or `carry`.
    pub state: String,
}

/// The posture it is in now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The group.
    pub group: String,
    /// The posture.
    pub state: String,
    /// What there is, when `group` or `state` is none of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Move an arm or gripper to a posture",
        description: "Call this to move an arm or a gripper to a posture that has a name, for example \
                      group=left_gripper, state=open, or group=right_arm, state=carry. Opening a gripper lets go \
                      of what it holds. An unknown group or state is answered with `known`. To drive the base to \
                      a place use navigate_to_named.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
