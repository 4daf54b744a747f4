use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cerebellum_core::{Clock, LeaseHeld, LeaseState, MotionLease};

/// The lease of one robot, kept in memory: it ends with the process that owns the robot, as every motion does.
pub struct Leases {
    clock: Arc<dyn Clock>,
    held: Mutex<Option<Held>>,
}

struct Held {
    state: LeaseState,
    /// On the monotonic clock: a robot whose clock is set keeps its holder.
    until: Duration,
}

impl Leases {
    /// Nobody holds it.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, held: Mutex::default() }
    }

    /// The lease, with one that lapsed taken away.
    fn current(&self) -> MutexGuard<'_, Option<Held>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|held| held.until <= self.clock.monotonic()) {
            *held = None;
        }
        held
    }
}

impl MotionLease for Leases {
    fn take(&self, holder: &str, running: Option<&str>, keep: Duration) -> Result<LeaseState, LeaseHeld> {
        let mut held = self.current();
        let since = match held.as_ref() {
            Some(other) if other.state.holder != holder => return Err(LeaseHeld { held: other.state.clone() }),
            Some(own) => own.state.since,
            None => self.clock.now(),
        };
        let state = LeaseState { holder: holder.to_owned(), since, running: running.map(str::to_owned) };
        *held = Some(Held { state: state.clone(), until: self.clock.monotonic().saturating_add(keep) });
        Ok(state)
    }

    fn release(&self, holder: &str) {
        let mut held = self.current();
        if held.as_ref().is_some_and(|held| held.state.holder == holder) {
            *held = None;
        }
    }

    fn holder(&self) -> Option<LeaseState> {
        self.current().as_ref().map(|held| held.state.clone())
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_core::Stamp;
    use cerebellum_testkit::FakeClock;

    use super::*;

    const KEEP: Duration = Duration::from_secs(5);

    fn rig() -> (Arc<FakeClock>, Leases) {
        let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(100.0)));
        let leases = Leases::new(clock.clone());
        (clock, leases)
    }

    #[test]
    fn one_holder_at_a_time_and_a_refusal_names_it() {
        let (_, leases) = rig();
        leases.take("mission 3", Some("pick"), KEEP).unwrap();
        let refused = leases.take("jog", None, KEEP).unwrap_err();
        assert_eq!(refused.to_string(), "the robot is held by mission 3, which runs pick");
        assert_eq!(refused.held.since, Stamp::from_secs_f64(100.0));
    }

    #[test]
    fn a_call_renews_the_lease_and_keeps_its_beginning() {
        let (clock, leases) = rig();
        leases.take("a", None, KEEP).unwrap();
        clock.advance(Duration::from_secs(4));
        assert_eq!(leases.take("a", Some("turn_by"), KEEP).unwrap().since, Stamp::from_secs_f64(100.0));
        clock.advance(Duration::from_secs(4));
        assert_eq!(leases.holder().unwrap().running.as_deref(), Some("turn_by"));
    }

    #[test]
    fn a_lease_lapses_when_nobody_renews_it() {
        let (clock, leases) = rig();
        leases.take("a", None, KEEP).unwrap();
        clock.advance(KEEP);
        assert_eq!(leases.holder(), None);
        assert_eq!(leases.take("b", None, KEEP).unwrap().since, Stamp::from_secs_f64(105.0));
    }

    #[test]
    fn setting_the_robots_clock_ends_no_lease() {
        let (clock, leases) = rig();
        leases.take("a", None, KEEP).unwrap();
        clock.jump(3_600_000_000_000);
        assert!(leases.holder().is_some());
    }

    #[test]
    fn only_its_holder_gives_it_back() {
        let (_, leases) = rig();
        leases.take("a", None, KEEP).unwrap();
        leases.release("b");
        assert!(leases.holder().is_some());
        leases.release("a");
        assert_eq!(leases.holder(), None);
    }
}
