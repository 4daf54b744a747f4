use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cerebellum_wire::{ToolError, ToolOutcome, text};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tracing::warn;

use super::{Failure, waypoints};

/// The key in a call's `_meta` that makes it run at most once.
pub(super) const CALL: &str = "cerebellum/call";
/// How many outcomes are kept.
const CALLS_MAX: usize = 1_000;
/// The file is written anew when it has this many lines.
const LINES_MAX: usize = 4 * CALLS_MAX;
/// The longest key, in bytes.
const KEY_MAX: usize = 200;

/// The outcomes of the last calls with a key, on disk: one line when a call begins, one when it has its outcome. A call
/// that began and has no outcome is in doubt: the program ended in its middle.
#[derive(Clone)]
pub(super) struct CallLog(Arc<Mutex<Log>>);

struct Log {
    path: PathBuf,
    file: File,
    lines: usize,
    order: VecDeque<String>,
    entries: HashMap<String, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Of the tool and its arguments: a key is for one call only.
    print: String,
    tool: String,
    progress: CallProgress,
}

#[derive(Clone, Debug)]
enum CallProgress {
    Runs,
    InDoubt,
    Ended { failed: bool, data: Map<String, Value> },
}

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    print: String,
    tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
}

#[derive(Serialize, Deserialize)]
struct Outcome {
    failed: bool,
    data: Map<String, Value>,
}

/// What to do with a call that has a key.
pub(super) enum Admission {
    /// It is new: run it, then tell how it ended.
    Run(Running),
    /// It was called before: this is the answer.
    Known(ToolOutcome),
}

/// A call that runs under a key. Dropped without [`Running::ended`], it is in doubt.
pub(super) struct Running {
    log: CallLog,
    key: String,
}

impl CallLog {
    /// Reads the file. A last line that was cut short is left out; what began and did not end is in doubt.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).read(true).open(path)?;
        file.seek(SeekFrom::End(0))?;
        let mut log = Log { path: path.to_owned(), file, lines: 0, order: VecDeque::new(), entries: HashMap::new() };
        let mut unread = 0;
        for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            log.lines += 1;
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => log.take(line),
                Err(_) => unread += 1,
            }
        }
        for entry in log.entries.values_mut() {
            if matches!(entry.progress, CallProgress::Runs) {
                entry.progress = CallProgress::InDoubt;
            }
        }
        if unread > 0 {
            warn!(path = %path.display(), lines = unread, "lines of the call log cannot be read and are left out");
        }
        if unread > 0 || log.lines > LINES_MAX {
            log.rewrite()?;
        } else if bytes.last().is_some_and(|&last| last != b'\n') {
            log.file.write_all(b"\n")?;
        }
        Ok(Self(Arc::new(Mutex::new(log))))
    }

    /// Notes on disk that the call begins, unless it began before.
    pub(super) async fn admit(
        &self,
        key: &str,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Admission, Failure> {
        if key.is_empty() || key.len() > KEY_MAX {
            return Err(Failure::bad(
                format!("the key {CALL} in _meta must have 1 to {KEY_MAX} bytes"),
                "Use a short key of one's own for each call.",
                &(),
            ));
        }
        let print = print(tool, arguments);
        let line = Line { key: key.to_owned(), print: print.clone(), tool: tool.to_owned(), outcome: None };
        let this = self.clone();
        let noted = tokio::task::spawn_blocking(move || {
            let mut log = this.log();
            if let Some(entry) = log.entries.get(&line.key) {
                return Ok(Some(entry.clone()));
            }
            log.append(&line)?;
            log.take(line);
            Ok(None)
        });
        let found = noted.await.unwrap_or_else(|error| Err(io::Error::other(error)));
        match found {
            Ok(None) => Ok(Admission::Run(Running { log: self.clone(), key: key.to_owned() })),
            Ok(Some(entry)) => Ok(Admission::Known(answer(key, &entry, &print)?)),
            Err(error) => Err(ToolError::new(
                "call_log_unavailable",
                format!("{tool} was not run: its key could not be kept on disk: {error}"),
                "A person must look at the disk of the robot's computer.",
            )
            .into()),
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    /// Keeps how the call ended, before its caller hears of it.
    pub(super) async fn ended(self, outcome: ToolOutcome) -> ToolOutcome {
        let (data, failed) = outcome.clone().into_parts();
        let (log, key) = (self.log.clone(), self.key.clone());
        let kept = tokio::task::spawn_blocking(move || {
            let mut log = log.log();
            let Some(entry) = log.entries.get_mut(&key) else { return Ok(()) };
            entry.progress = CallProgress::Ended { failed, data: data.clone() };
            let line = Line {
                key,
                print: entry.print.clone(),
                tool: entry.tool.clone(),
                outcome: Some(Outcome { failed, data }),
            };
            log.append(&line)
        });
        if let Err(error) = kept.await.unwrap_or_else(|error| Err(io::Error::other(error))) {
            warn!(%error, "the outcome of a call could not be kept; it is in doubt after a restart");
        }
        outcome
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(entry) = self.log.log().entries.get_mut(&self.key)
            && matches!(entry.progress, CallProgress::Runs)
        {
            entry.progress = CallProgress::InDoubt;
        }
    }
}

impl Log {
    /// What a line says, from the file or new; the oldest call goes when there are too many.
    fn take(&mut self, line: Line) {
        let progress = match line.outcome {
            Some(Outcome { failed, data }) => CallProgress::Ended { failed, data },
            None => CallProgress::Runs,
        };
        if !self.entries.contains_key(&line.key) {
            self.order.push_back(line.key.clone());
        }
        self.entries.insert(line.key, Entry { print: line.print, tool: line.tool, progress });
        while self.order.len() > CALLS_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.entries.remove(&oldest);
            }
        }
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        if self.lines >= LINES_MAX {
            self.rewrite()?;
        }
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let end = self.file.stream_position()?;
        let written = self.file.write_all(&bytes).and_then(|()| self.file.sync_data());
        if written.is_err() {
            // Half a line would spoil the next one.
            self.file.set_len(end)?;
            self.file.seek(SeekFrom::Start(end))?;
        }
        self.lines += 1;
        written
    }

    /// Only what is still kept, whole or not at all.
    fn rewrite(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        for key in &self.order {
            let Some(entry) = self.entries.get(key) else { continue };
            let outcome = match &entry.progress {
                CallProgress::Ended { failed, data } => Some(Outcome { failed: *failed, data: data.clone() }),
                CallProgress::Runs | CallProgress::InDoubt => None,
            };
            let line = Line { key: key.clone(), print: entry.print.clone(), tool: entry.tool.clone(), outcome };
            serde_json::to_writer(&mut bytes, &line)?;
            bytes.push(b'\n');
        }
        waypoints::write_whole(&self.path, &bytes)?;
        self.file = OpenOptions::new().write(true).read(true).open(&self.path)?;
        self.file.seek(SeekFrom::End(0))?;
        self.lines = self.order.len();
        Ok(())
    }
}

fn answer(key: &str, entry: &Entry, print: &str) -> Result<ToolOutcome, Failure> {
    let key = text::cut(key);
    if entry.print != print {
        return Err(Failure::bad(
            format!("the key {key:?} was used for another call, of {}", entry.tool),
            "Use a new key for each call.",
            &(),
        ));
    }
    let tool = &entry.tool;
    match &entry.progress {
        CallProgress::Ended { failed, data } => Ok(restored(*failed, data)),
        CallProgress::Runs => Err(Failure::no(
            "call_running",
            format!("the call {key:?} of {tool} runs already"),
            "Wait for its answer; the same key answers it then.",
            &(),
        )),
        CallProgress::InDoubt => Err(Failure::no(
            "outcome_unknown",
            format!("the call {key:?} of {tool} was begun and its outcome is not known; it may have been done in part"),
            "It is not run again. Call get_state to see what was done, then use a new key.",
            &json!({"in_doubt": true}),
        )),
    }
}

/// The outcome as it was answered the first time.
fn restored(failed: bool, data: &Map<String, Value>) -> ToolOutcome {
    if data.get("ok") == Some(&Value::Bool(true)) {
        return ToolOutcome::done(data);
    }
    let error = data.get("error").cloned().and_then(|error| serde_json::from_value(error).ok());
    let error = error.unwrap_or_else(|| ToolError::new("unknown", "the outcome was a no", "Call get_state."));
    let data: Map<String, Value> =
        data.iter().filter(|(key, _)| *key != "ok").map(|(k, v)| (k.clone(), v.clone())).collect();
    if failed { ToolOutcome::failed(&error, &data) } else { ToolOutcome::declined(&error, &data) }
}

fn print(tool: &str, arguments: &Map<String, Value>) -> String {
    let mut keys: Vec<&String> = arguments.keys().collect();
    keys.sort();
    let mut hash = Sha256::new();
    hash.update(tool);
    for key in keys {
        hash.update([0]);
        hash.update(key);
        hash.update([0]);
        hash.update(arguments[key].to_string());
    }
    hash.finalize().iter().take(16).fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests;
