use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "robot_state";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// What is wrong with the robot, if anything.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// What is wrong; empty when all is well.
    pub issue: String,
    /// What was looked at.
    pub reasoning: String,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Is the robot well",
        description: "Call this to learn whether the robot itself is well: no joint overloaded, no sensor lost, \
                      not stopped. `ok` is false when something is wrong; `issue` then says what, and \
                      `reasoning` how that was judged. Answers at once.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
