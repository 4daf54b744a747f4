use super::*;

fn cancellable() -> (CallContext, CancellationToken) {
    let context = context();
    let cancel = context.cancelled.clone();
    (context, cancel)
}

#[tokio::test]
async fn a_second_motion_is_refused_and_names_the_first() {
    let rig = rig();
    rig.robot.play(Play::Hang);
    let (context, cancel) = cancellable();
    let first = rig.spawn(
        "turn_by",
        json!({"degrees": 90}),
        CallContext { caller: Caller { name: "page".into(), ..Caller::default() }, ..context },
    );
    rig.robot.until(|runs| runs.len() == 1).await;
    let busy = rig.no("drive_by", json!({"distance_m": 1}), "busy").await;
    assert_eq!(busy["running"], json!({"tool": "turn_by", "since": NOW}));
    assert_eq!(busy["held_by"], "page");
    assert_eq!(rig.call("get_state", json!({})).await["motion"], json!({"tool": "turn_by", "since": NOW}));
    assert_eq!(rig.call("get_pose", json!({})).await["ok"], true, "looking works meanwhile");
    cancel.cancel();
    first.await.unwrap();
    assert_eq!(rig.call("drive_by", json!({"distance_m": 1})).await["ok"], true);
}

#[tokio::test]
async fn who_holds_the_robot_is_named_and_keeps_it_between_calls() {
    let rig = rig();
    let mission = || called_by("brain", json!({"cerebellum/holder": "mission 7"}));
    let turn = async |context: CallContext| {
        call_with(rig.server.as_ref(), "turn_by", &json!({"degrees": 10}), &context).await.0
    };
    assert_eq!(turn(mission()).await["ok"], true);
    let refused = turn(called_by("jog", json!({}))).await;
    assert_eq!((&refused["error"]["code"], &refused["held_by"]), (&json!("busy"), &json!("mission 7")));
    assert_eq!(refused["since"], NOW);
    assert_eq!(turn(mission()).await["ok"], true);
    assert_eq!(rig.call("stop", json!({})).await["stopped"], true, "stopping needs no lease");
    cerebellum_core::Safety::resume(rig.robot.as_ref(), "test").await.unwrap();
    rig.clock.advance(super::super::drive::KEEP);
    assert_eq!(turn(called_by("jog", json!({}))).await["ok"], true);
    assert_eq!(turn(called_by("page", json!({}))).await["ok"], true, "a call without a holder keeps nothing");
}

#[tokio::test]
async fn a_lease_that_was_taken_elsewhere_refuses_motion() {
    let rig = rig();
    rig.lease.take("operator page", Some("jog"), Duration::from_secs(5)).unwrap();
    let busy = rig.no("turn_by", json!({"degrees": 10}), "busy").await;
    assert_eq!((&busy["held_by"], &busy["running"]["tool"]), (&json!("operator page"), &json!("jog")));
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn progress_comes_at_once_and_every_five_seconds_at_least() {
    let rig = rig();
    let told = Arc::new(Mutex::new(Vec::new()));
    rig.robot.play(Play::Late(Duration::from_secs(61)));
    let context = CallContext { progress: Box::new(Told(told.clone())), ..context() };
    let call = rig.spawn("navigate_to", json!({"x": 1, "y": 0, "yaw_deg": 0}), context);
    assert_eq!(drive(&rig, call, Duration::from_millis(250)).await["ok"], true);
    let told = told.lock().unwrap();
    assert_eq!(told[0].0, 0.0);
    assert!(told.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[1].0 - pair[0].0 <= 5.0), "{told:?}");
    assert!(told.last().unwrap().0 >= 56.0);
}

#[tokio::test]
async fn cancelling_drops_the_motion_at_once_and_answers_when_the_robot_stands() {
    let rig = rig();
    rig.robot.play(Play::Hang);
    rig.robot.brakes_for(Duration::from_millis(250));
    let (context, cancel) = cancellable();
    let call = rig.spawn("navigate_to", json!({"x": 1, "y": 0, "yaw_deg": 0}), context);
    rig.robot.until(|runs| runs.len() == 1).await;
    cancel.cancel();
    // No time passes on any clock before the motion is dropped.
    rig.robot.until(|runs| runs[0].ended == Some(Ended::Dropped)).await;
    settle().await;
    assert!(!call.is_finished(), "the robot still brakes");
    let answer = drive(&rig, call, Duration::from_millis(10)).await;
    assert_eq!((&answer["ok"], &answer["error"]["code"]), (&json!(false), &json!("cancelled")));
    assert_eq!((&answer["x"], &answer["yaw_deg"], &answer["stood_still"]), (&json!(0.0), &json!(0.0), &json!(true)));
    let after = cerebellum_core::Clock::now(rig.clock.as_ref()).secs_since(Stamp::from_secs_f64(NOW));
    assert!((0.25..0.3).contains(&after), "answered after {after} s");
    assert_eq!(rig.lease.holder(), None);
}

#[tokio::test]
async fn a_robot_that_is_not_measured_to_stand_is_not_said_to() {
    let rig = rig();
    for frozen in [false, true] {
        rig.robot.play(Play::Hang);
        rig.robot.brakes_for(if frozen { Duration::ZERO } else { Duration::from_secs(60) });
        let (context, cancel) = cancellable();
        let call = rig.spawn("turn_by", json!({"degrees": 90}), context);
        rig.robot.until(|runs| runs.iter().any(|run| run.ended.is_none())).await;
        if frozen {
            rig.robot.freezes_at(Some(Stamp::from_secs_f64(NOW)));
            rig.clock.advance(Duration::from_millis(1));
        }
        cancel.cancel();
        let answer = drive(&rig, call, Duration::from_millis(50)).await;
        assert_eq!((&answer["error"]["code"], &answer["stood_still"]), (&json!("cancelled"), &json!(false)));
        rig.clock.advance(Duration::from_secs(60));
    }
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_moves_nothing() {
    let rig = rig();
    let (context, cancel) = cancellable();
    cancel.cancel();
    let (answer, _) = call_with(rig.server.as_ref(), "turn_by", &json!({"degrees": 90}), &context).await;
    assert_eq!(answer["error"]["code"], "cancelled");
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn what_a_motion_came_to_is_told_truthfully() {
    let cases: [(MotionFailure, &str, &str, Value); 8] = [
        (MotionFailure::Blocked { by: "a person".into() }, "blocked", "blocked_by", json!("a person")),
        (MotionFailure::Unreachable { reason: "a wall".into() }, "unreachable", "x", json!(0.0)),
        (MotionFailure::Failed { reason: "it slipped".into() }, "not_done", "x", json!(0.0)),
        (MotionFailure::Stopped { by: Some("Kim".into()) }, "stopped", "by", json!("Kim")),
        (
            MotionFailure::Refused { rule: "keep_out".into(), reason: "stairs".into() },
            "refused",
            "limit",
            json!("keep_out"),
        ),
        (MotionFailure::Expired, "expired", "x", json!(0.0)),
        (MotionFailure::Lost { reason: "no link".into() }, "robot_unavailable", "x", json!(0.0)),
        (
            MotionFailure::Busy { running: RunningMotion { name: "jog".into(), since: Stamp::from_secs_f64(5.0) } },
            "busy",
            "running",
            json!({"tool": "jog", "since": 5.0}),
        ),
    ];
    for (failure, code, field, value) in cases {
        let rig = rig();
        rig.robot.play(Play::Answer(Duration::ZERO, Err(failure)));
        assert_eq!(rig.no("drive_by", json!({"distance_m": 1}), code).await[field], value, "{code}");
    }
}

#[tokio::test]
async fn arriving_is_measured_not_believed() {
    let rig = rig();
    rig.robot.play(Play::Answer(Duration::ZERO, Ok(cerebellum_core::MotionDone::default())));
    let answer = rig.no("navigate_to", json!({"x": 1, "y": 0, "yaw_deg": 0}), "not_there").await;
    assert_eq!(answer["x"], 0.0);
    rig.robot.play(Play::Answer(Duration::ZERO, Ok(cerebellum_core::MotionDone::default())));
    rig.no("turn_by", json!({"degrees": 10}), "not_measured").await;
}

#[tokio::test]
async fn a_stop_is_confirmed_only_by_measurement_and_latches() {
    let rig = rig();
    rig.robot.play(Play::Hang);
    let call = rig.spawn("turn_by", json!({"degrees": 90}), context());
    rig.robot.until(|runs| runs.len() == 1).await;
    let stopped = rig.call("stop", json!({})).await;
    assert_eq!(stopped, json!({"ok": true, "stopped": true, "speed_mps": 0.0, "latched": true}));
    assert_eq!(call.await.unwrap()["error"]["code"], "stopped");
    rig.no("turn_by", json!({"degrees": 1}), "stopped").await;
    let ill = rig.no("robot_state", json!({}), "robot_issue").await;
    assert!(ill["issue"].as_str().unwrap().contains("stopped"), "{ill}");
    rig.robot.stops_with(Some(Ok(StopReport { is_stopped: false, speed_mps: 0.21 })));
    let answer = rig.no("stop", json!({}), "stop_not_confirmed").await;
    assert_eq!((&answer["stopped"], &answer["speed_mps"]), (&json!(false), &json!(0.21)));
    rig.robot.go_away(Some("the link is down"));
    rig.no("stop", json!({}), "robot_unavailable").await;
}

#[tokio::test]
async fn what_is_wrong_with_the_robot_is_said() {
    let rig = rig();
    assert_eq!(rig.call("robot_state", json!({})).await["issue"], "");
    rig.robot.edit(|state| state.issue = Some("left wrist overloaded".to_owned()));
    let ill = rig.no("robot_state", json!({}), "robot_issue").await;
    assert_eq!(ill["issue"], "left wrist overloaded");
}

#[tokio::test]
async fn the_same_key_answers_again_and_never_runs_twice() {
    let rig = rig();
    let call_it = async |server: &Server, given: Value| {
        let context = called_by("brain", json!({"cerebellum/call": "m1-s3"}));
        call_with(server, "drive_by", &given, &context).await.0
    };
    let first = call_it(&rig.server, json!({"distance_m": 0.5})).await;
    assert_eq!(first["moved"], 0.5);
    assert_eq!(call_it(&rig.server, json!({"distance_m": 0.5})).await, first);
    let restarted = server(&rig.clock, &rig.robot, &rig.lease, rig.folder.path(), |_| {}).unwrap();
    assert_eq!(call_it(&restarted, json!({"distance_m": 0.5})).await, first);
    assert_eq!(call_it(&restarted, json!({"distance_m": 0.7})).await["error"]["code"], "bad_arguments");
    assert_eq!(rig.robot.runs().len(), 1);
}

#[tokio::test]
async fn a_call_in_whose_middle_the_server_ended_is_in_doubt() {
    let rig = rig();
    rig.robot.play(Play::Hang);
    let context = || called_by("brain", json!({"cerebellum/call": "m1-s3"}));
    let call = rig.spawn("drive_by", json!({"distance_m": 0.5}), context());
    rig.robot.until(|runs| runs.len() == 1).await;
    let restarted = server(&rig.clock, &rig.robot, &rig.lease, rig.folder.path(), |_| {}).unwrap();
    let answer = call_with(&restarted, "drive_by", &json!({"distance_m": 0.5}), &context()).await.0;
    assert_eq!((&answer["error"]["code"], &answer["in_doubt"]), (&json!("outcome_unknown"), &json!(true)));
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(rig.robot.runs()[0].ended, Some(Ended::Dropped));
    let answer = call_with(rig.server.as_ref(), "drive_by", &json!({"distance_m": 0.5}), &context()).await.0;
    assert_eq!(answer["error"]["code"], "outcome_unknown");
    assert_eq!(rig.call("drive_by", json!({"distance_m": 0.5})).await["ok"], true, "the robot is free again");
}

#[tokio::test]
async fn stopping_with_a_key_stops_each_time() {
    let rig = rig();
    for _ in 0..2 {
        let context = called_by("brain", json!({"cerebellum/call": "stop-1"}));
        assert_eq!(call_with(rig.server.as_ref(), "stop", &json!({}), &context).await.0["stopped"], true);
        cerebellum_core::Safety::resume(rig.robot.as_ref(), "test").await.unwrap();
    }
}

#[tokio::test]
async fn a_robot_that_does_not_answer_is_said_so() {
    let rig = rig();
    rig.robot.go_away(Some("nobody answers on /odom"));
    for tool in ["get_pose", "get_state", "robot_state"] {
        let answer = rig.no(tool, json!({}), "robot_unavailable").await;
        assert!(answer["error"]["message"].as_str().unwrap().contains("/odom"), "{answer}");
    }
    assert_ne!(rig.server.readiness().await, cerebellum_mcp::Readiness::Ready);
}

#[tokio::test]
async fn forgetting_obstacles_and_touching_are_passed_on() {
    let rig = rig();
    rig.call("clear_octomap", json!({})).await;
    rig.call("allow_gripper_touch", json!({"target": " drawer "})).await;
    rig.call("allow_gripper_touch", json!({"allow": false})).await;
    assert_eq!((rig.robot.cleared(), rig.robot.touches()), (1, vec![(Some("drawer".into()), true), (None, false)]));
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn what_callers_call_themselves_is_short_and_hides_nothing() {
    let rig = rig();
    let name = format!("{}\n\u{202e}{}", "m", "x".repeat(500));
    let context = called_by("brain", json!({"cerebellum/holder": name}));
    call_with(rig.server.as_ref(), "turn_by", &json!({"degrees": 10}), &context).await;
    let holder = rig.lease.holder().unwrap().holder;
    assert!(holder.starts_with("m  xx") && holder.chars().count() <= 81, "{holder:?}");
}
