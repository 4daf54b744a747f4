use cerebellum_core::{Intrinsics, Pose};
use glam::{Mat3, Vec2, Vec3};

/// A pinhole camera that looks into a level frame: `z` is up there, and heights are along `z`.
///
/// The level frame is `map` when the robot is localised, otherwise one that was guessed from the largest flat surface.
#[derive(Clone, Debug)]
pub struct Camera {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    focal: Vec2,
    axis: Vec2,
    rotation: Mat3,
    position: Vec3,
}

impl Camera {
    /// A camera of that model at that place: `level_from_camera` maps points of the optical frame into the level frame.
    pub fn new(intrinsics: &Intrinsics, level_from_camera: &Pose) -> Self {
        Self {
            width: intrinsics.width as usize,
            height: intrinsics.height as usize,
            focal: Vec2::new(intrinsics.fx as f32, intrinsics.fy as f32),
            axis: Vec2::new(intrinsics.cx as f32, intrinsics.cy as f32),
            rotation: Mat3::from_quat(level_from_camera.rotation.as_quat()),
            position: level_from_camera.translation.as_vec3(),
        }
    }

    /// Where the camera is, in the level frame.
    pub fn position(&self) -> Vec3 {
        self.position
    }

    /// Focal length along `x`, in pixels.
    pub fn focal(&self) -> f32 {
        self.focal.x
    }

    /// The direction of a pixel, scaled so that a depth times it leads from the camera to the point.
    pub fn ray(&self, column: usize, row: usize) -> Vec3 {
        let x = (column as f32 + 0.5 - self.axis.x) / self.focal.x;
        let y = (row as f32 + 0.5 - self.axis.y) / self.focal.y;
        self.rotation * Vec3::new(x, y, 1.0)
    }

    /// The point a pixel shows at that depth, in the level frame.
    pub fn point(&self, column: usize, row: usize, depth: f32) -> Vec3 {
        self.ray(column, row) * depth + self.position
    }

    /// The pixel that shows a point of the level frame, and its depth; `None` behind the camera or beside the picture.
    pub fn pixel(&self, point: Vec3) -> Option<(usize, usize, f32)> {
        let local = self.rotation.transpose() * (point - self.position);
        if local.z <= 0.01 {
            return None;
        }
        let column = local.x / local.z * self.focal.x + self.axis.x;
        let row = local.y / local.z * self.focal.y + self.axis.y;
        let inside = column >= 0.0 && row >= 0.0 && column < self.width as f32 && row < self.height as f32;
        inside.then_some((column as usize, row as usize, local.z))
    }

    /// The rays of a row, one after the other: `start + column * step`.
    pub(crate) fn row_rays(&self, row: usize) -> (Vec3, Vec3) {
        (self.ray(0, row), self.rotation * Vec3::new(1.0 / self.focal.x, 0.0, 0.0))
    }
}

/// How far a measured depth may be off, in metres: one standard deviation of a structured-light or stereo camera.
pub(crate) fn depth_sigma(depth: f32) -> f32 {
    0.000_5 + 0.001_5 * depth * depth
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    #[test]
    fn a_point_returns_to_its_pixel() {
        let intrinsics = Intrinsics { width: 640, height: 480, fx: 520.0, fy: 525.0, cx: 320.0, cy: 240.0 };
        let pose = Pose::new(DVec3::new(1.0, 2.0, 1.3), DQuat::from_euler(glam::EulerRot::ZYX, 0.4, 0.2, -2.0));
        let camera = Camera::new(&intrinsics, &pose);
        let (column, row, depth) = camera.pixel(camera.point(123, 321, 1.5)).unwrap();
        assert_eq!((column, row), (123, 321));
        assert!((depth - 1.5).abs() < 1e-4);
        let (start, step) = camera.row_rays(40);
        assert!((start + step * 77.0 - camera.ray(77, 40)).length() < 1e-5);
    }

    #[test]
    fn a_point_behind_the_camera_has_no_pixel() {
        let intrinsics = Intrinsics { width: 64, height: 48, fx: 50.0, fy: 50.0, cx: 32.0, cy: 24.0 };
        let camera = Camera::new(&intrinsics, &Pose::IDENTITY);
        assert!(camera.pixel(Vec3::new(0.0, 0.0, -1.0)).is_none());
        assert!(camera.pixel(Vec3::new(5.0, 0.0, 1.0)).is_none());
    }
}
