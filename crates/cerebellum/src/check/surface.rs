use cerebellum_mcp::attach::RemoteTool;
use cerebellum_wire::contract::{self, ContractTool, Kind, Level};
use serde_json::Value;

use super::examinee::Examinee;
use super::report::Report;

/// Which tools there are, whether LLM interfaces take their schemas, and whether they take the contract's arguments.
pub(super) fn examine(robot: &Examinee, report: &mut Report) {
    for row in contract::TOOLS.iter().filter(|row| row.level != Level::Extra) {
        match robot.owner(row.name) {
            Some((_, tool)) => {
                let faults = argument_faults(row, tool);
                let change = format!("declare the arguments of {} as the contract names them", row.name);
                report.judge(format!("tool {}", row.name), row.level, &faults, "there, with its arguments", &change);
            }
            None => missing(robot, row, report),
        }
    }
    for server in robot.servers() {
        for tool in &server.tools {
            let level = contract::tool(&tool.name).map_or(Level::Extra, |row| row.level);
            let seen = "LLM interfaces take its name, description and schema";
            let change =
                "give it a bare name of letters, digits, _ or -, a description, and an object schema without $ref";
            let faults = schema_faults(tool);
            if contract::tool(&tool.name).is_some() || !faults.is_empty() {
                report.judge(format!("schema {}", tool.name), level, &faults, seen, change);
            }
        }
    }
    prompt(robot, report);
}

fn missing(robot: &Examinee, row: &ContractTool, report: &mut Report) {
    let id = format!("tool {}", row.name);
    if let Some(other) = row.either.filter(|other| robot.has(other)) {
        return report.holds(id, row.level, format!("{other} stands in its place"));
    }
    match row.only_if {
        Some(part) => report.skips(id, row.level, format!("not there; asked only where {part}")),
        None if row.level == Level::Minimum => {
            let dotted = robot.servers().iter().flat_map(|server| &server.tools);
            let dotted = dotted.map(|tool| tool.name.as_str()).find(|name| name.ends_with(&format!(".{}", row.name)));
            match dotted {
                Some(name) => {
                    report.fails(
                        id,
                        row.level,
                        format!("only as {name}"),
                        format!("expose it under its bare name, {}", row.name),
                    );
                }
                None => {
                    report.fails(
                        id,
                        row.level,
                        "no server has it",
                        format!("add the tool {} to one of the servers", row.name),
                    );
                }
            }
        }
        None => report.skips(id, row.level, "not there; the brain works without it and cannot use what it unlocks"),
    }
}

fn prompt(robot: &Examinee, report: &mut Report) {
    let length = robot
        .servers()
        .iter()
        .filter_map(|server| server.prompt.as_deref())
        .map(|text| text.trim().len())
        .sum::<usize>();
    if length > 0 {
        report.holds("prompt://system", Level::Full, format!("{length} characters"));
    } else {
        report.fails(
            "prompt://system",
            Level::Full,
            "no server has this resource, or it is empty",
            "serve a text resource prompt://system: what the robot is, its limits, how to use its tools",
        );
    }
}

fn argument_faults(row: &ContractTool, tool: &RemoteTool) -> Vec<String> {
    let properties = &tool.input_schema["properties"];
    let mut faults = Vec::new();
    for argument in row.arguments {
        match properties.get(argument.name) {
            None if argument.is_required => faults.push(format!("takes no argument {}", argument.name)),
            Some(property) if !accepts(property, argument.kind) => {
                faults.push(format!("{} must be {}", argument.name, argument.kind.as_str()));
            }
            _ => {}
        }
    }
    let required = tool.input_schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str) {
        if !row.arguments.iter().any(|argument| argument.name == name) {
            faults.push(format!("demands {name}, which the brain does not send"));
        }
    }
    faults
}

/// Whether a property's schema takes a value of the kind. A schema that names no type takes everything.
fn accepts(property: &Value, kind: Kind) -> bool {
    if let Some(choices) = property["anyOf"].as_array().or_else(|| property["oneOf"].as_array()) {
        return choices.iter().any(|choice| choice["type"] != "null" && accepts(choice, kind));
    }
    let Some(named) = property["type"].as_str() else { return true };
    match kind {
        Kind::Text => named == "string",
        Kind::Number => named == "number" || named == "integer",
        Kind::Boolean => named == "boolean",
        Kind::Object => named == "object",
        Kind::List => named == "array",
        Kind::TextOrObject => named == "string" || named == "object",
        Kind::Any => true,
    }
}

/// What LLM interfaces refuse. Less strict than what our own servers are held to: nullable arguments are common and taken.
fn schema_faults(tool: &RemoteTool) -> Vec<String> {
    let mut faults = Vec::new();
    let is_plain = (1..=64).contains(&tool.name.len())
        && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if !is_plain {
        faults.push(format!("the name {:?} has other signs than letters, digits, _ and -, or more than 64", tool.name));
    }
    if tool.description.trim().is_empty() {
        faults.push("it has no description, by which a planner chooses".to_owned());
    }
    if tool.input_schema["type"] != "object" {
        faults.push("the root of its schema is not of type object".to_owned());
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        if tool.input_schema.get(word).is_some() {
            faults.push(format!("{word} at the root of its schema"));
        }
    }
    if has_reference(&tool.input_schema) {
        faults.push("its schema has $ref, which not every interface resolves".to_owned());
    }
    faults
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.contains_key("$ref") || object.values().any(has_reference),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, input_schema: Value) -> RemoteTool {
        RemoteTool {
            name: name.to_owned(),
            title: None,
            description: "Does it.".to_owned(),
            input_schema,
            output_schema: None,
            read_only: false,
            blocking: false,
        }
    }

    #[test]
    fn what_fastmcp_makes_of_an_optional_argument_is_taken() {
        let row = contract::tool("pick").unwrap();
        let nullable = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "Side"});
        let offered =
            tool("pick", json!({"type": "object", "properties": {"target": {"type": "string"}, "side": nullable}}));
        assert_eq!(argument_faults(row, &offered), Vec::<String>::new());
        assert_eq!(schema_faults(&offered), Vec::<String>::new());
    }

    #[test]
    fn another_name_another_type_and_a_new_demand_are_found() {
        let row = contract::tool("navigate_to_named").unwrap();
        let label = json!({"type": "object", "properties": {"label": {"type": "string"}}, "required": ["label"]});
        assert_eq!(
            argument_faults(row, &tool("navigate_to_named", label)),
            ["takes no argument name", "demands label, which the brain does not send"]
        );
        let number = json!({"type": "object", "properties": {"name": {"type": "integer"}}});
        assert_eq!(argument_faults(row, &tool("navigate_to_named", number)), ["name must be text"]);
    }

    #[test]
    fn names_with_dots_and_references_are_found() {
        let faults =
            schema_faults(&tool("motion.pick", json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}})));
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
