use std::fmt;

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

    /// From a shape that serde refused.
    pub fn from_serde<E: fmt::Display>(error: &serde_path_to_error::Error<E>) -> Self {
        let path = error.path().to_string();
        Self { path: if path == "." { String::new() } else { path }, message: error.inner().to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { f.write_str(&self.message) } else { write!(f, "{}: {}", self.path, self.message) }
    }
}

impl std::error::Error for Fault {}
