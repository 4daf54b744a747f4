use super::*;

fn arguments(x: i32) -> Map<String, Value> {
    Map::from_iter([("x".to_owned(), json!(x)), ("y".to_owned(), json!(2))])
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/calls.jsonl");
    (folder, path)
}

async fn run(log: &CallLog, key: &str, outcome: ToolOutcome) {
    let Ok(Admission::Run(running)) = log.admit(key, "pick", &arguments(1)).await else { panic!("{key} is known") };
    running.ended(outcome).await;
}

async fn known(log: &CallLog, key: &str) -> Option<ToolOutcome> {
    match log.admit(key, "pick", &arguments(1)).await {
        Ok(Admission::Run(_)) => None,
        Ok(Admission::Known(outcome)) | Err(Failure(outcome)) => Some(outcome),
    }
}

fn code(outcome: &ToolOutcome) -> &str {
    outcome.data()["error"]["code"].as_str().unwrap()
}

#[tokio::test]
async fn the_same_key_answers_the_first_outcome_also_after_a_restart() {
    let (_folder, path) = file();
    let error = ToolError::new("not_held", "it slipped", "look again");
    let outcomes = [
        ("a", ToolOutcome::done(&json!({"held": true, "side": "left"}))),
        ("b", ToolOutcome::declined(&error, &json!({"held": false}))),
        ("c", ToolOutcome::failed(&error, &())),
    ];
    let log = CallLog::open(&path).unwrap();
    for (key, outcome) in &outcomes {
        run(&log, key, outcome.clone()).await;
    }
    for log in [log, CallLog::open(&path).unwrap()] {
        for (key, outcome) in &outcomes {
            let again = known(&log, key).await.unwrap();
            assert_eq!((again.data(), again.is_error()), (outcome.data(), outcome.is_error()));
        }
    }
}

#[tokio::test]
async fn a_call_without_an_outcome_is_in_doubt_after_a_crash() {
    let (_folder, path) = file();
    let log = CallLog::open(&path).unwrap();
    let running = log.admit("a", "pick", &arguments(1)).await.ok();
    assert_eq!(code(&known(&log, "a").await.unwrap()), "call_running");
    let restarted = CallLog::open(&path).unwrap();
    let answer = known(&restarted, "a").await.unwrap();
    assert_eq!((code(&answer), &answer.data()["in_doubt"]), ("outcome_unknown", &json!(true)));
    drop(running);
    assert_eq!(code(&known(&log, "a").await.unwrap()), "outcome_unknown");
}

#[tokio::test]
async fn a_key_is_for_one_call_only() {
    let (_folder, path) = file();
    let log = CallLog::open(&path).unwrap();
    run(&log, "a", ToolOutcome::done(&())).await;
    let Err(Failure(other)) = log.admit("a", "pick", &arguments(2)).await else { panic!("another call ran") };
    assert!(other.is_error() && other.data()["error"]["message"].as_str().unwrap().contains("another call"));
    let Err(Failure(empty)) = log.admit("", "pick", &arguments(1)).await else { panic!("an empty key was taken") };
    assert_eq!(code(&empty), "bad_arguments");
}

#[tokio::test]
async fn a_file_cut_at_any_byte_never_lets_a_call_run_twice() {
    let (_folder, path) = file();
    let log = CallLog::open(&path).unwrap();
    run(&log, "first", ToolOutcome::done(&json!({"held": true}))).await;
    let sure = fs::read(&path).unwrap().len();
    run(&log, "second", ToolOutcome::done(&json!({"held": true}))).await;
    let whole = fs::read(&path).unwrap();
    let began = sure + whole[sure..].iter().position(|&byte| byte == b'\n').unwrap();
    for cut in sure..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let log = CallLog::open(&path).unwrap();
        assert!(known(&log, "first").await.unwrap().is_ok(), "cut after {cut}");
        // Once its beginning is on disk the second never runs again.
        assert_eq!(known(&log, "second").await.is_some(), cut >= began, "cut after {cut}");
        run(&log, "third", ToolOutcome::done(&())).await;
        assert!(known(&CallLog::open(&path).unwrap(), "third").await.unwrap().is_ok(), "cut after {cut}");
    }
}

#[tokio::test]
async fn only_the_last_thousand_are_kept_and_the_file_stays_small() {
    let (_folder, path) = file();
    let log = CallLog::open(&path).unwrap();
    for index in 0..(CALLS_MAX + 5) {
        log.log().take(Line { key: format!("k{index}"), print: String::new(), tool: "pick".into(), outcome: None });
    }
    log.log().lines = LINES_MAX;
    run(&log, "last", ToolOutcome::done(&())).await;
    let lines = fs::read_to_string(&path).unwrap().lines().count();
    assert!(lines <= CALLS_MAX + 2, "{lines}");
    let log = CallLog::open(&path).unwrap();
    assert!(!log.log().entries.contains_key("k0") && log.log().entries.len() == CALLS_MAX);
    assert!(known(&log, "last").await.unwrap().is_ok());
}
