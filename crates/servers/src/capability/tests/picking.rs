use cerebellum_core::{Grasp, Motion, MotionDone, Pose, Region};
use glam::DVec3;

use super::*;

fn grasp(stamp: Option<f64>, frame: &str) -> Value {
    let mut grasp = json!({"x": 0.6, "y": 0.1, "z": 0.75, "frame": frame, "roll_deg": 0, "pitch_deg": 90, "yaw_deg": 0,
        "width_m": 0.066});
    if let Some(stamp) = stamp {
        grasp["stamp"] = json!(stamp);
    }
    grasp
}

fn fresh() -> Value {
    json!({"target": "red can", "grasp": grasp(Some(NOW), "map"), "side": "right"})
}

fn picked(rig: &Rig) -> Grasp {
    let motion = rig.robot.runs().last().unwrap().motion.clone();
    let Motion::Pick { grasp, .. } = motion else { panic!("{motion:?}") };
    grasp
}

#[tokio::test]
async fn what_is_picked_is_carried_until_it_is_placed() {
    let rig = rig();
    let picked = rig.call("pick", fresh()).await;
    assert_eq!(picked, json!({"ok": true, "held": true, "side": "right", "label": "red can"}));
    let arms = &rig.call("get_state", json!({})).await["arms"];
    assert_eq!(arms["right"], json!({"held": true, "object": "red can"}));
    assert_eq!(arms["left"], json!({"held": false}));
    let placed = rig.call("place", json!({"pose": {"x": 1.5, "y": 1, "z": 0.72}})).await;
    assert_eq!(placed, json!({"ok": true, "side": "right", "x": 1.5, "y": 1.0, "z": 0.72, "label": "red can"}));
    assert_eq!(rig.call("get_state", json!({})).await["arms"]["right"], json!({"held": false}));
}

#[tokio::test]
async fn held_is_true_only_if_the_gripper_measures_it() {
    let cases: [(Option<bool>, Option<bool>, bool); 6] = [
        (Some(true), Some(true), true),
        (None, Some(true), true),
        (Some(true), Some(false), false),
        (Some(false), Some(true), false),
        (Some(false), Some(false), false),
        (None, None, false),
    ];
    for (answered, measured, expected) in cases {
        let rig = rig();
        let done = MotionDone { held: answered, ..MotionDone::default() };
        rig.robot.play(Play::Answer(Duration::from_secs(1), Ok(done)));
        let call = rig.spawn("pick", fresh(), context());
        rig.robot.until(|runs| !runs.is_empty()).await;
        rig.robot.hold(Side::Right, measured);
        rig.clock.advance(Duration::from_secs(1));
        let answer = call.await.unwrap();
        assert_eq!(answer["held"], expected, "{answered:?} {measured:?}: {answer}");
        assert_eq!(answer["ok"], expected, "{answer}");
        if !expected {
            assert_eq!(answer["error"]["code"], "not_held");
            assert_eq!(rig.call("get_state", json!({})).await["arms"]["right"].get("object"), None);
        }
    }
}

#[tokio::test]
async fn a_full_hand_picks_nothing_and_an_empty_one_places_nothing() {
    let rig = rig();
    rig.robot.hold(Side::Right, Some(true));
    assert_eq!(rig.no("pick", fresh(), "hand_full").await["held"], false);
    let place = |side: Value| json!({"pose": {"x": 1.5, "y": 1, "z": 0.72}, "side": side});
    rig.no("place", place(json!("left")), "hand_empty").await;
    rig.robot.hold(Side::Left, Some(true));
    assert_eq!(rig.no("place", place(Value::Null), "which_side").await["known"], json!(["left", "right"]));
    rig.no("pick", json!({"grasp": grasp(Some(NOW), "map")}), "hand_full").await;
    rig.robot.hold(Side::Left, Some(false));
    rig.robot.hold(Side::Right, Some(false));
    rig.no("place", place(Value::Null), "hand_empty").await;
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn without_a_side_the_free_hand_is_taken() {
    let rig = rig();
    rig.robot.hold(Side::Left, Some(true));
    assert_eq!(rig.call("pick", json!({"grasp": grasp(Some(NOW), "map")})).await["side"], "right");
    let rig = super::rig();
    rig.robot.reaches(Some(Reach { side: Side::Right, is_reachable: true, reason: None }));
    assert_eq!(rig.call("pick", json!({"grasp": grasp(Some(NOW), "map")})).await["side"], "right");
}

#[tokio::test]
async fn a_target_alone_needs_somebody_who_can_look() {
    let rig = rig();
    let answer = rig.no("pick", json!({"target": "red can"}), "no_grasp").await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("grasp is missing"), "{answer}");
    rig.no("pick", json!({}), "bad_arguments").await;
    rig.no("go_to_stance", json!({"target": "red can"}), "no_locate").await;
    rig.no("place", json!({}), "bad_arguments").await;
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn a_fresh_grasp_says_nothing_and_an_old_one_says_so() {
    let rig = rig();
    rig.clock.advance(Duration::from_secs(10));
    assert_eq!(rig.call("pick", fresh()).await.get("reason"), None);
    let rig = super::rig();
    rig.clock.advance(Duration::from_secs(14));
    let answer = rig.call("pick", fresh()).await;
    assert!(answer["reason"].as_str().unwrap().contains("14 s old"), "{answer}");
    assert_eq!(rig.robot.runs().len(), 1, "one closing of the fingers");
}

#[tokio::test]
async fn a_grasp_from_before_the_base_moved_is_transformed() {
    let rig = rig();
    rig.robot.put(PlanarPose::new(1.0, 0.0, 0.0));
    let measured = NOW;
    rig.clock.advance(Duration::from_secs(1));
    rig.call("drive_by", json!({"distance_m": 0.5})).await;
    rig.clock.advance(Duration::from_secs(1));
    let answer = rig.call("pick", json!({"grasp": grasp(Some(measured), "base_link"), "side": "left"})).await;
    assert!(answer["reason"].as_str().unwrap().contains("was transformed"), "{answer}");
    assert!(picked(&rig).tip.translation.distance(DVec3::new(1.6, 0.1, 0.75)) < 1e-9, "{:?}", picked(&rig));
    let answer = rig.call("pick", json!({"grasp": grasp(Some(measured), "map"), "side": "right"})).await;
    assert!(answer["reason"].as_str().unwrap().contains("before the base moved"), "{answer}");
    assert!(picked(&rig).tip.translation.distance(DVec3::new(0.6, 0.1, 0.75)) < 1e-9);
}

#[tokio::test]
async fn a_grasp_measured_while_the_base_moved_is_refused() {
    let rig = rig();
    rig.robot.play(Play::Late(Duration::from_secs(4)));
    let call = rig.spawn("drive_by", json!({"distance_m": 0.5}), context());
    drive(&rig, call, Duration::from_millis(500)).await;
    rig.no("pick", json!({"grasp": grasp(Some(NOW + 2.0), "base_link"), "side": "left"}), "grasp_stale").await;
}

#[tokio::test]
async fn a_grasp_of_the_base_is_told_in_map() {
    let rig = rig();
    rig.robot.put(PlanarPose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2));
    rig.call("pick", json!({"grasp": grasp(Some(NOW), "base_link"), "side": "left"})).await;
    let grasp = picked(&rig);
    assert!(grasp.tip.translation.distance(DVec3::new(0.9, 2.6, 0.75)) < 1e-9, "{grasp:?}");
    assert!((grasp.tip.rotation * DVec3::X).distance(DVec3::NEG_Z) < 1e-9, "the fingers point down");
    assert_eq!(grasp.width_m, 0.066);
}

#[tokio::test]
async fn a_pose_must_lie_on_the_surface_that_is_named_with_it() {
    let rig = rig();
    rig.robot.hold(Side::Left, Some(true));
    let place = |x: f64, z: f64| json!({"surface": "kitchen table", "pose": {"x": x, "y": 1.0, "z": z}});
    rig.no("place", place(0.5, 0.72), "not_on_surface").await;
    rig.no("place", place(1.5, 0.4), "not_on_surface").await;
    let unknown =
        rig.no("place", json!({"surface": "moon", "pose": {"x": 1.5, "y": 1, "z": 0.72}}), "unknown_surface").await;
    assert_eq!(unknown["known"], json!(["Kitchen Table"]));
    assert_eq!(rig.robot.runs(), []);
    assert_eq!(rig.call("place", place(1.5, 0.72)).await["ok"], true);
}

#[tokio::test]
async fn a_surface_alone_gets_the_nearest_spot_that_the_arm_reaches() {
    let rig = rig();
    rig.robot.hold(Side::Left, Some(true));
    rig.robot.reaches(Some(Reach { side: Side::Left, is_reachable: false, reason: None }));
    rig.no("place", json!({"surface": "kitchen table"}), "unreachable").await;
    rig.robot.reaches(None);
    let answer = rig.call("place", json!({"surface": "kitchen table"})).await;
    assert_eq!((&answer["ok"], &answer["z"]), (&json!(true), &json!(0.72)), "{answer}");
    let (x, y) = (answer["x"].as_f64().unwrap(), answer["y"].as_f64().unwrap());
    assert!((1.1..1.5).contains(&x) && (0.6..1.0).contains(&y), "{answer}");
}

#[tokio::test]
async fn a_thing_that_stays_in_the_fingers_was_not_placed() {
    let rig = rig();
    rig.call("pick", fresh()).await;
    rig.robot.play(Play::Answer(Duration::ZERO, Ok(MotionDone::default())));
    rig.no("place", json!({"pose": {"x": 1.5, "y": 1, "z": 0.72}}), "still_held").await;
    assert_eq!(rig.call("get_state", json!({})).await["arms"]["right"]["object"], "red can");
}

#[tokio::test]
async fn opening_a_gripper_forgets_what_it_carried() {
    let rig = rig();
    rig.call("pick", fresh()).await;
    rig.call("goto_named", json!({"group": "right_gripper", "state": "open"})).await;
    rig.robot.hold(Side::Right, None);
    assert_eq!(rig.call("get_state", json!({})).await["arms"]["right"], json!({}));
}

#[tokio::test]
async fn somebody_who_can_look_is_asked_when_the_grasp_is_missing() {
    struct Looks;
    #[async_trait::async_trait]
    impl Locate for Looks {
        async fn thing(&self, name: &str) -> Result<Located, LocateError> {
            Err(LocateError::NotFound { reason: format!("no {name} is in view") })
        }
        async fn grasp(&self, _name: &str, _side: Option<Side>) -> Result<(Side, Grasp), LocateError> {
            let tip = Pose::new(DVec3::new(1.0, 0.0, 0.8), glam::DQuat::IDENTITY);
            Ok((Side::Right, Grasp { tip, width_m: 0.05, stamp: Stamp::ZERO }))
        }
        async fn spot(&self, _surface: &str) -> Result<Pose, LocateError> {
            Err(LocateError::Unreachable { reason: "nothing is free".to_owned() })
        }
    }
    let mut rig = rig();
    let ports = Ports { locate: Some(Arc::new(Looks)), ..rig.server.ports.clone() };
    rig.server = Arc::new(Server::new(ports, rig.server.config.clone()).unwrap());
    assert_eq!(rig.call("pick", json!({"target": "red can"})).await["side"], "right");
    assert_eq!(picked(&rig).tip.translation, DVec3::new(1.0, 0.0, 0.8));
    rig.no("go_to_stance", json!({"target": "blue can"}), "not_found").await;
    rig.no("place", json!({"surface": "kitchen table"}), "unreachable").await;
}

#[tokio::test]
async fn what_cannot_be_stood_on_is_no_surface() {
    let rig = rig();
    rig.robot.hold(Side::Left, Some(true));
    rig.robot.edit_map(|map| {
        map.furniture.push(Region { name: "wall".to_owned(), outline: Vec::new(), surface_height: None });
    });
    rig.no("place", json!({"surface": "wall"}), "unknown_surface").await;
}

#[tokio::test]
async fn a_measurement_from_before_the_fingers_closed_counts_for_nothing() {
    let rig = rig();
    rig.robot.play(Play::Answer(Duration::from_secs(1), Ok(MotionDone { held: Some(true), ..MotionDone::default() })));
    let call = rig.spawn("pick", fresh(), context());
    rig.robot.until(|runs| !runs.is_empty()).await;
    // The old state, of an empty hand, is all that comes.
    rig.robot.freezes_at(Some(Stamp::from_secs_f64(NOW)));
    let answer = drive(&rig, call, Duration::from_millis(100)).await;
    assert_eq!(answer["held"], true, "{answer}");
}
