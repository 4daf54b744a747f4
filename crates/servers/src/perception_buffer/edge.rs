use std::time::Duration;

use cerebellum_core::Stamp;

/// A fresh look at a watched output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    /// When it came, on the clock that never jumps.
    pub(super) at: Duration,
    /// The moment the event's id is made of.
    pub(super) stamp: Stamp,
    /// Whether the output has the value that is waited for.
    pub(super) holds: bool,
}

/// The rules an edge follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rules {
    /// How long the value must hold before it counts.
    pub(super) debounce: Duration,
    /// A gap longer than this begins the holding anew.
    pub(super) window: Duration,
    /// Whether a value that holds from the first look on is an edge: true for a task that was created while nobody looked.
    pub(super) is_new: bool,
}

/// Tells when a condition becomes true. Knows the last state through gaps, so that true, gap, true is no edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Edge {
    known: Option<bool>,
    /// Since when the value holds without having counted yet.
    holding: Option<Holding>,
    last: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Holding {
    since: Duration,
    stamp: Stamp,
}

impl Edge {
    /// With the state remembered from before.
    pub(super) fn remembered(known: Option<bool>) -> Self {
        Self { known, ..Self::default() }
    }

    /// The last state that counted.
    pub(super) fn known(&self) -> Option<bool> {
        self.known
    }

    /// Takes a look; answers the stamp of a rising edge.
    pub(super) fn observe(&mut self, look: Look, rules: Rules) -> Option<Stamp> {
        let had_gap = self.last.is_some_and(|last| look.at.saturating_sub(last) > rules.window);
        self.last = Some(look.at);
        if !look.holds {
            self.holding = None;
            self.known = Some(false);
            return None;
        }
        if had_gap {
            self.holding = None;
        }
        self.holding.get_or_insert(Holding { since: look.at, stamp: look.stamp });
        self.count(look.at, rules)
    }

    /// Lets time pass without a look; answers the stamp of an edge whose value has held long enough by now.
    pub(super) fn tick(&mut self, at: Duration, rules: Rules) -> Option<Stamp> {
        let is_fresh = self.last.is_some_and(|last| at.saturating_sub(last) <= rules.window);
        if is_fresh { self.count(at, rules) } else { None }
    }

    fn count(&mut self, at: Duration, rules: Rules) -> Option<Stamp> {
        let holding = self.holding?;
        if at.saturating_sub(holding.since) < rules.debounce {
            return None;
        }
        self.holding = None;
        match self.known.replace(true) {
            Some(false) => Some(holding.stamp),
            None if rules.is_new => Some(holding.stamp),
            Some(true) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rules(debounce_s: f64, is_new: bool) -> Rules {
        Rules { debounce: Duration::from_secs_f64(debounce_s), window: Duration::from_secs(5), is_new }
    }

    /// Plays words one second apart (`t=true`, `t=false`, `.` for a second of silence, `gap` for ten) and tells what came.
    fn check(debounce_s: f64, is_new: bool, words: &str, expected: &str) {
        let mut edge = Edge::default();
        let (mut at, mut got) = (Duration::from_secs(100), Vec::new());
        for word in words.split_whitespace() {
            at += Duration::from_secs(1);
            let stamp = Stamp::from_nanos(at.as_nanos() as i64);
            let fired = match word {
                "t=true" => edge.observe(Look { at, stamp, holds: true }, rules(debounce_s, is_new)),
                "t=false" => edge.observe(Look { at, stamp, holds: false }, rules(debounce_s, is_new)),
                "." => edge.tick(at, rules(debounce_s, is_new)),
                "gap" => {
                    at += Duration::from_secs(9);
                    edge.tick(at, rules(debounce_s, is_new))
                }
                other => panic!("{other}"),
            };
            got.push(if fired.is_some() { "fire" } else { "-" });
        }
        assert_eq!(got, expected.split_whitespace().collect::<Vec<_>>(), "{words}");
    }

    #[test]
    fn fires_once_on_a_rising_edge() {
        check(0.0, false, "t=false t=true t=true t=false t=true", "- fire - - fire");
        check(0.0, false, "t=false t=false t=false", "- - -");
    }

    #[test]
    fn unknown_to_true_is_an_edge_only_for_a_new_task() {
        check(0.0, true, "t=true t=true", "fire -");
        check(0.0, false, "t=true t=true t=false t=true", "- - - fire");
    }

    #[test]
    fn true_gap_true_is_no_edge() {
        check(0.0, true, "t=true gap t=true", "fire - -");
        check(0.0, false, "t=false gap t=true", "- - fire");
    }

    #[test]
    fn a_value_must_hold_for_the_debounce() {
        check(2.0, false, "t=false t=true t=true t=true t=true", "- - - fire -");
        check(2.0, false, "t=false t=true t=false t=true t=true t=true", "- - - - - fire");
        check(2.0, false, "t=false t=true . . .", "- - - fire -");
    }

    #[test]
    fn a_gap_begins_the_holding_anew() {
        check(2.0, false, "t=false t=true gap t=true t=true t=true", "- - - - - fire");
    }

    #[test]
    fn the_stamp_is_that_of_the_look_where_the_holding_began() {
        let mut edge = Edge::remembered(Some(false));
        let look = |s: u32| Look { at: Duration::from_secs(s.into()), stamp: Stamp::from_nanos(s.into()), holds: true };
        assert_eq!(edge.observe(look(1), rules(2.0, false)), None);
        assert_eq!(edge.observe(look(3), rules(2.0, false)), Some(Stamp::from_nanos(1)));
    }

    proptest! {
        /// The model of an edge without debounce: the last look said no (or nothing was said and the task is new), this one
        /// says yes, whatever silence lay between.
        #[test]
        fn edges_are_those_of_the_simple_model(
            steps in proptest::collection::vec((proptest::bool::ANY, 1_u64..30), 0..60),
            before in proptest::option::of(proptest::bool::ANY),
            is_new in proptest::bool::ANY,
        ) {
            let mut edge = Edge::remembered(before);
            let mut model = before;
            let mut at = Duration::ZERO;
            for (holds, wait_s) in steps {
                at += Duration::from_secs(wait_s);
                let fired = edge.observe(Look { at, stamp: Stamp::ZERO, holds }, rules(0.0, is_new)).is_some();
                let expected = holds && (model == Some(false) || (model.is_none() && is_new));
                prop_assert_eq!(fired, expected);
                model = Some(holds);
                prop_assert_eq!(edge.known(), model);
            }
        }

        /// Between two edges there is always a look that says no, with any debounce.
        #[test]
        fn two_edges_are_parted_by_a_no(
            steps in proptest::collection::vec((0_u8..3, 1_u64..4), 0..80),
            debounce_s in 0_u32..6,
        ) {
            let mut edge = Edge::default();
            let (mut at, mut said_no) = (Duration::ZERO, true);
            for (step, wait_s) in steps {
                at += Duration::from_secs(wait_s);
                let rules = rules(f64::from(debounce_s), true);
                let fired = match step {
                    0 => edge.tick(at, rules),
                    step => edge.observe(Look { at, stamp: Stamp::ZERO, holds: step == 1 }, rules),
                };
                if fired.is_some() {
                    prop_assert!(said_no);
                    said_no = false;
                }
                said_no |= step == 2;
            }
        }
    }
}
