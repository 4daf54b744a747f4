use cerebellum_core::{Spend, Stamp, TaskInfo};
use serde_json::{Map, Value, json};

use crate::fault::Fault;
use crate::skill;

/// The task list as JSON text: the `tasks_json` of `list_vision_tasks`.
pub fn to_string(tasks: &[TaskInfo]) -> String {
    Value::Array(tasks.iter().map(to_value).collect()).to_string()
}

fn to_value(task: &TaskInfo) -> Value {
    let mut value = json!({
        "name": task.name,
        "enabled": task.enabled,
        "topic": task.topic,
        "semantic_topics": task.semantic_topics,
        "skill": task.skill.as_ref().map(skill::to_value),
        "error": task.error,
        "engine": task.engine,
        "notes": task.notes,
        "created": if task.created.is_zero() { Value::Null } else { json!(task.created.as_secs_micros()) },
    });
    if let Some(spend) = task.spend {
        value["spend"] = spend_to_value(spend);
    }
    value
}

/// What a skill has cost, as JSON: `{calls, usd?}`.
pub fn spend_to_value(spend: Spend) -> Value {
    match spend.usd {
        Some(usd) => json!({"calls": spend.calls, "usd": usd}),
        None => json!({"calls": spend.calls}),
    }
}

/// Reads a task list. Only `name` is required of a task and unknown keys are ignored, since a vision node may be older or
/// newer than this program; a skill that breaks the schema becomes the task's error.
pub fn from_str(text: &str) -> Result<Vec<TaskInfo>, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|error| Fault::at("", format!("not JSON: {error}")))?;
    let Value::Array(tasks) = value else { return Err(Fault::at("", "expected a JSON array of tasks")) };
    tasks
        .iter()
        .enumerate()
        .map(|(index, task)| from_value(task).map_err(|fault| fault.within(&format!("[{index}]"))))
        .collect()
}

fn from_value(value: &Value) -> Result<TaskInfo, Fault> {
    let Value::Object(task) = value else { return Err(Fault::at("", "expected an object")) };
    let Some(name) = text_of(task, "name").filter(|name| !name.is_empty()) else {
        return Err(Fault::at("name", "every task has a name"));
    };
    let (skill, skill_fault) = match task.get("skill") {
        None | Some(Value::Null) => (None, None),
        Some(value) => match skill::from_value(value) {
            Ok(skill) => (Some(skill), None),
            Err(fault) => (None, Some(fault.within("skill").to_string())),
        },
    };
    Ok(TaskInfo {
        enabled: task.get("enabled").and_then(Value::as_bool).unwrap_or(true),
        topic: text_of(task, "topic").unwrap_or_else(|| format!("/vision/{name}/detections")),
        semantic_topics: texts_of(task, "semantic_topics"),
        skill,
        error: text_of(task, "error").or(skill_fault),
        engine: text_of(task, "engine"),
        notes: texts_of(task, "notes"),
        created: task.get("created").and_then(Value::as_f64).map_or(Stamp::ZERO, Stamp::from_secs_f64),
        spend: task.get("spend").and_then(spend_of),
        name,
    })
}

fn spend_of(value: &Value) -> Option<Spend> {
    let calls = value.get("calls")?.as_u64()?;
    Some(Spend { calls, usd: value.get("usd").and_then(Value::as_f64) })
}

fn text_of(task: &Map<String, Value>, key: &str) -> Option<String> {
    task.get(key)?.as_str().map(str::to_owned)
}

fn texts_of(task: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = task.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_list_reads_back_equal() {
        let skill =
            skill::from_value(&json!({"name": "find_object", "mode": "ground_and_segment", "grounding": "the can"}));
        let task = TaskInfo {
            name: "find_object".into(),
            enabled: false,
            topic: "/vision/find_object/detections".into(),
            semantic_topics: vec!["/vision/find_object/found".into()],
            skill: Some(skill.unwrap()),
            error: Some("unsupported_condition: the mood".into()),
            engine: Some("geometry".into()),
            notes: vec!["not understood: shiny".into()],
            created: Stamp::from_secs_f64(1_750_000_000.25),
            spend: Some(Spend { calls: 3, usd: Some(0.01) }),
        };
        assert_eq!(from_str(&to_string(std::slice::from_ref(&task))), Ok(vec![task]));
    }

    #[test]
    fn a_foreign_task_needs_only_a_name() {
        let tasks = from_str(r#"[{"name":"x","colour":"red","skill":{"mode":"paint"}}]"#).unwrap();
        assert_eq!(tasks[0].topic, "/vision/x/detections");
        assert!(tasks[0].skill.is_none() && tasks[0].enabled);
        assert!(tasks[0].error.as_deref().unwrap().starts_with("skill"), "{:?}", tasks[0].error);
    }

    #[test]
    fn garbage_is_refused_with_its_place() {
        assert_eq!(from_str(r#"[{"name":"x"},{}]"#).unwrap_err().path, "[1].name");
        assert!(from_str("{}").is_err() && from_str("[1]").is_err() && from_str("nonsense").is_err());
    }
}
