use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    Body, Clock, KeepOut, Limits, Motion, MotionDone, MotionFailure, PlanarPose, Robot, RobotError, Safety, Side, Stamp,
};
use cerebellum_testkit::robot::{Ended, FakeRobot, Play};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::contract::eventually;
use crate::bus::{Qos, RosBus};
use crate::mem::MemBus;
use crate::msg::common::{Header, PoseWithCovariance};
use crate::msg::motion::{Odometry, TfMessage, TransformStamped, TwistWithCovariance};
use crate::msg::nav::{NavigateLayout, PoseStamped};
use crate::msg::robot::{JSON_CALL, JsonReply, JsonRequest};
use crate::msg::std_srvs::{Success, TRIGGER};
use crate::msg::{Message, decode, encode};
use crate::robot::{
    Call, Ros2, Ros2Config, Tool, Velocity, VelocityType, serve_map, serve_nav2, take_velocities, watch_over,
};
use crate::zenoh::RouterRole;
use crate::zenoh::tests::{Program, free_endpoint};

/// Time as tokio counts it: it passes by itself when everybody waits.
struct Paused(tokio::time::Instant);

#[async_trait]
impl Clock for Paused {
    fn now(&self) -> Stamp {
        Stamp::from_secs_f64(1_000.0).plus(self.0.elapsed())
    }
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

/// How often odometry comes, in seconds.
const STEP_S: f64 = 0.02;

/// A base that does what it is told on `/cmd_vel`, and a robot that drives it.
struct Stage {
    /// The robot's end of the bus.
    bus: Arc<dyn RosBus>,
    /// The end of whoever drives it.
    ours: Arc<dyn RosBus>,
    clock: Arc<Paused>,
    velocity: Arc<Mutex<Velocity>>,
    pose: Arc<Mutex<PlanarPose>>,
    is_mute: Arc<AtomicBool>,
    is_stuck: Arc<AtomicBool>,
    commands: Arc<AtomicU64>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Stage {
    fn empty() -> Self {
        let bus: Arc<dyn RosBus> = MemBus::new();
        Self::between(bus.clone(), bus)
    }

    fn between(bus: Arc<dyn RosBus>, ours: Arc<dyn RosBus>) -> Self {
        Self {
            bus,
            ours,
            clock: Arc::new(Paused(tokio::time::Instant::now())),
            velocity: Arc::default(),
            pose: Arc::default(),
            is_mute: Arc::default(),
            is_stuck: Arc::default(),
            commands: Arc::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        }
    }

    async fn with_base(kind: VelocityType) -> Self {
        Self::empty().base(kind).await
    }

    async fn base(self, kind: VelocityType) -> Self {
        let stage = self;
        let (velocity, commands) = (stage.velocity.clone(), stage.commands.clone());
        let drive = move |told: Velocity| {
            commands.fetch_add(1, Ordering::SeqCst);
            *velocity.lock().unwrap() = told;
        };
        let (bus, clock) = (stage.bus.clone(), stage.clock.clone());
        take_velocities(bus, "/cmd_vel", kind, Arc::new(drive), clock, &stage.tasks, stage.stop.clone());
        eventually("the base listens", || stage.bus.graph().unwrap().subscribers.len() == 1).await;
        stage.odometry().await;
        stage
    }

    async fn odometry(&self) {
        let publisher = self.bus.advertise("/odom", &Odometry::TYPE, Qos::STREAM).await.unwrap();
        let (velocity, pose, clock) = (self.velocity.clone(), self.pose.clone(), self.clock.clone());
        let (is_mute, is_stuck) = (self.is_mute.clone(), self.is_stuck.clone());
        let telling = async move {
            loop {
                let told = if is_stuck.load(Ordering::SeqCst) { Velocity::ZERO } else { *velocity.lock().unwrap() };
                let at = {
                    let mut pose = pose.lock().unwrap();
                    let (sin, cos) = pose.yaw.sin_cos();
                    let [forward, left] = told.linear;
                    pose.x += (forward * cos - left * sin) * STEP_S;
                    pose.y += (forward * sin + left * cos) * STEP_S;
                    pose.yaw += told.turn_rate * STEP_S;
                    *pose
                };
                if !is_mute.load(Ordering::SeqCst) {
                    publisher.put(encode(&Odometry {
                        header: Header::new(clock.now(), "odom"),
                        child_frame_id: "base_link",
                        pose: PoseWithCovariance { pose: (&at.to_pose()).into(), ..PoseWithCovariance::default() },
                        twist: TwistWithCovariance { twist: told.to_twist(), ..TwistWithCovariance::default() },
                    }));
                }
                tokio::time::sleep(Duration::from_secs_f64(STEP_S)).await;
            }
        };
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            stop.run_until_cancelled(telling).await;
        });
    }

    async fn robot(&self, config: Ros2Config) -> Arc<Ros2> {
        let robot = Ros2::follow(self.ours.clone(), config, self.clock.clone(), &self.tasks, self.stop.clone());
        eventually("it listens", || {
            self.ours.graph().unwrap().subscribers.iter().any(|endpoint| endpoint.name == "/goal_pose")
        })
        .await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        robot
    }

    fn speed(&self) -> f64 {
        let velocity = *self.velocity.lock().unwrap();
        velocity.linear[0].hypot(velocity.linear[1]) + velocity.turn_rate.abs()
    }

    /// Drives, finds its way and is cancelled, with a robot on the other end.
    async fn drives_and_navigates(&self) {
        let nav2 = self.nav2(NavigateLayout::Worded, &self.stop);
        let robot = self.robot(alone()).await;
        eventually("the robot is known", || {
            let graph = self.ours.graph().unwrap();
            let takes = |name: &str| graph.subscribers.iter().any(|endpoint| endpoint.name == name);
            takes("/cmd_vel") && graph.services.iter().filter(|endpoint| endpoint.name.contains("_action")).count() == 3
        })
        .await;
        while robot.state().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let moved = robot.run(Motion::Drive { metres: 0.2 }, &quiet).await.unwrap().moved.unwrap();
        assert!((moved - 0.2).abs() < 0.05, "{moved}");
        nav2.play(Play::Late(Duration::from_millis(300)));
        assert_eq!(robot.run(to(1.0), &quiet).await, Ok(MotionDone::default()));
        nav2.play(Play::Hang);
        let driving = spawn(&robot, to(2.0));
        nav2.until(|runs| runs.len() == 2).await;
        driving.abort();
        nav2.until(|runs| runs[1].ended == Some(Ended::Dropped)).await;
    }

    fn nav2(&self, layout: NavigateLayout, stop: &CancellationToken) -> Arc<FakeRobot> {
        let robot = Arc::new(FakeRobot::new(self.clock.clone()));
        let (bus, clock) = (self.bus.clone(), self.clock.clone());
        serve_nav2(bus, "/navigate_to_pose", layout, robot.clone(), clock, &self.tasks, stop.clone());
        robot
    }

    fn watchdog(&self) {
        let watching = watch_over(self.bus.clone(), Ros2Config::default(), self.clock.clone(), self.stop.clone());
        self.tasks.spawn(watching);
    }

    async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

fn alone() -> Ros2Config {
    Ros2Config { needs_watchdog: false, holonomic: true, arms: vec![Side::Left], ..Ros2Config::default() }
}

fn quiet(_: Option<f64>, _: &str) {}

fn spawn(robot: &Arc<Ros2>, motion: Motion) -> tokio::task::JoinHandle<Result<MotionDone, MotionFailure>> {
    let robot = Arc::clone(robot);
    tokio::spawn(async move { robot.run(motion, &quiet).await })
}

fn to(x: f64) -> Motion {
    Motion::Navigate { goal: PlanarPose::new(x, 0.0, 0.0) }
}

#[tokio::test(start_paused = true)]
async fn the_base_goes_as_far_as_it_is_told_whichever_velocities_it_takes() {
    for kind in [VelocityType::Twist, VelocityType::Stamped] {
        let stage = Stage::with_base(kind).await;
        let robot = stage.robot(alone()).await;
        for (motion, asked) in [
            (Motion::Drive { metres: 1.0 }, 1.0),
            (Motion::Turn { radians: 3.0 }, 3.0),
            (Motion::Strafe { metres: -0.5 }, -0.5),
            (Motion::Turn { radians: -1.0 }, -1.0),
            (Motion::Drive { metres: -0.3 }, -0.3),
        ] {
            let moved = robot.run(motion.clone(), &quiet).await.unwrap().moved.unwrap();
            assert!((moved - asked).abs() < 0.04, "{motion:?} moved {moved}");
            assert_eq!(stage.speed(), 0.0, "{motion:?}");
        }
        let state = robot.state().await.unwrap();
        assert!(state.frame == "odom" && !state.base.unwrap().is_moving && state.running.is_none());
        stage.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_drive_that_is_dropped_commands_zero_at_once() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let robot = stage.robot(alone()).await;
    let driving = spawn(&robot, Motion::Drive { metres: 2.0 });
    eventually("it drives", || stage.speed() > 0.2).await;
    let busy = robot.run(to(1.0), &quiet).await;
    assert!(matches!(&busy, Err(MotionFailure::Busy { running }) if running.name == "drive_by"), "{busy:?}");
    let before = stage.clock.monotonic();
    driving.abort();
    assert!(driving.await.unwrap_err().is_cancelled());
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!((stage.speed(), stage.clock.monotonic()), (0.0, before));
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_drive_ends_when_odometry_is_silent_or_the_base_makes_no_way() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let robot = stage.robot(alone()).await;
    let driving = spawn(&robot, Motion::Drive { metres: 2.0 });
    eventually("it drives", || stage.speed() > 0.2).await;
    stage.is_mute.store(true, Ordering::SeqCst);
    let outcome = driving.await.unwrap();
    assert!(matches!(&outcome, Err(MotionFailure::Lost { reason }) if reason.contains("/odom")), "{outcome:?}");
    assert!(robot.state().await.unwrap().base.unwrap().is_moving, "what is not measured is not standing");
    let report = robot.stop("a test").await.unwrap();
    assert!(!report.is_stopped, "nothing is measured");
    stage.is_mute.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let refused = robot.run(Motion::Drive { metres: 1.0 }, &quiet).await;
    assert_eq!(refused, Err(MotionFailure::Stopped { by: Some("a test".into()) }));
    assert_eq!(robot.resume("a person").await.unwrap().resumed.unwrap().0, "a person");

    stage.is_stuck.store(true, Ordering::SeqCst);
    let blocked = robot.run(Motion::Drive { metres: 1.0 }, &quiet).await;
    assert!(matches!(blocked, Err(MotionFailure::Blocked { .. })), "{blocked:?}");
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_missing_or_too_much_is_named() {
    let stage = Stage::empty();
    let robot = stage.robot(alone()).await;
    let unknown = robot.state().await;
    assert!(matches!(&unknown, Err(RobotError::Unavailable { reason }) if reason.contains("/odom")), "{unknown:?}");
    let lost = robot.run(to(1.0), &quiet).await;
    assert!(matches!(&lost, Err(MotionFailure::Lost { reason }) if reason.contains("/navigate_to_pose")), "{lost:?}");
    stage.odometry().await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let lost = robot.run(Motion::Drive { metres: 1.0 }, &quiet).await;
    assert!(matches!(&lost, Err(MotionFailure::Lost { reason }) if reason.contains("/cmd_vel")), "{lost:?}");
    for (motion, expected) in [
        (Motion::Drive { metres: 2.1 }, "max_drive_m"),
        (Motion::Turn { radians: -4.0 }, "max_turn"),
        (Motion::Strafe { metres: f64::NAN }, "finite"),
        (to(f64::INFINITY), "finite"),
    ] {
        let refused = robot.run(motion, &quiet).await;
        assert!(matches!(&refused, Err(MotionFailure::Refused { rule, .. }) if rule == expected), "{refused:?}");
    }
    let unsupported = robot.run(Motion::Posture { group: "left_arm".into(), state: "stowed".into() }, &quiet).await;
    assert!(matches!(&unsupported, Err(MotionFailure::Unsupported { what }) if what.contains("robot.tools")));
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_goal_of_nav2_is_reached_cancelled_and_given_up_in_every_layout() {
    for layout in NavigateLayout::ALL {
        let stage = Stage::with_base(VelocityType::Twist).await;
        let nav2 = stage.nav2(layout, &stage.stop);
        let robot = stage.robot(alone()).await;
        let told: Arc<Mutex<Vec<String>>> = Arc::default();
        let into = told.clone();
        let progress = move |_: Option<f64>, message: &str| into.lock().unwrap().push(message.to_owned());
        nav2.play(Play::Late(Duration::from_secs(2)));
        let there = robot.run(to(1.0), &progress).await;
        assert_eq!(there, Ok(MotionDone::default()), "{layout:?}");
        assert!(told.lock().unwrap().iter().all(|message| message.ends_with("m to go")));
        assert!(!told.lock().unwrap().is_empty(), "{layout:?}");

        let blocked = Err(MotionFailure::Blocked { by: "a person".into() });
        nav2.play(Play::Answer(Duration::from_secs(1), blocked));
        let failed = robot.run(to(2.0), &quiet).await.unwrap_err().to_string();
        assert!(failed.contains("gave the goal up"), "{failed}");
        assert_eq!(failed.contains("a person"), layout == NavigateLayout::Worded, "{failed}");

        nav2.play(Play::Hang);
        let driving = spawn(&robot, to(3.0));
        nav2.until(|runs| runs.len() == 3).await;
        driving.abort();
        nav2.until(|runs| runs[2].ended == Some(Ended::Dropped)).await;
        stage.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn nav2_that_dies_or_serves_somebody_else_is_told_truthfully() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let life = CancellationToken::new();
    let nav2 = stage.nav2(NavigateLayout::Worded, &life);
    let (robot, other) = (stage.robot(alone()).await, stage.robot(alone()).await);
    nav2.play(Play::Hang);
    let driving = spawn(&robot, to(1.0));
    nav2.until(|runs| runs.len() == 1).await;
    nav2.play(Play::Hang);
    let second = spawn(&other, to(2.0));
    let outcome = driving.await.unwrap();
    let Err(MotionFailure::Failed { reason }) = &outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("another goal took its place"), "{reason}");
    nav2.until(|runs| runs.len() == 2).await;
    life.cancel();
    let outcome = second.await.unwrap();
    assert!(matches!(outcome, Err(MotionFailure::Lost { .. } | MotionFailure::Failed { .. })), "{outcome:?}");
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_cancels_what_runs_and_is_confirmed_by_odometry() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let nav2 = stage.nav2(NavigateLayout::Worded, &stage.stop);
    let robot = stage.robot(alone()).await;
    nav2.play(Play::Hang);
    let driving = spawn(&robot, to(1.0));
    nav2.until(|runs| runs.len() == 1).await;
    let report = robot.stop("a person").await.unwrap();
    assert!(report.is_stopped && report.speed_mps == 0.0);
    assert_eq!(driving.await.unwrap(), Err(MotionFailure::Stopped { by: Some("a person".into()) }));
    nav2.until(|runs| runs[0].ended == Some(Ended::Dropped)).await;
    assert!(robot.state().await.unwrap().stop.is_latched);
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_watchdog_stops_what_a_frozen_driver_left_running() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let nav2 = stage.nav2(NavigateLayout::Worded, &stage.stop);
    let robot = stage.robot(Ros2Config { needs_watchdog: true, ..alone() }).await;
    let refused = robot.run(to(1.0), &quiet).await;
    assert!(matches!(&refused, Err(MotionFailure::Refused { rule, .. }) if rule == "needs_watchdog"), "{refused:?}");

    stage.watchdog();
    nav2.play(Play::Late(Duration::from_secs(5)));
    assert_eq!(robot.run(to(1.0), &quiet).await, Ok(MotionDone::default()), "who is heard is let drive");
    nav2.play(Play::Hang);
    let mut driving = Box::pin(robot.run(to(2.0), &quiet));
    tokio::select! {
        outcome = &mut driving => panic!("{outcome:?}"),
        () = nav2.until(|runs| runs.len() == 2) => {}
    }
    // Nobody polls it now.
    let commands = stage.commands.load(Ordering::SeqCst);
    nav2.until(|runs| runs[1].ended == Some(Ended::Dropped)).await;
    eventually("zero is commanded", || stage.commands.load(Ordering::SeqCst) > commands).await;
    assert!(driving.await.is_err());
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_owners_services_are_tools() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let into = asked.clone();
    let pick: crate::bus::Handler = Arc::new(move |request| {
        let request: JsonRequest<'_> = decode(&request).unwrap();
        into.lock().unwrap().push(request.request_json.to_owned());
        Box::pin(async { Ok(encode(&JsonReply { reply_json: r#"{"ok": true, "grip": {"closed_on": true}}"# })) })
    });
    let stow: crate::bus::Handler =
        Arc::new(|_| Box::pin(async { Ok(encode(&Success { success: false, message: "the arm is folded wrong" })) }));
    let _pick = stage.bus.serve("/arm/pick", &JSON_CALL, pick).await.unwrap();
    let _stow = stage.bus.serve("/arm/stow", &TRIGGER, stow).await.unwrap();
    let tool = |call| Tool { call, result: [].into(), deadline: Duration::from_secs(30), cancel: None };
    let arguments = serde_json::json!({"arm": "{side}", "to": ["{x}", "{y}", "{z}"]});
    let mut pick = tool(Call::Json { service: "/arm/pick".into(), arguments: Some(arguments) });
    pick.result = [("held".to_owned(), "/grip/closed_on".to_owned())].into();
    let tools = [
        ("pick".to_owned(), pick),
        ("goto_named/left_arm/stowed".to_owned(), tool(Call::Trigger { service: "/arm/stow".into() })),
        ("clear_octomap".to_owned(), tool(Call::Trigger { service: "/arm/nobody".into() })),
    ];
    let robot = stage.robot(Ros2Config { tools: tools.into(), ..alone() }).await;
    assert_eq!(robot.parts().without, ["go_to_stance", "reach", "fine_approach", "place"]);

    let tip = cerebellum_core::Pose::planar(1.0, 2.0, 0.0);
    let grasp = cerebellum_core::Grasp { tip, width_m: 0.06, stamp: Stamp::ZERO };
    let done = robot.run(Motion::Pick { side: Side::Left, grasp }, &quiet).await.unwrap();
    assert_eq!((done.held, done.side), (Some(true), Some(Side::Left)));
    assert_eq!(*asked.lock().unwrap(), [r#"{"arm":"left","to":[1.0,2.0,0.0]}"#]);
    let posture = |state: &str| Motion::Posture { group: "left_arm".into(), state: state.into() };
    let stowed = robot.run(posture("stowed"), &quiet).await;
    assert_eq!(stowed, Err(MotionFailure::Failed { reason: "the arm is folded wrong".into() }));
    assert!(matches!(robot.run(posture("carry"), &quiet).await, Err(MotionFailure::Unsupported { .. })));
    let away = robot.clear_obstacles().await;
    assert!(matches!(&away, Err(RobotError::Unavailable { reason }) if reason.contains("/arm/nobody")), "{away:?}");
    stage.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_a_person_marks_is_known() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let robot = stage.robot(alone()).await;
    assert_eq!(robot.marked_goal().await, Ok(None));
    let marks = stage.bus.advertise("/goal_pose", &PoseStamped::TYPE, Qos::STREAM).await.unwrap();
    let goal = PlanarPose::new(1.0, -2.0, 0.5);
    for frame in ["map", "odom"] {
        let shifted = PlanarPose { x: if frame == "map" { goal.x } else { 9.0 }, ..goal };
        let header = Header::new(Stamp::ZERO, frame);
        marks.put(encode(&PoseStamped { header, pose: (&shifted.to_pose()).into() }));
    }
    let marked = robot.marked_goal().await.unwrap().unwrap().0;
    assert!(marked.distance(&goal) < 1e-9 && (marked.yaw - goal.yaw).abs() < 1e-9);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robot_with_nav2_is_driven_over_zenoh() {
    let endpoint = free_endpoint();
    let robots = Program::connected(&endpoint, RouterRole::Always, "robots").await;
    let drivers = Program::connected(&endpoint, RouterRole::Never, "drivers").await;
    let stage = Stage::between(robots.bus.clone(), drivers.bus.clone()).base(VelocityType::Stamped).await;
    stage.drives_and_navigates().await;
    stage.end().await;
    drivers.end().await;
    robots.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_localised_robot_is_in_its_map_and_keeps_out_of_zones() {
    let stage = Stage::with_base(VelocityType::Twist).await;
    let zone = KeepOut { name: "stairs".into(), outline: vec![[5.5, 4.0], [7.0, 4.0], [7.0, 6.0], [5.5, 6.0]] };
    let robot = stage.robot(Ros2Config { keep_outs: vec![zone], map_id: "home".into(), ..alone() }).await;
    assert!(matches!(robot.map().await, Err(RobotError::Unavailable { reason }) if reason.contains("/map")));
    let floor = Arc::new(FakeRobot::new(stage.clock.clone()));
    serve_map(stage.bus.clone(), floor.clone(), &stage.tasks, stage.stop.clone());
    let transforms = stage.bus.advertise("/tf", &TfMessage::TYPE, Qos::STREAM).await.unwrap();
    let transform = (&PlanarPose::new(5.0, 5.0, 0.0).to_pose()).into();
    for _ in 0..2 {
        let header = Header::new(stage.clock.now(), "map");
        let told = TransformStamped { header, child_frame_id: "base_link", transform };
        transforms.put(encode(&TfMessage { transforms: vec![told] }));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    let state = robot.state().await.unwrap();
    assert_eq!((state.frame.as_str(), state.base.unwrap().pose), ("map", PlanarPose::new(5.0, 5.0, 0.0)));
    for motion in [Motion::Drive { metres: 1.0 }, Motion::Navigate { goal: PlanarPose::new(6.0, 5.0, 0.0) }] {
        let refused = robot.run(motion, &quiet).await;
        assert!(
            matches!(&refused, Err(MotionFailure::Refused { reason, .. }) if reason.contains("stairs")),
            "{refused:?}"
        );
    }
    while robot.map().await.is_err() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (map, original) = (robot.map().await.unwrap(), floor.map().await.unwrap());
    assert_eq!((map.id.as_str(), map.cells, map.width), ("home", original.cells, original.width));
    assert_eq!(map.keep_outs[0].name, "stairs");
    robot.set_keep_outs(Vec::new()).await.unwrap();
    let after = robot.map().await.unwrap();
    assert!(after.version > map.version && after.keep_outs.is_empty());
    let nonsense = Limits { max_speed_mps: f64::NAN, ..Limits::default() };
    assert!(robot.set_limits(nonsense).await.is_err());
    stage.end().await;
}
