use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "get_map";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// The map.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Which map this is.
    pub map_id: String,
    /// The frame of all coordinates.
    pub frame: String,
    /// Metres a cell.
    pub resolution_m: f64,
    /// Where the lower left corner of the picture lies.
    pub origin: Place,
    /// Cells along `x` of the origin: pixels in a row.
    pub width: u32,
    /// Cells along `y` of the origin: rows.
    pub height: u32,
    /// The grid as PNG, 8 bit grey, base64.
    pub grid_png_b64: String,
    /// Rooms, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rooms: Vec<Region>,
    /// Furniture, if known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub furniture: Vec<Region>,
    /// Where the base must not go.
    pub keepouts: Vec<Region>,
    /// Grows with every change.
    pub version: u64,
}

/// A named area.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Region {
    /// What people call it.
    pub name: String,
    /// Corners `[x, y]` in metres, in order round it.
    pub outline: Vec<[f64; 2]>,
    /// Height in metres of the surface that things can stand on; left out when nothing stands on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface_height_m: Option<f64>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "The map",
        description: "Call this to get the map of the floor: a grid as a PNG picture (white free, black \
                      occupied, grey unknown; the first row of pixels is the top, at the largest y), rooms and \
                      furniture with their outlines, and the zones that the base must not enter. The map is \
                      large: call it to draw it, not to plan a drive. `version` grows when it changes.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: None,
    }
}
