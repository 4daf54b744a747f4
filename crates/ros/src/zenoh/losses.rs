use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::attachment::Attachment;

/// Publishers remembered for one subscription; a topic seldom has more than one at a time.
const PUBLISHERS_MAX: usize = 16;

/// Finds the messages that a subscription did not get: publishers count, and a count that was skipped was lost on the way.
pub(super) struct Losses {
    lost: Arc<AtomicU64>,
    /// The last count of each publisher, the one heard of last at the end.
    last: Mutex<Vec<([u8; 16], i64)>>,
}

impl Losses {
    /// Adds what is lost to `lost`.
    pub(super) fn counting(lost: Arc<AtomicU64>) -> Self {
        Self { lost, last: Mutex::default() }
    }

    /// A message came. What a publisher said before its first message that came was never meant for us; what comes late or
    /// twice, as latched values may, tells of no loss.
    pub(super) fn came(&self, attachment: Option<Attachment>) {
        let Some(Attachment { seq, gid, .. }) = attachment else { return };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = last.iter_mut().find(|(publisher, _)| *publisher == gid) {
            let skipped = seq.saturating_sub(*known).saturating_sub(1);
            if skipped >= 0 {
                *known = seq;
                self.lost.fetch_add(skipped.unsigned_abs(), Ordering::Relaxed);
            }
            return;
        }
        if last.len() == PUBLISHERS_MAX {
            last.remove(0);
        }
        last.push((gid, seq));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(heard: &[(u8, i64)]) -> u64 {
        let count = Arc::new(AtomicU64::new(0));
        let losses = Losses::counting(Arc::clone(&count));
        for &(publisher, seq) in heard {
            losses.came(Some(Attachment { seq, stamp_nanos: 0, gid: [publisher; 16] }));
        }
        losses.came(None);
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn skipped_counts_are_lost_messages() {
        assert_eq!(lost(&[(1, 1), (1, 2), (1, 3)]), 0);
        assert_eq!(lost(&[(1, 1), (1, 4), (1, 5), (1, 7)]), 3);
    }

    #[test]
    fn publishers_count_apart_and_from_where_they_were_first_heard() {
        assert_eq!(lost(&[(1, 100), (2, 7), (1, 101), (2, 9)]), 1);
    }

    #[test]
    fn a_message_that_comes_late_or_twice_is_no_loss() {
        assert_eq!(lost(&[(1, 5), (1, 5), (1, 3), (1, 6)]), 0);
        assert_eq!(lost(&[(1, i64::MIN), (1, i64::MAX), (1, i64::MIN)]), i64::MAX.unsigned_abs() - 1);
    }
}
