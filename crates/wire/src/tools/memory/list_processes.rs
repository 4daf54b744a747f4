use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "list_processes";
/// How many processes are listed unless told.
pub const LIMIT_DEFAULT: usize = 50;
/// The most processes that are listed at once.
pub const LIMIT_MAX: usize = 200;

/// Which part of the list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// How many to pass over, to go on after an earlier list; default 0.
    #[serde(default)]
    pub skip: Option<usize>,
    /// At most so many, 1 to 200; default 50.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What is kept.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// How many processes there are, listed here or not.
    pub total: usize,
    /// The processes by name, without steps and plans; `find_processes` answers those.
    pub processes: Vec<Listed>,
    /// How many come after these; call again with a larger `skip`. Left out when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
}

/// A process in short.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Listed {
    /// What `record_outcome` and `forget_process` take.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for; the beginning when it is long.
    pub description: String,
    /// Words it is filed under.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// From 1.
    pub version: u32,
    /// How often it was followed and worked.
    pub successes: u32,
    /// How often it was followed and did not work.
    pub failures: u32,
    /// Who saved it.
    pub source: String,
    /// When this version was saved, Unix seconds.
    pub saved: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "List processes",
        description: "Call this to see what the robot was taught, for example when someone asks what it knows. Answers the \
                      processes by name with their counts of outcomes and who saved them. To find one for a task, call \
                      find_processes instead.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
