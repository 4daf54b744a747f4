use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cerebellum_core::{BaseState, BusError, Clock, FloorMap, PlanarPose, Pose, RobotError, Stamp, Subscription};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Ros2Config;
use crate::bus::{Qos, RosBus, Sink, persist};
use crate::msg::motion::Odometry;
use crate::msg::nav::{OccupancyGrid, PoseStamped};
use crate::msg::{Message, decode};
use crate::robot::topics::planar;
use crate::tf::Transforms;

/// Odometry that is older than this says nothing of what the base does now.
const FRESH: Duration = Duration::from_millis(500);
/// How much older than odometry a transform may be, in seconds.
const LOOK_BACK_S: [f64; 7] = [0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0];
/// What counts as moving: metres and radians a second.
const MOVING_MPS: f64 = 0.005;
const MOVING_RADPS: f64 = 0.5 * std::f64::consts::PI / 180.0;
/// The most cells of a map that is kept.
const CELLS_MAX: u64 = 16_000_000;

/// What the robot says of itself.
pub(super) struct Senses {
    odometry: String,
    frames: [String; 3],
    transforms: Arc<Transforms>,
    heard: Mutex<Heard>,
}

#[derive(Default)]
struct Heard {
    odometry: Option<Told>,
    map: Option<FloorMap>,
    goal: Option<(PlanarPose, Stamp)>,
}

#[derive(Clone, Copy)]
struct Told {
    stamp: Stamp,
    /// Monotonic time of the robot's clock when it came.
    at: Duration,
    base: BaseState,
}

impl Senses {
    pub(super) fn follow(
        bus: &Arc<dyn RosBus>,
        config: &Ros2Config,
        clock: &Arc<dyn Clock>,
        transforms: Arc<Transforms>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (odometry, frames) = (config.odometry.clone(), config.frames.clone());
        let senses = Arc::new(Self { odometry, frames, transforms, heard: Mutex::default() });
        let (into, bus, clock) = (Arc::clone(&senses), Arc::clone(bus), Arc::clone(clock));
        let (goal_pose, map) = (config.goal_pose.clone(), config.map.clone());
        tasks.spawn(async move {
            let subscribed = persist(&bus, "robot", || subscribe(&bus, &into, &clock, &goal_pose, map.as_deref()));
            let Some(_held) = stop.run_until_cancelled(subscribed).await else { return };
            stop.cancelled().await;
        });
        senses
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().expect("no holder of this lock panics")
    }

    fn on_odometry(&self, bytes: &[u8], clock: &dyn Clock) {
        let Ok(odometry) = decode::<Odometry<'_>>(bytes) else { return };
        let Some(pose) = planar(&odometry.pose.pose) else { return };
        let twist = odometry.twist.twist;
        let (velocity, turn_rate) = ([twist.linear.x, twist.linear.y], twist.angular.z);
        let is_moving = !(velocity[0].hypot(velocity[1]) <= MOVING_MPS && turn_rate.abs() <= MOVING_RADPS);
        let stamp = Some(Stamp::from(odometry.header.stamp)).filter(|stamp| !stamp.is_zero());
        let base = BaseState { pose, velocity, turn_rate, is_moving };
        self.lock().odometry = Some(Told { stamp: stamp.unwrap_or_else(|| clock.now()), at: clock.monotonic(), base });
    }

    fn on_map(&self, bytes: &[u8]) {
        let Ok(grid) = decode::<OccupancyGrid<'_>>(bytes) else { return };
        let info = grid.info;
        let count = u64::from(info.width) * u64::from(info.height);
        let Some(origin) = planar(&info.origin).filter(|_| count == grid.data.len() as u64 && count <= CELLS_MAX)
        else {
            tracing::warn!(width = info.width, height = info.height, cells = grid.data.len(), "a map is left out");
            return;
        };
        let mut heard = self.lock();
        let version = heard.map.as_ref().map_or(1, |map| map.version + 1);
        heard.map = Some(FloorMap {
            id: String::new(),
            frame: grid.header.frame_id.trim_start_matches('/').to_owned(),
            resolution_m: f64::from(info.resolution),
            origin,
            width: info.width,
            height: info.height,
            cells: grid.data.iter().map(|&cell| cell.clamp(-1, 100)).collect(),
            rooms: Vec::new(),
            furniture: Vec::new(),
            keep_outs: Vec::new(),
            version,
        });
    }

    fn on_goal(&self, bytes: &[u8], now: Stamp) {
        let Ok(goal) = decode::<PoseStamped<'_>>(bytes) else { return };
        let frame = goal.header.frame_id.trim_start_matches('/');
        let Some(pose) = planar(&goal.pose).filter(|_| frame == self.frames[0]) else {
            tracing::warn!(frame, "a marked goal is left out: it is no pose in the map");
            return;
        };
        self.lock().goal = Some((pose, now));
    }

    /// The base as odometry measured it, in the frame of odometry; `None` when that is not fresh.
    pub(super) fn fresh(&self, now: Duration) -> Option<BaseState> {
        let told = self.lock().odometry?;
        (now.saturating_sub(told.at) <= FRESH).then_some(told.base)
    }

    /// Why odometry is not fresh.
    pub(super) fn silence(&self) -> String {
        format!("nothing new on {} for {} s; look whether the base's driver runs", self.odometry, FRESH.as_secs_f64())
    }

    /// The speed that was measured last, however long ago.
    pub(super) fn last_speed(&self) -> f64 {
        self.lock().odometry.map_or(0.0, |told| told.base.velocity[0].hypot(told.base.velocity[1]))
    }

    /// Where the base is: in the map if the robot says so on `/tf`, else by odometry alone.
    pub(super) fn base(&self, now: Duration) -> Result<(Stamp, String, BaseState), RobotError> {
        let Some(told) = self.lock().odometry else {
            let reason = format!(
                "nothing came on {} yet; start the base's driver, or name its topic in the \
                                  setting robot.odometry",
                self.odometry
            );
            return Err(RobotError::Unavailable { reason });
        };
        let [map, odom, _] = &self.frames;
        let base = BaseState { is_moving: told.base.is_moving || now.saturating_sub(told.at) > FRESH, ..told.base };
        Ok(match self.map_from_base(told.stamp) {
            Some(pose) => (told.stamp, map.clone(), BaseState { pose: PlanarPose::of(&pose), ..base }),
            None => (told.stamp, odom.clone(), base),
        })
    }

    fn map_from_base(&self, stamp: Stamp) -> Option<Pose> {
        let [map, _, base] = &self.frames;
        LOOK_BACK_S.iter().find_map(|seconds| {
            let at = Stamp::from_nanos(stamp.nanos() - (seconds * 1e9) as i64);
            self.transforms.lookup(map, base, at).ok()
        })
    }

    pub(super) fn map(&self, topic: &str) -> Result<FloorMap, RobotError> {
        let map = self.lock().map.clone();
        map.ok_or_else(|| RobotError::Unavailable { reason: format!("no map came on {topic}; start the map server") })
    }

    pub(super) fn map_version(&self) -> u64 {
        self.lock().map.as_ref().map_or(0, |map| map.version)
    }

    pub(super) fn marked_goal(&self) -> Option<(PlanarPose, Stamp)> {
        self.lock().goal
    }
}

async fn subscribe(
    bus: &Arc<dyn RosBus>,
    into: &Arc<Senses>,
    clock: &Arc<dyn Clock>,
    goal_pose: &str,
    map: Option<&str>,
) -> Result<Vec<Subscription>, BusError> {
    let (senses, told) = (Arc::clone(into), Arc::clone(clock));
    let odometry: Sink = Arc::new(move |bytes| senses.on_odometry(bytes, told.as_ref()));
    let (senses, told) = (Arc::clone(into), Arc::clone(clock));
    let goal: Sink = Arc::new(move |bytes| senses.on_goal(bytes, told.now()));
    let mut held = vec![
        bus.subscribe(&into.odometry, &Odometry::TYPE, Qos::STREAM, odometry).await?,
        bus.subscribe(goal_pose, &PoseStamped::TYPE, Qos::STREAM, goal).await?,
    ];
    if let Some(topic) = map {
        let senses = Arc::clone(into);
        let sink: Sink = Arc::new(move |bytes| senses.on_map(bytes));
        held.push(bus.subscribe(topic, &OccupancyGrid::TYPE, Qos { depth: 1, ..Qos::LATCHED }, sink).await?);
    }
    Ok(held)
}
