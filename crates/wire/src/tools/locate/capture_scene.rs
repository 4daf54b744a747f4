use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};
use crate::tools::perception::PointAnswer;

/// The tool's name.
pub const NAME: &str = "capture_scene";

/// Nothing to say.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// A picture and what is in it.
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
    /// What told the things apart: `sam3`, `box`, or the engine's name.
    pub segmenter: String,
    /// `mask` when outlines follow the things, `box` when they are boxes.
    pub fidelity: &'static str,
    /// What is in it, best first.
    pub objects: Vec<SceneObject>,
    /// How many did not fit; left out when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
    /// What the engine said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A thing in the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneObject {
    /// Names it within this capture.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// How sure the engine is, 0 to 1.
    pub score: f64,
    /// x, y, width, height in pixels from the top left.
    pub bbox: [u32; 4],
    /// Corners of its outline, `[u, v]` in pixels.
    pub polygon: Vec<[u32; 2]>,
    /// A pixel of it near its middle.
    pub centroid_uv: [u32; 2],
    /// Where it is in space, if depth told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub point_3d: Option<PointAnswer>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Picture in pieces",
        description: "Call this to get a picture with everything in it told apart: for each thing `id`, `label`, `score`, \
                      `bbox`, outline `polygon`, `centroid_uv` and `point_3d`. Use it to count, to choose among things, or \
                      before a person clicks into the picture. `segmenter` and `fidelity` say whether outlines are true \
                      masks or boxes. The last 8 captures can be asked about with pixel_to_3d and grasp_from_pixel by their \
                      `stamp`. For the picture alone call get_frame.",
        class: ToolClass::Read,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: None,
    }
}
