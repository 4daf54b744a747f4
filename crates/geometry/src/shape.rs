use glam::{Vec2, Vec3};

use crate::fit::{circle, distance_to_border, sphere};
use crate::hull::{Hull, Rectangle};

/// What a thing looks like from its shape alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// An upright cylinder with a closed top.
    Can,
    /// Upright, and narrower at the top.
    Bottle,
    /// A sphere.
    Ball,
    /// Flat sides that meet at right angles.
    Box,
    /// A low, wide box.
    Book,
    /// An upright, open cylinder, or one with a handle.
    Mug,
    /// Open, and wider than high.
    Bowl,
    /// None of these.
    Object,
}

impl Shape {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Can => "can",
            Self::Bottle => "bottle",
            Self::Ball => "ball",
            Self::Box => "box",
            Self::Book => "book",
            Self::Mug => "mug",
            Self::Bowl => "bowl",
            Self::Object => "object",
        }
    }
}

/// The shape that fits best, and the measures that follow from it.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeFit {
    /// The best fit.
    pub shape: Shape,
    /// What it may be as well, as far as this view tells.
    pub alternatives: Vec<Shape>,
    /// How well it fits, 0 to 1.
    pub confidence: f32,
    /// The centre, including the side that is not seen, in the level frame.
    pub centre: Vec3,
    /// Height above the support, in metres.
    pub height: f32,
    /// The longer horizontal side, in metres.
    pub length: f32,
    /// The shorter horizontal side, in metres.
    pub width: f32,
}

/// Points of one thing as the camera sees them.
pub(crate) struct Seen<'a> {
    /// Points in the level frame.
    pub(crate) points: &'a [Vec3],
    /// Their normals; zero where unknown.
    pub(crate) normals: &'a [Vec3],
    /// Height of the support below the thing.
    pub(crate) ground: f32,
    /// Where the camera is.
    pub(crate) eye: Vec3,
    /// Standard deviation of the points along their rays, in metres.
    pub(crate) noise: f32,
}

/// Fits every shape and takes the one that leaves the least.
pub(crate) fn fit(seen: &Seen<'_>) -> ShapeFit {
    let model = Models::of(seen);
    let shape = model.shape(seen);
    let (base, length, width) = match shape {
        Shape::Ball => (model.ball.centre.truncate(), model.ball.radius * 2.0, model.ball.radius * 2.0),
        Shape::Can | Shape::Bottle | Shape::Mug => {
            (model.ring.centre, model.ring.radius * 2.0, model.ring.radius * 2.0)
        }
        Shape::Box | Shape::Book | Shape::Bowl | Shape::Object => {
            (model.rectangle.centre, model.rectangle.length, model.rectangle.width)
        }
    };
    let residual = model.residual_of(shape);
    let confidence = (1.0 - residual / (0.012 + 3.0 * seen.noise)).clamp(0.3, 0.99);
    let centre = base.extend(seen.ground + model.height / 2.0);
    ShapeFit { shape, alternatives: model.alternatives(shape), confidence, centre, height: model.height, length, width }
}

#[derive(Clone, Copy)]
struct BallModel {
    centre: Vec3,
    radius: f32,
    residual: f32,
}

#[derive(Clone, Copy)]
struct RingModel {
    centre: Vec2,
    radius: f32,
    residual: f32,
}

struct Models {
    height: f32,
    rectangle: Rectangle,
    ball: BallModel,
    ring: RingModel,
    box_residual: f32,
    /// How much the side normals agree modulo a quarter turn: near 1 for a box, near 0 for a cylinder.
    squareness: f32,
    has_sides: bool,
    /// Width near the top over width near the bottom.
    taper: f32,
    low_width: f32,
    /// The share of points on the far side of the ring and well below the rim.
    hollow: f32,
    sees_top: bool,
}

impl Models {
    fn of(seen: &Seen<'_>) -> Self {
        let mut heights: Vec<f32> = seen.points.iter().map(|point| point.z - seen.ground).collect();
        heights.sort_by(f32::total_cmp);
        let height = quantile(&heights, 0.975).max(0.002);
        let places: Vec<Vec2> = seen.points.iter().map(|point| point.truncate()).collect();
        let hull = Hull::around(&places);
        let upright = |normal: &Vec3| *normal != Vec3::ZERO && normal.z.abs() < 0.6;
        let sides: Vec<usize> = (0..seen.points.len()).filter(|&i| upright(&seen.normals[i])).collect();
        let (squareness, turn) = squareness(seen, &sides);
        let has_sides = sides.len() * 6 > seen.points.len() && sides.len() >= 8;
        let along = Vec2::from_angle(turn);
        let rectangle = if has_sides && squareness > 0.5 { hull.rectangle_along(along) } else { hull.rectangle() };
        let ring = ring_of(seen, &sides, height, &rectangle);
        let ball = ball_of(seen, height);
        let residual_box = |point: Vec3| {
            let side = distance_to_border(&rectangle, point.truncate());
            side.min((point.z - seen.ground - height).abs())
        };
        let (taper, low_width) = taper(seen, height);
        // Only an open thing shows the far side of its wall.
        let away = (ring.centre - seen.eye.truncate()).normalize_or_zero();
        let inside = |point: &&Vec3| {
            let deep = point.z - seen.ground < height - 0.015 - seen.noise;
            let far = (point.truncate() - ring.centre).dot(away);
            deep && far > 0.25 * ring.radius && far < 1.2 * ring.radius
        };
        let top = seen.normals.iter().filter(|normal| normal.z > 0.8).count();
        Self {
            height,
            rectangle,
            ball,
            ring,
            box_residual: trimmed(seen.points.iter().map(|&point| residual_box(point))),
            squareness,
            has_sides,
            taper,
            low_width,
            hollow: seen.points.iter().filter(inside).count() as f32 / seen.points.len().max(1) as f32,
            sees_top: top * 12 > seen.points.len(),
        }
    }

    fn shape(&self, seen: &Seen<'_>) -> Shape {
        let (length, width) = (self.rectangle.length, self.rectangle.width);
        if self.height < 0.075 && length > 2.2 * self.height && width > 1.5 * self.height && self.hollow < 0.1 {
            return if self.ball.residual < 0.003 && self.is_ball() { Shape::Ball } else { Shape::Book };
        }
        let tall = self.height / self.low_width.max(0.01);
        if self.taper < 0.7 && tall > 1.7 && !(self.has_sides && self.squareness > 0.75) {
            return Shape::Bottle;
        }
        let slack = 0.001 + 0.3 * seen.noise;
        let round = self.ring.residual.min(self.ball.residual);
        if self.is_ball() && self.ball.residual < self.ring.residual + slack && self.ball.residual < self.box_residual {
            return Shape::Ball;
        }
        let square = self.squareness > 0.62 || (self.squareness > 0.4 && self.box_residual < round);
        if self.has_sides && square {
            return Shape::Box;
        }
        if self.ring.residual < 0.006 + 2.0 * seen.noise && self.ring.radius < 0.2 {
            let diameter = self.ring.radius * 2.0;
            if self.hollow > 0.06 {
                return if self.height < 0.55 * diameter { Shape::Bowl } else { Shape::Mug };
            }
            let has_handle = length > diameter * 1.22 && self.height / diameter < 1.6;
            return if has_handle { Shape::Mug } else { Shape::Can };
        }
        if self.box_residual < 0.007 + 2.0 * seen.noise { Shape::Box } else { Shape::Object }
    }

    /// A sphere stands on its lowest point and is as high as it is wide.
    fn is_ball(&self) -> bool {
        let BallModel { radius, residual, .. } = self.ball;
        let stands = (self.height - 2.0 * radius).abs() < 0.35 * radius;
        stands && residual < 0.012 && (0.015..0.2).contains(&radius)
    }

    fn residual_of(&self, shape: Shape) -> f32 {
        match shape {
            Shape::Ball => self.ball.residual,
            Shape::Can | Shape::Mug => self.ring.residual,
            Shape::Box | Shape::Book => self.box_residual,
            Shape::Bottle | Shape::Bowl | Shape::Object => 0.004,
        }
    }

    fn alternatives(&self, shape: Shape) -> Vec<Shape> {
        let squat = self.height / self.low_width.max(0.01) < 1.45;
        match shape {
            // Without a look at the top, a closed cylinder and an open one are the same.
            Shape::Can if squat || !self.sees_top => vec![Shape::Mug],
            Shape::Can if self.taper < 0.85 => vec![Shape::Bottle],
            Shape::Mug if self.hollow < 0.06 => vec![Shape::Can],
            _ => vec![],
        }
    }
}

fn ring_of(seen: &Seen<'_>, sides: &[usize], height: f32, rectangle: &Rectangle) -> RingModel {
    let low = |point: &Vec3| (0.05..0.6).contains(&((point.z - seen.ground) / height));
    let mut places: Vec<Vec2> =
        sides.iter().map(|&i| seen.points[i]).filter(|point| low(point)).map(Vec3::truncate).collect();
    let towards_eye = (seen.eye.truncate() - rectangle.centre).normalize_or_zero();
    for _ in 0..2 {
        let Some((centre, radius)) = circle(&places) else { break };
        // What a camera sees of a round side bulges towards it, and a handle sticks out.
        places.retain(|place| (place.distance(centre) - radius).abs() < 0.007 + 2.0 * seen.noise);
    }
    let fallback = (rectangle.centre, rectangle.length.max(rectangle.width) / 2.0);
    let fitted = circle(&places).filter(|(centre, radius)| {
        let bulges = places.iter().map(|&place| (place - *centre).dot(towards_eye)).sum::<f32>() > 0.0;
        bulges && *radius < 0.25 && places.len() >= 8
    });
    let (centre, radius) = fitted.unwrap_or(fallback);
    let residual = |point: Vec3| {
        let side = (point.truncate().distance(centre) - radius).abs();
        side.min((point.z - seen.ground - height).abs())
    };
    let residual = trimmed(seen.points.iter().map(|&point| residual(point)));
    RingModel { centre, radius, residual: if fitted.is_some() { residual } else { residual + 0.004 } }
}

fn ball_of(seen: &Seen<'_>, height: f32) -> BallModel {
    let fallback = BallModel { centre: Vec3::ZERO, radius: height / 2.0, residual: f32::INFINITY };
    let Some((centre, radius)) = sphere(seen.points) else { return fallback };
    BallModel { centre, radius, residual: trimmed(seen.points.iter().map(|p| (p.distance(centre) - radius).abs())) }
}

/// The mean of the better nine tenths.
fn trimmed(residuals: impl Iterator<Item = f32>) -> f32 {
    let mut sorted: Vec<f32> = residuals.collect();
    sorted.sort_by(f32::total_cmp);
    sorted.truncate((sorted.len() * 9).div_ceil(10));
    sorted.iter().sum::<f32>() / sorted.len().max(1) as f32
}

fn quantile(sorted: &[f32], share: f32) -> f32 {
    let at = (sorted.len().saturating_sub(1) as f32 * share) as usize;
    sorted.get(at).copied().unwrap_or(0.0)
}

/// The agreement of the side normals modulo a quarter turn, and the turn they agree on.
pub(crate) fn squareness(seen: &Seen<'_>, sides: &[usize]) -> (f32, f32) {
    let mut sum = Vec2::ZERO;
    for &i in sides {
        sum += Vec2::from_angle(seen.normals[i].truncate().to_angle() * 4.0);
    }
    (sum.length() / sides.len().max(1) as f32, sum.to_angle() / 4.0)
}

/// Width seen near the top over width seen near the bottom, and the latter.
fn taper(seen: &Seen<'_>, height: f32) -> (f32, f32) {
    let middle = seen.points.iter().sum::<Vec3>() / seen.points.len().max(1) as f32;
    let sideways = (middle - seen.eye).truncate().normalize_or_zero().perp();
    let span = |from: f32, to: f32| {
        let within =
            |point: &&Vec3| ((point.z - seen.ground) / height) >= from && ((point.z - seen.ground) / height) < to;
        let mut across: Vec<f32> =
            seen.points.iter().filter(within).map(|point| point.truncate().dot(sideways)).collect();
        across.sort_by(f32::total_cmp);
        quantile(&across, 0.97) - quantile(&across, 0.03)
    };
    let low = span(0.05, 0.45);
    let top = span(0.82, 0.985);
    if low <= 0.0 { (1.0, 0.0) } else { (top / low, low) }
}

#[cfg(test)]
mod tests;
