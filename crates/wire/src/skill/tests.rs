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
        (json!([]), "a skill is a JSON object with name and mode, not an array"),
    ];
    for (skill, expected) in cases {
        let fault = fault_of(&skill);
        assert!(fault.starts_with(expected), "expected {expected:?}, got {fault:?}");
    }
}

#[test]
fn arrays_in_place_of_objects_are_refused_in_plain_words() {
    let fields = json!(["a", "segment_all", null, false, false, null, [], null]);
    assert!(from_str(&fields.to_string()).unwrap_err().to_string().starts_with("a skill is a JSON object"));
    let cases = [
        (fields, "a skill is a JSON object"),
        (json!("nonsense"), "a skill is a JSON object with name and mode, not text"),
        (with("/outputs/0", json!(["triggered", "boolean", ""])), "outputs[0]: an output is a JSON object"),
        (with("/outputs", json!({"triggered": "boolean"})), "outputs: must be a JSON array"),
        (with("/watch", json!(["triggered", true, 0.0, null])), "watch: a watch is a JSON object"),
    ];
    for (skill, expected) in cases {
        let fault = fault_of(&skill);
        assert!(fault.starts_with(expected) && !fault.contains("Json"), "expected {expected:?}, got {fault:?}");
    }
}

#[test]
fn characters_nobody_sees_are_refused_with_their_place() {
    for hidden in ["\u{0}", "\u{1b}", "\u{7f}", "\u{9b}", "\u{202e}", "\u{2066}", "\n"] {
        let text = format!("a{hidden}b");
        let cases = [
            (json!({"name": "a", "mode": "region", "grounding": text}), "grounding: has the character U+"),
            (with("/outputs/0/description", json!(text)), "outputs[0].description: has the character U+"),
            (with("/watch/condition", json!(text)), "watch.condition: has the character U+"),
        ];
        for (skill, expected) in cases {
            let fault = fault_of(&skill);
            assert!(fault.starts_with(expected), "expected {expected:?}, got {fault:?}");
        }
    }
    let skill = from_value(&with("/outputs/0/description", json!("as a YAML block ends\n"))).unwrap();
    assert_eq!(skill.outputs[0].description, "as a YAML block ends");
}

#[test]
fn what_was_sent_is_repeated_in_few_characters() {
    let long = "x".repeat(500_000);
    let cases = [
        plus(&long, json!(1)),
        with("/name", json!(long)),
        with("/mode", json!(long)),
        with("/outputs/0/name", json!(long)),
        with("/outputs/0/type", json!(long)),
        with("/watch/output", json!(long)),
        with("/watch/equals", json!(long)),
        with("/watch/debounce_s", json!(1e308)),
        with("/watch/debounce_s", json!(long)),
        with("/rate_hz", json!(1e308)),
    ];
    for skill in cases {
        let fault = fault_of(&skill);
        assert!(fault.len() < 500, "{} bytes: {}", fault.len(), text::cut(&fault));
    }
    assert!(fault_of(&with("/rate_hz", json!(1e308))).starts_with("rate_hz: is 1e308; must"));
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
