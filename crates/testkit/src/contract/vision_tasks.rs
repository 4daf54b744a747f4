use cerebellum_core::{Skill, TaskAction, TaskError, VisionTasks};
use serde_json::json;

use super::PATIENCE;

/// A node without skills: creates, lists, disables, enables and deletes, and refuses what it should.
pub async fn check(tasks: &dyn VisionTasks) {
    assert_eq!(tasks.list(PATIENCE).await, Ok(Vec::new()), "the suite begins with no skills");
    let skill = skill("contract_a");
    let created = tasks.create(&skill, PATIENCE).await.expect("the port does as asked");
    assert_eq!(created.name, "contract_a");
    let topics = ["/vision/contract_a/detections", "/vision/contract_a/found", "/vision/contract_a/overlay"];
    assert_eq!(created.topics, topics, "detections first, then the outputs, then the overlay");
    refused_by_name(tasks.create(&skill, PATIENCE).await.map(|_| ()), "contract_a");
    let other = self::skill("contract_b");
    tasks.create(&other, PATIENCE).await.expect("the port does as asked");

    let listed = tasks.list(PATIENCE).await.expect("the port does as asked");
    assert_eq!(listed.iter().map(|task| task.name.as_str()).collect::<Vec<_>>(), ["contract_a", "contract_b"]);
    assert_eq!(listed[0].skill.as_ref(), Some(&skill), "the whole skill comes back, its watch too");
    assert_eq!(
        (listed[0].topic.as_str(), listed[0].semantic_topics.as_slice()),
        (topics[0], &[topics[1].to_owned()][..])
    );
    assert!(listed[0].enabled);

    for (action, enabled) in [(TaskAction::Disable, false), (TaskAction::Enable, true)] {
        tasks.manage("contract_a", action, PATIENCE).await.expect("the port does as asked");
        assert_eq!(tasks.list(PATIENCE).await.expect("the port does as asked")[0].enabled, enabled);
    }
    tasks.manage("contract_a", TaskAction::Delete, PATIENCE).await.expect("the port does as asked");
    assert_eq!(tasks.list(PATIENCE).await.expect("the port does as asked").len(), 1);
    refused_by_name(tasks.manage("contract_a", TaskAction::Delete, PATIENCE).await.map(|_| ()), "contract_a");
    refused_by_name(tasks.manage("nobody", TaskAction::Enable, PATIENCE).await.map(|_| ()), "nobody");
    tasks.create(&skill, PATIENCE).await.expect("a name is free again once its skill is deleted");
    for name in ["contract_a", "contract_b"] {
        tasks.manage(name, TaskAction::Delete, PATIENCE).await.expect("the port does as asked");
    }
    assert_eq!(tasks.list(PATIENCE).await, Ok(Vec::new()));
}

fn refused_by_name(answer: Result<(), TaskError>, name: &str) {
    let Err(TaskError::Refused { message }) = answer else { panic!("expected a refusal, got {answer:?}") };
    assert!(message.contains(name), "the message names {name}: {message}");
}

fn skill(name: &str) -> Skill {
    let skill = json!({
        "name": name, "mode": "ground_and_segment", "grounding": "the \"red\" can", "segment": true, "rate_hz": 4.0,
        "outputs": [{"name": "found", "type": "boolean", "description": "whether the can is in view"}],
        "watch": {"output": "found", "equals": true, "debounce_s": 0.5, "condition": "a can is in view"}
    });
    cerebellum_wire::skill::from_value(&skill).expect("the skill of the suite is one")
}
