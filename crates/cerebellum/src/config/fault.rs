use std::fmt;

use super::node::Place;

/// What is wrong with the configuration, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where it stands; `None` for what no file says.
    pub place: Option<Place>,
    /// The setting, such as `ros.zenoh.router`; empty when it is about a whole file.
    pub setting: String,
    /// What is wrong and what would be accepted.
    pub message: String,
}

impl ConfigFault {
    /// A fault of a setting that stands in a file.
    pub fn at(place: &Place, setting: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: Some(place.clone()), setting: setting.into(), message: message.into() }
    }

    /// A fault of something that no file says: a flag, a variable, a missing file.
    pub fn outside(message: impl Into<String>) -> Self {
        Self { place: None, setting: String::new(), message: message.into() }
    }
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        if !self.setting.is_empty() {
            write!(f, "{}: ", excerpt(&self.setting))?;
        }
        f.write_str(&self.message)
    }
}

/// The most characters of a file that a fault shows.
const EXCERPT: usize = 80;

/// The beginning of what a file says, for a fault: one line, at most 80 characters, nothing that is not printed.
pub(super) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(EXCERPT).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.chars().count() < text.chars().count() {
        shown.push('…');
    }
    shown
}

/// The same in quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", excerpt(text))
}

/// Everything that is wrong with the configuration, one fault a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFaults(pub Vec<ConfigFault>);

impl fmt::Display for ConfigFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigFaults {}

impl From<ConfigFault> for ConfigFaults {
    fn from(fault: ConfigFault) -> Self {
        Self(vec![fault])
    }
}
