use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// The JSON Schema of a tool's arguments: an object that every LLM interface takes. No references, no combinators, no lists
/// of types.
pub fn input<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_deserialize());
    // Unknown arguments are ignored with a warning, so the schema must not promise that they are refused.
    schema.remove("additionalProperties");
    close(schema)
}

/// The JSON Schema of a tool's answer: the fields of `T`, and `ok`, `error` and `warnings` that every answer may have. Only
/// `ok` is required, since an answer that says no has few of the others.
pub fn output<T: JsonSchema>() -> Value {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    schema.remove("additionalProperties");
    let own = match schema.remove("properties") {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    let mut properties = Map::new();
    properties
        .insert("ok".to_owned(), json!({"type": "boolean", "description": "Whether it was done. Read this first."}));
    properties.extend(own);
    properties.insert("error".to_owned(), error_schema());
    properties.insert(
        "warnings".to_owned(),
        json!({"type": "array", "items": {"type": "string"}, "description": "What was ignored."}),
    );
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("required".to_owned(), json!(["ok"]));
    close(schema)
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "Why it was not done; there exactly when ok is false.",
        "required": ["code", "message", "next"],
        "properties": {
            "code": {"type": "string", "description": "A stable word."},
            "message": {"type": "string", "description": "What is wrong."},
            "next": {"type": "string", "description": "What to do next."},
        },
    })
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
    let Value::Object(mut schema) = schema.to_value() else { return Map::new() };
    schema.remove("title");
    schema.remove("description");
    clean(&mut schema);
    schema
}

/// The root is an object with `properties`, whatever `T` is.
fn close(schema: Map<String, Value>) -> Value {
    let mut root = Map::new();
    root.insert("type".to_owned(), Value::String("object".to_owned()));
    root.insert("properties".to_owned(), Value::Object(Map::new()));
    root.extend(schema);
    Value::Object(root)
}

fn clean(schema: &mut Map<String, Value>) {
    // Formats such as uint32 and double are schemars' own words, which strict readers refuse.
    schema.remove("format");
    if schema.get("default").is_some_and(|default| default.is_null() || default == &json!([]) || default == &json!({}))
    {
        schema.remove("default");
    }
    unwrap_nullable(schema);
    flatten_words(schema);
    let required = names(schema.get("required"));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            let Value::Object(property) = property else { continue };
            let may_be_null = is_nullable(property);
            clean(property);
            // A field that is always there and may be null has no single type; leaving the type out says as much without a
            // list of types. A field that is left out when it has no value keeps its type.
            if may_be_null && required.contains(name) {
                property.remove("type");
            }
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(inner)) = schema.get_mut(key) {
            clean(inner);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        for choice in choices {
            if let Value::Object(choice) = choice {
                clean(choice);
            }
        }
    }
}

fn names(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn is_null_schema(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn is_nullable(schema: &Map<String, Value>) -> bool {
    let in_types =
        schema.get("type").and_then(Value::as_array).is_some_and(|types| types.iter().any(|one| one == "null"));
    let in_any = schema.get("anyOf").and_then(Value::as_array).is_some_and(|any| any.iter().any(is_null_schema));
    in_types || in_any
}

/// `["string", "null"]` becomes `string`, `anyOf [X, null]` becomes X.
fn unwrap_nullable(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get("type") {
        let mut types: Vec<Value> = types.iter().filter(|one| *one != "null").cloned().collect();
        if types.len() == 1 {
            schema.insert("type".to_owned(), types.remove(0));
        } else {
            schema.remove("type");
        }
    }
    let Some(Value::Array(any)) = schema.get("anyOf") else { return };
    let mut any: Vec<Value> = any.iter().filter(|one| !is_null_schema(one)).cloned().collect();
    if any.len() != 1 {
        return;
    }
    schema.remove("anyOf");
    if let Value::Object(only) = any.remove(0) {
        for (key, value) in only {
            schema.entry(key).or_insert(value);
        }
    }
}

/// `oneOf` of documented words becomes an `enum`, its documentation part of the description.
fn flatten_words(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get("oneOf") else { return };
    let mut words = Vec::new();
    let mut said = Vec::new();
    for choice in choices {
        let (constant, listed) = (choice.get("const"), choice.get("enum").and_then(Value::as_array));
        match (constant, listed) {
            (Some(word), _) => {
                if let (Some(word), Some(text)) = (word.as_str(), choice.get("description").and_then(Value::as_str)) {
                    said.push(format!("{word}: {text}"));
                }
                words.push(word.clone());
            }
            (None, Some(listed)) => words.extend(listed.iter().cloned()),
            (None, None) => return,
        }
    }
    schema.remove("oneOf");
    schema.insert("type".to_owned(), Value::String("string".to_owned()));
    schema.insert("enum".to_owned(), Value::Array(words));
    if !said.is_empty() {
        let before =
            schema.get("description").and_then(Value::as_str).map(|text| format!("{text} ")).unwrap_or_default();
        schema.insert("description".to_owned(), Value::String(format!("{before}{}", said.join(" "))));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[allow(dead_code, reason = "only its schema is looked at")]
    enum Side {
        /// The left one.
        Left,
        /// The right one.
        Right,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        x: f64,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Sample {
        /// Which side.
        side: Side,
        /// How many.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inner: Option<Inner>,
        camera: Option<Inner>,
        #[serde(default)]
        names: Vec<String>,
        #[serde(default)]
        params: BTreeMap<String, String>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Nothing {}

    #[test]
    fn input_has_no_null_no_reference_no_format() {
        let expected = json!({
            "type": "object",
            "properties": {
                "side": {"description": "Which side. left: The left one. right: The right one.", "type": "string", "enum": ["left", "right"]},
                "limit": {"description": "How many.", "type": "integer", "minimum": 0},
                "inner": {"type": "object", "additionalProperties": false, "properties": {"x": {"type": "number"}}, "required": ["x"]},
                "camera": {"type": "object", "additionalProperties": false, "properties": {"x": {"type": "number"}}, "required": ["x"]},
                "names": {"type": "array", "items": {"type": "string"}},
                "params": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["side"],
        });
        assert_eq!(input::<Sample>(), expected);
    }

    #[test]
    fn a_tool_without_arguments_still_has_properties() {
        assert_eq!(input::<Nothing>(), json!({"type": "object", "properties": {}}));
    }

    #[test]
    fn an_answer_requires_only_ok_and_a_field_that_may_be_null_has_no_type() {
        let schema = output::<Sample>();
        assert_eq!(schema["required"], json!(["ok"]));
        assert_eq!(schema["properties"].as_object().unwrap().keys().next().unwrap(), "ok");
        assert!(schema["properties"]["camera"].get("type").is_none(), "{schema}");
        assert_eq!(schema["properties"]["inner"]["type"], "object");
        assert_eq!(schema["properties"]["limit"]["type"], "integer");
        assert!(schema["properties"]["error"].is_object());
    }
}
