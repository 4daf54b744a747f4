use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "pixel_to_3d";

/// Which pixel of which picture.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// Column from the left, in pixels.
    pub u: f64,
    /// Row from the top, in pixels.
    pub v: f64,
    /// The `stamp` of the picture that was clicked, from `get_frame` or `capture_scene`; a new picture when left out.
    #[serde(default)]
    #[schemars(with = "f64")]
    pub frame_stamp: Option<f64>,
}

/// The point it shows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres.
    pub z: f64,
    /// The frame: `map` when the robot was localised, else the camera's.
    pub frame: String,
    /// Stamp of the picture, Unix seconds.
    pub stamp: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Pixel to point",
        description: "Call this to learn which point in space a pixel shows, for example one that a person clicked: \
                      {\"u\": 320, \"v\": 240, \"frame_stamp\": 1750000000.5}. Give the `stamp` of the picture that was \
                      clicked, since the robot may have moved since. The last 8 pictures are kept; an older one is answered \
                      with `frame_gone`, a pixel where depth was not measured with `no_depth`.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
