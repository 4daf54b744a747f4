pub use super::{GraspAnswer as Answer, GraspArguments as Arguments};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "grasp_pose";

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "How to take it",
        description: "Call this right before pick, when the thing is in view and the base stands near it, to measure how to \
                      take it. Example: {\"target\": \"red can\", \"side\": \"right\"}. Answers `reachable`, the `side`, and \
                      `grasp`: hand `grasp` to pick unchanged. When `reachable` is false, `reason` says why: not in view, \
                      too wide, no room for the fingers, or too far; with too far call go_to_stance and then this again. A \
                      grasp is good for 10 seconds and only until the base moves.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
