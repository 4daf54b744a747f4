//! Draws solids by following rays: colour, metric depth and instance numbers in one pass, on the CPU.
//!
//! Knows nothing of rooms, robots or time: it gets parts and a camera. Equal input gives equal bytes, whatever the number
//! of threads.

/// How surfaces look.
pub mod material;
/// Solids, and where rays enter them.
pub mod shape;
/// Patterns of brightness that are baked once.
pub mod texture;

mod cull;
mod light;
mod near;
mod trace;

use cerebellum_core::{Intrinsics, Pose};
use glam::{Mat3, Quat, Vec3};
use rayon::prelude::*;

pub use material::{Material, Pattern};
pub use shape::Shape;

use cull::Culled;
use light::Shadows;
use trace::{Sample, Tracer};

/// A solid somewhere in `map`.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub shape: Shape,
    pub position: Vec3,
    pub rotation: Mat3,
    pub material: Material,
    /// The thing it belongs to; 0 is background.
    pub instance: u16,
    /// Whether it keeps light from others. Walls do not: the light is thought to come from inside the room.
    pub casts_shadow: bool,
}

impl Part {
    /// A part of the background that stands upright at `position` and casts a shadow.
    pub fn new(shape: Shape, position: Vec3, material: Material) -> Self {
        Self { shape, position, rotation: Mat3::IDENTITY, material, instance: 0, casts_shadow: true }
    }

    /// Turned about its own centre.
    #[must_use]
    pub fn turned(self, rotation: Quat) -> Self {
        Self { rotation: Mat3::from_quat(rotation) * self.rotation, ..self }
    }

    /// The same part in the parent frame of `frame`.
    #[must_use]
    pub fn placed(self, frame: &Pose) -> Self {
        let rotation = Mat3::from_quat(frame.rotation.as_quat());
        Self {
            position: rotation * self.position + frame.translation.as_vec3(),
            rotation: rotation * self.rotation,
            ..self
        }
    }

    #[must_use]
    pub fn belonging_to(self, instance: u16) -> Self {
        Self { instance, ..self }
    }

    #[must_use]
    pub fn without_shadow(self) -> Self {
        Self { casts_shadow: false, ..self }
    }
}

/// A pinhole camera in `map`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    pub intrinsics: Intrinsics,
    /// Of the optical frame.
    pub map_from_camera: Pose,
}

/// How much light is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// Hard shadows, smooth edges: for pictures that are taken all the time.
    Live,
    /// Soft shadows, shaded corners and finer edges: for pictures that people look at.
    Still,
}

/// A rendering without the flaws of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendering {
    pub width: u32,
    pub height: u32,
    /// Three bytes a pixel.
    pub rgb: Vec<u8>,
    /// Metres along the optical axis; 0 where nothing is.
    pub depth: Vec<f32>,
    pub ids: Vec<u16>,
    /// How squarely each surface is seen: 255 straight on, 0 edge on.
    pub facing: Vec<u8>,
}

const BAND: usize = 16;

/// Draws `parts` as `camera` sees them, on the threads of `pool`.
pub fn render(parts: &[Part], camera: &Camera, looks: Looks, pool: &rayon::ThreadPool) -> Rendering {
    let (width, height) = (camera.intrinsics.width as usize, camera.intrinsics.height as usize);
    let mut picture = Rendering {
        width: camera.intrinsics.width,
        height: camera.intrinsics.height,
        rgb: vec![0; width * height * 3],
        depth: vec![0.0; width * height],
        ids: vec![0; width * height],
        facing: vec![0; width * height],
    };
    if width == 0 || height == 0 {
        return picture;
    }
    let shadows = Shadows::new(parts, looks);
    let culled = Culled::new(parts, camera, BAND);
    let tracer = Tracer::new(parts, camera, looks, &shadows, &culled);
    let mut surfaces = vec![0_u16; width * height];
    pool.install(|| {
        let rgb = picture.rgb.par_chunks_mut(BAND * width * 3);
        let depth = picture.depth.par_chunks_mut(BAND * width);
        let ids = picture.ids.par_chunks_mut(BAND * width);
        let facing = picture.facing.par_chunks_mut(BAND * width);
        let surfaces = surfaces.par_chunks_mut(BAND * width);
        rgb.zip(depth).zip(ids).zip(facing).zip(surfaces).enumerate().for_each(
            |(band, ((((rgb, depth), ids), facing), surfaces))| {
                for row in 0..depth.len() / width {
                    for x in 0..width {
                        let sample = tracer.trace(x, band * BAND + row, [0.5, 0.5]);
                        let at = row * width + x;
                        rgb[at * 3..at * 3 + 3].copy_from_slice(&light::to_srgb(sample.colour));
                        depth[at] = sample.depth;
                        ids[at] = sample.instance;
                        facing[at] = sample.facing;
                        surfaces[at] = sample.surface;
                    }
                }
            },
        );
    });
    smooth_edges(&mut picture, &surfaces, &tracer, looks, pool);
    picture
}

/// Looks again, several times, where neighbours differ.
fn smooth_edges(picture: &mut Rendering, surfaces: &[u16], tracer: &Tracer, looks: Looks, pool: &rayon::ThreadPool) {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let first = picture.rgb.clone();
    // An edge between parts needs little contrast to be looked at again, one inside a part more.
    let (offsets, between, within): (&[[f32; 2]], i32, i32) = match looks {
        // The middle was looked at already, and counts as the third.
        Looks::Live => (&[[0.15, 0.3], [0.85, 0.7]], 40, 150),
        Looks::Still => (&STILL_OFFSETS, 0, 18),
    };
    let differs = |at: usize, other: usize| {
        let (a, b) = (&first[at * 3..at * 3 + 3], &first[other * 3..other * 3 + 3]);
        let contrast: i32 = a.iter().zip(b).map(|(a, b)| (i32::from(*a) - i32::from(*b)).abs()).sum();
        contrast > if surfaces[at] == surfaces[other] { within } else { between }
    };
    pool.install(|| {
        picture.rgb.par_chunks_mut(BAND * width * 3).enumerate().for_each(|(band, rgb)| {
            for row in 0..rgb.len() / (width * 3) {
                let y = band * BAND + row;
                for x in 0..width {
                    let at = y * width + x;
                    let is_edge = (x > 0 && differs(at, at - 1))
                        || (x + 1 < width && differs(at, at + 1))
                        || (y > 0 && differs(at, at - width))
                        || (y + 1 < height && differs(at, at + width));
                    if !is_edge {
                        continue;
                    }
                    let mut sum: Vec3 =
                        offsets.iter().map(|&offset| light::shown(tracer.trace(x, y, offset).colour)).sum();
                    let mut looks_taken = offsets.len();
                    if looks == Looks::Live {
                        sum += light::shown_of_srgb(&first[at * 3..at * 3 + 3]);
                        looks_taken += 1;
                    }
                    let pixel = light::shown_to_srgb(sum / looks_taken as f32);
                    rgb[(row * width + x) * 3..][..3].copy_from_slice(&pixel);
                }
            }
        });
    });
}

const STILL_OFFSETS: [[f32; 2]; 8] = [
    [0.0625, 0.4375],
    [0.1875, 0.8125],
    [0.3125, 0.1875],
    [0.4375, 0.6875],
    [0.5625, 0.3125],
    [0.6875, 0.9375],
    [0.8125, 0.5625],
    [0.9375, 0.0625],
];

impl Sample {
    const NOTHING: Self = Self { colour: Vec3::splat(0.6), depth: 0.0, instance: 0, facing: 0, surface: u16::MAX };
}

#[cfg(test)]
mod tests;
