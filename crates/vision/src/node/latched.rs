use std::sync::Arc;

use cerebellum_core::{
    Detection, DetectionFrame, Found, Mask, OutputName, OutputValue, PixelBox, Point, SkillPublisher, Stamp,
};
use cerebellum_wire::{Fault, output};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The one result of a skill that looks once. It is kept with the skill, and published again when the node has restarted: a
/// subscriber that comes late gets it as if the node had never been away.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Latched {
    pub(super) frame: Arc<DetectionFrame<Found>>,
    pub(super) outputs: Vec<(OutputName, OutputValue)>,
}

impl Latched {
    pub(super) fn publish(&self, publisher: &dyn SkillPublisher) {
        publisher.detections(Arc::clone(&self.frame));
        for (name, value) in &self.outputs {
            publisher.output(name, self.frame.stamp, &self.frame.frame_id, value);
        }
    }

    pub(super) fn to_value(&self) -> Value {
        serde_json::to_value(Written::from(self)).unwrap_or_default()
    }

    /// The result of the skill of that name.
    pub(super) fn from_value(value: &Value, skill: &str) -> Result<Self, Fault> {
        let written = Written::deserialize(value).map_err(|error| Fault::at("", error.to_string()))?;
        let mut outputs = Vec::with_capacity(written.outputs.len());
        for (name, value) in &written.outputs {
            let name = name.parse().map_err(|_no_name| Fault::at("outputs", format!("{name:?} is no name")))?;
            let Some(value) = output::from_json(value) else {
                return Err(Fault::at("outputs", format!("{name} has no value")));
            };
            outputs.push((name, value));
        }
        let detections = written.detections.into_iter().map(WrittenFound::read).collect::<Result<_, _>>()?;
        let frame = DetectionFrame {
            stamp: Stamp::from_nanos(written.stamp_ns),
            frame_id: written.frame_id,
            skill: skill.to_owned(),
            image_width: written.image[0],
            image_height: written.image[1],
            detections,
        };
        Ok(Self { frame: Arc::new(frame), outputs })
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    stamp_ns: i64,
    frame_id: String,
    image: [u32; 2],
    detections: Vec<WrittenFound>,
    /// In order.
    outputs: Vec<(String, Value)>,
}

#[derive(Serialize, Deserialize)]
struct WrittenFound {
    id: Option<String>,
    label: String,
    score: f32,
    bounds: [u32; 4],
    point: Option<(String, [f64; 3])>,
    /// Lengths of the runs of pixels that do not and do belong to the thing, row by row, in turn.
    mask: Option<Vec<u32>>,
}

impl From<&Latched> for Written {
    fn from(latched: &Latched) -> Self {
        let frame = &latched.frame;
        let found = |found: &Found| {
            let Detection { id, label, score, bounds, point, .. } = &found.detection;
            WrittenFound {
                id: id.clone(),
                label: label.clone(),
                score: *score,
                bounds: [bounds.x, bounds.y, bounds.width, bounds.height],
                point: point.as_ref().map(|point| (point.frame.clone(), point.position.to_array())),
                mask: found.mask.as_ref().map(runs),
            }
        };
        Self {
            stamp_ns: frame.stamp.nanos(),
            frame_id: frame.frame_id.clone(),
            image: [frame.image_width, frame.image_height],
            detections: frame.detections.iter().map(found).collect(),
            outputs: latched.outputs.iter().map(|(name, value)| (name.to_string(), output::to_json(value))).collect(),
        }
    }
}

impl WrittenFound {
    fn read(self) -> Result<Found, Fault> {
        let [x, y, width, height] = self.bounds;
        let bounds = PixelBox { x, y, width, height };
        let mask = match self.mask {
            None => None,
            Some(runs) => Some(mask(bounds, &runs).ok_or_else(|| Fault::at("mask", "does not fit its box"))?),
        };
        let point = self.point.map(|(frame, position)| Point { frame, position: DVec3::from_array(position) });
        let detection =
            Detection { id: self.id, label: self.label, score: self.score, bounds, has_mask: mask.is_some(), point };
        Ok(Found { detection, mask })
    }
}

fn runs(mask: &Mask) -> Vec<u32> {
    let (mut runs, mut belongs) = (vec![0], false);
    for &pixel in &mask.data {
        if (pixel != 0) != belongs {
            belongs = !belongs;
            runs.push(0);
        }
        if let Some(run) = runs.last_mut() {
            *run += 1;
        }
    }
    runs
}

fn mask(bounds: PixelBox, runs: &[u32]) -> Option<Mask> {
    // The sum first: a broken file shall not ask for more memory than its box has pixels.
    let pixels: u64 = runs.iter().map(|&run| u64::from(run)).sum();
    if pixels != bounds.area() {
        return None;
    }
    let data = runs.iter().enumerate().flat_map(|(index, &run)| {
        let pixel = if index % 2 == 1 { 255 } else { 0 };
        std::iter::repeat_n(pixel, run as usize)
    });
    Mask::new(bounds, data.collect())
}

#[cfg(test)]
mod tests {
    use cerebellum_core::Scalar;

    use super::*;

    #[test]
    fn a_result_reads_back_equal_with_its_masks() {
        let bounds = PixelBox { x: 1, y: 2, width: 3, height: 2 };
        let detection = Detection {
            id: Some("7".into()),
            label: "red can".into(),
            score: 0.9,
            bounds,
            has_mask: true,
            point: Some(Point { frame: "map".into(), position: DVec3::new(1.0, -2.5, 0.75) }),
        };
        let bare = Detection { id: None, has_mask: false, point: None, ..detection.clone() };
        let mask = Mask::new(bounds, vec![255, 255, 0, 0, 255, 0]);
        let frame = DetectionFrame {
            stamp: Stamp::from_nanos(1_750_000_000_123_456_789),
            frame_id: "camera".into(),
            skill: "one".into(),
            image_width: 640,
            image_height: 480,
            detections: vec![Found { detection, mask }, Found { detection: bare, mask: None }],
        };
        let list = OutputValue::List(vec![Scalar::Text("can".into()), Scalar::Number(2.0)]);
        let outputs = vec![("z".parse().unwrap(), OutputValue::Boolean(true)), ("a".parse().unwrap(), list)];
        let latched = Latched { frame: Arc::new(frame), outputs };
        assert_eq!(Latched::from_value(&latched.to_value(), "one").unwrap(), latched);
    }

    #[test]
    fn a_mask_that_does_not_fit_its_box_is_refused_without_its_memory() {
        let bounds = PixelBox { x: 0, y: 0, width: 2, height: 1 };
        assert_eq!(mask(bounds, &[u32::MAX, u32::MAX, u32::MAX]), None);
        assert_eq!(mask(bounds, &[1]), None);
        assert_eq!(mask(bounds, &[0, 1, 1]), Mask::new(bounds, vec![255, 0]));
    }
}
