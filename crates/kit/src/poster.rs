use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cerebellum_core::WallClock;
use cerebellum_wire::event::Event;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, info, warn};

use crate::sink::EventSink;
use line::{Attempt, Line, Outcome, Step, Verdict};
pub use target::{Push, PushError, Target};

mod delivery;
mod line;
mod target;
#[cfg(test)]
mod tests;

/// How long the events that wait are still tried after the stop.
const DRAIN: Duration = Duration::from_secs(2);

/// What became of the events so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events that wait or are under way now.
    pub waiting: usize,
    /// Events the receiver took.
    pub delivered: u64,
    /// Events the receiver will never take: it answered 3xx, or 4xx other than 429.
    pub refused: u64,
    /// Events that were tried for an hour, or lost while under way to a receiver that was away.
    pub gave_up: u64,
    /// Events that had to go for newer ones, were too large, or were left when the program stopped.
    pub dropped: u64,
    /// Tries that failed and were worth repeating.
    pub failed_tries: u64,
    /// How long the line still waits before it is tried again; `None` when it does not wait.
    pub held_for: Option<Duration>,
    /// Why the last try that was not taken failed.
    pub last_error: Option<String>,
}

/// Posts signed events to one receiver.
///
/// Events go out one at a time, in the order they were posted, each as soon as the one before it is settled. A try that
/// failed is repeated after 5 s, 30 s, 2 min and then every 5 min, until the event is an hour old, with the same id and a
/// new timestamp and signature. Meanwhile the line waits, so that order is kept; when the oldest event failed twice, one
/// behind it is tried as well. Is that one taken, then the oldest event itself is at fault: it is set aside and goes on
/// with its schedule alone. A new event has a waiting line tried again soon (at most every 5 s), unless the receiver asked
/// for a pause by `Retry-After`, which is honoured up to 5 min.
///
/// At most 256 events wait; one more drops the oldest. Ends when the token is cancelled: what waits is tried once more,
/// for 2 s at most.
pub struct Poster {
    shared: Option<Arc<Shared>>,
}

struct Shared {
    target: Target,
    client: reqwest::Client,
    clock: Arc<dyn WallClock>,
    line: Mutex<Line>,
    news: Notify,
    stop: CancellationToken,
}

impl Poster {
    /// Starts the task that posts, on `tasks`, until `stop`. When push is off this is said once in the log, no task runs,
    /// and events are thrown away.
    pub fn start(
        push: Push,
        clock: Arc<dyn WallClock>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Result<Arc<Self>, PushError> {
        let target = match push {
            Push::On(target) => target,
            Push::Off { reason } => {
                info!(reason, "event push is off");
                return Ok(Arc::new(Self { shared: None }));
            }
        };
        let client = delivery::client(&target)?;
        info!(receiver = target.shown(), "event push is on");
        let (line, news) = (Mutex::default(), Notify::new());
        let shared = Arc::new(Shared { target, client, clock, line, news, stop });
        tasks.spawn(Arc::clone(&shared).run());
        Ok(Arc::new(Self { shared: Some(shared) }))
    }

    /// Whether events are posted at all.
    pub fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// What became of the events so far.
    pub fn stats(&self) -> Stats {
        self.shared.as_ref().map(|shared| shared.line().stats(shared.clock.monotonic())).unwrap_or_default()
    }
}

impl EventSink for Poster {
    fn post(&self, event: Event) {
        if let Some(shared) = &self.shared {
            shared.accept(&event);
        }
    }
}

impl Shared {
    fn accept(&self, event: &Event) {
        let body = match event.body() {
            Ok(body) => body,
            Err(error) => {
                self.line().count_dropped();
                warn!(%error, task_id = event.task_id, "event dropped");
                return;
            }
        };
        if self.stop.is_cancelled() {
            self.line().count_dropped();
            warn!(task_id = event.task_id, "event dropped, the program is stopping");
            return;
        }
        let overflowed = self.line().push(delivery::event_id(event), body.into(), self.clock.monotonic());
        if overflowed {
            warn!(receiver = self.target.shown(), "oldest event dropped, {} wait already", line::WAITING_MAX);
        }
        self.news.notify_one();
    }

    async fn run(self: Arc<Self>) {
        let grace = async {
            self.stop.cancelled().await;
            self.clock.sleep(DRAIN).await;
        };
        tokio::select! {
            () = self.work() => {}
            () = grace => {}
        }
        let lost = self.line().abandon();
        if lost > 0 {
            warn!(lost, receiver = self.target.shown(), "events not delivered before the stop");
        }
    }

    async fn work(&self) {
        while !self.stop.is_cancelled() {
            let step = self.line().next(self.clock.monotonic());
            match step {
                Step::Try(attempt) => self.deliver(attempt).await,
                Step::Idle => self.news_or_stop().await,
                Step::WaitUntil(due) => {
                    let pause = due.saturating_sub(self.clock.monotonic());
                    tokio::select! {
                        () = self.news_or_stop() => {}
                        () = self.clock.sleep(pause) => {}
                    }
                }
            }
        }
        loop {
            let Some(attempt) = self.line().next_before_the_end() else { return };
            self.deliver(attempt).await;
        }
    }

    async fn news_or_stop(&self) {
        tokio::select! {
            () = self.news.notified() => {}
            () = self.stop.cancelled() => {}
        }
    }

    async fn deliver(&self, attempt: Attempt) {
        let begun = self.clock.monotonic();
        let outcome: Outcome = delivery::post(&self.client, &self.target, self.clock.as_ref(), &attempt).await;
        let now = self.clock.monotonic();
        let duration_ms = now.saturating_sub(begun).as_millis() as u64;
        let verdict = self.line().settle(attempt.key, outcome, now);
        let (id, receiver) = (attempt.id.as_ref(), self.target.shown());
        match verdict {
            Verdict::Delivered => debug!(id, duration_ms, "event delivered"),
            Verdict::Refused { why } => warn!(id, receiver, duration_ms, error = why, "event refused"),
            Verdict::GaveUp { why } => warn!(id, receiver, duration_ms, error = why, "event given up"),
            Verdict::TryAgain { why, pause } => {
                let pause_s = pause.as_secs();
                warn!(id, receiver, duration_ms, pause_s, error = why, "event not delivered, trying again");
            }
        }
    }

    /// Nothing panics while it holds this lock, and the line is whole between any two of its calls.
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
