//! Scores what an engine found against what a simulator knows.

use std::collections::BTreeMap;

use cerebellum_core::{DepthImage, Found, TruthFrame, TruthObject};

use super::words::{colours_of, tokens};

/// What counts as plainly visible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The fewest visible pixels.
    pub pixels_min: usize,
    /// The least visible share of the thing.
    pub visible_min: f32,
    /// The farthest, in metres.
    pub depth_max: f32,
    /// The least overlap of masks.
    pub iou_min: f32,
}

/// 400 pixels, 60 % visible, within 2.5 m, and an overlap of 0.7.
pub const RULES: Rules = Rules { pixels_min: 400, visible_min: 0.6, depth_max: 2.5, iou_min: 0.7 };

/// A thing that was judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// What a person calls it.
    pub label: String,
    /// What the engine called the best overlap.
    pub said: Option<String>,
    /// The best overlap of a detection with it.
    pub iou: f32,
    /// Whether the colour word is right.
    pub colour_right: bool,
    /// Whether both are good enough.
    pub found: bool,
    /// Its visible pixels.
    pub pixels: usize,
}

/// The score of one picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Plainly visible things that touch nothing.
    pub alone: Vec<Judged>,
    /// Pairs of plainly visible things that touch: their labels, and whether they were reported apart.
    pub touching: Vec<(String, String, bool)>,
    /// Detections that are no thing: a part of the room, a fragment, or two things as one.
    pub wrong: Vec<String>,
    /// Whether each visible person was found.
    pub people: Vec<bool>,
}

/// Scores one picture. `unhidden` tells the pixels that a thing would have with nothing in front of it.
pub fn score(
    found: &[Found],
    truth: &TruthFrame,
    depth: &DepthImage,
    unhidden: &BTreeMap<u16, usize>,
    rules: Rules,
) -> Score {
    let areas = areas(&truth.ids);
    let overlaps: Vec<Overlap> = found.iter().map(|found| Overlap::of(found, truth)).collect();
    let plain = |object: &&TruthObject| {
        let pixels = areas.get(&object.instance).copied().unwrap_or(0);
        let all = unhidden.get(&object.instance).copied().unwrap_or(pixels).max(1);
        pixels >= rules.pixels_min
            && pixels as f32 >= rules.visible_min * all as f32
            && median_depth(truth, depth, object.instance) <= rules.depth_max
    };
    let things: Vec<&TruthObject> = truth.objects.iter().filter(|object| object.is_graspable).filter(plain).collect();
    let touches = touching(truth, depth);
    let touch = |a: u16, b: u16| touches.contains_key(&(a.min(b), a.max(b)));
    let mut score = Score::default();
    for object in &things {
        let alone = !truth
            .objects
            .iter()
            .any(|other| other.instance != object.instance && touch(object.instance, other.instance));
        if alone {
            score.alone.push(judged(object, found, &overlaps, &areas, rules));
        }
    }
    for (index, a) in things.iter().enumerate() {
        for b in things[index + 1..].iter().filter(|b| touch(a.instance, b.instance)) {
            let (of_a, of_b) = (best(a.instance, &overlaps, &areas), best(b.instance, &overlaps, &areas));
            let apart = of_a.is_some_and(|a| a.1 >= 0.5)
                && of_b.is_some_and(|b| b.1 >= 0.5)
                && of_a.map(|a| a.0) != of_b.map(|b| b.0);
            score.touching.push((a.label.clone(), b.label.clone(), apart));
        }
    }
    for (found, overlap) in found.iter().zip(&overlaps) {
        if !is_right(overlap, truth, &areas) {
            score.wrong.push(format!("{} at {:?}", found.detection.label, found.detection.bounds));
        }
    }
    for person in truth.objects.iter().filter(|object| object.is_person) {
        if areas.get(&person.instance).is_some_and(|&pixels| pixels >= 10 * rules.pixels_min) {
            score.people.push(best(person.instance, &overlaps, &areas).is_some_and(|(_, iou)| iou > 0.5));
        }
    }
    score
}

struct Overlap {
    pixels: usize,
    shared: BTreeMap<u16, usize>,
}

impl Overlap {
    fn of(found: &Found, truth: &TruthFrame) -> Self {
        let mut shared: BTreeMap<u16, usize> = BTreeMap::new();
        let mut pixels = 0;
        if let Some(mask) = &found.mask {
            for (at, _) in mask.data.iter().enumerate().filter(|(_, value)| **value != 0) {
                let column = mask.bounds.x as usize + at % mask.bounds.width as usize;
                let row = mask.bounds.y as usize + at / mask.bounds.width as usize;
                *shared.entry(truth.ids[row * truth.width as usize + column]).or_default() += 1;
                pixels += 1;
            }
        }
        Self { pixels, shared }
    }

    fn iou(&self, instance: u16, areas: &BTreeMap<u16, usize>) -> f32 {
        let shared = self.shared.get(&instance).copied().unwrap_or(0);
        let union = self.pixels + areas.get(&instance).copied().unwrap_or(0) - shared;
        if union == 0 { 0.0 } else { shared as f32 / union as f32 }
    }
}

fn areas(ids: &[u16]) -> BTreeMap<u16, usize> {
    let mut areas = BTreeMap::new();
    for &id in ids {
        *areas.entry(id).or_default() += 1;
    }
    areas
}

fn best(instance: u16, overlaps: &[Overlap], areas: &BTreeMap<u16, usize>) -> Option<(usize, f32)> {
    let scored = overlaps.iter().enumerate().map(|(index, overlap)| (index, overlap.iou(instance, areas)));
    scored.filter(|(_, iou)| *iou > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
}

fn judged(
    object: &TruthObject,
    found: &[Found],
    overlaps: &[Overlap],
    areas: &BTreeMap<u16, usize>,
    rules: Rules,
) -> Judged {
    let best = best(object.instance, overlaps, areas);
    let said = best.map(|(index, _)| found[index].detection.label.clone());
    let iou = best.map_or(0.0, |(_, iou)| iou);
    let colour_right = said.as_ref().is_some_and(|said| same_colour(&object.label, said));
    let pixels = areas.get(&object.instance).copied().unwrap_or(0);
    Judged { label: object.label.clone(), said, iou, colour_right, found: iou >= rules.iou_min && colour_right, pixels }
}

/// Whether the colour word of what was said is one that the true colour may be called.
fn same_colour(label: &str, said: &str) -> bool {
    let colour = |text: &str| {
        tokens(text).iter().find_map(|word| match word.as_str() {
            "lemon" => colours_of("yellow"),
            other => colours_of(other),
        })
    };
    match (colour(label), colour(said)) {
        (Some(wanted), Some(said)) => said.iter().any(|colour| wanted.contains(colour)),
        // A label without a colour word, such as "apple", asks for none.
        (None, _) => true,
        (Some(_), None) => false,
    }
}

fn is_right(overlap: &Overlap, truth: &TruthFrame, areas: &BTreeMap<u16, usize>) -> bool {
    let real = truth.objects.iter().filter(|object| object.is_graspable || object.is_person);
    real.into_iter().any(|object| {
        let iou = overlap.iou(object.instance, areas);
        let small = areas.get(&object.instance).copied().unwrap_or(0) < 400;
        iou >= 0.5 || (small && iou >= 0.3)
    })
}

fn median_depth(truth: &TruthFrame, depth: &DepthImage, instance: u16) -> f32 {
    let pixels = truth.ids.iter().zip(&depth.metres).filter(|(id, metres)| **id == instance && **metres > 0.0);
    let mut depths: Vec<f32> = pixels.map(|(_, &metres)| metres).collect();
    depths.sort_by(f32::total_cmp);
    depths.get(depths.len() / 2).copied().unwrap_or(f32::INFINITY)
}

/// Pairs of things whose pixels meet without a step in depth, and how many do.
fn touching(truth: &TruthFrame, depth: &DepthImage) -> BTreeMap<(u16, u16), usize> {
    let things: Vec<u16> =
        truth.objects.iter().filter(|object| object.is_graspable).map(|object| object.instance).collect();
    let (width, height) = (truth.width as usize, truth.height as usize);
    let mut pairs: BTreeMap<(u16, u16), usize> = BTreeMap::new();
    for row in 0..height {
        for column in 0..width {
            let at = row * width + column;
            for near in
                [(column + 1 < width).then(|| at + 1), (row + 1 < height).then(|| at + width)].into_iter().flatten()
            {
                let (a, b) = (truth.ids[at], truth.ids[near]);
                let step = (depth.metres[at] - depth.metres[near]).abs();
                let meet = a != b && step < 0.012 + 0.006 * depth.metres[at].powi(2) && depth.metres[at] > 0.0;
                if meet && things.contains(&a) && things.contains(&b) {
                    *pairs.entry((a.min(b), a.max(b))).or_default() += 1;
                }
            }
        }
    }
    pairs.retain(|_, count| *count >= 4);
    pairs
}

#[cfg(test)]
mod tests {
    use cerebellum_core::{Detection, Mask, PixelBox};
    use glam::DVec3;

    use super::*;

    fn truth(ids: Vec<u16>, labels: &[&str]) -> TruthFrame {
        let object = |(index, label): (usize, &&str)| TruthObject {
            instance: index as u16 + 1,
            name: (*label).into(),
            label: (*label).into(),
            is_person: false,
            is_graspable: true,
            centre: DVec3::ZERO,
        };
        TruthFrame { width: 20, height: 20, ids, objects: labels.iter().enumerate().map(object).collect() }
    }

    fn found(label: &str, x: u32, width: u32) -> Found {
        let bounds = PixelBox { x, y: 0, width, height: 20 };
        let detection = Detection { id: None, label: label.into(), score: 1.0, bounds, has_mask: true, point: None };
        Found { detection, mask: Mask::new(bounds, vec![255; bounds.area() as usize]) }
    }

    fn stripes(first: usize, second: std::ops::Range<usize>) -> Vec<u16> {
        (0..400)
            .map(|at| {
                if at % 20 < first {
                    1
                } else if second.contains(&(at % 20)) {
                    2
                } else {
                    0
                }
            })
            .collect()
    }

    const FEW: Rules = Rules { pixels_min: 40, ..RULES };

    fn flat() -> DepthImage {
        DepthImage::new(20, 20, vec![1.0; 400]).unwrap()
    }

    #[test]
    fn a_thing_is_found_with_its_colour_and_overlap() {
        let truth = truth(stripes(5, 10..15), &["red can", "blue box"]);
        let score = score(&[found("red can", 0, 5), found("green box", 10, 5)], &truth, &flat(), &BTreeMap::new(), FEW);
        assert_eq!(score.alone.iter().map(|judged| judged.found).collect::<Vec<_>>(), [true, false]);
        assert_eq!(score.wrong.len(), 0);
    }

    #[test]
    fn what_touches_is_judged_as_a_pair_and_what_is_hidden_not_at_all() {
        let truth = truth(stripes(5, 5..10), &["red can", "blue box"]);
        let apart = score(&[found("red can", 0, 5), found("blue box", 5, 5)], &truth, &flat(), &BTreeMap::new(), FEW);
        assert!(apart.alone.is_empty() && apart.touching == [("red can".into(), "blue box".into(), true)]);
        let one = score(&[found("red can", 0, 10)], &truth, &flat(), &BTreeMap::new(), FEW);
        assert!(!one.touching[0].2);
        let hidden = score(&[], &truth, &flat(), &BTreeMap::from([(1, 200), (2, 200)]), FEW);
        assert!(hidden.touching.is_empty() && hidden.alone.is_empty());
    }

    #[test]
    fn a_piece_of_the_room_is_wrong() {
        let truth = truth(stripes(5, 10..15), &["red can", "blue box"]);
        let score = score(&[found("white box", 15, 5)], &truth, &flat(), &BTreeMap::new(), FEW);
        assert_eq!(score.wrong.len(), 1);
        assert!(score.alone.iter().all(|judged| !judged.found));
    }
}
