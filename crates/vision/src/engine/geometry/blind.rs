use cerebellum_core::{DepthImage, EngineError, RgbImage};

/// The share of measured pixels below which depth says nothing.
const MEASURED_MIN: f32 = 0.001;
/// The brightest channel of a pixel that counts as black, of 255.
const BLACK_MAX: u8 = 48;
/// The share of other pixels that a black picture may have, for its noise.
const NOT_BLACK_MAX: f32 = 0.01;

/// An error when the camera measured nothing. What is not looked at is neither there nor gone.
pub(super) fn check(rgb: &RgbImage, depth: &DepthImage) -> Result<(), EngineError> {
    let measured = depth.metres.iter().filter(|&&metres| metres > 0.0).count();
    if measured as f32 >= MEASURED_MIN * depth.metres.len() as f32 {
        return Ok(());
    }
    let bright = rgb.data.chunks_exact(3).filter(|pixel| pixel.iter().any(|&value| value > BLACK_MAX)).count();
    let black = bright as f32 <= NOT_BLACK_MAX * (rgb.data.len() / 3) as f32;
    let reason = if black {
        "the camera sees nothing: the picture is black and no depth is measured; uncover the lens or switch on the light"
    } else {
        "the camera measures no depth anywhere in the picture; check its depth sensor and what is right before it"
    };
    Err(EngineError::Failed { reason: reason.to_owned() })
}
