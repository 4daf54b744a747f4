use glam::{Quat, Vec3};

use super::{capsule, cone, cylinder, ellipsoid};
use crate::render::{Material, Part, Shape};

/// How the person holds the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Posture {
    /// Upright, one arm a little bent.
    Standing,
    /// Mid-stride; `phase` in turns, one turn is two steps.
    Walking { phase: f32 },
}

/// Height of the person in metres.
pub const HEIGHT_M: f32 = 1.68;
/// Radius of the cylinder that nothing else may enter.
pub const RADIUS_M: f32 = 0.24;

const SKIN: [u8; 3] = [232, 184, 150];
const LIPS: [u8; 3] = [182, 84, 78];
const HAIR: [u8; 3] = [74, 44, 28];
const SHIRT: [u8; 3] = [46, 128, 136];
const COLLAR: [u8; 3] = [232, 232, 226];
const TROUSERS: [u8; 3] = [44, 54, 92];
const SHOES: [u8; 3] = [92, 58, 40];

/// A person who stands on the origin and faces `+x`.
pub fn parts(posture: Posture) -> Vec<Part> {
    let mut parts = Vec::with_capacity(48);
    legs_and_arms(&mut parts, posture);
    trunk(&mut parts);
    head(&mut parts);
    parts
}

/// A limb from one point to another.
fn limb(from: Vec3, to: Vec3, radius: f32, material: Material) -> Part {
    let along = to - from;
    Part::new(capsule(radius, along.length()), (from + to) * 0.5, material)
        .turned(Quat::from_rotation_arc(Vec3::Z, along.normalize_or(Vec3::Z)))
}

/// A limb that tapers.
fn taper(from: Vec3, to: Vec3, radii: [f32; 2], material: Material) -> Part {
    let along = to - from;
    Part::new(cone(radii[0], radii[1], along.length()), (from + to) * 0.5, material)
        .turned(Quat::from_rotation_arc(Vec3::Z, along.normalize_or(Vec3::Z)))
}

fn legs_and_arms(parts: &mut Vec<Part>, posture: Posture) {
    let skin = Material { gloss: 0.1, ..Material::matt(SKIN) };
    let shirt = Material::matt(SHIRT);
    let trousers = Material::matt(TROUSERS);
    let shoes = Material { gloss: 0.25, ..Material::matt(SHOES) };
    for side in [1.0_f32, -1.0] {
        let swing = match posture {
            Posture::Standing => 0.03 * side,
            Posture::Walking { phase } => 0.42 * side * (phase * std::f32::consts::TAU).sin(),
        };
        let bend = match posture {
            Posture::Standing => 0.05,
            Posture::Walking { .. } => 0.12 + (-swing).max(0.0) * 0.9,
        };
        let down = |angle: f32, length: f32| Vec3::new(angle.sin() * length, 0.0, -angle.cos() * length);
        let hip = Vec3::new(0.0, 0.095 * side, 0.86);
        let knee = hip + down(swing, 0.42);
        let ankle = knee + down(swing - bend, 0.37);
        parts.push(taper(knee, hip, [0.058, 0.085], trousers));
        parts.push(Part::new(ellipsoid(0.06, 0.06, 0.06), knee, trousers));
        parts.push(taper(ankle, knee, [0.05, 0.059], trousers));
        parts.push(Part::new(
            ellipsoid(0.125, 0.05, 0.045),
            Vec3::new(ankle.x + 0.05, ankle.y, ankle.z - 0.025),
            shoes,
        ));

        let shoulder = Vec3::new(-0.01, 0.172 * side, 1.358);
        let outward = Vec3::new(0.0, 0.045 * side, 0.0);
        let elbow_bend = if side < 0.0 && posture == Posture::Standing { 0.75 } else { 0.22 };
        let elbow = shoulder + down(-swing * 0.9 - 0.05, 0.27) + outward;
        let wrist = elbow + down(-swing * 0.9 + elbow_bend, 0.22);
        parts.push(Part::new(ellipsoid(0.058, 0.056, 0.06), shoulder, shirt));
        parts.push(limb(shoulder, elbow, 0.047, shirt));
        parts.push(taper(wrist, elbow, [0.032, 0.044], skin));
        parts.push(Part::new(ellipsoid(0.045, 0.028, 0.055), wrist + down(elbow_bend, 0.045), skin));
        parts.push(limb(
            wrist + Vec3::new(0.02, 0.0, -0.015),
            wrist + Vec3::new(0.04, 0.0, -0.05) + Vec3::new(elbow_bend * 0.02, 0.0, 0.0),
            0.011,
            skin,
        ));
    }
}

fn trunk(parts: &mut Vec<Part>) {
    let shirt = Material::matt(SHIRT);
    let trousers = Material::matt(TROUSERS);
    let belt = Material { gloss: 0.3, ..Material::matt([54, 36, 28]) };
    let at = |x: f32, z: f32| Vec3::new(x, 0.0, z);
    parts.push(Part::new(ellipsoid(0.105, 0.165, 0.12), at(0.0, 0.88), trousers));
    parts.push(Part::new(ellipsoid(0.108, 0.163, 0.035), at(0.0, 0.965), belt));
    parts.push(Part::new(ellipsoid(0.11, 0.165, 0.22), at(0.0, 1.12), shirt));
    parts.push(Part::new(ellipsoid(0.114, 0.186, 0.19), at(0.0, 1.26), shirt));
    parts.push(Part::new(ellipsoid(0.085, 0.175, 0.065), at(-0.01, 1.385), shirt));
    parts.push(Part::new(cone(0.072, 0.058, 0.04), at(-0.006, 1.432), Material::matt(COLLAR)));
    parts.push(Part::new(cylinder(0.047, 0.12), at(-0.006, 1.46), Material { gloss: 0.1, ..Material::matt(SKIN) }));
    for row in 0..3 {
        let z = 1.32 - 0.08 * row as f32;
        let button = Material { gloss: 0.4, ..Material::matt([240, 236, 226]) };
        parts.push(Part::new(ellipsoid(0.006, 0.008, 0.008), at(0.112 - 0.004 * row as f32, z), button));
    }
}

/// The head's middle.
const HEAD: Vec3 = Vec3::new(0.012, 0.0, 1.565);

fn head(parts: &mut Vec<Part>) {
    let skin = Material { gloss: 0.12, ..Material::matt(SKIN) };
    let hair = Material { gloss: 0.22, ..Material::matt(HAIR) };
    let at = |x: f32, y: f32, z: f32| HEAD + Vec3::new(x, y, z);
    parts.push(Part::new(ellipsoid(0.096, 0.08, 0.112), HEAD, skin));
    parts.push(Part::new(ellipsoid(0.07, 0.062, 0.06), at(0.012, 0.0, -0.058), skin));
    parts.push(Part::new(ellipsoid(0.018, 0.014, 0.02), at(0.096, 0.0, -0.018), skin));
    parts.push(Part::new(ellipsoid(0.1, 0.088, 0.1), at(-0.022, 0.0, 0.03), hair));
    parts.push(
        Part::new(ellipsoid(0.072, 0.08, 0.036), at(0.03, 0.012, 0.094), hair).turned(Quat::from_rotation_x(-0.18)),
    );
    for side in [1.0_f32, -1.0] {
        parts.push(Part::new(ellipsoid(0.02, 0.011, 0.028), at(-0.004, 0.082 * side, -0.01), skin));
        parts.push(Part::new(ellipsoid(0.03, 0.01, 0.045), at(-0.012, 0.08 * side, 0.035), hair));
        eye(parts, side);
    }
    let smile = Shape::Ring { radius: 0.034, tube: 0.0052, half_arc: 0.85 };
    // The arc's middle points down in the plane of the face.
    let turn = Quat::from_mat3(&glam::Mat3::from_cols(Vec3::Y, -Vec3::Z, -Vec3::X));
    parts.push(Part::new(smile, at(0.0825, 0.0, -0.026), Material::matt(LIPS)).turned(turn));
}

fn eye(parts: &mut Vec<Part>, side: f32) {
    let at = |x: f32, y: f32, z: f32| HEAD + Vec3::new(x, y * side, z);
    let white = Material { gloss: 0.5, ..Material::matt([246, 244, 240]) };
    let iris = Material { gloss: 0.6, ..Material::matt([70, 96, 60]) };
    let pupil = Material { gloss: 0.8, ..Material::matt([18, 16, 16]) };
    parts.push(Part::new(ellipsoid(0.010, 0.0165, 0.0125), at(0.083, 0.031, 0.014), white));
    parts.push(Part::new(ellipsoid(0.0045, 0.0085, 0.0095), at(0.0905, 0.0305, 0.013), iris));
    parts.push(Part::new(ellipsoid(0.0025, 0.005, 0.0055), at(0.0938, 0.0303, 0.013), pupil));
    let brow = Material::matt(HAIR);
    let (inner, outer) = (at(0.091, 0.016, 0.041), at(0.08, 0.047, 0.036));
    parts.push(limb(inner, outer + Vec3::new(0.0, 0.0, 0.001), 0.0042, brow));
}
