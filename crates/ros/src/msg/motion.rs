use cerebellum_core::Pose;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

use super::common::{Header, Point, PoseWithCovariance, Quaternion};
use super::{Message, RosType};

/// `geometry_msgs/Vector3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the axes need no words")]
pub struct Vector3 {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

/// `geometry_msgs/Transform`: the child frame in its parent, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// Where the child's origin is.
    pub translation: Vector3,
    /// A unit quaternion.
    pub rotation: Quaternion,
}

impl Transform {
    /// As a pose of the domain; `None` when it is no rigid transform.
    pub fn to_pose(self) -> Option<Pose> {
        let (at, turn) = (self.translation, self.rotation);
        let pose = Pose::new(DVec3::new(at.x, at.y, at.z), DQuat::from_xyzw(turn.x, turn.y, turn.z, turn.w));
        let length = pose.rotation.length();
        (pose.translation.is_finite() && length.is_finite() && length > 0.5)
            .then(|| Pose::new(pose.translation, pose.rotation.normalize()))
    }
}

impl From<&Pose> for Transform {
    fn from(pose: &Pose) -> Self {
        let DVec3 { x, y, z } = pose.translation;
        Self { translation: Vector3 { x, y, z }, rotation: quaternion(pose) }
    }
}

/// `geometry_msgs/TransformStamped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TransformStamped<'a> {
    /// When it was so, and the parent frame.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The child frame.
    pub child_frame_id: &'a str,
    /// The child in its parent.
    pub transform: Transform,
}

/// `tf2_msgs/TFMessage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TfMessage<'a> {
    /// Some transforms of the tree.
    #[serde(borrow)]
    pub transforms: Vec<TransformStamped<'a>>,
}

impl Message for TfMessage<'_> {
    const TYPE: RosType = RosType::known("tf2_msgs/msg/TFMessage", hash::TF_MESSAGE);
}

/// `geometry_msgs/Twist`: metres and radians a second, in the moving frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Twist {
    /// Along the axes.
    pub linear: Vector3,
    /// About the axes.
    pub angular: Vector3,
}

impl Message for Twist {
    const TYPE: RosType = RosType::known("geometry_msgs/msg/Twist", hash::TWIST);
}

/// `geometry_msgs/TwistWithCovariance`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TwistWithCovariance {
    /// The twist.
    pub twist: Twist,
    /// 6 by 6, row by row.
    pub covariance: super::common::Covariance,
}

/// `nav_msgs/Odometry`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Odometry<'a> {
    /// When it was measured, and the frame of the pose.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The frame of the twist.
    pub child_frame_id: &'a str,
    /// Where the robot is.
    pub pose: PoseWithCovariance,
    /// How it moves.
    pub twist: TwistWithCovariance,
}

impl Message for Odometry<'_> {
    const TYPE: RosType = RosType::known("nav_msgs/msg/Odometry", hash::ODOMETRY);
}

impl From<&Pose> for super::common::Pose {
    fn from(pose: &Pose) -> Self {
        let DVec3 { x, y, z } = pose.translation;
        Self { position: Point { x, y, z }, orientation: quaternion(pose) }
    }
}

fn quaternion(pose: &Pose) -> Quaternion {
    let [x, y, z, w] = pose.rotation.to_array();
    Quaternion { x, y, z, w }
}

mod hash {
    pub(super) const TWIST: &str = "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a";
    pub(super) const TF_MESSAGE: &str = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087";
    pub(super) const ODOMETRY: &str = "RIHS01_3cc97dc7fb7502f8714462c526d369e35b603cfc34d946e3f2eda2766dfec6e0";
}
