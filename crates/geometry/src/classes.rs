use cerebellum_core::Intrinsics;

use crate::camera::Camera;
use crate::plane::Support;
use crate::surface::Surface;

/// Nothing was measured.
pub(crate) const UNSEEN: u8 = 0;
/// Measured, and part of no support nor of what may stand on one.
pub(crate) const OTHER: u8 = 1;

/// What stands on a support is at most this high, in metres.
pub(crate) const REACH_M: f32 = 0.5;

/// The class of a pixel that shows support number `support`.
pub(crate) const fn on_plane(support: usize) -> u8 {
    2 + 2 * support as u8
}

/// The class of a pixel that shows something above support number `support`.
pub(crate) const fn above(support: usize) -> u8 {
    3 + 2 * support as u8
}

/// The support below a pixel of that class, if it shows something above one.
pub(crate) const fn support_below(class: u8) -> Option<usize> {
    if class >= 3 && class % 2 == 1 { Some((class as usize - 3) / 2) } else { None }
}

/// How far above a plane a point must be to be no part of it, in metres.
pub(crate) fn clearance(depth: f32) -> f32 {
    0.005 + 0.001_3 * depth * depth
}

/// Says for each pixel which support it shows, or above which one it is.
pub(crate) fn classify(camera: &Camera, surface: &Surface, supports: &[Support], classes: &mut Vec<u8>) {
    classes.clear();
    classes.reserve(surface.depth.len());
    for row in 0..camera.height {
        let (start, step) = camera.row_rays(row);
        let depths = &surface.depth[row * camera.width..(row + 1) * camera.width];
        let mut ray = start;
        for &depth in depths {
            classes.push(if depth > 0.0 { class_of(ray * depth + camera.position(), depth, supports) } else { UNSEEN });
            ray += step;
        }
    }
}

fn class_of(point: glam::Vec3, depth: f32, supports: &[Support]) -> u8 {
    let clearance = clearance(depth);
    for (index, support) in supports.iter().enumerate() {
        let rough = point.z - support.height;
        if rough < -0.06 || !support.covers(point.truncate()) {
            continue;
        }
        let height = point.z - support.height_at(point.truncate());
        if height.abs() <= clearance {
            return on_plane(index);
        }
        if height > 0.0 {
            return if height < REACH_M { above(index) } else { OTHER };
        }
    }
    OTHER
}

/// Whether the model of the camera fits a picture of that size.
pub(crate) fn fits(intrinsics: &Intrinsics, width: u32, height: u32) -> bool {
    let sizes_agree = intrinsics.width == width && intrinsics.height == height;
    sizes_agree && intrinsics.fx > 0.0 && intrinsics.fy > 0.0 && intrinsics.fx.is_finite() && intrinsics.fy.is_finite()
}
