use cerebellum_core::{Detection, DetectionFrame, PixelBox, Point, StreamMessage};

use crate::msg::common::{PointStamped, RegionOfInterest};
use crate::msg::vision::{VisionDetection, VisionDetectionArray};
use crate::msg::vision_msgs::{self, BoundingBox2D, Detection2D};
use crate::msg::{CdrError, decode};

/// Reads our own type. Masks are stepped over, never copied.
pub(super) fn read(bytes: &[u8]) -> Result<StreamMessage, CdrError> {
    let array: VisionDetectionArray<'_> = decode(bytes)?;
    Ok(StreamMessage::Detections(DetectionFrame {
        stamp: array.header.stamp.into(),
        frame_id: array.header.frame_id.to_owned(),
        skill: array.skill.to_owned(),
        image_width: array.image_width,
        image_height: array.image_height,
        detections: array.detections.iter().map(detection).collect(),
    }))
}

fn detection(message: &VisionDetection<'_>) -> Detection {
    Detection {
        id: text(message.id),
        label: message.label.to_owned(),
        score: message.score,
        bounds: bounds(message.bounds),
        has_mask: message.has_mask,
        point: message.has_point.then(|| point(&message.point)).flatten(),
    }
}

fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// A box that reaches beyond what pixels can be counted in is cut there.
fn bounds(roi: RegionOfInterest) -> PixelBox {
    PixelBox {
        x: roi.x_offset,
        y: roi.y_offset,
        width: roi.width.min(u32::MAX - roi.x_offset),
        height: roi.height.min(u32::MAX - roi.y_offset),
    }
}

/// A point that is not finite is no place.
fn point(message: &PointStamped<'_>) -> Option<Point> {
    let xyz = [message.point.x, message.point.y, message.point.z];
    let is_place = xyz.iter().all(|value| value.is_finite());
    is_place.then(|| Point { frame: message.header.frame_id.to_owned(), position: xyz.into() })
}

/// Reads `vision_msgs/Detection2DArray`. It tells no skill and no size of the picture.
pub(super) fn read_foreign(bytes: &[u8]) -> Result<StreamMessage, CdrError> {
    let (header, detections) = vision_msgs::decode_any(bytes)?;
    Ok(StreamMessage::Detections(DetectionFrame {
        stamp: header.stamp.into(),
        frame_id: header.frame_id.to_owned(),
        skill: String::new(),
        image_width: 0,
        image_height: 0,
        detections: detections.iter().map(|(detection, id)| foreign_detection(detection, id)).collect(),
    }))
}

fn foreign_detection(message: &Detection2D<'_>, id: &str) -> Detection {
    let best = message.results.iter().max_by(|a, b| a.score.total_cmp(&b.score));
    Detection {
        id: text(id),
        label: best.map_or_else(String::new, |best| best.class_id.to_owned()),
        score: best.map_or(0.0, |best| best.score as f32),
        bounds: foreign_bounds(&message.bbox),
        has_mask: false,
        point: None,
    }
}

/// Conversion to whole pixels saturates: what is no number becomes 0.
fn foreign_bounds(bbox: &BoundingBox2D) -> PixelBox {
    let (left, top) = (bbox.center_x - bbox.size_x / 2.0, bbox.center_y - bbox.size_y / 2.0);
    let (right, bottom) = (left + bbox.size_x, top + bbox.size_y);
    let (x, y) = (left.round() as u32, top.round() as u32);
    PixelBox {
        x,
        y,
        width: (right.round() as u32).saturating_sub(x),
        height: (bottom.round() as u32).saturating_sub(y),
    }
}
