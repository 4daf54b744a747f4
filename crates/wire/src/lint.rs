use serde_json::{Map, Value};

use crate::tool::ToolSpec;

/// The longest description an LLM interface takes, in characters.
pub const DESCRIPTION_LENGTH_MAX: usize = 1_024;

/// What LLM interfaces and MCP clients would refuse in a tool: dotted names, references, combinators at the root, lists of
/// types, nullable types, missing descriptions, answers without `ok`. Empty when all is well.
pub fn tool(spec: &ToolSpec) -> Vec<String> {
    let mut faults = Faults { tool: spec.name, found: Vec::new() };
    faults.check_words(spec);
    faults.check_root("inputSchema", &spec.input_schema);
    faults.check_arguments(&spec.input_schema);
    faults.walk("inputSchema", &spec.input_schema);
    if let Some(output) = &spec.output_schema {
        faults.check_root("outputSchema", output);
        faults.check_answer(output);
        faults.walk("outputSchema", output);
    }
    faults.found
}

/// [`tool`] for all tools of a server, and that no name stands twice.
pub fn server(specs: &[ToolSpec]) -> Vec<String> {
    let mut found: Vec<String> = specs.iter().flat_map(tool).collect();
    for (index, spec) in specs.iter().enumerate() {
        if specs[..index].iter().any(|earlier| earlier.name == spec.name) {
            found.push(format!("{}: the name stands twice", spec.name));
        }
    }
    found
}

struct Faults<'a> {
    tool: &'a str,
    found: Vec<String>,
}

impl Faults<'_> {
    fn add(&mut self, path: &str, what: &str) {
        self.found.push(format!("{}: {path}: {what}", self.tool));
    }

    fn check_words(&mut self, spec: &ToolSpec) {
        if !is_plain_name(spec.name) {
            self.add("name", "must be 1 to 64 letters, digits, _ or -");
        }
        if spec.title.trim().is_empty() {
            self.add("title", "is empty");
        }
        let length = spec.description.chars().count();
        if spec.description.trim().is_empty() {
            self.add("description", "is empty");
        } else if length > DESCRIPTION_LENGTH_MAX {
            self.add("description", &format!("has {length} characters, at most {DESCRIPTION_LENGTH_MAX} are taken"));
        }
    }

    fn check_root(&mut self, path: &str, schema: &Value) {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            self.add(path, "the root must be of type object");
        }
        if !schema.get("properties").is_some_and(Value::is_object) {
            self.add(path, "the root must have properties");
        }
        for word in ["anyOf", "oneOf", "allOf", "not", "if", "enum"] {
            if schema.get(word).is_some() {
                self.add(path, &format!("{word} at the root"));
            }
        }
        for name in names(schema.get("required")) {
            if schema.get("properties").and_then(|properties| properties.get(&name)).is_none() {
                self.add(path, &format!("requires {name}, which is no property"));
            }
        }
    }

    fn check_arguments(&mut self, schema: &Value) {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            let path = format!("inputSchema.{name}");
            if !is_plain_name(name) {
                self.add(&path, "must be 1 to 64 letters, digits, _ or -");
            }
            if property.get("description").and_then(Value::as_str).is_none_or(|text| text.trim().is_empty()) {
                self.add(&path, "has no description");
            }
        }
    }

    fn check_answer(&mut self, schema: &Value) {
        if schema.get("properties").and_then(|properties| properties.get("ok")).is_none() {
            self.add("outputSchema", "has no property ok");
        }
        let required = names(schema.get("required"));
        if required != ["ok"] {
            self.add(
                "outputSchema",
                &format!("must require ok alone, since errors are answers too; it requires {required:?}"),
            );
        }
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            self.add("outputSchema", "must leave room for warnings");
        }
    }

    fn walk(&mut self, path: &str, schema: &Value) {
        match schema {
            Value::Object(object) => self.walk_object(path, object),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.walk(&format!("{path}[{index}]"), item);
                }
            }
            _ => {}
        }
    }

    fn walk_object(&mut self, path: &str, object: &Map<String, Value>) {
        for word in ["$ref", "$defs", "definitions", "$schema", "$id"] {
            if object.contains_key(word) && !path.ends_with(".properties") {
                self.add(path, &format!("{word} is not understood everywhere; inline it"));
            }
        }
        if object.get("type").is_some_and(Value::is_array) {
            self.add(path, "a list of types; name one");
        }
        if object.get("type").and_then(Value::as_str) == Some("null") {
            self.add(path, "type null; leave the field out instead");
        }
        if object.get("default").is_some_and(Value::is_null) {
            self.add(path, "default null");
        }
        for (key, value) in object {
            self.walk(&format!("{path}.{key}"), value);
        }
    }
}

fn is_plain_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn names(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tool::ToolClass;

    fn good() -> ToolSpec {
        ToolSpec {
            name: "get_latest",
            title: "Latest",
            description: "Call this to see the latest.",
            class: ToolClass::Read,
            blocking: false,
            input_schema: json!({"type": "object", "required": ["skill"], "properties": {
                "skill": {"type": "string", "description": "Its name."}}}),
            output_schema: Some(
                json!({"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}),
            ),
        }
    }

    fn check(change: impl FnOnce(&mut ToolSpec), expected: &str) {
        let mut spec = good();
        change(&mut spec);
        let found = tool(&spec);
        assert!(found.iter().any(|fault| fault.contains(expected)), "{expected:?} not in {found:?}");
    }

    fn argument(property: Value) -> impl FnOnce(&mut ToolSpec) {
        move |spec| spec.input_schema["properties"]["skill"] = property
    }

    #[test]
    fn a_good_tool_has_no_faults() {
        assert_eq!(tool(&good()), Vec::<String>::new());
    }

    #[test]
    fn what_llm_interfaces_refuse_is_found() {
        check(|spec| spec.name = "perception.get_latest", "name: must be");
        check(|spec| spec.description = " ", "description: is empty");
        check(|spec| spec.input_schema = json!({"anyOf": [{"type": "object"}]}), "anyOf at the root");
        check(|spec| spec.input_schema = json!({"type": "object"}), "must have properties");
        check(|spec| spec.input_schema["required"] = json!(["other"]), "requires other");
        check(|spec| spec.input_schema["$defs"] = json!({}), "$defs");
        check(argument(json!({"$ref": "#/$defs/X", "description": "d"})), "$ref");
        check(argument(json!({"type": ["string", "null"], "description": "d"})), "a list of types");
        check(argument(json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"})), "type null");
        check(argument(json!({"type": "string", "default": null, "description": "d"})), "default null");
        check(argument(json!({"type": "string"})), "has no description");
    }

    #[test]
    fn an_answer_that_could_not_say_no_is_found() {
        check(|spec| spec.output_schema = Some(json!({"type": "array"})), "the root must be of type object");
        check(
            |spec| spec.output_schema.as_mut().unwrap()["required"] = json!(["ok", "topic"]),
            "must require ok alone",
        );
        check(|spec| spec.output_schema.as_mut().unwrap()["properties"] = json!({}), "has no property ok");
        check(|spec| spec.output_schema.as_mut().unwrap()["additionalProperties"] = json!(false), "room for warnings");
    }

    #[test]
    fn a_name_that_stands_twice_is_found() {
        assert_eq!(server(&[good(), good()]), ["get_latest: the name stands twice"]);
    }
}
