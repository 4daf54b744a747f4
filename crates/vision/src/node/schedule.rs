use std::time::Duration;

/// When to look next. Times of the same period lie on one grid, so that skills of equal rates fall due together and share a
/// picture. Looks that were missed are skipped. The answer is not before `now`, and after `taken`, when the last picture
/// came in: no picture is looked at twice.
pub(super) fn next(due: Duration, now: Duration, taken: Option<Duration>, period: Duration) -> Duration {
    let period = period.max(Duration::from_nanos(1));
    let mut earliest = now.max(due.saturating_add(period / 2));
    if let Some(taken) = taken {
        earliest = earliest.max(taken.saturating_add(Duration::from_nanos(1)));
    }
    let steps = earliest.as_nanos().div_ceil(period.as_nanos());
    let nanos = steps.saturating_mul(period.as_nanos());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(due: u64, now: u64, taken: Option<u64>, period: u64, expected: u64) {
        let ms = Duration::from_millis;
        assert_eq!(next(ms(due), ms(now), taken.map(ms), ms(period)), ms(expected));
    }

    #[test]
    fn looks_come_once_a_period() {
        check(0, 0, Some(0), 500, 500);
        check(500, 510, Some(505), 500, 1000);
        check(500, 990, Some(505), 500, 1000);
    }

    #[test]
    fn the_first_look_joins_the_grid_of_its_rate() {
        check(100, 110, Some(105), 500, 500);
        check(400, 410, Some(405), 500, 1000);
    }

    #[test]
    fn missed_looks_are_skipped() {
        check(500, 2100, Some(505), 500, 2500);
        check(500, 2000, Some(505), 500, 2000);
    }

    #[test]
    fn a_picture_is_never_due_twice() {
        check(500, 1000, Some(1000), 500, 1500);
    }

    #[test]
    fn a_period_of_a_day_and_a_clock_far_from_its_start_do_not_overflow() {
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(next(Duration::ZERO, Duration::ZERO, None, day), day);
        assert!(next(Duration::MAX, Duration::MAX, Some(Duration::MAX), day) > day);
    }
}
