use cerebellum_core::{Detection, EngineError, Found, Look, Mask, OutputValue, PixelBox, Skill};
use cerebellum_testkit::robot::FakeRobot;

use super::*;

fn found(label: &str, score: f32, x: u32) -> Found {
    let bounds = PixelBox { x, y: 6, width: 8, height: 10 };
    let mask = Mask { bounds, data: vec![255; 80] };
    let detection = Detection { id: None, label: label.into(), score, bounds, has_mask: true, point: None };
    Found { detection, mask: Some(mask) }
}

fn sees(things: Vec<Found>) -> FakeEngine {
    FakeEngine::answering(move |_, _| Ok(Look { detections: things.clone(), ..Look::default() }))
}

fn looking(engine: FakeEngine) -> Server {
    let (server, frames, clock) = rig_with(engine, None, Config::default());
    frames.push(frame(1, now(&clock)));
    server
}

fn says(value: bool) -> FakeEngine {
    FakeEngine::answering(move |skill: &Skill, _| {
        let outputs = skill.outputs.iter().map(|output| (output.name.clone(), OutputValue::Boolean(value)));
        Ok(Look { outputs: outputs.collect(), ..Look::default() })
    })
}

#[tokio::test]
async fn what_is_seen_has_a_point_and_a_score_and_what_is_not_is_an_ordinary_answer() {
    let server = looking(sees(vec![found("red can", 0.9, 4), found("red box", 0.3, 18)]).noting("no word \"shiny\""));
    let answer = call(&server, "locate_3d", json!({"query": "shiny red can"})).await;
    assert_eq!((&answer["ok"], &answer["found"], &answer["label"]), (&json!(true), &json!(true), &json!("red can")));
    assert_eq!((&answer["z"], &answer["frame"]), (&json!(1.0), &json!("camera_optical")), "{answer}");
    assert_eq!(answer["notes"], json!(["no word \"shiny\""]));
    assert!(answer["candidates"].as_array().is_none_or(Vec::is_empty), "{answer}");

    let (answer, is_error) = testing::call(&looking(sees(vec![])), "locate_3d", &json!({"query": "red can"})).await;
    assert_eq!((&answer["found"], is_error), (&json!(false), false), "{answer}");
    assert!(answer.get("x").is_none());
}

#[tokio::test]
async fn two_that_match_are_both_told_and_neither_is_taken() {
    let engine = || sees(vec![found("red can", 0.9, 2), found("red can", 0.88, 18)]);
    let answer = call(&looking(engine()), "locate_3d", json!({"query": "red can"})).await;
    assert_eq!(answer["candidates"].as_array().map(Vec::len), Some(2), "{answer}");
    let answer = call(&looking(engine()), "grasp_pose", json!({"target": "red can"})).await;
    assert_eq!((&answer["reachable"], &answer["error"]["code"]), (&json!(false), &json!("ambiguous")), "{answer}");
}

#[tokio::test]
async fn a_capture_outlines_what_the_engine_masks() {
    let server = looking(sees(vec![found("red can", 0.9, 4), found("book", 0.8, 18)]));
    let answer = call(&server, "capture_scene", json!({})).await;
    assert_eq!((&answer["segmenter"], &answer["fidelity"]), (&json!("fake"), &json!("mask")), "{answer}");
    let object = &answer["objects"][0];
    assert_eq!(object["polygon"], json!([[4, 6], [11, 6], [11, 15], [4, 15]]), "{object}");
    assert_eq!((&object["bbox"], &object["point_3d"]["z"]), (&json!([4, 6, 8, 10]), &json!(1.0)), "{object}");

    let mut boxed = found("book", 0.8, 18);
    boxed.mask = None;
    let answer = call(&looking(sees(vec![boxed])), "capture_scene", json!({})).await;
    assert_eq!((&answer["segmenter"], &answer["fidelity"]), (&json!("box"), &json!("box")), "{answer}");
}

#[tokio::test]
async fn a_check_by_eye_says_what_was_judged_and_when_nothing_was() {
    let asked = json!({"context": "a red can is in view"});
    let answer = call(&looking(says(true)), "observe_task", asked.clone()).await;
    assert_eq!((&answer["judged"], &answer["issue"]), (&json!(true), &json!("")), "{answer}");
    let (answer, is_error) = testing::call(&looking(says(false)), "observe_task", &asked).await;
    assert_eq!((&answer["judged"], is_error), (&json!(true), false), "{answer}");
    assert!(answer["issue"].as_str().unwrap().contains("red can"), "{answer}");
    let mute = sees(vec![]).not_judging("condition", "these words name nothing");
    let answer = call(&looking(mute), "observe_task", asked).await;
    assert_eq!(answer["judged"], false, "{answer}");
    assert!(answer["reasoning"].as_str().unwrap().contains("these words name nothing"), "{answer}");
}

#[tokio::test]
async fn a_thing_is_not_reachable_where_depth_or_the_robots_place_are_missing() {
    let (server, frames, clock) = rig_with(sees(vec![found("can", 0.9, 4)]), None, Config::default());
    for (seq, depth, code) in [(1, false, "no_depth"), (2, true, "not_localised")] {
        let mut frame = frame(seq, now(&clock));
        frame.depth = frame.depth.filter(|_| depth);
        frames.push(frame);
        for tool in ["grasp_pose", "model_object"] {
            let answer = call(&server, tool, json!({"target": "can"})).await;
            assert_eq!((&answer["reachable"], &answer["error"]["code"]), (&json!(false), &json!(code)), "{answer}");
            assert!(answer["reason"].is_string(), "{answer}");
            assert_ne!(answer["grasp"]["frame"], "map", "{answer}");
        }
    }
}

#[tokio::test]
async fn a_surface_that_no_map_knows_is_answered_with_those_it_knows() {
    let body: Arc<dyn Body> = {
        let clock = Arc::new(FakeClock::at(Stamp::from_nanos(1_750_000_000_000_000_000)));
        Arc::new(FakeRobot::new(clock))
    };
    let (server, frames, clock) = rig_with(sees(vec![]), Some(body), Config::default());
    frames.push(frame(1, now(&clock)));
    for tool in ["place_pose", "locate_surface"] {
        let answer = call(&server, tool, json!({"surface": "the piano"})).await;
        assert_eq!(answer["error"]["code"], "unknown_surface", "{answer}");
        assert_eq!(answer["known"], json!(["Kitchen Table"]), "{answer}");
    }
    let answer = call(&server, "place_pose", json!({"surface": "kitchen_table"})).await;
    assert_eq!(answer["error"]["code"], "not_in_view", "{answer}");
}

#[tokio::test]
async fn an_engine_that_fails_is_the_tools_failure() {
    let engine = FakeEngine::answering(|_, _| Err(EngineError::Failed { reason: "out of memory".into() }));
    let (answer, is_error) = testing::call(&looking(engine), "locate_3d", &json!({"query": "can"})).await;
    assert_eq!((&answer["error"]["code"], is_error), (&json!("engine_failed"), true), "{answer}");
    for (tool, given) in [
        ("locate_3d", json!({"query": "  "})),
        ("locate_3d", json!({"query": 7})),
        ("locate_3d", json!({"query": "x".repeat(10_000)})),
        ("pixel_to_3d", json!({"u": "3", "v": 3})),
        ("grasp_from_pixel", json!({"u": null, "v": 3})),
        ("grasp_pose", json!({"target": "can", "side": "middle"})),
    ] {
        let (answer, is_error) = testing::call(&looking(sees(vec![])), tool, &given).await;
        assert_eq!((&answer["error"]["code"], is_error), (&json!("bad_arguments"), true), "{tool} {given}: {answer}");
    }
}

#[tokio::test]
async fn the_prompt_is_the_owners_when_there_is_one_and_always_tells_the_eyes() {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), "Speak Dutch.").unwrap();
    let config = Config { prompt: Some(path.path().to_owned()), ..Config::default() };
    let (server, frames, clock) = rig_with(FakeEngine::new(), None, config);
    let blind = server.read_resource("prompt://system").await.unwrap();
    assert!(blind.starts_with("Speak Dutch.") && blind.contains("no picture now"), "{blind}");
    frames.push(frame(1, now(&clock)));
    std::fs::write(path.path(), "").unwrap();
    let shipped = server.read_resource("prompt://system").await.unwrap();
    assert!(shipped.contains("# Looking") && shipped.contains("Engine: fake"), "{shipped}");
    assert!(shipped.contains("32x24, with depth, not localised"), "{shipped}");
    assert!(server.read_resource("prompt://other").await.is_none());
}
