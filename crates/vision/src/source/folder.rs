use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, Frame, FrameError, FrameSource, Intrinsics};

use files::{Entry, Pixels};

mod files;

/// The largest picture that is read, in pixels.
pub const PIXELS_MAX: u64 = 50_000_000;
/// The most pictures of a folder.
pub const PICTURES_MAX: usize = 10_000;

/// How a folder is shown. [`Default`] says what it does when nothing is set.
#[derive(Clone, Debug)]
pub struct FolderConfig {
    /// Pictures a second, above 0 and at most 60. Default: 2.
    pub rate_hz: f64,
    /// The frame the pictures are said to be in. Default: `camera_optical`.
    pub frame_id: String,
}

impl Default for FolderConfig {
    fn default() -> Self {
        Self { rate_hz: 2.0, frame_id: "camera_optical".to_owned() }
    }
}

/// Why pictures cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The rate makes no sense.
    #[error("rate_hz is {rate_hz}; must be above 0 and at most 60")]
    Rate {
        /// What was asked for.
        rate_hz: f64,
    },
    /// The path cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What failed.
        source: std::io::Error,
    },
    /// There is no picture.
    #[error("{path} has no picture; put .png or .jpg files there")]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// There are too many pictures.
    #[error("{path} has more than {PICTURES_MAX} pictures; use a smaller folder")]
    TooMany {
        /// The folder.
        path: PathBuf,
    },
    /// Some files are not what they should be.
    #[error("{path} cannot be shown: {}", .faults.join("; "))]
    Faults {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with which file; at most 20.
        faults: Vec<String>,
    },
}

/// Shows the pictures of a folder in order of their names, over and over, or one picture file.
///
/// Beside `name.png` (or `.jpg`, `.jpeg`) may stand `name.depth.png` (16 bit, one channel, millimetres, 0 where nothing was
/// measured, of the picture's size) and `name.pose.json` (`{"translation": [x, y, z], "rotation": [x, y, z, w]}`: the
/// camera's optical frame in `map`, metres and a unit quaternion). `intrinsics.json` (`{"width", "height", "fx", "fy", "cx",
/// "cy"}`, in pixels) and `pose.json` count for all pictures of the folder.
///
/// Pictures are stamped with the clock as they come up, and read from disk then; the last one is kept.
pub struct Folder {
    path: PathBuf,
    entries: Vec<Arc<Entry>>,
    intrinsics: Option<Intrinsics>,
    frame_id: String,
    period: Duration,
    started: Duration,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<Last>>,
}

struct Last {
    index: usize,
    pixels: Arc<Pixels>,
    frame: Arc<Frame>,
}

impl Folder {
    /// Opens a folder or one picture file. Reads the sizes of all pictures and every file beside them, so that what is wrong
    /// is said now. Blocks.
    pub fn open(path: &Path, config: &FolderConfig, clock: Arc<dyn Clock>) -> Result<Self, FolderError> {
        let rate_hz = config.rate_hz;
        if !(rate_hz > 0.0 && rate_hz <= 60.0) {
            return Err(FolderError::Rate { rate_hz });
        }
        let found = files::find(path)?;
        Ok(Self {
            path: path.to_owned(),
            entries: found.entries.into_iter().map(Arc::new).collect(),
            intrinsics: found.intrinsics,
            frame_id: config.frame_id.clone(),
            period: Duration::try_from_secs_f64(1.0 / rate_hz).unwrap_or(Duration::MAX).min(PERIOD_MAX),
            started: clock.monotonic(),
            clock,
            last: Mutex::new(None),
        })
    }

    /// What will not work with these pictures, for a person; `None` when nothing is missing.
    pub fn missing(&self) -> Option<String> {
        let deep = self.entries.iter().filter(|entry| entry.has_depth()).count();
        let what = match (deep, self.intrinsics) {
            (0, _) => "none has depth (name.depth.png)".to_owned(),
            (_, None) => "there is no intrinsics.json".to_owned(),
            (deep, Some(_)) if deep < self.entries.len() => {
                format!("{} of {} have no depth (name.depth.png)", self.entries.len() - deep, self.entries.len())
            }
            (_, Some(_)) => return None,
        };
        let path = self.path.display();
        Some(format!(
            "{path}: {what}: without it things are not told from what they stand on, have no points in space, and free places are not found"
        ))
    }

    /// How many pictures there are.
    pub fn pictures(&self) -> usize {
        self.entries.len()
    }

    /// The frame with that number, which is the newest now.
    async fn frame(&self, seq: u64) -> Result<Arc<Frame>, FrameError> {
        let index = ((seq - 1) % self.entries.len() as u64) as usize;
        let kept = {
            let last = self.lock();
            match last.as_ref() {
                Some(last) if last.frame.seq == seq => return Ok(Arc::clone(&last.frame)),
                Some(last) if last.index == index => Some(Arc::clone(&last.pixels)),
                Some(_) | None => None,
            }
        };
        let stamp = self.clock.now();
        let pixels = if let Some(pixels) = kept {
            pixels
        } else {
            let entry = Arc::clone(&self.entries[index]);
            let reading = tokio::task::spawn_blocking(move || entry.read());
            let read = reading.await.map_err(|error| FrameError::Unavailable { reason: error.to_string() })?;
            Arc::new(read.map_err(|fault| FrameError::Garbled { reason: fault })?)
        };
        let mut last = self.lock();
        if let Some(last) = last.as_ref().filter(|last| last.frame.seq >= seq) {
            return Ok(Arc::clone(&last.frame));
        }
        let frame = Arc::new(Frame {
            stamp,
            seq,
            frame_id: self.frame_id.clone(),
            rgb: Arc::clone(&pixels.rgb),
            depth: pixels.depth.clone(),
            intrinsics: self.intrinsics,
            map_from_camera: self.entries[index].pose(),
        });
        *last = Some(Last { index, pixels, frame: Arc::clone(&frame) });
        Ok(frame)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The longest time one picture stands.
const PERIOD_MAX: Duration = Duration::from_secs(24 * 60 * 60);

#[async_trait]
impl FrameSource for Folder {
    async fn next(&self, after: Option<u64>, deadline: Duration) -> Result<Arc<Frame>, FrameError> {
        let until = self.clock.monotonic().saturating_add(deadline);
        loop {
            let now = self.clock.monotonic();
            let passed = now.saturating_sub(self.started);
            let steps = passed.as_nanos() / self.period.as_nanos();
            let seq = u64::try_from(steps).unwrap_or(u64::MAX).saturating_add(1);
            if after.is_none_or(|after| seq > after) {
                return self.frame(seq).await;
            }
            if now >= until {
                return Err(FrameError::TimedOut { waited: deadline });
            }
            let into = Duration::from_nanos((passed.as_nanos() % self.period.as_nanos()) as u64);
            self.clock.sleep(self.period.saturating_sub(into).min(until.saturating_sub(now))).await;
        }
    }
}

impl std::fmt::Debug for Folder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folder")
            .field("path", &self.path)
            .field("pictures", &self.entries.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
