use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "stop_skill";

/// Which skill.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The `skill_id` that `instantiate_skill` answered, for example `find_object`.
    pub skill_id: String,
}

/// The skill that runs no more.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The skill.
    pub skill_id: String,
    /// The skills that run, when `skill_id` is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Stop a skill",
        description: "Call this when a skill is no longer needed: it is torn down and its topics go away. Use \
                      set_skill_enabled instead to pause a skill that will be needed again. A skill_id that does not run \
                      is answered with `known`, the skills that do.",
        class: ToolClass::Write,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
