use serde::{Deserialize, Serialize};

use super::common::{CompressedImage, Header, PointStamped, RegionOfInterest};
use super::{Message, RosType};

/// `ros2_vision_interfaces/StampedString`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampedString<'a> {
    /// Stamp and frame of the picture that was looked at.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The value as text.
    pub data: &'a str,
}

impl Message for StampedString<'_> {
    const TYPE: RosType = RosType::known("ros2_vision_interfaces/msg/StampedString", hash::STAMPED_STRING);
}

/// `ros2_vision_interfaces/VisionDetection`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VisionDetection<'a> {
    /// Stable while the thing is tracked; empty if it is not tracked.
    pub id: &'a str,
    /// What it is called.
    pub label: &'a str,
    /// 0 to 1.
    pub score: f32,
    /// Pixels of the source picture.
    #[serde(rename = "box")]
    pub bounds: RegionOfInterest,
    /// Whether `mask` says something.
    pub has_mask: bool,
    /// PNG, one channel, 0 or 255, exactly the size of the box.
    #[serde(borrow)]
    pub mask: CompressedImage<'a>,
    /// Whether `point` says something.
    pub has_point: bool,
    /// Metres.
    #[serde(borrow)]
    pub point: PointStamped<'a>,
}

/// `ros2_vision_interfaces/VisionDetectionArray`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VisionDetectionArray<'a> {
    /// Stamp and frame of the picture that was looked at.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The skill that looked.
    pub skill: &'a str,
    /// Pixels in a row of the picture.
    pub image_width: u32,
    /// Its rows.
    pub image_height: u32,
    /// What was found, best first.
    #[serde(borrow)]
    pub detections: Vec<VisionDetection<'a>>,
}

impl Message for VisionDetectionArray<'_> {
    const TYPE: RosType =
        RosType::known("ros2_vision_interfaces/msg/VisionDetectionArray", hash::VISION_DETECTION_ARRAY);
}

/// The service `ros2_vision_interfaces/CreateVisionTask`.
pub const CREATE_VISION_TASK: RosType =
    RosType::known("ros2_vision_interfaces/srv/CreateVisionTask", hash::CREATE_VISION_TASK);

/// The request of `CreateVisionTask`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateRequest<'a> {
    /// The skill.
    pub skill_json: &'a str,
}

/// The response of `CreateVisionTask`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreateResponse<'a> {
    /// Whether the skill runs.
    pub success: bool,
    /// Why not, or what the node wants said.
    pub message: &'a str,
    /// The name the skill runs under.
    pub name: &'a str,
    /// Detections first, then the semantic outputs, then the overlay.
    #[serde(borrow)]
    pub topics: Vec<&'a str>,
}

/// The service `ros2_vision_interfaces/ManageVisionTask`.
pub const MANAGE_VISION_TASK: RosType =
    RosType::known("ros2_vision_interfaces/srv/ManageVisionTask", hash::MANAGE_VISION_TASK);

/// The request of `ManageVisionTask`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManageRequest<'a> {
    /// The skill.
    pub name: &'a str,
    /// `delete`, `enable` or `disable`.
    pub action: &'a str,
}

/// The response of `ManageVisionTask`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManageResponse<'a> {
    /// Whether it was done.
    pub success: bool,
    /// Why not, or what was done.
    pub message: &'a str,
}

/// The service `ros2_vision_interfaces/ListVisionTasks`.
pub const LIST_VISION_TASKS: RosType =
    RosType::known("ros2_vision_interfaces/srv/ListVisionTasks", hash::LIST_VISION_TASKS);

/// The request of `ListVisionTasks`: empty, which ROS writes as one byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListRequest {
    /// Says nothing.
    pub structure_needs_at_least_one_member: u8,
}

/// The response of `ListVisionTasks`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListResponse<'a> {
    /// The tasks.
    pub tasks_json: &'a str,
}

mod hash {
    pub(super) const STAMPED_STRING: &str = "RIHS01_e2628c8cf6cf3bae42e0e9ce69aa504b5d1ccd01c5ba76a10f33b68d59b86c76";
    pub(super) const VISION_DETECTION_ARRAY: &str =
        "RIHS01_95865000fdbe4dc6cad4d84920b7208c44846abf053551be32848c7d0f02bb05";
    pub(super) const CREATE_VISION_TASK: &str =
        "RIHS01_7f98190b7d14a0fc7819f8be38b4c9439193e505be23cddb793953674db30fb6";
    pub(super) const MANAGE_VISION_TASK: &str =
        "RIHS01_113dc1d138f75741a27311f8fe1c16103a645eccece1c0cd592dc2af45b33cd4";
    pub(super) const LIST_VISION_TASKS: &str =
        "RIHS01_a9657ad768689580815d1a2b759ff87cd9f732dbc8348758041aa7b8954ebd09";
}
