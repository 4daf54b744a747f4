use cerebellum_core::{CameraBeat, StreamTopic};
use cerebellum_testkit::streams::stream_topic;
use cerebellum_testkit::tasks::Script;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;

#[tokio::test]
async fn before_the_bus_is_up_every_tool_says_so_and_recovers() {
    let rig = rig();
    rig.streams.set_down(Some("no router at tcp/127.0.0.1:7447"));
    rig.buffer.reconcile_once().await;
    for (tool, given) in
        [("what_do_you_see", json!({})), ("list_streams", json!({})), ("get_latest", json!({"skill": "a"}))]
    {
        let (answer, is_error) = testing::call(&rig.server, tool, &given).await;
        assert!(is_error && answer["error"]["code"] == "bus_down", "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("7447"), "{answer}");
    }
    rig.streams.set_down(None);
    rig.run(&find_object()).await;
    rig.see("find_object", vec![red_can(true)]);
    assert_eq!(rig.latest("find_object").await["stale"], false);
}

#[tokio::test]
async fn a_bus_that_goes_and_returns_keeps_values_as_stale_and_subscribes_anew() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![red_can(true)]);
    rig.streams.set_down(Some("connection lost"));
    rig.tasks.always(Some(Script::BusDown));
    rig.buffer.reconcile_once().await;
    rig.pass(10.0);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert_eq!(seen["skills"][0]["stale"], true);
    assert_eq!(seen["problems"][0], "the ROS bus is lost: connection lost");
    rig.streams.set_down(None);
    rig.tasks.always(None);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.see("find_object", vec![]), 1);
    assert_eq!(rig.streams.beat("/camera/image_raw", CameraBeat { stamp: rig.stamp() }), 1);
    let seen = rig.ask("what_do_you_see", json!({})).await;
    assert_eq!((&seen["skills"][0]["stale"], seen.get("problems")), (&json!(false), None));
}

#[tokio::test]
async fn a_vision_node_that_does_not_answer_costs_only_the_task_list() {
    for script in [Script::Away, Script::Silent, Script::Hang, Script::Garble("?".into())] {
        let rig = rig();
        rig.run(&find_object()).await;
        rig.tasks.always(Some(script));
        let looking = rig.buffer.reconcile_once();
        let ((), ()) = tokio::join!(looking, async {
            testing::settle().await;
            rig.pass(2.5);
        });
        rig.see("find_object", vec![red_can(true)]);
        let seen = rig.ask("what_do_you_see", json!({})).await;
        assert_eq!(seen["skills"][0]["skill"], "find_object");
        assert_eq!(seen["problems"].as_array().unwrap().len(), 1, "{seen}");
    }
}

#[tokio::test]
async fn a_clock_that_jumps_back_flags_the_skew_and_ages_by_arrival() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![]);
    rig.clock.jump(-3_600_000_000_000);
    rig.pass(2.0);
    assert_eq!(rig.latest("find_object").await["age_s"], 2.0);
    let mut frame = rig.frame("find_object", vec![]);
    frame.stamp = Stamp::from_nanos(frame.stamp.nanos() + 30_000_000_000);
    rig.streams.publish("/vision/find_object/detections", &StreamMessage::Detections(frame));
    let answer = rig.latest("find_object").await;
    assert_eq!(
        (&answer["age_s"], &answer["stale"], &answer["clock_skew_s"]),
        (&json!(0.0), &json!(false), &json!(30.0))
    );
}

#[tokio::test]
async fn a_clock_that_jumps_forward_makes_old_values_stale_and_new_ones_fresh() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![]);
    rig.clock.jump(3_600_000_000_000);
    assert_eq!(rig.latest("find_object").await["stale"], true);
    rig.see("find_object", vec![]);
    assert_eq!(rig.latest("find_object").await["stale"], false);
}

#[tokio::test]
async fn a_message_without_a_stamp_ages_by_arrival() {
    let rig = rig();
    rig.run(&find_object()).await;
    let mut frame = rig.frame("find_object", vec![]);
    frame.stamp = Stamp::ZERO;
    rig.streams.publish("/vision/find_object/detections", &StreamMessage::Detections(frame));
    rig.pass(1.0);
    let answer = rig.latest("find_object").await;
    assert_eq!((&answer["age_s"], &answer["clock_skew_s"]), (&json!(1.0), &json!(0.0)));
}

#[tokio::test]
async fn five_hundred_topics_at_once_are_all_read_in_one_look() {
    let rig = rig();
    for index in 0..500 {
        rig.streams.appear(&format!("/vision/s{index}/detections"));
    }
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed().len(), 500);
    rig.streams.vanish_all();
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed().len(), 0);
    assert_eq!(rig.ask("list_streams", json!({})).await["total"], 0);
}

#[tokio::test]
async fn more_topics_than_are_kept_are_named_and_the_others_work() {
    let rig = rig();
    for index in 0..2_100 {
        rig.streams.appear(&format!("/vision/s{index:04}/detections"));
    }
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed().len(), 2_000);
    let answer = rig.ask("list_streams", json!({})).await;
    assert!(answer["unreadable"][0].as_str().unwrap().contains("narrow topic_patterns"), "{answer}");
}

#[tokio::test]
async fn a_topic_of_a_wrong_type_is_named_and_never_subscribed_to() {
    let rig = rig();
    let reason = "type hash RIHS01_00 is not ours".to_owned();
    rig.streams.appear_as(StreamTopic { unreadable: Some(reason), ..stream_topic("/vision/bad/detections") });
    rig.streams.appear("/vision/good/detections");
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed(), ["/vision/good/detections"]);
    let answer = rig.ask("list_streams", json!({})).await;
    assert_eq!(answer["unreadable"], json!(["/vision/bad/detections: type hash RIHS01_00 is not ours"]));
}

#[tokio::test]
async fn a_topic_that_cannot_be_subscribed_to_is_tried_again() {
    let rig = rig();
    rig.streams.appear("/vision/a/detections");
    rig.streams.refuse("/vision/a/detections", Some("out of handles"));
    rig.buffer.reconcile_once().await;
    let answer = rig.ask("list_streams", json!({})).await;
    assert_eq!(answer["unreadable"], json!(["/vision/a/detections: out of handles"]));
    rig.streams.refuse("/vision/a/detections", None);
    rig.buffer.reconcile_once().await;
    assert_eq!(rig.streams.subscribed(), ["/vision/a/detections"]);
}

#[tokio::test]
async fn numbers_that_are_not_finite_become_none() {
    let rig = rig();
    rig.run(&find_object()).await;
    let mut detection = red_can(false);
    detection.score = f32::NAN;
    detection.point = Some(Point { frame: "map".into(), position: glam_point(f64::INFINITY, 0.0, f64::NAN) });
    rig.see("find_object", vec![detection]);
    let answer = rig.latest("find_object").await;
    assert_eq!(
        answer["detections"][0],
        json!({"id": "t1", "label": "red can", "score": 0.0, "box": [100, 80, 40, 60]})
    );
}

#[tokio::test]
async fn an_empty_picture_is_shown_as_it_is() {
    let rig = rig();
    rig.run(&find_object()).await;
    let frame = DetectionFrame { image_width: 0, image_height: 0, ..rig.frame("find_object", vec![]) };
    rig.streams.publish("/vision/find_object/detections", &StreamMessage::Detections(frame));
    assert_eq!(rig.latest("find_object").await["image"], json!({"width": 0, "height": 0}));
}

#[tokio::test]
async fn garbled_messages_are_told_and_the_last_good_value_stays() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.see("find_object", vec![red_can(false)]);
    rig.streams
        .publish("/vision/find_object/detections", &StreamMessage::Garbled { reason: "ends after 3 bytes".into() });
    let answer = rig.latest("find_object").await;
    assert_eq!(answer["detections"][0]["label"], "red can");
    assert_eq!(answer["problem"], "/vision/find_object/detections: ends after 3 bytes");
    rig.see("find_object", vec![]);
    assert_eq!(rig.latest("find_object").await.get("problem"), None);
}

#[tokio::test]
async fn an_output_that_is_no_value_of_its_type_is_told() {
    let rig = rig();
    rig.run(&find_object()).await;
    rig.say("/vision/find_object/found", "perhaps");
    let answer = rig.latest("find_object").await;
    assert_eq!(answer["outputs"], json!({}));
    assert!(answer["problem"].as_str().unwrap().starts_with("output found: expected true or false"), "{answer}");
}

#[tokio::test]
async fn enormous_messages_stay_within_the_limit() {
    let rig = rig();
    let outputs: Vec<Value> = (0..32).map(|index| json!({"name": format!("o{index}"), "type": "text"})).collect();
    rig.run(&skill_of(&json!({"name": "big", "mode": "describe", "outputs": outputs}))).await;
    rig.see("big", vec![Detection { label: "ü".repeat(10_000), ..red_can(true) }; 5_000]);
    for index in 0..32 {
        rig.say(&format!("/vision/big/o{index}"), &"ü".repeat(100_000));
    }
    let answer = rig.latest("big").await;
    assert!(answer["omitted"].as_u64().unwrap() > 4_900);
    rig.ask("what_do_you_see", json!({})).await;
}

#[tokio::test]
async fn bad_arguments_name_the_argument() {
    let rig = rig();
    rig.buffer.reconcile_once().await;
    for (tool, given, name) in [
        ("get_latest", json!({}), "skill"),
        ("get_latest", json!({"skill": 3}), "skill"),
        ("list_streams", json!({"limit": -1}), "limit"),
        ("get_overlay_ref", json!({"skill": null}), "skill"),
    ] {
        let (answer, is_error) = testing::call(&rig.server, tool, &given).await;
        assert!(is_error && answer["error"]["code"] == "bad_arguments", "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(name), "{answer}");
    }
}

#[tokio::test]
async fn the_running_buffer_follows_the_graph_and_ends_when_told() {
    let world = World::new();
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    let ports = Ports {
        streams: world.streams.clone(),
        tasks: world.tasks.clone(),
        clock: world.clock.clone(),
        wall: world.clock.clone(),
        events: None,
        state_file: None,
    };
    let _buffer = Buffer::start(Config::default(), ports, &tracker, &stop);
    testing::settle().await;
    world.streams.appear("/vision/a/detections");
    world.clock.advance(Duration::from_millis(100));
    testing::settle().await;
    assert_eq!(world.streams.subscribed(), ["/vision/a/detections"]);
    stop.cancel();
    tracker.close();
    tokio::time::timeout(Duration::from_secs(10), tracker.wait()).await.expect("it ends at once");
}

#[tokio::test(start_paused = true)]
async fn the_first_calls_wait_for_the_bus_and_say_bus_down_when_it_does_not_come() {
    let seconds = Duration::from_secs;
    for comes in [true, false] {
        let rig = rig();
        rig.streams.set_down(Some("the router is starting"));
        let stop = tokio_util::sync::CancellationToken::new();
        let (buffer, ending) = (rig.buffer.clone(), stop.clone());
        let running = tokio::spawn(async move { buffer.run(ending).await });
        tokio::task::yield_now().await;
        let began = tokio::time::Instant::now();
        let passing = async {
            tokio::time::sleep(seconds(1)).await;
            rig.streams.set_down((!comes).then_some("the router is starting"));
            loop {
                rig.pass(0.1);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let given = json!({});
        let (answer, _) = tokio::select! {
            answer = testing::call(&rig.server, "what_do_you_see", &given) => answer,
            () = passing => unreachable!("time passes for ever"),
        };
        let waited = began.elapsed();
        if comes {
            assert!(answer["ok"] == true && waited >= seconds(1) && waited < seconds(2), "{waited:?} {answer}");
        } else {
            assert_eq!(answer["error"]["code"], "bus_down");
            assert!(waited >= seconds(2) && waited < seconds(3), "{waited:?}");
            testing::call(&rig.server, "what_do_you_see", &given).await;
            assert_eq!(began.elapsed(), waited, "later calls do not wait");
        }
        stop.cancel();
        running.await.unwrap();
    }
}
