use cerebellum_core::{DepthImage, Frame, Intrinsics};
use glam::DVec3;

use crate::classes;

/// Half the side of the window that a click is measured in, in pixels.
const NEAR: u32 = 2;
/// Half the side of the window when nothing was measured in the smaller one.
const WIDE: u32 = 7;

/// Why a pixel has no point.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ClickError {
    /// It is no pixel of the picture.
    #[error("pixel {u}, {v} lies outside the picture of {width}x{height}")]
    Outside {
        /// Column.
        u: f64,
        /// Row.
        v: f64,
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// The camera gives no depth, or its model is not known.
    #[error("the camera gives no depth or its model is not known")]
    NoCamera,
    /// Nothing was measured near the pixel.
    #[error("no depth was measured within {WIDE} pixels of it")]
    NoDepth,
}

/// The point that a pixel shows, in the camera's optical frame: the median of what was measured in the 5x5 pixels around
/// it, or in the 15x15 when nothing was.
pub fn point(frame: &Frame, u: f64, v: f64) -> Result<DVec3, ClickError> {
    let (width, height) = (frame.rgb.width, frame.rgb.height);
    let is_inside = u >= 0.0 && v >= 0.0 && u < f64::from(width) && v < f64::from(height);
    if !is_inside {
        return Err(ClickError::Outside { u, v, width, height });
    }
    let (Some(depth), Some(intrinsics)) = (frame.depth.as_deref(), frame.intrinsics) else {
        return Err(ClickError::NoCamera);
    };
    if (depth.width, depth.height) != (width, height) || !classes::fits(&intrinsics, width, height) {
        return Err(ClickError::NoCamera);
    }
    let (column, row) = (u as u32, v as u32);
    let measured = [NEAR, WIDE].into_iter().find_map(|reach| median(depth, column, row, reach));
    measured.map(|depth| deprojected(&intrinsics, column, row, depth)).ok_or(ClickError::NoDepth)
}

fn deprojected(intrinsics: &Intrinsics, column: u32, row: u32, depth: f64) -> DVec3 {
    let x = (f64::from(column) + 0.5 - intrinsics.cx) / intrinsics.fx;
    let y = (f64::from(row) + 0.5 - intrinsics.cy) / intrinsics.fy;
    DVec3::new(x, y, 1.0) * depth
}

fn median(depth: &DepthImage, column: u32, row: u32, reach: u32) -> Option<f64> {
    let rows = row.saturating_sub(reach)..(row + reach + 1).min(depth.height);
    let mut measured: Vec<f32> = rows
        .flat_map(|y| {
            (column.saturating_sub(reach)..(column + reach + 1).min(depth.width)).filter_map(move |x| depth.at(x, y))
        })
        .collect();
    if measured.is_empty() {
        return None;
    }
    let middle = measured.len() / 2;
    Some(f64::from(*measured.select_nth_unstable_by(middle, f32::total_cmp).1))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cerebellum_core::{RgbImage, Stamp};

    use super::*;

    fn frame(metres: impl Fn(u32, u32) -> f32) -> Frame {
        let (width, height) = (64, 48);
        let metres = (0..width * height).map(|at| metres(at % width, at / width)).collect();
        Frame {
            stamp: Stamp::ZERO,
            seq: 0,
            frame_id: "camera".into(),
            rgb: Arc::new(RgbImage::new(width, height, vec![0; (width * height * 3) as usize]).unwrap()),
            depth: DepthImage::new(width, height, metres).map(Arc::new),
            intrinsics: Some(Intrinsics { width, height, fx: 50.0, fy: 50.0, cx: 32.0, cy: 24.0 }),
            map_from_camera: None,
        }
    }

    #[test]
    fn the_median_of_the_window_is_taken_and_one_wrong_depth_does_no_harm() {
        let point = point(&frame(|x, y| if (x, y) == (42, 24) { 9.0 } else { 2.0 }), 42.0, 24.0).unwrap();
        assert!(point.distance(DVec3::new(10.5 / 50.0, 0.5 / 50.0, 1.0) * 2.0) < 1e-6, "{point}");
    }

    #[test]
    fn the_window_grows_where_nothing_was_measured() {
        let hole = frame(|x, _| if x < 26 { 1.5 } else { 0.0 });
        assert!((point(&hole, 31.0, 20.0).unwrap().z - 1.5).abs() < 1e-6);
        assert_eq!(point(&hole, 40.0, 20.0), Err(ClickError::NoDepth));
    }

    #[test]
    fn a_pixel_outside_is_named() {
        for (u, v) in [(-1.0, 3.0), (64.0, 3.0), (3.0, 48.0), (f64::NAN, 3.0), (3.0, f64::INFINITY)] {
            let error = point(&frame(|_, _| 1.0), u, v).unwrap_err();
            assert!(matches!(error, ClickError::Outside { .. }), "{error}");
        }
        assert!(point(&frame(|_, _| 1.0), 63.9, 47.9).is_ok());
        let blind = Frame { depth: None, ..frame(|_, _| 1.0) };
        assert_eq!(point(&blind, 3.0, 3.0), Err(ClickError::NoCamera));
    }
}
