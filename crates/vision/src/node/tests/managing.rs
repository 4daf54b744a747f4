use cerebellum_core::BusError;

use super::*;

#[tokio::test]
async fn a_node_keeps_the_contract_of_task_lists() {
    let lab = Lab::new();
    cerebellum_testkit::contract::vision_tasks::check(&*lab.node).await;
}

#[tokio::test]
async fn creation_answers_all_topics_and_what_was_not_understood() {
    let lab = Lab::with(FakeEngine::new().noting("not understood: shiny"), NodeConfig::default());
    let created = lab.create(&with_output("a", "found")).await;
    assert_eq!(created.topics, ["/vision/a/detections", "/vision/a/found", "/vision/a/overlay"]);
    assert_eq!(created.message, "not understood: shiny");
    let info = lab.info("a").await;
    assert_eq!(info.notes, ["not understood: shiny"]);
    assert_eq!((info.engine.as_deref(), info.created), (Some("fake"), START));
    assert_eq!(info.skill, Some(with_output("a", "found")));
    lab.detections("a", 1).await;
    assert_eq!(lab.info("a").await.spend.unwrap().calls, 1);
}

#[tokio::test]
async fn a_name_that_runs_is_refused_and_named() {
    let lab = Lab::new();
    lab.create(&skill("twice")).await;
    let refusal = lab.refused(&skill("twice")).await;
    assert!(refusal.contains("twice"), "{refusal}");
    assert_eq!(lab.list().await.len(), 1);
    lab.manage("twice", TaskAction::Delete).await;
    lab.create(&skill("twice")).await;
}

#[tokio::test]
async fn of_many_creations_of_one_name_at_once_one_wins() {
    let lab = Lab::new();
    lab.streams.hold(true);
    let node = &lab.node;
    let twin = skill("twin");
    let (first, second, ()) = tokio::join!(node.create(&twin, DEADLINE), node.create(&twin, DEADLINE), async {
        tokio::task::yield_now().await;
        lab.streams.hold(false);
    });
    assert!(first.is_ok() && matches!(second, Err(TaskError::Refused { .. })), "{first:?} {second:?}");
    assert_eq!(lab.list().await.len(), 1);
}

#[tokio::test]
async fn a_watched_output_that_cannot_be_judged_is_refused_with_what_can() {
    let engine = FakeEngine::new().not_judging("mood", "it judges colours; engine vlm could");
    let lab = Lab::with(engine, NodeConfig::default());
    let refusal = lab.refused(&watching("a", "mood")).await;
    assert_eq!(refusal.matches("unsupported_condition").count(), 1, "{refusal}");
    assert!(refusal.contains("mood") && refusal.contains("it judges colours; engine vlm could"), "{refusal}");
    assert!(lab.list().await.is_empty() && lab.streams.topics().is_empty());
    lab.create(&watching("a", "other")).await;
}

#[tokio::test]
async fn an_output_that_cannot_be_judged_is_advertised_and_silent_and_said() {
    let engine = FakeEngine::new().not_judging("mood", "it judges colours");
    let lab = Lab::with(engine, NodeConfig::default());
    let created = lab.create(&with_output("a", "mood")).await;
    assert_eq!(created.message.matches("unsupported_condition").count(), 1, "{}", created.message);
    assert!(lab.streams.topics().contains(&"/vision/a/mood".to_owned()));
    lab.detections("a", 1).await;
    assert_eq!(lab.error("a").await, "unsupported_condition: output mood: it judges colours");
    assert!(lab.streams.on("/vision/a/mood").is_empty());
}

#[tokio::test]
async fn a_disabled_skill_keeps_its_topics_and_publishes_nothing() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    lab.create(&skill("clock")).await;
    lab.detections("a", 1).await;
    assert_eq!(lab.manage("a", TaskAction::Disable).await, "disabled a");
    assert_eq!(lab.manage("a", TaskAction::Disable).await, "a is disabled already");
    for count in 1..4 {
        lab.detections("clock", count).await;
        lab.pass(1, HALF_SECOND).await;
    }
    lab.detections("clock", 4).await;
    assert_eq!(lab.stamps("a"), [0]);
    assert!(!lab.info("a").await.enabled);
    assert!(lab.streams.topics().contains(&"/vision/a/detections".to_owned()));

    assert_eq!(lab.manage("a", TaskAction::Enable).await, "enabled a");
    lab.detections("a", 2).await;
    assert_eq!(lab.stamps("a"), [0, 1500]);
}

#[tokio::test]
async fn a_deleted_skill_leaves_the_graph_at_once() {
    let lab = Lab::new();
    lab.create(&with_output("a", "found")).await;
    lab.create(&skill("b")).await;
    assert_eq!(lab.manage("a", TaskAction::Delete).await, "deleted a");
    assert_eq!(lab.streams.topics(), ["/vision/b/detections", "/vision/b/overlay"]);
    assert_eq!(lab.list().await.len(), 1);
}

#[tokio::test]
async fn an_unknown_name_is_refused_with_those_that_run() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    for name in ["b", "", "a/b", &"x".repeat(300)] {
        let Err(TaskError::Refused { message }) = lab.node.manage(name, TaskAction::Delete, DEADLINE).await else {
            panic!("{name}")
        };
        assert!(message.contains("these do: a") && message.len() < 200, "{message}");
    }
}

#[tokio::test]
async fn a_look_that_hangs_holds_up_neither_the_list_nor_other_skills_nor_its_own_deletion() {
    let lab = Lab::new();
    lab.engine.hold();
    lab.create(&skill("hangs")).await;
    within(lab.engine.running(1)).await;
    assert_eq!(within(lab.list()).await.len(), 1);
    within(lab.create(&skill("other"))).await;
    within(lab.engine.running(2)).await;
    within(lab.manage("other", TaskAction::Disable)).await;
    within(lab.engine.running(1)).await;
    within(lab.manage("hangs", TaskAction::Delete)).await;
    within(lab.engine.running(0)).await;
    lab.engine.release();
    within(lab.manage("other", TaskAction::Enable)).await;
    lab.clock.advance(HALF_SECOND);
    lab.detections("other", 1).await;
    assert!(lab.stamps("hangs").is_empty());
}

#[tokio::test]
async fn a_bus_that_is_slow_for_one_skill_costs_the_others_nothing() {
    let lab = Lab::new();
    lab.create(&skill("quick")).await;
    lab.detections("quick", 1).await;
    lab.streams.hold(true);
    let slow = skill("slow");
    let creating = lab.node.create(&slow, DEADLINE);
    let meanwhile = async {
        lab.pass(1, HALF_SECOND).await;
        lab.detections("quick", 2).await;
        assert_eq!(lab.list().await.len(), 1);
        lab.manage("quick", TaskAction::Disable).await;
        lab.streams.hold(false);
    };
    let (created, ()) = tokio::join!(creating, meanwhile);
    assert_eq!(created.unwrap().name, "slow");
}

#[tokio::test]
async fn a_bus_that_is_down_or_silent_leaves_nothing_behind() {
    let lab = Lab::new();
    lab.streams.refuse(Some(BusError::Down { reason: "no router".into() }));
    let down = lab.node.create(&skill("a"), DEADLINE).await;
    assert_eq!(down, Err(TaskError::BusDown { reason: "no router".into() }));
    lab.streams.refuse(None);
    lab.streams.hold(true);
    let silent = lab.node.create(&skill("a"), Duration::from_millis(10)).await;
    assert!(matches!(silent, Err(TaskError::BusDown { .. })), "{silent:?}");
    assert!(tokio::time::timeout(Duration::from_millis(10), lab.node.create(&skill("a"), DEADLINE)).await.is_err());
    assert!(lab.list().await.is_empty());
    lab.streams.hold(false);
    lab.create(&skill("a")).await;
}

#[tokio::test]
async fn a_node_that_stops_takes_its_topics_from_the_graph() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    lab.stop.cancel();
    lab.streams.wait_for_topics(<[String]>::is_empty).await;
    assert!(lab.refused(&skill("b")).await.contains("stopping"));
}

#[tokio::test]
async fn skills_are_back_after_a_restart_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("skills.json");
    let mut before = Vec::new();
    for round in 0..10 {
        let clock = Arc::new(FakeClock::at(START.plus(Duration::from_secs(round))));
        let frames = Arc::new(FakeFrames::live(clock.clone(), Duration::from_millis(100)));
        let lab = Lab::start(FakeEngine::new(), keeping(&file), clock, frames, RecordingStreams::new());
        if round == 0 {
            for name in ["z", "off", "a", "gone"] {
                lab.create(&watching(name, "found")).await;
            }
            lab.manage("off", TaskAction::Disable).await;
            lab.manage("gone", TaskAction::Delete).await;
            before = lab.list().await;
        }
        lab.detections("z", 1).await;
        lab.detections("a", 1).await;
        let identity = |tasks: &[TaskInfo]| -> Vec<_> {
            tasks.iter().map(|task| (task.skill.clone(), task.enabled, task.created)).collect()
        };
        assert_eq!(identity(&lab.list().await), identity(&before), "round {round}");
        lab.streams.wait_for_topics(|topics| topics.len() == 9).await;
        assert!(round == 0 || lab.stamps("off").is_empty());
    }
}

#[tokio::test]
async fn one_result_is_not_looked_for_again_after_a_restart_and_is_published_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("skills.json");
    let lab = Lab::with(FakeEngine::new(), keeping(&file));
    lab.create(&Skill { once: true, ..with_output("one", "found") }).await;
    lab.streams.wait_for("/vision/one/found", 1).await;
    let before = format!("{:?}", lab.streams.published());
    until(async || std::fs::read_to_string(&file).unwrap().contains("\"enabled\": false")).await;
    drop(lab);
    let lab = Lab::with(FakeEngine::new(), keeping(&file));
    lab.create(&skill("clock")).await;
    lab.detections("clock", 1).await;
    assert!(!lab.info("one").await.enabled);
    lab.streams.wait_for("/vision/one/found", 1).await;
    let again: Vec<_> =
        lab.streams.published().into_iter().filter(|one| one.topic().starts_with("/vision/one/")).collect();
    assert_eq!(format!("{again:?}"), before, "the old result, once, with the stamp of its picture");
}

#[tokio::test]
async fn restored_skills_wait_for_the_bus() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("skills.json");
    let lab = Lab::with(FakeEngine::new(), keeping(&file));
    lab.create(&skill("a")).await;
    drop(lab);

    let clock = Arc::new(FakeClock::at(START));
    let frames = Arc::new(FakeFrames::live(clock.clone(), Duration::from_millis(100)));
    let streams = RecordingStreams::new();
    streams.refuse(Some(BusError::Down { reason: "no router".into() }));
    let lab = Lab::start(FakeEngine::new(), keeping(&file), clock, frames, streams);
    until(async || lab.error("a").await.contains("no router")).await;
    lab.streams.refuse(None);
    lab.pass(1, Duration::from_secs(1)).await;
    lab.detections("a", 1).await;
    until(async || lab.error("a").await.is_empty()).await;
}

#[tokio::test]
async fn a_list_that_cannot_be_saved_is_said_and_the_skill_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("deep/skills.json");
    let lab = Lab::with(FakeEngine::new(), keeping(&file));
    std::fs::remove_dir(folder.path().join("deep")).unwrap();
    let created = lab.create(&skill("a")).await;
    assert!(created.message.contains("could not be saved"), "{}", created.message);
    lab.detections("a", 1).await;
}
