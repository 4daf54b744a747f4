use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::instantiate_skill::Answer;
use crate::schema;
use crate::skill::SkillJson;
use crate::tool::{ToolClass, ToolSpec};

/// The tool's name.
pub const NAME: &str = "instantiate_raw_skill";

/// A whole skill. Read as JSON first, so that a fault is told by the skill's own rules.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Arguments {
    /// The whole skill, for example
    /// `{"name": "red_cans", "mode": "ground_and_segment", "grounding": "red can", "segment": true}`.
    #[schemars(with = "SkillJson")]
    pub skill: Value,
}

/// The tool as it is offered.
pub fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        title: "Start a skill of your own",
        description: "Call this only when no template fits: it starts a skill that you write out in full. mode is \
                      ground_and_segment (find what grounding names), region (find free space for what grounding names), \
                      segment_all (find everything) or describe (say what is seen); grounding is required for the first two \
                      and refused for the others. Each output becomes a topic. Prefer instantiate_skill. Answers as \
                      instantiate_skill does; a fault names the part of the skill that is wrong.",
        class: ToolClass::Write,
        blocking: true,
        input_schema: schema::input::<Arguments>(),
        output_schema: Some(schema::output::<Answer>()),
    }
}
