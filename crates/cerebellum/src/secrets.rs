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
    /// A folder, a pipe or a device.
    #[error("{path} is no regular file; write the token into a file of its own")]
    NoFile {
        /// The path.
        path: String,
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

/// The token in a file; white space around it does not count. What is no regular file is refused unopened: it could hold
/// the program for ever.
pub fn read_token(path: &Path) -> Result<SecretString, TokenError> {
    refuse_special(path)?;
    let text = std::fs::read_to_string(path).map_err(|source| fault(path, source))?;
    match text.trim() {
        "" => Err(TokenError::Empty { path: path.display().to_string() }),
        token => Ok(SecretString::from(token)),
    }
}

/// The operator token of the state folder, made (readable by this user alone) when there is none. One that this program
/// cannot have written whole is made anew.
pub fn operator_token(state_folder: &Path) -> Result<SecretString, TokenError> {
    let path = operator_token_file(state_folder);
    std::fs::create_dir_all(state_folder).map_err(|source| fault(&path, source))?;
    let broken = match kept(&path)? {
        Kept::Token(token) => return Ok(token),
        Kept::Broken => {
            tracing::warn!(file = %path.display(), "the operator token cannot be read and is made anew");
            true
        }
        Kept::Nothing => false,
    };
    let token = random_token();
    let placed = place(&path, &token, broken).map_err(|source| fault(&path, source))?;
    if placed {
        return Ok(SecretString::from(token));
    }
    // Another process was first, and wrote it whole.
    read_token(&path)
}

enum Kept {
    Token(SecretString),
    Broken,
    Nothing,
}

fn kept(path: &Path) -> Result<Kept, TokenError> {
    refuse_special(path)?;
    match std::fs::read(path) {
        Ok(bytes) => {
            let text = std::str::from_utf8(&bytes).unwrap_or_default().trim();
            let is_whole = text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
            Ok(if is_whole { Kept::Token(SecretString::from(text)) } else { Kept::Broken })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Kept::Nothing),
        Err(error) => Err(fault(path, error)),
    }
}

/// Writes a token aside and moves it to its place, so that nobody reads half of it. Answers whether it is there: without
/// `replace` one that came in the meantime stays.
fn place(path: &Path, token: &str, replace: bool) -> std::io::Result<bool> {
    let aside = path.with_extension(format!("{}.part", &random_token()[..16]));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&aside).and_then(|mut file| {
        file.write_all(token.as_bytes())?;
        file.sync_all()
    });
    let placed = written.and_then(|()| move_into_place(&aside, path, replace));
    // Gone already when it was moved.
    drop(std::fs::remove_file(&aside));
    placed
}

fn move_into_place(aside: &Path, path: &Path, replace: bool) -> std::io::Result<bool> {
    if !replace {
        // A link, unlike a move, never replaces.
        match std::fs::hard_link(aside, path) {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
            Err(error) => tracing::debug!(%error, "no links on this file system"),
        }
    }
    std::fs::rename(aside, path).map(|()| true)
}

fn refuse_special(path: &Path) -> Result<(), TokenError> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(TokenError::NoFile { path: path.display().to_string() }),
        // Reading says what is wrong.
        Ok(_) | Err(_) => Ok(()),
    }
}

fn fault(path: &Path, source: std::io::Error) -> TokenError {
    TokenError::Io { path: path.display().to_string(), source }
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
    fn an_operator_token_that_is_not_whole_is_made_anew_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = operator_token_file(folder.path());
        let long = "a".repeat(65);
        for broken in [&b""[..], b"\xff\xfe", b"0123", long.as_bytes(), &[b'g'; 64]] {
            std::fs::write(&path, broken).unwrap();
            let token = operator_token(folder.path()).unwrap();
            assert_eq!(token.expose_secret().len(), 64);
            assert_eq!(read_token(&path).unwrap().expose_secret(), token.expose_secret());
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left aside");
    }

    #[test]
    fn of_programs_that_start_at_once_all_have_the_same_token() {
        let folder = tempfile::tempdir().unwrap();
        let tokens: Vec<String> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| operator_token(folder.path()).unwrap())).collect();
            starts.into_iter().map(|start| start.join().unwrap().expose_secret().to_owned()).collect()
        });
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{}", tokens.len());
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(operator_token_file(folder.path())).unwrap();
        assert!(matches!(operator_token(folder.path()), Err(TokenError::NoFile { .. })));
        assert!(matches!(read_token(folder.path()), Err(TokenError::NoFile { .. })));
        #[cfg(target_os = "linux")]
        assert!(matches!(read_token(Path::new("/dev/zero")), Err(TokenError::NoFile { .. })));
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
