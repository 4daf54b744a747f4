pub use super::{PlaceAnswer as Answer, PlaceArguments as Arguments};
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "place_pose";

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Where is room to put it down?",
        description: "Call this right before place, when the surface is in view, to find a free place on it. Example: \
                      {\"surface\": \"other table\"}. Answers `pose` (hand it to place unchanged) and `clearance_m`, the room \
                      around it. A surface that is not on the map is answered with `known`; one that is not in view with \
                      where to go; a full one with `no_room`.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
