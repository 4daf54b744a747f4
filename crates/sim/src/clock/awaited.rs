use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, Stamp};
use tokio::sync::Notify;

/// Stands still until somebody sleeps on it; then jumps to the moment when the first sleeper wakes.
pub struct Awaited {
    start: Stamp,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    now: Duration,
    next: u64,
    /// When each sleeper wakes; the number keeps those of one moment apart, first come first.
    sleepers: BTreeSet<(Duration, u64)>,
    holds: usize,
}

/// Other tasks that are ready to run get this many turns before time moves, so that they can go to sleep too.
const TURNS: usize = 32;

impl Awaited {
    /// A clock that stands at `start`.
    pub fn new(start: Stamp) -> Self {
        Self { start, state: Mutex::default(), changed: Notify::new() }
    }

    /// Time stands still until the answer is dropped: somebody works, and what they work on should not grow old.
    pub fn hold(&self) -> Hold<'_> {
        self.state().holds += 1;
        Hold { clock: self }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }
}

/// Keeps an [`Awaited`] clock from moving.
pub struct Hold<'a> {
    clock: &'a Awaited,
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.clock.state().holds -= 1;
        self.clock.changed.notify_waiters();
    }
}

/// A place among the sleepers; leaves it when dropped, also when the wait is given up.
struct Sleeper<'a> {
    clock: &'a Awaited,
    key: (Duration, u64),
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.clock.state().sleepers.remove(&self.key);
        self.clock.changed.notify_waiters();
    }
}

impl Sleeper<'_> {
    /// Moves time to its own moment if nobody wakes earlier and nobody holds time still.
    fn try_wake(&self) -> bool {
        let mut state = self.clock.state();
        if state.now >= self.key.0 {
            return true;
        }
        if state.holds > 0 || state.sleepers.first() != Some(&self.key) {
            return false;
        }
        state.now = self.key.0;
        true
    }
}

#[async_trait]
impl Clock for Awaited {
    fn now(&self) -> Stamp {
        self.start.plus(self.monotonic())
    }
    fn monotonic(&self) -> Duration {
        self.state().now
    }
    async fn sleep(&self, span: Duration) {
        let sleeper = {
            let mut state = self.state();
            let key = (state.now + span, state.next);
            state.next += 1;
            state.sleepers.insert(key);
            Sleeper { clock: self, key }
        };
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
            if sleeper.try_wake() {
                return;
            }
            changed.await;
        }
    }
}
