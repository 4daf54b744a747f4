use serde::{Deserialize, Serialize};

use super::cdr::{CdrError, decode_whole};
use super::common::{Header, Image, PoseWithCovariance};

/// The type's name in every layout; the hash differs between them, and publishers are read whatever hash they announce.
pub const DETECTION_2D_ARRAY: &str = "vision_msgs/msg/Detection2DArray";

/// `vision_msgs/Detection2DArray`: detections `D` of one of the layouts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detection2DArray<'a, D> {
    /// Stamp and frame of the picture that was looked at.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// What was found.
    pub detections: Vec<D>,
}

/// The part of `vision_msgs/Detection2D` that is the same in all layouts. What older ones call `results[].id` and
/// `center.x`, newer ones `results[].hypothesis.class_id` and `center.position.x`, are the same bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detection2D<'a> {
    /// Stamp and frame of the picture; may be empty when that of the array is not.
    #[serde(borrow)]
    pub header: Header<'a>,
    /// What it may be.
    #[serde(borrow)]
    pub results: Vec<Hypothesis<'a>>,
    /// Where it is.
    pub bbox: BoundingBox2D,
}

/// `vision_msgs/ObjectHypothesisWithPose`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis<'a> {
    /// What it may be called.
    pub class_id: &'a str,
    /// 0 to 1.
    pub score: f64,
    /// Where it is, if measured.
    pub pose: PoseWithCovariance,
}

/// `vision_msgs/BoundingBox2D`, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BoundingBox2D {
    /// Column of the centre.
    pub center_x: f64,
    /// Row of the centre.
    pub center_y: f64,
    /// Turn of the box in radians.
    pub theta: f64,
    /// Columns.
    pub size_x: f64,
    /// Rows.
    pub size_y: f64,
}

/// A detection of one of the layouts.
pub trait Layout<'a>: Deserialize<'a> {
    /// The common part, and the id of the track if the layout has one.
    fn split(self) -> (Detection2D<'a>, &'a str);
}

/// Since version 3 of `vision_msgs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct New<'a> {
    /// The common part.
    #[serde(borrow)]
    pub detection: Detection2D<'a>,
    /// The track.
    pub id: &'a str,
}

/// Version 2: the pixels the detection was made from stand behind it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Old<'a> {
    /// The common part.
    #[serde(borrow)]
    pub detection: Detection2D<'a>,
    /// Those pixels; often empty.
    #[serde(borrow)]
    pub source_img: Image<'a>,
}

/// Version 2, as released with tracking.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OldTracked<'a> {
    /// The common part.
    #[serde(borrow)]
    pub detection: Detection2D<'a>,
    /// Those pixels; often empty.
    #[serde(borrow)]
    pub source_img: Image<'a>,
    /// Whether it is tracked.
    pub is_tracking: bool,
    /// The track.
    pub tracking_id: &'a str,
}

impl<'a> Layout<'a> for New<'a> {
    fn split(self) -> (Detection2D<'a>, &'a str) {
        (self.detection, self.id)
    }
}

impl<'a> Layout<'a> for Old<'a> {
    fn split(self) -> (Detection2D<'a>, &'a str) {
        (self.detection, "")
    }
}

impl<'a> Layout<'a> for OldTracked<'a> {
    fn split(self) -> (Detection2D<'a>, &'a str) {
        (self.detection, if self.is_tracking { self.tracking_id } else { "" })
    }
}

/// Header and detections of an array, whatever its layout.
pub type AnyArray<'a> = (Header<'a>, Vec<(Detection2D<'a>, &'a str)>);

/// Reads an array of any layout: the first that takes all the bytes. The fault is that of the newest layout.
pub fn decode_any(bytes: &[u8]) -> Result<AnyArray<'_>, CdrError> {
    read::<New<'_>>(bytes)
        .or_else(|fault| read::<OldTracked<'_>>(bytes).or_else(|_| read::<Old<'_>>(bytes)).or(Err(fault)))
}

fn read<'a, D: Layout<'a>>(bytes: &'a [u8]) -> Result<AnyArray<'a>, CdrError> {
    let array: Detection2DArray<'a, D> = decode_whole(bytes)?;
    Ok((array.header, array.detections.into_iter().map(Layout::split).collect()))
}
