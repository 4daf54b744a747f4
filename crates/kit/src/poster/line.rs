use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::Stats;

#[cfg(test)]
mod tests;

/// The most events that wait; one more drops the oldest.
pub(super) const WAITING_MAX: usize = 256;
/// The pauses between the tries of an event; the last one repeats.
const PAUSES: [Duration; 4] =
    [Duration::from_secs(5), Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(300)];
/// How long after it was posted an event is still tried.
const LIFETIME: Duration = Duration::from_secs(3_600);
/// The longest pause a receiver can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// After so many failed tries of the oldest event another one is tried as well, to tell a dead receiver from a dead event.
const DOUBTED_AFTER: u32 = 2;

/// The events on their way to one receiver, as a state machine: it is told what happens and says what to do next. Times are
/// those of a monotonic clock.
#[derive(Debug, Default)]
pub(super) struct Line {
    letters: VecDeque<Letter>,
    next_key: u64,
    /// The line is tried no earlier than this.
    open_at: Duration,
    /// What the receiver asked for; new events do not shorten it.
    asked_until: Duration,
    last_try: Option<Duration>,
    scout: Option<u64>,
    stats: Stats,
}

#[derive(Debug)]
struct Letter {
    key: u64,
    id: Arc<str>,
    body: Arc<[u8]>,
    posted: Duration,
    tries: u32,
    pauses: usize,
    due: Duration,
    /// Whether the event itself is at fault: it is tried on its own, and holds up nobody.
    is_aside: bool,
    is_drained: bool,
}

/// One delivery to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) key: u64,
    pub(super) id: Arc<str>,
    pub(super) body: Arc<[u8]>,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Try(Attempt),
    WaitUntil(Duration),
    Idle,
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Delivered,
    /// The receiver will never take it.
    Refused {
        why: String,
    },
    /// Worth another try.
    Failed {
        why: String,
        retry_after: Option<Duration>,
    },
}

/// What a try means for its event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Delivered,
    Refused { why: String },
    GaveUp { why: String },
    TryAgain { why: String, pause: Duration },
}

impl Line {
    /// Takes an event. `true` when the oldest one had to go for it.
    pub(super) fn push(&mut self, id: Arc<str>, body: Arc<[u8]>, now: Duration) -> bool {
        let overflowed = self.letters.len() >= WAITING_MAX;
        if overflowed {
            self.letters.pop_front();
            self.stats.dropped += 1;
        }
        let (key, due) = (self.next_key, Duration::ZERO);
        self.next_key += 1;
        self.letters.push_back(Letter {
            key,
            id,
            body,
            posted: now,
            tries: 0,
            pauses: 0,
            due,
            is_aside: false,
            is_drained: false,
        });
        // News are worth a look whether the receiver is back, but not more often than the shortest pause.
        let soon = self.last_try.map_or(Duration::ZERO, |last| last + PAUSES[0]);
        self.open_at = self.open_at.min(soon).max(self.asked_until);
        overflowed
    }

    /// What to do at `now`.
    pub(super) fn next(&mut self, now: Duration) -> Step {
        if let Some(letter) = self.scout.take().and_then(|key| self.letters.iter().find(|letter| letter.key == key)) {
            return Step::Try(letter.attempt());
        }
        let head = self.letters.iter().find(|letter| !letter.is_aside).map(|letter| (letter, self.open_at));
        let aside = self.letters.iter().filter(|letter| letter.is_aside).map(|letter| (letter, letter.due));
        match head.into_iter().chain(aside).min_by_key(|(_, due)| *due) {
            Some((letter, due)) if due <= now => Step::Try(letter.attempt()),
            Some((_, due)) => Step::WaitUntil(due),
            None => Step::Idle,
        }
    }

    /// The next event that was not yet tried since the end began, whatever its schedule says.
    pub(super) fn next_before_the_end(&mut self) -> Option<Attempt> {
        let letter = self.letters.iter_mut().find(|letter| !letter.is_drained)?;
        letter.is_drained = true;
        Some(letter.attempt())
    }

    /// Records what came of the try of `key` that ended at `now`.
    pub(super) fn settle(&mut self, key: u64, outcome: Outcome, now: Duration) -> Verdict {
        self.last_try = Some(now);
        match outcome {
            Outcome::Delivered => {
                self.stats.delivered += 1;
                self.answered(key);
                Verdict::Delivered
            }
            Outcome::Refused { why } => {
                self.stats.refused += 1;
                self.stats.last_error = Some(why.clone());
                self.answered(key);
                Verdict::Refused { why }
            }
            Outcome::Failed { why, retry_after } => {
                self.stats.failed_tries += 1;
                self.stats.last_error = Some(why.clone());
                self.failed(key, why, retry_after, now)
            }
        }
    }

    /// Counters, and how many wait.
    pub(super) fn stats(&self, now: Duration) -> Stats {
        let held = self.open_at > now && self.letters.iter().any(|letter| !letter.is_aside);
        Stats {
            waiting: self.letters.len(),
            held_for: held.then(|| self.open_at.saturating_sub(now)),
            ..self.stats.clone()
        }
    }

    /// Counts an event that never entered the line.
    pub(super) fn count_dropped(&mut self) {
        self.stats.dropped += 1;
    }

    /// Empties the line; the answer is how many were lost.
    pub(super) fn abandon(&mut self) -> usize {
        let lost = self.letters.len();
        self.letters.clear();
        self.stats.dropped += lost as u64;
        lost
    }

    /// The receiver dealt with `key`, so it is there: the line opens, and an older event that it did not take is at fault.
    fn answered(&mut self, key: u64) {
        (self.open_at, self.asked_until) = (Duration::ZERO, Duration::ZERO);
        if let Some(older) = self.letters.iter_mut().find(|letter| !letter.is_aside)
            && older.key < key
            && older.tries > 0
        {
            older.is_aside = true;
        }
        self.letters.retain(|letter| letter.key != key);
    }

    fn failed(&mut self, key: u64, why: String, retry_after: Option<Duration>, now: Duration) -> Verdict {
        if let Some(asked) = retry_after {
            self.asked_until = now + asked.min(RETRY_AFTER_MAX);
        }
        let head = self.letters.iter().find(|letter| !letter.is_aside).map(|letter| letter.key);
        let Some(at) = self.letters.iter().position(|letter| letter.key == key) else {
            // It was dropped for a newer one while it was under way.
            self.open_at = self.asked_until.max(now + PAUSES[0]);
            return Verdict::GaveUp { why };
        };
        let due = self.letters[at].failed(now, self.asked_until);
        if due > self.letters[at].posted + LIFETIME {
            self.letters.remove(at);
            self.stats.gave_up += 1;
            self.open_at = self.asked_until.max(now + PAUSES[0]);
            return Verdict::GaveUp { why };
        }
        if head == Some(key) {
            self.open_at = due;
            if self.letters[at].tries >= DOUBTED_AFTER && retry_after.is_none() {
                self.scout = self.least_tried_behind(key);
            }
        }
        Verdict::TryAgain { why, pause: due.saturating_sub(now) }
    }

    fn least_tried_behind(&self, key: u64) -> Option<u64> {
        let behind = self.letters.iter().filter(|letter| letter.key > key && !letter.is_aside);
        behind.min_by_key(|letter| (letter.tries, letter.key)).map(|letter| letter.key)
    }
}

impl Letter {
    fn attempt(&self) -> Attempt {
        Attempt { key: self.key, id: Arc::clone(&self.id), body: Arc::clone(&self.body) }
    }

    /// Counts a failed try and answers when the next one is due, at the earliest `asked_until`. A try ahead of its time
    /// leaves the schedule as it was.
    fn failed(&mut self, now: Duration, asked_until: Duration) -> Duration {
        self.tries += 1;
        if now >= self.due {
            self.due = now + PAUSES[self.pauses.min(PAUSES.len() - 1)];
            self.pauses += 1;
        }
        self.due = self.due.max(asked_until);
        self.due
    }
}
