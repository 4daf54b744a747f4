use cerebellum_core::{PixelBox, Stamp};
use glam::Vec3;

use super::matching::Item;

/// A thing that moved less than this between two looks is the same, in metres.
const THING_STEP_M: f32 = 0.12;
/// A person walks further between two looks, in metres.
const PERSON_STEP_M: f32 = 0.8;
/// What is not seen for so long is forgotten, in seconds.
const FORGET_S: f64 = 8.0;
/// The most things that are followed; the ones not seen for longest go first.
const TRACKS_MAX: usize = 100;

/// Follows things from look to look, so that one keeps its id.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    tracks: Vec<Track>,
    named: u64,
}

#[derive(Debug)]
struct Track {
    id: u64,
    is_person: bool,
    label: String,
    centre: Vec3,
    bounds: PixelBox,
    seen: Stamp,
}

impl Tracks {
    /// The ids of the items seen at `stamp`, in their order.
    pub(super) fn follow(&mut self, items: &[Item<'_>], stamp: Stamp) -> Vec<String> {
        // A clock that was set back starts afresh, as does one that jumped ahead.
        self.tracks.retain(|track| stamp.secs_since(track.seen).abs() <= FORGET_S);
        let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            for (index, track) in self.tracks.iter().enumerate() {
                pairs.extend(cost(item, track).map(|cost| (cost, at, index)));
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut of_item = vec![None; items.len()];
        let mut used = vec![false; self.tracks.len()];
        for (_, at, index) in pairs {
            if of_item[at].is_none() && !used[index] {
                of_item[at] = Some(index);
                used[index] = true;
            }
        }
        let ids = items.iter().zip(of_item).map(|(item, index)| self.note(item, index, stamp).to_string()).collect();
        if self.tracks.len() > TRACKS_MAX {
            self.tracks.sort_by_key(|track| std::cmp::Reverse(track.seen));
            self.tracks.truncate(TRACKS_MAX);
        }
        ids
    }

    fn note(&mut self, item: &Item<'_>, index: Option<usize>, stamp: Stamp) -> u64 {
        let id = index.map_or_else(
            || {
                self.named += 1;
                self.named
            },
            |index| self.tracks[index].id,
        );
        let track = Track {
            id,
            is_person: item.is_person(),
            label: item.label(),
            centre: item.centre(),
            bounds: item.bounds(),
            seen: stamp,
        };
        match index {
            Some(index) => self.tracks[index] = track,
            None => self.tracks.push(track),
        }
        id
    }
}

/// How unlike an item is to a track; `None` when it cannot be the same.
fn cost(item: &Item<'_>, track: &Track) -> Option<f32> {
    if item.is_person() != track.is_person {
        return None;
    }
    let limit = if track.is_person { PERSON_STEP_M } else { THING_STEP_M };
    let moved = item.centre().distance(track.centre);
    let overlap = item.bounds().iou(&track.bounds) as f32;
    let other_label = if item.label() == track.label { 0.0 } else { 0.5 };
    (moved < limit).then_some(moved / limit - overlap * 0.5 + other_label)
}
