use std::convert::Infallible;

use embedded_graphics::Drawable;
use embedded_graphics::Pixel;
use embedded_graphics::draw_target::DrawTarget;
use embedded_graphics::geometry::{OriginDimensions, Point, Size};
use embedded_graphics::mono_font::iso_8859_1::{FONT_7X13_BOLD, FONT_9X15_BOLD, FONT_10X20};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::BinaryColor;
use embedded_graphics::text::{Baseline, Text};

use super::canvas::{Canvas, Rect};
use super::colours::Colour;

/// A font in a size that reads well on a picture.
pub(super) struct Font {
    mono: &'static MonoFont<'static>,
    scale: u32,
    stroke: u32,
}

impl Font {
    /// Smaller on small pictures, doubled and more on large ones.
    pub(super) fn fitting(width: u32, height: u32) -> Self {
        let side = width.min(height);
        let (mono, scale) = match side {
            0..300 => (&FONT_7X13_BOLD, 1),
            300..640 => (&FONT_9X15_BOLD, 1),
            640..1200 => (&FONT_10X20, 1),
            _ => (&FONT_10X20, (side / 600).max(2)),
        };
        Self { mono, scale, stroke: (side / 240).clamp(1, 12) }
    }

    /// The width of lines that go with it.
    pub(super) const fn stroke(&self) -> u32 {
        self.stroke
    }

    /// Width and height of a plate that holds the text.
    pub(super) fn plate(&self, text: &str) -> (i64, i64) {
        let cell = self.mono.character_size;
        let width = i64::from(cell.width + self.mono.character_spacing) * i64::from(text.chars().count() as u32);
        let scale = i64::from(self.scale);
        (width * scale + 2 * self.pad_across(), i64::from(cell.height) * scale + 2 * self.pad_down())
    }

    /// How many characters fit into that width.
    pub(super) fn columns(&self, width: i64) -> usize {
        let cell = i64::from((self.mono.character_size.width + self.mono.character_spacing) * self.scale);
        usize::try_from(width / cell.max(1)).unwrap_or(0)
    }

    /// From one line of text to the next.
    pub(super) fn line_height(&self) -> i64 {
        i64::from(self.mono.character_size.height * self.scale) + 1
    }

    /// Writes the text into its plate.
    pub(super) fn write(&self, canvas: &mut Canvas, plate: Rect, text: &str, ink: Colour) {
        let style = MonoTextStyle::new(self.mono, BinaryColor::On);
        let mut target = Scaled {
            canvas,
            left: plate.left + self.pad_across(),
            top: plate.top + self.pad_down(),
            scale: i64::from(self.scale),
            ink,
        };
        match Text::with_baseline(text, Point::zero(), style, Baseline::Top).draw(&mut target) {
            Ok(_end) => {}
            Err(never) => match never {},
        }
    }

    fn pad_across(&self) -> i64 {
        i64::from(4 * self.scale)
    }

    fn pad_down(&self) -> i64 {
        i64::from(self.scale)
    }
}

/// Each pixel of the font becomes a square of the canvas.
struct Scaled<'a> {
    canvas: &'a mut Canvas,
    left: i64,
    top: i64,
    scale: i64,
    ink: Colour,
}

impl DrawTarget for Scaled<'_> {
    type Color = BinaryColor;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<BinaryColor>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(at, colour) in pixels {
            if colour == BinaryColor::Off {
                continue;
            }
            let (left, top) = (self.left + i64::from(at.x) * self.scale, self.top + i64::from(at.y) * self.scale);
            for y in top..top + self.scale {
                for x in left..left + self.scale {
                    self.canvas.put(x, y, self.ink, 256);
                }
            }
        }
        Ok(())
    }
}

impl OriginDimensions for Scaled<'_> {
    fn size(&self) -> Size {
        let (width, height) = self.canvas.size();
        Size::new(width.try_into().unwrap_or(u32::MAX), height.try_into().unwrap_or(u32::MAX))
    }
}
