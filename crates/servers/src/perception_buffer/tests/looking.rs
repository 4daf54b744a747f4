use cerebellum_core::CameraBeat;
use cerebellum_mcp::{Readiness, ToolServer};

use super::super::stream::{Seen, Stream};
use super::*;

#[tokio::test]
async fn get_latest_answers_the_detections_with_masks_by_reference() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.say("/vision/find_object/found", "true");
    rig.see("find_object", vec![red_can(true)]);
    rig.pass(0.25);
    assert_eq!(
        rig.latest("find_object").await,
        json!({"ok": true, "skill": "find_object", "topic": "/vision/find_object/detections", "stamp": START_S,
            "frame_id": "head_camera_optical", "age_s": 0.25, "stale": false, "image": {"width": 640, "height": 480},
            "detections": [{"id": "t1", "label": "red can", "score": 0.93, "box": [100, 80, 40, 60],
                "point": {"x": 1.25, "y": -0.5, "z": 0.8, "frame": "map"},
                "mask_ref": {"topic": "/vision/find_object/detections", "stamp": START_S}}],
            "outputs": {"found": {"value": true, "type": "boolean", "age_s": 0.25, "stale": false}}})
    );
}

#[tokio::test]
async fn values_older_than_the_window_are_stale() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![red_can(false)]);
    rig.pass(4.0);
    rig.say("/vision/find_object/found", "true");
    rig.pass(1.5);
    let answer = rig.latest("find_object").await;
    assert_eq!((&answer["age_s"], &answer["stale"]), (&json!(5.5), &json!(true)));
    assert_eq!(answer["outputs"]["found"]["stale"], false);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert_eq!(seen["skills"][0]["stale"], false);
    rig.pass(4.0);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert_eq!(seen["skills"][0]["stale"], true);
    assert!(seen["text"].as_str().unwrap().contains("STALE, 5.5 s old"), "{seen}");
}

#[test]
fn a_stream_keeps_the_latest_and_a_bounded_history() {
    let stream = Stream::new(cerebellum_testkit::streams::stream_topic("/vision/a/scene"), 3);
    let clock = FakeClock::at(Stamp::from_secs_f64(START_S));
    for text in ["1", "2", "3", "4"] {
        let now = super::super::moment::Moment::of(&clock);
        let message = StreamMessage::Output { stamp: Clock::now(&clock), text: text.into() };
        assert!(matches!(stream.take(message, now), super::super::stream::Taken::Quiet));
    }
    let kept: Vec<String> = stream
        .history()
        .iter()
        .map(|entry| match &entry.seen {
            Seen::Output(text) => text.to_string(),
            other @ Seen::Detections(..) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kept, ["2", "3", "4"]);
}

#[tokio::test]
async fn a_topic_that_appears_is_subscribed_to_and_one_that_goes_is_dropped() {
    let rig = rig();
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed(), Vec::<String>::new());
    rig.streams.appear("/vision/a/detections");
    rig.streams.appear("/other/b/detections");
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed(), ["/vision/a/detections"]);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribes(), 1);
    rig.streams.vanish("/vision/a/detections");
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed(), Vec::<String>::new());
}

#[tokio::test]
async fn a_silent_topic_leaves_list_streams_after_the_window_and_its_last_value_stays_until_forgotten() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![]);
    rig.pass(4.9);
    assert_eq!(rig.streams_listed().await, ["/vision/find_object/detections", "/vision/find_object/overlay"]);
    rig.pass(0.2);
    assert_eq!(rig.streams_listed().await, Vec::<String>::new());
    rig.tasks.edit(Vec::clear);
    rig.streams.vanish_all();
    rig.buffer.reconcile_once().await;
    rig.pass(59.0);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.latest("find_object").await["stale"], true);
    rig.pass(2.0);
    rig.buffer.reconcile_once().await;
    let (answer, is_error) = testing::call(&rig.server, "get_latest", &json!({"skill": "find_object"})).await;
    assert!(is_error);
    assert_eq!((&answer["error"]["code"], &answer["known"]), (&json!("unknown_skill"), &json!([])));
}

#[tokio::test]
async fn a_publisher_that_returns_reuses_the_entry() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![red_can(false)]);
    rig.streams.vanish_all();
    rig.buffer.reconcile_once().await;
    rig.pass(30.0);
    rig.streams.appear_skill(&find_object());
    rig.buffer.reconcile_once().await;
    let answer = rig.latest("find_object").await;
    assert_eq!((&answer["stale"], &answer["detections"][0]["label"]), (&json!(true), &json!("red can")));
    assert_eq!(rig.see("find_object", vec![]), 1);
    assert_eq!(rig.latest("find_object").await["detections"], json!([]));
}

#[tokio::test]
async fn a_slow_skill_is_fresh_for_two_and_a_half_periods() {
    let rig = rig();
    rig.run(&skill_of(&json!({"name": "slow", "mode": "segment_all", "rate_hz": 0.1}))).await;
    rig.see("slow", vec![]);
    rig.pass(24.0);
    assert_eq!(rig.latest("slow").await["stale"], false);
    assert_eq!(rig.streams_listed().await, ["/vision/slow/detections", "/vision/slow/overlay"]);
    rig.pass(2.0);
    assert_eq!(rig.latest("slow").await["stale"], true);
    assert_eq!(rig.streams_listed().await.len(), 0);
}

#[tokio::test]
async fn the_result_of_a_once_skill_is_listed_while_its_publisher_lives() {
    let rig = rig();
    let once = skill_of(&json!({"name": "once", "mode": "segment_all", "once": true}));
    rig.run(&once).await;
    rig.see("once", vec![]);
    rig.pass(100.0);
    assert_eq!(rig.streams_listed().await, ["/vision/once/detections", "/vision/once/overlay"]);
    assert_eq!(rig.latest("once").await["stale"], true);
    rig.streams.vanish_all();
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams_listed().await, Vec::<String>::new());
}

#[tokio::test]
async fn what_do_you_see_renders_outputs_and_detections_without_pixels() {
    let rig = rig();
    rig.run(&find_object()).await;
    let scene = skill_of(&json!({"name": "describe_scene", "mode": "describe", "outputs": [
        {"name": "scene_description", "type": "text"}, {"name": "scene_objects", "type": "list"}]}));
    rig.run(&scene).await;
    rig.say("/vision/find_object/found", "true");
    rig.see("find_object", vec![red_can(true)]);
    rig.say("/vision/describe_scene/scene_description", "a table\nwith \"two\" cans");
    rig.say("/vision/describe_scene/scene_objects", r#"["can","table"]"#);
    rig.streams.beat("/camera/image_raw", CameraBeat { stamp: rig.stamp() });
    rig.pass(0.5);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    insta::assert_json_snapshot!(seen);
}

#[tokio::test]
async fn fresh_skills_come_first_and_at_most_20_detections_each() {
    let rig = rig();
    let old = skill_of(&json!({"name": "old", "mode": "segment_all"}));
    let new = skill_of(&json!({"name": "young", "mode": "segment_all"}));
    rig.run(&old).await;
    rig.run(&new).await;
    rig.see("old", vec![red_can(false)]);
    rig.pass(6.0);
    rig.see("young", vec![red_can(true); 25]);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert_eq!(seen["skills"][0]["skill"], "young");
    assert_eq!(seen["skills"][0]["detections"].as_array().unwrap().len(), 20);
    assert_eq!(seen["omitted"], 5);
    assert_eq!(seen["skills"][1]["skill"], "old");
}

#[tokio::test]
async fn many_skills_stay_within_the_limit_and_what_is_left_out_is_counted() {
    let rig = rig();
    for index in 0..200 {
        let skill = skill_of(
            &json!({"name": format!("skill_{index}"), "mode": "segment_all", "outputs": [{"name": "t", "type": "text"}]}),
        );
        rig.tasks.add(&skill);
        rig.streams.appear_skill(&skill);
    }
    rig.buffer.reconcile_once().await;
    for index in 0..200 {
        rig.see(&format!("skill_{index}"), vec![red_can(true); 20]);
        rig.say(&format!("/vision/skill_{index}/t"), &"long ".repeat(5000));
    }
    let seen = rig.ask("what_do_you_see", json!({})).await;
    let shown = seen["skills"].as_array().unwrap();
    let detections: usize = shown.iter().map(|one| one["detections"].as_array().unwrap().len()).sum();
    assert_eq!(seen["omitted"], json!(200 * 20 - detections));
    assert_eq!(seen["omitted_skills"], json!(200 - shown.len()));
    assert!(seen["text"].as_str().unwrap().len() < 4_000);
    let answer = rig.ask("list_streams", json!({})).await;
    // Detections, the output and the overlay of each.
    assert_eq!(answer["total"], 600);
    let answer = rig.ask("list_streams", json!({"prefix": "/vision/skill_7/", "limit": 1})).await;
    assert_eq!((answer["total"].clone(), answer["streams"].as_array().unwrap().len()), (json!(3), 1));
    rig.latest("skill_3").await;
}

#[tokio::test]
async fn a_skill_without_a_result_is_stale_and_says_so() {
    let rig = rig();
    rig.run(&find_object()).await;
    let answer = rig.latest("find_object").await;
    assert_eq!(answer["stale"], true);
    assert_eq!(answer["notes"], json!(["no detections have come yet"]));
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert!(seen["text"].as_str().unwrap().contains("find_object (no result yet)"), "{seen}");
}

#[tokio::test]
async fn what_is_wrong_with_a_task_is_its_problem_everywhere() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.tasks.edit(|tasks| {
        tasks[0].error = Some("unsupported_condition: the mood".into());
        tasks[0].notes = vec!["not understood: shiny".into()];
    });
    rig.buffer.reconcile_once().await;
    rig.see("find_object", vec![]);
    let answer = rig.latest("find_object").await;
    assert_eq!(
        (&answer["problem"], &answer["notes"][0]),
        (&json!("unsupported_condition: the mood"), &json!("not understood: shiny"))
    );
    assert_eq!(rig.ask("what_do_you_see", json!({})).await["skills"][0]["problem"], "unsupported_condition: the mood");
    assert_eq!(rig.ask("list_streams", json!({})).await["streams"][0]["problem"], "unsupported_condition: the mood");
}

#[tokio::test]
async fn what_a_stopped_skill_said_is_forgotten_when_its_name_returns() {
    let world = World::new();
    for is_stamped in [true, false] {
        let rig = world.start(Config::default(), None);
        let stamp_tasks = || {
            if !is_stamped {
                rig.tasks.edit(|tasks| tasks[0].created = Stamp::ZERO);
            }
        };
        rig.tasks.add(&find_object());
        stamp_tasks();
        rig.streams.appear_skill(&find_object());
        rig.buffer.reconcile_once().await;
        rig.say("/vision/find_object/found", "true");
        rig.see("find_object", vec![red_can(false)]);
        rig.pass(0.1);
        rig.tasks.edit(Vec::clear);
        rig.streams.vanish_all();
        rig.buffer.reconcile_once().await;
        rig.pass(0.1);
        rig.tasks.add(&find_object());
        stamp_tasks();
        rig.streams.appear_skill(&find_object());
        rig.buffer.reconcile_once().await;
        rig.see("find_object", vec![]);
        let answer = rig.latest("find_object").await;
        assert_eq!((&answer["outputs"], &answer["detections"]), (&json!({}), &json!([])));
        assert_eq!(answer.get("problem"), None);
        let seen = rig.ask("what_do_you_see", json!({})).await;
        assert!(!seen["text"].as_str().unwrap().contains("found="), "{seen}");
        rig.tasks.edit(Vec::clear);
        rig.streams.vanish_all();
    }
}

#[tokio::test]
async fn a_name_that_is_taken_again_between_two_looks_begins_anew_and_keeps_its_own_values() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.say("/vision/find_object/found", "true");
    rig.pass(0.1);
    rig.tasks.edit(Vec::clear);
    rig.tasks.add(&find_object());
    rig.pass(0.1);
    rig.see("find_object", vec![red_can(false)]);
    rig.buffer.reconcile_once().await;
    let answer = rig.latest("find_object").await;
    assert_eq!((&answer["outputs"], &answer["detections"][0]["label"]), (&json!({}), &json!("red can")));
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.latest("find_object").await["detections"][0]["label"], "red can");
}

#[tokio::test]
async fn what_a_stopped_skill_said_is_forgotten_where_the_nodes_clock_is_behind() {
    let rig = rig();
    let behind = |stamp: Stamp| Stamp::from_nanos(stamp.nanos() - 2_000_000_000);
    let start = async || {
        rig.tasks.add(&find_object());
        rig.tasks.edit(|tasks| tasks[0].created = behind(tasks[0].created));
        rig.buffer.reconcile_once().await;
    };
    rig.streams.appear_skill(&find_object());
    start().await;
    let said = StreamMessage::Output { stamp: behind(rig.stamp()), text: "true".into() };
    rig.streams.publish("/vision/find_object/found", &said);
    rig.pass(0.1);
    assert_eq!(rig.latest("find_object").await["outputs"]["found"]["value"], true);
    rig.tasks.edit(Vec::clear);
    rig.buffer.reconcile_once().await;
    rig.pass(0.1);
    start().await;
    assert_eq!(rig.latest("find_object").await["outputs"], json!({}));
}

#[tokio::test]
async fn a_skill_that_was_stopped_says_so_and_tells_no_values() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.say("/vision/find_object/found", "true");
    rig.see("find_object", vec![red_can(false)]);
    rig.tasks.edit(Vec::clear);
    rig.buffer.reconcile_once().await;
    rig.pass(1.0);
    let answer = rig.latest("find_object").await;
    assert!(answer["problem"].as_str().unwrap().contains("the skill was stopped"), "{answer}");
    let seen = rig.ask("what_do_you_see", json!({})).await;
    let text = seen["text"].as_str().unwrap();
    assert!(
        text.starts_with("No skill is running; nothing is looked for.\n- find_object (stopped, last result 1.0 s ago)")
    );
    assert!(!text.contains("found") && !text.contains("red can"), "{text}");
    assert_eq!(seen["skills"][0]["enabled"], false);
    let listed = rig.ask("list_streams", json!({})).await;
    assert!(listed["streams"][0]["problem"].as_str().unwrap().contains("stopped"), "{listed}");
}

#[tokio::test]
async fn a_topic_that_has_left_and_a_skill_that_is_paused_are_noted() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![red_can(false)]);
    rig.tasks.edit(|tasks| tasks[0].enabled = false);
    rig.buffer.reconcile_once().await;
    assert!(rig.latest("find_object").await["notes"][0].as_str().unwrap().starts_with("the skill is paused"));
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert!(seen["text"].as_str().unwrap().contains("find_object (paused, 0.0 s ago)"), "{seen}");
    rig.tasks.edit(|tasks| tasks[0].enabled = true);
    rig.streams.vanish_all();
    rig.buffer.reconcile_once().await;
    assert!(rig.latest("find_object").await["notes"][0].as_str().unwrap().contains("has left the graph"));
}

#[tokio::test]
async fn one_stale_value_among_fresh_ones_is_marked_in_the_text() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.say("/vision/find_object/found", "true");
    rig.pass(6.0);
    rig.see("find_object", vec![red_can(false)]);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert!(seen["text"].as_str().unwrap().contains("(0.0 s ago): found=true (STALE, 6.0 s old); red can"), "{seen}");
    rig.pass(6.0);
    rig.say("/vision/find_object/found", "true");
    let seen = rig.ask("what_do_you_see", json!({})).await;
    let text = seen["text"].as_str().unwrap();
    assert!(text.contains("found=true; red can") && text.contains("(STALE, 6.0 s old)"), "{text}");
}

#[tokio::test]
async fn get_overlay_ref_names_the_newest_picture_without_making_anybody_draw() {
    let rig = rig();
    rig.run(&find_object()).await;
    let answer = rig.ask("get_overlay_ref", json!({"skill": "find_object"})).await;
    assert_eq!(answer["error"]["code"], "no_overlay");
    rig.see("find_object", vec![red_can(false)]);
    assert_eq!(
        rig.streams.subscribed(),
        ["/vision/find_object/detections", "/vision/find_object/found"],
        "who subscribes to an overlay makes the vision node draw"
    );
    assert!(rig.streams_listed().await.contains(&"/vision/find_object/overlay".to_owned()));
    rig.pass(6.0);
    assert_eq!(
        rig.ask("get_overlay_ref", json!({"skill": "find_object"})).await,
        json!({"ok": true, "topic": "/vision/find_object/overlay", "stamp": START_S, "age_s": 6.0, "stale": true})
    );
}

#[tokio::test]
async fn impossible_detections_are_cut_or_left_out_and_told() {
    let rig = rig();
    rig.streams.appear("/vision/foreign/detections");
    rig.buffer.reconcile_once().await;
    let scored = |score| Detection { score, ..red_can(false) };
    let boxed = |x, y, width, height| Detection { bounds: PixelBox { x, y, width, height }, ..red_can(false) };
    let nowhere = Detection { point: None, ..boxed(700, 10, 5, 5) };
    let flat = Detection { point: None, ..boxed(1, 1, 0, 9) };
    let sent = vec![scored(f32::NAN), scored(7.5), scored(-3.0), boxed(600, 400, 4000, u32::MAX), nowhere, flat];
    rig.see("foreign", sent);
    let answer = rig.latest("foreign").await;
    let shown: Vec<_> =
        answer["detections"].as_array().unwrap().iter().map(|one| (&one["score"], &one["box"])).collect();
    let usual = json!([100, 80, 40, 60]);
    assert_eq!(
        shown,
        [
            (&json!(0.0), &usual),
            (&json!(1.0), &usual),
            (&json!(0.0), &usual),
            (&json!(0.93), &json!([600, 400, 40, 80])),
        ]
    );
    let note = answer["notes"].as_array().unwrap().last().unwrap().as_str().unwrap();
    for words in ["3 with a score", "1 with a box", "2 whose box"] {
        assert!(note.contains(words), "{note}");
    }
    rig.see("foreign", vec![red_can(false)]);
    assert_eq!(rig.latest("foreign").await["notes"], json!(null), "what is sound has no note");
}

#[tokio::test]
async fn detections_of_somebody_else_are_shown() {
    let rig = rig();
    rig.streams.appear("/vision/foreign/detections");
    rig.streams.appear("/vision/foreign/count");
    rig.buffer.reconcile_once().await;
    rig.see("foreign", vec![red_can(false)]);
    rig.say("/vision/foreign/count", "3");
    let answer = rig.latest("foreign").await;
    assert_eq!(answer["detections"][0]["label"], "red can");
    assert_eq!(answer["outputs"]["count"], json!({"value": 3, "type": "number", "age_s": 0.0, "stale": false}));
}

#[tokio::test]
async fn the_camera_is_alive_while_pictures_come() {
    let rig = rig();
    rig.buffer.reconcile_once().await;
    let camera = async || rig.ask("what_do_you_see", json!({})).await["camera"].clone();
    assert_eq!(camera().await, json!({"topic": "/camera/image_raw", "alive": false, "last_frame_age_s": null}));
    assert_eq!(rig.streams.beat("/camera/image_raw", CameraBeat { stamp: rig.stamp() }), 1);
    rig.pass(1.0);
    assert_eq!(camera().await, json!({"topic": "/camera/image_raw", "alive": true, "last_frame_age_s": 1.0}));
    let frozen = rig.stamp();
    rig.pass(7.0);
    rig.streams.beat("/camera/image_raw", CameraBeat { stamp: frozen });
    assert_eq!(camera().await, json!({"topic": "/camera/image_raw", "alive": false, "last_frame_age_s": 7.0}));
}

#[tokio::test]
async fn without_a_camera_topic_its_health_is_null() {
    let config = Config { camera_topic: None, ..Config::default() };
    let rig = World::new().start(config, None);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.ask("what_do_you_see", json!({})).await["camera"], Value::Null);
}

#[tokio::test]
async fn ready_means_that_bus_and_vision_node_answer() {
    let rig = rig();
    assert!(matches!(rig.server.readiness().await, Readiness::NotReady(_)));
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.server.readiness().await, Readiness::Ready);
}
