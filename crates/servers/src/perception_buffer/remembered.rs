use std::path::{Path, PathBuf};
use std::{fs, io};

use cerebellum_core::Stamp;
use serde::{Deserialize, Serialize};
use tracing::warn;

/// The most watches remembered; the oldest go first.
const WATCHES_MAX: usize = 512;
/// The most files kept aside because they could not be read.
const UNREAD_MAX: usize = 20;

/// What the buffer knows of watches across restarts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Remembered {
    /// When the task list was last read, now or before the restart.
    pub(super) listed: Option<Stamp>,
    /// A task created from then on is new to the buffer.
    reference: Stamp,
    watches: Vec<RememberedWatch>,
}

/// The last known state of one watch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RememberedWatch {
    pub(super) task: String,
    /// Nanoseconds: a task of the same name created anew is another task.
    pub(super) created: i64,
    pub(super) output: String,
    pub(super) equals: String,
    pub(super) known: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct File {
    listed: Option<i64>,
    watches: Vec<RememberedWatch>,
}

impl Remembered {
    /// Nothing is known; tasks created from `started` on are new.
    pub(super) fn nothing(started: Stamp) -> Self {
        Self { listed: None, reference: started, watches: Vec::new() }
    }

    /// What was written before. A file that is missing or cannot be read is the same as nothing known; what cannot be read
    /// is kept beside it, since the next save takes its place.
    pub(super) fn load(path: &Path, started: Stamp) -> Self {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::nothing(started),
            Err(error) => {
                set_aside(path, &error.to_string());
                return Self::nothing(started);
            }
        };
        match serde_json::from_str::<File>(&text) {
            Ok(file) => {
                let listed = file.listed.map(Stamp::from_nanos);
                Self { listed, reference: listed.unwrap_or(started), watches: file.watches }
            }
            Err(error) => {
                set_aside(path, &error.to_string());
                Self::nothing(started)
            }
        }
    }

    /// Writes it whole or not at all.
    pub(super) fn save(&self, path: &Path) -> io::Result<()> {
        let file = File { listed: self.listed.map(Stamp::nanos), watches: self.watches.clone() };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let beside = path.with_extension("tmp");
        fs::write(&beside, serde_json::to_vec(&file)?)?;
        fs::rename(&beside, path)
    }

    pub(super) fn is_new(&self, created: Stamp) -> bool {
        created >= self.reference
    }

    pub(super) fn known(&self, task: &str, created: Stamp, output: &str, equals: &str) -> Option<bool> {
        let is_it = |watch: &&RememberedWatch| {
            watch.task == task && watch.created == created.nanos() && watch.output == output && watch.equals == equals
        };
        self.watches.iter().find(is_it).and_then(|watch| watch.known)
    }

    pub(super) fn keep(&mut self, watch: RememberedWatch) {
        self.watches.retain(|old| old.task != watch.task || old.created != watch.created);
        self.watches.push(watch);
        let excess = self.watches.len().saturating_sub(WATCHES_MAX);
        self.watches.drain(..excess);
    }
}

/// Renames a file that cannot be read to `.unread.N`, with the lowest number that is free. When all are taken the file stays.
fn set_aside(path: &Path, error: &str) {
    let mut names = (1..=UNREAD_MAX).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".unread.{number}"));
        PathBuf::from(name)
    });
    let path_shown = path.display();
    let Some(aside) = names.find(|name| fs::symlink_metadata(name).is_err()) else {
        warn!(path = %path_shown, error, "watch state cannot be read, beginning anew; {UNREAD_MAX} are kept already");
        return;
    };
    match fs::rename(path, &aside) {
        Ok(()) => {
            warn!(path = %path_shown, error, kept = %aside.display(), "watch state cannot be read, beginning anew");
        }
        Err(refused) => {
            warn!(path = %path_shown, error, %refused, "watch state can neither be read nor kept aside, beginning anew");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(task: &str, known: Option<bool>) -> RememberedWatch {
        RememberedWatch { task: task.into(), created: 7, output: "t".into(), equals: "true".into(), known }
    }

    #[test]
    fn what_was_saved_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/watches.json");
        let mut remembered = Remembered::nothing(Stamp::from_nanos(5));
        remembered.listed = Some(Stamp::from_nanos(9));
        remembered.keep(watch("a", Some(false)));
        remembered.keep(watch("a", Some(true)));
        remembered.save(&path).unwrap();
        let read = Remembered::load(&path, Stamp::from_nanos(100));
        assert_eq!(read.known("a", Stamp::from_nanos(7), "t", "true"), Some(true));
        assert_eq!(read.known("a", Stamp::from_nanos(8), "t", "true"), None);
        assert_eq!(read.known("a", Stamp::from_nanos(7), "t", "false"), None);
        assert!(read.is_new(Stamp::from_nanos(10)) && !read.is_new(Stamp::from_nanos(8)));
    }

    #[test]
    fn a_missing_or_damaged_file_is_nothing_known() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("watches.json");
        assert_eq!(Remembered::load(&path, Stamp::from_nanos(3)), Remembered::nothing(Stamp::from_nanos(3)));
        fs::write(&path, "{\"watches\": 3").unwrap();
        assert_eq!(Remembered::load(&path, Stamp::from_nanos(3)), Remembered::nothing(Stamp::from_nanos(3)));
    }

    #[test]
    fn a_damaged_file_is_kept_aside_before_the_next_save() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("watches.json");
        for (number, bytes) in [(1, b"{\"watches\": 3".as_slice()), (2, b"\xff\xfe")] {
            fs::write(&path, bytes).unwrap();
            Remembered::load(&path, Stamp::ZERO).save(&path).unwrap();
            assert_eq!(fs::read(dir.path().join(format!("watches.json.unread.{number}"))).unwrap(), bytes);
        }
        Remembered::load(&path, Stamp::ZERO).save(&path).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    }

    #[test]
    fn the_oldest_are_forgotten_first() {
        let mut remembered = Remembered::default();
        for index in 0..=WATCHES_MAX {
            remembered.keep(watch(&format!("t{index}"), Some(true)));
        }
        assert_eq!(remembered.watches.len(), WATCHES_MAX);
        assert_eq!(remembered.known("t0", Stamp::from_nanos(7), "t", "true"), None);
    }
}
