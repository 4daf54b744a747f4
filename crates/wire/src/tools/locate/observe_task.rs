use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "observe_task";

/// What is going on.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What should be true now, in plain words, for example `the red can is in view` or `no person is near the table`.
    pub context: String,
}

/// Whether it looks right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// What looks wrong; empty when nothing does.
    pub issue: String,
    /// How that was judged, and from what.
    pub reasoning: String,
    /// Whether it was judged at all. False: the words are beyond this engine, and `ok` says nothing.
    pub judged: bool,
    /// How old the picture is, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_s: Option<f64>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Does it look right?",
        description: "Call this while something is going on to check by eye that it goes right. `context` says what should \
                      be true now, for example {\"context\": \"the red can is in view\"}. Answers `ok`, `issue` and \
                      `reasoning`. When this robot's eyes cannot judge such words it answers `ok: true, judged: false`, \
                      which is neither good nor bad news. It looks at one picture and remembers nothing.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
