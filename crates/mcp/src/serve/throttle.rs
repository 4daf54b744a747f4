use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two lines about the same thing.
const PERIOD: Duration = Duration::from_secs(10);

/// Keeps one cause from flooding the log.
#[derive(Default)]
pub(super) struct Throttle(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    last: Option<Instant>,
    held_back: u64,
}

impl Throttle {
    /// How often this happened since the last line, when it is time for a line; `None` when it is too soon.
    pub(super) fn due(&self) -> Option<u64> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.held_back += 1;
        if lines.last.is_some_and(|last| last.elapsed() < PERIOD) {
            return None;
        }
        lines.last = Some(Instant::now());
        Some(std::mem::take(&mut lines.held_back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn there_is_one_line_in_ten_seconds_and_it_counts_the_rest() {
        let throttle = Throttle::default();
        assert_eq!(throttle.due(), Some(1));
        for _ in 0..1000 {
            assert_eq!(throttle.due(), None);
        }
        tokio::time::advance(PERIOD).await;
        assert_eq!(throttle.due(), Some(1001));
        assert_eq!(throttle.due(), None);
    }
}
