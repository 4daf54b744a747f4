use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GraspArgument;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "pick";

/// What is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What it is called, for example `red can`; becomes the `object` of `get_state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The `grasp` of `grasp_pose` or `grasp_from_pixel`, as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grasp: Option<GraspArgument>,
    /// Which arm: `left` or `right`, best the `side` that came with the grasp; a free one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Whether the gripper measures that it holds something now.
    pub held: bool,
    /// The arm.
    pub side: String,
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What a planner should know of how it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Pick up a thing",
        description: "Call this to pick up one thing: one approach, one closing of the fingers, one lift, then \
                      the gripper measures whether it holds something. Give the `grasp` that grasp_pose answered \
                      just before; with `target` alone the robot looks for the thing itself if it can. `held` is \
                      true only if the gripper measures it; check it, and look again before the next try. A \
                      grasp older than 10 seconds or from before the base moved is recomputed, and `reason` says \
                      so. Refused while that hand is full.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
