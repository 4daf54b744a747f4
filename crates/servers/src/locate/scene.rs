use cerebellum_core::SkillMode;
use cerebellum_geometry::contour;
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::locate::{capture_scene, get_frame};
use cerebellum_wire::{ToolOutcome, text};

use super::pixels::is_masked;
use super::seek::{bbox, point_of, score, skill};
use super::{Ended, Server};

/// The most things of a capture.
const OBJECTS_MAX: usize = 60;
/// How far an outline may lie beside the mask, in pixels.
const TOLERANCE: f32 = 1.5;

impl Server {
    pub(super) async fn get_frame(&self) -> Result<ToolOutcome, Ended> {
        let sight = self.eyes.newest().await?;
        let image = self.eyes.jpeg(&sight.frame).await?;
        self.eyes.keep_frame(&sight.frame);
        Ok(ToolOutcome::done(&get_frame::Answer {
            image_jpeg_b64: image.to_string(),
            width: sight.frame.rgb.width,
            height: sight.frame.rgb.height,
            stamp: sight.frame.stamp.as_secs_micros(),
            age_s: sight.age_s,
        }))
    }

    pub(super) async fn capture_scene(&self, context: &CallContext) -> Result<ToolOutcome, Ended> {
        let seen = self.look(skill(SkillMode::SegmentAll, None, Vec::new()), context).await?;
        let frame = &seen.sight.frame;
        let image = self.eyes.jpeg(frame).await?;
        self.eyes.keep_capture(frame);
        let found = &seen.look.detections;
        let has_masks = !found.is_empty() && found.iter().all(is_masked);
        let objects = found.iter().take(OBJECTS_MAX).enumerate().map(|(index, found)| {
            let [x, y, width, height] = bbox(found);
            let corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
            let outline = found.mask.as_ref().map(|mask| contour::outline(mask, TOLERANCE));
            let centroid = found.mask.as_ref().and_then(contour::centroid);
            capture_scene::SceneObject {
                id: found.detection.id.clone().unwrap_or_else(|| format!("object_{}", index + 1)),
                label: text::cut(&found.detection.label),
                score: score(found),
                bbox: [x, y, width, height],
                polygon: outline.filter(|outline| outline.len() > 2).unwrap_or_else(|| corners.to_vec()),
                centroid_uv: centroid.unwrap_or([x + width / 2, y + height / 2]),
                point_3d: point_of(found, frame),
            }
        });
        let engine = self.ports.engine.name();
        Ok(ToolOutcome::done(&capture_scene::Answer {
            image_jpeg_b64: image.to_string(),
            width: frame.rgb.width,
            height: frame.rgb.height,
            stamp: frame.stamp.as_secs_micros(),
            age_s: seen.sight.age_s,
            segmenter: if has_masks || found.is_empty() { engine } else { "box" }.to_owned(),
            fidelity: if has_masks || found.is_empty() { "mask" } else { "box" },
            objects: objects.collect(),
            omitted: found.len().checked_sub(OBJECTS_MAX).filter(|&more| more > 0),
            notes: seen.notes,
        }))
    }
}
