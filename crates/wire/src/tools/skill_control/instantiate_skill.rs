use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "instantiate_skill";

/// Which template, and what goes into it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The name of a template from `list_skill_templates`, for example `find_object`.
    pub template: String,
    /// A value for every param of the template, as plain text, for example {"query": "red can"}. Leave out articles.
    #[serde(default)]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub params: Map<String, Value>,
}

/// The skill that runs now, and where it publishes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// What the other tools take to name it. A number is added when the name runs already, for example `find_object_2`.
    pub skill_id: String,
    /// Its name on the robot; the same as `skill_id`.
    pub name: String,
    /// Where its detections are published.
    pub topic: String,
    /// Where its semantic outputs are published.
    pub semantic_topics: Vec<String>,
    /// What the engine said about its words, such as words it did not understand. Left out when all was understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Start a skill from a template",
        description: "Call this to make the robot perceive something: it fills a template with params and starts it. \
                      Example: {\"template\": \"find_object\", \"params\": {\"query\": \"red can\"}}. Answers the skill_id and \
                      the topics; the first result appears within seconds, read it with get_latest(skill_id) of the \
                      perception server. Starting the same template twice runs two skills. A template with a watch \
                      (watch_for) tells the brain by an event when its condition becomes true: do not poll it.",
        class: ToolClass::Write,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
