use serde::{Deserialize, Serialize};

use super::action::ActionTypes;
use super::common::{Header, Pose, Time};
use super::motion::Twist;
use super::{Message, RosType};

/// `geometry_msgs/PoseStamped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoseStamped<'a> {
    /// When, and the frame of the pose.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The pose.
    pub pose: Pose,
}

impl Message for PoseStamped<'_> {
    const TYPE: RosType = RosType::known(
        "geometry_msgs/msg/PoseStamped",
        "RIHS01_10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8",
    );
}

/// `geometry_msgs/TwistStamped`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TwistStamped<'a> {
    /// When, and the frame of the twist.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The twist.
    pub twist: Twist,
}

impl Message for TwistStamped<'_> {
    const TYPE: RosType = RosType::known(
        "geometry_msgs/msg/TwistStamped",
        "RIHS01_5f0fcd4f81d5d06ad9b4c4c63e3ea51b82d6ae4d0558f1d475229b1121db6f64",
    );
}

/// `nav_msgs/MapMetaData`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapMetaData {
    /// When the map was loaded.
    pub map_load_time: Time,
    /// Metres a cell.
    pub resolution: f32,
    /// Cells along `x`.
    pub width: u32,
    /// Cells along `y`.
    pub height: u32,
    /// Where the corner of the first cell lies.
    pub origin: Pose,
}

/// `nav_msgs/OccupancyGrid`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OccupancyGrid<'a> {
    /// When, and the frame of the origin.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// The grid.
    pub info: MapMetaData,
    /// Row by row: 0 free to 100 occupied, -1 unknown.
    pub data: Vec<i8>,
}

impl Message for OccupancyGrid<'_> {
    const TYPE: RosType = RosType::known(
        "nav_msgs/msg/OccupancyGrid",
        "RIHS01_8d348150c12913a31ee0ec170fbf25089e4745d17035792a1ba94d6f0bc0cfc7",
    );
}

/// The goal of `nav2_msgs/action/NavigateToPose`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NavigateGoal<'a> {
    /// Where to.
    #[serde(borrow)]
    pub pose: PoseStamped<'a>,
    /// The behaviour tree to use; empty for the robot's own.
    pub behavior_tree: &'a str,
}

/// The feedback of `NavigateToPose`, as far as all its layouts agree; newer ones have more behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NavigateFeedback<'a> {
    /// Where the robot is.
    #[serde(borrow)]
    pub current_pose: PoseStamped<'a>,
    /// How long it drives already (`builtin_interfaces/Duration`, which looks like a time).
    pub navigation_time: Time,
    /// How long it will take.
    pub estimated_time_remaining: Time,
    /// How often it had to help itself.
    pub number_of_recoveries: i16,
    /// Metres to go.
    pub distance_remaining: f32,
}

/// The result of `NavigateToPose` since ROS 2 Jazzy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavigateResult {
    /// 0 when all went well.
    pub error_code: u16,
    /// In words.
    pub error_msg: String,
}

/// How a robot's `NavigateToPose` looks. The goal is the same in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NavigateLayout {
    /// An empty result (until Humble).
    Plain,
    /// A result with a code (Iron).
    Coded,
    /// A result with a code and a text (since Jazzy).
    Worded,
}

impl NavigateLayout {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Coded, Self::Worded];

    /// The hash of `get_result`, which tells the layouts apart.
    pub const fn result_hash(self) -> &'static str {
        match self {
            Self::Plain => "RIHS01_ecdf36dd1b71f9a255fbe5636c4d40c9923cf3b32aaf0b241431b4bb1c1e2e71",
            Self::Coded => "RIHS01_12dc670d3dac446019bb61a2bef1fd92ada02d582ca70922706d933a54b07f1c",
            Self::Worded => "RIHS01_c407920357d566771e8882b4ef4d1f1a84ee922d609920ccd57faa6d6e391dc5",
        }
    }

    /// The layout that a robot announces; `None` for one that is not known.
    pub fn of(get_result: &RosType) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.result_hash() == get_result.hash)
    }

    /// The types of the action.
    pub const fn types(self) -> ActionTypes {
        ActionTypes {
            send_goal: RosType::known(
                "nav2_msgs/action/NavigateToPose_SendGoal",
                "RIHS01_a4fcb3bee1bf32e21a0e541a943b221aa0826996e2c98f079b47022b256f48b5",
            ),
            get_result: RosType::known("nav2_msgs/action/NavigateToPose_GetResult", self.result_hash()),
            feedback: RosType::known(
                "nav2_msgs/action/NavigateToPose_FeedbackMessage",
                "RIHS01_9d1f6fa2eb975ce733b419ac2e97b134d8ff92b6478b6559feed9a50bdfd82b3",
            ),
        }
    }
}
