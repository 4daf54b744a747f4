use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "list_streams";
/// How many streams are listed unless told.
pub const LIMIT_DEFAULT: usize = 200;

/// Which streams.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Only topics that begin with this, for example `/vision/find_object/`.
    #[serde(default)]
    pub prefix: Option<String>,
    /// At most so many; default 200.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What is live.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// How many streams are live, listed here or not.
    pub total: usize,
    /// The streams in order of their topics.
    pub streams: Vec<StreamAnswer>,
    /// Topics that are there and cannot be read, with the reason. Left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// A live stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct StreamAnswer {
    /// Its topic.
    pub topic: String,
    /// The skill it belongs to.
    pub skill: String,
    /// `detections`, `output` or `overlay`.
    pub kind: &'static str,
    /// Seconds since its last message arrived.
    pub last_update_age_s: f64,
    /// Whether its value is too old to act on.
    pub stale: bool,
    /// What is wrong with its skill or its messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "List live streams",
        description: "Call this to check which topics of running skills are live and how fresh they are, for example when \
                      a result is missing. A stream that fell silent disappears from the list. For what was seen, call \
                      what_do_you_see or get_latest instead.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
