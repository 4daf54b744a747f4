use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "record_outcome";

/// What came of following a process.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The `id` that `find_processes` or `save_process` answered; its exact name is taken too.
    pub id: String,
    /// Whether it worked, judged by what was seen, not by what was meant.
    pub ok: bool,
    /// What went wrong, or what to do better, in a sentence.
    #[serde(default)]
    pub note: Option<String>,
}

/// The counts so far.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The process.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How often it was followed and worked.
    pub successes: u32,
    /// How often it was followed and did not work.
    pub failures: u32,
    /// The names nearest to `id`, when no process has that id or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Record an outcome",
        description: "Call this once after following a process, whether it worked or not: processes that work are found \
                      first. Answers the counts so far. A process that does not exist is answered with `known`.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
