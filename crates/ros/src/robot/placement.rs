use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{BusError, Pose, Stamp};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::{Publisher, Qos, RosBus, persist};
use crate::msg::common::{Header, PoseWithCovariance};
use crate::msg::motion::{Odometry, TfMessage, TransformStamped, Twist, TwistWithCovariance, Vector3};
use crate::msg::{Message, encode};
use crate::tf;

/// Where a robot and its camera are, measured at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement {
    /// When, on the robot's clock.
    pub stamp: Stamp,
    /// `map` from `base_link`.
    pub map_from_base: Pose,
    /// `base_link` from the camera's optical frame.
    pub base_from_camera: Pose,
    /// The name of the camera's optical frame.
    pub camera_frame: &'static str,
    /// Metres a second along `x` and `y` of the base.
    pub velocity: [f64; 2],
    /// Radians a second about `z`.
    pub turn_rate: f64,
}

/// A robot that knows where it is.
#[async_trait]
pub trait Placed: Send + Sync {
    /// Where it is now; `None` when it cannot say.
    async fn placement(&self) -> Option<Placement>;
}

/// How often the placement is told while somebody listens.
const PERIOD: Duration = Duration::from_millis(50);
/// How soon a new subscriber is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The topic of odometry.
const ODOMETRY: &str = "/odom";

/// Tells on `/tf` (`map` to `odom` to `base_link` to the camera) and `/odom` where the robot is, until `stop`. Odometry is
/// exact: `odom` is `map`. Nobody who listens costs nothing.
pub fn serve_placement(bus: Arc<dyn RosBus>, robot: Arc<dyn Placed>, tasks: &TaskTracker, stop: CancellationToken) {
    tasks.spawn(async move {
        stop.run_until_cancelled(run(bus, robot)).await;
    });
}

async fn run(bus: Arc<dyn RosBus>, robot: Arc<dyn Placed>) {
    let publishers = persist(&bus, "odometry", || advertise(&bus)).await;
    let mut last = Stamp::ZERO;
    loop {
        if !publishers.is_wanted() {
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        let until = tokio::time::Instant::now() + PERIOD;
        // Where time stands still there is nothing new to tell.
        if let Some(placement) = robot.placement().await.filter(|placement| placement.stamp != last) {
            last = placement.stamp;
            publishers.tell(&placement);
        }
        tokio::time::sleep_until(until).await;
    }
}

struct Publishers {
    transforms: Box<dyn Publisher>,
    odometry: Box<dyn Publisher>,
}

async fn advertise(bus: &Arc<dyn RosBus>) -> Result<Publishers, BusError> {
    Ok(Publishers {
        transforms: bus.advertise(tf::MOVING, &TfMessage::TYPE, Qos { depth: 100, ..Qos::STREAM }).await?,
        odometry: bus.advertise(ODOMETRY, &Odometry::TYPE, Qos::STREAM).await?,
    })
}

impl Publishers {
    fn is_wanted(&self) -> bool {
        self.transforms.is_wanted() || self.odometry.is_wanted()
    }

    fn tell(&self, at: &Placement) {
        let link = |parent, child, pose: &Pose| TransformStamped {
            header: Header::new(at.stamp, parent),
            child_frame_id: child,
            transform: pose.into(),
        };
        let transforms = vec![
            link("map", "odom", &Pose::IDENTITY),
            link("odom", "base_link", &at.map_from_base),
            link("base_link", at.camera_frame, &at.base_from_camera),
        ];
        self.transforms.put(encode(&TfMessage { transforms }));
        let twist = Twist {
            linear: Vector3 { x: at.velocity[0], y: at.velocity[1], z: 0.0 },
            angular: Vector3 { z: at.turn_rate, ..Vector3::default() },
        };
        self.odometry.put(encode(&Odometry {
            header: Header::new(at.stamp, "odom"),
            child_frame_id: "base_link",
            pose: PoseWithCovariance { pose: (&at.map_from_base).into(), ..PoseWithCovariance::default() },
            twist: TwistWithCovariance { twist, ..TwistWithCovariance::default() },
        }));
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::bus::contract::{collect, eventually};
    use crate::mem::MemBus;
    use crate::msg::decode;

    struct Still(std::sync::atomic::AtomicI64);

    #[async_trait]
    impl Placed for Still {
        async fn placement(&self) -> Option<Placement> {
            let secs = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            Some(Placement {
                stamp: Stamp::from_nanos(secs * 1_000_000_000),
                map_from_base: Pose::planar(2.0, 1.0, 0.5),
                base_from_camera: Pose::new(DVec3::Z, Pose::IDENTITY.rotation),
                camera_frame: "head_camera_optical",
                velocity: [0.25, 0.0],
                turn_rate: 0.5,
            })
        }
    }

    #[tokio::test]
    async fn a_listener_learns_where_the_camera_is_and_nobody_is_told_unasked() {
        let bus = MemBus::new();
        let robot = Arc::new(Still(1.into()));
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        serve_placement(bus.clone(), robot.clone(), &tasks, stop.clone());
        eventually("the topics are there", || bus.graph().unwrap().publishers.len() == 2).await;
        assert_eq!(robot.0.load(std::sync::atomic::Ordering::SeqCst), 1, "nobody listens");

        let transforms = tf::Transforms::follow(bus.clone(), &tasks, stop.clone());
        let at = Stamp::from_ros(2, 500_000_000);
        let camera = || transforms.lookup("map", "head_camera_optical", at);
        eventually("the camera has a pose", || camera().is_ok()).await;
        assert!((camera().unwrap().translation - DVec3::new(2.0, 1.0, 1.0)).length() < 1e-9);

        let (sink, told) = collect();
        let _odometry = bus.subscribe(ODOMETRY, &Odometry::TYPE, Qos::STREAM, sink).await.unwrap();
        eventually("odometry comes", || !told.lock().unwrap().is_empty()).await;
        let bytes = told.lock().unwrap()[0].clone();
        let told: Odometry<'_> = decode(&bytes).unwrap();
        assert_eq!((told.header.frame_id, told.child_frame_id), ("odom", "base_link"));
        assert_eq!((told.pose.pose.position.x, told.twist.twist.angular.z), (2.0, 0.5));
        stop.cancel();
        tasks.close();
        tasks.wait().await;
    }
}
