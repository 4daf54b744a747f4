use cerebellum_core::Stamp;
use proptest::prelude::*;

use super::*;

fn same<T: Words + PartialEq + std::fmt::Debug>(word: &T) -> Result<(), TestCaseError> {
    prop_assert_eq!(&T::from_value(&word.to_value()).unwrap(), word);
    // Text costs the last bit of a number at most, so the text of what was read is looked at again.
    let text = to_string(word);
    let again: T = from_str(&text).unwrap();
    let text_again = to_string(&again);
    prop_assert!(text.len().abs_diff(text_again.len()) <= 8 * (1 + text.matches('.').count()), "{}", text);
    Ok(())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("equal to itself", |number| !number.is_nan()), -10.0..10.0_f64]
}

fn text() -> impl Strategy<Value = String> {
    any::<String>()
}

fn maybe<T: std::fmt::Debug + 'static>(inner: impl Strategy<Value = T> + 'static) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(inner)
}

fn place() -> impl Strategy<Value = PlanarPose> {
    (number(), number(), number()).prop_map(|(x, y, yaw)| PlanarPose { x, y, yaw })
}

fn vector() -> impl Strategy<Value = DVec3> {
    [number(), number(), number()].prop_map(DVec3::from_array)
}

fn pose() -> impl Strategy<Value = Pose> {
    let turn = [-3.0..3.0_f64, -1.5..1.5, -3.0..3.0]
        .prop_map(|[yaw, pitch, roll]| DQuat::from_euler(glam::EulerRot::ZYX, yaw, pitch, roll));
    (vector(), turn).prop_map(|(translation, rotation)| Pose { translation, rotation })
}

fn stamp() -> impl Strategy<Value = Stamp> {
    any::<i64>().prop_map(Stamp::from_nanos)
}

fn side() -> impl Strategy<Value = Side> {
    prop_oneof![Just(Side::Left), Just(Side::Right)]
}

fn motion() -> impl Strategy<Value = Motion> {
    let grasp = (pose(), number(), stamp()).prop_map(|(tip, width_m, stamp)| Grasp { tip, width_m, stamp });
    prop_oneof![
        place().prop_map(|goal| Motion::Navigate { goal }),
        number().prop_map(|radians| Motion::Turn { radians }),
        number().prop_map(|metres| Motion::Drive { metres }),
        number().prop_map(|metres| Motion::Strafe { metres }),
        (vector(), maybe(side())).prop_map(|(target, side)| Motion::Stance { target, side }),
        (maybe(side()), vector()).prop_map(|(side, point)| Motion::Reach { side, point }),
        (maybe(side()), vector()).prop_map(|(side, point)| Motion::FineApproach { side, point }),
        (side(), grasp).prop_map(|(side, grasp)| Motion::Pick { side, grasp }),
        (side(), pose()).prop_map(|(side, foot)| Motion::Place { side, foot }),
        (text(), text()).prop_map(|(group, state)| Motion::Posture { group, state }),
    ]
}

fn running() -> impl Strategy<Value = RunningMotion> {
    (text(), stamp()).prop_map(|(name, since)| RunningMotion { name, since })
}

fn failure() -> impl Strategy<Value = MotionFailure> {
    prop_oneof![
        text().prop_map(|what| MotionFailure::Unsupported { what }),
        (text(), text()).prop_map(|(rule, reason)| MotionFailure::Refused { rule, reason }),
        running().prop_map(|running| MotionFailure::Busy { running }),
        maybe(text()).prop_map(|by| MotionFailure::Stopped { by }),
        Just(MotionFailure::Expired),
        text().prop_map(|by| MotionFailure::Blocked { by }),
        text().prop_map(|reason| MotionFailure::Unreachable { reason }),
        text().prop_map(|reason| MotionFailure::Failed { reason }),
        text().prop_map(|reason| MotionFailure::Lost { reason }),
    ]
}

fn done() -> impl Strategy<Value = MotionDone> {
    (maybe(side()), maybe(number()), maybe(any::<bool>()), maybe(vector()), maybe(number()), maybe(text())).prop_map(
        |(side, moved, held, point, distance_m, reason)| MotionDone { side, moved, held, point, distance_m, reason },
    )
}

fn state() -> impl Strategy<Value = RobotState> {
    let base = (place(), [number(), number()], number(), any::<bool>())
        .prop_map(|(pose, velocity, turn_rate, is_moving)| BaseState { pose, velocity, turn_rate, is_moving });
    let hand = (side(), maybe(any::<bool>()), maybe(number()), maybe(text()), maybe(pose()))
        .prop_map(|(side, holds, opening_m, posture, tip)| HandState { side, holds, opening_m, posture, tip });
    let stop = (any::<bool>(), maybe(text()), maybe(stamp()), maybe((text(), stamp())))
        .prop_map(|(is_latched, by, since, resumed)| StopState { is_latched, by, since, resumed });
    let hands = proptest::collection::vec(hand, 0..3);
    let path = proptest::collection::vec([number(), number()], 0..4);
    (stamp(), text(), maybe(base), hands, stop, maybe(running()), path, any::<u64>(), maybe(text())).prop_map(
        |(stamp, frame, base, hands, stop, running, path, map_version, issue)| RobotState {
            stamp,
            frame,
            base,
            hands,
            stop,
            running,
            path,
            map_version,
            issue,
        },
    )
}

fn map() -> impl Strategy<Value = FloorMap> {
    let cells = (0_u32..6, 0_u32..6).prop_flat_map(|(width, height)| {
        (Just((width, height)), proptest::collection::vec(-1_i8..=100, (width * height) as usize))
    });
    let corners = || proptest::collection::vec([number(), number()], 0..4);
    let region = (text(), corners(), maybe(number())).prop_map(|(name, outline, surface_height)| Region {
        name,
        outline,
        surface_height,
    });
    let keep_out = (text(), corners()).prop_map(|(name, outline)| KeepOut { name, outline });
    let regions = proptest::collection::vec(region, 0..3);
    (text(), number(), place(), cells, regions, proptest::collection::vec(keep_out, 0..3), any::<u64>()).prop_map(
        |(id, resolution_m, origin, ((width, height), cells), rooms, keep_outs, version)| FloorMap {
            frame: "map".into(),
            furniture: rooms.clone(),
            id,
            resolution_m,
            origin,
            width,
            height,
            cells,
            rooms,
            keep_outs,
            version,
        },
    )
}

proptest! {
    #[test]
    fn every_word_reads_back_equal(
        motion in motion(),
        outcome in prop_oneof![done().prop_map(Ok), failure().prop_map(Err)],
        state in state(),
        map in map(),
        id in text(),
    ) {
        same(&Request::Start { id: id.clone(), motion })?;
        same(&Reply::Map { map })?;
        let running = vec![MotionNow { id: id.clone(), fraction: Some(0.5), message: id.clone() }];
        same(&Reply::State { state })?;
        same(&Refresh { id: id.clone(), is_wanted: false })?;
        same(&Told { life: id.clone(), running, outcomes: vec![(id, outcome)] })?;
    }

    #[test]
    fn random_text_never_panics(text in any::<String>(), cut in 0_usize..200) {
        drop(from_str::<Request>(&text));
        let whole = to_string(&Request::Start { id: text, motion: Motion::Turn { radians: 1.0 } });
        drop(from_str::<Request>(&whole.chars().take(cut).collect::<String>()));
    }
}

#[test]
fn the_other_requests_and_replies_read_back_equal() {
    let tip = Pose::planar(1.0, 2.0, 0.5);
    for request in [
        Request::Parts,
        Request::State,
        Request::Map,
        Request::Reach { side: None, tip },
        Request::MarkedGoal,
        Request::Limits,
        Request::Cancel { id: "a".into() },
        Request::Stop { by: "a person".into() },
        Request::ClearObstacles,
        Request::AllowTouch { target: None, allow: true },
    ] {
        assert_eq!(from_str::<Request>(&to_string(&request)), Ok(request));
    }
    let parts = Parts {
        base: true,
        arms: vec![Side::Left],
        without: vec!["strafe_by".into()],
        postures: vec![("left_arm".into(), vec!["stowed".into()])],
        ..Parts::default()
    };
    let limits = Limits { workspace: Some([[-1.0, -2.0], [3.0, 4.0]]), ..Limits::default() };
    for reply in [
        Reply::Parts { parts },
        Reply::Reach { reach: Reach { side: Side::Right, is_reachable: false, reason: Some("too far".into()) } },
        Reply::MarkedGoal { goal: Some((PlanarPose::new(1.0, 2.0, 3.0), Stamp::from_nanos(5))) },
        Reply::MarkedGoal { goal: None },
        Reply::Limits { limits },
        Reply::Stopped { report: StopReport { is_stopped: true, speed_mps: 0.0 } },
        Reply::Done,
        Reply::Error { error: RobotError::Unsupported { what: "arm".into() } },
        Reply::Failure { failure: MotionFailure::Stopped { by: None } },
        Reply::BadRequest { reason: "no".into() },
    ] {
        assert_eq!(from_str::<Reply>(&to_string(&reply)), Ok(reply));
    }
}

#[test]
fn numbers_that_json_cannot_say_arrive() {
    for radians in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let read: Motion = from_str(&to_string(&Motion::Turn { radians })).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", Motion::Turn { radians }));
    }
}

#[test]
fn what_is_no_word_is_refused_with_its_place() {
    let fault = |text: &str| from_str::<Request>(text).unwrap_err().to_string();
    assert_eq!(fault("nonsense").split(':').next(), Some("not JSON"));
    assert_eq!(fault("[]"), "expected an object");
    assert!(fault(r#"{"kind":"resume"}"#).starts_with("kind: resume is unknown; known are parts, state, map"));
    assert_eq!(fault(r#"{"kind":"start","id":"a"}"#), "motion: expected an object");
    let turn = r#"{"kind":"start","id":"a","motion":{"kind":"turn_by","radians":"1.5"}}"#;
    assert_eq!(fault(turn), "motion.radians: expected a number");
    let tip = r#"{"kind":"reach","tip":{"translation":[0,0,0],"rotation":[0,0,0,0]}}"#;
    assert_eq!(fault(tip), "tip.rotation: expected a unit quaternion x, y, z, w");
}

#[test]
fn a_map_with_other_cells_than_it_says_is_refused() {
    let map = |width: u64, runs: Value| {
        let origin = PlanarPose::default().to_value();
        let map = json!({"id": "a", "frame": "map", "resolution_m": 0.05, "origin": origin, "width": width, "height": 2,
            "runs": runs, "rooms": [], "furniture": [], "keep_outs": [], "version": 1});
        FloorMap::from_value(&map)
    };
    assert_eq!(map(2, json!([[3, 0], [1, 100]])).unwrap().cells, [0, 0, 0, 100]);
    for (width, runs) in [
        (2, json!([[3, 0]])),
        (2, json!([[u64::MAX, 0]])),
        (2, json!([[4, 101]])),
        (u64::from(u32::MAX), json!([[1, 0]])),
        (2, json!("cells")),
    ] {
        assert!(map(width, runs.clone()).is_err(), "{width} {runs}");
    }
}
