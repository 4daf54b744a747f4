use std::sync::Arc;

use cerebellum_core::{DetectionFrame, Found, Mask};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

use crate::msg::common::{CompressedImage, Header, Point, PointStamped, RegionOfInterest};
use crate::msg::vision::{VisionDetection, VisionDetectionArray};
use crate::msg::{self, Bytes};

/// The frame as a message, its masks as PNG.
pub(super) fn encode(frame: &Arc<DetectionFrame<Found>>) -> Vec<u8> {
    let header = Header::new(frame.stamp, &frame.frame_id);
    let masks: Vec<Option<Vec<u8>>> = frame.detections.iter().map(|found| found.mask.as_ref().and_then(png)).collect();
    let detections = frame.detections.iter().zip(&masks).map(|(found, mask)| detection(header, found, mask.as_deref()));
    msg::encode(&VisionDetectionArray {
        header,
        skill: &frame.skill,
        image_width: frame.image_width,
        image_height: frame.image_height,
        detections: detections.collect(),
    })
}

fn detection<'a>(header: Header<'a>, found: &'a Found, mask: Option<&'a [u8]>) -> VisionDetection<'a> {
    let Found { detection, .. } = found;
    let bounds = detection.bounds;
    VisionDetection {
        id: detection.id.as_deref().unwrap_or_default(),
        label: &detection.label,
        score: detection.score,
        bounds: RegionOfInterest {
            x_offset: bounds.x,
            y_offset: bounds.y,
            height: bounds.height,
            width: bounds.width,
            do_rectify: false,
        },
        has_mask: mask.is_some(),
        mask: mask.map_or_else(CompressedImage::default, |mask| CompressedImage {
            header,
            format: "png",
            data: Bytes(mask),
        }),
        has_point: detection.point.is_some(),
        point: detection.point.as_ref().map_or_else(PointStamped::default, |point| PointStamped {
            header: Header { stamp: header.stamp, frame_id: &point.frame },
            point: Point { x: point.position.x, y: point.position.y, z: point.position.z },
        }),
    }
}

/// A mask of no pixels has no picture, and counts as none.
fn png(mask: &Mask) -> Option<Vec<u8>> {
    let mut file = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut file, CompressionType::Fast, FilterType::NoFilter);
    encoder
        .write_image(&mask.data, mask.bounds.width, mask.bounds.height, ExtendedColorType::L8)
        .inspect_err(|error| tracing::debug!(%error, "mask left out"))
        .ok()?;
    Some(file)
}
