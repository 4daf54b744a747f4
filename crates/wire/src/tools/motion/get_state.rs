use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "get_state";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// The body, as measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The base; left out when the robot has none that moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// The arms by side, `left` and `right`.
    pub arms: BTreeMap<String, Arm>,
    /// Whether the robot is stopped until a person resumes it.
    pub stop: Stop,
    /// The motion that runs; null when none does.
    pub motion: Option<Running>,
    /// What is left of the path that the base follows: points `[x, y]` in `map`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<[f64; 2]>,
    /// Grows when the map or its keep-out zones change.
    pub map_version: u64,
    /// How old the measurement is, in seconds.
    pub age_s: f64,
}

/// The base, as measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Base {
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
    /// The frame of the pose, `map` when localised.
    pub frame: String,
    /// Metres a second, forward.
    pub vx_mps: f64,
    /// Metres a second, to the left.
    pub vy_mps: f64,
    /// Degrees a second about `z`.
    pub wz_dps: f64,
    /// Whether it moves.
    pub moving: bool,
}

/// An arm, as measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Arm {
    /// Whether the gripper holds something; left out when it cannot measure that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<bool>,
    /// What was picked up with it and not yet put down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The named posture it is in, if in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posture: Option<String>,
}

/// Whether the robot is stopped.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Stop {
    /// No motion starts while this is true. A person ends it at the robot's control port.
    pub latched: bool,
    /// Who stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When, Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
}

/// A motion that runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Running {
    /// The tool.
    pub tool: String,
    /// Since when, Unix seconds.
    pub since: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "State of base and arms",
        description: "Call this to learn what the robot's body does now: where the base is and how fast it \
                      moves, what each arm holds and in which posture it is, whether the robot is stopped, which \
                      motion runs and since when. `held` is what the gripper measures and is left out when it \
                      cannot measure; `object` is what was picked up last with that arm. Answers at once.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
