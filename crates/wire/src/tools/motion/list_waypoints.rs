use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Place;
use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "list_waypoints";

/// Nothing.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {}

/// The places by name.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// Each place under its name.
    pub waypoints: BTreeMap<String, Waypoint>,
    /// The map that the robot uses now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_id: Option<String>,
    /// Places that belong to another map.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_maps: Vec<String>,
    /// How many places did not fit into the answer; left out when none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted: Option<usize>,
}

/// A saved place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Waypoint {
    /// The name, as it was saved.
    pub name: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: Place,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "List the saved places",
        description: "Call this to learn the places that navigate_to_named drives to. Answers at once with name \
                      and pose of each. `other_maps` names places that were saved on another map: the robot does \
                      not drive to those.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
