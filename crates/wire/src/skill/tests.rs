use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn watcher() -> Value {
    json!({
        "name": "watch_for", "mode": "describe", "rate_hz": 4.0,
        "outputs": [{"name": "triggered", "type": "boolean", "description": "whether: a person is in view"}],
        "watch": {"output": "triggered", "equals": true, "debounce_s": 0.5, "condition": "a person is in view"},
    })
}

fn with(path: &str, value: Value) -> Value {
    let mut skill = watcher();
    *skill.pointer_mut(path).unwrap() = value;
    skill
}

fn plus(key: &str, value: Value) -> Value {
    let mut skill = watcher();
    skill[key] = value;
    skill
}

fn fault_of(skill: &Value) -> String {
    from_value(skill).unwrap_err().to_string()
}

#[test]
fn a_skill_reads_back_equal() {
    let skill = from_value(&watcher()).unwrap();
    assert_eq!(from_value(&to_value(&skill)), Ok(skill.clone()));
    assert_eq!(from_str(&to_value(&skill).to_string()), Ok(skill));
}

#[test]
fn what_is_left_out_takes_the_documented_default() {
    let skill = from_value(&json!({"name": "all", "mode": "segment_all"})).unwrap();
    assert_eq!((skill.segment, skill.once, skill.rate_hz, skill.outputs.len()), (false, false, None, 0));
    assert_eq!(skill.period(), Duration::from_millis(500));
}

#[test]
fn each_fault_is_refused_with_its_path() {
    let cases = [
        (plus("color", json!("red")), "color: unknown field"),
        (with("/name", json!("a/b")), "name: skill name \"a/b\" must be"),
        (with("/name", json!("x".repeat(300))), "name: skill name"),
        (with("/mode", json!("paint")), "mode: unknown variant"),
        (plus("grounding", json!("the can")), "grounding: mode describe takes none"),
        (json!({"name": "a", "mode": "region"}), "grounding: mode region needs"),
        (json!({"name": "a", "mode": "region", "grounding": "  "}), "grounding: must say"),
        (with("/rate_hz", json!(0)), "rate_hz: is 0"),
        (with("/rate_hz", json!(30.5)), "rate_hz: is 30.5"),
        (with("/rate_hz", json!("fast")), "rate_hz: invalid type"),
        (with("/outputs/0/name", json!("overlay")), "outputs[0].name: output name \"overlay\" is taken"),
        (with("/outputs/0/type", json!("bool")), "outputs[0].type: unknown variant"),
        (
            plus("outputs", json!([{"name": "a", "type": "text"}, {"name": "a", "type": "list"}])),
            "outputs[1].name: a stands twice",
        ),
        (with("/watch/output", json!("seen")), "watch.output: \"seen\" is no output"),
        (with("/watch/equals", json!("true")), "watch.equals: \"true\" is no boolean"),
        (with("/watch/debounce_s", json!(-1)), "watch.debounce_s: is -1"),
        (json!([]), "invalid"),
    ];
    for (skill, expected) in cases {
        let fault = fault_of(&skill);
        assert!(fault.starts_with(expected), "expected {expected:?}, got {fault:?}");
    }
}

#[test]
fn text_after_the_skill_is_refused() {
    let text = format!("{} {{}}", watcher());
    assert!(from_str(&text).unwrap_err().message.starts_with("more text"));
}

proptest! {
    #[test]
    fn no_json_makes_it_panic(text in "\\PC{0,200}") {
        if let Ok(skill) = from_str(&text) {
            prop_assert_eq!(from_value(&to_value(&skill)), Ok(skill));
        }
    }
}
