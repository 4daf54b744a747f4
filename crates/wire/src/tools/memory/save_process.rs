use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "save_process";

/// A process to remember. `steps` or `plan` must be there.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// A short name, for example `make coffee`. Capitals, spaces and underscores make no difference.
    pub name: String,
    /// What it achieves, in a sentence.
    pub description: String,
    /// The steps in order, one sentence each. Give these or `plan`.
    #[serde(default)]
    pub steps: Option<Vec<String>>,
    /// A plan in the plan language, or a skill template, as YAML or JSON text. Give this or `steps`.
    #[serde(default, deserialize_with = "text_or_object")]
    #[schemars(with = "Option<String>")]
    pub plan: Option<String>,
    /// When to use it, for example `when someone asks for a hot drink`.
    #[serde(default)]
    pub when: Option<String>,
    /// Words to find it by, for example `["kitchen", "drinks"]`. The tag `skill` marks a skill template.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
}

/// What was kept.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The process.
    pub id: String,
    /// From 1; one more with each save of other content under the same name.
    pub version: u32,
    /// The name as it is kept.
    pub name: String,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Save a process",
        description: "Call this when a person asks to remember how something is done, with the steps in words, or with a \
                      plan. A name that exists gets a new version, and its earlier outcomes stay; equal content changes \
                      nothing. Answers the id and the version. Do not save what nobody asked to remember.",
        class: ToolClass::Write,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "must be text, or a plan as an object")]
enum TextOrObject {
    Text(String),
    Object(Map<String, Value>),
}

fn text_or_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<TextOrObject>::deserialize(deserializer)?.map(|plan| match plan {
        TextOrObject::Text(text) => text,
        TextOrObject::Object(object) => Value::Object(object).to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::arguments;

    fn plan(plan: &Value) -> Result<Option<String>, String> {
        let given = json!({"name": "n", "description": "d", "plan": plan});
        let prepared = arguments::prepare(&spec(), given.as_object().cloned());
        arguments::parse::<Arguments>(prepared.arguments).map(|given| given.plan).map_err(|error| error.message)
    }

    #[test]
    fn a_plan_is_taken_as_text_and_as_an_object() {
        assert_eq!(plan(&Value::Null), Ok(None));
        assert_eq!(plan(&json!("steps: []")), Ok(Some("steps: []".to_owned())));
        assert_eq!(plan(&json!({"steps": []})), Ok(Some(r#"{"steps":[]}"#.to_owned())));
        let refused = plan(&json!(3)).unwrap_err();
        assert!(refused.contains("argument plan: must be text, or a plan as an object"), "{refused}");
    }
}
