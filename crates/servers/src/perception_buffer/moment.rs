use std::time::Duration;

use cerebellum_core::{Clock, Stamp};

/// Stamps further ahead than this say nothing about age, in seconds.
const AHEAD_S_MAX: f64 = 1.0;

/// Now, on both scales of the robot's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moment {
    pub(super) monotonic: Duration,
    pub(super) stamp: Stamp,
}

impl Moment {
    pub(super) fn of(clock: &dyn Clock) -> Self {
        Self { monotonic: clock.monotonic(), stamp: clock.now() }
    }
}

/// When a message came, and what its stamp is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    pub(super) at: Duration,
    /// The same moment, as a stamp.
    arrived: Stamp,
    pub(super) stamp: Stamp,
    /// There when the stamp tells no age: how far ahead it lay in seconds, 0 when there was none.
    pub(super) skew_s: Option<f64>,
}

impl Arrival {
    pub(super) fn new(now: Moment, stamp: Stamp) -> Self {
        let ahead = stamp.secs_since(now.stamp);
        let skew_s = if stamp.is_zero() {
            Some(0.0)
        } else if ahead > AHEAD_S_MAX {
            Some(ahead)
        } else {
            None
        };
        Self { at: now.monotonic, arrived: now.stamp, stamp, skew_s }
    }

    /// Whether it tells of a time before `created`. The first picture a task looks at may be a little older than the task, so
    /// that what came later counts as later.
    pub(super) fn is_before(&self, created: Stamp) -> bool {
        let came_before = self.arrived < created;
        match self.skew_s {
            _ if self.stamp.is_zero() => came_before,
            // The clocks disagree, and the stamp is of the clock that stamped the task.
            Some(_) => created.secs_since(self.stamp) > AHEAD_S_MAX,
            None => came_before && self.stamp < created,
        }
    }

    /// Seconds since the message came.
    pub(super) fn arrival_age_s(&self, now: Moment) -> f64 {
        now.monotonic.saturating_sub(self.at).as_secs_f64()
    }

    /// The larger of the time since arrival and the time since the stamp, where the stamp tells any.
    pub(super) fn age_s(&self, now: Moment) -> f64 {
        let since_arrival = self.arrival_age_s(now);
        if self.skew_s.is_some() { since_arrival } else { since_arrival.max(now.stamp.secs_since(self.stamp)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(monotonic_s: f64, stamp_s: f64) -> Moment {
        Moment { monotonic: Duration::from_secs_f64(monotonic_s), stamp: Stamp::from_secs_f64(stamp_s) }
    }

    #[test]
    fn age_is_the_larger_of_arrival_and_stamp() {
        let fresh = Arrival::new(moment(10.0, 1000.0), Stamp::from_secs_f64(999.9));
        assert!((fresh.age_s(moment(10.0, 1000.0)) - 0.1).abs() < 1e-6);
        assert!((fresh.age_s(moment(13.0, 1003.0)) - 3.1).abs() < 1e-6);
        let old = Arrival::new(moment(10.0, 1000.0), Stamp::from_secs_f64(940.0));
        assert!((old.age_s(moment(10.0, 1000.0)) - 60.0).abs() < 1e-6);
    }

    #[test]
    fn a_stamp_ahead_or_none_counts_by_arrival_and_is_told() {
        let ahead = Arrival::new(moment(10.0, 1000.0), Stamp::from_secs_f64(1030.0));
        assert_eq!(ahead.skew_s, Some(30.0));
        assert!((ahead.age_s(moment(12.0, 1002.0)) - 2.0).abs() < 1e-6);
        let none = Arrival::new(moment(10.0, 1000.0), Stamp::ZERO);
        assert_eq!(none.skew_s, Some(0.0));
        assert!((none.age_s(moment(12.0, 1002.0)) - 2.0).abs() < 1e-6);
        assert_eq!(Arrival::new(moment(10.0, 1000.0), Stamp::from_secs_f64(1000.9)).skew_s, None);
    }

    #[test]
    fn what_came_before_a_task_is_told_from_what_it_says() {
        let created = Stamp::from_secs_f64(1000.0);
        let came = |at_s: f64, stamp_s: f64| {
            Arrival::new(moment(at_s, at_s), Stamp::from_secs_f64(stamp_s)).is_before(created)
        };
        assert!(came(999.9, 999.8), "said by the task before");
        assert!(!came(1000.1, 999.9), "the first picture of the task");
        assert!(!came(999.9, 1000.2), "a clock that is a little behind");
        assert!(!came(900.0, 1000.2), "a clock that is far behind");
        assert!(came(900.0, 950.0), "a clock that is far behind, of the task before");
        assert!(came(999.9, 0.0) && !came(1000.1, 0.0), "no stamp: by arrival");
    }

    #[test]
    fn a_clock_that_jumps_back_makes_nothing_younger_than_its_arrival() {
        let arrival = Arrival::new(moment(10.0, 1000.0), Stamp::from_secs_f64(1000.0));
        assert!((arrival.age_s(moment(14.0, 500.0)) - 4.0).abs() < 1e-6);
    }
}
