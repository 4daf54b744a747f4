//! The functions that run all the time: `cargo bench`.
use std::sync::Arc;

use cerebellum_core::{Clock, Detection, DetectionFrame, PixelBox, Point, StreamMessage, VisionEngine};
use cerebellum_kit::clock::HostClock;
use cerebellum_kit::signing::{Secret, sign};
use cerebellum_mcp::{CallContext, Progress, ToolServer};
use cerebellum_ros::msg::common::{CompressedImage, Header, PointStamped, RegionOfInterest};
use cerebellum_ros::msg::vision::{VisionDetection, VisionDetectionArray};
use cerebellum_ros::msg::{Bytes, decode, encode};
use cerebellum_servers::perception_buffer::{Buffer, Config, Ports, Server};
use cerebellum_sim::Scene;
use cerebellum_sim::render::{Camera, Looks, render};
use cerebellum_sim::world::World;
use cerebellum_testkit::streams::FakeVisionStreams;
use cerebellum_testkit::tasks::FakeVisionTasks;
use cerebellum_vision::engine::geometry::{Engine, Things};
use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::Map;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

#[allow(dead_code, reason = "the truth about a picture is for tests")]
#[path = "../../vision/tests/home/view.rs"]
mod view;

const DETECTIONS: u32 = 20;
const SKILLS: usize = 200;
/// About what a mask of 64x64 pixels is as PNG.
const MASK_BYTES: usize = 250;

fn main() {
    divan::main();
}

/// CDR of twenty detections with masks, as the buffer reads them.
#[divan::bench]
fn decode_detections(bencher: Bencher) {
    let mask = vec![7_u8; MASK_BYTES];
    let header = Header { frame_id: "map", ..Header::default() };
    let detection = |number: u32| VisionDetection {
        id: "7",
        label: "red can",
        score: 0.9,
        bounds: RegionOfInterest { x_offset: number, width: 64, height: 64, ..RegionOfInterest::default() },
        has_mask: true,
        mask: CompressedImage { header, format: "png", data: Bytes(&mask) },
        has_point: true,
        point: PointStamped { header, ..PointStamped::default() },
    };
    let detections = (0..DETECTIONS).map(detection).collect();
    let bytes = encode(&VisionDetectionArray { header, skill: "all", image_width: 640, image_height: 480, detections });
    bencher.bench(|| decode::<VisionDetectionArray<'_>>(divan::black_box(&bytes)).map(|array| array.detections.len()));
}

/// A buffer with 200 skills that have said something.
struct Rig {
    runtime: Runtime,
    streams: Arc<FakeVisionStreams>,
    server: Server,
}

impl Rig {
    fn new() -> Self {
        let runtime = Runtime::new().expect("a runtime can be started");
        let (clock, streams) = (Arc::new(HostClock::new()), Arc::new(FakeVisionStreams::new()));
        for number in 0..SKILLS {
            streams.appear(&topic(number));
        }
        let ports = Ports {
            streams: streams.clone(),
            tasks: Arc::new(FakeVisionTasks::new(clock.clone())),
            clock: clock.clone(),
            wall: clock,
            events: None,
            state_file: None,
        };
        let buffer = Buffer::new(Config::default(), ports);
        runtime.block_on(buffer.reconcile_once());
        let rig = Self { runtime, streams, server: Server::new(buffer) };
        for number in 0..SKILLS {
            assert_eq!(rig.streams.publish(&topic(number), &said()), 1);
        }
        rig
    }
}

fn topic(number: usize) -> String {
    format!("/vision/skill_{number}/detections")
}

fn said() -> StreamMessage {
    let detection = |x| Detection {
        id: Some("7".into()),
        label: "red can".into(),
        score: 0.9,
        bounds: PixelBox { x, y: 100, width: 64, height: 64 },
        has_mask: true,
        point: Some(Point { frame: "map".into(), position: [1.0, 2.0, 0.8].into() }),
    };
    StreamMessage::Detections(DetectionFrame {
        stamp: Clock::now(&HostClock::new()),
        frame_id: "camera".into(),
        skill: "skill".into(),
        image_width: 640,
        image_height: 480,
        detections: (0..DETECTIONS).map(detection).collect(),
    })
}

/// One message of twenty detections into a buffer of 200 topics; a copy of the message is part of it.
#[divan::bench]
fn ingest_detections(bencher: Bencher) {
    let rig = Rig::new();
    let (topic, message) = (topic(7), said());
    bencher.counter(ItemsCount::new(1_usize)).bench(|| rig.streams.publish(&topic, &message));
}

/// What an agent is told of 200 skills.
#[divan::bench]
fn what_do_you_see(bencher: Bencher) {
    let rig = Rig::new();
    let context = CallContext {
        caller: cerebellum_mcp::Caller::default(),
        cancelled: CancellationToken::new(),
        progress: Box::new(Silent),
    };
    bencher.bench(|| rig.runtime.block_on(rig.server.call("what_do_you_see", Map::new(), &context)));
}

struct Silent;

impl Progress for Silent {
    fn report(&self, _done: f64, _total: Option<f64>, _message: &str) {}
}

fn kitchen() -> World {
    let mut world = World::new(&Arc::new(Scene::home()));
    world.set_base_to("kitchen table").expect("the home has a kitchen table");
    world
}

/// One look of the engine `geometry` at the kitchen table.
#[divan::bench(args = [320, 640])]
fn geometry_look(bencher: Bencher, width: u32) {
    let runtime = Runtime::new().expect("a runtime can be started");
    let things = Things::parse(include_str!("../../../config/vision/things.yaml")).expect("the shipped file is right");
    let skill = r#"{"name": "all", "mode": "segment_all", "segment": true}"#;
    let skill = cerebellum_wire::skill::from_str(skill).expect("the skill is right");
    let engine = Engine::new(things);
    let mut looker = engine.prepare(&skill).looker;
    let world = kitchen();
    let mut seq = 0;
    // A picture that was looked at already costs nothing, so each look gets one of its own.
    bencher
        .with_inputs(|| {
            seq += 1;
            view::head(&world, width, seq).frame
        })
        .bench_local_values(|frame| runtime.block_on(looker.look(frame)).map(|look| look.detections.len()));
}

/// One live picture of the kitchen table, without the noise of a sensor.
#[divan::bench(args = [320, 640])]
fn render_frame(bencher: Bencher, width: u32) {
    let world = kitchen();
    let view = view::head(&world, width, 0).frame;
    let (Some(intrinsics), Some(map_from_camera)) = (view.intrinsics, view.map_from_camera) else { return };
    let camera = Camera { intrinsics, map_from_camera };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be started");
    let parts = world.parts();
    bencher.bench(|| render(&parts, &camera, Looks::Live, &pool));
}

/// The signature of an event of one kilobyte.
#[divan::bench]
fn sign_event(bencher: Bencher) {
    let secret: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().expect("the secret is right");
    let body = vec![b'x'; 1024];
    bencher.bench(|| sign([&secret], "evt_01", 1_700_000_000, divan::black_box(&body)));
}
