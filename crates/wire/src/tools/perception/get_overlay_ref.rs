use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "get_overlay_ref";

/// Which skill.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The `skill_id` that `instantiate_skill` answered, for example `find_object`.
    pub skill: String,
}

/// Where the annotated picture is.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The topic.
    pub topic: String,
    /// Stamp of the picture, Unix seconds.
    pub stamp: f64,
    /// How old it is, in seconds.
    pub age_s: f64,
    /// Whether it is too old to act on.
    pub stale: bool,
    /// The skills there are, when `skill` is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Vec<String>>,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Reference to the annotated picture",
        description: "Call this when someone wants to look at what a skill sees: answers the topic and stamp of its newest \
                      picture with boxes, masks and labels drawn in, for a user interface to fetch. The pixels never pass \
                      through here.",
        class: ToolClass::Read,
        blocking: false,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
