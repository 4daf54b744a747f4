use glam::Vec2;

/// A convex polygon, counter-clockwise. Fewer than three corners enclose nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hull {
    /// The corners in order.
    pub corners: Vec<Vec2>,
}

/// A rectangle at any angle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rectangle {
    /// Its middle.
    pub centre: Vec2,
    /// The unit vector along the longer side.
    pub along: Vec2,
    /// The longer side.
    pub length: f32,
    /// The shorter side.
    pub width: f32,
}

impl Hull {
    /// The smallest convex polygon around the points.
    pub fn around(points: &[Vec2]) -> Self {
        let mut sorted = points.to_vec();
        sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        sorted.dedup();
        if sorted.len() < 3 {
            return Self { corners: sorted };
        }
        let mut corners: Vec<Vec2> = Vec::with_capacity(32);
        chain(&mut corners, sorted.iter().copied(), 0);
        corners.pop();
        let floor = corners.len();
        chain(&mut corners, sorted.iter().rev().copied(), floor);
        corners.pop();
        Self { corners }
    }

    /// The enclosed area.
    pub fn area(&self) -> f32 {
        self.edges().map(|(a, b)| a.perp_dot(b)).sum::<f32>() / 2.0
    }

    /// Whether the point lies inside or on the border.
    pub fn contains(&self, point: Vec2) -> bool {
        self.corners.len() >= 3 && self.edges().all(|(a, b)| (b - a).perp_dot(point - a) >= 0.0)
    }

    /// The polygon grown by `margin` on every side.
    #[must_use]
    pub fn grown(&self, margin: f32) -> Self {
        let around: Vec<Vec2> = self
            .corners
            .iter()
            .flat_map(|&corner| {
                (0..8).map(move |i| corner + Vec2::from_angle(i as f32 * std::f32::consts::FRAC_PI_4) * margin)
            })
            .collect();
        Self::around(&around)
    }

    /// The part that two polygons share.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut shape = self.corners.clone();
        for (a, b) in other.edges() {
            let side = |p: Vec2| (b - a).perp_dot(p - a);
            let mut kept = Vec::with_capacity(shape.len() + 2);
            for i in 0..shape.len() {
                let (p, q) = (shape[i], shape[(i + 1) % shape.len()]);
                let (sp, sq) = (side(p), side(q));
                if sp >= 0.0 {
                    kept.push(p);
                }
                if (sp >= 0.0) != (sq >= 0.0) {
                    kept.push(p + (q - p) * (sp / (sp - sq)));
                }
            }
            shape = kept;
        }
        Self { corners: shape }
    }

    /// The share of the smaller polygon that lies in the other, 0 to 1.
    pub fn overlap(&self, other: &Self) -> f32 {
        let smaller = self.area().min(other.area());
        if smaller <= 0.0 { 0.0 } else { (self.intersection(other).area() / smaller).clamp(0.0, 1.0) }
    }

    /// The rectangle of least area around it.
    pub fn rectangle(&self) -> Rectangle {
        let turned = self.edges().filter_map(|(a, b)| (b - a).try_normalize()).map(|along| self.rectangle_along(along));
        turned
            .min_by(|a, b| (a.length * a.width).total_cmp(&(b.length * b.width)))
            .unwrap_or_else(|| self.rectangle_along(Vec2::X))
    }

    /// The rectangle around it with one side along that unit vector.
    pub fn rectangle_along(&self, along: Vec2) -> Rectangle {
        let across = along.perp();
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for &corner in &self.corners {
            let local = Vec2::new(corner.dot(along), corner.dot(across));
            low = low.min(local);
            high = high.max(local);
        }
        if self.corners.is_empty() {
            (low, high) = (Vec2::ZERO, Vec2::ZERO);
        }
        let (size, middle) = (high - low, (low + high) / 2.0);
        let centre = along * middle.x + across * middle.y;
        if size.x >= size.y {
            Rectangle { centre, along, length: size.x, width: size.y }
        } else {
            Rectangle { centre, along: across, length: size.y, width: size.x }
        }
    }

    /// The least distance between two polygons; 0 when they touch.
    pub fn distance(&self, other: &Self) -> f32 {
        if self.intersection(other).area() > 0.0 {
            return 0.0;
        }
        let one_way = |from: &Self, to: &Self| {
            from.corners
                .iter()
                .flat_map(|&p| to.edges().map(move |(a, b)| to_segment(p, a, b)))
                .fold(f32::INFINITY, f32::min)
        };
        one_way(self, other).min(one_way(other, self))
    }

    fn edges(&self) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().copied().zip(next.copied())
    }
}

fn to_segment(point: Vec2, a: Vec2, b: Vec2) -> f32 {
    let along = b - a;
    let share = if along.length_squared() > 0.0 {
        ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0)
    } else {
        0.0
    };
    point.distance(a + along * share)
}

fn chain(corners: &mut Vec<Vec2>, points: impl Iterator<Item = Vec2>, floor: usize) {
    for point in points {
        while corners.len() >= floor + 2 {
            let (a, b) = (corners[corners.len() - 2], corners[corners.len() - 1]);
            if (b - a).perp_dot(point - b) > 0.0 {
                break;
            }
            corners.pop();
        }
        corners.push(point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f32, y: f32, side: f32) -> Hull {
        let at = |dx: f32, dy: f32| Vec2::new(x + dx * side, y + dy * side);
        Hull::around(&[at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0), at(0.5, 0.5)])
    }

    #[test]
    fn a_square_has_four_corners_and_its_area() {
        let hull = square(1.0, 2.0, 2.0);
        assert_eq!(hull.corners.len(), 4);
        assert!((hull.area() - 4.0).abs() < 1e-5);
        assert!(hull.contains(Vec2::new(2.0, 3.0)) && !hull.contains(Vec2::new(0.9, 3.0)));
    }

    #[test]
    fn overlap_is_the_share_of_the_smaller() {
        assert!((square(0.0, 0.0, 2.0).overlap(&square(1.0, 0.0, 1.0)) - 1.0).abs() < 1e-5);
        assert!((square(0.0, 0.0, 1.0).overlap(&square(0.5, 0.0, 1.0)) - 0.5).abs() < 1e-5);
        assert_eq!(square(0.0, 0.0, 1.0).overlap(&square(3.0, 0.0, 1.0)), 0.0);
        assert!((square(0.0, 0.0, 1.0).distance(&square(3.0, 0.0, 1.0)) - 2.0).abs() < 1e-5);
    }

    #[test]
    fn the_least_rectangle_follows_a_turned_box() {
        let along = Vec2::from_angle(0.6);
        let corners: Vec<Vec2> = [(-2.0, -1.0), (2.0, -1.0), (2.0, 1.0), (-2.0, 1.0)]
            .iter()
            .map(|&(x, y)| along * x + along.perp() * y)
            .collect();
        let rectangle = Hull::around(&corners).rectangle();
        assert!((rectangle.length - 4.0).abs() < 1e-4 && (rectangle.width - 2.0).abs() < 1e-4);
        assert!(rectangle.along.dot(along).abs() > 0.999 && rectangle.centre.length() < 1e-4);
    }

    #[test]
    fn growing_adds_the_margin() {
        let grown = square(0.0, 0.0, 1.0).grown(0.1);
        assert!(grown.contains(Vec2::new(-0.09, 0.5)) && !grown.contains(Vec2::new(-0.11, 0.5)));
    }

    #[test]
    fn degenerate_points_enclose_nothing() {
        for points in [vec![], vec![Vec2::ONE], vec![Vec2::ZERO, Vec2::ONE, Vec2::ONE * 2.0]] {
            let hull = Hull::around(&points);
            assert_eq!(hull.area(), 0.0);
            assert!(hull.rectangle().width.abs() < 1e-5);
        }
    }
}
