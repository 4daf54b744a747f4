use crate::pose::Point;
use crate::time::Stamp;

/// A rectangle of pixels of the source picture; `x`, `y` is its top left pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PixelBox {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl PixelBox {
    /// The number of pixels in it.
    pub fn area(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Intersection over union of two boxes, 0 to 1.
    pub fn iou(&self, other: &Self) -> f64 {
        let right = (self.x + self.width).min(other.x + other.width);
        let bottom = (self.y + self.height).min(other.y + other.height);
        let width = right.saturating_sub(self.x.max(other.x));
        let height = bottom.saturating_sub(self.y.max(other.y));
        let shared = u64::from(width) * u64::from(height);
        let union = self.area() + other.area() - shared;
        if union == 0 { 0.0 } else { shared as f64 / union as f64 }
    }
}

/// Which pixels of a box belong to the thing: row by row, one byte a pixel, 0 or 255, exactly the size of the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Where the mask lies in the source picture.
    pub bounds: PixelBox,
    /// `bounds.width * bounds.height` bytes.
    pub data: Vec<u8>,
}

impl Mask {
    /// A mask from its bytes; `None` when their number does not fit the box.
    pub fn new(bounds: PixelBox, data: Vec<u8>) -> Option<Self> {
        (data.len() as u64 == bounds.area()).then_some(Self { bounds, data })
    }

    /// Whether the pixel of the source picture belongs to the thing.
    pub fn contains(&self, x: u32, y: u32) -> bool {
        let (Some(column), Some(row)) = (x.checked_sub(self.bounds.x), y.checked_sub(self.bounds.y)) else {
            return false;
        };
        column < self.bounds.width
            && row < self.bounds.height
            && self.data[row as usize * self.bounds.width as usize + column as usize] != 0
    }

    /// The number of pixels that belong to the thing.
    pub fn pixels(&self) -> usize {
        self.data.iter().filter(|&&value| value != 0).count()
    }
}

/// A thing that was found, without its pixels: what a reader of a stream gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// Stable while the thing is tracked; `None` when it is not.
    pub id: Option<String>,
    /// What it is called.
    pub label: String,
    /// How sure the engine is, 0 to 1.
    pub score: f32,
    /// Where it is in the picture.
    pub bounds: PixelBox,
    /// Whether a mask was published with it.
    pub has_mask: bool,
    /// Where it is in space, if depth told.
    pub point: Option<Point>,
}

/// A thing that was found, with its pixels: what an engine answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The thing; `has_mask` is true exactly when `mask` is there.
    pub detection: Detection,
    /// Its pixels, if the skill asked for masks.
    pub mask: Option<Mask>,
}

/// All that was found in one picture. Without detections it means "looked, saw nothing".
#[derive(Clone, Debug, PartialEq)]
pub struct DetectionFrame<D = Detection> {
    /// Stamp of the picture that was looked at.
    pub stamp: Stamp,
    /// Its frame.
    pub frame_id: String,
    /// The skill that looked.
    pub skill: String,
    /// Width of the picture in pixels.
    pub image_width: u32,
    /// Height of the picture in pixels.
    pub image_height: u32,
    /// What was found, best first.
    pub detections: Vec<D>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iou_of_equal_half_and_disjoint_boxes() {
        let a = PixelBox { x: 10, y: 10, width: 10, height: 10 };
        assert_eq!(a.iou(&a), 1.0);
        assert_eq!(a.iou(&PixelBox { x: 15, ..a }), 50.0 / 150.0);
        assert_eq!(a.iou(&PixelBox { x: 40, ..a }), 0.0);
        assert_eq!(PixelBox::default().iou(&PixelBox::default()), 0.0);
    }

    #[test]
    fn a_mask_answers_for_pixels_of_the_picture() {
        let bounds = PixelBox { x: 5, y: 6, width: 2, height: 1 };
        let mask = Mask::new(bounds, vec![255, 0]).unwrap();
        assert!(mask.contains(5, 6) && !mask.contains(6, 6) && !mask.contains(4, 6) && !mask.contains(5, 7));
        assert!(Mask::new(bounds, vec![255]).is_none());
    }
}
