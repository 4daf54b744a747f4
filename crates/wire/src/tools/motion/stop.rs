use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "stop";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Whether base and arms were measured to stand still.
    pub stopped: bool,
    /// The last measured speed of the base, metres a second.
    pub speed_mps: f64,
    /// Whether the robot stays stopped until a person resumes it.
    pub latched: bool,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Stop the robot",
        description: "Call this at once when anything is wrong or a person says stop: base and arms brake, and \
                      no motion starts any more until a person resumes at the robot's control port. `stopped` is \
                      true only when the robot was measured to stand still. Needs no permission and no lease.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
