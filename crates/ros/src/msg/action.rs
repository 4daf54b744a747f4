use serde::{Deserialize, Serialize};

use super::common::Time;
use super::{Message, RosType};

/// `unique_identifier_msgs/UUID`: the name of a goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uuid {
    /// Sixteen random bytes; all zero names no goal.
    pub uuid: [u8; 16],
}

impl Uuid {
    /// A name that was never used.
    pub fn random() -> Self {
        Self { uuid: rand::random() }
    }
}

/// `action_msgs/GoalInfo`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalInfo {
    /// The goal.
    pub goal_id: Uuid,
    /// When it was accepted.
    pub stamp: Time,
}

/// `action_msgs/GoalStatus`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalStatus {
    /// The goal.
    pub goal_info: GoalInfo,
    /// How far it is: a [`crate::action::Status`].
    pub status: i8,
}

/// `action_msgs/GoalStatusArray`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalStatusArray {
    /// All goals that the server remembers.
    pub status_list: Vec<GoalStatus>,
}

impl Message for GoalStatusArray {
    const TYPE: RosType = RosType::known(
        "action_msgs/msg/GoalStatusArray",
        "RIHS01_6c1684b00f177d37438febe6e709fc4e2b0d4248dca4854946f9ed8b30cda83e",
    );
}

/// The service `action_msgs/CancelGoal`.
pub const CANCEL_GOAL: RosType = RosType::known(
    "action_msgs/srv/CancelGoal",
    "RIHS01_573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a",
);

/// The request of `CancelGoal`. No id and no time means every goal; a time means all that were accepted until then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequest {
    /// Which.
    pub goal_info: GoalInfo,
}

/// The response of `CancelGoal`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelResponse {
    /// 0 accepted, 1 rejected, 2 unknown goal, 3 goal over already.
    pub return_code: i8,
    /// The goals that are being cancelled.
    pub goals_canceling: Vec<GoalInfo>,
}

/// The request of every action's `send_goal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SendGoalRequest<G> {
    /// The caller's choice.
    pub goal_id: Uuid,
    /// What is to be done.
    pub goal: G,
}

/// The response of every action's `send_goal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendGoalResponse {
    /// Whether the server will do it.
    pub accepted: bool,
    /// When it was accepted.
    pub stamp: Time,
}

/// The request of every action's `get_result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetResultRequest {
    /// The goal.
    pub goal_id: Uuid,
}

/// The response of every action's `get_result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GetResultResponse<R> {
    /// What came of it: a [`crate::action::Status`].
    pub status: i8,
    /// The action's own result.
    pub result: R,
}

/// What every action tells on `feedback`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackMessage<F> {
    /// The goal.
    pub goal_id: Uuid,
    /// How it goes.
    pub feedback: F,
}

/// The types of an action, apart from those that all actions share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionTypes {
    /// The service `send_goal`.
    pub send_goal: RosType,
    /// The service `get_result`.
    pub get_result: RosType,
    /// The topic `feedback`.
    pub feedback: RosType,
}

/// `cerebellum_robot_interfaces/action/JsonTask`: any work, as JSON.
pub const JSON_TASK: ActionTypes = ActionTypes {
    send_goal: RosType::known(
        "cerebellum_robot_interfaces/action/JsonTask_SendGoal",
        "RIHS01_8ab03d13c18355d31ebe9c582f5cd3109fa90063160bb24ca6d17d0d5956dad4",
    ),
    get_result: RosType::known(
        "cerebellum_robot_interfaces/action/JsonTask_GetResult",
        "RIHS01_740f4dcb5fab51306ae8de1ff5148cb8bd15640172ba684ed896470245a8d49b",
    ),
    feedback: RosType::known(
        "cerebellum_robot_interfaces/action/JsonTask_FeedbackMessage",
        "RIHS01_b20d708dbb20e6e75950114f38cffd8bd7cd3d16dc8413a4ea438100a4b47401",
    ),
};

/// The goal, the result and the feedback of `JsonTask` alike: one text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JsonText {
    /// The JSON.
    pub json: String,
}
