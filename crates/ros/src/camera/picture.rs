use cerebellum_core::{DepthImage, Intrinsics, RgbImage};

use crate::msg::common::{CameraInfo, Image};

/// The largest picture that is read, in pixels.
const PIXELS_MAX: usize = 50_000_000;

/// A colour picture in one of the encodings that cameras use.
pub(super) fn colour(image: &Image<'_>) -> Result<RgbImage, String> {
    let (channels, order): (usize, [usize; 3]) = match image.encoding {
        "rgb8" => (3, [0, 1, 2]),
        "bgr8" => (3, [2, 1, 0]),
        "rgba8" => (4, [0, 1, 2]),
        "bgra8" => (4, [2, 1, 0]),
        "mono8" => (1, [0, 0, 0]),
        other => return Err(unknown(other, "rgb8, bgr8, rgba8, bgra8 and mono8")),
    };
    let rows = rows(image, channels)?;
    let mut data = Vec::with_capacity(image.width as usize * image.height as usize * 3);
    for row in rows {
        if image.encoding == "rgb8" {
            data.extend_from_slice(row);
        } else {
            data.extend(row.chunks_exact(channels).flat_map(|pixel| order.map(|channel| pixel[channel])));
        }
    }
    RgbImage::new(image.width, image.height, data).ok_or_else(|| "its bytes do not fit its size".to_owned())
}

/// A depth picture: metres as `32FC1`, or millimetres as `16UC1`.
pub(super) fn depth(image: &Image<'_>) -> Result<DepthImage, String> {
    let big = image.is_bigendian != 0;
    let metres: Vec<f32> = match image.encoding {
        "32FC1" => {
            values(image, |bytes: [u8; 4]| if big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) })?
        }
        "16UC1" => values(image, |bytes: [u8; 2]| {
            f32::from(if big { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }) / 1000.0
        })?,
        other => return Err(unknown(other, "32FC1 and 16UC1")),
    };
    DepthImage::new(image.width, image.height, metres).ok_or_else(|| "its bytes do not fit its size".to_owned())
}

/// The camera's model; `None` when it is not calibrated or says what is no model.
pub(super) fn intrinsics(info: &CameraInfo<'_>) -> Option<Intrinsics> {
    let [fx, _, cx, _, fy, cy, ..] = info.k;
    let is_model = fx > 0.0 && fy > 0.0 && [fx, fy, cx, cy].iter().all(|value| value.is_finite());
    is_model.then_some(Intrinsics { width: info.width, height: info.height, fx, fy, cx, cy })
}

fn unknown(encoding: &str, known: &str) -> String {
    let shown: String = encoding.chars().take(40).collect();
    format!("its encoding {shown:?} is not read; these are: {known}")
}

fn values<const BYTES: usize>(image: &Image<'_>, value: impl Fn([u8; BYTES]) -> f32) -> Result<Vec<f32>, String> {
    Ok(rows(image, BYTES)?.flat_map(|row| row.as_chunks::<BYTES>().0).map(|bytes| value(*bytes)).collect())
}

/// The rows without what stands behind them.
fn rows<'a>(image: &Image<'a>, bytes_per_pixel: usize) -> Result<impl Iterator<Item = &'a [u8]>, String> {
    let (width, height, step) = (image.width as usize, image.height as usize, image.step as usize);
    let pixels = width.saturating_mul(height);
    if pixels == 0 || pixels > PIXELS_MAX {
        return Err(format!("its size is {width}x{height}"));
    }
    let row = width * bytes_per_pixel;
    let needed = step.saturating_mul(height - 1).saturating_add(row);
    if step < row || image.data.0.len() < needed {
        let length = image.data.0.len();
        return Err(format!("{width}x{height} as {} has rows of {step} bytes and {length} in all", image.encoding));
    }
    let data = image.data.0;
    Ok((0..height).map(move |y| &data[y * step..y * step + row]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msg::Bytes;

    fn image<'a>(encoding: &'a str, width: u32, step: u32, data: &'a [u8]) -> Image<'a> {
        Image { width, height: 2, encoding, step, data: Bytes(data), ..Image::default() }
    }

    #[test]
    fn every_encoding_gives_the_same_colours_and_padding_is_skipped() {
        let expected = [1, 2, 3, 4, 5, 6];
        for (encoding, step, data) in [
            ("rgb8", 3, vec![1, 2, 3, 4, 5, 6]),
            ("rgb8", 5, vec![1, 2, 3, 99, 99, 4, 5, 6, 99, 99]),
            ("bgr8", 3, vec![3, 2, 1, 6, 5, 4]),
            ("rgba8", 4, vec![1, 2, 3, 255, 4, 5, 6, 255]),
            ("bgra8", 4, vec![3, 2, 1, 255, 6, 5, 4, 255]),
        ] {
            assert_eq!(colour(&image(encoding, 1, step, &data)).unwrap().data, expected, "{encoding}");
        }
        assert_eq!(colour(&image("mono8", 1, 1, &[7, 8])).unwrap().data, [7, 7, 7, 8, 8, 8]);
    }

    #[test]
    fn depth_is_in_metres_whatever_its_encoding_and_zero_where_nothing_was_measured() {
        let floats: Vec<u8> = [1.5_f32, f32::NAN].iter().flat_map(|metres| metres.to_le_bytes()).collect();
        assert_eq!(depth(&image("32FC1", 1, 4, &floats)).unwrap().metres, [1.5, 0.0]);
        assert_eq!(depth(&image("16UC1", 1, 2, &[0xdc, 0x05, 0, 0])).unwrap().metres, [1.5, 0.0]);
        let big = Image { is_bigendian: 1, ..image("16UC1", 1, 2, &[0x05, 0xdc, 0, 0]) };
        assert_eq!(depth(&big).unwrap().metres, [1.5, 0.0]);
    }

    #[test]
    fn what_is_no_picture_is_refused_by_name() {
        for (image, words) in [
            (image("yuv422", 1, 3, &[0; 6]), "yuv422"),
            (image("rgb8", 1, 2, &[0; 6]), "rows of 2"),
            (image("rgb8", 1, 3, &[0; 5]), "5 in all"),
            (image("rgb8", 0, 3, &[]), "0x2"),
            (Image { height: u32::MAX, ..image("rgb8", u32::MAX, u32::MAX, &[0; 5]) }, "4294967295"),
        ] {
            let fault = colour(&image).unwrap_err();
            assert!(fault.contains(words), "{fault}");
        }
        assert!(depth(&image("rgb8", 1, 3, &[0; 6])).unwrap_err().contains("32FC1"));
    }

    #[test]
    fn a_matrix_of_zeros_is_no_model() {
        let mut info = CameraInfo { width: 4, height: 3, ..CameraInfo::default() };
        assert_eq!(intrinsics(&info), None);
        info.k = [10.0, 0.0, 2.0, 0.0, 11.0, 1.5, 0.0, 0.0, 1.0];
        let expected = Intrinsics { width: 4, height: 3, fx: 10.0, fy: 11.0, cx: 2.0, cy: 1.5 };
        assert_eq!(intrinsics(&info), Some(expected));
    }
}
