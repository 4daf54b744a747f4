use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "get_frame";

/// Nothing to say.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// The newest picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The picture as JPEG in base64.
    pub image_jpeg_b64: String,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// When it was taken, Unix seconds; `pixel_to_3d` and `grasp_from_pixel` take it as `frame_stamp`.
    pub stamp: f64,
    /// How old it is, in seconds.
    pub age_s: f64,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Camera picture",
        description: "Call this to get the newest picture of the head camera, and nothing else: `image_jpeg_b64`, `width`, \
                      `height`, `stamp`, `age_s`. Cheap enough to poll for a live view. When no new picture comes it says so; \
                      it never answers an old one. To learn what is in the picture call capture_scene.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: None,
    }
}
