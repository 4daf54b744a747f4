use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

use crate::hull::Rectangle;

/// The circle that fits the places best: centre and radius. `None` when they lie on a line.
pub(crate) fn circle(places: &[Vec2]) -> Option<(Vec2, f32)> {
    if places.len() < 4 {
        return None;
    }
    let mean = places.iter().sum::<Vec2>() / places.len() as f32;
    let (mut square, mut right) = (Mat3::ZERO, Vec3::ZERO);
    for &place in places {
        let local = place - mean;
        let row = Vec3::new(local.x, local.y, 1.0);
        square += Mat3::from_cols(row * row.x, row * row.y, row * row.z);
        right += row * local.length_squared();
    }
    let spread = square.x_axis.x * square.y_axis.y;
    if square.determinant().abs() < 1e-6 * spread * places.len() as f32 {
        return None;
    }
    let solved = square.inverse() * right;
    let centre = solved.truncate() / 2.0;
    let radius = (solved.z + centre.length_squared()).max(0.0).sqrt();
    (radius.is_finite() && radius > 0.0).then_some((mean + centre, radius))
}

/// The sphere that fits the points best: centre and radius. `None` when they lie in a plane.
pub(crate) fn sphere(points: &[Vec3]) -> Option<(Vec3, f32)> {
    if points.len() < 6 {
        return None;
    }
    let mean = points.iter().sum::<Vec3>() / points.len() as f32;
    // Scaled to about 1, where single precision solves well.
    let scale = (points.iter().map(|p| p.distance_squared(mean)).sum::<f32>() / points.len() as f32).sqrt();
    if scale <= 0.0 {
        return None;
    }
    let (mut square, mut right) = (Mat4::ZERO, Vec4::ZERO);
    for &point in points {
        let local = (point - mean) / scale;
        let row = local.extend(1.0);
        square += Mat4::from_cols(row * row.x, row * row.y, row * row.z, row * row.w);
        right += row * local.length_squared();
    }
    if square.determinant().abs() < 1e-4 * (points.len() as f32).powi(2) {
        return None;
    }
    let solved = square.inverse() * right;
    let centre = solved.truncate() / 2.0;
    let radius = (solved.w + centre.length_squared()).max(0.0).sqrt();
    (radius.is_finite() && radius > 0.0).then_some((mean + centre * scale, radius * scale))
}

/// The distance of a place to the nearest side of a rectangle, from inside or outside.
pub(crate) fn distance_to_border(rectangle: &Rectangle, place: Vec2) -> f32 {
    let local = place - rectangle.centre;
    let half = Vec2::new(rectangle.length, rectangle.width) / 2.0;
    let offset = Vec2::new(local.dot(rectangle.along), local.dot(rectangle.along.perp())).abs() - half;
    if offset.x <= 0.0 && offset.y <= 0.0 { -offset.max_element() } else { offset.max(Vec2::ZERO).length() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_circle_gives_the_whole() {
        let places: Vec<Vec2> =
            (0..40).map(|i| Vec2::new(3.0, -2.0) + Vec2::from_angle(0.3 + i as f32 * 0.07) * 0.033).collect();
        let (centre, radius) = circle(&places).unwrap();
        assert!(centre.distance(Vec2::new(3.0, -2.0)) < 1e-3 && (radius - 0.033).abs() < 1e-3);
    }

    #[test]
    fn a_cap_gives_the_sphere() {
        let middle = Vec3::new(1.0, 2.0, 0.8);
        let mut points = Vec::new();
        for i in 0..12 {
            for j in 0..12 {
                let (turn, rise) = (i as f32 * 0.2, j as f32 * 0.12);
                points.push(middle + Vec3::new(turn.cos() * rise.cos(), turn.sin() * rise.cos(), rise.sin()) * 0.036);
            }
        }
        let (centre, radius) = sphere(&points).unwrap();
        assert!(centre.distance(middle) < 1e-3 && (radius - 0.036).abs() < 1e-3);
    }

    #[test]
    fn lines_and_planes_are_no_circles_and_spheres() {
        let line: Vec<Vec2> = (0..20).map(|i| Vec2::new(i as f32 * 0.01, i as f32 * 0.02)).collect();
        assert!(circle(&line).is_none());
        let plane: Vec<Vec3> = (0..25).map(|i| Vec3::new((i % 5) as f32, (i / 5) as f32, 1.0) * 0.01).collect();
        assert!(sphere(&plane).is_none());
    }

    #[test]
    fn the_border_is_near_from_both_sides() {
        let rectangle = Rectangle { centre: Vec2::ZERO, along: Vec2::X, length: 2.0, width: 1.0 };
        assert!((distance_to_border(&rectangle, Vec2::new(0.9, 0.0)) - 0.1).abs() < 1e-6);
        assert!((distance_to_border(&rectangle, Vec2::new(0.0, 0.8)) - 0.3).abs() < 1e-6);
    }
}
