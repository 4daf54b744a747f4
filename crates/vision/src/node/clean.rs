use std::sync::Arc;

use cerebellum_core::{DetectionFrame, Found, Frame, Look, Mask, OutputName, OutputValue, PixelBox, Scalar, Skill};

/// The most things published for one picture; the best are kept.
const DETECTIONS_MAX: usize = 500;
/// The longest label, in characters.
const LABEL_MAX: usize = 200;
/// The most complaints that are said about one look.
const COMPLAINTS_MAX: usize = 3;

/// What may be published of a look.
pub(super) struct Clean {
    pub(super) frame: Arc<DetectionFrame<Found>>,
    pub(super) outputs: Vec<(OutputName, OutputValue)>,
    /// What the engine got wrong, in words; `None` when all was well.
    pub(super) left_out: Option<String>,
}

/// Keeps of a look what a stream may carry: numbers that are finite, boxes inside the picture, masks that fit their box, and
/// the outputs that the skill has, of their type.
pub(super) fn clean(look: Look, skill: &Skill, picture: &Frame, engine: &str) -> Clean {
    let mut complaints = Complaints::default();
    let (width, height) = (picture.rgb.width, picture.rgb.height);
    let total = look.detections.len();
    if total > DETECTIONS_MAX {
        complaints.add(|| format!("{total} things, of which {DETECTIONS_MAX} are kept"));
    }
    let detections = look
        .detections
        .into_iter()
        .take(DETECTIONS_MAX)
        .filter_map(|found| clean_found(found, skill, width, height, &mut complaints))
        .collect();
    let mut outputs: Vec<(OutputName, OutputValue)> = Vec::with_capacity(look.outputs.len());
    for (name, value) in look.outputs {
        match fault_of_output(&name, &value, skill) {
            Some(fault) => complaints.add(|| format!("output {name}: {fault}")),
            None if outputs.iter().any(|(other, _)| *other == name) => {
                complaints.add(|| format!("output {name} twice"));
            }
            None => outputs.push((name, value)),
        }
    }
    let frame = DetectionFrame {
        stamp: picture.stamp,
        frame_id: picture.frame_id.clone(),
        skill: skill.name.to_string(),
        image_width: width,
        image_height: height,
        detections,
    };
    Clean { frame: Arc::new(frame), outputs, left_out: complaints.text(engine) }
}

fn clean_found(found: Found, skill: &Skill, width: u32, height: u32, complaints: &mut Complaints) -> Option<Found> {
    let Found { mut detection, mask } = found;
    if !detection.score.is_finite() {
        complaints.add(|| format!("{:?} with a score that is no number", detection.label));
        return None;
    }
    if !(0.0..=1.0).contains(&detection.score) {
        complaints.add(|| format!("{:?} with a score of {}, taken as 0 to 1", detection.label, detection.score));
        detection.score = detection.score.clamp(0.0, 1.0);
    }
    let Some(bounds) = inside(detection.bounds, width, height) else {
        complaints.add(|| format!("{:?} outside the picture or without pixels", detection.label));
        return None;
    };
    if bounds != detection.bounds {
        complaints.add(|| format!("{:?} partly outside the picture, cut", detection.label));
    }
    detection.bounds = bounds;
    if detection.label.chars().count() > LABEL_MAX || detection.label.contains(char::is_control) {
        detection.label = detection.label.chars().filter(|c| !c.is_control()).take(LABEL_MAX).collect();
    }
    if detection.point.as_ref().is_some_and(|point| !point.position.is_finite() || point.frame.is_empty()) {
        complaints.add(|| format!("{:?} at a point that is no place", detection.label));
        detection.point = None;
    }
    detection.id = detection.id.filter(|id| !id.is_empty());
    let mask = mask.filter(|_| skill.segment).and_then(|mask| {
        let fitted = fit(mask, bounds);
        if fitted.is_none() {
            complaints.add(|| format!("{:?} with a mask that does not fit its box", detection.label));
        }
        fitted
    });
    detection.has_mask = mask.is_some();
    Some(Found { detection, mask })
}

/// The part of a box that lies in the picture; `None` when that is nothing.
fn inside(bounds: PixelBox, width: u32, height: u32) -> Option<PixelBox> {
    let right = bounds.x.saturating_add(bounds.width).min(width);
    let bottom = bounds.y.saturating_add(bounds.height).min(height);
    let (width, height) = (right.checked_sub(bounds.x)?, bottom.checked_sub(bounds.y)?);
    (width > 0 && height > 0).then_some(PixelBox { width, height, ..bounds })
}

/// The mask as the pixels of exactly this box, of 0 and 255; `None` when its bytes do not fit or nothing is left of it.
fn fit(mask: Mask, bounds: PixelBox) -> Option<Mask> {
    if mask.data.len() as u64 != mask.bounds.area() {
        return None;
    }
    let mut mask = if mask.bounds == bounds {
        mask
    } else {
        let rows = bounds.y..bounds.y + bounds.height;
        let data = rows
            .flat_map(|y| (bounds.x..bounds.x + bounds.width).map(move |x| (x, y)))
            .map(|(x, y)| if mask.contains(x, y) { u8::MAX } else { 0 })
            .collect();
        Mask { bounds, data }
    };
    let mut any = false;
    for value in &mut mask.data {
        any |= *value != 0;
        *value = if *value == 0 { 0 } else { u8::MAX };
    }
    any.then_some(mask)
}

fn fault_of_output(name: &OutputName, value: &OutputValue, skill: &Skill) -> Option<String> {
    let Some(spec) = skill.outputs.iter().find(|output| output.name == *name) else {
        return Some("the skill has none of that name".to_owned());
    };
    if value.output_type() != spec.output_type {
        return Some(format!("a {} where the skill says {}", value.output_type().as_str(), spec.output_type.as_str()));
    }
    let finite = match value {
        OutputValue::Number(number) => number.is_finite(),
        OutputValue::List(items) => {
            items.iter().all(|item| !matches!(item, Scalar::Number(number) if !number.is_finite()))
        }
        OutputValue::Boolean(_) | OutputValue::Text(_) => true,
    };
    (!finite).then(|| "a number that is not finite".to_owned())
}

#[derive(Default)]
struct Complaints {
    shown: Vec<String>,
    count: usize,
}

impl Complaints {
    fn add(&mut self, complaint: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < COMPLAINTS_MAX {
            self.shown.push(complaint());
        }
    }

    fn text(self, engine: &str) -> Option<String> {
        if self.count == 0 {
            return None;
        }
        let more = self.count - self.shown.len();
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        Some(format!("engine {engine} answered what cannot be published: {}{more}", self.shown.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_core::{Detection, OutputSpec, OutputType, Point, SkillMode, Stamp};
    use cerebellum_testkit::frames::sized_frame;
    use glam::DVec3;

    use super::*;

    fn skill() -> Skill {
        let output = |name: &str, output_type| OutputSpec {
            name: name.parse().unwrap(),
            output_type,
            description: String::new(),
        };
        Skill {
            name: "test".parse().unwrap(),
            mode: SkillMode::SegmentAll,
            grounding: None,
            segment: true,
            once: false,
            rate_hz: None,
            outputs: vec![output("count", OutputType::Number), output("names", OutputType::List)],
            watch: None,
        }
    }

    fn found(score: f32, (x, y, width, height): (u32, u32, u32, u32)) -> Found {
        let bounds = PixelBox { x, y, width, height };
        let detection = Detection { id: None, label: "can".into(), score, bounds, has_mask: false, point: None };
        Found { detection, mask: None }
    }

    fn cleaned(detections: Vec<Found>, outputs: Vec<(&str, OutputValue)>) -> Clean {
        let outputs = outputs.into_iter().map(|(name, value)| (name.parse().unwrap(), value)).collect();
        let look = Look { detections, outputs, notes: vec![] };
        clean(look, &skill(), &sized_frame(1, Stamp::from_nanos(5), 100, 50), "fake")
    }

    #[test]
    fn a_good_look_passes_unchanged() {
        let mut good = found(0.5, (90, 40, 10, 10));
        good.mask = Mask::new(good.detection.bounds, vec![255; 100]);
        good.detection.has_mask = true;
        good.detection.point = Some(Point { frame: "map".into(), position: DVec3::ONE });
        let clean = cleaned(vec![good.clone()], vec![("count", OutputValue::Number(1.0))]);
        assert_eq!(clean.left_out, None);
        assert_eq!(clean.frame.detections, [good]);
        assert_eq!((clean.frame.image_width, clean.frame.image_height), (100, 50));
        assert_eq!(clean.outputs.len(), 1);
    }

    #[test]
    fn a_thing_without_a_score_or_without_pixels_is_left_out_and_said() {
        for (score, bounds, word) in [
            (f32::NAN, (0, 0, 5, 5), "no number"),
            (f32::INFINITY, (0, 0, 5, 5), "no number"),
            (0.5, (100, 0, 5, 5), "outside"),
            (0.5, (0, 0, 0, 5), "outside"),
            (0.5, (u32::MAX, u32::MAX, u32::MAX, u32::MAX), "outside"),
        ] {
            let clean = cleaned(vec![found(score, bounds), found(0.4, (1, 1, 2, 2))], vec![]);
            assert_eq!(clean.frame.detections.len(), 1, "{word}");
            assert!(clean.left_out.unwrap().contains(word), "{word}");
        }
    }

    #[test]
    fn a_box_that_leaves_the_picture_is_cut_with_its_mask() {
        let mut wide = found(1.5, (98, 48, u32::MAX, 4));
        wide.mask = Some(Mask { bounds: PixelBox { x: 98, y: 48, width: 4, height: 4 }, data: (0..16).collect() });
        let clean = cleaned(vec![wide], vec![]);
        let found = &clean.frame.detections[0];
        assert_eq!(found.detection.bounds, PixelBox { x: 98, y: 48, width: 2, height: 2 });
        assert_eq!(found.mask.as_ref().unwrap().data, [0, 255, 255, 255]);
        assert!(found.detection.has_mask && found.detection.score == 1.0);
    }

    #[test]
    fn a_mask_that_does_not_fit_or_was_not_asked_for_is_dropped() {
        let with = |data: Vec<u8>| {
            let mut found = found(0.5, (0, 0, 2, 2));
            found.detection.has_mask = true;
            found.mask = Some(Mask { bounds: found.detection.bounds, data });
            found
        };
        for data in [vec![255; 3], vec![], vec![0; 4]] {
            let clean = cleaned(vec![with(data)], vec![]);
            assert!(clean.frame.detections[0].mask.is_none() && !clean.frame.detections[0].detection.has_mask);
            assert!(clean.left_out.unwrap().contains("mask"));
        }
        let look = Look { detections: vec![with(vec![255; 4])], ..Look::default() };
        let unasked = Skill { segment: false, ..skill() };
        let clean = clean(look, &unasked, &sized_frame(1, Stamp::ZERO, 9, 9), "fake");
        assert!(clean.frame.detections[0].mask.is_none() && clean.left_out.is_none());
    }

    #[test]
    fn a_point_that_is_no_place_is_left_out() {
        let mut found = found(0.5, (0, 0, 2, 2));
        found.detection.point = Some(Point { frame: "map".into(), position: DVec3::new(1.0, f64::NAN, 0.0) });
        let clean = cleaned(vec![found], vec![]);
        assert_eq!(clean.frame.detections[0].detection.point, None);
        assert!(clean.left_out.unwrap().contains("point"));
    }

    #[test]
    fn outputs_of_another_name_or_type_and_numbers_that_are_not_finite_are_left_out() {
        for (name, value, word) in [
            ("colour", OutputValue::Text("red".into()), "none of that name"),
            ("count", OutputValue::Boolean(true), "boolean where the skill says number"),
            ("count", OutputValue::Number(f64::NAN), "not finite"),
            ("names", OutputValue::List(vec![Scalar::Number(f64::INFINITY)]), "not finite"),
        ] {
            let clean = cleaned(vec![], vec![(name, value)]);
            assert!(clean.outputs.is_empty(), "{word}");
            assert!(clean.left_out.unwrap().contains(word), "{word}");
        }
        let twice = vec![("count", OutputValue::Number(1.0)), ("count", OutputValue::Number(2.0))];
        assert_eq!(cleaned(vec![], twice).outputs, [("count".parse().unwrap(), OutputValue::Number(1.0))]);
    }

    #[test]
    fn what_is_said_stays_short_however_much_is_wrong() {
        let clean = cleaned((0..2_000).map(|_| found(f32::NAN, (0, 0, 1, 1))).collect(), vec![]);
        let said = clean.left_out.unwrap();
        assert!(said.len() < 400 && said.contains("more"), "{said}");
    }
}
