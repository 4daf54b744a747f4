pub use super::{GraspAnswer as Answer, GraspArguments as Arguments};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "model_object";

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Measure a thing to take it",
        description: "The same as grasp_pose, under the name that other robots use: measures a thing in view and answers \
                      `reachable`, `side` and `grasp`. Prefer grasp_pose.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
