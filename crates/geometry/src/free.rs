use cerebellum_core::{Mask, PixelBox};
use glam::{Vec2, Vec3};

use crate::camera::Camera;
use crate::classes::{UNSEEN, on_plane};
use crate::plane::Support;

/// A free part of a support, large enough for something of the asked size.
#[derive(Clone, Debug)]
pub struct FreeRegion {
    /// The support it is on, as an index into the scene's supports.
    pub support: usize,
    /// The place with most room around it, on the support, in the level frame.
    pub place: Vec3,
    /// The distance from there to the nearest thing, edge or unseen spot, in metres.
    pub clearance: f32,
    /// Its pixels.
    pub mask: Mask,
    /// Its area, in square metres.
    pub area: f32,
}

/// The most regions of one support, and of a scene.
pub(crate) const REGIONS_MAX: usize = 8;
const CELL_M: f32 = 0.01;
const CELLS_MAX: usize = 250_000;
const DIAGONAL: f32 = std::f32::consts::SQRT_2;

/// The regions of a support where a disc of that radius finds room: each is the free disc around its own place, largest
/// first, and no two places share their room. What the camera does not see counts as taken.
pub(crate) fn free_regions(
    camera: &Camera,
    classes: &[u8],
    supports: &[Support],
    index: usize,
    radius: f32,
) -> Vec<FreeRegion> {
    let support = &supports[index];
    let Some((grid, free, clearance)) = room(camera, classes, supports, index) else { return Vec::new() };
    let mut left: Vec<usize> = (0..grid.len()).filter(|&at| clearance[at] >= radius).collect();
    let mut regions = Vec::new();
    while regions.len() < REGIONS_MAX {
        let widest = left.iter().copied().max_by(|&a, &b| clearance[a].total_cmp(&clearance[b]).then(b.cmp(&a)));
        let Some(best) = widest else { break };
        let (place, reach) = (grid.place(best), clearance[best]);
        left.retain(|&at| grid.place(at).distance(place) >= reach + radius);
        let cells: Vec<bool> = (0..grid.len()).map(|at| free[at] && grid.place(at).distance(place) <= reach).collect();
        let Some(mask) = mask_of(camera, classes, support, &grid, &cells, on_plane(index)) else { continue };
        regions.push(FreeRegion {
            support: index,
            place: place.extend(support.height_at(place)),
            clearance: reach,
            mask,
            area: cells.iter().filter(|&&inside| inside).count() as f32 * CELL_M * CELL_M,
        });
    }
    regions
}

/// The place on a support that has room for a disc of that radius: room counts up to twice the radius, then nearness to
/// `near`. Answers the place and the room around it.
pub(crate) fn free_place(
    camera: &Camera,
    classes: &[u8],
    supports: &[Support],
    index: usize,
    radius: f32,
    near: Vec2,
) -> Option<(Vec3, f32)> {
    let (grid, _, clearance) = room(camera, classes, supports, index)?;
    let worth = |at: usize| clearance[at].min(2.0 * radius) - 0.3 * grid.place(at).distance(near);
    let best = (0..grid.len())
        .filter(|&at| clearance[at] >= radius)
        .max_by(|&a, &b| worth(a).total_cmp(&worth(b)).then(b.cmp(&a)))?;
    let place = grid.place(best);
    Some((place.extend(supports[index].height_at(place)), clearance[best]))
}

/// The raster of a support, which of its cells are free, and the distance of each to the nearest that is not.
fn room(camera: &Camera, classes: &[u8], supports: &[Support], index: usize) -> Option<(Grid, Vec<bool>, Vec<f32>)> {
    let support = &supports[index];
    let grid = Grid::of(support)?;
    let free: Vec<bool> = (0..grid.len())
        .map(|at| {
            let place = grid.place(at);
            support.covers(place)
                && shows_plane(camera, classes, place.extend(support.height_at(place)), on_plane(index))
        })
        .collect();
    let clearance = distances(&grid, &free);
    Some((grid, free, clearance))
}

struct Grid {
    origin: Vec2,
    columns: usize,
    rows: usize,
}

impl Grid {
    fn of(support: &Support) -> Option<Self> {
        let low = support.hull.corners.iter().copied().fold(Vec2::INFINITY, Vec2::min);
        let high = support.hull.corners.iter().copied().fold(Vec2::NEG_INFINITY, Vec2::max);
        let size = ((high - low) / CELL_M).ceil();
        let fits = size.is_finite() && size.x * size.y <= CELLS_MAX as f32;
        fits.then(|| Self { origin: low, columns: size.x as usize + 1, rows: size.y as usize + 1 })
    }

    fn len(&self) -> usize {
        self.columns * self.rows
    }

    fn place(&self, at: usize) -> Vec2 {
        self.origin + (Vec2::new((at % self.columns) as f32, (at / self.columns) as f32) + 0.5) * CELL_M
    }

    fn cell(&self, place: Vec2) -> Option<usize> {
        let local = (place - self.origin) / CELL_M;
        let inside =
            local.x >= 0.0 && local.y >= 0.0 && (local.x as usize) < self.columns && (local.y as usize) < self.rows;
        inside.then(|| local.y as usize * self.columns + local.x as usize)
    }
}

fn shows_plane(camera: &Camera, classes: &[u8], point: Vec3, plane: u8) -> bool {
    let Some((column, row, _)) = camera.pixel(point) else { return false };
    let class = classes[row * camera.width + column];
    if class != UNSEEN {
        return class == plane;
    }
    // A single pixel that was not measured is no obstacle.
    let near = [(0, -1), (-1, 0), (1, 0), (0, 1)].into_iter().filter(|&(dx, dy)| {
        let (x, y) = (column.cast_signed() + dx, row.cast_signed() + dy);
        let inside = x >= 0 && y >= 0 && (x as usize) < camera.width && (y as usize) < camera.height;
        inside && classes[y as usize * camera.width + x as usize] == plane
    });
    near.count() >= 2
}

/// The distance of each cell to the nearest one that is not free, by two sweeps.
fn distances(grid: &Grid, free: &[bool]) -> Vec<f32> {
    let (columns, rows) = (grid.columns, grid.rows);
    let mut distance: Vec<f32> = free.iter().map(|&free| if free { f32::MAX } else { 0.0 }).collect();
    let at = |column: usize, row: usize, dx: isize, dy: isize| {
        let (column, row) = (column.checked_add_signed(dx)?, row.checked_add_signed(dy)?);
        (column < columns && row < rows).then_some(row * columns + column)
    };
    let mut relax = |column: usize, row: usize, offsets: [(isize, isize, f32); 4]| {
        let here = row * columns + column;
        for (dx, dy, step) in offsets {
            // Beyond the grid nothing is free.
            let near = at(column, row, dx, dy).map_or(0.0, |near| distance[near]);
            distance[here] = distance[here].min(near + step * CELL_M);
        }
    };
    for row in 0..rows {
        for column in 0..columns {
            relax(column, row, [(-1, 0, 1.0), (0, -1, 1.0), (-1, -1, DIAGONAL), (1, -1, DIAGONAL)]);
        }
    }
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            relax(column, row, [(1, 0, 1.0), (0, 1, 1.0), (1, 1, DIAGONAL), (-1, 1, DIAGONAL)]);
        }
    }
    distance
}

fn mask_of(camera: &Camera, classes: &[u8], support: &Support, grid: &Grid, cells: &[bool], plane: u8) -> Option<Mask> {
    let (mut left, mut right, mut top, mut bottom) = (usize::MAX, 0, usize::MAX, 0);
    for at in (0..grid.len()).filter(|&at| cells[at]) {
        let place = grid.place(at);
        let Some((column, row, _)) = camera.pixel(place.extend(support.height_at(place))) else { continue };
        (left, right) = (left.min(column), right.max(column));
        (top, bottom) = (top.min(row), bottom.max(row));
    }
    if left > right {
        return None;
    }
    let bounds =
        PixelBox { x: left as u32, y: top as u32, width: (right - left + 1) as u32, height: (bottom - top + 1) as u32 };
    let mut data = Vec::with_capacity(bounds.area() as usize);
    for row in top..=bottom {
        for column in left..=right {
            let class = classes[row * camera.width + column];
            let ray = camera.ray(column, row);
            let inside = (class == plane || class == UNSEEN) && ray.z < -1e-4 && {
                let place = camera.position() + ray * ((support.height - camera.position().z) / ray.z);
                grid.cell(place.truncate()).is_some_and(|at| cells[at])
            };
            data.push(if inside { 255 } else { 0 });
        }
    }
    Some(Mask { bounds, data })
}
