use std::time::Duration;

use async_trait::async_trait;

/// A moment: nanoseconds since the Unix epoch, as ROS stamps count them. Zero means "no stamp".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(i64);

impl Stamp {
    /// The stamp that says nothing.
    pub const ZERO: Self = Self(0);

    /// From nanoseconds since the Unix epoch.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// From the two fields of `builtin_interfaces/Time`.
    pub const fn from_ros(sec: i32, nanosec: u32) -> Self {
        Self(sec as i64 * 1_000_000_000 + nanosec as i64)
    }

    /// From Unix seconds, to the nearest nanosecond a double can tell.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self((secs * 1e9).round() as i64)
    }

    /// Nanoseconds since the Unix epoch.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// The fields of `builtin_interfaces/Time`; seconds beyond 2038 saturate as that type does.
    pub fn to_ros(self) -> (i32, u32) {
        let sec = self.0.div_euclid(1_000_000_000);
        let nanosec = self.0.rem_euclid(1_000_000_000) as u32;
        (i32::try_from(sec).unwrap_or(if sec < 0 { i32::MIN } else { i32::MAX }), nanosec)
    }

    /// Unix seconds rounded to microseconds: the `stamp` of MCP answers and events. Equal stamps give equal numbers.
    pub fn as_secs_micros(self) -> f64 {
        let micros = self.0.div_euclid(1_000) + i64::from(self.0.rem_euclid(1_000) >= 500);
        micros as f64 / 1e6
    }

    /// Whether the stamp says nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Seconds from `earlier` to this stamp; negative when `earlier` is later.
    pub fn secs_since(self, earlier: Self) -> f64 {
        (self.0 - earlier.0) as f64 / 1e9
    }

    /// This stamp moved forward.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_nanos()).unwrap_or(i64::MAX)))
    }
}

/// The robot's time: simulator, vision, freshness, debounce and watchdogs ask this clock and no other.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Now, as stamps of messages count it. May jump when the robot's clock is set.
    fn now(&self) -> Stamp;
    /// Time since some fixed moment. Never jumps and never runs backwards.
    fn monotonic(&self) -> Duration;
    /// Returns after `span` of the robot's time. Dropping the future ends the wait.
    async fn sleep(&self, span: Duration);
}

/// The host's time: signatures, logs, HTTP time-outs and the drop guard.
#[async_trait]
pub trait WallClock: Send + Sync {
    /// Now, as the host's clock tells it.
    fn now(&self) -> Stamp;
    /// Time since some fixed moment. Never jumps and never runs backwards.
    fn monotonic(&self) -> Duration;
    /// Returns after `span` of the host's time. Dropping the future ends the wait.
    async fn sleep(&self, span: Duration);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ros_fields_round_trip_on_both_sides_of_the_epoch() {
        for nanos in [0, 1, 999_999_999, 1_750_000_000_500_000_000, -1, -1_000_000_001] {
            let (sec, nanosec) = Stamp::from_nanos(nanos).to_ros();
            assert_eq!(Stamp::from_ros(sec, nanosec).nanos(), nanos);
        }
    }

    #[test]
    fn seconds_are_rounded_to_microseconds() {
        assert_eq!(Stamp::from_nanos(1_750_000_000_123_456_789).as_secs_micros(), 1_750_000_000.123_457);
        assert_eq!(Stamp::from_nanos(1_750_000_000_500_000_000).as_secs_micros(), 1_750_000_000.5);
    }
}
