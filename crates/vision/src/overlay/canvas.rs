use std::ops::Range;

use cerebellum_core::{PixelBox, RgbImage};

use super::colours::Colour;

/// A rectangle that may lie partly outside the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) left: i64,
    pub(super) top: i64,
    pub(super) width: i64,
    pub(super) height: i64,
}

impl Rect {
    pub(super) fn of(bounds: PixelBox) -> Self {
        Self { left: bounds.x.into(), top: bounds.y.into(), width: bounds.width.into(), height: bounds.height.into() }
    }

    pub(super) fn grown(self, by: i64) -> Self {
        Self { left: self.left - by, top: self.top - by, width: self.width + by * 2, height: self.height + by * 2 }
    }

    pub(super) fn touches(&self, other: &Self) -> bool {
        self.left < other.left + other.width
            && other.left < self.left + self.width
            && self.top < other.top + other.height
            && other.top < self.top + self.height
    }
}

/// A picture that is drawn into. What lies outside is not drawn.
pub(super) struct Canvas {
    picture: RgbImage,
}

impl Canvas {
    pub(super) fn new(picture: &RgbImage) -> Self {
        Self { picture: picture.clone() }
    }

    pub(super) fn into_picture(self) -> RgbImage {
        self.picture
    }

    pub(super) fn size(&self) -> (i64, i64) {
        (self.picture.width.into(), self.picture.height.into())
    }

    /// Covers `cover` of 256 of the pixel.
    pub(super) fn blend(&mut self, x: u32, y: u32, colour: Colour, cover: u32) {
        if x >= self.picture.width || y >= self.picture.height {
            return;
        }
        let at = (y as usize * self.picture.width as usize + x as usize) * 3;
        let Some(pixel) = self.picture.data.get_mut(at..at + 3) else { return };
        for (value, ink) in pixel.iter_mut().zip(colour.rgb()) {
            *value = ((u32::from(*value) * (256 - cover) + u32::from(ink) * cover) / 256) as u8;
        }
    }

    /// Fills a rectangle whose corners are cut round.
    pub(super) fn fill_rounded(&mut self, rect: Rect, colour: Colour, cover: u32, radius: u32) {
        let radius = i64::from(radius);
        for y in self.rows(rect) {
            for x in self.columns(rect) {
                let across = (rect.left + radius - x).max(x - (rect.left + rect.width - 1 - radius)).max(0);
                let down = (rect.top + radius - y).max(y - (rect.top + rect.height - 1 - radius)).max(0);
                if across * across + down * down <= radius * radius {
                    self.put(x, y, colour, cover);
                }
            }
        }
    }

    /// Draws the edge of a rectangle, of that width, inside it.
    pub(super) fn outline(&mut self, rect: Rect, colour: Colour, cover: u32, stroke: u32) {
        let stroke = i64::from(stroke).min((rect.width.min(rect.height) + 1) / 2);
        for y in self.rows(rect) {
            let in_rim = y < rect.top + stroke || y >= rect.top + rect.height - stroke;
            if in_rim {
                for x in self.columns(rect) {
                    self.put(x, y, colour, cover);
                }
                continue;
            }
            for offset in 0..stroke {
                self.put(rect.left + offset, y, colour, cover);
                self.put(rect.left + rect.width - 1 - offset, y, colour, cover);
            }
        }
    }

    fn rows(&self, rect: Rect) -> Range<i64> {
        rect.top.max(0)..(rect.top + rect.height).min(self.picture.height.into())
    }

    fn columns(&self, rect: Rect) -> Range<i64> {
        rect.left.max(0)..(rect.left + rect.width).min(self.picture.width.into())
    }

    pub(super) fn put(&mut self, x: i64, y: i64, colour: Colour, cover: u32) {
        if let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) {
            self.blend(x, y, colour, cover);
        }
    }
}
