use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Clock, FrameError, Stamp};
use cerebellum_testkit::clock::FakeClock;
use cerebellum_testkit::engine::FakeEngine;
use cerebellum_testkit::frames::{FakeFrames, frame};
use serde_json::json;

use super::{Config, Ports, Server};
use crate::testing::context;

async fn call(server: &Server, tool: &str, given: serde_json::Value) -> serde_json::Value {
    use cerebellum_mcp::ToolServer;
    let given = given.as_object().cloned().unwrap_or_default();
    serde_json::Value::Object(server.call(tool, given, &context()).await.into_parts().0)
}

fn rig() -> (Server, Arc<FakeFrames>, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::at(Stamp::from_nanos(1_750_000_000_500_000_000)));
    let frames = Arc::new(FakeFrames::scripted(clock.clone()));
    let config = Config { frame_deadline: Duration::ZERO, ..Config::default() };
    let ports = Ports { frames: frames.clone(), engine: Arc::new(FakeEngine::new()), body: None, clock: clock.clone() };
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
