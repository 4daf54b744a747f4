use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cerebellum_core::{Pose, Stamp, Subscription};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::{Durability, Qos, RosBus, Sink, persist};
use crate::msg::motion::{TfMessage, TransformStamped};
use crate::msg::{Message, decode};

/// How far back moving transforms are remembered.
const REMEMBERED: Duration = Duration::from_secs(10);
/// Values kept of one transform.
const VALUES_MAX: usize = 2_000;
/// Frames kept; further ones are not learnt.
const FRAMES_MAX: usize = 1_000;
/// The longest way from a frame to an ancestor.
const DEPTH_MAX: usize = 64;
/// The longest name of a frame, in bytes.
const NAME_MAX: usize = 255;
/// The topic of moving transforms.
pub(crate) const MOVING: &str = "/tf";
const FIXED: &str = "/tf_static";
const QOS: Qos = Qos { depth: 100, ..Qos::STREAM };

/// The tree of frames of a robot, followed on `/tf` and `/tf_static`. Moving transforms are remembered for ten seconds.
#[derive(Default)]
pub struct Transforms {
    frames: Mutex<BTreeMap<String, Frame>>,
    told: watch::Sender<u64>,
}

/// Why a frame has no pose at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPose {
    /// No chain of transforms leads there.
    Unconnected,
    /// The time is before everything that is remembered.
    Past,
    /// Nothing that new has come yet.
    NotYet,
}

/// A frame in its parent.
struct Frame {
    parent: String,
    is_fixed: bool,
    /// By time, the oldest first.
    poses: VecDeque<(Stamp, Pose)>,
}

impl Transforms {
    /// Follows the transforms on a bus until `stop`, from when the bus is up.
    pub fn follow(bus: Arc<dyn RosBus>, tasks: &TaskTracker, stop: CancellationToken) -> Arc<Self> {
        let transforms = Arc::new(Self::default());
        let into = Arc::clone(&transforms);
        tasks.spawn(async move {
            let subscribed = persist(&bus, "tf", || subscribe(&bus, &into));
            let Some(_subscriptions) = stop.run_until_cancelled(subscribed).await else { return };
            stop.cancelled().await;
        });
        transforms
    }

    /// `ancestor` from `frame` at that time: between two values, their mean by time; never beyond what was told.
    pub fn lookup(&self, ancestor: &str, frame: &str, at: Stamp) -> Result<Pose, NoPose> {
        let frames = self.lock();
        let (mut pose, mut frame) = (Pose::IDENTITY, plain(frame));
        for _ in 0..DEPTH_MAX {
            if frame == plain(ancestor) {
                return Ok(pose);
            }
            let known = frames.get(frame).ok_or(NoPose::Unconnected)?;
            pose = known.at(at)?.then(&pose);
            frame = &known.parent;
        }
        Err(NoPose::Unconnected)
    }

    /// As [`Self::lookup`], waiting up to `patience` for transforms that are as new as `at`.
    pub async fn pose(&self, ancestor: &str, frame: &str, at: Stamp, patience: Duration) -> Option<Pose> {
        let mut told = self.told.subscribe();
        let looking = async {
            loop {
                told.mark_unchanged();
                match self.lookup(ancestor, frame, at) {
                    Ok(pose) => return Some(pose),
                    Err(NoPose::NotYet) => told.changed().await.ok()?,
                    Err(NoPose::Unconnected | NoPose::Past) => return None,
                }
            }
        };
        tokio::time::timeout(patience, looking).await.ok().flatten()
    }

    /// Takes what a message tells. What is no transform (not finite, no rotation, no name) is left out.
    fn take(&self, message: &TfMessage<'_>, is_fixed: bool) {
        let mut frames = self.lock();
        for told in &message.transforms {
            learn(&mut frames, told, is_fixed);
        }
        drop(frames);
        self.told.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Frame>> {
        self.frames.lock().expect("no holder of this lock panics")
    }
}

async fn subscribe(
    bus: &Arc<dyn RosBus>,
    into: &Arc<Transforms>,
) -> Result<[Subscription; 2], cerebellum_core::BusError> {
    let sink = |is_fixed| -> Sink {
        let into = Arc::clone(into);
        Arc::new(move |bytes| match decode(bytes) {
            Ok(message) => into.take(&message, is_fixed),
            Err(error) => tracing::debug!(%error, "a message of transforms is not readable"),
        })
    };
    let fixed_qos = Qos { durability: Durability::TransientLocal, ..QOS };
    let moving = bus.subscribe(MOVING, &TfMessage::TYPE, QOS, sink(false)).await?;
    let fixed = bus.subscribe(FIXED, &TfMessage::TYPE, fixed_qos, sink(true)).await?;
    Ok([moving, fixed])
}

/// Frames of ROS 1 began with a slash.
fn plain(name: &str) -> &str {
    name.trim_start_matches('/')
}

fn learn(frames: &mut BTreeMap<String, Frame>, told: &TransformStamped<'_>, is_fixed: bool) {
    let (parent, child) = (plain(told.header.frame_id), plain(told.child_frame_id));
    let is_name = |name: &str| !name.is_empty() && name.len() <= NAME_MAX;
    let Some(pose) = told.transform.to_pose().filter(|_| is_name(parent) && is_name(child) && parent != child) else {
        return;
    };
    if !frames.contains_key(child) && frames.len() >= FRAMES_MAX {
        return;
    }
    let new = || Frame { parent: parent.to_owned(), is_fixed, poses: VecDeque::new() };
    let frame = frames.entry(child.to_owned()).or_insert_with(new);
    if frame.parent != parent || frame.is_fixed != is_fixed {
        *frame = new();
    }
    frame.learn(told.header.stamp.into(), pose);
}

impl Frame {
    fn learn(&mut self, stamp: Stamp, pose: Pose) {
        if self.is_fixed {
            self.poses.clear();
        }
        let newest = self.poses.back().map_or(stamp, |(newest, _)| *newest);
        // The robot's clock was set back, or the robot is another one.
        if stamp.plus(REMEMBERED) < newest {
            self.poses.clear();
        }
        let at = self.poses.partition_point(|(earlier, _)| *earlier < stamp);
        match self.poses.get_mut(at).filter(|(same, _)| *same == stamp) {
            Some(same) => same.1 = pose,
            None => self.poses.insert(at, (stamp, pose)),
        }
        let newest = self.poses.back().map_or(stamp, |(newest, _)| *newest);
        while self.poses.len() > VALUES_MAX
            || self.poses.front().is_some_and(|(oldest, _)| oldest.plus(REMEMBERED) < newest)
        {
            self.poses.pop_front();
        }
    }

    fn at(&self, stamp: Stamp) -> Result<Pose, NoPose> {
        let next = if self.is_fixed { 0 } else { self.poses.partition_point(|(earlier, _)| *earlier < stamp) };
        let Some((later, after)) = self.poses.get(next) else { return Err(NoPose::NotYet) };
        if self.is_fixed || *later == stamp {
            return Ok(*after);
        }
        let Some((earlier, before)) = next.checked_sub(1).and_then(|previous| self.poses.get(previous)) else {
            return Err(NoPose::Past);
        };
        let part = stamp.secs_since(*earlier) / later.secs_since(*earlier);
        Ok(Pose::new(
            before.translation.lerp(after.translation, part),
            before.rotation.slerp(after.rotation, part).normalize(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use glam::DVec3;

    use super::*;
    use crate::msg::common::Header;

    fn told<'a>(parent: &'a str, child: &'a str, secs: i32, pose: &Pose) -> TransformStamped<'a> {
        let header = Header::new(Stamp::from_ros(secs, 0), parent);
        TransformStamped { header, child_frame_id: child, transform: pose.into() }
    }

    fn tell(transforms: &Transforms, told: TransformStamped<'_>) {
        transforms.take(&TfMessage { transforms: vec![told] }, false);
    }

    fn secs(secs: f64) -> Stamp {
        Stamp::from_secs_f64(secs)
    }

    #[test]
    fn a_pose_between_two_values_lies_between_them_at_the_end_of_its_chain() {
        let transforms = Transforms::default();
        let mount = Pose::new(DVec3::new(0.5, 0.0, 1.0), Pose::IDENTITY.rotation);
        transforms.take(&TfMessage { transforms: vec![told("base_link", "camera", 0, &mount)] }, true);
        tell(&transforms, told("map", "base_link", 10, &Pose::planar(1.0, 0.0, 0.0)));
        tell(&transforms, told("/map", "/base_link", 12, &Pose::planar(3.0, 0.0, FRAC_PI_2)));
        let pose = transforms.lookup("map", "camera", secs(11.0)).unwrap();
        assert!((pose.yaw() - FRAC_PI_2 / 2.0).abs() < 1e-9, "{pose:?}");
        let ahead = 0.5 * (FRAC_PI_2 / 2.0).cos();
        assert!((pose.translation - DVec3::new(2.0 + ahead, ahead, 1.0)).length() < 1e-9, "{pose:?}");
        assert!((transforms.lookup("map", "camera", secs(12.0)).unwrap().translation.x - 3.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_said_beyond_what_was_told() {
        let transforms = Transforms::default();
        assert_eq!(transforms.lookup("map", "base_link", secs(1.0)), Err(NoPose::Unconnected));
        tell(&transforms, told("map", "base_link", 10, &Pose::IDENTITY));
        for (at, expected) in [(9.0, NoPose::Past), (11.0, NoPose::NotYet)] {
            assert_eq!(transforms.lookup("map", "base_link", secs(at)), Err(expected), "{at}");
        }
        assert_eq!(transforms.lookup("odom", "base_link", secs(10.0)), Err(NoPose::Unconnected));
    }

    #[test]
    fn loops_and_nonsense_are_left_out() {
        let transforms = Transforms::default();
        tell(&transforms, told("a", "b", 1, &Pose::IDENTITY));
        tell(&transforms, told("b", "a", 1, &Pose::IDENTITY));
        assert_eq!(transforms.lookup("map", "a", secs(1.0)), Err(NoPose::Unconnected));
        let mut nonsense = told("map", "b", 1, &Pose::IDENTITY);
        nonsense.transform.rotation.w = f64::NAN;
        tell(&transforms, nonsense);
        tell(&transforms, told("map", "", 1, &Pose::IDENTITY));
        tell(&transforms, told("map", &"x".repeat(300), 1, &Pose::IDENTITY));
        assert_eq!(transforms.lock().len(), 2);
    }

    #[test]
    fn ten_seconds_and_a_thousand_frames_are_remembered() {
        let transforms = Transforms::default();
        for second in 0..100 {
            tell(&transforms, told("map", "base_link", second, &Pose::IDENTITY));
        }
        assert_eq!(transforms.lock()["base_link"].poses.len(), 11);
        tell(&transforms, told("map", "base_link", 5, &Pose::IDENTITY));
        assert_eq!(transforms.lock()["base_link"].poses.len(), 1, "the clock was set back");
        for number in 0..2_000 {
            tell(&transforms, told("map", &format!("f{number}"), 1, &Pose::IDENTITY));
        }
        assert_eq!(transforms.lock().len(), FRAMES_MAX);
    }

    #[tokio::test]
    async fn who_asks_early_waits_for_the_transform() {
        let transforms = Arc::new(Transforms::default());
        tell(&transforms, told("map", "base_link", 10, &Pose::IDENTITY));
        let asked = Arc::clone(&transforms);
        let long = Duration::from_secs(20);
        let asking = tokio::spawn(async move { asked.pose("map", "base_link", secs(11.0), long).await });
        tokio::task::yield_now().await;
        tell(&transforms, told("map", "base_link", 12, &Pose::planar(2.0, 0.0, 0.0)));
        assert!((asking.await.unwrap().unwrap().translation.x - 1.0).abs() < 1e-9);
        assert_eq!(transforms.pose("map", "base_link", secs(13.0), Duration::from_millis(1)).await, None);
    }
}
