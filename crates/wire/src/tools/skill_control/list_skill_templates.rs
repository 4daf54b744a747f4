use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "list_skill_templates";

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// What the robot can be configured to perceive.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Answer {
    /// The templates.
    pub templates: Vec<Template>,
    /// How many more there are than fit into this answer; left out when all are here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// Templates that cannot be used, each with its file and line. Tell the operator; they cannot be repaired from here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// A template.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Template {
    /// The name to give as `template`.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The params it takes; all are required, each is plain text.
    pub params: Vec<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "List skill templates",
        description: "Call this first, to learn what the robot can be configured to perceive. Answers each template with \
                      what it is for and the params it needs, for example {\"name\": \"find_object\", \"params\": \
                      [\"query\"]}. Then call instantiate_skill with one of them.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
