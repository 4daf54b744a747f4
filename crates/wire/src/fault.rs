use std::fmt;

use crate::text;

/// The most characters of what serde expected.
const EXPECTED_CHARS_MAX: usize = 1_000;

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The place, such as `outputs[1].type`; empty for the whole.
    pub path: String,
    /// What is wrong there and what would be right.
    pub message: String,
}

impl Fault {
    /// A fault at a place.
    pub fn at(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }

    /// The same fault, seen from outside: its path gets `outer` in front.
    #[must_use]
    pub fn within(self, outer: &str) -> Self {
        let path = match self.path.chars().next() {
            None => outer.to_owned(),
            Some('[') => format!("{outer}{}", self.path),
            Some(_) => format!("{outer}.{}", self.path),
        };
        Self { path, message: self.message }
    }

    /// From a shape that serde refused. What the caller sent is cut to [`text::SHOWN_CHARS_MAX`] characters.
    pub fn from_serde<E: fmt::Display>(error: &serde_path_to_error::Error<E>) -> Self {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { text::cut(&path) };
        Self { path, message: shortened(&error.inner().to_string()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for Fault {}

/// A message of serde, which repeats what was sent in quotes and then says what was expected.
fn shortened(message: &str) -> String {
    let (said, expected) = match message.rsplit_once(", expected ") {
        Some((said, expected)) => (said, format!(", expected {}", text::cut_to(expected, EXPECTED_CHARS_MAX))),
        None => (message, String::new()),
    };
    let Some(at) = said.find(['`', '"']) else { return text::cut_to(said, EXPECTED_CHARS_MAX) + &expected };
    let (before, echo) = said.split_at(at + 1);
    // The quote that closes what was sent counts for nothing.
    if echo.chars().count() <= text::SHOWN_CHARS_MAX + 1 {
        return format!("{said}{expected}");
    }
    let quote = &said[at..=at];
    format!("{before}{}{quote}{expected}", text::cut(echo))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code, reason = "only read to see what is refused")]
    struct Small {
        kind: Kind,
        #[serde(default)]
        size: u8,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Cup,
        Can,
    }

    fn fault(value: Value) -> String {
        let read: Result<Small, _> = serde_path_to_error::deserialize(value);
        Fault::from_serde(&read.unwrap_err()).to_string()
    }

    #[test]
    fn what_was_sent_is_cut_and_what_was_expected_stays() {
        let long = "x".repeat(100_000);
        let cut = format!("{}…", "x".repeat(80));
        assert_eq!(fault(json!({"kind": "jar"})), "kind: unknown variant `jar`, expected `cup` or `can`");
        assert_eq!(fault(json!({"kind": long})), format!("kind: unknown variant `{cut}`, expected `cup` or `can`"));
        assert_eq!(
            fault(json!({"kind": "can", "size": long})),
            format!("size: invalid type: string \"{cut}\", expected u8")
        );
        assert_eq!(
            fault(json!({"kind": "can", (long.as_str()): 1})),
            format!("{cut}: unknown field `{cut}`, expected `kind` or `size`")
        );
        let sly = format!("`, expected {long}");
        assert!(fault(json!({"kind": "can", (sly): 1})).len() < 300);
        assert!(fault(json!({"kind": "can", "size": 1e308})).len() < 200);
    }
}
