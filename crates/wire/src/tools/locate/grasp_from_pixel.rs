use schemars::JsonSchema;
use serde::Deserialize;

pub use super::GraspAnswer as Answer;
use super::SideWord;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "grasp_from_pixel";

/// Which pixel of which picture, and which arm.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Column from the left, in pixels.
    pub u: f64,
    /// Row from the top, in pixels.
    pub v: f64,
    /// Which arm shall take it; the better one when left out.
    #[serde(default)]
    #[schemars(with = "SideWord")]
    pub side: Option<SideWord>,
    /// The `stamp` of the picture that was clicked, from `get_frame` or `capture_scene`; a new picture when left out.
    #[serde(default)]
    #[schemars(with = "f64")]
    pub frame_stamp: Option<f64>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "How to take what was clicked",
        description: "Call this to measure how to take the thing that a pixel shows, for example one that a person clicked: \
                      {\"u\": 320, \"v\": 240, \"frame_stamp\": 1750000000.5}. Answers the same as grasp_pose. A pixel that \
                      shows no single thing is `reachable: false` with the reason.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
