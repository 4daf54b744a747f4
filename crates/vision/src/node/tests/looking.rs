use super::*;

#[tokio::test]
async fn a_skill_looks_at_its_rate() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    for count in 1..5 {
        lab.detections("a", count).await;
        lab.pass(1, HALF_SECOND).await;
    }
    lab.detections("a", 5).await;
    assert_eq!(lab.stamps("a"), [0, 500, 1000, 1500, 2000]);
}

#[tokio::test]
async fn a_faster_skill_looks_more_often_than_a_slow_one() {
    let lab = Lab::new();
    lab.create(&Skill { rate_hz: Some(10.0), ..skill("fast") }).await;
    lab.create(&Skill { rate_hz: Some(1.0), ..skill("slow") }).await;
    for count in 1..21 {
        lab.detections("fast", count).await;
        lab.pass(2, Duration::from_millis(100)).await;
    }
    lab.detections("fast", 21).await;
    lab.detections("slow", 3).await;
    assert_eq!(lab.stamps("slow"), [0, 1000, 2000]);
    assert_eq!(lab.stamps("fast"), (0..21).map(|step| step * 100).collect::<Vec<_>>());
}

#[tokio::test]
async fn skills_due_at_the_same_time_share_a_picture() {
    let lab = Lab::new();
    let names = ["a", "b", "c", "d", "e"];
    for name in names {
        lab.create(&skill(name)).await;
    }
    for count in 1..4 {
        for name in names {
            lab.detections(name, count).await;
        }
        assert_eq!(lab.frames.taken(), count as u64);
        lab.pass(names.len(), HALF_SECOND).await;
    }
}

#[tokio::test]
async fn nobody_asks_the_camera_without_a_skill() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    lab.detections("a", 1).await;
    lab.manage("a", TaskAction::Disable).await;
    let taken = lab.frames.taken();
    for _ in 0..5 {
        lab.clock.advance(HALF_SECOND);
        tokio::task::yield_now().await;
    }
    lab.create(&skill("b")).await;
    lab.detections("b", 1).await;
    assert_eq!(lab.frames.taken(), taken + 1);
}

#[tokio::test]
async fn a_skill_that_wants_one_result_gets_one_and_is_disabled() {
    let lab = Lab::new();
    lab.create(&Skill { once: true, ..with_output("one", "found") }).await;
    lab.detections("one", 1).await;
    until(async || !lab.info("one").await.enabled).await;
    assert!(
        lab.streams.topics().contains(&"/vision/one/detections".to_owned()),
        "the publisher stays, to keep it latched"
    );
    assert_eq!(lab.streams.on("/vision/one/found").len(), 1);

    lab.create(&skill("clock")).await;
    for count in 1..4 {
        lab.detections("clock", count).await;
        lab.pass(1, HALF_SECOND).await;
    }
    assert_eq!(lab.stamps("one"), [0]);
    assert_eq!(lab.manage("one", TaskAction::Enable).await, "enabled one");
    lab.detections("one", 2).await;
    until(async || !lab.info("one").await.enabled).await;
}

#[tokio::test]
async fn outputs_and_detections_carry_the_stamp_and_size_of_their_picture() {
    let lab = Lab::new();
    lab.create(&with_output("a", "found")).await;
    let output = lab.streams.wait_for("/vision/a/found", 1).await.remove(0);
    assert!(matches!(output, Published::Output { stamp: START, value: OutputValue::Boolean(true), .. }), "{output:?}");
    let Published::Detections(frame) = lab.streams.wait_for("/vision/a/detections", 1).await.remove(0) else {
        panic!()
    };
    assert_eq!((frame.image_width, frame.image_height, frame.frame_id.as_str()), (32, 24, "camera_optical"));
    assert!(frame.detections[0].mask.is_some() && frame.detections[0].detection.has_mask);
}

#[tokio::test]
async fn an_overlay_is_drawn_only_when_somebody_reads_it() {
    let lab = Lab::new();
    lab.create(&skill("a")).await;
    lab.detections("a", 1).await;
    within(lab.clock.sleepers(1)).await;
    assert!(lab.streams.on("/vision/a/overlay").is_empty());
    lab.streams.want_overlay(true);
    lab.pass(1, HALF_SECOND).await;
    let overlay = lab.streams.wait_for("/vision/a/overlay", 1).await.remove(0);
    let Published::Overlay { stamp, jpeg, .. } = overlay else { panic!() };
    assert_eq!(stamp, START.plus(HALF_SECOND));
    let picture = image::load_from_memory(&jpeg).unwrap();
    assert_eq!((picture.width(), picture.height()), (32, 24));
}

#[tokio::test]
async fn no_more_pictures_are_looked_at_together_than_there_are_threads() {
    let lab = Lab::with(FakeEngine::new(), NodeConfig { look_threads: 3, ..NodeConfig::default() });
    lab.engine.hold();
    let names: Vec<String> = (0..10).map(|index| format!("s{index}")).collect();
    for name in &names {
        lab.create(&skill(name)).await;
    }
    within(lab.engine.running(3)).await;
    lab.engine.release();
    for name in &names {
        lab.detections(name, 1).await;
    }
    assert_eq!(lab.engine.peak(), 3);
}

#[tokio::test]
async fn a_skill_that_waited_for_its_turn_looks_at_the_newest_picture() {
    let lab = Lab::with(FakeEngine::new(), NodeConfig { look_threads: 1, ..NodeConfig::default() });
    lab.engine.hold();
    lab.create(&skill("first")).await;
    within(lab.engine.running(1)).await;
    lab.create(&skill("waits")).await;
    until(async || lab.frames.taken() == 1).await;
    lab.clock.advance(Duration::from_secs(2));
    lab.create(&skill("late")).await;
    until(async || lab.frames.taken() == 2).await;
    lab.engine.release();
    lab.detections("waits", 1).await;
    assert_eq!(lab.stamps("waits")[0], 2000);
}

#[tokio::test]
async fn sixty_four_skills_run_and_one_more_is_refused() {
    let lab = Lab::new();
    let names: Vec<String> = (0..64).map(|index| format!("s{index}")).collect();
    for name in &names {
        lab.create(&skill(name)).await;
    }
    let refusal = lab.refused(&skill("one_more")).await;
    assert!(refusal.contains("64") && refusal.contains("delete"), "{refusal}");
    for name in &names {
        lab.detections(name, 1).await;
    }
    lab.pass(64, HALF_SECOND).await;
    for name in &names {
        lab.detections(name, 2).await;
        assert_eq!(lab.stamps(name), [0, 500]);
    }
    let listed: Vec<String> = lab.list().await.into_iter().map(|task| task.name).collect();
    assert_eq!(listed, names, "in order of creation");
    lab.manage("s7", TaskAction::Delete).await;
    lab.create(&skill("one_more")).await;
}
