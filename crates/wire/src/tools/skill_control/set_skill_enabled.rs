use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "set_skill_enabled";

/// Which skill, and what it should do.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The `skill_id` that `instantiate_skill` answered, for example `find_object`.
    pub skill_id: String,
    /// true to look again, false to pause.
    pub enabled: bool,
}

/// What the skill does now.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The skill.
    pub skill_id: String,
    /// Whether it looks.
    pub enabled: bool,
    /// The skills that run, when `skill_id` is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Pause a skill, or let it go on",
        description: "Call this with enabled=false to pause a skill without losing its configuration, and with \
                      enabled=true to let it look again, also for one more look of a skill that looks once. A paused skill \
                      keeps its topics and publishes nothing, so its last result becomes stale.",
        class: ToolClass::Write,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
