use cerebellum_core::{Mask, PixelBox, RgbImage};
use glam::Vec2;

use crate::classes::{UNSEEN, clearance};
use crate::colour::chroma;

/// The picture around a thing, for refining the border of its mask.
pub(crate) struct Around<'a> {
    pub(crate) rgb: &'a RgbImage,
    pub(crate) depth: &'a [f32],
    pub(crate) classes: &'a [u8],
    /// The class of the support's own pixels.
    pub(crate) plane: u8,
    pub(crate) focal: f32,
}

/// A mask of the pixels, grown into what depth alone cannot tell: pixels that were not measured but are enclosed, and the
/// foot of the thing, which is nearer to the support than depth can part; there colour decides.
pub(crate) fn mask_of(pixels: &[u32], around: &Around<'_>) -> Mask {
    let width = around.rgb.width as usize;
    let height = around.rgb.height as usize;
    let depth = median_depth(pixels, around.depth);
    let reach = ((clearance(depth) + 0.002) * around.focal / depth).ceil().clamp(1.0, 10.0) as usize + 1;
    let mut canvas = Canvas::around(pixels, width, height, reach + 6);
    canvas.close_holes(around, 3);
    canvas.grow_foot(around, reach);
    canvas.close_holes(around, 1);
    canvas.into_mask()
}

/// The bounds of the pixels in a picture of that width.
pub(crate) fn bounds_of(pixels: &[u32], width: usize) -> PixelBox {
    let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
    for &pixel in pixels {
        let (column, row) = (pixel as usize % width, pixel as usize / width);
        left = left.min(column);
        right = right.max(column);
        top = top.min(row);
        bottom = bottom.max(row);
    }
    if pixels.is_empty() {
        return PixelBox::default();
    }
    PixelBox { x: left as u32, y: top as u32, width: (right - left + 1) as u32, height: (bottom - top + 1) as u32 }
}

pub(crate) fn median_depth(pixels: &[u32], depth: &[f32]) -> f32 {
    let mut depths: Vec<f32> = pixels.iter().map(|&pixel| depth[pixel as usize]).filter(|&d| d > 0.0).collect();
    if depths.is_empty() {
        return 1.0;
    }
    let middle = depths.len() / 2;
    *depths.select_nth_unstable_by(middle, f32::total_cmp).1
}

struct Canvas {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    inside: Vec<bool>,
    picture_width: usize,
}

impl Canvas {
    fn around(pixels: &[u32], width: usize, height: usize, margin: usize) -> Self {
        let bounds = bounds_of(pixels, width);
        let left = (bounds.x as usize).saturating_sub(margin);
        let top = (bounds.y as usize).saturating_sub(margin);
        let right = ((bounds.x + bounds.width) as usize + margin).min(width);
        let bottom = ((bounds.y + bounds.height) as usize + margin).min(height);
        let mut canvas = Self {
            left,
            top,
            width: right - left,
            height: bottom - top,
            inside: vec![false; (right - left) * (bottom - top)],
            picture_width: width,
        };
        for &pixel in pixels {
            let at = canvas.local(pixel as usize);
            canvas.inside[at] = true;
        }
        canvas
    }

    fn local(&self, pixel: usize) -> usize {
        (pixel / self.picture_width - self.top) * self.width + pixel % self.picture_width - self.left
    }

    fn global(&self, at: usize) -> usize {
        (at / self.width + self.top) * self.picture_width + at % self.width + self.left
    }

    fn inner(&self) -> impl Iterator<Item = usize> + use<> {
        let (width, height) = (self.width, self.height);
        (1..height.saturating_sub(1))
            .flat_map(move |row| (1..width.saturating_sub(1)).map(move |column| row * width + column))
    }

    fn close_holes(&mut self, around: &Around<'_>, times: usize) {
        let ring = self.ring();
        for _ in 0..times {
            let enclosed = |at: &usize| {
                let count = ring.iter().filter(|&&offset| self.inside[at.wrapping_add_signed(offset)]).count();
                !self.inside[*at] && around.classes[self.global(*at)] == UNSEEN && count >= 4
            };
            let found: Vec<usize> = self.inner().filter(enclosed).collect();
            for at in found {
                self.inside[at] = true;
            }
        }
    }

    fn ring(&self) -> [isize; 8] {
        let width = self.width.cast_signed();
        [-width - 1, -width, -width + 1, -1, 1, width - 1, width, width + 1]
    }

    fn grow_foot(&mut self, around: &Around<'_>, reach: usize) {
        let Some(ground) = self.ground_colour(around, reach) else { return };
        for _ in 0..reach {
            let mut found = Vec::new();
            for at in self.inner() {
                let pixel = self.global(at);
                let may_grow = around.classes[pixel] == around.plane || around.classes[pixel] == UNSEEN;
                if self.inside[at] || !may_grow {
                    continue;
                }
                // A foot hangs below or beside what was measured, never above it.
                let from = [at - self.width, at - 1, at + 1].into_iter().find(|&near| self.inside[near]);
                let Some(from) = from else { continue };
                let mine = look(around.rgb, self.global(from));
                let here = look(around.rgb, pixel);
                if distance(here, mine) < 0.5 * distance(here, ground) {
                    found.push(at);
                }
            }
            if found.is_empty() {
                break;
            }
            for at in found {
                self.inside[at] = true;
            }
        }
    }

    /// The mean colour of the support in a ring around the thing, in light and in its shadow.
    fn ground_colour(&self, around: &Around<'_>, reach: usize) -> Option<(Vec2, f32)> {
        let (mut chroma, mut light, mut count) = (Vec2::ZERO, 0.0, 0.0);
        for at in (0..self.inside.len()).step_by(3) {
            let pixel = self.global(at);
            if around.classes[pixel] != around.plane || self.inside[at] || self.near_inside(at, reach) {
                continue;
            }
            let (c, l) = look(around.rgb, pixel);
            chroma += c;
            light += l;
            count += 1.0;
        }
        (count >= 8.0).then(|| (chroma / count, light / count))
    }

    fn near_inside(&self, at: usize, reach: usize) -> bool {
        let (column, row) = (at % self.width, at / self.width);
        let up = row.saturating_sub(reach) * self.width + column;
        let left = row * self.width + column.saturating_sub(reach);
        let right = row * self.width + (column + reach).min(self.width - 1);
        self.inside[up] || self.inside[left] || self.inside[right]
    }

    fn into_mask(self) -> Mask {
        let pixels: Vec<u32> =
            (0..self.inside.len()).filter(|&at| self.inside[at]).map(|at| self.global(at) as u32).collect();
        let bounds = bounds_of(&pixels, self.picture_width);
        let mut data = vec![0; bounds.area() as usize];
        for pixel in pixels {
            let (column, row) = (pixel as usize % self.picture_width, pixel as usize / self.picture_width);
            data[(row - bounds.y as usize) * bounds.width as usize + column - bounds.x as usize] = 255;
        }
        Mask { bounds, data }
    }
}

fn look(rgb: &RgbImage, pixel: usize) -> (Vec2, f32) {
    let at = pixel * 3;
    let [r, g, b] = [rgb.data[at], rgb.data[at + 1], rgb.data[at + 2]].map(f32::from);
    (chroma([r, g, b]), (r + g + b) / 765.0)
}

fn distance(a: (Vec2, f32), b: (Vec2, f32)) -> f32 {
    a.0.distance(b.0) + 0.35 * (a.1 - b.1).abs()
}
