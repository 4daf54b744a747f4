use glam::{Mat3, Vec3};

use super::cull::Culled;
use super::light::{self, Shadows, TO_LIGHT};
use super::near::Near;
use super::shape::Hit;
use super::{Camera, Looks, Part};

/// What one ray saw.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// Linear light.
    pub(super) colour: Vec3,
    pub(super) depth: f32,
    pub(super) instance: u16,
    pub(super) facing: u8,
    /// Differs between parts, and between faces of a part.
    pub(super) surface: u16,
}

pub(super) struct Tracer<'a> {
    parts: &'a [Part],
    ready: Vec<Ready>,
    shadows: &'a Shadows,
    culled: &'a Culled,
    looks: Looks,
    /// Only stills look at the neighbourhood.
    near: Option<Near>,
    eye: Vec3,
    map_from_camera: Mat3,
    per_focal: [f32; 2],
    centre: [f32; 2],
}

/// What is the same for all rays from the eye or toward the lamp.
struct Ready {
    part_from_camera: Mat3,
    part_from_map: Mat3,
    eye: Vec3,
    to_light: Vec3,
}

const SHADOW_RAYS: u32 = 12;
const CORNER_RAYS: u32 = 10;
/// How far a surface darkens its neighbour.
const CORNER_M: f32 = 0.35;
/// So many parts darken a place, at most.
const NEIGHBOURS: usize = 40;

impl<'a> Tracer<'a> {
    pub(super) fn new(
        parts: &'a [Part],
        camera: &Camera,
        looks: Looks,
        shadows: &'a Shadows,
        culled: &'a Culled,
    ) -> Self {
        let map_from_camera = Mat3::from_quat(camera.map_from_camera.rotation.as_quat());
        let eye = camera.map_from_camera.translation.as_vec3();
        let ready = |part: &Part| {
            let part_from_map = part.rotation.transpose();
            Ready {
                part_from_camera: part_from_map * map_from_camera,
                part_from_map,
                eye: part_from_map * (eye - part.position),
                to_light: part_from_map * TO_LIGHT,
            }
        };
        let k = &camera.intrinsics;
        Self {
            parts,
            ready: parts.iter().map(ready).collect(),
            shadows,
            culled,
            looks,
            near: (looks == Looks::Still).then(|| Near::new(parts, CORNER_M)),
            eye,
            map_from_camera,
            per_focal: [(1.0 / k.fx) as f32, (1.0 / k.fy) as f32],
            centre: [k.cx as f32, k.cy as f32],
        }
    }

    /// Looks through a place in the pixel; `offset` 0.5, 0.5 is its middle.
    #[inline]
    pub(super) fn trace(&self, x: usize, y: usize, offset: [f32; 2]) -> Sample {
        let (u, v) = (x as f32 + offset[0], y as f32 + offset[1]);
        // The direction's `z` is 1, so multiples of it are depths.
        let direction =
            Vec3::new((u - self.centre[0]) * self.per_focal[0], (v - self.centre[1]) * self.per_focal[1], 1.0);
        let mut best: Option<(usize, Hit)> = None;
        let mut limit = 1e3_f32;
        for candidate in self.culled.at(x, y) {
            if candidate.nearest > limit {
                break;
            }
            let [left, top, right, bottom] = candidate.pixels;
            if u < left || u > right || v < top || v > bottom {
                continue;
            }
            let index = candidate.part as usize;
            let ready = &self.ready[index];
            if let Some(hit) = self.parts[index].shape.enter(ready.eye, ready.part_from_camera * direction, limit) {
                limit = hit.t;
                best = Some((index, hit));
            }
        }
        let Some((index, hit)) = best else { return Sample::NOTHING };
        self.shade(index, &hit, direction, [x as u32, y as u32])
    }

    fn shade(&self, index: usize, hit: &Hit, direction: Vec3, pixel: [u32; 2]) -> Sample {
        let part = &self.parts[index];
        let ready = &self.ready[index];
        let ray = self.map_from_camera * direction;
        let place = self.eye + ray * hit.t;
        let in_part = ready.eye + ready.part_from_camera * direction * hit.t;
        let toward_eye = -ray.normalize();
        let mut normal = part.rotation * hit.normal;
        let facing = normal.dot(toward_eye);
        if facing < 0.0 {
            normal = (normal - toward_eye * facing).normalize();
        }
        let facing = facing.clamp(0.0, 1.0);
        let footprint = hit.t * self.per_focal[0] / facing.max(0.15).sqrt();
        let base = part.material.colour(in_part, hit.normal, footprint);
        let colour = if part.material.glows { base } else { self.lit(index, place, normal, toward_eye, base, pixel) };
        let steep = hit.normal.abs();
        let face = u16::from(steep.x > 0.6) + 2 * u16::from(steep.y > 0.6);
        Sample {
            colour,
            depth: hit.t,
            instance: part.instance,
            facing: (facing * 255.0) as u8,
            surface: index as u16 * 4 + face,
        }
    }

    fn lit(&self, index: usize, place: Vec3, normal: Vec3, toward_eye: Vec3, base: Vec3, pixel: [u32; 2]) -> Vec3 {
        let gloss = self.parts[index].material.gloss;
        let upward = normal.z * 0.5 + 0.5;
        let mut ambient = light::FROM_BELOW.lerp(light::FROM_ABOVE, upward);
        ambient *= 0.86 + 0.14 * normal.dot(toward_eye).max(0.0);
        // Rooms are darker near the floor and under things.
        ambient *= 0.82 + 0.18 * (place.z * 1.6).clamp(0.0, 1.0);
        let toward_lamp = normal.dot(TO_LIGHT);
        let visible = if toward_lamp > 0.0 { self.lamp_visible(index, place, normal, pixel) } else { 0.0 };
        if self.looks == Looks::Still {
            ambient *= self.openness(index, place, normal, pixel);
        }
        let halfway = (TO_LIGHT + toward_eye).normalize();
        let shine = normal.dot(halfway).max(0.0);
        let shine = shine * shine;
        let shine = shine * shine * shine * shine;
        let shine = shine * shine * shine * shine * shine;
        let rim = (1.0 - normal.dot(toward_eye).clamp(0.0, 1.0)).powi(4) * gloss * 0.25;
        base * (ambient + light::LAMP * (toward_lamp.max(0.0) * visible))
            + light::LAMP * (shine * gloss * 0.9 * visible)
            + light::FROM_ABOVE * rim
    }

    /// The share of the lamp that the place sees, 0 to 1.
    fn lamp_visible(&self, index: usize, place: Vec3, normal: Vec3, pixel: [u32; 2]) -> f32 {
        let under = self.shadows.over(place);
        let start = place + normal * light::LIFT_M;
        let blocked = |to_light: Option<Vec3>| {
            under.casters().any(|caster| {
                let other = caster.part as usize;
                if other == index && self.parts[index].shape.is_convex() {
                    return false;
                }
                let ready = &self.ready[other];
                let origin = ready.part_from_map * (start - self.parts[other].position);
                let direction = to_light.map_or(ready.to_light, |d| ready.part_from_map * d);
                self.parts[other].shape.blocks(origin, direction)
            })
        };
        match self.looks {
            Looks::Live => f32::from(!blocked(None)),
            Looks::Still if under.casters().next().is_none() => 1.0,
            Looks::Still => {
                let turn = scatter(pixel, 1);
                let seen = (0..SHADOW_RAYS).filter(|&ray| {
                    let angle = (turn + ray as f32 * 0.618_034).fract();
                    let radius = (ray as f32 + scatter(pixel, 7 + ray)) / SHADOW_RAYS as f32;
                    !blocked(Some(self.shadows.toward(angle, radius)))
                });
                seen.count() as f32 / SHADOW_RAYS as f32
            }
        }
    }

    /// How little of the surroundings is near, 0 to 1: corners and the ground under things are darker.
    fn openness(&self, index: usize, place: Vec3, normal: Vec3, pixel: [u32; 2]) -> f32 {
        let start = place + normal * 2e-3;
        let is_near = |other: usize| {
            let part = &self.parts[other];
            let local = self.ready[other].part_from_map * (start - part.position);
            let outside = (local.abs() - part.shape.half_extent()).max(Vec3::ZERO);
            !(other == index && part.shape.is_convex()) && outside.length_squared() < CORNER_M * CORNER_M
        };
        let mut near = [0_usize; NEIGHBOURS];
        let mut count = 0;
        for other in self.near.iter().flat_map(|near| near.at(start)).map(|&other| other as usize) {
            if count < NEIGHBOURS && is_near(other) {
                near[count] = other;
                count += 1;
            }
        }
        if count == 0 {
            return 1.0;
        }
        let near = &near[..count];
        let side = normal.any_orthonormal_vector();
        let other_side = normal.cross(side);
        let turn = scatter(pixel, 3);
        let mut dark = 0.0;
        for ray in 0..CORNER_RAYS {
            let (sin, cos) = ((turn + ray as f32 * 0.618_034).fract() * std::f32::consts::TAU).sin_cos();
            let spread = (ray as f32 + scatter(pixel, 31 + ray)) / CORNER_RAYS as f32;
            let flat = spread.sqrt();
            let direction = (side * cos + other_side * sin) * flat + normal * (1.0 - spread).max(0.0).sqrt();
            let reached = near.iter().filter_map(|&other| {
                let ready = &self.ready[other];
                let origin = ready.part_from_map * (start - self.parts[other].position);
                self.parts[other].shape.enter(origin, ready.part_from_map * direction, CORNER_M)
            });
            let nearest = reached.map(|hit| hit.t).fold(CORNER_M, f32::min);
            let closeness = 1.0 - nearest / CORNER_M;
            dark += closeness * closeness;
        }
        1.0 - 0.75 * dark / CORNER_RAYS as f32
    }
}

/// A number in 0 to 1 for a pixel, the same in each picture.
fn scatter(pixel: [u32; 2], salt: u32) -> f32 {
    let mut h =
        pixel[0].wrapping_mul(0x9E37_79B1) ^ pixel[1].wrapping_mul(0x85EB_CA77) ^ salt.wrapping_mul(0xC2B2_AE3D);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    ((h ^ (h >> 15)) >> 8) as f32 / 16_777_216.0
}
