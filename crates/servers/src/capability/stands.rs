use std::sync::{Mutex, MutexGuard, PoisonError};

use cerebellum_core::{PlanarPose, Stamp};

/// How many stands are remembered.
const STANDS_MAX: usize = 32;
/// A base that is found further away than this from where it was left was moved by somebody else.
const MOVED_M: f64 = 0.02;
const MOVED_RAD: f64 = 0.02;

/// Where the base stood when, so that what was measured from there can still be told in `map`.
#[derive(Default)]
pub(super) struct Stands(Mutex<Vec<Stand>>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Stand {
    pose: PlanarPose,
    /// `None` reaches back to before the first look.
    from: Option<Stamp>,
    until: Option<Stamp>,
}

/// Where the base was at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stood {
    /// It has not moved since.
    Here,
    /// It stood there and has moved since.
    There(PlanarPose),
    /// It moved at that moment, or nobody remembers.
    Unknown,
}

impl Stands {
    /// The base begins to move.
    pub(super) fn leaves(&self, now: Stamp) {
        if let Some(last) = self.stands().last_mut()
            && last.until.is_none()
        {
            last.until = Some(now);
        }
    }

    /// The base was measured to stand there.
    pub(super) fn stands_at(&self, pose: PlanarPose, now: Stamp) {
        let mut stands = self.stands();
        let is_first = stands.is_empty();
        match stands.last_mut() {
            Some(last) if last.until.is_none() && is_near(&last.pose, &pose) => return,
            // Somebody else moved it, and nobody knows when.
            Some(last) if last.until.is_none() => last.until = last.from.or(Some(Stamp::ZERO)),
            Some(_) | None => {}
        }
        stands.push(Stand { pose, from: (!is_first).then_some(now), until: None });
        let excess = stands.len().saturating_sub(STANDS_MAX);
        stands.drain(..excess);
    }

    /// Where it was at the stamp.
    pub(super) fn at(&self, stamp: Stamp) -> Stood {
        let stands = self.stands();
        let holds = |stand: &&Stand| {
            stand.from.is_none_or(|from| from <= stamp) && stand.until.is_none_or(|until| stamp < until)
        };
        match stands.iter().rev().find(holds) {
            Some(stand) if stand.until.is_none() => Stood::Here,
            Some(stand) => Stood::There(stand.pose),
            None => Stood::Unknown,
        }
    }

    fn stands(&self) -> MutexGuard<'_, Vec<Stand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_near(a: &PlanarPose, b: &PlanarPose) -> bool {
    let turned = (a.yaw - b.yaw).sin().abs().max(if (a.yaw - b.yaw).cos() < 0.0 { 1.0 } else { 0.0 });
    a.distance(b) <= MOVED_M && turned <= MOVED_RAD
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Stamp {
        Stamp::from_secs_f64(secs)
    }

    #[test]
    fn what_was_measured_before_a_motion_is_told_from_where_the_base_stood() {
        let stands = Stands::default();
        let (first, second) = (PlanarPose::default(), PlanarPose::new(1.0, 0.0, 0.0));
        stands.stands_at(first, at(10.0));
        assert_eq!(stands.at(at(1.0)), Stood::Here);
        stands.leaves(at(20.0));
        assert_eq!(stands.at(at(25.0)), Stood::Unknown);
        stands.stands_at(second, at(30.0));
        assert_eq!(stands.at(at(15.0)), Stood::There(first));
        assert_eq!(stands.at(at(25.0)), Stood::Unknown);
        assert_eq!(stands.at(at(31.0)), Stood::Here);
    }

    #[test]
    fn a_base_that_somebody_else_moved_is_not_trusted_for_the_time_before() {
        let stands = Stands::default();
        stands.stands_at(PlanarPose::default(), at(10.0));
        stands.stands_at(PlanarPose::new(0.0, 0.0, 0.5), at(20.0));
        assert_eq!(stands.at(at(15.0)), Stood::Unknown);
        assert_eq!(stands.at(at(21.0)), Stood::Here);
    }

    #[test]
    fn standing_still_is_one_stand() {
        let stands = Stands::default();
        for second in 0..100 {
            stands.stands_at(PlanarPose::new(0.001, 0.0, std::f64::consts::TAU), at(f64::from(second)));
        }
        assert_eq!(stands.at(at(-5.0)), Stood::Here);
    }
}
