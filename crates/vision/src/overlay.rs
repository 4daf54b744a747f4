use cerebellum_core::{DetectionFrame, Found, Mask, OutputName, OutputValue, PixelBox, RgbImage};
use cerebellum_wire::output;

use canvas::{Canvas, Rect};
use colours::Colour;
use text::Font;

mod canvas;
mod colours;
mod text;

/// JPEG quality of overlays.
const QUALITY: u8 = 80;
/// How much of a mask's colour covers the picture, of 256.
const MASK_COVER: u32 = 96;
/// How much of the plate under a caption covers the picture, of 256.
const PLATE_COVER: u32 = 200;
/// The most characters of a label.
const LABEL_MAX: usize = 48;
/// The most characters of a line of the caption.
const LINE_MAX: usize = 96;
/// How many labels are stacked above or below a thing before they cover each other.
const STACK_MAX: i64 = 5;
/// The most lines of the caption.
const CAPTION_LINES_MAX: usize = 6;

/// A picture that cannot be written as JPEG.
#[derive(Debug, thiserror::Error)]
pub enum JpegError {
    /// JPEG ends at 65,535 pixels a side.
    #[error("a picture of {width}x{height} has no JPEG; a side has at most 65535 pixels")]
    Size {
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The encoder failed.
    #[error("the JPEG encoder failed")]
    Encoder(#[from] jpeg_encoder::EncodingError),
}

/// The picture as JPEG, at the quality of overlays.
pub fn jpeg(picture: &RgbImage) -> Result<Vec<u8>, JpegError> {
    let (Ok(width), Ok(height)) = (u16::try_from(picture.width), u16::try_from(picture.height)) else {
        return Err(JpegError::Size { width: picture.width, height: picture.height });
    };
    let mut bytes = Vec::with_capacity(picture.data.len() / 8);
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, QUALITY);
    encoder.encode(&picture.data, width, height, jpeg_encoder::ColorType::Rgb)?;
    Ok(bytes)
}

/// Draws what was found into the picture: masks, boxes, labels with scores, and in a corner the skill with its outputs. Each
/// thing keeps its colour while it keeps its id or label.
pub fn draw(picture: &RgbImage, found: &DetectionFrame<Found>, outputs: &[(OutputName, OutputValue)]) -> RgbImage {
    let mut canvas = Canvas::new(picture);
    let font = Font::fitting(picture.width, picture.height);
    let colours = colours::assign(&found.detections);
    let things = || found.detections.iter().zip(&colours);
    // The best is drawn last, over the others.
    for (thing, &colour) in things().rev() {
        if let Some(mask) = thing.mask.as_ref().filter(|mask| mask.data.len() as u64 == mask.bounds.area()) {
            shade(&mut canvas, mask, colour, font.stroke());
        }
    }
    for (thing, &colour) in things().rev() {
        frame(&mut canvas, thing.detection.bounds, colour, font.stroke());
    }
    let caption = caption(&mut canvas, &found.skill, outputs, &font);
    let mut taken: Vec<Rect> = caption.into_iter().collect();
    for (thing, &colour) in things() {
        let percent = (thing.detection.score * 100.0).round();
        let label = format!("{} {percent:.0}%", shorten(&thing.detection.label, LABEL_MAX));
        let plate = place(&canvas, thing.detection.bounds, font.plate(&label), &taken);
        canvas.fill_rounded(plate, colour, 256, font.stroke());
        font.write(&mut canvas, plate, &label, colour.ink());
        taken.push(plate);
    }
    canvas.into_picture()
}

/// Covers the mask thinly and draws its edge.
fn shade(canvas: &mut Canvas, mask: &Mask, colour: Colour, stroke: u32) {
    let PixelBox { x, y, width, height } = mask.bounds;
    for row in y..y.saturating_add(height) {
        for column in x..x.saturating_add(width) {
            if !mask.contains(column, row) {
                continue;
            }
            let reach = stroke.div_ceil(2);
            let on_edge = [
                column.checked_sub(reach).map(|left| (left, row)),
                Some((column + reach, row)),
                row.checked_sub(reach).map(|up| (column, up)),
                Some((column, row + reach)),
            ]
            .into_iter()
            .any(|near| near.is_none_or(|(column, row)| !mask.contains(column, row)));
            canvas.blend(column, row, colour, if on_edge { 256 } else { MASK_COVER });
        }
    }
}

/// A box with a dark line on both sides, so that it shows on any picture.
fn frame(canvas: &mut Canvas, bounds: PixelBox, colour: Colour, stroke: u32) {
    let rect = Rect::of(bounds);
    canvas.outline(rect.grown(1), Colour::DARK, 90, stroke + 2);
    canvas.outline(rect, colour, 256, stroke);
}

/// Skill and outputs in the lower left corner. Answers the place it takes.
fn caption(canvas: &mut Canvas, skill: &str, outputs: &[(OutputName, OutputValue)], font: &Font) -> Option<Rect> {
    let most = font.columns(canvas.size().0).saturating_sub(4).min(LINE_MAX);
    let mut lines = vec![shorten(skill, most)];
    for (name, value) in outputs {
        lines.push(shorten(&format!("{name}: {}", output::to_text(value)), most));
    }
    if lines.len() > CAPTION_LINES_MAX {
        let more = lines.len() - CAPTION_LINES_MAX + 1;
        lines.truncate(CAPTION_LINES_MAX - 1);
        lines.push(format!("and {more} more"));
    }
    let plates: Vec<(i64, i64)> = lines.iter().map(|line| font.plate(line)).collect();
    let width = plates.iter().map(|plate| plate.0).max()?;
    let (step, row_height) = (font.line_height(), plates[0].1);
    let height = plates[1..].iter().fold(row_height, |height, _| height + step);
    let (canvas_width, canvas_height) = canvas.size();
    if width > canvas_width || height * 2 > canvas_height {
        return None;
    }
    let margin = i64::from(font.stroke()) * 3;
    let plate = Rect { left: margin, top: canvas_height - height - margin, width, height };
    canvas.fill_rounded(plate, Colour::DARK, PLATE_COVER, font.stroke() * 2);
    let mut row = Rect { height: row_height, ..plate };
    for line in &lines {
        let ink = if row.top == plate.top { Colour::LIGHT } else { Colour::PALE };
        font.write(canvas, row, line, ink);
        row.top += step;
    }
    Some(plate)
}

/// Where a label goes: above its box, else inside its top, else below, and there where no other label is.
fn place(canvas: &Canvas, bounds: PixelBox, (width, height): (i64, i64), taken: &[Rect]) -> Rect {
    let bounds = Rect::of(bounds);
    let (canvas_width, canvas_height) = canvas.size();
    let left = bounds.left.min(canvas_width - width).max(0);
    let right = (bounds.left + bounds.width - width).clamp(0, (canvas_width - width).max(0));
    let bottom = bounds.top + bounds.height;
    let near = [bounds.top - height, bottom, bounds.top, bottom - height];
    let far = (1..STACK_MAX).flat_map(|step| [bounds.top - height * (step + 1), bottom + height * step]);
    let tops = near.into_iter().chain(far);
    let places = tops.flat_map(|top| [left, right].map(|left| Rect { left, top, width, height }));
    let free = places
        .filter(|place| place.top >= 0 && place.top + height <= canvas_height)
        .find(|place| !taken.iter().any(|other| other.touches(place)));
    let lowest = (canvas_height - height).max(0);
    free.unwrap_or(Rect { left, top: (bounds.top - height).clamp(0, lowest), width, height })
}

fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

#[cfg(test)]
mod tests;
