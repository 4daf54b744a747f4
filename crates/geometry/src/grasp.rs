use cerebellum_core::{Frame, Mask, Pose};
use glam::{DMat3, DQuat, DVec3, Vec2, Vec3};

use crate::camera::{Camera, depth_sigma};
use crate::classes::clearance;
use crate::hull::Hull;
use crate::mask::median_depth;
use crate::scene::{Analyser, Scene, ViewError};
use crate::shape::{Seen, Shape, ShapeFit, fit, squareness};
use crate::surface::Surface;

/// Pixels at the border of a mask whose depth may be that of what lies behind.
const BORDER_PIXELS: u32 = 2;
/// The fewest points that a thing can be measured from.
const POINTS_MIN: usize = 25;
/// What of a mask lies farther than this from its median depth is no part of the thing, in metres.
const DEPTH_REACH_M: f32 = 0.35;
/// The fingers end at least this far above the support, in metres.
const ABOVE_SUPPORT_M: f32 = 0.01;
/// The thing must be this much narrower than the opening, in metres.
const OPENING_SPARE_M: f32 = 0.01;
/// Half of what a finger measures across the closing direction, in metres.
const FINGER_HALF_M: f32 = 0.012;
/// Room between the thing and a finger that does not count, since depth cannot tell it from the thing, in metres.
const NEAR_THING_M: f32 = 0.006;
/// The fewest points in a finger's room that make it taken.
const TAKEN_MIN: usize = 3;
/// Turns of the gripper that are tried from the best one, in degrees.
const TURNS_DEG: [f32; 7] = [0.0, 15.0, -15.0, 30.0, -30.0, 45.0, -45.0];
/// More turns, for round things, in degrees.
const TURNS_ROUND_DEG: [f32; 5] = [60.0, -60.0, 75.0, -75.0, 90.0];
/// Height over width of things that can be taken from the side.
const TALL: f32 = 1.5;
/// Where a thing is taken from the side, as a share of its height.
const SIDE_HEIGHT: f32 = 0.6;

/// What a gripper can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gripper {
    /// Distance of the open fingers, in metres.
    pub opening_m: f64,
    /// How far the fingers reach over a thing, in metres.
    pub finger_depth_m: f64,
    /// Thickness of a finger along the closing direction, in metres.
    pub finger_thickness_m: f64,
}

impl Default for Gripper {
    fn default() -> Self {
        Self { opening_m: 0.10, finger_depth_m: 0.04, finger_thickness_m: 0.012 }
    }
}

/// From where the fingers come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approach {
    /// Straight down.
    Top,
    /// Level, along the ray from the robot.
    Side,
}

/// A way to take a thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The tip frame in the level frame: `x` is the approach, `y` the closing direction.
    pub tip: Pose,
    /// Width of the thing along the closing direction, in metres.
    pub width_m: f64,
    /// From where the fingers come.
    pub approach: Approach,
}

/// A thing as it is measured from its mask and depth. What the camera does not see of it is taken from the shape that fits
/// best: a circle, a sphere or a rectangle; the seen points alone would make round things too narrow.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The shape and its measures, in the level frame.
    pub fit: ShapeFit,
    /// Height of the support below it.
    pub ground: f32,
    /// The direction of its longer side; any, when it is round.
    pub along: Vec2,
    /// The level frame from the camera's, and whether it is `map`.
    pub level_from_camera: Pose,
    /// Whether the level frame is `map`.
    pub localised: bool,
    eye: Vec3,
    own: Vec<Vec3>,
    around: Vec<Vec3>,
}

/// Why a thing cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasureError {
    /// The picture lacks something.
    #[error(transparent)]
    View(#[from] ViewError),
    /// Too little of the thing was measured by depth.
    #[error("depth shows too little of it ({points} points)")]
    TooFewPoints {
        /// How many points there are.
        points: usize,
    },
}

/// Why nothing can be taken so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GraspError {
    /// Wider than the fingers open.
    #[error("it is {:.1} cm wide and the fingers take at most {:.1} cm", .width_m * 100.0, .most_m * 100.0)]
    TooWide {
        /// Its least width.
        width_m: f64,
        /// What the gripper takes.
        most_m: f64,
    },
    /// Lower than the fingers can close on.
    #[error("it is {:.1} cm high, too low for the fingers", .height_m * 100.0)]
    TooLow {
        /// Its height.
        height_m: f64,
    },
    /// Something stands where the fingers would go.
    #[error("something stands where the fingers would go, however they are turned")]
    NoRoom,
}

impl Measured {
    /// Measures what the mask shows.
    pub fn of(frame: &Frame, mask: &Mask) -> Result<Self, MeasureError> {
        let scene = Analyser::default().analyse(frame)?;
        let (Some(depth), Some(_)) = (frame.depth.as_deref(), frame.intrinsics) else {
            return Err(ViewError::NoDepth.into());
        };
        let mut surface = Surface::default();
        surface.smooth(depth);
        surface.measure(&scene.camera);
        let pixels = inner_pixels(mask, scene.camera.width, &surface.depth);
        let middle_depth = median_depth(&pixels, &surface.depth);
        let mut points = Vec::with_capacity(pixels.len());
        let mut normals = Vec::with_capacity(pixels.len());
        for &pixel in &pixels {
            let at = pixel as usize;
            if (surface.depth[at] - middle_depth).abs() < DEPTH_REACH_M {
                points.push(point_at(&scene.camera, &surface, at));
                normals.push(surface.normals[surface.cell_of(at, scene.camera.width)]);
            }
        }
        if points.len() < POINTS_MIN {
            return Err(MeasureError::TooFewPoints { points: points.len() });
        }
        let ground = ground_below(&scene, &points);
        let above = ground + clearance(middle_depth);
        let kept: Vec<usize> = (0..points.len()).filter(|&at| points[at].z > above).collect();
        if kept.len() < POINTS_MIN {
            return Err(MeasureError::TooFewPoints { points: kept.len() });
        }
        let points: Vec<Vec3> = kept.iter().map(|&at| points[at]).collect();
        let normals: Vec<Vec3> = kept.iter().map(|&at| normals[at]).collect();
        let eye = scene.camera.position();
        let noise = depth_sigma(middle_depth) / 3.0;
        let seen = Seen { points: &points, normals: &normals, ground, eye, noise };
        let mut fit = fit(&seen);
        let along = if is_round(fit.shape) {
            (fit.centre - eye).truncate().normalize_or(Vec2::X)
        } else {
            let along = long_side(&seen);
            // The border of the mask was left out on both sides.
            let border = BORDER_PIXELS as f32 * middle_depth / scene.camera.focal();
            fit.length += border;
            fit.width += border;
            along
        };
        let around = surroundings(&scene, &surface, mask, &fit, above);
        let (level_from_camera, localised) = (scene.level_from_camera(), scene.localised);
        Ok(Self { fit, ground, along, level_from_camera, localised, eye, own: points, around })
    }

    /// Ways to take it, best first: from above across its shorter side, turned where something stands in the way; then, for
    /// what is tall, from the side. Never empty.
    pub fn grasps(&self, gripper: &Gripper) -> Result<Vec<Candidate>, GraspError> {
        let most = gripper.opening_m as f32 - OPENING_SPARE_M;
        if self.fit.width > most {
            return Err(GraspError::TooWide { width_m: f64::from(self.fit.width), most_m: f64::from(most) });
        }
        if self.fit.height < ABOVE_SUPPORT_M {
            return Err(GraspError::TooLow { height_m: f64::from(self.fit.height) });
        }
        let mut found = self.top_grasps(gripper, most);
        found.extend(self.side_grasp(gripper));
        if found.is_empty() { Err(GraspError::NoRoom) } else { Ok(found) }
    }

    fn top_grasps(&self, gripper: &Gripper, most: f32) -> Vec<Candidate> {
        let top = self.ground + self.fit.height;
        let reach = gripper.finger_depth_m as f32;
        let low = if self.fit.shape == Shape::Ball { self.fit.centre.z.min(top - reach) } else { top - reach };
        let z = low.max(self.ground + ABOVE_SUPPORT_M);
        let round = is_round(self.fit.shape);
        let closing = self.along.perp();
        let more: &[f32] = if round { &TURNS_ROUND_DEG } else { &[] };
        let mut found = Vec::new();
        for turn in TURNS_DEG.iter().chain(more) {
            let closing = Vec2::from_angle(turn.to_radians()).rotate(closing);
            let width = if round { self.fit.width } else { self.width_along(closing) };
            if width > most || !self.has_room(gripper, closing, width, z) {
                continue;
            }
            let tip = tip_pose(self.fit.centre.truncate().extend(z), DVec3::NEG_Z, closing.extend(0.0).as_dvec3());
            found.push(Candidate { tip, width_m: f64::from(width), approach: Approach::Top });
        }
        // The long side of a thing that is nearly square.
        if !round && self.fit.length <= most && self.has_room(gripper, self.along, self.fit.length, z) {
            let closing = self.along.extend(0.0).as_dvec3();
            let tip = tip_pose(self.fit.centre.truncate().extend(z), DVec3::NEG_Z, closing);
            found.push(Candidate { tip, width_m: f64::from(self.fit.length), approach: Approach::Top });
        }
        found
    }

    fn side_grasp(&self, gripper: &Gripper) -> Option<Candidate> {
        let tall = self.fit.height > TALL * self.fit.width;
        let ray = (self.fit.centre - self.eye).truncate().try_normalize()?;
        if !tall {
            return None;
        }
        let closing = ray.perp();
        let width = if is_round(self.fit.shape) { self.fit.width } else { self.width_along(closing) };
        let spare = gripper.opening_m as f32 - OPENING_SPARE_M;
        let z = self.ground + self.fit.height * SIDE_HEIGHT;
        let blocked = self.around.iter().filter(|point| {
            let local = point.truncate() - self.fit.centre.truncate();
            let ahead = local.dot(ray);
            let aside = local.dot(closing).abs();
            let level = (point.z - z).abs() < 0.03;
            level && (-0.2..0.02).contains(&ahead) && aside < gripper.opening_m as f32 / 2.0 + 0.02
        });
        if width > spare || blocked.count() >= TAKEN_MIN {
            return None;
        }
        let centre = self.fit.centre.truncate().extend(z);
        let tip = tip_pose(centre, ray.extend(0.0).as_dvec3(), closing.extend(0.0).as_dvec3());
        Some(Candidate { tip, width_m: f64::from(width), approach: Approach::Side })
    }

    /// What a rectangle measures along a direction.
    fn width_along(&self, direction: Vec2) -> f32 {
        let cos = direction.dot(self.along.perp()).abs();
        if cos > 0.999 {
            return self.fit.width;
        }
        // Fingers that are turned touch two corners.
        self.fit.width * cos + self.fit.length * direction.dot(self.along).abs()
    }

    fn has_room(&self, gripper: &Gripper, closing: Vec2, width: f32, z: f32) -> bool {
        let outer = gripper.opening_m as f32 / 2.0 + gripper.finger_thickness_m as f32;
        let centre = self.fit.centre.truncate();
        let taken = |point: &&Vec3| {
            let local = point.truncate() - centre;
            let (aside, across) = (local.dot(closing).abs(), local.perp_dot(closing).abs());
            point.z > z - 0.005 && across < FINGER_HALF_M && aside > width / 2.0 + NEAR_THING_M && aside < outer
        };
        self.around.iter().chain(&self.own).filter(taken).count() < TAKEN_MIN
    }
}

fn tip_pose(at: Vec3, approach: DVec3, closing: DVec3) -> Pose {
    let closing = (closing - approach * closing.dot(approach)).normalize();
    let axes = DMat3::from_cols(approach, closing, approach.cross(closing));
    Pose::new(at.as_dvec3(), DQuat::from_mat3(&axes))
}

const fn is_round(shape: Shape) -> bool {
    matches!(shape, Shape::Ball | Shape::Can | Shape::Bottle | Shape::Mug)
}

/// The direction of the longer side: that of the side faces where they are seen and square, else of the least rectangle.
fn long_side(seen: &Seen<'_>) -> Vec2 {
    let places: Vec<Vec2> = seen.points.iter().map(|point| point.truncate()).collect();
    let hull = Hull::around(&places);
    let sides: Vec<usize> =
        (0..seen.points.len()).filter(|&i| seen.normals[i] != Vec3::ZERO && seen.normals[i].z.abs() < 0.6).collect();
    let (agreement, turn) = squareness(seen, &sides);
    if sides.len() >= 8 && sides.len() * 6 > seen.points.len() && agreement > 0.5 {
        return hull.rectangle_along(Vec2::from_angle(turn)).along;
    }
    hull.rectangle().along
}

fn inner_pixels(mask: &Mask, width: usize, depth: &[f32]) -> Vec<u32> {
    let bounds = mask.bounds;
    let at = |x: u32, y: u32| y as usize * width + x as usize;
    let all = |border: u32| -> Vec<u32> {
        let mut pixels = Vec::new();
        for y in bounds.y..bounds.y + bounds.height {
            for x in bounds.x..bounds.x + bounds.width {
                let inside = mask.contains(x, y)
                    && mask.contains(x + border, y)
                    && mask.contains(x, y + border)
                    && x.checked_sub(border).is_some_and(|x| mask.contains(x, y))
                    && y.checked_sub(border).is_some_and(|y| mask.contains(x, y));
                if inside && (x as usize) < width && depth.get(at(x, y)).is_some_and(|&depth| depth > 0.0) {
                    pixels.push(at(x, y) as u32);
                }
            }
        }
        pixels
    };
    let inner = all(BORDER_PIXELS);
    let pixels = if inner.len() < POINTS_MIN { all(0) } else { inner };
    let stride = (pixels.len() / 1_500).max(1);
    pixels.into_iter().step_by(stride).collect()
}

fn point_at(camera: &Camera, surface: &Surface, pixel: usize) -> Vec3 {
    camera.point(pixel % camera.width, pixel / camera.width, surface.depth[pixel])
}

/// The height of the highest support that reaches below it, else that of its lowest points.
fn ground_below(scene: &Scene, points: &[Vec3]) -> f32 {
    let mut heights: Vec<f32> = points.iter().map(|point| point.z).collect();
    heights.sort_by(f32::total_cmp);
    let lowest = heights[heights.len() / 50];
    let middle = points.iter().map(|point| point.truncate()).sum::<Vec2>() / points.len() as f32;
    let below = scene
        .supports
        .iter()
        .filter(|support| support.covers(middle))
        .map(|support| support.height_at(middle))
        .filter(|height| *height < lowest + 0.03)
        .max_by(f32::total_cmp);
    below.filter(|height| lowest - height < 0.12).unwrap_or(lowest)
}

/// Points near the thing that are neither its own nor of the support.
fn surroundings(scene: &Scene, surface: &Surface, mask: &Mask, fit: &ShapeFit, above: f32) -> Vec<Vec3> {
    let width = scene.camera.width;
    let reach = fit.length / 2.0 + 0.25;
    let mut points = Vec::new();
    for cell in 0..surface.points.len() {
        let point = surface.points[cell];
        if surface.cell_depth[cell] <= 0.0
            || point.z < above + 0.01
            || point.truncate().distance(fit.centre.truncate()) > reach
        {
            continue;
        }
        let pixel = surface.pixel_of(cell, width);
        let (x, y) = ((pixel % width) as u32, (pixel / width) as u32);
        let near = [(0, 0), (2, 0), (0, 2)]
            .into_iter()
            .any(|(dx, dy)| mask.contains(x + dx, y + dy) || mask.contains(x.saturating_sub(dx), y.saturating_sub(dy)));
        if !near {
            points.push(point);
        }
    }
    points
}
