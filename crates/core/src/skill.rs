use std::fmt;
use std::str::FromStr;
use std::time::Duration;

macro_rules! segment_name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;
            fn from_str(text: &str) -> Result<Self, NameError> {
                check_segment(text, $what)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// The longest name of a skill or an output.
pub const NAME_LENGTH_MAX: usize = 63;

segment_name! {
    /// The unique name of a running skill, and the segment of its topics: `[a-z][a-z0-9_]{0,62}`.
    SkillName, "skill"
}
segment_name! {
    /// The name of a semantic output, and the last segment of its topic: `[a-z][a-z0-9_]{0,62}`, neither `detections` nor
    /// `overlay`, which are topics of every skill.
    OutputName, "output"
}

/// A name that cannot be a topic segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not of the form `[a-z][a-z0-9_]{0,62}`.
    #[error("{what} name {shown:?} must be 1 to 63 characters a-z, 0-9 and _, beginning with a letter")]
    Malformed {
        /// Skill or output.
        what: &'static str,
        /// The name, cut for showing.
        shown: String,
    },
    /// A name that means something else.
    #[error("output name {name:?} is taken by a topic that every skill has")]
    Reserved {
        /// The name.
        name: String,
    },
}

fn check_segment(text: &str, what: &'static str) -> Result<(), NameError> {
    let well_formed = text.len() <= NAME_LENGTH_MAX
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !well_formed {
        return Err(NameError::Malformed { what, shown: text.chars().take(80).collect() });
    }
    if what == "output" && matches!(text, "detections" | "overlay") {
        return Err(NameError::Reserved { name: text.to_owned() });
    }
    Ok(())
}

/// What a skill does with a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SkillMode {
    /// Find what `grounding` names, with masks if asked.
    GroundAndSegment,
    /// Find everything.
    SegmentAll,
    /// Find free space for what `grounding` names.
    Region,
    /// Say what is seen, without masks.
    Describe,
}

impl SkillMode {
    /// Whether the mode needs a `grounding`; the others refuse one.
    pub const fn needs_grounding(self) -> bool {
        matches!(self, Self::GroundAndSegment | Self::Region)
    }

    /// The word used in skills and templates.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GroundAndSegment => "ground_and_segment",
            Self::SegmentAll => "segment_all",
            Self::Region => "region",
            Self::Describe => "describe",
        }
    }
}

/// The type of a semantic output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutputType {
    /// `true` or `false`.
    Boolean,
    /// Free text.
    Text,
    /// A finite decimal number.
    Number,
    /// A list of values.
    List,
}

impl OutputType {
    /// The word used in skills and templates.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Text => "text",
            Self::Number => "number",
            Self::List => "list",
        }
    }
}

/// A single value.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// True or false.
    Boolean(bool),
    /// A finite number.
    Number(f64),
    /// Text.
    Text(String),
}

/// The value of a semantic output.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputValue {
    /// True or false.
    Boolean(bool),
    /// A finite number.
    Number(f64),
    /// Text.
    Text(String),
    /// Values in order.
    List(Vec<Scalar>),
}

impl OutputValue {
    /// The type the value has.
    pub const fn output_type(&self) -> OutputType {
        match self {
            Self::Boolean(_) => OutputType::Boolean,
            Self::Number(_) => OutputType::Number,
            Self::Text(_) => OutputType::Text,
            Self::List(_) => OutputType::List,
        }
    }
}

/// A semantic output a skill publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// Its name, unique in the skill.
    pub name: OutputName,
    /// Its type.
    pub output_type: OutputType,
    /// What it says; an engine judges it by these words.
    pub description: String,
}

/// The intent to be told when an output takes a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// One of the skill's outputs.
    pub output: OutputName,
    /// The value to wait for, of the output's type.
    pub equals: OutputValue,
    /// How long the output must hold the value before it counts.
    pub debounce: Duration,
    /// What is waited for, in words.
    pub condition: Option<String>,
}

/// The rate at which a skill looks when it does not say, in pictures a second.
pub const RATE_HZ_DEFAULT: f64 = 2.0;
/// The highest rate a skill may ask for, in pictures a second.
pub const RATE_HZ_MAX: f64 = 30.0;
/// The longest time between two looks of a skill.
pub const PERIOD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// A checked skill: what the vision node runs. Made by `cerebellum-wire` from JSON, which names the path of each fault.
#[derive(Clone, Debug, PartialEq)]
pub struct Skill {
    /// Unique among running skills.
    pub name: SkillName,
    /// What is done with each picture.
    pub mode: SkillMode,
    /// What is looked for; there exactly when the mode needs it.
    pub grounding: Option<String>,
    /// Whether masks are wanted.
    pub segment: bool,
    /// One result, then the skill disables itself and keeps its last value latched.
    pub once: bool,
    /// Pictures a second, above 0 and up to [`RATE_HZ_MAX`]; `None` is [`RATE_HZ_DEFAULT`].
    pub rate_hz: Option<f64>,
    /// What is said about each picture, with unique names.
    pub outputs: Vec<OutputSpec>,
    /// Who wants to be told of what.
    pub watch: Option<Watch>,
}

impl Skill {
    /// `/vision/{skill}/detections`.
    pub fn detections_topic(&self) -> String {
        format!("/vision/{}/detections", self.name)
    }

    /// `/vision/{skill}/overlay`.
    pub fn overlay_topic(&self) -> String {
        format!("/vision/{}/overlay", self.name)
    }

    /// `/vision/{skill}/{output}`.
    pub fn output_topic(&self, output: &OutputName) -> String {
        format!("/vision/{}/{output}", self.name)
    }

    /// The topics of all semantic outputs, in the skill's order.
    pub fn semantic_topics(&self) -> Vec<String> {
        self.outputs.iter().map(|output| self.output_topic(&output.name)).collect()
    }

    /// The time between two looks: at most [`PERIOD_MAX`], however small the rate.
    pub fn period(&self) -> Duration {
        let seconds = 1.0 / self.rate_hz.unwrap_or(RATE_HZ_DEFAULT);
        Duration::from_secs_f64(seconds.min(PERIOD_MAX.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_topic_segments() {
        for good in ["a", "find_object", "find_object_2", &"a".repeat(63)] {
            assert!(good.parse::<SkillName>().is_ok(), "{good}");
        }
        for bad in ["", "_a", "2a", "A", "a/b", "a-b", "ä", "a b", &"a".repeat(64), &"a".repeat(300)] {
            assert!(bad.parse::<SkillName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn outputs_cannot_take_the_topics_every_skill_has() {
        assert!("detections".parse::<SkillName>().is_ok());
        assert_eq!("overlay".parse::<OutputName>(), Err(NameError::Reserved { name: "overlay".into() }));
        assert!("detections".parse::<OutputName>().is_err());
    }

    #[test]
    fn the_smallest_rate_is_a_look_a_day() {
        let mut skill = Skill {
            name: "slow".parse().unwrap(),
            mode: SkillMode::Describe,
            grounding: None,
            segment: false,
            once: false,
            rate_hz: Some(f64::MIN_POSITIVE),
            outputs: vec![],
            watch: None,
        };
        assert_eq!(skill.period(), PERIOD_MAX);
        skill.rate_hz = None;
        assert_eq!(skill.period(), Duration::from_millis(500));
    }

    #[test]
    fn a_long_bad_name_is_cut_in_the_message() {
        let NameError::Malformed { shown, .. } = "x/".repeat(500).parse::<SkillName>().unwrap_err() else { panic!() };
        assert_eq!(shown.len(), 80);
    }
}
