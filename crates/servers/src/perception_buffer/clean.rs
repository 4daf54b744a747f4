use cerebellum_core::{Detection, DetectionFrame, PixelBox};

/// Detections as they may be shown, and in words what was cut or left out. Whoever publishes may be wrong: a score is a
/// number from 0 to 1, a box lies in its picture, a point is finite.
pub(super) fn frame(mut frame: DetectionFrame) -> (DetectionFrame, Option<String>) {
    let size = (frame.image_width, frame.image_height);
    let mut strange = Strange::default();
    frame.detections.retain_mut(|detection| {
        strange.look(detection, size);
        let is_somewhere = detection.bounds.area() > 0 || detection.point.is_some();
        strange.nowhere += usize::from(!is_somewhere);
        is_somewhere
    });
    (frame, strange.words())
}

/// How many detections have which fault.
#[derive(Default)]
struct Strange {
    scores: usize,
    points: usize,
    boxes: usize,
    nowhere: usize,
}

impl Strange {
    fn look(&mut self, detection: &mut Detection, size: (u32, u32)) {
        if !(0.0..=1.0).contains(&detection.score) {
            self.scores += 1;
            // What is no number says nothing about how sure the engine is.
            detection.score = if detection.score.is_nan() { 0.0 } else { detection.score.clamp(0.0, 1.0) };
        }
        if detection.point.as_ref().is_some_and(|point| !point.position.is_finite()) {
            self.points += 1;
            detection.point = None;
        }
        let inside = within(detection.bounds, size);
        self.boxes += usize::from(inside != detection.bounds && inside.area() > 0);
        detection.bounds = inside;
    }

    fn words(&self) -> Option<String> {
        let faults = [
            (self.scores, "with a score outside 0 to 1, cut to it"),
            (self.boxes, "with a box that reaches out of the picture, cut to it"),
            (self.points, "with a point that is not finite, shown without it"),
            (self.nowhere, "whose box is empty or outside the picture, left out"),
        ];
        let told: Vec<String> =
            faults.iter().filter(|(count, _)| *count > 0).map(|(count, words)| format!("{count} {words}")).collect();
        (!told.is_empty()).then(|| format!("the publisher sent impossible detections: {}", told.join("; ")))
    }
}

/// The part of the box in the picture; all of it when the picture's size is not told.
fn within(bounds: PixelBox, (width, height): (u32, u32)) -> PixelBox {
    if width == 0 || height == 0 {
        return bounds;
    }
    let (x, y) = (bounds.x.min(width), bounds.y.min(height));
    PixelBox { x, y, width: bounds.width.min(width - x), height: bounds.height.min(height - y) }
}
