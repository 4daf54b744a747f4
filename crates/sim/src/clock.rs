//! The robot's time: with the host's clock, or only while somebody waits.

/// Time that passes only while it is waited for.
mod awaited;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cerebellum_core::{Clock, Stamp};

pub use awaited::Awaited;

/// How the simulator's time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// With the host's clock, `speed` times as fast. At speed 1 stamps are those of the host.
    Realtime { speed: f64 },
    /// From `start`, only while somebody sleeps on the clock or asks for the next frame; then as fast as the machine can.
    Awaited { start: Stamp },
}

impl Pace {
    /// With the host's clock.
    pub const REALTIME: Self = Self::Realtime { speed: 1.0 };
    /// From the first second of 2026, only while awaited.
    pub const AWAITED: Self = Self::Awaited { start: Stamp::from_ros(1_767_225_600, 0) };

    /// A clock of this pace that starts now.
    pub fn clock(self) -> Arc<dyn Clock> {
        match self {
            Self::Realtime { speed } => Arc::new(Realtime::new(speed)),
            Self::Awaited { start } => Arc::new(Awaited::new(start)),
        }
    }
}

/// The host's clock, or a faster or slower one that started with it.
pub struct Realtime {
    speed: f64,
    began: Instant,
    start: Stamp,
}

impl Realtime {
    /// A clock that shows the host's time now. A speed that is not a positive number counts as 1.
    pub fn new(speed: f64) -> Self {
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Self { speed, began: Instant::now(), start: host_now() }
    }
}

fn host_now() -> Stamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Stamp::from_nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[async_trait]
impl Clock for Realtime {
    fn now(&self) -> Stamp {
        if self.speed == 1.0 { host_now() } else { self.start.plus(self.monotonic()) }
    }
    fn monotonic(&self) -> Duration {
        self.began.elapsed().mul_f64(self.speed)
    }
    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span.div_f64(self.speed)).await;
    }
}

#[cfg(test)]
mod tests;
