use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProcessAnswer;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "find_processes";
/// How many processes are answered unless told.
pub const LIMIT_DEFAULT: usize = 5;
/// The most processes that are answered.
pub const LIMIT_MAX: usize = 50;

/// What is to be done.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What is to be done, in plain words, for example `make coffee in the kitchen`. Empty for what worked best so far.
    pub query: String,
    /// At most so many, 1 to 50; default 5.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What fits.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The processes that fit, best first. Empty means: nothing is known about this.
    pub processes: Vec<ProcessAnswer>,
    /// How many of those asked for did not fit into this answer; ask with other words or a smaller limit. Left out when
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Find processes",
        description: "Call this at the start of a task, to learn whether the robot was taught how to do it. Give the task \
                      in plain words; names, descriptions, tags and steps are searched, and of equal matches the one that \
                      worked more often comes first. Each process answers its steps or plan, its version, how often it \
                      worked and failed, and who saved it. When you follow one, call record_outcome with its id afterwards.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
