use glam::{Mat3, Vec3};

use super::{Camera, Part};

/// Which parts can be seen in which tile of the picture, nearest first.
pub(super) struct Culled {
    tile: usize,
    columns: usize,
    lists: Vec<Vec<Candidate>>,
}

/// A part that a tile may show.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) part: u16,
    /// No point of it is nearer than this along the optical axis.
    pub(super) nearest: f32,
    /// The pixels it may cover: left, top, right, bottom, the last two exclusive.
    pub(super) pixels: [f32; 4],
}

/// Nothing nearer than this is drawn.
const NEAR_PLANE: f32 = 0.02;

impl Culled {
    pub(super) fn new(parts: &[Part], camera: &Camera, tile: usize) -> Self {
        let width = camera.intrinsics.width as usize;
        let height = camera.intrinsics.height as usize;
        let (columns, rows) = (width.div_ceil(tile), height.div_ceil(tile));
        let mut lists = vec![Vec::new(); columns * rows];
        let camera_from_map = Mat3::from_quat(camera.map_from_camera.rotation.as_quat()).transpose();
        let eye = camera.map_from_camera.translation.as_vec3();
        for (index, part) in parts.iter().enumerate() {
            let centre = camera_from_map * (part.position - eye);
            let axes = camera_from_map * part.rotation;
            let Some(seen) = project(centre, axes, part.shape.half_extent(), camera) else { continue };
            let [left, top, right, bottom] = seen.pixels;
            if right <= 0.0 || bottom <= 0.0 || left >= width as f32 || top >= height as f32 {
                continue;
            }
            let first = |low: f32| (low.max(0.0) as usize) / tile;
            let last = |high: f32, count: usize| ((high.max(0.0) as usize) / tile).min(count - 1);
            for row in first(top)..=last(bottom, rows) {
                for column in first(left)..=last(right, columns) {
                    lists[row * columns + column].push(Candidate { part: index as u16, ..seen });
                }
            }
        }
        for list in &mut lists {
            list.sort_by(|a, b| a.nearest.total_cmp(&b.nearest).then(a.part.cmp(&b.part)));
        }
        Self { tile, columns, lists }
    }

    /// The candidates of the tile that holds the pixel.
    #[inline]
    pub(super) fn at(&self, x: usize, y: usize) -> &[Candidate] {
        &self.lists[y / self.tile * self.columns + x / self.tile]
    }
}

/// The pixels that a box in the camera's frame may cover.
fn project(centre: Vec3, axes: Mat3, half: Vec3, camera: &Camera) -> Option<Candidate> {
    let corner = |index: usize| {
        let sign = |bit: usize| if index & bit == 0 { -1.0 } else { 1.0 };
        centre + axes * (half * Vec3::new(sign(1), sign(2), sign(4)))
    };
    let corners: [Vec3; 8] = std::array::from_fn(corner);
    let nearest = corners.iter().map(|c| c.z).fold(f32::INFINITY, f32::min);
    let k = &camera.intrinsics;
    let mut pixels = [f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY];
    let mut add = |point: Vec3| {
        let u = k.fx as f32 * point.x / point.z + k.cx as f32;
        let v = k.fy as f32 * point.y / point.z + k.cy as f32;
        pixels = [pixels[0].min(u), pixels[1].min(v), pixels[2].max(u), pixels[3].max(v)];
    };
    for (index, &a) in corners.iter().enumerate() {
        if a.z >= NEAR_PLANE {
            add(a);
        }
        for bit in [1, 2, 4] {
            let b = corners[index ^ bit];
            // The edges that pass through the near plane, each once.
            if index & bit == 0 && (a.z < NEAR_PLANE) != (b.z < NEAR_PLANE) {
                add(a.lerp(b, (NEAR_PLANE - a.z) / (b.z - a.z)).with_z(NEAR_PLANE));
            }
        }
    }
    let [left, top, right, bottom] = pixels;
    (left <= right).then_some(Candidate {
        part: 0,
        nearest: nearest.max(NEAR_PLANE),
        pixels: [left - 0.5, top - 0.5, right + 0.5, bottom + 0.5],
    })
}
