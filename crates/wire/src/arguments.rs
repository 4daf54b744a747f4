use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::text;
use crate::tool::{ToolError, ToolSpec};

/// An argument every tool takes and ignores: some planners put the sentence they want spoken into it.
pub const RESPONSE_TEXT: &str = "response_text";

/// How many ignored arguments are told one by one.
const WARNINGS_MAX: usize = 8;

/// Arguments as a tool's own code sees them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// Only keys of the tool's schema; objects and arrays that came as JSON text are parsed.
    pub arguments: Map<String, Value>,
    /// What was ignored, for the answer's `warnings`.
    pub warnings: Vec<String>,
}

/// Repairs what planners are known to send: drops [`RESPONSE_TEXT`], drops unknown keys with a warning, drops nulls for
/// optional arguments, and parses JSON text where the schema wants an object or an array. Never fails: what is still wrong
/// is found by [`parse`].
pub fn prepare(spec: &ToolSpec, arguments: Option<Map<String, Value>>) -> Prepared {
    let empty = Map::new();
    let properties = spec.input_schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut prepared = Prepared::default();
    let mut untold = 0;
    for (key, value) in arguments.unwrap_or_default() {
        match properties.get(&key) {
            Some(_) if value.is_null() && !is_required(spec, &key) => {}
            Some(schema) => {
                prepared.arguments.insert(key, unwrap_text(schema, value));
            }
            None if key == RESPONSE_TEXT => {}
            None if prepared.warnings.len() == WARNINGS_MAX => untold += 1,
            None => prepared.warnings.push(unknown(spec, &key, properties)),
        }
    }
    if untold > 0 {
        prepared.warnings.push(format!("ignored {untold} more arguments"));
    }
    prepared
}

/// Reads prepared arguments as the type a tool wants. The error names the argument that is wrong.
pub fn parse<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(Value::Object(arguments)).map_err(|error| bad(&Fault::from_serde(&error)))
}

/// The error of an argument that is wrong.
pub fn bad(fault: &Fault) -> ToolError {
    let message = if fault.path.is_empty() {
        fault.message.replace("missing field", "missing argument")
    } else {
        format!("argument {}: {}", fault.path, fault.message)
    };
    ToolError::new(
        "bad_arguments",
        message,
        "Correct the named argument and call again; the tool's input schema says what it takes.",
    )
}

fn is_required(spec: &ToolSpec, key: &str) -> bool {
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|name| name == key))
}

fn unwrap_text(schema: &Value, value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    let parsed: Option<Value> = serde_json::from_str(text).ok();
    match (schema.get("type").and_then(Value::as_str), parsed) {
        (Some("object"), Some(parsed @ Value::Object(_))) | (Some("array"), Some(parsed @ Value::Array(_))) => parsed,
        _ => value,
    }
}

fn unknown(spec: &ToolSpec, key: &str, properties: &Map<String, Value>) -> String {
    let shown = text::cut(key);
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    if known.is_empty() {
        format!("ignored argument {shown:?}: {} takes none", spec.name)
    } else {
        format!("ignored argument {shown:?}: {} takes {}", spec.name, known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::tool::ToolClass;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read to see what is refused")]
    struct Arguments {
        template: String,
        #[serde(default)]
        params: Map<String, Value>,
        #[serde(default)]
        names: Vec<String>,
    }

    fn spec() -> ToolSpec {
        ToolSpec {
            name: "do_it",
            title: "Do it",
            description: "Call this to do it.",
            class: ToolClass::Write,
            blocking: false,
            input_schema: json!({"type": "object", "required": ["template"], "properties": {
                "template": {"type": "string"}, "params": {"type": "object"}, "names": {"type": "array"}}}),
            output_schema: None,
        }
    }

    fn prepared(arguments: &Value) -> Prepared {
        prepare(&spec(), arguments.as_object().cloned())
    }

    #[test]
    fn response_text_is_dropped_in_silence_and_other_unknown_keys_with_a_warning() {
        let got = prepared(&json!({"template": "a", "response_text": "On it!", "colour": "red"}));
        assert_eq!(Value::Object(got.arguments), json!({"template": "a"}));
        assert_eq!(got.warnings, ["ignored argument \"colour\": do_it takes template, params, names"]);
    }

    #[test]
    fn many_or_long_unknown_keys_make_few_and_short_warnings() {
        let mut sent: Map<String, Value> = (0..2_000).map(|index| (format!("key_{index}"), json!(1))).collect();
        sent.insert("x".repeat(100_000), json!(1));
        let got = prepare(&spec(), Some(sent));
        assert_eq!(got.warnings.len(), 9);
        assert_eq!(got.warnings[8], "ignored 1993 more arguments");
        let got = prepared(&json!({("x".repeat(100_000)): 1}));
        assert!(got.warnings[0].len() < 300);
    }

    #[test]
    fn objects_and_arrays_sent_as_text_are_parsed() {
        let got = prepared(&json!({"template": "{\"a\":1}", "params": "{\"query\":\"x\"}", "names": "[\"a\"]"}));
        assert_eq!(
            Value::Object(got.arguments),
            json!({"template": "{\"a\":1}", "params": {"query": "x"}, "names": ["a"]})
        );
    }

    #[test]
    fn text_that_is_no_object_stays_and_is_refused_by_name() {
        let got = prepared(&json!({"template": "a", "params": "query=x"}));
        let error = parse::<Arguments>(got.arguments).unwrap_err();
        assert_eq!(error.code, "bad_arguments");
        assert!(error.message.starts_with("argument params: "), "{}", error.message);
    }

    #[test]
    fn a_missing_argument_and_a_wrong_type_are_named() {
        let error = parse::<Arguments>(Map::new()).unwrap_err();
        assert_eq!(error.message, "missing argument `template`");
        let error = parse::<Arguments>(prepared(&json!({"template": "a", "names": ["a", 3]})).arguments).unwrap_err();
        assert!(error.message.starts_with("argument names[1]: "), "{}", error.message);
    }

    #[test]
    fn null_means_absent_for_optional_arguments_only() {
        let got = prepared(&json!({"template": null, "params": null}));
        assert_eq!(Value::Object(got.arguments.clone()), json!({"template": null}));
        assert!(parse::<Arguments>(got.arguments).unwrap_err().message.starts_with("argument template: "));
    }

    #[test]
    fn no_arguments_at_all_are_none() {
        assert_eq!(prepare(&spec(), None), Prepared::default());
    }
}
