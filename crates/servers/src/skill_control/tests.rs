use std::time::Duration;

use cerebellum_core::Stamp;
use cerebellum_testkit::tasks::{Call, Script};
use cerebellum_testkit::{FakeClock, FakeVisionTasks};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testing::{call, call_with, context, settle};

struct Rig {
    clock: Arc<FakeClock>,
    tasks: Arc<FakeVisionTasks>,
    server: Server,
}

fn rig() -> Rig {
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_750_000_000.0)));
    let tasks = Arc::new(FakeVisionTasks::new(clock.clone()));
    let server = Server::new(tasks.clone(), Catalogs::shipped(), clock.clone(), SERVICE_DEADLINE_DEFAULT);
    Rig { clock, tasks, server }
}

impl Rig {
    async fn call(&self, tool: &str, given: Value) -> (Value, bool) {
        call(&self.server, tool, &given).await
    }

    async fn find(&self, query: &str) -> Value {
        self.call("instantiate_skill", json!({"template": "find_object", "params": {"query": query}})).await.0
    }

    /// A call that must fail; answers its error.
    async fn error(&self, tool: &str, given: Value) -> Value {
        let (answer, is_error) = self.call(tool, given).await;
        assert!(is_error && answer["ok"] == json!(false), "{answer}");
        for part in ["code", "message", "next"] {
            assert!(answer["error"][part].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
        }
        answer
    }
}

#[tokio::test]
async fn list_skill_templates_answers_the_catalog() {
    let (answer, is_error) = rig().call("list_skill_templates", json!({})).await;
    assert!(!is_error);
    assert_eq!(
        answer["templates"][0],
        json!({"name": "find_object", "description": "Locate and segment a specific object the user names.", "params": ["query"]})
    );
    assert_eq!(answer["templates"].as_array().unwrap().len(), 5);
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["ok", "templates"]);
}

#[tokio::test]
async fn instantiate_skill_sends_the_filled_skill_and_answers_its_topics() {
    let rig = rig();
    let answer = rig.find("red can").await;
    assert_eq!(
        answer.to_string(),
        r#"{"ok":true,"skill_id":"find_object","name":"find_object","topic":"/vision/find_object/detections","semantic_topics":["/vision/find_object/found"]}"#
    );
    let calls = rig.tasks.calls();
    let Call::Create(skill) = &calls[1] else { panic!("{calls:?}") };
    assert_eq!(skill.grounding.as_deref(), Some("the red can"));
}

#[tokio::test]
async fn what_the_engine_did_not_understand_comes_back_as_notes() {
    let rig = rig();
    rig.tasks.say("not understood: shiny\n\nused: coke = red can");
    assert_eq!(rig.find("shiny coke").await["notes"], json!(["not understood: shiny", "used: coke = red can"]));
}

#[tokio::test]
async fn a_name_that_runs_gets_the_lowest_free_number() {
    let rig = rig();
    for expected in ["find_object", "find_object_2", "find_object_3"] {
        assert_eq!(rig.find("can").await["skill_id"], expected);
    }
    rig.call("stop_skill", json!({"skill_id": "find_object_2"})).await;
    let answer = rig.find("can").await;
    assert_eq!(answer["skill_id"], "find_object_2");
    assert_eq!(answer["semantic_topics"], json!(["/vision/find_object_2/found"]));
}

#[tokio::test]
async fn a_name_that_somebody_else_takes_meanwhile_is_chosen_anew() {
    let rig = rig();
    let listed = rig.tasks.calls().len();
    rig.tasks.script(Script::Late(Duration::ZERO));
    rig.tasks.script(Script::Overtaken("find_object".into()));
    assert_eq!(rig.find("can").await["skill_id"], "find_object_2");
    assert_eq!(listed, 0);
}

#[tokio::test]
async fn calls_at_once_get_names_of_their_own() {
    let rig = rig();
    let calls = (0..20).map(|_| rig.find("can"));
    let answers = futures::future::join_all(calls).await;
    let names: std::collections::BTreeSet<String> =
        answers.iter().map(|answer| answer["skill_id"].to_string()).collect();
    assert_eq!(names.len(), 20);
}

#[tokio::test]
async fn a_refusal_for_another_reason_is_told_in_the_nodes_words() {
    let rig = rig();
    rig.tasks.script(Script::Late(Duration::ZERO));
    rig.tasks.script(Script::Refuse("unsupported_condition: the mood; geometry judges THING is in view".into()));
    let answer = rig
        .error("instantiate_skill", json!({"template": "watch_for", "params": {"condition": "the mood is good"}}))
        .await;
    assert_eq!(answer["error"]["code"], "refused");
    assert!(answer["error"]["message"].as_str().unwrap().contains("geometry judges"), "{answer}");
}

#[tokio::test]
async fn the_watch_intent_is_recorded_in_the_skill() {
    let rig = rig();
    rig.call("instantiate_skill", json!({"template": "watch_for", "params": {"condition": "a person is in view"}}))
        .await;
    let watch = rig.tasks.tasks()[0].skill.clone().unwrap().watch.unwrap();
    assert_eq!(watch.condition.as_deref(), Some("a person is in view"));
    let (answer, _) = rig.call("list_running_skills", json!({})).await;
    assert_eq!(answer["skills"][0]["watch"]["output"], "triggered");
}

#[tokio::test]
async fn wrong_templates_and_params_are_errors_with_what_is_known() {
    let rig = rig();
    let cases = [
        (json!({"template": "find_objekt", "params": {}}), "unknown_template", "find_object"),
        (json!({"template": "find_object"}), "bad_params", "query"),
        (json!({"template": "find_object", "params": {"query": "x", "size": "big"}}), "bad_params", "query"),
    ];
    for (given, code, known) in cases {
        let answer = rig.error("instantiate_skill", given).await;
        assert_eq!(answer["error"]["code"], code);
        assert_eq!(answer["known"][0], known);
    }
    for given in [
        json!({"template": "find_object", "params": {"query": {"a": 1}}}),
        json!({"template": "find_object", "params": {"query": "x".repeat(1000)}}),
    ] {
        assert_eq!(rig.error("instantiate_skill", given).await["error"]["code"], "bad_params");
    }
    for given in [json!({}), json!({"template": 3}), json!({"template": "find_object", "params": "query=x"})] {
        assert_eq!(rig.error("instantiate_skill", given).await["error"]["code"], "bad_arguments");
    }
    assert_eq!(rig.tasks.calls(), []);
}

#[tokio::test]
async fn params_sent_as_text_are_taken() {
    let rig = rig();
    let given = json!({"template": "find_object", "params": "{\"query\":\"red can\"}", "response_text": "On it!"});
    assert_eq!(rig.call("instantiate_skill", given).await.0["ok"], true);
}

#[tokio::test]
async fn a_raw_skill_starts_under_its_own_name_or_a_free_one() {
    let rig = rig();
    let skill = json!({"name": "cans", "mode": "ground_and_segment", "grounding": "cans", "outputs": [{"name": "count", "type": "number"}]});
    let (answer, _) = rig.call("instantiate_raw_skill", json!({"skill": skill})).await;
    assert_eq!(answer["semantic_topics"], json!(["/vision/cans/count"]));
    let (answer, _) = rig.call("instantiate_raw_skill", json!({"skill": skill.to_string()})).await;
    assert_eq!(answer["skill_id"], "cans_2");
}

#[tokio::test]
async fn a_raw_skill_that_breaks_the_schema_is_refused_with_the_place() {
    let rig = rig();
    let cases = [
        (json!({"name": "a", "mode": "paint"}), "skill.mode"),
        (json!({"name": "a/b", "mode": "segment_all"}), "skill.name"),
        (json!({"name": "a".repeat(300), "mode": "segment_all"}), "skill.name"),
        (json!({"name": "a", "mode": "region"}), "skill.grounding"),
        (
            json!({"name": "a", "mode": "describe", "outputs": [{"name": "overlay", "type": "text"}]}),
            "skill.outputs[0].name",
        ),
        (json!({"name": "a", "mode": "segment_all", "colour": 1}), "skill.colour"),
        (json!("nonsense"), "skill"),
    ];
    for (skill, place) in cases {
        let answer = rig.error("instantiate_raw_skill", json!({"skill": skill})).await;
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(place), "{place}: {answer}");
    }
    assert_eq!(rig.tasks.calls(), []);
}

#[tokio::test]
async fn stop_skill_deletes_and_a_second_stop_tells_what_runs() {
    let rig = rig();
    rig.find("can").await;
    rig.find("cup").await;
    let (answer, _) = rig.call("stop_skill", json!({"skill_id": "find_object"})).await;
    assert_eq!(answer, json!({"ok": true, "skill_id": "find_object"}));
    assert!(rig.tasks.calls().contains(&Call::Manage("find_object".into(), TaskAction::Delete)));
    let answer = rig.error("stop_skill", json!({"skill_id": "find_object"})).await;
    assert_eq!((&answer["error"]["code"], &answer["known"]), (&json!("unknown_skill"), &json!(["find_object_2"])));
}

#[tokio::test]
async fn a_name_with_slashes_or_300_characters_is_an_unknown_skill_cut_in_the_message() {
    let rig = rig();
    for name in ["a/b", &"x".repeat(300), ""] {
        let answer = rig.error("stop_skill", json!({"skill_id": name})).await;
        assert_eq!(answer["error"]["code"], "unknown_skill");
        assert!(answer["error"]["message"].as_str().unwrap().len() < 200);
    }
}

#[tokio::test]
async fn set_skill_enabled_pauses_and_goes_on() {
    let rig = rig();
    rig.find("can").await;
    for enabled in [false, true] {
        let (answer, _) = rig.call("set_skill_enabled", json!({"skill_id": "find_object", "enabled": enabled})).await;
        assert_eq!(answer, json!({"ok": true, "skill_id": "find_object", "enabled": enabled}));
        assert_eq!(rig.call("list_running_skills", json!({})).await.0["skills"][0]["enabled"], enabled);
    }
    let answer = rig.error("set_skill_enabled", json!({"skill_id": "nobody", "enabled": true})).await;
    assert_eq!(answer["known"], json!(["find_object"]));
}

#[tokio::test]
async fn list_running_skills_passes_on_what_the_node_says() {
    let rig = rig();
    rig.find("can").await;
    rig.tasks.edit(|tasks| {
        tasks[0].notes = vec!["not understood: shiny".into()];
        tasks[0].error = Some("unsupported_condition: the mood".into());
        tasks[0].spend = Some(cerebellum_core::Spend { calls: 3, usd: Some(0.5) });
    });
    let (answer, _) = rig.call("list_running_skills", json!({})).await;
    assert_eq!(
        answer["skills"][0],
        json!({"skill_id": "find_object", "name": "find_object", "topic": "/vision/find_object/detections", "enabled": true,
            "semantic_topics": ["/vision/find_object/found"], "engine": "fake", "notes": ["not understood: shiny"],
            "error": "unsupported_condition: the mood", "spend": {"calls": 3, "usd": 0.5}})
    );
}

#[tokio::test]
async fn many_running_skills_stay_within_the_limit_and_are_counted() {
    let rig = rig();
    for _ in 0..200 {
        rig.find("can").await;
    }
    let (answer, _) = rig.call("list_running_skills", json!({})).await;
    let shown = answer["skills"].as_array().unwrap().len();
    assert!(shown > 20);
    assert_eq!(answer["omitted"], json!(200 - shown));
}

#[tokio::test]
async fn each_fault_of_the_service_is_a_clean_error() {
    let rig = rig();
    let cases = [
        (Script::Away, "vision_node_unavailable", "nobody offers /vision_node/"),
        (Script::BusDown, "bus_down", "the ROS bus is not connected yet"),
        (Script::Garble("not JSON".into()), "service_garbled", "answered something unreadable"),
    ];
    for (script, code, words) in cases {
        rig.tasks.always(Some(script));
        for (tool, given) in [
            ("list_running_skills", json!({})),
            ("instantiate_skill", json!({"template": "segment_all"})),
            ("stop_skill", json!({"skill_id": "a"})),
        ] {
            let answer = rig.error(tool, given).await;
            assert_eq!(answer["error"]["code"], code);
            assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
        }
    }
    rig.tasks.always(None);
    assert_eq!(rig.call("list_running_skills", json!({})).await.0["ok"], true);
}

#[tokio::test]
async fn a_service_that_never_answers_is_a_time_out_after_25_seconds() {
    for script in [Script::Silent, Script::Hang] {
        let rig = rig();
        rig.tasks.script(script);
        let calling = rig.error("list_running_skills", json!({}));
        let waiting = async {
            settle().await;
            rig.clock.advance(Duration::from_secs(24));
            settle().await;
            rig.clock.advance(Duration::from_secs(2));
        };
        let (answer, ()) = tokio::join!(calling, waiting);
        assert_eq!(answer["error"]["code"], "service_timeout");
        assert!(answer["error"]["message"].as_str().unwrap().contains("within 25 s"), "{answer}");
    }
}

#[tokio::test]
async fn the_services_of_one_call_share_its_deadline() {
    let rig = rig();
    rig.tasks.script(Script::Late(Duration::from_secs(20)));
    rig.tasks.script(Script::Silent);
    let calling = rig.error("instantiate_skill", json!({"template": "segment_all"}));
    let waiting = async {
        settle().await;
        rig.clock.advance(Duration::from_secs(20));
        settle().await;
        rig.clock.advance(Duration::from_secs(6));
    };
    let (answer, ()) = tokio::join!(calling, waiting);
    assert_eq!(answer["error"]["code"], "service_timeout");
    assert!(answer["error"]["next"].as_str().unwrap().contains("list_running_skills"), "{answer}");
}

#[tokio::test]
async fn an_answer_that_comes_too_late_changes_nothing_and_the_next_call_sees_the_truth() {
    let rig = rig();
    rig.tasks.script(Script::Late(Duration::ZERO));
    rig.tasks.script(Script::Late(Duration::from_secs(60)));
    let calling = rig.error("instantiate_skill", json!({"template": "segment_all"}));
    let waiting = async {
        settle().await;
        rig.clock.advance(Duration::from_secs(26));
    };
    let (answer, ()) = tokio::join!(calling, waiting);
    assert_eq!(answer["error"]["code"], "service_timeout");
    let (answer, _) = rig.call("list_running_skills", json!({})).await;
    assert_eq!(answer["skills"][0]["skill_id"], "segment_all");
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let rig = rig();
    rig.tasks.script(Script::Hang);
    let context = context();
    let token: CancellationToken = context.cancelled.clone();
    let given = json!({});
    let calling = call_with(&rig.server, "list_running_skills", &given, &context);
    let ((answer, is_error), ()) = tokio::join!(calling, async {
        settle().await;
        token.cancel();
    });
    assert!(is_error && answer["error"]["code"] == "cancelled", "{answer}");
}

#[tokio::test]
async fn ready_means_that_the_vision_node_answers() {
    let rig = rig();
    assert_eq!(rig.server.readiness().await, Readiness::Ready);
    rig.tasks.script(Script::Away);
    let Readiness::NotReady(reason) = rig.server.readiness().await else { panic!() };
    assert!(reason.contains("is the vision node running?"), "{reason}");
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_that_names_the_tools() {
    let outcome = rig().server.call("skill_control.list", Map::new(), &context()).await;
    assert!(outcome.is_error() && outcome.data()["error"]["next"].as_str().unwrap().contains("list_skill_templates"));
}

#[tokio::test]
async fn templates_with_faults_are_left_out_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skills.yaml");
    std::fs::write(
        &path,
        "templates:\n  - {name: good, description: d, skill: {mode: segment_all}}\n  - {name: bad, description: d, skill: {mode: paint}}\n",
    )
    .unwrap();
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1.0)));
    let tasks = Arc::new(FakeVisionTasks::new(clock.clone()));
    let server = Server::new(tasks, Catalogs::open(&path).unwrap(), clock, SERVICE_DEADLINE_DEFAULT);
    let (answer, _) = call(&server, "list_skill_templates", &json!({})).await;
    assert_eq!(answer["templates"].as_array().unwrap().len(), 1);
    assert!(answer["problems"][0].as_str().unwrap().contains("skills.yaml:3: template bad: skill.mode"), "{answer}");
}

#[tokio::test]
async fn thousands_of_templates_and_faults_stay_within_the_limit_and_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("skills.yaml");
    let two = |index: usize| {
        let good = format!("  - {{name: t_{index}, description: what it is for, skill: {{mode: segment_all}}}}\n");
        good + &format!("  - {{name: bad_{index}, description: d, skill: {{mode: paint}}}}\n")
    };
    let text = format!("templates:\n{}", (0..3_000).map(two).collect::<Vec<_>>().concat());
    std::fs::write(&path, text).unwrap();
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1.0)));
    let tasks = Arc::new(FakeVisionTasks::new(clock.clone()));
    let server = Server::new(tasks, Catalogs::open(&path).unwrap(), clock, SERVICE_DEADLINE_DEFAULT);
    let (answer, _) = call(&server, "list_skill_templates", &json!({})).await;
    let shown = answer["templates"].as_array().unwrap().len();
    assert!(shown > 100 && answer["omitted"] == json!(3_000 - shown), "{shown}");
    let problems = answer["problems"].as_array().unwrap();
    assert_eq!(problems.last().unwrap(), &json!(format!("and {} more problems", 3_001 - problems.len())));
    let (answer, _) = call(&server, "instantiate_skill", &json!({"template": "x".repeat(500_000)})).await;
    assert_eq!(answer["known"].as_array().unwrap().len(), KNOWN_MAX);
}

#[tokio::test]
async fn whatever_was_sent_the_answer_stays_within_the_limit() {
    let rig = rig();
    let long = "x\u{1}".repeat(250_000);
    let params: Map<String, Value> = (0..3_000).map(|index| (format!("param_{index}"), json!("a"))).collect();
    for (tool, given) in [
        ("instantiate_skill", json!({"template": long})),
        ("instantiate_skill", json!({"template": "find_object", "params": params})),
        ("instantiate_skill", json!({"template": "find_object", "params": {(long.as_str()): "a"}})),
        ("instantiate_skill", json!({"template": "find_object", "params": {"query": long}})),
        ("instantiate_raw_skill", json!({"skill": long})),
        ("instantiate_raw_skill", json!({"skill": {(long.as_str()): 1}})),
        ("instantiate_raw_skill", json!({"skill": {"name": "a", "mode": long}})),
        ("stop_skill", json!({"skill_id": long})),
        ("set_skill_enabled", json!({"skill_id": "a", "enabled": long})),
    ] {
        rig.error(tool, given).await;
    }
    rig.tasks.always(Some(Script::Refuse(long)));
    rig.error("stop_skill", json!({"skill_id": "a"})).await;
}

#[test]
fn no_tool_offers_what_an_agent_must_not_do() {
    for spec in words::specs() {
        for word in ["resume", "limit", "keep_out", "scene"] {
            assert!(!spec.name.contains(word), "{}", spec.name);
        }
    }
}
