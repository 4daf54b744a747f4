use std::fs;
use std::sync::Arc;

use cerebellum_core::{Process, Stamp};
use cerebellum_testkit::{FakeClock, FakeProcesses};
use serde_json::Map;

use super::*;

const TEMPLATE: &str = "name: find_mug
description: 'Finds the mug: \"{colour}\" # one'
params: [colour]
skill: {mode: ground_and_segment, grounding: '{colour} mug', outputs: [{name: found, type: boolean, description: 'whether: a mug'}]}
watch: {output: found, equals: true}
";

struct Rig {
    folder: tempfile::TempDir,
    store: FakeProcesses,
}

impl Rig {
    fn new() -> Self {
        let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_750_000_000.0)));
        Self { folder: tempfile::tempdir().unwrap(), store: FakeProcesses::new(clock) }
    }

    async fn learn(&self, name: &str, plan: &str, outcomes: &[bool]) {
        let process = Process {
            name: name.to_owned(),
            description: "A skill.".to_owned(),
            plan: Some(plan.to_owned()),
            tags: vec!["kitchen".to_owned(), TAG.to_owned()],
            source: "Robin\nname: evil".to_owned(),
            ..Process::default()
        };
        self.store.save(process).await.unwrap();
        for worked in outcomes {
            self.store.record(name, *worked, None).await.unwrap();
        }
    }

    async fn export(&self, known: &[String]) -> Exported {
        export_skills(&self.store, self.folder.path(), known, SUCCESSES_MIN_DEFAULT).await.unwrap()
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Why the only process was not exported.
    async fn refusal(&self) -> String {
        let exported = self.export(&[]).await;
        assert_eq!((exported.written.len(), exported.refused.len(), self.files().len()), (0, 1, 0), "{exported:?}");
        exported.refused[0].1.clone()
    }
}

#[tokio::test]
async fn a_skill_that_proved_good_is_read_back_by_skill_control() {
    let rig = Rig::new();
    rig.learn("find the mug", TEMPLATE, &[true, false, true]).await;
    let exported = rig.export(&[]).await;
    assert_eq!(exported.written, [("find_mug".to_owned(), rig.folder.path().join("find_mug.yaml"))]);
    assert_eq!((exported.refused.len(), rig.files()), (0, vec!["find_mug.yaml".to_owned()]));

    let catalog = Catalogs::open(rig.folder.path()).unwrap().current();
    assert_eq!(catalog.faults(), []);
    let params: Map<String, Value> = [("colour".to_owned(), json!("red"))].into_iter().collect();
    let skill = catalog.fill("find_mug", &params).unwrap();
    let taught = Catalog::read([("t", format!("templates: [{}]", yaml_flow(TEMPLATE)).as_str())]);
    assert_eq!(skill, taught.fill("find_mug", &params).unwrap());
    let text = fs::read_to_string(rig.folder.path().join("find_mug.yaml")).unwrap();
    assert!(
        text.starts_with("# Learned as \"find the mug\" (fake_1, version 1), saved by Robinname: evil.\n"),
        "{text}"
    );
    assert!(text.contains("worked 2 times and failed 1 times"), "{text}");
}

fn yaml_flow(text: &str) -> String {
    let located: Located = serde_saphyr::from_str(text).unwrap();
    located.to_value().to_string()
}

#[tokio::test]
async fn a_catalog_of_one_and_json_do_as_well() {
    let rig = Rig::new();
    let one = format!("{{\"templates\": [{}]}}", yaml_flow(TEMPLATE));
    rig.learn("find the mug", &one, &[true]).await;
    assert_eq!(rig.export(&[]).await.written.len(), 1);
}

#[tokio::test]
async fn a_name_that_exists_is_refused_and_no_file_is_changed() {
    let rig = Rig::new();
    rig.learn("find the mug", TEMPLATE, &[true]).await;
    let known = rig.export(&["find_mug".to_owned()]).await;
    assert!(known.refused[0].1.contains("a template named find_mug exists already"), "{known:?}");
    fs::write(
        rig.folder.path().join("own.yaml"),
        "templates:\n  - {name: find_mug, description: d, skill: {mode: segment_all}}\n",
    )
    .unwrap();
    assert!(rig.export(&[]).await.refused[0].1.contains("a template named find_mug exists already"));
    fs::remove_file(rig.folder.path().join("own.yaml")).unwrap();
    fs::write(
        rig.folder.path().join("find_mug.yaml"),
        "templates:\n  - {name: other, description: d, skill: {mode: segment_all}}\n",
    )
    .unwrap();
    let taken = rig.export(&[]).await;
    assert!(taken.refused[0].1.ends_with("find_mug.yaml exists already"), "{taken:?}");
    assert_eq!(rig.files(), ["find_mug.yaml"], "nothing is left beside it");
    assert!(fs::read_to_string(rig.folder.path().join("find_mug.yaml")).unwrap().contains("other"));
}

#[tokio::test]
async fn two_processes_with_one_template_name_give_one_file() {
    let rig = Rig::new();
    rig.learn("a mug", TEMPLATE, &[true]).await;
    rig.learn("b mug", TEMPLATE, &[true]).await;
    let exported = rig.export(&[]).await;
    assert_eq!((exported.written.len(), exported.refused[0].0.as_str()), (1, "b mug"));
}

#[tokio::test]
async fn what_is_not_proved_or_no_template_is_refused_with_the_reason() {
    for (plan, outcomes, expected) in [
        (TEMPLATE, &[][..], "it is not proved: it worked 0 times"),
        (TEMPLATE, &[true, false], "worked 1 times and failed 1 times"),
        ("steps: [", &[true], "its plan cannot be read"),
        ("just words", &[true], "its plan is no skill template"),
        ("steps: []", &[true], "its plan is no skill template"),
        ("templates: []", &[true], "its plan holds 0 templates"),
        ("{name: ../../etc/cron, description: d, skill: {mode: segment_all}}", &[true], "name"),
        ("{name: x, description: d, skill: {mode: nothing}}", &[true], "its plan is no skill template"),
    ] {
        let rig = Rig::new();
        rig.learn("a skill", plan, outcomes).await;
        let reason = rig.refusal().await;
        assert!(reason.contains(expected), "{expected:?} not in {reason:?}");
    }
}

#[tokio::test]
async fn other_processes_are_no_skills() {
    let rig = Rig::new();
    let process = Process { name: "make tea".to_owned(), plan: Some(TEMPLATE.to_owned()), ..Process::default() };
    rig.store.save(process).await.unwrap();
    rig.store.record("make tea", true, None).await.unwrap();
    assert_eq!(rig.export(&[]).await, Exported::default());
}

#[tokio::test]
async fn a_folder_that_is_none_is_an_error_that_names_it() {
    let rig = Rig::new();
    let file = rig.folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = export_skills(&rig.store, &file, &[], 1).await.unwrap_err().to_string();
    assert!(error.contains("cannot export to") && error.contains("file"), "{error}");
}
