use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cerebellum_core::{DetectionFrame, StreamMessage, StreamTopic};

use super::clean;
use super::moment::{Arrival, Moment};
use super::watchers::{Fired, Watcher};

/// One topic: its latest message and a short history. A message costs one lock of this stream and no other.
pub(super) struct Stream {
    topic: StreamTopic,
    depth: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    history: VecDeque<Entry>,
    garbled: Option<String>,
    watcher: Option<Arc<Watcher>>,
}

/// A message that was kept. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) arrival: Arrival,
    pub(super) seen: Seen,
}

/// What a message said.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    /// What was found, and what was strange about it.
    Detections(Arc<DetectionFrame>, Option<Arc<str>>),
    /// The text of an output; its type is known from the skill when it is read.
    Output(Arc<str>),
}

/// What happened to a stream when a message came.
#[must_use]
pub(super) enum Taken {
    Quiet,
    /// The watched output took its value: to be told after all locks are released.
    Fired(Arc<Watcher>, Fired),
    /// The last known state of the watcher changed without an edge.
    Changed,
}

impl Stream {
    pub(super) fn new(topic: StreamTopic, depth: usize) -> Self {
        Self { topic, depth: depth.max(1), inner: Mutex::default() }
    }

    pub(super) fn topic(&self) -> &StreamTopic {
        &self.topic
    }

    /// Takes a message in; the oldest goes when the history is full.
    pub(super) fn take(&self, message: StreamMessage, now: Moment) -> Taken {
        let entry = match message {
            StreamMessage::Detections(frame) => {
                let (frame, strange) = clean::frame(frame);
                let arrival = Arrival::new(now, frame.stamp);
                Entry { arrival, seen: Seen::Detections(Arc::new(frame), strange.map(Into::into)) }
            }
            StreamMessage::Output { stamp, text } => {
                Entry { arrival: Arrival::new(now, stamp), seen: Seen::Output(text.into()) }
            }
            StreamMessage::Overlay { .. } => return Taken::Quiet,
            StreamMessage::Garbled { reason } => {
                self.lock().garbled = Some(reason.chars().take(200).collect());
                return Taken::Quiet;
            }
        };
        let mut inner = self.lock();
        inner.garbled = None;
        if inner.history.len() == self.depth {
            inner.history.pop_front();
        }
        let taken = match &inner.watcher {
            Some(watcher) => watcher.look(&entry, now),
            None => Taken::Quiet,
        };
        inner.history.push_back(entry);
        taken
    }

    /// From now on the watcher looks at each message; a watcher that is new here looks at the latest at once.
    pub(super) fn watch(&self, watcher: &Arc<Watcher>, now: Moment) -> Taken {
        let mut inner = self.lock();
        if inner.watcher.as_ref().is_some_and(|old| Arc::ptr_eq(old, watcher)) {
            return Taken::Quiet;
        }
        inner.watcher = Some(Arc::clone(watcher));
        match inner.history.back() {
            Some(entry) => watcher.look(entry, now),
            None => Taken::Quiet,
        }
    }

    /// No watcher looks any more.
    pub(super) fn unwatch(&self) {
        self.lock().watcher = None;
    }

    /// Drops the messages of which `is_old` says so, and with the last of them what could not be read.
    pub(super) fn forget(&self, is_old: impl Fn(&Arrival) -> bool) {
        let mut inner = self.lock();
        inner.history.retain(|entry| !is_old(&entry.arrival));
        if inner.history.is_empty() {
            inner.garbled = None;
        }
    }

    pub(super) fn latest(&self) -> Option<Entry> {
        self.lock().history.back().cloned()
    }

    /// When the latest message came.
    pub(super) fn latest_arrival(&self) -> Option<Arrival> {
        self.lock().history.back().map(|entry| entry.arrival)
    }

    /// What was wrong with the last message, if it could not be read.
    pub(super) fn garbled(&self) -> Option<String> {
        self.lock().garbled.clone()
    }

    /// The messages kept, oldest first.
    #[cfg(test)]
    pub(super) fn history(&self) -> Vec<Entry> {
        self.lock().history.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
