//! Secrets from files: tokens. They come from the environment or a file, never from YAML or the command line.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use rand::RngExt;
use secrecy::SecretString;

/// Why a token cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file says nothing.
    #[error("{path} is empty; it should hold a token alone")]
    Empty {
        /// The file.
        path: String,
    },
}

/// Where the operator token of a control port stands.
pub fn operator_token_file(state_folder: &Path) -> PathBuf {
    state_folder.join("operator.token")
}

/// The token in a file; white space around it does not count.
pub fn read_token(path: &Path) -> Result<SecretString, TokenError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| TokenError::Io { path: path.display().to_string(), source })?;
    match text.trim() {
        "" => Err(TokenError::Empty { path: path.display().to_string() }),
        token => Ok(SecretString::from(token)),
    }
}

/// The operator token of the state folder, made (readable by this user alone) when there is none.
pub fn operator_token(state_folder: &Path) -> Result<SecretString, TokenError> {
    let path = operator_token_file(state_folder);
    let fault = |source| TokenError::Io { path: path.display().to_string(), source };
    std::fs::create_dir_all(state_folder).map_err(fault)?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(mut file) => {
            let token = random_token();
            file.write_all(token.as_bytes()).map_err(fault)?;
            Ok(SecretString::from(token))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => read_token(&path),
        Err(error) => Err(fault(error)),
    }
}

/// 256 random bits as 64 hexadecimal digits.
pub fn random_token() -> String {
    let [high, low]: [u128; 2] = rand::rng().random();
    format!("{high:032x}{low:032x}")
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_operator_token_is_made_once_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/cerebellum");
        let first = operator_token(&state).unwrap();
        assert_eq!(first.expose_secret().len(), 64);
        assert_eq!(operator_token(&state).unwrap().expose_secret(), first.expose_secret());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(operator_token_file(&state)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn an_empty_token_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, " \n").unwrap();
        assert!(matches!(read_token(&path), Err(TokenError::Empty { .. })));
        assert!(matches!(read_token(&folder.path().join("none")), Err(TokenError::Io { .. })));
    }

    #[test]
    fn a_token_prints_as_redacted() {
        assert!(!format!("{:?}", SecretString::from("hunter2")).contains("hunter2"));
    }
}
