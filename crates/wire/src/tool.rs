use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What a tool may do, which decides how calls of it are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolClass {
    /// Changes nothing.
    Read,
    /// Changes configuration or stored data, never moves the robot.
    Write,
    /// Moves the robot: it stops when its caller is gone.
    Motion,
}

/// A tool as a server offers it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The bare name, `[a-zA-Z0-9_-]{1,64}`.
    pub name: &'static str,
    /// A short title for people.
    pub title: &'static str,
    /// When to call it and what it answers, in words for a planner.
    pub description: &'static str,
    /// What it may do.
    pub class: ToolClass,
    /// Whether it is slow, so that a client should wait for it with progress (`_meta: {"cerebellum/blocking": true}`).
    pub blocking: bool,
    /// JSON Schema of the arguments: an object without references and combinators at its root.
    pub input_schema: Value,
    /// JSON Schema of the answer; `None` for tools whose answer is text only.
    pub output_schema: Option<Value>,
}

/// The tool as an agent reads it: what the snapshots of a server's surface hold.
pub fn surface(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "class": format!("{:?}", spec.class).to_lowercase(),
        "blocking": spec.blocking,
        "inputSchema": spec.input_schema,
        "outputSchema": spec.output_schema,
    })
}

/// Why a tool did not do what was asked: `{code, message, next}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolError {
    /// A stable word a program can match, such as `unknown_skill`.
    pub code: String,
    /// What is wrong, for a person or a planner.
    pub message: String,
    /// What to do next.
    pub next: String,
}

impl ToolError {
    /// An error from its three parts.
    pub fn new(code: impl Into<String>, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), next: next.into() }
    }
}

/// What a call of a tool answers: a JSON object with `ok`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    data: Map<String, Value>,
    failed: bool,
}

impl ToolOutcome {
    /// The tool did it: `ok: true` and the fields of `data`, which must serialise as an object.
    pub fn done(data: &impl Serialize) -> Self {
        Self { data: object(true, data), failed: false }
    }

    /// The tool worked and its outcome is a no (not found, refused by a limit): `ok: false`, `error`, and the fields of
    /// `data`. An ordinary result for the protocol.
    pub fn declined(error: &ToolError, data: &impl Serialize) -> Self {
        let mut outcome = Self { data: object(false, &json!({"error": error})), failed: false };
        outcome.merge(data);
        outcome
    }

    /// The tool could not do its work (bad arguments, service away): `ok: false`, `error`, and the fields of `data`. The
    /// protocol's `isError`.
    pub fn failed(error: &ToolError, data: &impl Serialize) -> Self {
        Self { failed: true, ..Self::declined(error, data) }
    }

    /// The answer, `ok` first.
    pub fn data(&self) -> &Map<String, Value> {
        &self.data
    }

    /// The answer, taken apart: the object, and whether it is the protocol's `isError`.
    pub fn into_parts(self) -> (Map<String, Value>, bool) {
        (self.data, self.failed)
    }

    /// Whether the tool could not do its work.
    pub fn is_error(&self) -> bool {
        self.failed
    }

    /// Whether the answer says `ok: true`.
    pub fn is_ok(&self) -> bool {
        self.data.get("ok") == Some(&Value::Bool(true))
    }

    /// Adds to `warnings`.
    pub fn warn(&mut self, warning: String) {
        let warnings = self.data.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(warnings) = warnings {
            warnings.push(Value::String(warning));
        }
    }

    fn merge(&mut self, data: &impl Serialize) {
        for (key, value) in fields(data) {
            self.data.insert(key, value);
        }
    }
}

fn object(ok: bool, data: &impl Serialize) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("ok".to_owned(), Value::Bool(ok));
    object.extend(fields(data).into_iter().filter(|(key, _)| key != "ok"));
    object
}

/// The fields of an answer; nothing for `()`.
fn fields(data: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(data) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Null) => Map::new(),
        other => unreachable!("a tool's answer is an object, not {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_comes_first_and_an_error_has_three_parts() {
        let done = ToolOutcome::done(&json!({"skill_id": "a"}));
        assert_eq!(serde_json::to_string(done.data()).unwrap(), r#"{"ok":true,"skill_id":"a"}"#);
        let error = ToolError::new("unknown_skill", "no skill \"b\"", "call list_running_skills");
        let failed = ToolOutcome::failed(&error, &json!({"known": ["a"]}));
        assert!(failed.is_error() && !failed.is_ok());
        assert_eq!(
            serde_json::to_string(failed.data()).unwrap(),
            r#"{"ok":false,"error":{"code":"unknown_skill","message":"no skill \"b\"","next":"call list_running_skills"},"known":["a"]}"#
        );
        assert!(!ToolOutcome::declined(&error, &()).is_error());
    }

    #[test]
    fn warnings_gather() {
        let mut outcome = ToolOutcome::done(&());
        outcome.warn("one".into());
        outcome.warn("two".into());
        assert_eq!(outcome.data()["warnings"], json!(["one", "two"]));
    }
}
