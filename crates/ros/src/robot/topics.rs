use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Body, COMMAND_EXPIRY, Clock, FloorMap, PlanarPose, Stamp};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::{Qos, RosBus, Sink, persist};
use crate::msg::common::{Header, Pose};
use crate::msg::motion::{Transform, Twist, Vector3};
use crate::msg::nav::{MapMetaData, OccupancyGrid, PoseStamped, TwistStamped};
use crate::msg::{Message, decode, encode};

/// How often it is looked whether the map changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const MAP: &str = "/map";

/// Serves the floor as `/map`, latched, until `stop`: again whenever the robot says that its map changed.
pub fn serve_map(bus: Arc<dyn RosBus>, body: Arc<dyn Body>, tasks: &TaskTracker, stop: CancellationToken) {
    let serving = async move {
        let qos = Qos { depth: 1, ..Qos::LATCHED };
        let ros_type = OccupancyGrid::TYPE;
        let publisher = persist(&bus, "map", || bus.advertise(MAP, &ros_type, qos)).await;
        let mut told = None;
        loop {
            if let Ok(state) = body.state().await
                && told != Some(state.map_version)
                && let Ok(map) = body.map().await
            {
                told = Some(map.version);
                publisher.put(encode(&grid(&map, state.stamp)));
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    tasks.spawn(async move {
        stop.run_until_cancelled(serving).await;
    });
}

fn grid(map: &FloorMap, stamp: Stamp) -> OccupancyGrid<'_> {
    OccupancyGrid {
        header: Header::new(stamp, &map.frame),
        info: MapMetaData {
            map_load_time: stamp.into(),
            resolution: map.resolution_m as f32,
            width: map.width,
            height: map.height,
            origin: (&map.origin.to_pose()).into(),
        },
        data: map.cells.clone(),
    }
}

/// The floor part of a pose; `None` when it is no pose.
pub(super) fn planar(pose: &Pose) -> Option<PlanarPose> {
    let translation = Vector3 { x: pose.position.x, y: pose.position.y, z: pose.position.z };
    let pose = Transform { translation, rotation: pose.orientation }.to_pose()?;
    Some(PlanarPose::of(&pose))
}

/// Calls `mark` for each goal that a person puts on the map (`geometry_msgs/PoseStamped` in `map`, as `RViz` sends it on
/// `/goal_pose`), until `stop`. Goals in other frames are left out.
pub fn take_goals(
    bus: Arc<dyn RosBus>,
    topic: &str,
    mark: Arc<dyn Fn(PlanarPose) + Send + Sync>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let topic = topic.to_owned();
    let sink: Sink = Arc::new(move |bytes| {
        let Ok(goal) = decode::<PoseStamped<'_>>(bytes) else { return };
        let frame = goal.header.frame_id.trim_start_matches('/');
        let Some(pose) = planar(&goal.pose).filter(|_| frame == "map") else {
            tracing::warn!(frame, "a marked goal is left out: it is no pose in map");
            return;
        };
        mark(pose);
    });
    tasks.spawn(async move {
        let ros_type = PoseStamped::TYPE;
        let subscribed =
            persist(&bus, "goal pose", || bus.subscribe(&topic, &ros_type, Qos::STREAM, Arc::clone(&sink)));
        let Some(_held) = stop.run_until_cancelled(subscribed).await else { return };
        stop.cancelled().await;
    });
}

/// What a base is to do, in its own frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Metres a second along `x` and `y`.
    pub linear: [f64; 2],
    /// Radians a second about `z`.
    pub turn_rate: f64,
}

impl Velocity {
    /// Standing still.
    pub const ZERO: Self = Self { linear: [0.0; 2], turn_rate: 0.0 };

    pub(super) fn to_twist(self) -> Twist {
        Twist {
            linear: Vector3 { x: self.linear[0], y: self.linear[1], z: 0.0 },
            angular: Vector3 { z: self.turn_rate, ..Vector3::default() },
        }
    }

    /// `None` when it is not finite.
    pub(super) fn of(twist: &Twist) -> Option<Self> {
        let velocity = Self { linear: [twist.linear.x, twist.linear.y], turn_rate: twist.angular.z };
        let is_finite = velocity.linear.iter().all(|speed| speed.is_finite()) && velocity.turn_rate.is_finite();
        is_finite.then_some(velocity)
    }
}

/// How a robot takes velocities on its topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VelocityType {
    /// `geometry_msgs/Twist`.
    Twist,
    /// `geometry_msgs/TwistStamped`.
    Stamped,
}

/// Calls `drive` for each velocity on `topic`, and with [`Velocity::ZERO`] when none came for [`COMMAND_EXPIRY`] of `clock`
/// or one that is not finite came, until `stop`.
pub fn take_velocities(
    bus: Arc<dyn RosBus>,
    topic: &str,
    kind: VelocityType,
    drive: Arc<dyn Fn(Velocity) + Send + Sync>,
    clock: Arc<dyn Clock>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let topic = topic.to_owned();
    let (commands, mut newest) = watch::channel((Velocity::ZERO, Duration::ZERO));
    let told = Arc::clone(&clock);
    let sink: Sink = Arc::new(move |bytes| {
        let twist = match kind {
            VelocityType::Twist => decode::<Twist>(bytes),
            VelocityType::Stamped => decode::<TwistStamped<'_>>(bytes).map(|stamped| stamped.twist),
        };
        let velocity = twist.ok().and_then(|twist| Velocity::of(&twist)).unwrap_or(Velocity::ZERO);
        commands.send_replace((velocity, told.monotonic()));
    });
    let taking = async move {
        let ros_type = match kind {
            VelocityType::Twist => Twist::TYPE,
            VelocityType::Stamped => TwistStamped::TYPE,
        };
        let _held =
            persist(&bus, "velocities", || bus.subscribe(&topic, &ros_type, Qos::STREAM, Arc::clone(&sink))).await;
        while newest.changed().await.is_ok() {
            loop {
                let (velocity, at) = *newest.borrow_and_update();
                drive(velocity);
                let left = (at + COMMAND_EXPIRY).saturating_sub(clock.monotonic());
                tokio::select! {
                    changed = newest.changed() => if changed.is_err() { break },
                    () = clock.sleep(left) => break,
                }
            }
            drive(Velocity::ZERO);
        }
    };
    tasks.spawn(async move {
        stop.run_until_cancelled(taking).await;
    });
}
