use rmcp::model::{CallToolResult, Resource, Tool};
use serde_json::Value;

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteTool {
    /// Its name, as the server wants it.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its answer.
    pub output_schema: Option<Value>,
    /// Whether the server says that it changes nothing.
    pub read_only: bool,
    /// Whether the server says that it is slow (`cerebellum/blocking`).
    pub blocking: bool,
}

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteResource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it says.
    pub description: String,
    /// Its media type.
    pub mime_type: Option<String>,
}

/// Who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteServer {
    /// The server's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it says about itself, for a planner.
    pub instructions: String,
    /// The revision of the protocol that is spoken.
    pub protocol: String,
}

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The structured content; else the first text that is JSON; else all text as one JSON string.
    pub data: Value,
    /// Whether the server says that the tool could not do its work.
    pub is_error: bool,
}

impl Answer {
    /// Whether the tool did it: neither an error nor `ok: false`.
    pub fn is_ok(&self) -> bool {
        !self.is_error && self.data.get("ok") != Some(&Value::Bool(false))
    }

    pub(super) fn of(result: CallToolResult) -> Self {
        let is_error = result.is_error.unwrap_or(false);
        let texts: Vec<String> =
            result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.clone()).collect();
        let data = result.structured_content.or_else(|| texts.iter().find_map(|text| serde_json::from_str(text).ok()));
        Self { data: data.unwrap_or_else(|| Value::String(texts.join("\n"))), is_error }
    }
}

impl From<Tool> for RemoteTool {
    fn from(tool: Tool) -> Self {
        let blocking =
            tool.meta.as_ref().and_then(|meta| meta.0.get("cerebellum/blocking")) == Some(&Value::Bool(true));
        Self {
            name: tool.name.into_owned(),
            title: tool.title,
            description: tool.description.unwrap_or_default().into_owned(),
            input_schema: Value::Object(tool.input_schema.as_ref().clone()),
            output_schema: tool.output_schema.map(|schema| Value::Object(schema.as_ref().clone())),
            read_only: tool.annotations.and_then(|hints| hints.read_only_hint).unwrap_or(false),
            blocking,
        }
    }
}

impl From<Resource> for RemoteResource {
    fn from(resource: Resource) -> Self {
        Self {
            uri: resource.uri,
            name: resource.name,
            description: resource.description.unwrap_or_default(),
            mime_type: resource.mime_type,
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ContentBlock;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_structured_content_or_the_first_json_text() {
        let blocks =
            |texts: &[&str]| CallToolResult::success(texts.iter().map(|text| ContentBlock::text(*text)).collect());
        assert_eq!(Answer::of(blocks(&["see:", "{\"ok\":true}"])).data, json!({"ok": true}));
        assert_eq!(Answer::of(blocks(&["hello", "world"])).data, json!("hello\nworld"));
        let mut both = blocks(&["{\"ok\":false}"]);
        both.structured_content = Some(json!({"ok": true}));
        assert!(Answer::of(both).is_ok());
        assert!(!Answer::of(blocks(&["{\"ok\":false}"])).is_ok());
        assert!(!Answer::of(CallToolResult::error(vec![ContentBlock::text("no")])).is_ok());
    }
}
