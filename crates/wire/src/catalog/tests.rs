use serde_json::json;

use super::*;

const SHIPPED: &str = include_str!("../../../../config/skills.yaml");

fn shipped() -> Catalog {
    Catalog::read([("config/skills.yaml", SHIPPED)])
}

fn fill(template: &str, params: &Value) -> Result<Skill, FillError> {
    shipped().fill(template, params.as_object().unwrap())
}

/// Reads one template and answers its only fault.
fn fault_of(template: &str) -> String {
    let text = format!("templates:\n{template}\n");
    let catalog = Catalog::read([("a.yaml", text.as_str())]);
    assert!(catalog.templates().is_empty(), "{template} was taken");
    let [fault] = catalog.faults() else { panic!("{:?}", catalog.faults()) };
    fault.to_string()
}

fn check_fault(template: &str, start: &str, part: &str) {
    let fault = fault_of(template);
    assert!(fault.starts_with(start) && fault.contains(part), "{fault}");
}

#[test]
fn the_shipped_catalog_has_the_five_templates_and_no_fault() {
    let catalog = shipped();
    assert_eq!(catalog.faults(), []);
    let names: Vec<&str> = catalog.templates().iter().map(|template| template.name.as_str()).collect();
    assert_eq!(names, ["find_object", "segment_all", "free_space", "describe_scene", "watch_for"]);
    assert_eq!(catalog.templates()[0].params, ["query"]);
}

#[test]
fn filling_puts_the_param_into_every_text() {
    let skill = fill("find_object", &json!({"query": "scissors"})).unwrap();
    assert_eq!(
        skill::to_value(&skill),
        json!({"name": "find_object", "mode": "ground_and_segment", "grounding": "the scissors", "segment": true, "once": false,
            "outputs": [{"name": "found", "type": "boolean", "description": "whether the scissors is visible"}]})
    );
}

#[test]
fn a_watch_moves_into_the_skill_with_its_condition_in_words() {
    let skill = fill("watch_for", &json!({"condition": "a person is in view"})).unwrap();
    assert_eq!(
        skill::to_value(&skill)["watch"],
        json!({"output": "triggered", "equals": true, "debounce_s": 0.0, "condition": "a person is in view"})
    );
    assert_eq!(skill.outputs[0].description, "whether: a person is in view");
}

#[test]
fn each_wrong_call_is_told_what_would_be_right() {
    let cases = [
        ("find_object", json!({}), "template find_object needs query; it takes query"),
        (
            "find_object",
            json!({"query": "x", "colour": "red"}),
            "template find_object has no param colour; it takes query",
        ),
        ("segment_all", json!({"query": "x"}), "template segment_all has no param query; it takes none"),
        ("find_objects", json!({}), "no template named \"find_objects\"; there are find_object, segment_all"),
        ("find_object", json!({"query": " "}), "param query must not be empty"),
        ("find_object", json!({"query": 3}), "param query must be text, not 3"),
        ("find_object", json!({"query": {"a": 1}}), "param query must be text, not {\"a\":1}"),
        ("find_object", json!({"query": "x".repeat(201)}), "param query has 201 characters"),
        ("find_object", json!({"query": "x\nmode: describe"}), "param query must be one line"),
    ];
    for (template, params, expected) in cases {
        let error = fill(template, &params).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_value_never_becomes_structure_and_is_not_looked_at_again() {
    let value = r#"can", "segment": false, {query} {"#;
    let skill = fill("find_object", &json!({"query": value})).unwrap();
    assert_eq!(skill.grounding.as_deref(), Some(format!("the {value}").as_str()));
    assert!(skill.segment);
}

#[test]
fn braces_around_anything_but_a_name_are_text() {
    let text = "templates:\n  - {name: a, description: d, params: [p], skill: {mode: region, grounding: 'ä{p}{P}{ {p} } {\"a\":1} {p'}}";
    let catalog = Catalog::read([("a.yaml", text)]);
    assert_eq!(catalog.faults(), []);
    let skill = catalog.fill("a", json!({"p": "x"}).as_object().unwrap()).unwrap();
    assert_eq!(skill.grounding.as_deref(), Some("äx{P}{ x } {\"a\":1} {p"));
}

#[test]
fn a_bad_template_is_reported_by_file_and_line_and_the_good_ones_load() {
    let text = format!("{SHIPPED}\n  - name: bad\n    description: d\n    skill:\n      mode: paint\n");
    let line = text.lines().count();
    let catalog = Catalog::read([("my/skills.yaml", text.as_str())]);
    assert_eq!(catalog.templates().len(), 5);
    let [fault] = catalog.faults() else { panic!("{:?}", catalog.faults()) };
    assert!(
        fault.to_string().starts_with(&format!("my/skills.yaml:{line}: template bad: skill.mode: unknown variant")),
        "{fault}"
    );
}

#[test]
fn each_fault_of_a_template_is_found_with_its_line() {
    check_fault(
        "  - {description: d, skill: {mode: segment_all}}",
        "a.yaml:2: template without a name: ",
        "missing field `name`",
    );
    check_fault("  - {name: A/b, description: d, skill: {mode: segment_all}}", "a.yaml:2: template A/b: name: ", "a-z");
    check_fault("  - {name: a, skill: {mode: segment_all}}", "a.yaml:2: ", "description: must say");
    check_fault("  - {name: a, description: d}", "a.yaml:2: ", "missing field `skill`");
    check_fault(
        "  - {name: a, description: d, colour: red, skill: {mode: segment_all}}",
        "a.yaml:2: ",
        "unknown field `colour`",
    );
    check_fault(
        "  - name: a\n    description: d\n    params: [p]\n    skill:\n      mode: region\n      grounding: 'x {q} {p}'",
        "a.yaml:7: template a: skill.grounding: {q} is no param; params has p",
        "",
    );
    check_fault(
        "  - name: a\n    description: d\n    params:\n      - p\n      - unused\n    skill: {mode: region, grounding: '{p}'}",
        "a.yaml:6: template a: params[1]: unused is used nowhere",
        "",
    );
    check_fault(
        "  - {name: a, description: d, params: [p, p], skill: {mode: region, grounding: '{p}'}}",
        "a.yaml:2: ",
        "stands twice",
    );
    check_fault(
        "  - {name: a, description: d, skill: {mode: segment_all, name: b}}",
        "a.yaml:2: ",
        "leave the name out",
    );
    check_fault(
        "  - name: a\n    description: d\n    skill:\n      mode: describe\n      outputs: [{name: t, type: boolean}]\n      watch: {output: t, equals: true}\n    watch: {output: t, equals: true}",
        "a.yaml:8: template a: watch: stands both",
        "",
    );
    check_fault(
        "  - name: a\n    description: d\n    skill:\n      mode: describe\n      outputs: [{name: t, type: boolean}]\n    watch:\n      output: u\n      equals: true",
        "a.yaml:8: template a: watch.output: ",
        "no output of this skill",
    );
    check_fault("  - 7", "a.yaml:2: ", "invalid type");
}

#[test]
fn a_name_that_exists_is_refused_and_the_first_stays() {
    let more = "templates:\n  - {name: find_object, description: mine, skill: {mode: segment_all}}\n  - {name: mine, description: d, skill: {mode: segment_all}}\n";
    let catalog = Catalog::read([("config/skills.yaml", SHIPPED), ("learned.yaml", more)]);
    assert_eq!(catalog.templates().len(), 6);
    assert_eq!(
        catalog.faults()[0].to_string(),
        "learned.yaml:2: template find_object: the name exists already; choose another"
    );
    assert!(catalog.fill("find_object", json!({"query": "x"}).as_object().unwrap()).is_ok());
}

#[test]
fn a_file_that_is_no_catalog_is_one_fault_and_the_other_files_load() {
    for text in ["", "templates: 3", "- a", "templates:\n  - {name: a\n  x", "\u{0}\u{1}"] {
        let catalog = Catalog::read([("broken.yaml", text), ("config/skills.yaml", SHIPPED)]);
        assert_eq!(catalog.templates().len(), 5, "{text:?}");
        let [fault] = catalog.faults() else { panic!("{text:?}: {:?}", catalog.faults()) };
        assert!(fault.to_string().starts_with("broken.yaml"), "{fault}");
    }
    let catalog = Catalog::read([("a.yaml", "templates: []\nskills: []\n")]);
    assert_eq!(catalog.faults()[0].to_string(), "a.yaml:2: unknown key skills; a catalog has templates");
}
