use glam::{DQuat, DVec3};

/// A rigid transform: maps points of the child frame into the parent frame. Metres and a unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Where the child's origin stands in the parent frame, in metres.
    pub translation: DVec3,
    /// How the child's axes are turned in the parent frame.
    pub rotation: DQuat,
}

impl Pose {
    /// No displacement, no turn.
    pub const IDENTITY: Self = Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// From a place and a turn.
    pub const fn new(translation: DVec3, rotation: DQuat) -> Self {
        Self { translation, rotation }
    }

    /// A pose on the floor: `x`, `y` in metres and `yaw` in radians about `z`, counter-clockwise from `x`.
    pub fn planar(x: f64, y: f64, yaw: f64) -> Self {
        Self::new(DVec3::new(x, y, 0.0), DQuat::from_rotation_z(yaw))
    }

    /// The point of the child frame, in the parent frame.
    pub fn transform_point(&self, point: DVec3) -> DVec3 {
        self.rotation * point + self.translation
    }

    /// The direction of the child frame, in the parent frame.
    pub fn transform_vector(&self, vector: DVec3) -> DVec3 {
        self.rotation * vector
    }

    /// `a_from_b.then(b_from_c)` is `a_from_c`.
    #[must_use]
    pub fn then(&self, inner: &Self) -> Self {
        Self::new(self.transform_point(inner.translation), (self.rotation * inner.rotation).normalize())
    }

    /// `a_from_b.inverse()` is `b_from_a`.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.inverse();
        Self::new(rotation * -self.translation, rotation)
    }

    /// The turn about `z` in radians, in `(-pi, pi]`.
    pub fn yaw(&self) -> f64 {
        let forward = self.rotation * DVec3::X;
        forward.y.atan2(forward.x)
    }
}

/// A point in a named frame, in metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The frame the coordinates are in, such as `map` or `head_camera_optical`.
    pub frame: String,
    /// Coordinates in metres.
    pub position: DVec3,
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn a_pose_and_its_inverse_cancel() {
        let pose = Pose::new(DVec3::new(1.0, -2.0, 0.5), DQuat::from_euler(glam::EulerRot::ZYX, 0.3, -0.7, 1.1));
        let back = pose.then(&pose.inverse());
        assert!(back.translation.length() < 1e-12 && back.rotation.angle_between(DQuat::IDENTITY) < 1e-7);
    }

    #[test]
    fn a_quarter_turn_left_maps_forward_to_left() {
        let map_from_base = Pose::planar(2.0, 1.0, FRAC_PI_2);
        assert!((map_from_base.transform_point(DVec3::X) - DVec3::new(2.0, 2.0, 0.0)).length() < 1e-12);
        assert!((map_from_base.yaw() - FRAC_PI_2).abs() < 1e-12);
    }
}
