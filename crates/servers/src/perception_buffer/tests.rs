use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Clock, Detection, DetectionFrame, PixelBox, Point, Skill, Stamp, StreamMessage};
use cerebellum_testkit::{FakeClock, FakeVisionStreams, FakeVisionTasks, RecordedEvents};
use cerebellum_wire::skill;
use serde_json::{Value, json};

use super::{Buffer, Config, Ports, Server};
use crate::testing;

mod faults;
mod looking;
mod watching;

/// When the robot's clock begins.
const START_S: f64 = 1_750_000_000.0;

/// A buffer on fakes, driven by hand.
struct Rig {
    clock: Arc<FakeClock>,
    streams: Arc<FakeVisionStreams>,
    tasks: Arc<FakeVisionTasks>,
    events: RecordedEvents,
    buffer: Arc<Buffer>,
    server: Server,
}

/// What outlives a restart of the buffer.
struct World {
    clock: Arc<FakeClock>,
    streams: Arc<FakeVisionStreams>,
    tasks: Arc<FakeVisionTasks>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(START_S)));
        let tasks = Arc::new(FakeVisionTasks::new(clock.clone()));
        Self { clock, streams: Arc::new(FakeVisionStreams::new()), tasks }
    }

    fn start(&self, config: Config, state_file: Option<PathBuf>) -> Rig {
        let events = RecordedEvents::new();
        let ports = Ports {
            streams: self.streams.clone(),
            tasks: self.tasks.clone(),
            clock: self.clock.clone(),
            wall: self.clock.clone(),
            events: Some(events.sink()),
            state_file,
        };
        let buffer = Buffer::new(config, ports);
        let server = Server::new(buffer.clone());
        let (clock, streams, tasks) = (self.clock.clone(), self.streams.clone(), self.tasks.clone());
        Rig { clock, streams, tasks, events, buffer, server }
    }
}

fn rig() -> Rig {
    World::new().start(Config::default(), None)
}

fn skill_of(value: &Value) -> Skill {
    skill::from_value(value).expect("the test writes a skill")
}

fn find_object() -> Skill {
    skill_of(&json!({"name": "find_object", "mode": "ground_and_segment", "grounding": "the red can", "segment": true,
        "outputs": [{"name": "found", "type": "boolean", "description": "whether the red can is visible"}]}))
}

fn watch_for() -> Skill {
    skill_of(&json!({"name": "watch_for", "mode": "describe",
        "outputs": [{"name": "triggered", "type": "boolean", "description": "whether: a person is in view"}],
        "watch": {"output": "triggered", "equals": true, "condition": "a person is in view"}}))
}

fn red_can(has_mask: bool) -> Detection {
    Detection {
        id: Some("t1".into()),
        label: "red can".into(),
        score: 0.93,
        bounds: PixelBox { x: 100, y: 80, width: 40, height: 60 },
        has_mask,
        point: Some(Point { frame: "map".into(), position: glam_point(1.25, -0.5, 0.8) }),
    }
}

fn glam_point(x: f64, y: f64, z: f64) -> glam::DVec3 {
    glam::DVec3::new(x, y, z)
}

impl Rig {
    fn stamp(&self) -> Stamp {
        Clock::now(self.clock.as_ref())
    }

    fn pass(&self, seconds: f64) {
        self.clock.advance(Duration::from_secs_f64(seconds));
    }

    /// A skill runs and has its topics, and the buffer knows.
    async fn run(&self, skill: &Skill) {
        self.tasks.add(skill);
        self.streams.appear_skill(skill);
        self.buffer.reconcile_once().await;
    }

    fn frame(&self, skill: &str, detections: Vec<Detection>) -> DetectionFrame {
        DetectionFrame {
            stamp: self.stamp(),
            frame_id: "head_camera_optical".into(),
            skill: skill.into(),
            image_width: 640,
            image_height: 480,
            detections,
        }
    }

    /// The skill sees that, now.
    fn see(&self, skill: &str, detections: Vec<Detection>) -> usize {
        let frame = self.frame(skill, detections);
        self.streams.publish(&format!("/vision/{skill}/detections"), &StreamMessage::Detections(frame))
    }

    /// An output says that, now.
    fn say(&self, topic: &str, text: &str) -> usize {
        self.streams.publish(topic, &StreamMessage::Output { stamp: self.stamp(), text: text.into() })
    }

    fn triggered(&self, value: bool) {
        self.say("/vision/watch_for/triggered", if value { "true" } else { "false" });
    }

    /// A tool's answer, which must not be the protocol's error.
    async fn ask(&self, tool: &str, given: Value) -> Value {
        let (answer, is_error) = testing::call(&self.server, tool, &given).await;
        assert!(!is_error, "{answer}");
        answer
    }

    async fn latest(&self, skill: &str) -> Value {
        self.ask("get_latest", json!({"skill": skill})).await
    }

    async fn streams_listed(&self) -> Vec<String> {
        let answer = self.ask("list_streams", json!({})).await;
        answer["streams"].as_array().unwrap().iter().map(|one| one["topic"].as_str().unwrap().to_owned()).collect()
    }
}
