use super::*;

const EYE: Vec3 = Vec3::new(0.0, 0.0, 1.3);
const GROUND: f32 = 0.72;

/// Points of a surface that the camera sees, with a little deterministic noise along the ray.
fn seen_from(samples: impl Iterator<Item = (Vec3, Vec3)>, noise: f32) -> (Vec<Vec3>, Vec<Vec3>) {
    let mut state = 7_u32;
    let mut draw = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    samples
        .filter(|(point, normal)| normal.dot(EYE - *point) > 0.15)
        .map(|(point, normal)| (point + (point - EYE).normalize() * noise * draw(), normal))
        .unzip()
}

fn check(samples: Vec<(Vec3, Vec3)>, expected: Shape) -> ShapeFit {
    let (points, normals) = seen_from(samples.into_iter(), 0.001);
    let fitted = fit(&Seen { points: &points, normals: &normals, ground: GROUND, eye: EYE, noise: 0.000_7 });
    assert_eq!(fitted.shape, expected, "{fitted:?}");
    fitted
}

fn at(local: Vec3) -> Vec3 {
    Vec3::new(1.0, 0.1, GROUND) + local
}

fn cylinder(radius_at: impl Fn(f32) -> f32, height: f32, closed: bool) -> Vec<(Vec3, Vec3)> {
    let mut samples = Vec::new();
    for i in 0..90 {
        let out = Vec2::from_angle(i as f32 * std::f32::consts::TAU / 90.0);
        for j in 0..40 {
            let z = height * j as f32 / 39.0;
            samples.push((at((out * radius_at(z)).extend(z)), out.extend(0.0)));
            if !closed {
                samples.push((at((out * (radius_at(z) - 0.004)).extend(z)), -out.extend(0.0)));
            }
        }
        for j in 0..8 {
            let radius = radius_at(height) * j as f32 / 8.0;
            let z = if closed { height } else { 0.01 };
            samples.push((at((out * radius).extend(z)), Vec3::Z));
        }
    }
    if !closed {
        // The camera cannot see through the wall into the lower part.
        samples.retain(|(point, _)| {
            let local = *point - at(Vec3::ZERO);
            let (inner, depth) = (local.truncate().length() < radius_at(0.0) - 0.003, height - local.z);
            !inner || (local.x > 0.0 && depth < 0.05)
        });
    }
    samples
}

fn cuboid(size: Vec3, turn: f32) -> Vec<(Vec3, Vec3)> {
    let (along, across) = (Vec2::from_angle(turn), Vec2::from_angle(turn).perp());
    let place = |x: f32, y: f32, z: f32| at((along * x * size.x + across * y * size.y).extend(z * size.z));
    let mut samples = Vec::new();
    for i in 0..30 {
        for j in 0..30 {
            let (a, b) = (i as f32 / 29.0, j as f32 / 29.0);
            samples.push((place(a - 0.5, b - 0.5, 1.0), Vec3::Z));
            for side in [-1.0_f32, 1.0] {
                samples.push((place(side * 0.5, a - 0.5, b), (along * side).extend(0.0)));
                samples.push((place(a - 0.5, side * 0.5, b), (across * side).extend(0.0)));
            }
        }
    }
    samples
}

fn ball(radius: f32) -> Vec<(Vec3, Vec3)> {
    let mut samples = Vec::new();
    for i in 0..60 {
        for j in 0..30 {
            let (turn, rise) = (i as f32 * 0.105, (j as f32 / 29.0 - 0.5) * std::f32::consts::PI);
            let normal = Vec3::new(turn.cos() * rise.cos(), turn.sin() * rise.cos(), rise.sin());
            samples.push((at(normal * radius + Vec3::Z * radius), normal));
        }
    }
    samples
}

#[test]
fn a_can_is_a_closed_cylinder_and_its_centre_lies_inside() {
    let fitted = check(cylinder(|_| 0.033, 0.12, true), Shape::Can);
    assert!(fitted.centre.distance(at(Vec3::Z * 0.06)) < 0.006, "{fitted:?}");
    assert!((fitted.width - 0.066).abs() < 0.006 && (fitted.height - 0.12).abs() < 0.006);
}

#[test]
fn a_bottle_tapers() {
    check(cylinder(|z| if z < 0.15 { 0.035 } else { 0.014 }, 0.25, true), Shape::Bottle);
}

#[test]
fn a_ball_is_round_in_every_direction() {
    let fitted = check(ball(0.036), Shape::Ball);
    assert!(fitted.centre.distance(at(Vec3::Z * 0.036)) < 0.004, "{fitted:?}");
    check(ball(0.1), Shape::Ball);
}

#[test]
fn cubes_and_boxes_are_boxes_at_any_turn() {
    for turn in [0.0, 0.3, 0.78, 1.2] {
        check(cuboid(Vec3::splat(0.06), turn), Shape::Box);
        check(cuboid(Vec3::new(0.19, 0.06, 0.28), turn), Shape::Box);
    }
}

#[test]
fn a_low_wide_box_is_a_book() {
    let fitted = check(cuboid(Vec3::new(0.21, 0.15, 0.03), 0.4), Shape::Book);
    assert!((fitted.length - 0.21).abs() < 0.01 && (fitted.width - 0.15).abs() < 0.01);
}

#[test]
fn a_mug_is_hollow() {
    check(cylinder(|_| 0.042, 0.095, false), Shape::Mug);
}
