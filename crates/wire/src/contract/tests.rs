use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::tool::{ToolClass, ToolSpec};

fn faults(name: &str, answer: &Value, unknown_name: bool) -> Vec<String> {
    tool(name).unwrap().faults(answer.as_object().unwrap(), unknown_name)
}

#[test]
fn no_name_stands_twice() {
    for (index, row) in TOOLS.iter().enumerate() {
        assert!(!TOOLS[..index].iter().any(|earlier| earlier.name == row.name), "{}", row.name);
    }
}

#[test]
fn two_tools_of_one_row_name_each_other() {
    for row in TOOLS {
        let Some(other) = row.either else { continue };
        assert_eq!(tool(other).and_then(|other| other.either), Some(row.name));
    }
}

#[test]
fn the_minimum_is_what_the_checklist_names() {
    let minimum: Vec<&str> = TOOLS.iter().filter(|tool| tool.level == Level::Minimum).map(|tool| tool.name).collect();
    assert_eq!(minimum, ["navigate_to_named", "list_waypoints", "pick", "place", "locate_3d"]);
}

#[test]
fn an_answer_is_held_against_its_row() {
    let good = json!({"ok": true, "name": "sofa", "x": 1.0, "y": 2, "yaw_deg": 0.0});
    assert_eq!(faults("navigate_to_named", &good, false), Vec::<String>::new());
    let unknown = json!({"ok": false, "known": ["sofa"]});
    assert_eq!(faults("navigate_to_named", &unknown, true), Vec::<String>::new());
    assert_eq!(faults("navigate_to_named", &json!({"ok": false}), true), ["known is missing"]);
    assert_eq!(
        faults("pick", &json!({"ok": true, "held": "yes", "side": "left"}), false),
        ["held is \"yes\", and must be true or false"]
    );
    assert_eq!(faults("pick", &json!({"side": "left", "held": true}), false), ["ok is missing"]);
    assert_eq!(
        faults("grasp_pose", &json!({"ok": true, "reachable": true}), false),
        ["grasp is missing", "side is missing"]
    );
    assert_eq!(faults("locate_3d", &json!({"found": false}), false), Vec::<String>::new());
}

/// A server's own tools are exactly its rows: the names, their arguments and which are required, and every field.
fn check_server(server: &str, specs: &[ToolSpec]) {
    for spec in specs {
        assert!(tool(spec.name).is_some(), "{server}: {} has no row", spec.name);
    }
    for row in of_server(server) {
        let spec = specs.iter().find(|spec| spec.name == row.name);
        let spec = spec.unwrap_or_else(|| panic!("{server} has no {}", row.name));
        assert_eq!(spec.class == ToolClass::Motion, row.is_motion, "{}", row.name);
        check_arguments(row, &spec.input_schema);
        if let Some(output) = &spec.output_schema {
            for field in row.fields {
                let property = &output["properties"][field.name];
                assert!(property.is_object(), "{} answers no {}", row.name, field.name);
                check_kind(field.kind, property, &format!("{}: {}", row.name, field.name));
            }
        }
    }
}

fn check_arguments(row: &ContractTool, schema: &Value) {
    let properties = schema["properties"].as_object().unwrap();
    let taken: BTreeSet<&str> = row.arguments.iter().map(|argument| argument.name).collect();
    let offered: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    assert_eq!(offered, taken, "{}", row.name);
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for argument in row.arguments {
        let what = format!("{}: {}", row.name, argument.name);
        assert_eq!(required.contains(&argument.name), argument.is_required, "{what}");
        check_kind(argument.kind, &properties[argument.name], &what);
    }
}

fn check_kind(kind: Kind, property: &Value, what: &str) {
    let named = property.get("type").and_then(Value::as_str);
    let fits = match kind {
        Kind::Text => named == Some("string"),
        Kind::Number => matches!(named, Some("number" | "integer")),
        Kind::Boolean => named == Some("boolean"),
        Kind::Object => named == Some("object"),
        Kind::List => named == Some("array"),
        Kind::TextOrObject | Kind::Any => true,
    };
    assert!(fits, "{what} is {property}");
}

#[test]
fn the_tools_of_each_server_are_its_rows() {
    check_server("motion", &crate::tools::motion::specs());
    check_server("locate", &crate::tools::locate::specs());
    check_server("memory", &crate::tools::memory::specs());
    check_server("task", &crate::tools::task::specs());
}

#[test]
fn no_tool_resumes_changes_limits_or_moves_the_scene() {
    use crate::tools::{locate, memory, motion, perception, skill_control, task};
    let all =
        [motion::specs(), locate::specs(), memory::specs(), task::specs(), perception::specs(), skill_control::specs()];
    for spec in all.iter().flatten() {
        for word in ["resume", "limit", "keep", "unlatch", "reset", "spawn", "teleport", "fault"] {
            assert!(!spec.name.contains(word), "{}", spec.name);
            let arguments = spec.input_schema["properties"].as_object().unwrap();
            let is_list_length = |name: &str| name == "limit";
            assert!(!arguments.keys().any(|name| name.contains(word) && !is_list_length(name)), "{}", spec.name);
        }
        assert!(!spec.name.contains("scene") || spec.name == "capture_scene", "{}", spec.name);
    }
}
