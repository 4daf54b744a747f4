use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    BaseState, Body, COMMAND_EXPIRY, Clock, FloorMap, HandState, KeepOut, Limits, Motion, MotionDone, MotionFailure,
    MotionProgress, Parts, PlanarPose, Pose, Reach, Robot, RobotError, RobotState, RunningMotion, Safety, Side, Stamp,
    StopReport, StopState,
};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::watchdog::Heart;
use crate::bus::{RosBus, persist};
use crate::tf::Transforms;

mod cmd_vel;
mod floor;
mod navigate;
mod senses;
mod steer;
mod tools;

pub(super) use cmd_vel::CmdVel;
pub use tools::{Call, Tool};

use super::topics::{Velocity, VelocityType};
use senses::Senses;

/// How a robot that runs ROS 2 is driven.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros2Config {
    /// `nav_msgs/Odometry` of the base.
    pub odometry: String,
    /// Where the base takes velocities.
    pub cmd_vel: String,
    /// What is sent there while nobody has subscribed; else what the subscriber takes.
    pub cmd_vel_type: VelocityType,
    /// The action `NavigateToPose`; `None` for a robot that finds no way by itself.
    pub navigate: Option<String>,
    /// Where a person marks goals.
    pub goal_pose: String,
    /// `nav_msgs/OccupancyGrid`; `None` for a robot without a map.
    pub map: Option<String>,
    /// What the map is called: a place that was saved on another one is never driven to.
    pub map_id: String,
    /// The frames of the map, of odometry and of the base.
    pub frames: [String; 3],
    /// Whether the base moves sideways.
    pub holonomic: bool,
    /// Its arms.
    pub arms: Vec<Side>,
    /// Groups and states that the tool `goto_named` takes.
    pub postures: Vec<(String, Vec<String>)>,
    /// The limits at the start.
    pub limits: Limits,
    /// Where the base must not go, at the start.
    pub keep_outs: Vec<KeepOut>,
    /// What the other tools do: by the tool's name, or `goto_named/GROUP/STATE` for one posture.
    pub tools: BTreeMap<String, Tool>,
    /// Whether nothing moves unless a watchdog listens ([`super::watch_over`]).
    pub needs_watchdog: bool,
    /// What this robot is, for a planner.
    pub description: String,
}

impl Default for Ros2Config {
    fn default() -> Self {
        Self {
            odometry: "/odom".into(),
            cmd_vel: "/cmd_vel".into(),
            cmd_vel_type: VelocityType::Twist,
            navigate: Some("/navigate_to_pose".into()),
            goal_pose: "/goal_pose".into(),
            map: Some("/map".into()),
            map_id: "map".into(),
            frames: ["map".into(), "odom".into(), "base_link".into()],
            holonomic: false,
            arms: Vec::new(),
            postures: Vec::new(),
            limits: Limits::default(),
            keep_outs: Vec::new(),
            tools: BTreeMap::new(),
            needs_watchdog: true,
            description: String::new(),
        }
    }
}

impl Ros2Config {
    /// Every action whose goals move the robot.
    pub(super) fn actions(&self) -> Vec<String> {
        let tasks = self.tools.values().filter_map(|tool| match &tool.call {
            Call::Task { action, .. } => Some(action.clone()),
            Call::Empty { .. } | Call::Trigger { .. } | Call::SetBool { .. } | Call::Json { .. } => None,
        });
        self.navigate.clone().into_iter().chain(tasks).collect()
    }
}

/// A robot that runs ROS 2, by configuration alone: Nav2's `NavigateToPose`, velocities, odometry and `/tf`; its other tools
/// are the owner's services and actions. The stop latch is kept here, so this process is the one that resumes.
///
/// Whether a hand holds something is not known between motions: [`HandState::holds`] is `None`, and [`MotionDone::held`]
/// is what the owner's tool answered.
pub struct Ros2 {
    bus: Arc<dyn RosBus>,
    config: Ros2Config,
    clock: Arc<dyn Clock>,
    senses: Arc<Senses>,
    cmd_vel: CmdVel,
    heart: tokio::sync::OnceCell<Heart>,
    running: Mutex<Option<RunningMotion>>,
    stop: watch::Sender<StopState>,
    rules: Mutex<(Limits, Vec<KeepOut>, u64)>,
    tasks: TaskTracker,
}

/// How long a robot gets to be measured standing still.
const STOP_PATIENCE: Duration = Duration::from_secs(2);
/// How often zero is commanded until then.
const ZERO_EVERY: Duration = Duration::from_millis(50);
/// How often the watchdog hears that a motion goes on.
const BEAT_EVERY: Duration = Duration::from_millis(50);
/// How long a base must be seen standing.
const STANDING_FOR: Duration = Duration::from_millis(200);
/// How long the cancel of a stop may take.
const CANCEL_DEADLINE: Duration = Duration::from_secs(1);

impl Ros2 {
    /// Follows the robot on the bus until `stop`. It need not be there yet.
    pub fn follow(
        bus: Arc<dyn RosBus>,
        config: Ros2Config,
        clock: Arc<dyn Clock>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let transforms = Transforms::follow(Arc::clone(&bus), tasks, stop.clone());
        let senses = Senses::follow(&bus, &config, &clock, transforms, tasks, stop);
        Arc::new(Self {
            cmd_vel: CmdVel::new(Arc::clone(&bus), &config, Arc::clone(&clock)),
            heart: tokio::sync::OnceCell::new(),
            running: Mutex::default(),
            stop: watch::Sender::new(StopState::default()),
            rules: Mutex::new((config.limits.clone(), config.keep_outs.clone(), 0)),
            tasks: tasks.clone(),
            bus,
            config,
            clock,
            senses,
        })
    }

    fn rules(&self) -> MutexGuard<'_, (Limits, Vec<KeepOut>, u64)> {
        self.rules.lock().expect("no holder of this lock panics")
    }

    fn running(&self) -> MutexGuard<'_, Option<RunningMotion>> {
        self.running.lock().expect("no holder of this lock panics")
    }

    fn begin(&self, motion: &Motion) -> Result<Turn<'_>, MotionFailure> {
        let mut running = self.running();
        if let Some(running) = &*running {
            return Err(MotionFailure::Busy { running: running.clone() });
        }
        *running = Some(RunningMotion { name: motion.name().to_owned(), since: self.clock.now() });
        Ok(Turn(self))
    }

    /// Says to the watchdog that a motion goes on, until the answer is dropped.
    async fn heart(&self) -> Result<Beating<'_>, MotionFailure> {
        let heart = self.heart.get_or_init(|| persist(&self.bus, "heartbeat", || Heart::on(&self.bus)));
        let Ok(heart) = tokio::time::timeout(STOP_PATIENCE, heart).await else {
            return Err(MotionFailure::Lost { reason: "the ROS bus is not connected".into() });
        };
        let until = tokio::time::Instant::now() + STOP_PATIENCE;
        while self.config.needs_watchdog && !heart.is_heard() {
            if tokio::time::Instant::now() >= until {
                let reason = "no watchdog listens, so a goal would outlive this process; start `cerebellum \
                              capability-watchdog`, or set robot.needs_watchdog: false"
                    .into();
                return Err(MotionFailure::Refused { rule: "needs_watchdog".into(), reason });
            }
            tokio::time::sleep(ZERO_EVERY).await;
        }
        let beating = Beating { heart, id: format!("{:032x}", rand::random::<u128>()) };
        beating.beat();
        Ok(beating)
    }

    /// Says from this task, and no other, that the motion goes on; it expires when this task was not run for too long.
    async fn while_beating<T>(&self, work: impl Future<Output = T>) -> Result<T, MotionFailure> {
        let beating = self.heart().await?;
        let mut ticks = tokio::time::interval(BEAT_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = self.clock.monotonic();
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                // The time first: a process that was frozen must not go on with what expired meanwhile.
                biased;
                _ = ticks.tick() => {
                    let now = self.clock.monotonic();
                    if now.saturating_sub(last) > COMMAND_EXPIRY {
                        return Err(MotionFailure::Expired);
                    }
                    last = now;
                    beating.beat();
                }
                done = &mut work => return Ok(done),
            }
        }
    }

    async fn perform(&self, motion: Motion, progress: &dyn MotionProgress) -> Result<MotionDone, MotionFailure> {
        match motion {
            Motion::Navigate { goal } => self.navigate(goal, progress).await,
            Motion::Turn { radians } => self.steer(steer::Axis::Turn, radians, progress).await,
            Motion::Drive { metres } => self.steer(steer::Axis::Forward, metres, progress).await,
            Motion::Strafe { .. } if !self.config.holonomic => {
                Err(MotionFailure::Unsupported { what: "move sideways".into() })
            }
            Motion::Strafe { metres } => self.steer(steer::Axis::Left, metres, progress).await,
            motion @ (Motion::Stance { .. }
            | Motion::Reach { .. }
            | Motion::FineApproach { .. }
            | Motion::Pick { .. }
            | Motion::Place { .. }
            | Motion::Posture { .. }) => self.use_tool(&motion, progress).await,
        }
    }

    /// Waits until the base is measured standing still, for at most `patience` of the robot's time; commands zero meanwhile.
    async fn halt(&self, patience: Duration) -> StopReport {
        let until = self.clock.monotonic() + patience;
        let commands = self.cmd_vel.ready().await.ok();
        let mut standing_since = None;
        loop {
            if let Some(commands) = &commands {
                commands.put(Velocity::ZERO);
            }
            let now = self.clock.monotonic();
            let base = self.senses.fresh(now);
            standing_since = match &base {
                Some(base) if !base.is_moving => standing_since.or(Some(now)),
                _ => None,
            };
            let is_stopped = standing_since.is_some_and(|since| now >= since + STANDING_FOR);
            if is_stopped || now >= until {
                let speed_mps = base.map_or(f64::NAN, |base| base.velocity[0].hypot(base.velocity[1]));
                let speed_mps = if speed_mps.is_nan() { self.senses.last_speed() } else { speed_mps };
                return StopReport { is_stopped, speed_mps };
            }
            self.clock.sleep(ZERO_EVERY).await;
        }
    }
}

/// The motion that runs, as long as it lives.
struct Turn<'a>(&'a Ros2);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.running() = None;
    }
}

struct Beating<'a> {
    heart: &'a Heart,
    id: String,
}

impl Beating<'_> {
    fn beat(&self) {
        self.heart.beat(&self.id, true);
    }
}

impl Drop for Beating<'_> {
    fn drop(&mut self) {
        self.heart.beat(&self.id, false);
    }
}

async fn latched(mut stop: watch::Receiver<StopState>) -> MotionFailure {
    let by = stop.wait_for(|stop| stop.is_latched).await.map(|stop| stop.by.clone());
    match by {
        Ok(by) => MotionFailure::Stopped { by },
        Err(_) => std::future::pending().await,
    }
}

#[async_trait]
impl Body for Ros2 {
    fn parts(&self) -> Parts {
        let config = &self.config;
        let mapped = |tool: &str| config.tools.keys().any(|key| key.split('/').next() == Some(tool));
        let arms = ["go_to_stance", "reach", "fine_approach", "pick", "place", "goto_named"];
        let mut without: Vec<String> = arms.iter().filter(|tool| !mapped(tool)).map(|&tool| tool.into()).collect();
        if config.navigate.is_none() {
            without.push("navigate_to".into());
        }
        Parts {
            base: true,
            holonomic: config.holonomic,
            navigation: config.navigate.is_some(),
            map: config.map.is_some(),
            arms: config.arms.clone(),
            without,
            postures: config.postures.clone(),
            obstacle_memory: mapped("clear_octomap"),
            description: config.description.clone(),
        }
    }

    async fn state(&self) -> Result<RobotState, RobotError> {
        let (stamp, frame, base): (Stamp, String, BaseState) = self.senses.base(self.clock.monotonic())?;
        let hand = |&side: &Side| HandState { side, holds: None, opening_m: None, posture: None, tip: None };
        Ok(RobotState {
            stamp,
            frame,
            base: Some(base),
            hands: self.config.arms.iter().map(hand).collect(),
            stop: self.stop.borrow().clone(),
            running: self.running().clone(),
            path: Vec::new(),
            map_version: self.senses.map_version() + self.rules().2,
            issue: None,
        })
    }

    async fn map(&self) -> Result<FloorMap, RobotError> {
        let Some(topic) = &self.config.map else { return Err(RobotError::Unsupported { what: "map".into() }) };
        let mut map = self.senses.map(topic)?;
        let rules = self.rules();
        map.id.clone_from(&self.config.map_id);
        map.keep_outs.clone_from(&rules.1);
        map.version += rules.2;
        Ok(map)
    }

    async fn reach(&self, _side: Option<Side>, _tip: &Pose) -> Result<Reach, RobotError> {
        Err(RobotError::Unsupported { what: "model of what its arms reach".into() })
    }

    async fn marked_goal(&self) -> Result<Option<(PlanarPose, Stamp)>, RobotError> {
        Ok(self.senses.marked_goal())
    }

    async fn limits(&self) -> Result<Limits, RobotError> {
        Ok(self.rules().0.clone())
    }
}

#[async_trait]
impl Robot for Ros2 {
    async fn run(&self, motion: Motion, progress: &dyn MotionProgress) -> Result<MotionDone, MotionFailure> {
        let _turn = self.begin(&motion)?;
        tokio::select! {
            biased;
            stopped = latched(self.stop.subscribe()) => Err(stopped),
            outcome = self.while_beating(self.perform(motion, progress)) => outcome?,
        }
    }

    async fn stop(&self, by: &str) -> Result<StopReport, RobotError> {
        let now = self.clock.now();
        self.stop.send_modify(|stop| {
            if !stop.is_latched {
                *stop = StopState { is_latched: true, by: Some(by.to_owned()), since: Some(now), resumed: None };
            }
        });
        for action in self.config.actions() {
            let client = crate::action::Client::new(Arc::clone(&self.bus), &action);
            self.tasks.spawn(async move {
                if let Err(error) = client.cancel_all(CANCEL_DEADLINE).await {
                    tracing::warn!(action, %error, "a stop could not cancel what may run");
                }
            });
        }
        Ok(self.halt(STOP_PATIENCE).await)
    }

    async fn clear_obstacles(&self) -> Result<(), RobotError> {
        self.use_plain_tool("clear_octomap", serde_json::Map::new()).await
    }

    async fn allow_touch(&self, target: Option<&str>, allow: bool) -> Result<(), RobotError> {
        let arguments = [("target".to_owned(), target.into()), ("allow".to_owned(), allow.into())];
        self.use_plain_tool("allow_gripper_touch", arguments.into_iter().collect()).await
    }
}

#[async_trait]
impl Safety for Ros2 {
    async fn resume(&self, by: &str) -> Result<StopState, RobotError> {
        let now = self.clock.now();
        self.stop.send_replace(StopState { resumed: Some((by.to_owned(), now)), ..StopState::default() });
        Ok(self.stop.borrow().clone())
    }

    async fn set_limits(&self, limits: Limits) -> Result<(), RobotError> {
        if let Some(fault) = floor::fault_of(&limits) {
            return Err(RobotError::Unsupported { what: fault });
        }
        self.rules().0 = limits;
        Ok(())
    }

    async fn set_keep_outs(&self, keep_outs: Vec<KeepOut>) -> Result<(), RobotError> {
        let mut rules = self.rules();
        rules.1 = keep_outs;
        rules.2 += 1;
        Ok(())
    }
}
