use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cerebellum_core::{Clock, Stamp, WallClock};
use tokio::time::Instant;

/// The host's time, as both clocks of the domain. Stamps follow the system clock; the monotonic time counts from the
/// moment the clock was made and stands still while tokio's time is paused, as its sleeps do.
#[derive(Clone, Copy, Debug)]
pub struct HostClock {
    origin: Instant,
}

impl HostClock {
    /// A clock whose monotonic time begins now.
    pub fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Default for HostClock {
    fn default() -> Self {
        Self::new()
    }
}

/// The system clock as a stamp. A clock set before 1970 gives a negative stamp.
fn unix_now() -> Stamp {
    let nanos = match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |nanos| -nanos),
    };
    Stamp::from_nanos(nanos)
}

#[async_trait]
impl Clock for HostClock {
    fn now(&self) -> Stamp {
        unix_now()
    }
    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

#[async_trait]
impl WallClock for HostClock {
    fn now(&self) -> Stamp {
        unix_now()
    }
    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }
    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn monotonic_time_passes_as_its_sleeps_do() {
        let clock = HostClock::new();
        WallClock::sleep(&clock, Duration::from_secs(3)).await;
        assert_eq!(WallClock::monotonic(&clock), Duration::from_secs(3));
        Clock::sleep(&clock, Duration::from_millis(500)).await;
        assert_eq!(Clock::monotonic(&clock), Duration::from_millis(3500));
    }

    #[test]
    fn stamps_are_unix_time() {
        let twenty_twenty = Stamp::from_ros(1_577_836_800, 0);
        assert!(unix_now() > twenty_twenty);
        assert!(unix_now().secs_since(unix_now()).abs() < 60.0);
    }
}
