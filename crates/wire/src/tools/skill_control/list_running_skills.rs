use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::skill::WatchJson;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "list_running_skills";

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// What is publishing now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The skills in order of creation, paused ones too.
    pub skills: Vec<RunningSkill>,
    /// How many more there are than fit into this answer; left out when all are here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
}

/// A running skill.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunningSkill {
    /// What `stop_skill` and `set_skill_enabled` take.
    pub skill_id: String,
    /// Its name on the robot; the same as `skill_id`.
    pub name: String,
    /// Where its detections are published.
    pub topic: String,
    /// Whether it looks; false while it is paused, or done after one look.
    pub enabled: bool,
    /// Where its semantic outputs are published.
    pub semantic_topics: Vec<String>,
    /// What the perception server waits for on its behalf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchJson>,
    /// The engine that looks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// What the engine said about its words, such as words it did not understand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it has cost so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend: Option<SpendAnswer>,
}

/// What a skill has cost so far.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct SpendAnswer {
    /// Pictures looked at.
    pub calls: u64,
    /// US dollars, for engines that are paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "List running skills",
        description: "Call this to learn which skills run now, where they publish, and what is wrong with them: before \
                      instantiating one that may already run, and to find the skill_id for stop_skill or \
                      set_skill_enabled. A skill with `error` publishes nothing useful; its text says why.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
