use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Body, Clock, FrameError, Stamp};
use cerebellum_mcp::ToolServer;
use cerebellum_testkit::clock::FakeClock;
use cerebellum_testkit::engine::FakeEngine;
use cerebellum_testkit::frames::{FakeFrames, frame, sized_frame};
use serde_json::json;

use super::{Config, Ports, Server};
use crate::testing;

/// What the engine finds, and what is answered then.
mod looks;

async fn call(server: &Server, tool: &str, given: serde_json::Value) -> serde_json::Value {
    if server.tools().iter().any(|spec| spec.name == tool && spec.output_schema.is_some()) {
        return testing::call(server, tool, &given).await.0;
    }
    let given = given.as_object().cloned().unwrap_or_default();
    serde_json::Value::Object(server.call(tool, given, &testing::context()).await.into_parts().0)
}

fn rig() -> (Server, Arc<FakeFrames>, Arc<FakeClock>) {
    rig_with(FakeEngine::new(), None, Config::default())
}

fn rig_with(
    engine: FakeEngine,
    body: Option<Arc<dyn Body>>,
    config: Config,
) -> (Server, Arc<FakeFrames>, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::at(Stamp::from_nanos(1_750_000_000_500_000_000)));
    let frames = Arc::new(FakeFrames::scripted(clock.clone()));
    let config = Config { frame_deadline: Duration::ZERO, ..config };
    let ports = Ports { frames: frames.clone(), engine: Arc::new(engine), body, clock: clock.clone() };
    (Server::new(ports, config), frames, clock)
}

fn now(clock: &FakeClock) -> Stamp {
    Clock::now(clock)
}

#[tokio::test]
async fn a_picture_is_answered_with_its_stamp_and_its_pixels_can_be_asked_about() {
    let (server, frames, clock) = rig();
    frames.push(frame(1, now(&clock)));
    let picture = call(&server, "get_frame", json!({})).await;
    assert_eq!((&picture["ok"], &picture["width"]), (&json!(true), &json!(32)), "{picture}");
    let asked = json!({"u": 16, "v": 12, "frame_stamp": picture["stamp"]});
    let point = call(&server, "pixel_to_3d", asked).await;
    assert_eq!((&point["ok"], &point["z"]), (&json!(true), &json!(1.0)), "{point}");
    for (given, code) in [
        (json!({"u": 16, "v": 12, "frame_stamp": 12.5}), "frame_gone"),
        (json!({"u": 32, "v": 12}), "outside_picture"),
        (json!({"u": "16", "v": 12}), "bad_arguments"),
        (json!({"v": 12}), "bad_arguments"),
    ] {
        let answer = call(&server, "pixel_to_3d", given).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
}

#[tokio::test]
async fn a_lost_camera_is_told_and_no_old_picture_is_answered() {
    let (server, frames, clock) = rig();
    frames.push(frame(1, now(&clock)));
    frames.fail(Some(FrameError::Unavailable { reason: "unplugged".into() }));
    for tool in ["get_frame", "capture_scene"] {
        let answer = call(&server, tool, json!({})).await;
        assert_eq!(answer["error"]["code"], "camera_lost", "{answer}");
        assert!(answer.get("image_jpeg_b64").is_none());
    }
}

#[tokio::test]
async fn an_old_picture_is_never_answered_as_a_new_one() {
    let (server, frames, clock) = rig();
    frames.push(frame(1, now(&clock)));
    assert_eq!(call(&server, "get_frame", json!({})).await["ok"], true);
    clock.advance(Duration::from_secs(5));
    for (tool, given) in [
        ("get_frame", json!({})),
        ("capture_scene", json!({})),
        ("locate_3d", json!({"query": "red can"})),
        ("grasp_pose", json!({"target": "red can"})),
        ("place_pose", json!({"surface": "table"})),
        ("pixel_to_3d", json!({"u": 3, "v": 3})),
        ("observe_task", json!({"context": "the can is there"})),
    ] {
        let answer = call(&server, tool, given).await;
        assert_eq!(answer["error"]["code"], "camera_lost", "{tool}: {answer}");
    }
    // A camera that sends on, with pictures of long ago.
    frames.push(frame(2, Stamp::from_nanos(now(&clock).nanos() - 9_000_000_000)));
    let answer = call(&server, "locate_3d", json!({"query": "red can"})).await;
    assert_eq!(answer["error"]["code"], "camera_lost", "{answer}");
}

#[tokio::test]
async fn one_picture_is_encoded_once_and_a_new_one_anew() {
    let (server, frames, clock) = rig();
    frames.push(frame(1, now(&clock)));
    let (one, two) = tokio::join!(call(&server, "get_frame", json!({})), call(&server, "get_frame", json!({})));
    assert_eq!(one["image_jpeg_b64"], two["image_jpeg_b64"]);
    assert!(one["image_jpeg_b64"].as_str().unwrap().starts_with("/9j/"), "it is a JPEG");
    frames.push(sized_frame(2, now(&clock), 48, 36));
    let three = call(&server, "get_frame", json!({})).await;
    assert_eq!((&three["width"], &three["height"]), (&json!(48), &json!(36)));
    assert_ne!(one["image_jpeg_b64"], three["image_jpeg_b64"]);
}

#[tokio::test]
async fn the_last_eight_captures_can_be_clicked() {
    let (server, frames, clock) = rig();
    let mut stamps = Vec::new();
    for seq in 1..=9 {
        frames.push(frame(seq, now(&clock)));
        stamps.push(call(&server, "capture_scene", json!({})).await["stamp"].clone());
        clock.advance(Duration::from_millis(200));
    }
    let gone = call(&server, "pixel_to_3d", json!({"u": 3, "v": 3, "frame_stamp": stamps[0]})).await;
    assert_eq!(gone["error"]["code"], "frame_gone", "{gone}");
    for stamp in &stamps[1..] {
        let point = call(&server, "pixel_to_3d", json!({"u": 3, "v": 3, "frame_stamp": stamp})).await;
        assert_eq!((&point["ok"], &point["stamp"]), (&json!(true), stamp), "{point}");
    }
}
