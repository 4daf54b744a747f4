use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "forget_process";

/// Which process.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Its `id`, or its exact name.
    pub id: String,
}

/// What was forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The process.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The version it had.
    pub version: u32,
    /// The names nearest to `id`, when no process has that id or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Forget a process",
        description: "Call this only when a person asks to forget a process: it goes with all its versions and outcomes, \
                      and cannot be brought back. Takes the id or the exact name, never a part of it. A process that does \
                      not exist is answered with `known`.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
