use cerebellum_core::Stamp;
use cerebellum_mcp::Caller;
use cerebellum_testkit::{FakeClock, FakeProcesses};

use super::*;
use crate::testing::{call, call_with, context, settle};

struct Rig {
    clock: Arc<FakeClock>,
    store: Arc<FakeProcesses>,
    server: Server,
}

impl Rig {
    fn new() -> Self {
        let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_750_000_000.0)));
        let store = Arc::new(FakeProcesses::new(clock.clone()));
        let server = Server::new(store.clone(), clock.clone());
        Self { clock, store, server }
    }

    async fn done(&self, tool: &str, given: Value) -> Value {
        let (answer, is_error) = call(&self.server, tool, &given).await;
        assert!(!is_error && answer["ok"] == json!(true), "{answer}");
        answer
    }

    async fn error(&self, tool: &str, given: Value, expected: &str) {
        let (answer, is_error) = call(&self.server, tool, &given).await;
        assert!(is_error && answer["ok"] == json!(false), "{answer}");
        let error = &answer["error"];
        let told = format!("{} {}", error["code"].as_str().unwrap(), error["message"].as_str().unwrap());
        assert!(told.contains(expected), "{expected:?} not in {told:?}");
        assert!(!error["next"].as_str().unwrap().is_empty());
    }
}

fn tea() -> Value {
    json!({"name": "Make_Tea", "description": "Brews a cup of tea.", "steps": ["boil water", "pour it"],
           "when": "someone is cold", "tags": ["Kitchen"]})
}

#[tokio::test]
async fn a_process_is_saved_found_counted_listed_and_forgotten() {
    let rig = Rig::new();
    let saved = rig.done("save_process", tea()).await;
    assert_eq!(saved, json!({"ok": true, "id": "fake_1", "version": 1, "name": "make tea"}));
    let found = rig.done("find_processes", json!({"query": "tea"})).await;
    assert_eq!(
        found,
        json!({"ok": true, "processes": [{
            "id": "fake_1", "name": "make tea", "description": "Brews a cup of tea.", "steps": ["boil water", "pour it"],
            "when": "someone is cold", "tags": ["kitchen"], "version": 1, "score": 0.5, "successes": 0, "failures": 0,
            "source": "an MCP client", "saved": 1_750_000_000.0}]})
    );
    let counted = rig.done("record_outcome", json!({"id": "fake_1", "ok": true, "note": " went well "})).await;
    assert_eq!(counted, json!({"ok": true, "id": "fake_1", "name": "make tea", "successes": 1, "failures": 0}));
    assert_eq!(rig.store.notes(), ["went well"]);
    let listed = rig.done("list_processes", json!({})).await;
    assert_eq!((&listed["total"], &listed["processes"][0]["successes"]), (&json!(1), &json!(1)));
    let forgotten = rig.done("forget_process", json!({"id": "MAKE tea"})).await;
    assert_eq!(forgotten, json!({"ok": true, "id": "fake_1", "name": "make tea", "version": 1}));
    assert_eq!(rig.done("find_processes", json!({"query": "tea"})).await["processes"], json!([]));
}

#[tokio::test]
async fn equal_content_is_no_new_version_whoever_saves_it() {
    let rig = Rig::new();
    rig.done("save_process", tea()).await;
    let mut context = context();
    context.caller = Caller { name: "planner (1a2b3c4d)".to_owned(), ..Caller::default() };
    let (same, _) = call_with(&rig.server, "save_process", &tea(), &context).await;
    assert_eq!(same["version"], json!(1));
    let mut other = tea();
    other["steps"] = json!(["press the button"]);
    let (newer, _) = call_with(&rig.server, "save_process", &other, &context).await;
    assert_eq!(newer["version"], json!(2));
    let found = rig.done("find_processes", json!({"query": "tea"})).await;
    assert_eq!(found["processes"][0]["source"], json!("planner (1a2b3c4d)"));
}

#[tokio::test]
async fn an_unknown_process_is_answered_with_the_nearest_names() {
    let rig = Rig::new();
    for name in ["make tea", "make coffee", "water plants"] {
        rig.done("save_process", json!({"name": name, "description": "d", "steps": ["s"]})).await;
    }
    for (tool, given) in [
        ("forget_process", json!({"id": "make cofee"})),
        ("record_outcome", json!({"id": "Make_Cofee", "ok": true})),
        ("forget_process", json!({"id": "coffee"})),
    ] {
        let (answer, is_error) = call(&rig.server, tool, &given).await;
        assert!(!is_error && answer["ok"] == json!(false), "it is an outcome, no fault: {answer}");
        assert_eq!(answer["error"]["code"], json!("unknown_process"));
        assert_eq!(answer["known"][0], json!("make coffee"), "{answer}");
    }
    assert_eq!(rig.done("list_processes", json!({})).await["total"], json!(3), "a part of a name forgets nothing");
}

#[tokio::test]
async fn arguments_that_are_too_large_or_strange_are_refused_by_name() {
    let rig = Rig::new();
    let with = |key: &str, value: Value| {
        let mut given = tea();
        given[key] = value;
        given
    };
    for (given, expected) in [
        (with("name", json!("x".repeat(81))), "argument name: has 81 characters, at most 80 are kept"),
        (with("name", json!(" ")), "argument name: must not be empty"),
        (with("name", json!("__")), "argument name: must have a letter or a digit"),
        (with("name", json!("a\u{202e}b")), "argument name: must be one line of plain text"),
        (with("description", json!("")), "argument description: must not be empty"),
        (with("description", json!("x".repeat(1_001))), "argument description: has 1001 characters"),
        (with("steps", json!(vec!["s"; 51])), "argument steps: has 51 entries, at most 50"),
        (with("steps", json!(["s", ""])), "argument steps[1]: must not be empty"),
        (with("steps", json!(["s", "\u{7}"])), "argument steps[1]: must be one line"),
        (with("steps", json!([])), "argument steps: a process needs steps or a plan"),
        (with("steps", json!(vec!["x".repeat(500); 50])), "argument steps: the process takes"),
        (with("plan", json!("x".repeat(20_000))), "argument plan: the process takes"),
        (with("plan", json!("a\0b")), "argument plan: must be plain text"),
        (with("tags", json!(vec!["t"; 17])), "argument tags: has 17 entries"),
        (with("when", json!("x".repeat(501))), "argument when: has 501 characters"),
    ] {
        rig.error("save_process", given, expected).await;
    }
    rig.error("save_process", json!({"name": "a"}), "missing argument").await;
    rig.error("find_processes", json!({"query": "a", "limit": 0}), "argument limit: is 0, must be 1 to 50").await;
    rig.error("list_processes", json!({"limit": 201}), "argument limit: is 201, must be 1 to 200").await;
    rig.error("record_outcome", json!({"id": "a", "ok": "yes"}), "argument ok").await;
    rig.error("record_outcome", json!({"id": "a", "ok": true, "note": "x".repeat(1_001)}), "argument note").await;
    assert_eq!(rig.done("list_processes", json!({})).await["total"], json!(0));
}

#[tokio::test]
async fn a_plan_alone_is_enough_and_an_object_is_taken_too() {
    let rig = Rig::new();
    let plan = json!({"name": "a", "description": "d", "plan": {"steps": [{"tool": "stop"}]}});
    rig.done("save_process", plan).await;
    let found = rig.done("find_processes", json!({"query": ""})).await;
    assert_eq!(found["processes"][0]["plan"], json!(r#"{"steps":[{"tool":"stop"}]}"#));
    assert_eq!(found["processes"][0]["steps"], json!([]));
}

#[tokio::test]
async fn large_processes_fit_one_by_one_and_the_rest_is_counted() {
    let rig = Rig::new();
    for number in 0..6 {
        let plan = "\"".repeat(5_500 - number);
        rig.done("save_process", json!({"name": format!("p{number}"), "description": "d", "plan": plan})).await;
    }
    let found = rig.done("find_processes", json!({"query": "d", "limit": 6})).await;
    assert_eq!((found["processes"].as_array().unwrap().len(), &found["omitted"]), (1, &json!(5)));
}

#[tokio::test]
async fn a_long_list_is_read_in_parts() {
    let rig = Rig::new();
    for number in 0..150 {
        let description = "\u{1f916}".repeat(300);
        rig.done("save_process", json!({"name": format!("p{number:03}"), "description": description, "steps": ["s"]}))
            .await;
    }
    let mut names: Vec<String> = Vec::new();
    loop {
        let page = rig.done("list_processes", json!({"skip": names.len(), "limit": 200})).await;
        names.extend(page["processes"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()));
        assert_eq!(page["total"], json!(150));
        match page.get("omitted") {
            Some(omitted) => assert_eq!(omitted.as_u64().unwrap() as usize, 150 - names.len()),
            None => break,
        }
    }
    assert_eq!(names, (0..150).map(|number| format!("p{number:03}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_store_that_does_not_work_is_a_failure_that_says_why() {
    let rig = Rig::new();
    rig.store.break_down("memory.db is damaged");
    for (tool, given) in [
        ("find_processes", json!({"query": "tea"})),
        ("save_process", tea()),
        ("list_processes", json!({})),
        ("forget_process", json!({"id": "a"})),
        ("record_outcome", json!({"id": "a", "ok": true})),
    ] {
        rig.error(tool, given, "store_unavailable the store of processes does not work: memory.db is damaged").await;
    }
    let Readiness::NotReady(reason) = rig.server.readiness().await else { panic!("it is not ready") };
    assert!(reason.contains("memory.db is damaged"), "{reason}");
}

#[tokio::test]
async fn a_store_that_hangs_is_given_up_and_a_cancelled_call_ends() {
    let rig = Rig::new();
    rig.store.hang();
    let waiting = async {
        rig.clock.sleepers(1).await;
        rig.clock.advance(STORE_DEADLINE);
    };
    tokio::join!(
        rig.error("list_processes", json!({}), "timed_out the store of processes did not answer within 20 s"),
        waiting
    );
    let context = context();
    let cancel = async {
        settle().await;
        context.cancelled.cancel();
    };
    let nothing = json!({});
    let (answered, ()) = tokio::join!(call_with(&rig.server, "list_processes", &nothing, &context), cancel);
    assert_eq!(answered.0["error"]["code"], json!("cancelled"));
}
