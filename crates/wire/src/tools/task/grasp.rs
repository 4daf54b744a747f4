use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "grasp";

/// What is to be taken.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// What it is called, for example `red can`. It must be in view, or come into view from where the robot stands.
    pub object: String,
    /// Which arm: `left` or `right`; the one that reaches it when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Whether the gripper measures that it holds something now.
    pub held: bool,
    /// The arm that holds it, or that tried last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
    /// How often the fingers closed.
    pub attempts: u32,
    /// What was tried, step by step, in words.
    pub steps: Vec<String>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Take a thing",
        description: "Call this to take one thing that is near: it looks, measures a grasp, takes it, checks the grip, and \
                      tries again from a better stance or with the other arm, three times at most. `held` is true only \
                      if the gripper measures it. Answers `steps`, what was tried.",
        class: ToolClass::Motion,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
