use std::collections::BTreeMap;
use std::path::Path;

/// The variables that settings are read from: the process environment over a `.env` file. A variable that is empty counts
/// as unset. Read once, at the start; nothing ever writes to the process environment.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

/// A `.env` file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DotenvError {
    /// It cannot be opened or read.
    #[error("{file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },
    /// A line is none. It is never quoted: it may hold a secret.
    #[error(
        "{file}:{line}: expected NAME=value, and quotes that are closed; the line is not shown, it may hold a secret"
    )]
    Malformed {
        /// The file.
        file: String,
        /// The number of the line, from 1.
        line: usize,
    },
}

impl Environment {
    /// The process environment, and below it the `.env` of `folder` if there is one.
    pub fn of_process(folder: &Path) -> Result<Self, DotenvError> {
        let mut variables = dotenv(&folder.join(".env"))?;
        variables.extend(std::env::vars_os().filter_map(|(key, value)| {
            let value = value.into_string().ok().filter(|value| !value.is_empty())?;
            Some((key.into_string().ok()?, value))
        }));
        Ok(Self(variables))
    }

    /// Just these variables.
    pub fn of<K: Into<String>, V: Into<String>>(variables: impl IntoIterator<Item = (K, V)>) -> Self {
        let variables = variables.into_iter().map(|(key, value)| (key.into(), value.into()));
        Self(variables.filter(|(_, value)| !value.is_empty()).collect())
    }

    /// The value of a variable; `None` when it is unset or empty.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }
}

fn dotenv(file: &Path) -> Result<BTreeMap<String, String>, DotenvError> {
    let name = || file.display().to_string();
    if !file.is_file() {
        return Ok(BTreeMap::new());
    }
    let text = std::fs::read_to_string(file).map_err(|source| DotenvError::Unreadable { file: name(), source })?;
    let pairs: Result<Vec<(String, String)>, _> = dotenvy::from_read_iter(text.as_bytes()).collect();
    let pairs = pairs.map_err(|_it_quotes_the_line| DotenvError::Malformed { file: name(), line: bad_line(&text) })?;
    Ok(pairs.into_iter().filter(|(_, value)| !value.is_empty()).collect())
}

/// The line that makes the text unreadable: all before it can be read, and with it not.
fn bad_line(text: &str) -> usize {
    let ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some(*end)
    });
    let is_read = |end: &usize| dotenvy::from_read_iter(&text.as_bytes()[..*end]).all(|pair| pair.is_ok());
    let ends: Vec<usize> = ends.collect();
    // A quote that is never closed spoils every line from its own on.
    ends.iter().rposition(is_read).map_or(1, |good| good + 2).min(ends.len().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let environment = Environment::of([("A", ""), ("B", "b")]);
        assert_eq!((environment.get("A"), environment.get("B"), environment.get("C")), (None, Some("b"), None));
    }

    #[test]
    fn the_process_environment_wins_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "PATH=/from/the/file\nCEREBELLUM_TEST_ONLY_HERE='a b'\n").unwrap();
        let environment = Environment::of_process(folder.path()).unwrap();
        assert_eq!(environment.get("CEREBELLUM_TEST_ONLY_HERE"), Some("a b"));
        assert_ne!(environment.get("PATH"), Some("/from/the/file"));
    }

    #[test]
    fn a_broken_line_is_named_and_never_quoted() {
        let folder = tempfile::tempdir().unwrap();
        for (text, line) in [
            ("A=1\nMY TOKEN hunter2\n", ".env:2:"),
            ("RVC_EVENT_SECRET='hunter2\nB=1\n", ".env:1:"),
            ("A=1\n\nB=2\nC hunter2", ".env:4:"),
        ] {
            std::fs::write(folder.path().join(".env"), text).unwrap();
            let Err(error) = Environment::of_process(folder.path()) else { panic!("accepted: {text}") };
            let message = format!("{error} {error:?}");
            assert!(message.contains(line) && !message.contains("hunter2"), "{message}");
        }
    }
}
