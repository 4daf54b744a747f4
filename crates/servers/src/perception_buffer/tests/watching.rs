use cerebellum_core::{TaskAction, VisionTasks};
use cerebellum_kit::signing::{self, Secret, Signed};
use cerebellum_testkit::tasks::Script;
use cerebellum_wire::event::{Event, EventType};

use super::*;

impl Rig {
    fn told(&self) -> Vec<String> {
        self.events.events().iter().map(|event| event.event_type.to_string()).collect()
    }
}

fn state_file(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("watches.json")
}

/// Ends the buffer as a signal would, so that what it knows is on disk.
async fn end(rig: Rig) {
    let stop = tokio_util::sync::CancellationToken::new();
    stop.cancel();
    rig.buffer.run(stop).await;
}

#[tokio::test]
async fn a_rising_edge_is_told_once_with_all_its_parts() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(false);
    rig.see("watch_for", vec![Detection { label: "person".into(), score: 0.91, ..red_can(false) }]);
    rig.pass(0.5);
    rig.triggered(true);
    rig.triggered(true);
    let [event] = &rig.events.events()[..] else { panic!("{:?}", rig.events.events()) };
    assert_eq!(
        String::from_utf8(event.body().unwrap()).unwrap(),
        r#"{"type":"watch_event","task_id":"watch_for","server":"perception","payload":{"skill":"watch_for","condition":"a person is in view","value":true,"detection_summary":"person 0.91","overlay_ref":{"topic":"/vision/watch_for/overlay","stamp":1750000000.0}}}"#
    );
    assert!(event.id.as_ref().unwrap().starts_with("evt_"));
}

#[tokio::test]
async fn the_event_names_first_what_the_condition_speaks_of() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(false);
    let labelled = |label: &str| Detection { label: label.into(), ..red_can(false) };
    let labels = ["wooden table", "red can", "mug", "bowl", "plate", "tall Person", "person"];
    rig.see("watch_for", labels.map(labelled).to_vec());
    rig.triggered(true);
    let summary = rig.events.events()[0].payload["detection_summary"].clone();
    assert!(summary.as_str().unwrap().starts_with("person 0.93, tall Person 0.93, wooden table 0.93"), "{summary}");
}

#[tokio::test]
async fn the_event_is_signed_so_that_the_receiver_can_verify_it() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(true);
    let events = rig.events.events();
    let (body, id) = (events[0].body().unwrap(), events[0].id.clone().unwrap());
    let secret: Secret = "test-event-secret-0123456789abcdef".parse().unwrap();
    let signatures = signing::sign([&secret], &id, 1_750_000_000, &body);
    let headers = Signed { id: &id, timestamp: "1750000000", signatures: &signatures };
    assert_eq!(signing::verify(&[secret], headers, &body, rig.stamp()), Ok(()));
    assert_eq!(Event::from_body(&body).unwrap().event_type, EventType::WatchEvent);
}

#[tokio::test]
async fn no_event_while_the_condition_stays_false() {
    let rig = rig();
    rig.run(&watch_for()).await;
    for _ in 0..10 {
        rig.triggered(false);
        rig.pass(0.5);
        rig.buffer.reconcile_once().await;
    }
    assert_eq!(rig.told(), Vec::<String>::new());
}

#[tokio::test]
async fn no_push_when_watch_push_is_off_or_nobody_listens() {
    let config = Config { watch_push: false, ..Config::default() };
    let rig = World::new().start(config, None);
    rig.run(&watch_for()).await;
    rig.triggered(false);
    rig.triggered(true);
    assert_eq!(rig.told(), Vec::<String>::new());
}

#[tokio::test]
async fn a_value_published_before_the_task_was_learned_is_looked_at_then() {
    let rig = rig();
    rig.streams.appear_skill(&watch_for());
    rig.buffer.reconcile_once().await;
    rig.pass(1.0);
    rig.tasks.add(&watch_for());
    rig.triggered(true);
    assert_eq!(rig.told(), Vec::<String>::new());
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn stale_data_never_fires() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(false);
    let old = rig.stamp();
    rig.pass(10.0);
    rig.streams.publish("/vision/watch_for/triggered", &StreamMessage::Output { stamp: old, text: "true".into() });
    assert_eq!(rig.told(), Vec::<String>::new());
    rig.triggered(true);
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_task_from_before_the_buffer_is_no_edge_until_it_was_seen_false() {
    let world = World::new();
    world.tasks.add(&watch_for());
    world.clock.advance(Duration::from_secs(100));
    world.streams.appear_skill(&watch_for());
    let rig = world.start(Config::default(), None);
    rig.buffer.reconcile_once().await;
    rig.triggered(true);
    assert_eq!(rig.told(), Vec::<String>::new());
    rig.triggered(false);
    rig.triggered(true);
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn true_restart_true_is_no_edge_and_false_restart_true_is_one() {
    for (before, told) in [(true, 0), (false, 1)] {
        let (world, dir) = (World::new(), tempfile::tempdir().unwrap());
        let rig = world.start(Config::default(), Some(state_file(&dir)));
        rig.run(&watch_for()).await;
        rig.triggered(before);
        end(rig).await;
        world.clock.advance(Duration::from_secs(20));
        let rig = world.start(Config::default(), Some(state_file(&dir)));
        rig.buffer.reconcile_once().await;
        rig.triggered(true);
        assert_eq!(rig.told().len(), told, "{before}");
    }
}

#[tokio::test]
async fn a_task_created_while_the_buffer_was_away_is_new() {
    let (world, dir) = (World::new(), tempfile::tempdir().unwrap());
    let rig = world.start(Config::default(), Some(state_file(&dir)));
    rig.buffer.reconcile_once().await;
    end(rig).await;
    world.clock.advance(Duration::from_secs(5));
    world.tasks.add(&watch_for());
    world.streams.appear_skill(&watch_for());
    world.clock.advance(Duration::from_secs(5));
    let rig = world.start(Config::default(), Some(state_file(&dir)));
    rig.buffer.reconcile_once().await;
    rig.triggered(true);
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_task_of_the_same_name_created_anew_begins_anew() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(true);
    rig.tasks.manage("watch_for", TaskAction::Delete, Duration::from_secs(1)).await.unwrap();
    rig.buffer.reconcile_once().await;
    rig.pass(10.0);
    rig.tasks.add(&watch_for());
    rig.buffer.reconcile_once().await;
    rig.triggered(true);
    assert_eq!(rig.told(), ["watch_event", "watch_event"]);
    let events = rig.events.events();
    assert_ne!(events[0].id, events[1].id);
}

#[tokio::test]
async fn what_a_task_said_is_no_edge_of_the_next_one_of_that_name() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(true);
    rig.tasks.edit(Vec::clear);
    rig.buffer.reconcile_once().await;
    rig.pass(3.0);
    rig.tasks.add(&watch_for());
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_vision_node_that_restarts_keeps_the_last_known_state() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(true);
    for _ in 0..10 {
        rig.streams.vanish_all();
        rig.tasks.always(Some(Script::Away));
        rig.buffer.reconcile_once().await;
        rig.pass(3.0);
        rig.tasks.always(None);
        rig.streams.appear_skill(&watch_for());
        rig.buffer.reconcile_once().await;
        rig.triggered(true);
        assert_eq!(rig.latest("watch_for").await["outputs"]["triggered"]["stale"], false);
    }
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_value_must_hold_for_the_debounce_and_time_alone_completes_it() {
    let rig = rig();
    let mut skill = watch_for();
    skill.watch.as_mut().unwrap().debounce = Duration::from_secs(2);
    rig.run(&skill).await;
    rig.triggered(false);
    rig.triggered(true);
    rig.pass(1.0);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.told(), Vec::<String>::new());
    rig.pass(1.0);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_watch_may_wait_for_a_number_or_a_text() {
    let rig = rig();
    let skill = skill_of(&json!({"name": "count", "mode": "describe", "outputs": [{"name": "cans", "type": "number"}],
        "watch": {"output": "cans", "equals": 3}}));
    rig.run(&skill).await;
    for text in ["2", "nonsense", "3.0", "3"] {
        rig.say("/vision/count/cans", text);
    }
    let events = rig.events.events();
    assert_eq!(events.len(), 1);
    assert_eq!((&events[0].payload["value"], &events[0].payload["condition"]), (&json!(3), &json!("cans = 3")));
}

#[tokio::test]
async fn a_watched_skill_that_stays_silent_is_told_as_failed_once_and_recovers() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(false);
    for _ in 0..4 {
        rig.pass(5.0);
        rig.buffer.reconcile_once().await;
    }
    assert_eq!(rig.told(), ["task_failed"]);
    assert_eq!(rig.events.events()[0].payload["error"]["code"], "watch_stale");
    rig.triggered(true);
    assert_eq!(rig.told(), ["task_failed", "watch_event"]);
    rig.pass(16.0);
    rig.buffer.reconcile_once().await;
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.told(), ["task_failed", "watch_event", "task_failed"]);
}

#[tokio::test]
async fn a_paused_watch_owes_nothing() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(true);
    rig.tasks.manage("watch_for", TaskAction::Disable, Duration::from_secs(1)).await.unwrap();
    rig.buffer.reconcile_once().await;
    rig.pass(100.0);
    rig.buffer.reconcile_once().await;
    rig.tasks.manage("watch_for", TaskAction::Enable, Duration::from_secs(1)).await.unwrap();
    rig.buffer.reconcile_once().await;
    rig.triggered(true);
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_watched_skill_that_was_stopped_is_no_failure() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(true);
    rig.tasks.manage("watch_for", TaskAction::Delete, Duration::from_secs(1)).await.unwrap();
    rig.streams.vanish_all();
    for _ in 0..5 {
        rig.buffer.reconcile_once().await;
        rig.pass(10.0);
    }
    assert_eq!(rig.told(), ["watch_event"]);
}

#[tokio::test]
async fn a_watched_skill_that_is_gone_after_an_outage_is_told_as_failed_once() {
    let rig = rig();
    rig.run(&watch_for()).await;
    rig.triggered(false);
    rig.tasks.always(Some(Script::Away));
    rig.buffer.reconcile_once().await;
    rig.tasks.always(None);
    rig.tasks.edit(Vec::clear);
    rig.buffer.reconcile_once().await;
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.told(), ["task_failed"]);
    assert_eq!(rig.events.events()[0].payload["error"]["code"], "watch_gone");
}
