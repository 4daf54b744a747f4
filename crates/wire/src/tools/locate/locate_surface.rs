pub use super::{PlaceAnswer as Answer, PlaceArguments as Arguments};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "locate_surface";

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Find room on a surface",
        description: "The same as place_pose, under the name that other robots use: a free place on a surface in view, as \
                      `pose` and `clearance_m`. Prefer place_pose.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
