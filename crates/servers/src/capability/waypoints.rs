use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cerebellum_wire::{ToolError, text};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tracing::warn;

use super::{Failure, folded};

/// The most places that are kept.
const PLACES_MAX: usize = 500;
/// The longest name, in characters.
const NAME_CHARS_MAX: usize = 64;
/// How long another process may hold the file.
const LOCK_WITHIN: Duration = Duration::from_secs(2);
/// How often the lock is tried again.
const TRY_EVERY: Duration = Duration::from_millis(10);
/// The most damaged files that are kept aside.
const DAMAGED_MAX: usize = 20;
/// The most names that an answer lists.
const SHOWN_MAX: usize = 100;

/// A place that was saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    pub(super) name: String,
    /// Metres in `map`.
    pub(super) x: f64,
    /// Metres in `map`.
    pub(super) y: f64,
    /// Degrees about `z`.
    pub(super) yaw_deg: f64,
    /// The map it belongs to; none on a robot without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) map_id: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
struct Content {
    waypoints: Vec<Saved>,
}

/// The saved places. The file is read anew each time, since other processes write it too; it is written whole or not at
/// all, under a lock, and a copy of the last good one stands beside it.
#[derive(Clone)]
pub(super) struct Waypoints {
    path: PathBuf,
    warning: Arc<Mutex<Option<String>>>,
}

/// Why a place could not be saved.
#[derive(Debug, thiserror::Error)]
pub(super) enum SaveError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("another process holds the file of places for longer than {} s", LOCK_WITHIN.as_secs())]
    Locked,
    #[error("{PLACES_MAX} places are saved, which is the most")]
    Full,
}

impl Waypoints {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, warning: Arc::default() }
    }

    /// All places by name, and what was wrong with the file since the server began.
    pub(super) async fn read(&self) -> Result<(Vec<Saved>, Option<String>), SaveError> {
        let path = self.path.clone();
        let Ok(content) = blocking(move || Ok(parse(&path)?)).await else {
            // Another process may mend it meanwhile: look again under the lock.
            let lock = lock(&self.path).await?;
            let this = self.clone();
            let content = blocking(move || this.load(&lock)).await?;
            return Ok((content.waypoints, self.warning()));
        };
        Ok((content.waypoints, self.warning()))
    }

    /// Saves a place; answers whether one of that name was there, and what was wrong with the file.
    pub(super) async fn save(&self, place: Saved) -> Result<(bool, Option<String>), SaveError> {
        let lock = lock(&self.path).await?;
        let this = self.clone();
        let replaced = blocking(move || {
            let mut content = this.load(&lock)?;
            let key = folded(&place.name);
            let before = content.waypoints.len();
            content.waypoints.retain(|old| folded(&old.name) != key);
            let replaced = content.waypoints.len() < before;
            if content.waypoints.len() >= PLACES_MAX {
                return Err(SaveError::Full);
            }
            content.waypoints.push(place);
            content.waypoints.sort_by(|a, b| a.name.cmp(&b.name));
            this.write(&content)?;
            Ok(replaced)
        });
        Ok((replaced.await?, self.warning()))
    }

    /// A file that is cut short or otherwise damaged is kept aside, and the last good copy takes its place.
    fn load(&self, _lock: &File) -> Result<Content, SaveError> {
        let error = match parse(&self.path) {
            Ok(content) => return Ok(content),
            Err(error) => error,
        };
        let aside = aside(&self.path)?;
        let copy = parse_copy(&beside(&self.path, "last-good"));
        let (content, told) = match copy {
            Ok(content) => {
                let count = content.waypoints.len();
                (content, format!("the last good copy with {count} places is used"))
            }
            Err(_) => (Content::default(), "there is no good copy, so no place is known".to_owned()),
        };
        let warning = format!("the file of saved places was damaged and is kept as {}; {told}", aside.display());
        warn!(path = %self.path.display(), %error, "{warning}");
        *self.warning.lock().unwrap_or_else(PoisonError::into_inner) = Some(warning);
        self.write(&content)?;
        Ok(content)
    }

    fn write(&self, content: &Content) -> io::Result<()> {
        let bytes = serde_json::to_vec_pretty(content)?;
        write_whole(&self.path, &bytes)?;
        write_whole(&beside(&self.path, "last-good"), &bytes)
    }

    fn warning(&self) -> Option<String> {
        self.warning.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Writes a file whole or not at all, also when the power goes.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let new = beside(path, &format!("{}.tmp", std::process::id()));
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    // The rename itself lasts only when the folder is on disk.
    File::open(folder)?.sync_all()
}

/// Files are read and written on a thread of their own.
async fn blocking<T: Send + 'static>(
    doing: impl FnOnce() -> Result<T, SaveError> + Send + 'static,
) -> Result<T, SaveError> {
    tokio::task::spawn_blocking(doing).await.unwrap_or_else(|error| Err(io::Error::other(error).into()))
}

/// The file's places. A file that was never there has none; one that vanished is damage.
fn parse(path: &Path) -> io::Result<Content> {
    match parse_copy(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !beside(path, "last-good").exists() => {
            Ok(Content::default())
        }
        parsed => parsed,
    }
}

fn parse_copy(path: &Path) -> io::Result<Content> {
    let content: Content = serde_json::from_slice(&fs::read(path)?)?;
    let is_finite = |saved: &Saved| [saved.x, saved.y, saved.yaw_deg].iter().all(|value| value.is_finite());
    if content.waypoints.iter().all(is_finite) {
        Ok(content)
    } else {
        Err(io::Error::other("a place has a number that is not finite"))
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

async fn lock(path: &Path) -> Result<File, SaveError> {
    let name = beside(path, "lock");
    let lock = blocking(move || {
        if let Some(folder) = name.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(File::options().create(true).truncate(false).write(true).open(name)?)
    })
    .await?;
    let give_up = Instant::now() + LOCK_WITHIN;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => tokio::time::sleep(TRY_EVERY).await,
            Err(TryLockError::WouldBlock) => return Err(SaveError::Locked),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}

/// Renames a damaged file to the first free name beside it; the last name is written over when all are taken.
fn aside(path: &Path) -> io::Result<PathBuf> {
    let named = |number: usize| beside(path, &format!("damaged.{number}"));
    let name = (1..DAMAGED_MAX).map(named).find(|name| !name.exists()).unwrap_or_else(|| named(DAMAGED_MAX));
    match fs::rename(path, &name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(name),
    }
}

/// The name as it is kept, or why it is none.
pub(super) fn name_of(given: &str) -> Result<String, Failure> {
    let name = given.split_whitespace().collect::<Vec<_>>().join(" ");
    let fault = if name.is_empty() {
        Some("a place needs a name".to_owned())
    } else if name.chars().count() > NAME_CHARS_MAX {
        Some(format!("a name has at most {NAME_CHARS_MAX} characters"))
    } else if name.chars().any(text::is_hidden) {
        Some("a name has no hidden characters".to_owned())
    } else {
        None
    };
    match fault {
        None => Ok(name),
        Some(fault) => Err(Failure::bad(fault, "Choose a short plain name, such as `workbench`.", &())),
    }
}

/// The answer when the file cannot be used.
pub(super) fn unusable(error: &SaveError) -> Failure {
    let next = match error {
        SaveError::Io(_) => "A person must look at the file of saved places; the server's log names it.",
        SaveError::Locked => "Call again in a few seconds.",
        SaveError::Full => "A person must remove places from the file first.",
    };
    ToolError::new("places_unavailable", format!("the saved places cannot be used: {error}"), next).into()
}

/// The names that an answer lists.
pub(super) fn shown<'a>(names: &[&'a str]) -> Vec<&'a str> {
    names.iter().take(SHOWN_MAX).copied().collect()
}

#[cfg(test)]
mod tests;
