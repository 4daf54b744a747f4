use glam::{Vec2, Vec3};

/// A solid in its own frame, centred on the origin; the axis of round ones is `z`. Metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A box of these half sides, whose edges catch the light as if rounded by `bevel`.
    Box { half: Vec3, bevel: f32 },
    /// A capped cone, or a cylinder when both radii are equal.
    Cone { half_height: f32, bottom: f32, top: f32 },
    /// An ellipsoid of these radii.
    Ellipsoid { radii: Vec3 },
    /// A cylinder with round ends; `half_height` is that of the cylinder alone.
    Capsule { half_height: f32, radius: f32 },
    /// A piece of a ring in the plane `x`, `y`: `half_arc` radians to both sides of `+y`.
    Ring { radius: f32, tube: f32, half_arc: f32 },
    /// A round vessel that is open above.
    Vessel { half_height: f32, bottom: f32, top: f32, wall: f32 },
}

/// Where a ray entered a solid: multiples of the ray's direction, and the outward unit normal there.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub t: f32,
    pub normal: Vec3,
}

const NEAR: f32 = 1e-4;

impl Shape {
    /// Half sides of the smallest upright box around it.
    pub fn half_extent(&self) -> Vec3 {
        match *self {
            Self::Box { half, .. } => half,
            Self::Cone { half_height, bottom, top } | Self::Vessel { half_height, bottom, top, .. } => {
                let radius = bottom.max(top);
                Vec3::new(radius, radius, half_height)
            }
            Self::Ellipsoid { radii } => radii,
            Self::Capsule { half_height, radius } => Vec3::new(radius, radius, half_height + radius),
            Self::Ring { radius, tube, .. } => Vec3::new(radius + tube, radius + tube, tube),
        }
    }

    /// Whether a ray that leaves its surface outward cannot meet it again.
    pub fn is_convex(&self) -> bool {
        !matches!(self, Self::Ring { .. } | Self::Vessel { .. })
    }

    /// The first place where the ray from outside enters, nearer than `limit`.
    #[inline]
    pub fn enter(&self, origin: Vec3, direction: Vec3, limit: f32) -> Option<Hit> {
        let hit = match *self {
            Self::Box { half, bevel } => enter_box(origin, direction, half).map(|(t, normal)| Hit {
                t,
                normal: if bevel > 0.0 { bevelled(origin + direction * t, normal, half, bevel) } else { normal },
            }),
            Self::Cone { half_height, bottom, top } => enter_cone(origin, direction, half_height, bottom, top),
            Self::Ellipsoid { radii } => enter_ellipsoid(origin, direction, radii),
            Self::Capsule { half_height, radius } => enter_capsule(origin, direction, half_height, radius),
            Self::Ring { .. } | Self::Vessel { .. } => self.march(origin, direction, limit),
        }?;
        (hit.t > NEAR && hit.t < limit).then_some(hit)
    }

    /// Whether anything of it lies on the ray.
    #[inline]
    pub fn blocks(&self, origin: Vec3, direction: Vec3) -> bool {
        match *self {
            Self::Box { half, .. } => enter_box(origin, direction, half).is_some_and(|(t, _)| t > NEAR),
            _ => self.enter(origin, direction, f32::INFINITY).is_some(),
        }
    }

    fn march(&self, origin: Vec3, direction: Vec3, limit: f32) -> Option<Hit> {
        let (near, far) = slab(origin, direction, self.half_extent() + Vec3::splat(1e-4))?;
        let far = far.min(limit);
        let step_scale = 0.95 / direction.length();
        let mut t = near.max(2e-3 * step_scale);
        for _ in 0..48 {
            if t > far {
                return None;
            }
            let point = origin + direction * t;
            let distance = self.distance(point);
            if distance < 2e-4 {
                return Some(Hit { t, normal: self.gradient(point) });
            }
            t += distance * step_scale;
        }
        None
    }

    /// Signed distance to the surface, or less; only for the solids that are marched.
    fn distance(&self, p: Vec3) -> f32 {
        match *self {
            Self::Ring { radius, tube, half_arc } => {
                let (sin, cos) = half_arc.sin_cos();
                let x = p.x.abs();
                let along = if cos * x > sin * p.y { x * sin + p.y * cos } else { p.truncate().length() };
                (p.length_squared() + radius * radius - 2.0 * radius * along).max(0.0).sqrt() - tube
            }
            Self::Vessel { half_height, bottom, top, wall } => {
                let taper = (top - bottom) / (2.0 * half_height);
                let outer = (top + bottom) * 0.5 + taper * p.z;
                let q = Vec2::new(p.truncate().length(), p.z);
                let round = wall * 0.45;
                let side =
                    rounded_box(q - Vec2::new(outer - wall * 0.5, 0.0), Vec2::new(wall * 0.5, half_height), round);
                let base = rounded_box(
                    q - Vec2::new(0.0, wall * 0.5 - half_height),
                    Vec2::new(outer - 1e-3, wall * 0.5),
                    round * 0.5,
                );
                side.min(base) / (1.0 + taper * taper).sqrt()
            }
            _ => 0.0,
        }
    }

    fn gradient(&self, p: Vec3) -> Vec3 {
        let e = 3e-4;
        let along = |axis: Vec3| self.distance(p + axis * e) - self.distance(p - axis * e);
        Vec3::new(along(Vec3::X), along(Vec3::Y), along(Vec3::Z)).normalize_or(Vec3::Z)
    }
}

fn rounded_box(p: Vec2, half: Vec2, round: f32) -> f32 {
    let q = p.abs() - half + Vec2::splat(round);
    q.max(Vec2::ZERO).length() + q.x.max(q.y).min(0.0) - round
}

/// One over the direction, finite also where the ray runs along a face: infinity times zero would lose the ray.
#[inline]
fn inverse(direction: Vec3) -> Vec3 {
    direction.recip().clamp(Vec3::splat(-1e12), Vec3::splat(1e12))
}

fn slab(origin: Vec3, direction: Vec3, half: Vec3) -> Option<(f32, f32)> {
    let inverse = inverse(direction);
    let middle = -origin * inverse;
    let reach = inverse.abs() * half;
    let near = (middle - reach).max_element();
    let far = (middle + reach).min_element();
    (near <= far && far > 0.0).then_some((near, far))
}

#[inline]
fn enter_box(origin: Vec3, direction: Vec3, half: Vec3) -> Option<(f32, Vec3)> {
    let inverse = inverse(direction);
    let middle = -origin * inverse;
    let reach = inverse.abs() * half;
    let entry = middle - reach;
    let near = entry.max_element();
    let far = (middle + reach).min_element();
    if near > far || far <= 0.0 {
        return None;
    }
    let normal = if near == entry.x {
        Vec3::new(-direction.x.signum(), 0.0, 0.0)
    } else if near == entry.y {
        Vec3::new(0.0, -direction.y.signum(), 0.0)
    } else {
        Vec3::new(0.0, 0.0, -direction.z.signum())
    };
    Some((near, normal))
}

/// The normal of a flat face, bent outward near its edges.
fn bevelled(point: Vec3, normal: Vec3, half: Vec3, bevel: f32) -> Vec3 {
    let beyond = (point.abs() - (half - Vec3::splat(bevel))).max(Vec3::ZERO) / bevel;
    let side = beyond * (Vec3::ONE - normal.abs());
    if side == Vec3::ZERO {
        return normal;
    }
    (normal + side * side * point.signum() * 0.8).normalize()
}

fn enter_cone(origin: Vec3, direction: Vec3, half_height: f32, bottom: f32, top: f32) -> Option<Hit> {
    let slope = (top - bottom) / (2.0 * half_height);
    let middle = (top + bottom) * 0.5;
    let mut best: Option<Hit> = None;
    if direction.z != 0.0 {
        let cap = -direction.z.signum() * half_height;
        let t = (cap - origin.z) / direction.z;
        let at = origin.truncate() + direction.truncate() * t;
        let radius = if cap > 0.0 { top } else { bottom };
        if t > 0.0 && at.length_squared() <= radius * radius {
            best = Some(Hit { t, normal: Vec3::new(0.0, 0.0, cap.signum()) });
        }
    }
    let radius_at_origin = middle + slope * origin.z;
    let a = direction.truncate().length_squared() - slope * slope * direction.z * direction.z;
    let b = origin.truncate().dot(direction.truncate()) - slope * direction.z * radius_at_origin;
    let c = origin.truncate().length_squared() - radius_at_origin * radius_at_origin;
    let discriminant = b * b - a * c;
    if discriminant < 0.0 || a.abs() < 1e-12 {
        return best;
    }
    let root = discriminant.sqrt();
    for t in [(-b - root) / a, (-b + root) / a] {
        if t <= 0.0 || best.is_some_and(|hit| hit.t <= t) {
            continue;
        }
        let point = origin + direction * t;
        if point.z.abs() > half_height {
            continue;
        }
        let radius = middle + slope * point.z;
        let normal = Vec3::new(point.x, point.y, -slope * radius);
        if normal.dot(direction) < 0.0 {
            best = Some(Hit { t, normal: normal.normalize() });
        }
    }
    best
}

fn enter_ellipsoid(origin: Vec3, direction: Vec3, radii: Vec3) -> Option<Hit> {
    let inverse = radii.recip();
    let (o, d) = (origin * inverse, direction * inverse);
    let (a, b, c) = (d.length_squared(), o.dot(d), o.length_squared() - 1.0);
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return None;
    }
    let t = (-b - discriminant.sqrt()) / a;
    (t > 0.0).then(|| Hit { t, normal: ((o + d * t) * inverse).normalize() })
}

fn enter_capsule(origin: Vec3, direction: Vec3, half_height: f32, radius: f32) -> Option<Hit> {
    let a = direction.truncate().length_squared();
    let mut end = -direction.z.signum() * half_height;
    if a > 1e-9 {
        let b = origin.truncate().dot(direction.truncate());
        let c = origin.truncate().length_squared() - radius * radius;
        let discriminant = b * b - a * c;
        if discriminant < 0.0 {
            return None;
        }
        let t = (-b - discriminant.sqrt()) / a;
        let z = origin.z + direction.z * t;
        if z.abs() <= half_height {
            let point = origin + direction * t;
            return (t > 0.0).then(|| Hit { t, normal: Vec3::new(point.x, point.y, 0.0) / radius });
        }
        end = z.signum() * half_height;
    }
    let centre = Vec3::new(0.0, 0.0, end);
    let mut hit = enter_ellipsoid(origin - centre, direction, Vec3::splat(radius))?;
    hit.normal = hit.normal.normalize();
    Some(hit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shape: Shape, origin: [f32; 3], direction: [f32; 3], expected: Option<(f32, [f32; 3])>) {
        let hit = shape.enter(Vec3::from(origin), Vec3::from(direction), f32::INFINITY);
        match (hit, expected) {
            (None, None) => {}
            (Some(hit), Some((t, normal))) => {
                assert!((hit.t - t).abs() < 1e-3, "{shape:?}: {hit:?}");
                assert!(hit.normal.distance(Vec3::from(normal)) < 2e-2, "{shape:?}: {hit:?}");
            }
            (hit, expected) => panic!("{shape:?}: {hit:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn rays_enter_where_geometry_says() {
        let cube = Shape::Box { half: Vec3::splat(0.5), bevel: 0.0 };
        check(cube, [-2.0, 0.1, 0.2], [1.0, 0.0, 0.0], Some((1.5, [-1.0, 0.0, 0.0])));
        check(cube, [-2.0, 0.6, 0.2], [1.0, 0.0, 0.0], None);
        let can = Shape::Cone { half_height: 0.5, bottom: 0.3, top: 0.3 };
        check(can, [-2.0, 0.0, 0.2], [2.0, 0.0, 0.0], Some((0.85, [-1.0, 0.0, 0.0])));
        check(can, [0.1, 0.0, 2.0], [0.0, 0.0, -1.0], Some((1.5, [0.0, 0.0, 1.0])));
        check(can, [0.4, 0.0, 2.0], [0.0, 0.0, -1.0], None);
        let ball = Shape::Ellipsoid { radii: Vec3::new(0.5, 0.5, 0.25) };
        check(ball, [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], Some((0.75, [0.0, 0.0, 1.0])));
        let limb = Shape::Capsule { half_height: 0.5, radius: 0.1 };
        check(limb, [-1.0, 0.0, 0.4], [1.0, 0.0, 0.0], Some((0.9, [-1.0, 0.0, 0.0])));
        check(limb, [0.0, 0.0, 2.0], [0.0, 0.0, -1.0], Some((1.4, [0.0, 0.0, 1.0])));
        check(limb, [-1.0, 0.0, 0.65], [1.0, 0.0, 0.0], None);
    }

    #[test]
    fn a_vessel_is_hollow_and_a_ring_has_a_hole() {
        let mug = Shape::Vessel { half_height: 0.05, bottom: 0.04, top: 0.04, wall: 0.004 };
        check(mug, [0.0, 0.0, 0.2], [0.0, 0.0, -1.0], Some((0.246, [0.0, 0.0, 1.0])));
        check(mug, [-0.2, 0.0, 0.0], [1.0, 0.0, 0.0], Some((0.16, [-1.0, 0.0, 0.0])));
        let ring = Shape::Ring { radius: 0.03, tube: 0.005, half_arc: 2.0 };
        check(ring, [0.0, 0.0, 0.2], [0.0, 0.0, -1.0], None);
        check(ring, [0.0, 0.03, 0.2], [0.0, 0.0, -1.0], Some((0.195, [0.0, 0.0, 1.0])));
        check(ring, [0.0, -0.03, 0.2], [0.0, 0.0, -1.0], None);
    }
}
