use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, Stamp, WallClock};
use tokio::sync::watch;

/// Both clocks of the domain, moved by hand. Sleepers wake when the time they wait for is reached.
pub struct FakeClock {
    stamp_offset: Mutex<i64>,
    elapsed: watch::Sender<Duration>,
    sleepers: watch::Sender<usize>,
}

impl FakeClock {
    /// A clock that stands at `start`.
    pub fn at(start: Stamp) -> Self {
        Self {
            stamp_offset: Mutex::new(start.nanos()),
            elapsed: watch::Sender::new(Duration::ZERO),
            sleepers: watch::Sender::new(0),
        }
    }

    /// Moves both the stamp and the monotonic time forward.
    pub fn advance(&self, span: Duration) {
        self.elapsed.send_modify(|elapsed| *elapsed += span);
    }

    /// Sets the stamp without any time passing, as when a robot's clock is set.
    pub fn jump(&self, nanos: i64) {
        *self.stamp_offset.lock().expect("no holder of this lock panics") += nanos;
    }

    /// Returns once at least that many sleepers wait: from then on moving the clock wakes them at the time they mean.
    pub async fn sleepers(&self, count: usize) {
        let mut sleepers = self.sleepers.subscribe();
        sleepers.wait_for(|sleepers| *sleepers >= count).await.expect("the clock outlives those who ask it");
    }

    fn now(&self) -> Stamp {
        let offset = *self.stamp_offset.lock().expect("no holder of this lock panics");
        Stamp::from_nanos(offset).plus(*self.elapsed.borrow())
    }

    async fn sleep(&self, span: Duration) {
        let until = self.elapsed.borrow().saturating_add(span);
        let mut elapsed = self.elapsed.subscribe();
        let _asleep = Asleep::in_bed(&self.sleepers);
        // The sender lives as long as `self`, so the wait ends only by time.
        elapsed.wait_for(|elapsed| *elapsed >= until).await.expect("the clock outlives its sleepers");
    }
}

struct Asleep<'a>(&'a watch::Sender<usize>);

impl<'a> Asleep<'a> {
    fn in_bed(sleepers: &'a watch::Sender<usize>) -> Self {
        sleepers.send_modify(|sleepers| *sleepers += 1);
        Self(sleepers)
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|sleepers| *sleepers -= 1);
    }
}

#[async_trait]
impl Clock for FakeClock {
    fn now(&self) -> Stamp {
        FakeClock::now(self)
    }
    fn monotonic(&self) -> Duration {
        *self.elapsed.borrow()
    }
    async fn sleep(&self, span: Duration) {
        FakeClock::sleep(self, span).await;
    }
}

#[async_trait]
impl WallClock for FakeClock {
    fn now(&self) -> Stamp {
        FakeClock::now(self)
    }
    fn monotonic(&self) -> Duration {
        *self.elapsed.borrow()
    }
    async fn sleep(&self, span: Duration) {
        FakeClock::sleep(self, span).await;
    }
}
