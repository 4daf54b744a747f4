//! The files of the state folder: one process at a time writes to each.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;
use tracing::warn;

use crate::demo::Ports;
use crate::exit::Failure;

/// How long a predecessor that was told to stop may still hold its file.
const PREDECESSOR: Duration = Duration::from_secs(2);
/// How often its lock is tried again.
const TRY_EVERY: Duration = Duration::from_millis(50);

/// A state file that is this process's alone until this is dropped.
#[derive(Debug)]
pub struct Hold {
    _lock: File,
}

/// Takes a state file for this process, by a lock on `FILE.lock` beside it. A file that another process has is bad usage,
/// after a short wait for a predecessor to end. `None` where no lock can be had at all: state is then kept without one.
pub async fn hold(file: &Path) -> Result<Option<Hold>, Failure> {
    hold_within(file, PREDECESSOR).await
}

async fn hold_within(file: &Path, patience: Duration) -> Result<Option<Hold>, Failure> {
    let lock = match open_lock(file) {
        Ok(lock) => lock,
        Err(error) => {
            warn!(file = %file.display(), %error, "this state file is kept without a lock");
            return Ok(None);
        }
    };
    let give_up = Instant::now() + patience;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(Some(Hold { _lock: lock })),
            Err(TryLockError::WouldBlock) if Instant::now() < give_up => tokio::time::sleep(TRY_EVERY).await,
            Err(TryLockError::WouldBlock) => return Err(in_use(file)),
            Err(TryLockError::Error(error)) => {
                warn!(file = %file.display(), %error, "this state file is kept without a lock");
                return Ok(None);
            }
        }
    }
}

fn open_lock(file: &Path) -> std::io::Result<File> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    File::options().create(true).truncate(false).write(true).open(name)
}

fn in_use(file: &Path) -> Failure {
    Failure::usage(format!(
        "{} is in use by another cerebellum process.\nStop that one, or give this one a state folder of its own: \
         XDG_STATE_HOME=/some/folder",
        file.display()
    ))
}

/// The state folder of a demo, below the common one: a demo shares no files with servers that are started alone, nor with
/// a demo on other ports.
#[derive(Debug)]
pub struct DemoFolder {
    path: PathBuf,
    passes: bool,
}

impl DemoFolder {
    /// The folder of a demo on these ports. One on free ports starts without a past, and leaves nothing behind when this is
    /// dropped.
    pub fn below(common: &Path, ports: Ports) -> Self {
        match ports {
            Ports::Offset(0) => Self { path: common.join("demo"), passes: false },
            Ports::Offset(offset) => Self { path: common.join(format!("demo+{offset}")), passes: false },
            Ports::Free => {
                let folder = Self { path: common.join(format!("demo-free-{}", std::process::id())), passes: true };
                // A process that had this number before may have been killed.
                folder.remove();
                folder
            }
        }
    }

    /// Where it is. Made when first written to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) {
        match std::fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                warn!(folder = %self.path.display(), %error, "the state of a demo stays behind");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        if self.passes {
            self.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_state_file_has_one_holder_and_the_next_is_told_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/cerebellum/watches.json");
        let first = hold(&file).await.unwrap().expect("locks work here");
        let failure = hold_within(&file, Duration::ZERO).await.unwrap_err();
        assert_eq!(failure.exit.code(), 64);
        for words in [file.to_str().unwrap(), "XDG_STATE_HOME"] {
            assert!(failure.message.contains(words), "{failure}");
        }
        let other = folder.path().join("state/cerebellum/vision_node.skills.json");
        assert!(hold_within(&other, Duration::ZERO).await.unwrap().is_some());
        drop(first);
        assert!(hold_within(&file, Duration::ZERO).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_predecessor_that_ends_soon_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("watches.json");
        let first = hold(&file).await.unwrap();
        let successor = hold_within(&file, Duration::from_secs(10));
        let ending = async {
            tokio::task::yield_now().await;
            drop(first);
        };
        let (taken, ()) = tokio::join!(successor, ending);
        assert!(taken.unwrap().is_some());
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_to_is_no_reason_not_to_start() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("occupied"), "").unwrap();
        assert!(hold(&folder.path().join("occupied/watches.json")).await.unwrap().is_none());
    }

    #[test]
    fn demos_on_other_ports_share_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let of = |ports| DemoFolder::below(folder.path(), ports).path().to_owned();
        assert_eq!(of(Ports::Offset(0)), folder.path().join("demo"));
        assert_eq!(of(Ports::Offset(10)), folder.path().join("demo+10"));
        assert!(of(Ports::Free).ends_with(format!("demo-free-{}", std::process::id())));
    }

    #[test]
    fn a_demo_on_free_ports_leaves_nothing_behind_and_others_keep_their_state() {
        let folder = tempfile::tempdir().unwrap();
        for (ports, stays) in [(Ports::Free, false), (Ports::Offset(0), true)] {
            let demo = DemoFolder::below(folder.path(), ports);
            std::fs::create_dir_all(demo.path()).unwrap();
            let file = demo.path().join("watches.json");
            std::fs::write(&file, "{}").unwrap();
            drop(demo);
            assert_eq!(file.exists(), stays, "{ports:?}");
        }
    }
}
