//! The robot: a round base, a lift, a head with a camera and two arms.
//!
//! Its links are computed here once from its joints; drawing and physics both take them from here.

use cerebellum_core::Pose;
use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use crate::model::{block, capsule, cylinder, ellipsoid};
use crate::render::{Material, Part};

/// Which arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Left,
    Right,
}

/// Angles of one arm in radians, from the shoulder outward; 0 everywhere stretches the arm forward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmJoints {
    /// About `z`, outward positive.
    pub shoulder_yaw: f64,
    /// Pitches of the upper arm, the forearm and the hand, down positive.
    pub pitches: [f64; 3],
    /// About the hand's own axis.
    pub roll: f64,
    /// Metres between the fingers.
    pub opening_m: f64,
}

/// The robot's posture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Robot {
    /// The base on the floor.
    pub map_from_base: Pose,
    /// How far the lift is up, in metres.
    pub lift_m: f64,
    /// Head: left positive, down positive.
    pub pan: f64,
    pub tilt: f64,
    /// Left, right.
    pub arms: [ArmJoints; 2],
}

/// Radius of the base in metres.
pub const BASE_RADIUS_M: f32 = 0.24;
/// Height of the robot's body in metres.
pub const BODY_HEIGHT_M: f32 = 1.36;

const SHOULDER_HEIGHT_M: f64 = 0.86;
const SHOULDER_OFFSET_M: f64 = 0.21;
const UPPER_ARM_M: f64 = 0.30;
const FOREARM_M: f64 = 0.28;
const HAND_M: f64 = 0.10;
const NECK: DVec3 = DVec3::new(0.02, 0.0, 1.22);
/// From the head's joint to the camera.
const EYE: DVec3 = DVec3::new(0.10, 0.0, 0.08);
/// Looks at tables from where the robot stands before them.
const LOOK_DOWN: f64 = 0.285;

/// Optical axes (`x` right, `y` down, `z` forward) in a frame that looks along `x`.
fn optical() -> DQuat {
    DQuat::from_mat3(&DMat3::from_cols(DVec3::NEG_Y, DVec3::NEG_Z, DVec3::X))
}

impl Robot {
    /// At a place, arms folded to the sides, looking a little down.
    pub fn stowed(map_from_base: Pose) -> Self {
        let folded = ArmJoints { shoulder_yaw: 0.0, pitches: [1.75, -1.15, -0.2], roll: 0.0, opening_m: 0.06 };
        Self { map_from_base, lift_m: 0.0, pan: 0.0, tilt: LOOK_DOWN, arms: [folded, folded] }
    }

    /// The head camera's optical frame.
    pub fn map_from_camera(&self) -> Pose {
        let head = self.map_from_head();
        head.then(&Pose::new(EYE, optical()))
    }

    fn map_from_head(&self) -> Pose {
        let turn = DQuat::from_rotation_z(self.pan) * DQuat::from_rotation_y(self.tilt);
        self.map_from_base.then(&Pose::new(NECK, turn))
    }

    /// Frames of one arm: shoulder, elbow, wrist, between the fingertips. Each looks along `x` of its link.
    pub fn arm(&self, side: Side) -> [Pose; 4] {
        let (joints, outward) = match side {
            Side::Left => (&self.arms[0], 1.0),
            Side::Right => (&self.arms[1], -1.0),
        };
        let mount = DVec3::new(0.03, SHOULDER_OFFSET_M * outward, SHOULDER_HEIGHT_M + self.lift_m);
        let pitch = |at: DVec3, angle: f64| Pose::new(at, DQuat::from_rotation_y(angle));
        let yaw = Pose::new(mount, DQuat::from_rotation_z(joints.shoulder_yaw * outward));
        let shoulder = self.map_from_base.then(&yaw).then(&pitch(DVec3::ZERO, joints.pitches[0]));
        let elbow = shoulder.then(&pitch(DVec3::X * UPPER_ARM_M, joints.pitches[1]));
        let wrist = elbow.then(&pitch(DVec3::X * FOREARM_M, joints.pitches[2]));
        let roll = DQuat::from_rotation_x(joints.roll * outward);
        let tip = wrist.then(&Pose::new(DVec3::X * HAND_M, roll));
        [shoulder, elbow, wrist, tip]
    }

    /// Everything of the robot that can be seen.
    pub fn parts(&self) -> Vec<Part> {
        let shell = Material { gloss: 0.5, ..Material::matt([238, 240, 242]) };
        let dark = Material { gloss: 0.35, ..Material::matt([46, 50, 58]) };
        let trim = Material { gloss: 0.5, ..Material::matt([28, 150, 170]) };
        let at = |z: f32| Vec3::new(0.0, 0.0, z);
        let mut parts: Vec<Part> = [
            Part::new(cylinder(BASE_RADIUS_M, 0.16), at(0.11), shell),
            Part::new(cylinder(BASE_RADIUS_M * 0.94, 0.05), at(0.03), dark),
            Part::new(cylinder(BASE_RADIUS_M + 0.002, 0.018), at(0.1), trim),
            Part::new(block([0.16, 0.2, 0.9], 0.03), Vec3::new(-0.04, 0.0, 0.62), dark),
            Part::new(block([0.2, 0.3, 0.34], 0.05), Vec3::new(0.0, 0.0, 0.86 + self.lift_m as f32), shell),
            Part::new(cylinder(0.045, 0.2), Vec3::new(0.0, 0.0, 1.12), dark),
        ]
        .into_iter()
        .map(|part| part.placed(&self.map_from_base))
        .collect();
        let head = self.map_from_head();
        let face = [
            Part::new(ellipsoid(0.1, 0.135, 0.09), Vec3::new(0.0, 0.0, 0.07), shell),
            Part::new(ellipsoid(0.05, 0.1, 0.055), Vec3::new(0.06, 0.0, 0.075), dark),
            Part::new(ellipsoid(0.014, 0.02, 0.02), Vec3::new(0.1, 0.04, 0.08), trim),
            Part::new(ellipsoid(0.014, 0.02, 0.02), Vec3::new(0.1, -0.04, 0.08), trim),
        ];
        parts.extend(face.into_iter().map(|part| part.placed(&head)));
        for (side, joints) in [Side::Left, Side::Right].into_iter().zip(&self.arms) {
            self.arm_parts(&mut parts, side, joints, [shell, dark]);
        }
        parts
    }

    fn arm_parts(&self, parts: &mut Vec<Part>, side: Side, joints: &ArmJoints, [shell, dark]: [Material; 2]) {
        let [shoulder, elbow, wrist, tip] = self.arm(side);
        let along = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
        let link = |length: f64, radius: f32| {
            Part::new(capsule(radius, length as f32), Vec3::X * (length * 0.5) as f32, shell).turned(along)
        };
        let joint = |radius: f32| Part::new(ellipsoid(radius, radius * 1.1, radius), Vec3::ZERO, dark);
        parts.push(joint(0.062).placed(&shoulder));
        parts.push(link(UPPER_ARM_M, 0.045).placed(&shoulder));
        parts.push(joint(0.052).placed(&elbow));
        parts.push(link(FOREARM_M, 0.039).placed(&elbow));
        parts.push(joint(0.044).placed(&wrist));
        let palm = Part::new(block([0.03, 0.1, 0.045], 0.008), Vec3::new(-0.05, 0.0, 0.0), dark);
        parts.push(palm.placed(&tip));
        for outward in [1.0, -1.0] {
            let y = outward * (joints.opening_m as f32 * 0.5 + 0.007);
            parts.push(Part::new(block([0.07, 0.014, 0.026], 0.004), Vec3::new(-0.005, y, 0.0), dark).placed(&tip));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_camera_looks_forward_and_down() {
        let robot = Robot::stowed(Pose::planar(1.0, 2.0, 0.0));
        let camera = robot.map_from_camera();
        let forward = camera.transform_vector(DVec3::Z);
        assert!(forward.x > 0.9 && forward.y.abs() < 1e-9 && forward.z < -0.25, "{forward}");
        let right = camera.transform_vector(DVec3::X);
        assert!((right - DVec3::NEG_Y).length() < 1e-9, "{right}");
        assert!((1.2..1.4).contains(&camera.translation.z));
    }

    #[test]
    fn the_arms_mirror_each_other() {
        let robot = Robot::stowed(Pose::IDENTITY);
        for (left, right) in robot.arm(Side::Left).iter().zip(robot.arm(Side::Right)) {
            let mirrored = right.translation * DVec3::new(1.0, -1.0, 1.0);
            assert!((left.translation - mirrored).length() < 1e-9);
        }
    }

    #[test]
    fn stretched_arms_reach_forward_by_the_sum_of_their_links() {
        let mut robot = Robot::stowed(Pose::IDENTITY);
        robot.arms[0] = ArmJoints { shoulder_yaw: 0.0, pitches: [0.0; 3], roll: 0.4, opening_m: 0.0 };
        let [shoulder, .., tip] = robot.arm(Side::Left);
        let reach = tip.translation - shoulder.translation;
        assert!((reach - DVec3::X * (UPPER_ARM_M + FOREARM_M + HAND_M)).length() < 1e-9, "{reach}");
    }
}
