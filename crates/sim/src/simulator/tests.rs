use std::hash::{DefaultHasher, Hash, Hasher};

use cerebellum_core::Stamp;
use glam::DVec3;

use super::command::{CameraMode, CameraRequest, PersonAction, PersonRequest, PlaceRequest};
use super::*;

const SOON: Duration = Duration::from_secs(1);

struct Running {
    simulator: Arc<Simulator>,
    stop: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn start(seed: u64, width: u32, height: u32) -> Running {
    let stop = CancellationToken::new();
    let camera = CameraConfig { width, height, rate_hz: 10.0 };
    let config = SimConfig { seed, pace: Pace::AWAITED, camera, render_threads: 1, ..SimConfig::default() };
    Running { simulator: Simulator::start(config, &TaskTracker::new(), stop.clone()), stop }
}

impl Running {
    async fn next(&self, after: Option<u64>) -> Arc<Frame> {
        self.simulator.next(after, SOON).await.unwrap()
    }

    async fn camera(&self, mode: CameraMode) {
        self.simulator.command(SceneCommand::Camera(CameraRequest { mode })).await.unwrap();
    }

    async fn person(&self, action: PersonAction) {
        self.simulator.command(SceneCommand::Person(PersonRequest { action })).await.unwrap();
    }
}

fn hash(frame: &Frame) -> u64 {
    let mut hasher = DefaultHasher::new();
    (frame.stamp, frame.seq, &frame.rgb.data).hash(&mut hasher);
    for depth in &frame.depth.as_ref().unwrap().metres {
        depth.to_bits().hash(&mut hasher);
    }
    hasher.finish()
}

#[tokio::test]
async fn the_same_seed_gives_the_same_bytes() {
    async fn run(seed: u64) -> Vec<u64> {
        let running = start(seed, 80, 60);
        let mut hashes = Vec::new();
        running.person(PersonAction::Enter).await;
        let mut after = None;
        for _ in 0..6 {
            let frame = running.next(after).await;
            after = Some(frame.seq);
            hashes.push(hash(&frame));
            running.simulator.clock().sleep(Duration::from_millis(900)).await;
        }
        hashes
    }
    let first = run(5).await;
    assert_eq!(first, run(5).await);
    assert_ne!(first, run(6).await);
    assert!(first.windows(2).all(|pair| pair[0] != pair[1]));
}

#[tokio::test]
async fn frames_count_up_and_are_stamped_by_the_robots_clock() {
    let running = start(1, 64, 48);
    let first = running.next(None).await;
    let second = running.next(Some(first.seq)).await;
    assert_eq!((first.seq, second.seq), (0, 1));
    assert!((second.stamp.secs_since(first.stamp) - 0.1).abs() < 1e-6);
    assert_eq!(first.stamp, Stamp::from_ros(1_767_225_600, 0));
    assert_ne!(first.rgb, second.rgb, "the sensor's noise differs from frame to frame");
    running.simulator.clock().sleep(Duration::from_secs(2)).await;
    let third = running.next(Some(second.seq)).await;
    assert!(third.seq >= 20, "frames that nobody took are skipped, not queued: {}", third.seq);
    assert!(Arc::ptr_eq(&third, &running.next(Some(third.seq - 1)).await));
    assert_eq!(third.frame_id, "head_camera_optical");
}

#[tokio::test]
async fn a_wait_ends_at_its_deadline() {
    let running = start(1, 64, 48);
    let error = running.simulator.next(Some(500), Duration::from_millis(300)).await.unwrap_err();
    assert_eq!(error, FrameError::TimedOut { waited: Duration::from_millis(300) });
}

#[tokio::test]
async fn every_object_on_the_table_is_seen_where_it_is() {
    let running = start(1, 640, 480);
    let frame = running.next(None).await;
    let truth = running.simulator.truth_of(frame.seq).unwrap();
    let (k, depth) = (frame.intrinsics.unwrap(), frame.depth.as_ref().unwrap());
    let mut seen = 0;
    for object in truth.objects.iter().filter(|object| object.is_graspable) {
        let pixels: Vec<usize> = (0..truth.ids.len()).filter(|&at| truth.ids[at] == object.instance).collect();
        if pixels.len() < 300 {
            continue;
        }
        seen += 1;
        let points = pixels.iter().filter(|&&at| depth.metres[at] > 0.0).map(|&at| {
            let (x, y) = ((at % 640) as f64 + 0.5, (at / 640) as f64 + 0.5);
            let z = f64::from(depth.metres[at]);
            let in_camera = DVec3::new((x - k.cx) / k.fx * z, (y - k.cy) / k.fy * z, z);
            frame.map_from_camera.unwrap().transform_point(in_camera)
        });
        let points: Vec<DVec3> = points.collect();
        let middle = points.iter().sum::<DVec3>() / points.len() as f64;
        let off = middle.distance(object.centre);
        assert!(off < 0.11, "{} is seen {off} m from where it is", object.name);
    }
    assert!(seen >= 12, "only {seen} objects are well in view");
}

#[tokio::test]
async fn the_person_appears_in_the_picture_and_vanishes() {
    let running = start(1, 160, 120);
    let pixels = async |after: Option<u64>| {
        let frame = running.next(after).await;
        let truth = running.simulator.truth_of(frame.seq).unwrap();
        let person = truth.objects.iter().find(|object| object.is_person).map(|object| object.instance);
        let count = truth.ids.iter().filter(|&&id| Some(id) == person).count();
        (frame.seq, count)
    };
    let (seq, before) = pixels(None).await;
    assert_eq!(before, 0);
    running.person(PersonAction::Enter).await;
    running.simulator.clock().sleep(Duration::from_secs(15)).await;
    let (seq, during) = pixels(Some(seq)).await;
    assert!(during > 500, "{during}");
    running.person(PersonAction::Leave).await;
    running.simulator.clock().sleep(Duration::from_secs(15)).await;
    assert_eq!(pixels(Some(seq)).await.1, 0);
}

#[tokio::test]
async fn a_covered_camera_gives_fresh_black_pictures_without_depth() {
    let running = start(1, 64, 48);
    let before = running.next(None).await;
    running.camera(CameraMode::Covered).await;
    let dark = running.next(Some(before.seq)).await;
    assert!(dark.stamp > before.stamp);
    assert!(dark.rgb.data.iter().all(|&value| value < 12));
    assert!(dark.depth.as_ref().unwrap().metres.iter().all(|&depth| depth == 0.0));
    assert!(running.simulator.truth_of(dark.seq).unwrap().ids.iter().all(|&id| id == 0));
    running.camera(CameraMode::Open).await;
    let after = running.next(Some(dark.seq)).await;
    assert!(after.rgb.data.iter().any(|&value| value > 100));
}

#[tokio::test]
async fn the_stamp_of_a_frozen_camera_stands_still() {
    let running = start(1, 64, 48);
    let before = running.next(None).await;
    running.camera(CameraMode::Frozen).await;
    let frozen = running.next(Some(before.seq)).await;
    assert_eq!((frozen.stamp, &frozen.rgb), (before.stamp, &before.rgb));
    assert!(frozen.seq > before.seq);
    running.camera(CameraMode::Open).await;
    assert!(running.next(Some(frozen.seq)).await.stamp > before.stamp);
}

#[tokio::test]
async fn the_truth_of_the_last_eight_frames_is_kept() {
    let running = start(1, 32, 24);
    let mut seq = running.next(None).await.seq;
    for _ in 0..9 {
        seq = running.next(Some(seq)).await.seq;
    }
    assert!(running.simulator.truth_of(seq).is_some() && running.simulator.truth_of(seq - 7).is_some());
    assert!(running.simulator.truth_of(seq - 8).is_none());
}

#[tokio::test]
async fn a_full_queue_refuses_and_a_stopped_simulator_says_so() {
    let running = start(1, 32, 24);
    // The owner's task has not run yet: nothing leaves the queue before the first await that waits.
    let asks: Vec<_> = (0..QUEUE + 3).map(|_| running.simulator.state()).collect();
    let answers = futures_of(asks).await;
    let busy = answers.iter().filter(|answer| matches!(answer, Err(SimError::Busy))).count();
    assert_eq!(busy, 3);
    running.stop.cancel();
    let gone = tokio::time::timeout(Duration::from_secs(20), async {
        loop {
            if let Err(error) = running.simulator.state().await {
                return error;
            }
        }
    });
    assert_eq!(gone.await.unwrap(), SimError::Stopped);
}

async fn futures_of<T>(asks: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut pinned: Vec<_> = asks.into_iter().map(Box::pin).collect();
    let mut answers: Vec<Option<T>> = pinned.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (ask, answer) in pinned.iter_mut().zip(&mut answers) {
            if answer.is_none()
                && let std::task::Poll::Ready(value) = ask.as_mut().poll(context)
            {
                *answer = Some(value);
            }
        }
        if answers.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}

#[tokio::test]
async fn a_placed_object_is_where_the_state_says_after_it_settled() {
    let running = start(1, 32, 24);
    let place = PlaceRequest { object: "coke".into(), on: Some("operator table".into()), ..PlaceRequest::default() };
    let state = running.simulator.command(SceneCommand::Place(place)).await.unwrap();
    assert!(state.moving);
    running.simulator.clock().sleep(Duration::from_secs(5)).await;
    let state = running.simulator.state().await.unwrap();
    assert!(!state.moving);
    let coke = state.objects.iter().find(|object| object.name == "coke").unwrap();
    assert_eq!(coke.on.as_deref(), Some("operator table"));
    assert!((coke.z - 0.611).abs() < 0.004, "{}", coke.z);
}
