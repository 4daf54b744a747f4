use std::collections::VecDeque;
use std::sync::Arc;

use cerebellum_core::{Intrinsics, Stamp};

/// How far the stamps of a picture and its depth may lie apart.
const APART_MAX_S: f64 = 0.02;
/// Pictures and depths that wait for each other.
const WAITING: usize = 3;
/// So many pictures without depth, or without the camera's model, and no more of it is waited for.
const MISSED_MAX: usize = 5;

/// A message as it came.
#[derive(Clone)]
pub(super) struct Raw {
    pub(super) stamp: Stamp,
    pub(super) bytes: Arc<[u8]>,
}

/// A picture and the depth that belongs to it.
#[derive(Clone)]
pub(super) struct Pair {
    pub(super) seq: u64,
    pub(super) rgb: Raw,
    pub(super) depth: Option<Raw>,
}

/// Brings pictures and depths of one time together. Keeps the newest alone.
#[derive(Default)]
pub(super) struct Pairing {
    rgb: VecDeque<Raw>,
    depth: VecDeque<Raw>,
    /// Pictures since the last depth, as long as depth is waited for.
    without_depth: usize,
    /// Pictures since the model was asked for.
    without_model: usize,
    pub(super) model: Option<Intrinsics>,
    seq: u64,
    pub(super) newest: Option<Pair>,
}

/// What a camera publishes besides pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) depth: bool,
    pub(super) model: bool,
}

impl Pairing {
    /// Starts to look anew: what came before is too old to show. Numbers go on.
    pub(super) fn begin(&mut self, expected: Expected) {
        *self = Self { seq: self.seq, ..Self::default() };
        self.without_depth = if expected.depth { 0 } else { MISSED_MAX };
        self.without_model = if expected.model { 0 } else { MISSED_MAX };
    }

    /// A picture came; answers whether there is a new pair.
    pub(super) fn picture(&mut self, raw: Raw) -> bool {
        if self.model.is_none() && self.without_model < MISSED_MAX {
            self.without_model += 1;
            return false;
        }
        if self.without_depth >= MISSED_MAX {
            self.pair(raw, None);
            return true;
        }
        self.without_depth += 1;
        push(&mut self.rgb, raw);
        self.join()
    }

    /// Depth came; answers whether there is a new pair.
    pub(super) fn depth(&mut self, raw: Raw) -> bool {
        self.without_depth = 0;
        push(&mut self.depth, raw);
        self.join()
    }

    /// Pairs the newest picture that has its depth.
    fn join(&mut self) -> bool {
        let apart = |rgb: &Raw, depth: &Raw| rgb.stamp.secs_since(depth.stamp).abs();
        for index in (0..self.rgb.len()).rev() {
            let rgb = &self.rgb[index];
            let nearest = self.depth.iter().min_by(|a, b| apart(rgb, a).total_cmp(&apart(rgb, b)));
            if let Some(depth) = nearest.filter(|depth| apart(rgb, depth) <= APART_MAX_S).cloned() {
                let rgb = rgb.clone();
                self.rgb.drain(..=index);
                self.pair(rgb, Some(depth));
                return true;
            }
        }
        false
    }

    fn pair(&mut self, rgb: Raw, depth: Option<Raw>) {
        self.seq += 1;
        self.newest = Some(Pair { seq: self.seq, rgb, depth });
    }
}

fn push(waiting: &mut VecDeque<Raw>, raw: Raw) {
    waiting.push_back(raw);
    if waiting.len() > WAITING {
        waiting.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(millis: i64) -> Raw {
        Raw { stamp: Stamp::from_nanos(millis * 1_000_000), bytes: Arc::default() }
    }

    fn pairing(depth: bool) -> Pairing {
        let mut pairing = Pairing::default();
        pairing.begin(Expected { depth, model: false });
        pairing
    }

    fn newest(pairing: &Pairing) -> Option<(u64, i64, Option<i64>)> {
        let millis = |raw: &Raw| raw.stamp.nanos() / 1_000_000;
        pairing.newest.as_ref().map(|pair| (pair.seq, millis(&pair.rgb), pair.depth.as_ref().map(millis)))
    }

    #[test]
    fn depth_is_joined_to_the_picture_of_its_time_whichever_comes_first() {
        let mut pairing = pairing(true);
        assert!(!pairing.picture(raw(100)) && pairing.depth(raw(101)));
        assert_eq!(newest(&pairing), Some((1, 100, Some(101))));
        assert!(!pairing.depth(raw(200)) && pairing.picture(raw(200)));
        assert_eq!(newest(&pairing), Some((2, 200, Some(200))));
        assert!(!pairing.picture(raw(300)) && !pairing.depth(raw(350)), "50 ms apart");
        assert_eq!(newest(&pairing), Some((2, 200, Some(200))));
    }

    #[test]
    fn a_camera_without_depth_is_shown_without() {
        let mut plain = pairing(false);
        assert!(plain.picture(raw(1)));
        assert_eq!(newest(&plain), Some((1, 1, None)));
        let mut broken = pairing(true);
        let shown = (0..7).filter(|&time| broken.picture(raw(time * 100))).count();
        assert_eq!(shown, 2, "five are waited for");
        assert!(broken.depth(raw(600)) || broken.depth(raw(700)) || !broken.picture(raw(800)), "depth is back");
    }

    #[test]
    fn a_model_that_is_announced_is_waited_for_a_while() {
        let mut pairing = Pairing::default();
        pairing.begin(Expected { depth: false, model: true });
        let shown: Vec<bool> = (0..7).map(|time| pairing.picture(raw(time))).collect();
        assert_eq!(shown, [false, false, false, false, false, true, true]);
    }

    #[test]
    fn looking_anew_forgets_what_was_and_counts_on() {
        let mut pairing = pairing(false);
        pairing.picture(raw(1));
        pairing.begin(Expected { depth: false, model: false });
        assert_eq!(newest(&pairing), None);
        pairing.picture(raw(2));
        assert_eq!(newest(&pairing), Some((2, 2, None)));
    }
}
