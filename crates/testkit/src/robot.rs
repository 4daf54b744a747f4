use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    Body, Clock, FloorMap, KeepOut, Limits, Motion, MotionDone, MotionFailure, MotionProgress, Parts, PlanarPose, Pose,
    Reach, Robot, RobotError, RobotState, RunningMotion, Safety, Side, Stamp, StopReport, StopState,
};
use tokio::sync::watch;

/// What it is when nobody has changed it.
mod defaults;

/// How the next motion goes.
#[derive(Clone, Debug, PartialEq)]
pub enum Play {
    /// Takes so long on the clock, then does what was asked.
    Late(Duration),
    /// Takes so long, then answers that, and the body is as if nothing had been done.
    Answer(Duration, Result<MotionDone, MotionFailure>),
    /// Never ends by itself.
    Hang,
}

/// How a motion ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It answered.
    Answered,
    /// Its future was dropped: it was cancelled.
    Dropped,
}

/// A motion that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was asked.
    pub motion: Motion,
    /// How it ended; `None` while it runs.
    pub ended: Option<Ended>,
}

/// A robot without a body: two arms, a holonomic base and a small map. A motion does at once what it was asked, unless a
/// [`Play`] says otherwise. Cancelling it leaves the base moving for [`FakeRobot::brakes_for`].
pub struct FakeRobot {
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

struct Inner {
    parts: Parts,
    state: RobotState,
    map: FloorMap,
    limits: Limits,
    plays: VecDeque<Play>,
    runs: Vec<Run>,
    marked: Option<(PlanarPose, Stamp)>,
    reach: Option<Reach>,
    stop_report: Option<Result<StopReport, RobotError>>,
    away: Option<String>,
    brake: Duration,
    moving_until: Option<Duration>,
    stamp: Option<Stamp>,
    touch: Vec<(Option<String>, bool)>,
    cleared: usize,
}

impl FakeRobot {
    /// A robot that stands at the origin of its map.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let inner = Inner {
            parts: defaults::parts(),
            state: defaults::state(clock.now()),
            map: defaults::map(),
            limits: Limits::default(),
            plays: VecDeque::new(),
            runs: Vec::new(),
            marked: None,
            reach: None,
            stop_report: None,
            away: None,
            brake: Duration::ZERO,
            moving_until: None,
            stamp: None,
            touch: Vec::new(),
            cleared: 0,
        };
        Self { clock, inner: Mutex::new(inner), changed: watch::Sender::new(0) }
    }

    /// The next motion goes like that; plays are used up in order.
    pub fn play(&self, play: Play) {
        self.inner().plays.push_back(play);
    }

    /// Changes which parts it has.
    pub fn edit_parts(&self, change: impl FnOnce(&mut Parts)) {
        change(&mut self.inner().parts);
    }

    /// Changes what it measures.
    pub fn edit(&self, change: impl FnOnce(&mut RobotState)) {
        self.change(|inner| change(&mut inner.state));
    }

    /// Changes its map.
    pub fn edit_map(&self, change: impl FnOnce(&mut FloorMap)) {
        self.change(|inner| {
            change(&mut inner.map);
            inner.map.version += 1;
            inner.state.map_version = inner.map.version;
        });
    }

    /// Changes its limits.
    pub fn edit_limits(&self, change: impl FnOnce(&mut Limits)) {
        change(&mut self.inner().limits);
    }

    /// Puts the base somewhere, as a hand would.
    pub fn put(&self, pose: PlanarPose) {
        self.edit(|state| {
            if let Some(base) = &mut state.base {
                base.pose = pose;
            }
        });
    }

    /// What a gripper measures from now on.
    pub fn hold(&self, side: Side, holds: Option<bool>) {
        self.edit(|state| {
            if let Some(hand) = state.hands.iter_mut().find(|hand| hand.side == side) {
                hand.holds = holds;
            }
        });
    }

    /// A person marks a goal on a map.
    pub fn mark(&self, goal: PlanarPose, stamp: Stamp) {
        self.inner().marked = Some((goal, stamp));
    }

    /// What the arms answer when asked whether they reach; `None` reaches everything.
    pub fn reaches(&self, answer: Option<Reach>) {
        self.inner().reach = answer;
    }

    /// What the next stops answer; `None` stops truly.
    pub fn stops_with(&self, answer: Option<Result<StopReport, RobotError>>) {
        self.inner().stop_report = answer;
    }

    /// From now on it does not answer, for that reason; `None` ends it.
    pub fn go_away(&self, reason: Option<&str>) {
        self.inner().away = reason.map(str::to_owned);
    }

    /// How long the base moves on after a motion was cancelled.
    pub fn brakes_for(&self, span: Duration) {
        self.inner().brake = span;
    }

    /// The stamp of everything it measures from now on; `None` measures anew each time.
    pub fn freezes_at(&self, stamp: Option<Stamp>) {
        self.inner().stamp = stamp;
    }

    /// The motions so far, in order.
    pub fn runs(&self) -> Vec<Run> {
        self.inner().runs.clone()
    }

    /// What was said about touching, in order.
    pub fn touches(&self) -> Vec<(Option<String>, bool)> {
        self.inner().touch.clone()
    }

    /// How often the obstacles were forgotten.
    pub fn cleared(&self) -> usize {
        self.inner().cleared
    }

    /// Returns once what it did looks like that.
    pub async fn until(&self, wanted: impl Fn(&[Run]) -> bool) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            if wanted(&self.inner().runs) {
                return;
            }
            changed.changed().await.expect("the robot outlives those who watch it");
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        let changed = change(&mut self.inner());
        self.changed.send_modify(|count| *count += 1);
        changed
    }

    fn answers(&self) -> Result<(), RobotError> {
        match &self.inner().away {
            Some(reason) => Err(RobotError::Unavailable { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    fn begin(&self, motion: &Motion) -> Result<(usize, Option<Play>), MotionFailure> {
        let now = self.clock.now();
        self.change(|inner| {
            if let Some(reason) = &inner.away {
                return Err(MotionFailure::Lost { reason: reason.clone() });
            }
            if inner.state.stop.is_latched {
                return Err(MotionFailure::Stopped { by: inner.state.stop.by.clone() });
            }
            if let Some(running) = &inner.state.running {
                return Err(MotionFailure::Busy { running: running.clone() });
            }
            inner.state.running = Some(RunningMotion { name: motion.name().to_owned(), since: now });
            inner.set_moving(true);
            inner.runs.push(Run { motion: motion.clone(), ended: None });
            Ok((inner.runs.len() - 1, inner.plays.pop_front()))
        })
    }

    async fn latched(&self) -> Option<String> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let stop = self.inner().state.stop.clone();
            if stop.is_latched {
                return stop.by;
            }
            if changed.changed().await.is_err() {
                return None;
            }
        }
    }
}

impl Inner {
    fn set_moving(&mut self, moving: bool) {
        if let Some(base) = &mut self.state.base {
            base.is_moving = moving;
            base.velocity = [if moving { 0.3 } else { 0.0 }, 0.0];
        }
    }

    fn do_it(&mut self, motion: &Motion) -> MotionDone {
        let base = self.state.base.as_ref().map(|base| base.pose).unwrap_or_default();
        let mut done = MotionDone::default();
        let moved = match motion {
            Motion::Navigate { goal } => Some(*goal),
            Motion::Turn { radians } => {
                done.moved = Some(*radians);
                Some(PlanarPose::new(base.x, base.y, base.yaw + radians))
            }
            Motion::Drive { metres } => {
                done.moved = Some(*metres);
                Some(PlanarPose::of(&base.to_pose().then(&Pose::planar(*metres, 0.0, 0.0))))
            }
            Motion::Strafe { metres } => {
                done.moved = Some(*metres);
                Some(PlanarPose::of(&base.to_pose().then(&Pose::planar(0.0, *metres, 0.0))))
            }
            Motion::Stance { target, side } => {
                done.side = Some(side.unwrap_or(Side::Left));
                Some(PlanarPose::new(target.x - 0.6, target.y, 0.0))
            }
            Motion::Reach { side, point } => {
                done.side = Some(side.unwrap_or(Side::Left));
                done.point = Some(*point);
                None
            }
            Motion::FineApproach { side, .. } => {
                done.side = Some(side.unwrap_or(Side::Left));
                done.distance_m = Some(0.05);
                None
            }
            Motion::Pick { side, .. } => {
                done.side = Some(*side);
                done.held = Some(true);
                self.set_holds(*side, true);
                None
            }
            Motion::Place { side, foot } => {
                done.side = Some(*side);
                done.held = Some(false);
                done.point = Some(foot.translation);
                self.set_holds(*side, false);
                None
            }
            Motion::Posture { group, state } => {
                let side = if group.starts_with("left") { Side::Left } else { Side::Right };
                if group.ends_with("gripper") && state == "open" {
                    self.set_holds(side, false);
                }
                None
            }
        };
        if let (Some(pose), Some(base)) = (moved, &mut self.state.base) {
            base.pose = pose;
        }
        done
    }

    fn set_holds(&mut self, side: Side, holds: bool) {
        if let Some(hand) = self.state.hands.iter_mut().find(|hand| hand.side == side) {
            hand.holds = Some(holds);
        }
    }
}

/// Notes that a motion ended, however it did.
struct Running<'a> {
    robot: &'a FakeRobot,
    index: usize,
    answered: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let now = self.robot.clock.monotonic();
        let answered = self.answered;
        self.robot.change(|inner| {
            inner.runs[self.index].ended = Some(if answered { Ended::Answered } else { Ended::Dropped });
            inner.state.running = None;
            let brake = inner.brake;
            if answered || brake.is_zero() {
                inner.set_moving(false);
            } else {
                inner.moving_until = Some(now.saturating_add(brake));
            }
        });
    }
}

#[async_trait]
impl Body for FakeRobot {
    fn parts(&self) -> Parts {
        self.inner().parts.clone()
    }

    async fn state(&self) -> Result<RobotState, RobotError> {
        self.answers()?;
        let (stamp, now) = (self.clock.now(), self.clock.monotonic());
        let mut inner = self.inner();
        if inner.moving_until.is_some_and(|until| until <= now) {
            inner.moving_until = None;
            inner.set_moving(false);
        }
        let stamp = inner.stamp.unwrap_or(stamp);
        Ok(RobotState { stamp, ..inner.state.clone() })
    }

    async fn map(&self) -> Result<FloorMap, RobotError> {
        self.answers()?;
        Ok(self.inner().map.clone())
    }

    async fn reach(&self, side: Option<Side>, _tip: &Pose) -> Result<Reach, RobotError> {
        self.answers()?;
        let reaches = Reach { side: side.unwrap_or(Side::Left), is_reachable: true, reason: None };
        Ok(self.inner().reach.clone().unwrap_or(reaches))
    }

    async fn marked_goal(&self) -> Result<Option<(PlanarPose, Stamp)>, RobotError> {
        self.answers()?;
        Ok(self.inner().marked)
    }

    async fn limits(&self) -> Result<Limits, RobotError> {
        self.answers()?;
        Ok(self.inner().limits.clone())
    }
}

#[async_trait]
impl Robot for FakeRobot {
    async fn run(&self, motion: Motion, progress: &dyn MotionProgress) -> Result<MotionDone, MotionFailure> {
        let (index, play) = self.begin(&motion)?;
        let mut running = Running { robot: self, index, answered: false };
        progress.report(Some(0.0), "begun");
        let playing = async {
            match play {
                None => Ok(None),
                Some(Play::Late(delay)) => {
                    self.clock.sleep(delay).await;
                    Ok(None)
                }
                Some(Play::Answer(delay, answer)) => {
                    self.clock.sleep(delay).await;
                    answer.map(Some)
                }
                Some(Play::Hang) => std::future::pending().await,
            }
        };
        let answer = tokio::select! {
            answer = playing => answer,
            by = self.latched() => Err(MotionFailure::Stopped { by }),
        };
        running.answered = true;
        match answer? {
            Some(done) => Ok(done),
            None => Ok(self.inner().do_it(&motion)),
        }
    }

    async fn stop(&self, by: &str) -> Result<StopReport, RobotError> {
        self.answers()?;
        let now = self.clock.now();
        let answer = self.change(|inner| {
            if !inner.state.stop.is_latched {
                inner.state.stop = StopState {
                    is_latched: true,
                    by: Some(by.to_owned()),
                    since: Some(now),
                    resumed: inner.state.stop.resumed.clone(),
                };
            }
            inner.stop_report.clone()
        });
        answer.unwrap_or(Ok(StopReport { is_stopped: true, speed_mps: 0.0 }))
    }

    async fn clear_obstacles(&self) -> Result<(), RobotError> {
        self.answers()?;
        self.inner().cleared += 1;
        Ok(())
    }

    async fn allow_touch(&self, target: Option<&str>, allow: bool) -> Result<(), RobotError> {
        self.answers()?;
        self.inner().touch.push((target.map(str::to_owned), allow));
        Ok(())
    }
}

#[async_trait]
impl Safety for FakeRobot {
    async fn resume(&self, by: &str) -> Result<StopState, RobotError> {
        self.answers()?;
        let now = self.clock.now();
        Ok(self.change(|inner| {
            inner.state.stop = StopState { resumed: Some((by.to_owned(), now)), ..StopState::default() };
            inner.state.stop.clone()
        }))
    }

    async fn set_limits(&self, limits: Limits) -> Result<(), RobotError> {
        self.answers()?;
        self.inner().limits = limits;
        Ok(())
    }

    async fn set_keep_outs(&self, keep_outs: Vec<KeepOut>) -> Result<(), RobotError> {
        self.answers()?;
        self.edit_map(|map| map.keep_outs = keep_outs);
        Ok(())
    }
}
