use std::collections::BTreeMap;
use std::path::Path;

/// The variables that settings are read from: the process environment over a `.env` file. A variable that is empty counts
/// as unset. Read once, at the start; nothing ever writes to the process environment.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

/// A `.env` file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {source}")]
pub struct DotenvError {
    file: String,
    source: dotenvy::Error,
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
    let fault = |source| DotenvError { file: file.display().to_string(), source };
    if !file.is_file() {
        return Ok(BTreeMap::new());
    }
    let pairs = dotenvy::from_path_iter(file).map_err(fault)?;
    let pairs: Vec<(String, String)> = pairs.collect::<Result<_, _>>().map_err(fault)?;
    Ok(pairs.into_iter().filter(|(_, value)| !value.is_empty()).collect())
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
    fn a_broken_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".env"), "A=1\nnot a pair at all\n").unwrap();
        let Err(error) = Environment::of_process(folder.path()) else { panic!("a broken file was accepted") };
        assert!(error.to_string().contains(".env"), "{error}");
    }
}
