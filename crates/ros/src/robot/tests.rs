use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    BaseState, Body, COMMAND_EXPIRY, Clock, FloorMap, Grasp, Limits, Motion, MotionDone, MotionFailure, MotionProgress,
    Parts, PlanarPose, Pose, Reach, Robot, RobotError, RobotState, RunningMotion, Side, Stamp, StopReport, StopState,
};
use cerebellum_testkit::FakeClock;
use cerebellum_testkit::robot::{FakeRobot, Play};
use cerebellum_wire::robot::{self as words, Reply, Request};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Link, REFRESH, REQUEST, serve};
use crate::bus::contract::{DEADLINE, eventually};
use crate::bus::{Qos, RosBus};
use crate::mem::MemBus;
use crate::msg::common::Text;
use crate::msg::robot::{JSON_CALL, JsonReply, JsonRequest};
use crate::msg::{Message, decode, encode};

#[cfg(unix)]
mod process;
mod ros2;
mod zenoh;

/// Drives 1 m a second of its clock, until it is there or let go.
pub(super) struct Driver {
    pub(super) clock: Arc<FakeClock>,
    pub(super) is_moving: Arc<AtomicBool>,
    pub(super) begun: AtomicUsize,
    stopped_by: Mutex<Option<String>>,
}

struct Moving(Arc<AtomicBool>);

impl Drop for Moving {
    fn drop(&mut self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

impl Driver {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            clock: Arc::new(FakeClock::at(Stamp::from_secs_f64(1_000.0))),
            is_moving: Arc::default(),
            begun: AtomicUsize::new(0),
            stopped_by: Mutex::default(),
        })
    }

    pub(super) fn moves(&self) -> bool {
        self.is_moving.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Body for Driver {
    fn parts(&self) -> Parts {
        Parts { base: true, description: "it drives".into(), ..Parts::default() }
    }
    async fn state(&self) -> Result<RobotState, RobotError> {
        let is_moving = self.moves();
        let stopped_by = self.stopped_by.lock().unwrap().clone();
        Ok(RobotState {
            stamp: self.clock.now(),
            frame: "map".into(),
            base: Some(BaseState { pose: PlanarPose::default(), velocity: [0.0; 2], turn_rate: 0.0, is_moving }),
            hands: Vec::new(),
            stop: StopState { is_latched: stopped_by.is_some(), by: stopped_by, ..StopState::default() },
            running: is_moving.then(|| RunningMotion { name: "drive_by".into(), since: Stamp::ZERO }),
            path: Vec::new(),
            map_version: 1,
            issue: None,
        })
    }
    async fn map(&self) -> Result<FloorMap, RobotError> {
        Err(RobotError::Unsupported { what: "map".into() })
    }
    async fn reach(&self, side: Option<Side>, _tip: &Pose) -> Result<Reach, RobotError> {
        Ok(Reach { side: side.unwrap_or(Side::Left), is_reachable: false, reason: Some("it has no arm".into()) })
    }
    async fn marked_goal(&self) -> Result<Option<(PlanarPose, Stamp)>, RobotError> {
        Ok(Some((PlanarPose::new(1.0, 2.0, 0.5), Stamp::from_nanos(7))))
    }
    async fn limits(&self) -> Result<Limits, RobotError> {
        Ok(Limits::default())
    }
}

#[async_trait]
impl Robot for Driver {
    async fn run(&self, motion: Motion, progress: &dyn MotionProgress) -> Result<MotionDone, MotionFailure> {
        let Motion::Drive { metres } = motion else {
            return Err(MotionFailure::Unsupported { what: motion.name().into() });
        };
        if let Some(by) = self.stopped_by.lock().unwrap().clone() {
            return Err(MotionFailure::Stopped { by: Some(by) });
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.is_moving.store(true, Ordering::SeqCst);
        let _moving = Moving(Arc::clone(&self.is_moving));
        progress.report(Some(0.5), "driving");
        self.clock.sleep(Duration::from_secs_f64(metres)).await;
        Ok(MotionDone { moved: Some(metres), ..MotionDone::default() })
    }
    async fn stop(&self, by: &str) -> Result<StopReport, RobotError> {
        *self.stopped_by.lock().unwrap() = Some(by.to_owned());
        Ok(StopReport { is_stopped: !self.moves(), speed_mps: 0.0 })
    }
    async fn clear_obstacles(&self) -> Result<(), RobotError> {
        Ok(())
    }
    async fn allow_touch(&self, target: Option<&str>, _allow: bool) -> Result<(), RobotError> {
        match target {
            Some(_) => Err(RobotError::Unsupported { what: "gripper".into() }),
            None => Ok(()),
        }
    }
}

/// A robot served on a bus, and how that ends.
struct Served {
    robot: Arc<Driver>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Served {
    fn on(bus: &Arc<dyn RosBus>) -> Self {
        let (robot, tasks, stop) = (Driver::new(), TaskTracker::new(), CancellationToken::new());
        serve(Arc::clone(bus), robot.clone(), robot.clock.clone(), &tasks, stop.clone());
        Self { robot, tasks, stop }
    }

    async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(DEADLINE, self.tasks.wait()).await.expect("every task ends");
    }
}

async fn link(bus: &Arc<dyn RosBus>) -> Arc<Link> {
    Link::attach(Arc::clone(bus), &TaskTracker::new(), DEADLINE).await.unwrap()
}

fn quiet(_: Option<f64>, _: &str) {}

fn drive(link: &Arc<Link>, metres: f64) -> tokio::task::JoinHandle<Result<MotionDone, MotionFailure>> {
    let link = Arc::clone(link);
    tokio::spawn(async move { link.run(Motion::Drive { metres }, &quiet).await })
}

async fn outcome(
    driving: tokio::task::JoinHandle<Result<MotionDone, MotionFailure>>,
) -> Result<MotionDone, MotionFailure> {
    tokio::time::timeout(DEADLINE, driving).await.expect("it ends").unwrap()
}

async fn ask(bus: &Arc<dyn RosBus>, request_json: &str) -> Reply {
    let request = encode(&JsonRequest { request_json });
    let response = bus.call(REQUEST, &JSON_CALL, request, DEADLINE).await.unwrap();
    words::from_str(decode::<JsonReply<'_>>(&response).unwrap().reply_json).unwrap()
}

fn start(id: &str) -> String {
    words::to_string(&Request::Start { id: id.into(), motion: Motion::Drive { metres: 100.0 } })
}

fn bus() -> Arc<dyn RosBus> {
    MemBus::new()
}

#[tokio::test]
async fn a_motion_runs_to_its_end_and_tells_how_it_goes() {
    let bus = bus();
    let served = Served::on(&bus);
    a_drive_and_a_cancel(&served, &bus).await;
    served.end().await;
}

async fn a_drive_and_a_cancel(served: &Served, bus: &Arc<dyn RosBus>) {
    let (link, robot) = (link(bus).await, &served.robot);
    let told: Arc<Mutex<Vec<_>>> = Arc::default();
    let (into, runner) = (told.clone(), link.clone());
    let driving = tokio::spawn(async move {
        let progress = |fraction: Option<f64>, message: &str| into.lock().unwrap().push((fraction, message.to_owned()));
        runner.run(Motion::Drive { metres: 0.2 }, &progress).await
    });
    eventually("it tells how it goes", || !told.lock().unwrap().is_empty()).await;
    robot.clock.advance(Duration::from_millis(200));
    assert_eq!(outcome(driving).await.map(|done| done.moved), Ok(Some(0.2)));
    assert_eq!(told.lock().unwrap().as_slice(), [(Some(0.5), "driving".to_owned())]);

    let driving = drive(&link, 100.0);
    eventually("it moves", || robot.moves()).await;
    driving.abort();
    eventually("it stands although no time passed", || !robot.moves()).await;
    let again = drive(&link, 0.1);
    eventually("what follows is not refused", || robot.moves() || again.is_finished()).await;
    robot.clock.advance(Duration::from_millis(100));
    assert_eq!(outcome(again).await.map(|done| done.moved), Ok(Some(0.1)));
}

#[tokio::test]
async fn everything_that_is_asked_arrives() {
    let bus = bus();
    let served = Served::on(&bus);
    let (link, robot) = (link(&bus).await, &served.robot);
    assert_eq!(link.parts(), robot.parts());
    assert_eq!(link.state().await, robot.state().await);
    assert_eq!(link.map().await, robot.map().await);
    assert_eq!(link.reach(None, &Pose::IDENTITY).await, robot.reach(None, &Pose::IDENTITY).await);
    assert_eq!(link.marked_goal().await, robot.marked_goal().await);
    assert_eq!(link.limits().await, robot.limits().await);
    assert_eq!(link.clear_obstacles().await, Ok(()));
    assert_eq!(link.allow_touch(None, true).await, Ok(()));
    assert_eq!(link.allow_touch(Some("a can"), true).await, robot.allow_touch(Some("a can"), true).await);
    assert_eq!(outcome(drive(&link, 0.0)).await.map(|done| done.moved), Ok(Some(0.0)));
    let turn = link.run(Motion::Turn { radians: 1.0 }, &quiet).await;
    assert_eq!(turn, Err(MotionFailure::Unsupported { what: "turn_by".into() }));
    assert_eq!(link.stop("a test").await, Ok(StopReport { is_stopped: true, speed_mps: 0.0 }));
    assert!(link.state().await.unwrap().stop.is_latched);
    assert_eq!(outcome(drive(&link, 1.0)).await, Err(MotionFailure::Stopped { by: Some("a test".into()) }));
    served.end().await;
}

#[tokio::test]
async fn every_motion_arrives_as_it_was_asked_and_answers_as_the_robot_did() {
    let bus = bus();
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_000.0)));
    let robot = Arc::new(FakeRobot::new(clock.clone()));
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    serve(Arc::clone(&bus), robot.clone(), clock, &tasks, stop.clone());
    let link = link(&bus).await;
    let point = glam::DVec3::new(1.0, 0.1, 0.7);
    let grasp = Grasp { tip: Pose::planar(1.0, 0.1, 0.3), width_m: 0.06, stamp: Stamp::from_nanos(7) };
    let asked = [
        Motion::Navigate { goal: PlanarPose::new(1.0, 2.0, 0.1) },
        Motion::Turn { radians: 0.3 },
        Motion::Drive { metres: 0.2 },
        Motion::Strafe { metres: -0.1 },
        Motion::Stance { target: point, side: None },
        Motion::Reach { side: Some(Side::Right), point },
        Motion::FineApproach { side: None, point },
        Motion::Pick { side: Side::Left, grasp },
        Motion::Place { side: Side::Left, foot: Pose::planar(1.0, 0.0, 0.2) },
        Motion::Posture { group: "left_arm".into(), state: "stowed".into() },
    ];
    let mut outcomes = Vec::new();
    for motion in &asked {
        outcomes.push(link.run(motion.clone(), &quiet).await.unwrap());
    }
    let ran: Vec<_> = robot.runs().into_iter().map(|run| run.motion).collect();
    assert_eq!(ran, asked);
    assert_eq!((outcomes[1].moved, outcomes[7].held, outcomes[5].point), (Some(0.3), Some(true), Some(point)));
    let failures = [
        MotionFailure::Blocked { by: "a person".into() },
        MotionFailure::Unreachable { reason: "too far".into() },
        MotionFailure::Refused { rule: "keep_out".into(), reason: "the stairs".into() },
    ];
    for failure in failures {
        robot.play(Play::Answer(Duration::ZERO, Err(failure.clone())));
        assert_eq!(link.run(Motion::Turn { radians: 0.1 }, &quiet).await, Err(failure));
    }
    let (map, here) = (robot.map().await.unwrap(), link.map().await.unwrap());
    assert_eq!(here, map);
    stop.cancel();
    tasks.close();
    tokio::time::timeout(DEADLINE, tasks.wait()).await.expect("every task ends");
}

#[tokio::test]
async fn a_motion_that_nobody_refreshes_ends_after_the_expiry() {
    let bus = bus();
    let served = Served::on(&bus);
    let robot = &served.robot;
    let link = link(&bus).await;
    assert_eq!(ask(&bus, &start("mine")).await, Reply::Done);
    eventually("it moves", || robot.moves()).await;
    let refreshes = bus.advertise(REFRESH, &Text::TYPE, Qos::STREAM).await.unwrap();
    let short_of_it = COMMAND_EXPIRY.saturating_sub(Duration::from_millis(10));
    for _ in 0..5 {
        // The motion itself and its expiry sleep.
        robot.clock.sleepers(2).await;
        robot.clock.advance(short_of_it);
        refreshes.put(encode(&Text { data: r#"{"id":"mine","is_wanted":true}"# }));
        refreshes.put(encode(&Text { data: r#"{"id":"other","is_wanted":false}"# }));
        refreshes.put(encode(&Text { data: "nonsense" }));
    }
    assert!(robot.moves(), "it is refreshed");
    // Sleepers that were woken by the last step must lie down again, so time goes on in small steps.
    for _ in 0..(COMMAND_EXPIRY.as_millis() / 10) {
        assert!(robot.moves(), "not before the expiry");
        robot.clock.advance(Duration::from_millis(10));
    }
    eventually("it stands", || !robot.moves()).await;
    drop(link);
    served.end().await;
}

#[tokio::test]
async fn a_link_whose_task_hangs_learns_that_its_motion_expired() {
    let bus = bus();
    let served = Served::on(&bus);
    let robot = &served.robot;
    let link = link(&bus).await;
    let mut driving = Box::pin(link.run(Motion::Drive { metres: 100.0 }, &quiet));
    let until_it_moves = async {
        while !robot.moves() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        outcome = &mut driving => panic!("{outcome:?}"),
        () = until_it_moves => {}
    }
    // Nobody polls the motion now.
    robot.clock.advance(COMMAND_EXPIRY);
    eventually("it stands", || !robot.moves()).await;
    let outcome = tokio::time::timeout(DEADLINE, driving).await.unwrap();
    assert_eq!(outcome, Err(MotionFailure::Expired));
    served.end().await;
}

#[tokio::test]
async fn of_two_callers_at_once_one_is_refused_and_hears_what_runs() {
    let bus = bus();
    let served = Served::on(&bus);
    let robot = &served.robot;
    let (one, other) = (link(&bus).await, link(&bus).await);
    let (first, second) = (drive(&one, 100.0), drive(&other, 100.0));
    eventually("one is refused", || first.is_finished() || second.is_finished()).await;
    let (refused, driving) = if first.is_finished() { (first, second) } else { (second, first) };
    let refused = outcome(refused).await.unwrap_err();
    assert!(matches!(&refused, MotionFailure::Busy { running } if running.name == "drive_by"), "{refused:?}");
    assert!(!driving.is_finished());
    assert_eq!(robot.begun.load(Ordering::SeqCst), 1);
    driving.abort();
    eventually("it stands", || !robot.moves()).await;
    served.end().await;
}

#[tokio::test]
async fn an_id_starts_one_motion_and_none_after_its_cancel() {
    let bus = bus();
    let served = Served::on(&bus);
    drop(link(&bus).await);
    let cancel = |id: &str| words::to_string(&Request::Cancel { id: id.into() });
    assert_eq!(ask(&bus, &start("one")).await, Reply::Done);
    assert_eq!(ask(&bus, &cancel("one")).await, Reply::Done);
    assert!(!served.robot.moves(), "a cancel is answered when the motion is let go");
    assert_eq!(ask(&bus, &cancel("early")).await, Reply::Done);
    for id in ["one", "early"] {
        let again = ask(&bus, &start(id)).await;
        let Reply::Failure { failure: MotionFailure::Refused { rule, reason } } = again else { panic!("{again:?}") };
        assert!(rule == "motion_id" && reason.contains("nothing moves twice"), "{reason}");
    }
    assert_eq!(served.robot.begun.load(Ordering::SeqCst), 1);
    served.end().await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_and_changes_nothing() {
    let bus = bus();
    let served = Served::on(&bus);
    drop(link(&bus).await);
    for garbage in [
        "",
        "{}",
        "[]",
        r#"{"kind":"resume","by":"me"}"#,
        r#"{"kind":"start","id":"a"}"#,
        &start(""),
        &start(&"x".repeat(101)),
    ] {
        let reply = ask(&bus, garbage).await;
        assert!(matches!(reply, Reply::BadRequest { .. }), "{garbage}: {reply:?}");
    }
    assert!(bus.call(REQUEST, &JSON_CALL, vec![1, 2, 3], DEADLINE).await.is_err());
    assert_eq!(served.robot.begun.load(Ordering::SeqCst), 0);
    served.end().await;
}

#[tokio::test]
async fn a_robot_that_is_not_there_is_named() {
    let error = Link::attach(bus(), &TaskTracker::new(), Duration::ZERO).await.err().unwrap();
    let RobotError::Unavailable { reason } = error else { panic!("{error:?}") };
    assert!(reason.contains(REQUEST) && reason.contains("cerebellum sim"), "{reason}");
}

#[tokio::test]
async fn a_robot_whose_process_ends_in_mid_motion_is_lost() {
    let bus = bus();
    let served = Served::on(&bus);
    let link = link(&bus).await;
    let driving = drive(&link, 100.0);
    eventually("it moves", || served.robot.moves()).await;
    let is_moving = Arc::clone(&served.robot.is_moving);
    served.end().await;
    assert!(!is_moving.load(Ordering::SeqCst), "a robot's process that ends stops the robot");
    let outcome = outcome(driving).await;
    // The last it said may still have come through.
    assert!(matches!(outcome, Err(MotionFailure::Lost { .. } | MotionFailure::Failed { .. })), "{outcome:?}");
    assert!(matches!(link.state().await, Err(RobotError::Unavailable { .. })));
    assert!(matches!(link.stop("a test").await, Err(RobotError::Unavailable { .. })));
}

#[tokio::test]
async fn a_robot_that_was_restarted_in_mid_motion_is_lost() {
    let bus = bus();
    let served = Served::on(&bus);
    let link = link(&bus).await;
    let driving = drive(&link, 100.0);
    eventually("it moves", || served.robot.moves()).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    // Its process dies without a word.
    served.stop.cancel();
    let again = Served::on(&bus);
    let outcome = outcome(driving).await;
    assert!(matches!(outcome, Err(MotionFailure::Lost { .. } | MotionFailure::Failed { .. })), "{outcome:?}");
    assert!(link.state().await.is_ok());
    again.end().await;
}

#[tokio::test]
async fn a_bus_that_goes_down_stops_the_robot_and_is_named() {
    let bus = MemBus::new();
    let as_bus: Arc<dyn RosBus> = bus.clone();
    let served = Served::on(&as_bus);
    let link = link(&as_bus).await;
    let driving = drive(&link, 100.0);
    eventually("it moves", || served.robot.moves()).await;
    bus.set_down(Some("the cable is out"));
    let outcome = outcome(driving).await;
    let Err(MotionFailure::Lost { reason }) = &outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("the cable is out"), "{reason}");
    served.robot.clock.advance(COMMAND_EXPIRY);
    eventually("it stands", || !served.robot.moves()).await;
    served.end().await;
}
