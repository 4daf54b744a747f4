use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use cerebellum_core::{EngineError, FrameError};
use cerebellum_testkit::engine::one_thing;
use cerebellum_testkit::frames::sized_frame;

use super::*;

/// Lets one period after the other pass until the skill's error fits.
async fn until_error(lab: &Lab, fits: impl Fn(&str) -> bool) {
    within(async {
        loop {
            lab.clock.sleepers(1).await;
            if fits(&lab.error("a").await) {
                return;
            }
            lab.clock.advance(HALF_SECOND);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_frozen_camera_is_reported_as_that_until_it_moves() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    lab.detections("a", 1).await;
    lab.frames.freeze();
    until_error(&lab, |error| error.contains("frozen")).await;
    let published = lab.stamps("a").len();
    until_error(&lab, |error| error.contains("6.")).await;
    assert_eq!(lab.stamps("a").len(), published, "a frozen picture is not published on and on");
    lab.frames.thaw();
    until_error(&lab, str::is_empty).await;
}

#[tokio::test]
async fn a_silent_camera_is_reported_until_it_speaks() {
    let lab = Lab::new();
    lab.frames.silence(true);
    lab.create(&skill("a")).await;
    until_error(&lab, |error| error.contains("no new picture within 2 s")).await;
    lab.frames.silence(false);
    until_error(&lab, str::is_empty).await;
    assert_eq!(lab.engine.looks() as usize, lab.stamps("a").len());
}

#[tokio::test]
async fn a_camera_that_fails_or_sends_an_empty_picture_is_reported() {
    let lab = Lab::new();
    lab.frames.fail(Some(FrameError::Unavailable { reason: "no device /dev/video0".into() }));
    lab.create(&skill("a")).await;
    until_error(&lab, |error| error == "camera: no device /dev/video0").await;
    lab.frames.fail(None);
    lab.frames.push(sized_frame(1_000, START, 0, 0));
    until_error(&lab, |error| error.contains("empty")).await;
    assert_eq!(lab.engine.looks(), 0);
}

#[tokio::test]
async fn an_engine_that_fails_is_reported_until_it_succeeds() {
    let broken = Arc::new(AtomicBool::new(true));
    let engine = FakeEngine::answering({
        let broken = broken.clone();
        move |skill, frame| {
            if broken.load(Ordering::SeqCst) {
                return Err(EngineError::Missing { what: "depth".into() });
            }
            Ok(one_thing(skill, frame))
        }
    });
    let lab = Lab::with(engine, NodeConfig::default());
    lab.create(&skill("a")).await;
    until_error(&lab, |error| error.starts_with("engine fake") && error.contains("depth")).await;
    assert!(lab.stamps("a").is_empty());
    broken.store(false, Ordering::SeqCst);
    until_error(&lab, str::is_empty).await;
}

#[tokio::test]
async fn an_engine_that_is_busy_is_left_alone_as_long_as_it_asks() {
    let engine = FakeEngine::answering(|_, _| {
        Err(EngineError::Busy { retry_after: Duration::from_secs(3), reason: "quota".into() })
    });
    let lab = Lab::with(engine, NodeConfig::default());
    lab.create(&skill("a")).await;
    until_error(&lab, |error| error.contains("quota")).await;
    for _ in 0..5 {
        lab.pass(1, HALF_SECOND).await;
    }
    assert_eq!(lab.engine.looks(), 1);
    lab.pass(1, HALF_SECOND).await;
    until(async || lab.engine.looks() == 2).await;
}

#[tokio::test]
async fn an_engine_that_crashes_is_started_anew() {
    let looks = AtomicU64::new(0);
    let engine = FakeEngine::answering(move |skill, frame| {
        assert!(looks.fetch_add(1, Ordering::SeqCst) > 0, "the first look crashes");
        Ok(one_thing(skill, frame))
    });
    let lab = Lab::with(engine, NodeConfig::default());
    lab.create(&skill("a")).await;
    until_error(&lab, |error| error.contains("crashed")).await;
    lab.clock.advance(HALF_SECOND);
    until_error(&lab, str::is_empty).await;
    assert_eq!(lab.engine.prepared(), 2);
}

#[tokio::test]
async fn a_look_past_its_deadline_is_given_up_and_reported() {
    let config = NodeConfig { look_deadline: Duration::from_millis(20), ..NodeConfig::default() };
    let lab = Lab::with(FakeEngine::new(), config);
    lab.engine.hold();
    lab.create(&skill("a")).await;
    until_error(&lab, |error| error.contains("no answer for a picture within 0.02 s")).await;
    lab.engine.release();
    lab.clock.advance(HALF_SECOND);
    until_error(&lab, str::is_empty).await;
}

#[tokio::test]
async fn what_cannot_be_published_is_left_out_and_reported() {
    let engine = FakeEngine::answering(|skill, frame| {
        let mut look = one_thing(skill, frame);
        let mut nonsense = look.detections[0].clone();
        nonsense.detection.score = f32::NAN;
        look.detections.push(nonsense);
        Ok(look)
    });
    let lab = Lab::with(engine, NodeConfig::default());
    lab.create(&skill("a")).await;
    let Published::Detections(frame) = lab.streams.wait_for("/vision/a/detections", 1).await.remove(0) else {
        panic!()
    };
    assert_eq!(frame.detections.len(), 1);
    until_error(&lab, |error| error.contains("score that is no number")).await;
}
