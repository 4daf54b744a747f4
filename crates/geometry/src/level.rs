use cerebellum_core::Pose;
use glam::{DQuat, DVec3, Vec3};

use crate::surface::Surface;

const TRIES: usize = 200;
const INLIER_M: f32 = 0.012;
const SHARE_MIN: f32 = 0.08;

/// A level frame for a camera whose place is unknown: the largest flat surface in view is taken as level, its height as 0.
/// The cells of `surface` are in the camera's optical frame. `None` when no surface stands out.
pub(crate) fn level_from_camera(surface: &Surface) -> Option<Pose> {
    let cells: Vec<usize> = (0..surface.points.len()).filter(|&cell| surface.normals[cell] != Vec3::ZERO).collect();
    if cells.len() < 200 {
        return None;
    }
    // A fixed sequence, so that the same picture always gives the same answer.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        cells[(state >> 33) as usize % cells.len()]
    };
    let sample: Vec<Vec3> =
        cells.iter().step_by((cells.len() / 1_500).max(1)).map(|&cell| surface.points[cell]).collect();
    let mut best = (0, Vec3::ZERO, 0.0);
    for _ in 0..TRIES {
        let (a, b, c) = (surface.points[draw()], surface.points[draw()], surface.points[draw()]);
        let Some(normal) = (b - a).cross(c - a).try_normalize() else { continue };
        let offset = normal.dot(a);
        let count = sample.iter().filter(|point| (normal.dot(**point) - offset).abs() < INLIER_M).count();
        // A camera that looks about looks down at what things stand on; walls face it.
        let faces_up = normal.y.abs() > 0.35;
        if faces_up && count > best.0 {
            best = (count, normal, offset);
        }
    }
    let (count, mut normal, mut offset) = best;
    if (count as f32) < SHARE_MIN * sample.len() as f32 {
        return None;
    }
    if offset > 0.0 {
        (normal, offset) = (-normal, -offset);
    }
    let (normal, offset) = refined(&sample, normal, offset);
    let rotation = DQuat::from_rotation_arc(normal.as_dvec3().normalize(), DVec3::Z);
    Some(Pose::new(DVec3::new(0.0, 0.0, f64::from(-offset)), rotation))
}

/// The mean of the normals of small triangles would be noisy: tilt the plane by least squares instead.
fn refined(sample: &[Vec3], normal: Vec3, offset: f32) -> (Vec3, f32) {
    let (u, v) = normal.any_orthonormal_pair();
    let near: Vec<Vec3> = sample.iter().copied().filter(|p| (normal.dot(*p) - offset).abs() < INLIER_M * 1.5).collect();
    let mean = near.iter().sum::<Vec3>() / near.len().max(1) as f32;
    let (mut uu, mut uv, mut vv, mut uh, mut vh) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for point in &near {
        let local = *point - mean;
        let (a, b, h) = (local.dot(u), local.dot(v), local.dot(normal));
        uu += a * a;
        uv += a * b;
        vv += b * b;
        uh += a * h;
        vh += b * h;
    }
    let determinant = uu * vv - uv * uv;
    if determinant.abs() < 1e-9 {
        return (normal, offset);
    }
    let (along_u, along_v) = ((uh * vv - vh * uv) / determinant, (vh * uu - uh * uv) / determinant);
    let tilted = (normal - u * along_u - v * along_v).normalize();
    (tilted, tilted.dot(mean))
}
