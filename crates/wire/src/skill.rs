use std::collections::HashSet;
use std::time::Duration;

use cerebellum_core::skill::{RATE_HZ_DEFAULT, RATE_HZ_MAX};
use cerebellum_core::{OutputName, OutputSpec, OutputType, Skill, SkillMode, SkillName, Watch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::{output, text};

/// The longest grounding or description, in characters.
pub const TEXT_LENGTH_MAX: usize = 1_000;
/// The most outputs a skill may have.
pub const OUTPUTS_MAX: usize = 32;
/// The longest debounce of a watch, in seconds.
pub const DEBOUNCE_S_MAX: f64 = 3_600.0;

/// A skill as JSON: the `skill_json` of `create_vision_task`, and the argument of `instantiate_raw_skill`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct SkillJson {
    /// Unique name, becomes the topic segment: lower case letters, digits and _, beginning with a letter, at most 63.
    pub name: String,
    /// What to do with each picture: `ground_and_segment`, `segment_all`, `region` or `describe`.
    pub mode: ModeJson,
    /// What to look for, in words. Required for `ground_and_segment` and `region`, refused for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub grounding: Option<String>,
    /// Whether to produce masks.
    #[serde(default)]
    pub segment: bool,
    /// Look once, keep the result, then stop looking.
    #[serde(default)]
    pub once: bool,
    /// How many pictures a second to look at: above 0, at most 30. Default 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub rate_hz: Option<f64>,
    /// What to say about each picture; each output becomes a topic.
    #[serde(default)]
    pub outputs: Vec<OutputJson>,
    /// Optional: push an event when an output takes a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "WatchJson")]
    pub watch: Option<WatchJson>,
}

/// The mode of a skill.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum ModeJson {
    /// Find what `grounding` names.
    GroundAndSegment,
    /// Find everything.
    SegmentAll,
    /// Find free space for what `grounding` names.
    Region,
    /// Say what is seen, without masks.
    Describe,
}

/// A semantic output.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct OutputJson {
    /// Unique in the skill; neither `detections` nor `overlay`.
    pub name: String,
    /// `boolean`, `text`, `number` or `list`.
    #[serde(rename = "type")]
    pub output_type: OutputTypeJson,
    /// What it says, for example "whether a person is in view".
    #[serde(default)]
    pub description: String,
}

/// The type of an output.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum OutputTypeJson {
    /// `true` or `false`.
    Boolean,
    /// Free text.
    Text,
    /// A decimal number.
    Number,
    /// A list.
    List,
}

/// The intent to be told when an output takes a value.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct WatchJson {
    /// The name of one of the outputs.
    pub output: String,
    /// The value to wait for, of the output's type: true or false, a number, or a text.
    pub equals: Value,
    /// How many seconds the output must hold the value before it counts.
    #[serde(default)]
    pub debounce_s: f64,
    /// What is waited for, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub condition: Option<String>,
}

/// The JSON Schema of a skill, as every LLM interface takes it. A skill that fits it may still break a rule that
/// [`from_value`] names.
pub fn json_schema() -> Value {
    crate::schema::input::<SkillJson>()
}

/// Reads a skill from JSON text. The fault names the path of what is wrong.
pub fn from_str(text: &str) -> Result<Skill, Fault> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Value::deserialize(&mut reader).map_err(|error| Fault::at("", format!("not JSON: {error}")))?;
    reader.end().map_err(|error| Fault::at("", format!("more text after the skill: {error}")))?;
    from_value(&value)
}

/// Reads a skill from a JSON value. The fault names the path of what is wrong.
pub fn from_value(value: &Value) -> Result<Skill, Fault> {
    check_shape(value)?;
    let json: SkillJson = serde_path_to_error::deserialize(value).map_err(|error| Fault::from_serde(&error))?;
    json.try_into()
}

/// The skill as JSON; reading it back gives an equal skill.
pub fn to_value(skill: &Skill) -> Value {
    serde_json::to_value(SkillJson::from(skill)).expect("a skill's fields are strings, finite numbers and booleans")
}

impl TryFrom<SkillJson> for Skill {
    type Error = Fault;

    fn try_from(json: SkillJson) -> Result<Self, Fault> {
        let name: SkillName = json.name.parse().map_err(|error| Fault::at("name", format!("{error}")))?;
        let mode = SkillMode::from(json.mode);
        let grounding = check_grounding(mode, json.grounding)?;
        let rate_hz = check_rate(json.rate_hz)?;
        let outputs = check_outputs(json.outputs)?;
        let watch =
            json.watch.map(|watch| check_watch(watch, &outputs)).transpose().map_err(|fault| fault.within("watch"))?;
        Ok(Self { name, mode, grounding, segment: json.segment, once: json.once, rate_hz, outputs, watch })
    }
}

/// Serde would also take arrays, with the fields in order.
fn check_shape(value: &Value) -> Result<(), Fault> {
    let Value::Object(skill) = value else {
        return Err(Fault::at("", format!("a skill is a JSON object with name and mode, not {}", kind(value))));
    };
    match skill.get("outputs") {
        Some(Value::Array(outputs)) => {
            if let Some((index, wrong)) = outputs.iter().enumerate().find(|(_, output)| !output.is_object()) {
                let message = format!("an output is a JSON object with name and type, not {}", kind(wrong));
                return Err(Fault::at(format!("outputs[{index}]"), message));
            }
        }
        Some(wrong) => {
            return Err(Fault::at("outputs", format!("must be a JSON array of outputs, not {}", kind(wrong))));
        }
        None => {}
    }
    match skill.get("watch") {
        None | Some(Value::Null | Value::Object(_)) => Ok(()),
        Some(wrong) => {
            let message = format!("a watch is a JSON object with output and equals, not {}", kind(wrong));
            Err(Fault::at("watch", message))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn check_grounding(mode: SkillMode, grounding: Option<String>) -> Result<Option<String>, Fault> {
    let word = mode.as_str();
    match grounding {
        None if mode.needs_grounding() => {
            Err(Fault::at("grounding", format!("mode {word} needs to be told what to look for")))
        }
        Some(_) if !mode.needs_grounding() => Err(Fault::at(
            "grounding",
            format!("mode {word} takes none; leave it out, or use ground_and_segment or region"),
        )),
        Some(text) if text.trim().is_empty() => Err(Fault::at("grounding", "must say what to look for, not be empty")),
        Some(text) => check_text("grounding", &text).map(Some),
        None => Ok(None),
    }
}

/// One line of bounded length that shows all it says. White space around it, as YAML leaves it behind, is dropped.
fn check_text(path: &str, text: &str) -> Result<String, Fault> {
    let text = text.trim();
    let length = text.chars().count();
    if length > TEXT_LENGTH_MAX {
        return Err(Fault::at(path, format!("has {length} characters, at most {TEXT_LENGTH_MAX} are taken")));
    }
    if let Some(hidden) = text.chars().find(|c| text::is_hidden(*c)) {
        let message = format!("has the character U+{:04X}; must be one line of plain text", u32::from(hidden));
        return Err(Fault::at(path, message));
    }
    Ok(text.to_owned())
}

fn check_rate(rate_hz: Option<f64>) -> Result<Option<f64>, Fault> {
    match rate_hz {
        Some(rate) if !(rate > 0.0 && rate <= RATE_HZ_MAX) => Err(Fault::at(
            "rate_hz",
            format!("is {}; must be above 0 and at most {RATE_HZ_MAX} (default {RATE_HZ_DEFAULT})", text::number(rate)),
        )),
        other => Ok(other),
    }
}

fn check_outputs(outputs: Vec<OutputJson>) -> Result<Vec<OutputSpec>, Fault> {
    if outputs.len() > OUTPUTS_MAX {
        return Err(Fault::at("outputs", format!("has {}, at most {OUTPUTS_MAX} are taken", outputs.len())));
    }
    let mut seen = HashSet::new();
    let mut checked = Vec::with_capacity(outputs.len());
    for (index, output) in outputs.into_iter().enumerate() {
        let path = format!("outputs[{index}]");
        let name: OutputName =
            output.name.parse().map_err(|error| Fault::at("name", format!("{error}")).within(&path))?;
        if !seen.insert(name.clone()) {
            return Err(Fault::at(
                format!("{path}.name"),
                format!("{name} stands twice; output names are unique in a skill"),
            ));
        }
        let description = check_text(&format!("{path}.description"), &output.description)?;
        checked.push(OutputSpec { name, output_type: output.output_type.into(), description });
    }
    Ok(checked)
}

fn check_watch(json: WatchJson, outputs: &[OutputSpec]) -> Result<Watch, Fault> {
    let Some(spec) = outputs.iter().find(|output| output.name.as_str() == json.output) else {
        let known: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
        let shown = text::cut(&json.output);
        return Err(Fault::at("output", format!("{shown:?} is no output of this skill; it has {known:?}")));
    };
    let equals =
        output::from_json(&json.equals).filter(|value| value.output_type() == spec.output_type).ok_or_else(|| {
            let wanted = spec.output_type.as_str();
            Fault::at(
                "equals",
                format!("{} is no {wanted}, which output {} is", text::cut(&json.equals.to_string()), spec.name),
            )
        })?;
    if !(0.0..=DEBOUNCE_S_MAX).contains(&json.debounce_s) {
        let shown = text::number(json.debounce_s);
        return Err(Fault::at("debounce_s", format!("is {shown}; must be 0 to {DEBOUNCE_S_MAX}")));
    }
    let condition = json.condition.map(|text| check_text("condition", &text)).transpose()?;
    Ok(Watch { output: spec.name.clone(), equals, debounce: Duration::from_secs_f64(json.debounce_s), condition })
}

impl From<&Skill> for SkillJson {
    fn from(skill: &Skill) -> Self {
        Self {
            name: skill.name.to_string(),
            mode: skill.mode.into(),
            grounding: skill.grounding.clone(),
            segment: skill.segment,
            once: skill.once,
            rate_hz: skill.rate_hz,
            outputs: skill.outputs.iter().map(OutputJson::from).collect(),
            watch: skill.watch.as_ref().map(WatchJson::from),
        }
    }
}

impl From<&OutputSpec> for OutputJson {
    fn from(spec: &OutputSpec) -> Self {
        Self {
            name: spec.name.to_string(),
            output_type: spec.output_type.into(),
            description: spec.description.clone(),
        }
    }
}

impl From<&Watch> for WatchJson {
    fn from(watch: &Watch) -> Self {
        Self {
            output: watch.output.to_string(),
            equals: output::to_json(&watch.equals),
            debounce_s: watch.debounce.as_secs_f64(),
            condition: watch.condition.clone(),
        }
    }
}

impl From<ModeJson> for SkillMode {
    fn from(mode: ModeJson) -> Self {
        match mode {
            ModeJson::GroundAndSegment => Self::GroundAndSegment,
            ModeJson::SegmentAll => Self::SegmentAll,
            ModeJson::Region => Self::Region,
            ModeJson::Describe => Self::Describe,
        }
    }
}

impl From<SkillMode> for ModeJson {
    fn from(mode: SkillMode) -> Self {
        match mode {
            SkillMode::GroundAndSegment => Self::GroundAndSegment,
            SkillMode::SegmentAll => Self::SegmentAll,
            SkillMode::Region => Self::Region,
            SkillMode::Describe => Self::Describe,
        }
    }
}

impl From<OutputTypeJson> for OutputType {
    fn from(output_type: OutputTypeJson) -> Self {
        match output_type {
            OutputTypeJson::Boolean => Self::Boolean,
            OutputTypeJson::Text => Self::Text,
            OutputTypeJson::Number => Self::Number,
            OutputTypeJson::List => Self::List,
        }
    }
}

impl From<OutputType> for OutputTypeJson {
    fn from(output_type: OutputType) -> Self {
        match output_type {
            OutputType::Boolean => Self::Boolean,
            OutputType::Text => Self::Text,
            OutputType::Number => Self::Number,
            OutputType::List => Self::List,
        }
    }
}

#[cfg(test)]
mod tests;
