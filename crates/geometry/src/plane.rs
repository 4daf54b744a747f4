use glam::{Mat3, Vec2, Vec3};

use crate::hull::Hull;
use crate::surface::Surface;

const LOWEST_M: f32 = -0.3;
const HIGHEST_M: f32 = 2.2;
const BIN_M: f32 = 0.01;
const UPRIGHT_MIN: f32 = 0.85;
const PLANES_MAX: usize = 24;
const AREA_MIN_M2: f32 = 0.025;
/// A level surface at least this long is a support wherever it is; a shorter one may be the top of an object.
const SUPPORT_LENGTH_M: f32 = 0.4;
/// Short pieces of one height are one support when together they are at least this large.
const PIECES_AREA_MIN_M2: f32 = 0.1;
/// A short level surface less than this above another is the top of an object that stands there.
const OBJECT_HEIGHT_M: f32 = 0.42;
/// Parts of one surface that objects hide from each other are at most this far apart.
const GAP_M: f32 = 0.25;

/// What a support is, as far as its shape tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SupportKind {
    /// The floor.
    Floor,
    /// A board with another one above or below it.
    Shelf,
    /// Any other raised surface.
    Table,
}

/// A level surface that things stand on.
#[derive(Clone, Debug)]
pub struct Support {
    /// What it is.
    pub kind: SupportKind,
    /// Height above the origin of the level frame at its middle, in metres.
    pub height: f32,
    /// Seen extent, in the level frame.
    pub hull: Hull,
    middle: Vec2,
    slope: Vec2,
    extent: Extent,
}

impl Support {
    /// Height of the surface below a place, in metres.
    pub fn height_at(&self, place: Vec2) -> f32 {
        self.height + self.slope.dot(place - self.middle)
    }

    /// Whether the place lies on the seen extent.
    pub fn covers(&self, place: Vec2) -> bool {
        self.extent.contains(place)
    }
}

/// A raster of a hull, so that asking for a place costs one look-up.
#[derive(Clone, Debug)]
struct Extent {
    origin: Vec2,
    columns: usize,
    rows: usize,
    inside: Vec<bool>,
}

const EXTENT_CELL_M: f32 = 0.02;

impl Extent {
    fn of(hull: &Hull) -> Self {
        let low = hull.corners.iter().copied().fold(Vec2::INFINITY, Vec2::min);
        let high = hull.corners.iter().copied().fold(Vec2::NEG_INFINITY, Vec2::max);
        let size = ((high - low) / EXTENT_CELL_M).ceil().clamp(Vec2::ZERO, Vec2::splat(1_000.0));
        let (columns, rows) = (size.x as usize + 1, size.y as usize + 1);
        let centre = |i: usize| low + (Vec2::new((i % columns) as f32, (i / columns) as f32) + 0.5) * EXTENT_CELL_M;
        let inside = (0..columns * rows).map(|i| hull.contains(centre(i))).collect();
        Self { origin: low, columns, rows, inside }
    }

    fn contains(&self, place: Vec2) -> bool {
        let local = (place - self.origin) / EXTENT_CELL_M;
        if local.x < 0.0 || local.y < 0.0 {
            return false;
        }
        let (column, row) = (local.x as usize, local.y as usize);
        column < self.columns && row < self.rows && self.inside[row * self.columns + column]
    }
}

struct Patch {
    height: f32,
    area: f32,
    hull: Hull,
    /// The length of its longest part that is seen in one piece.
    longest: f32,
    cells: Vec<u32>,
}

/// Finds the supports, highest first. `floor_known` says that height 0 is the floor.
pub(crate) fn find_supports(surface: &Surface, focal: f32, eye: Vec3, floor_known: bool) -> Vec<Support> {
    let upright = upright_cells(surface, eye.z);
    let mut patches = patches(surface, focal, eye, &upright);
    patches = joined(patches, floor_known);
    patches.sort_by(|a, b| a.height.total_cmp(&b.height));
    let mut supports: Vec<Support> = Vec::new();
    for patch in patches {
        let rectangle = patch.hull.rectangle();
        let middle = rectangle.centre;
        // Two books of one height are no table, however far apart they lie.
        let is_short = rectangle.length < SUPPORT_LENGTH_M
            || (patch.longest < SUPPORT_LENGTH_M && patch.area < PIECES_AREA_MIN_M2);
        let is_top_of_object = is_short
            && supports
                .iter()
                .any(|lower| patch.height - lower.height < OBJECT_HEIGHT_M && lower.hull.contains(middle));
        let is_sliver = rectangle.width < 0.06;
        if is_top_of_object || is_sliver || supports.len() >= PLANES_MAX {
            continue;
        }
        let (height, slope) = fit(surface, &patch, middle, rectangle.width);
        let hull = patch.hull.grown(0.012);
        let kind = if floor_known && height.abs() < 0.08 { SupportKind::Floor } else { SupportKind::Table };
        supports.push(Support { kind, height, extent: Extent::of(&hull), hull, middle, slope });
    }
    name_shelves(&mut supports);
    supports.reverse();
    supports
}

fn upright_cells(surface: &Surface, eye_height: f32) -> Vec<bool> {
    let below_eye = |point: Vec3| point.z < eye_height - 0.03;
    let cells = surface.normals.iter().zip(&surface.points);
    cells.map(|(normal, &point)| normal.z > UPRIGHT_MIN && below_eye(point)).collect()
}

fn cell_area(surface: &Surface, cell: usize, focal: f32, eye: Vec3) -> f32 {
    let side = surface.cell_depth[cell] * surface.step as f32 / focal;
    let towards_eye = (eye - surface.points[cell]).normalize_or_zero().dot(surface.normals[cell]);
    side * side / towards_eye.max(0.12)
}

fn patches(surface: &Surface, focal: f32, eye: Vec3, upright: &[bool]) -> Vec<Patch> {
    let bins = ((HIGHEST_M - LOWEST_M) / BIN_M) as usize;
    let bin_of = |height: f32| (((height - LOWEST_M) / BIN_M) as usize).min(bins - 1);
    let mut histogram = vec![0.0_f32; bins];
    let areas: Vec<f32> =
        (0..upright.len()).map(|cell| if upright[cell] { cell_area(surface, cell, focal, eye) } else { 0.0 }).collect();
    for (cell, &area) in areas.iter().enumerate() {
        let height = surface.points[cell].z;
        if area > 0.0 && height > LOWEST_M && height < HIGHEST_M {
            histogram[bin_of(height)] += area;
        }
    }
    let mut free = upright.to_vec();
    let mut patches = Vec::new();
    for _ in 0..PLANES_MAX {
        let around = |bin: usize| histogram[bin.saturating_sub(1)..(bin + 2).min(bins)].iter().sum::<f32>();
        let Some(peak) = (0..bins).max_by(|&a, &b| around(a).total_cmp(&around(b)).then(b.cmp(&a))) else { break };
        if around(peak) < AREA_MIN_M2 {
            break;
        }
        let span = peak.saturating_sub(1)..(peak + 2).min(bins);
        let weight: f32 = around(peak);
        let height = span.map(|bin| (LOWEST_M + (bin as f32 + 0.5) * BIN_M) * histogram[bin]).sum::<f32>() / weight;
        for cells in level_components(surface, height, &mut free) {
            for &cell in &cells {
                histogram[bin_of(surface.points[cell as usize].z)] -= areas[cell as usize];
            }
            let area = cells.iter().map(|&cell| areas[cell as usize]).sum();
            if area >= AREA_MIN_M2 {
                let mean = cells.iter().map(|&cell| surface.points[cell as usize].z).sum::<f32>() / cells.len() as f32;
                let hull = hull_of(surface, &cells);
                patches.push(Patch { height: mean, area, longest: hull.rectangle().length, hull, cells });
            }
        }
        // What is left here belongs to no patch of this height; looking at it again would find the same peak for ever.
        histogram[peak.saturating_sub(1)..(peak + 2).min(bins)].fill(0.0);
    }
    patches
}

/// The connected groups of free cells at a height; they are free no longer.
fn level_components(surface: &Surface, height: f32, free: &mut [bool]) -> Vec<Vec<u32>> {
    let columns = surface.columns;
    let level = |cell: usize| {
        let depth = surface.cell_depth[cell];
        (surface.points[cell].z - height).abs() < 0.012 + 0.002 * depth * depth
    };
    let mut groups = Vec::new();
    for seed in 0..free.len() {
        if !free[seed] || !level(seed) {
            continue;
        }
        free[seed] = false;
        let mut group = vec![seed as u32];
        let mut next = 0;
        while next < group.len() {
            let cell = group[next] as usize;
            next += 1;
            let (column, row) = (cell % columns, cell / columns);
            // Steps of two bridge single cells that were not measured.
            for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1), (-2, 0), (2, 0), (0, -2), (0, 2)] {
                let (x, y) = (column.wrapping_add_signed(dx), row.wrapping_add_signed(dy));
                if x >= columns || y >= surface.rows {
                    continue;
                }
                let near = y * columns + x;
                if free[near] && level(near) && surface.points[near].distance(surface.points[cell]) < 0.25 {
                    free[near] = false;
                    group.push(near as u32);
                }
            }
        }
        groups.push(group);
    }
    groups
}

fn hull_of(surface: &Surface, cells: &[u32]) -> Hull {
    let places: Vec<Vec2> = cells.iter().map(|&cell| surface.points[cell as usize].truncate()).collect();
    Hull::around(&places)
}

/// Parts of one surface that something in front cuts apart become one again. The floor is one by definition.
fn joined(patches: Vec<Patch>, floor_known: bool) -> Vec<Patch> {
    let is_floor = |patch: &Patch| floor_known && patch.height.abs() < 0.06;
    let mut whole: Vec<Patch> = Vec::new();
    for patch in patches {
        let same = whole.iter_mut().find(|other| {
            let level = (other.height - patch.height).abs() < 0.02;
            (is_floor(other) && is_floor(&patch)) || (level && other.hull.distance(&patch.hull) < GAP_M)
        });
        let Some(other) = same else {
            whole.push(patch);
            continue;
        };
        let corners: Vec<Vec2> = other.hull.corners.iter().chain(&patch.hull.corners).copied().collect();
        other.height = (other.height * other.area + patch.height * patch.area) / (other.area + patch.area);
        other.hull = Hull::around(&corners);
        other.area += patch.area;
        other.longest = other.longest.max(patch.longest);
        other.cells.extend(patch.cells);
    }
    whole
}

/// Least squares; a narrow patch says nothing about a slope.
fn fit(surface: &Surface, patch: &Patch, middle: Vec2, width: f32) -> (f32, Vec2) {
    if width < 0.15 {
        return (patch.height, Vec2::ZERO);
    }
    let (mut square, mut right) = (Mat3::ZERO, Vec3::ZERO);
    for &cell in &patch.cells {
        let point = surface.points[cell as usize];
        let row = (point.truncate() - middle).extend(1.0);
        square += Mat3::from_cols(row * row.x, row * row.y, row * row.z);
        right += row * point.z;
    }
    if square.determinant().abs() < 1e-9 {
        return (patch.height, Vec2::ZERO);
    }
    let solved = square.inverse() * right;
    let slope = solved.truncate();
    if slope.length() > 0.03 || !solved.is_finite() {
        return (patch.height, Vec2::ZERO);
    }
    (solved.z, slope)
}

fn name_shelves(supports: &mut [Support]) {
    let boards: Vec<(f32, Hull)> = supports.iter().map(|support| (support.height, support.hull.clone())).collect();
    for (index, support) in supports.iter_mut().enumerate() {
        let stacked = boards.iter().enumerate().any(|(other, (height, hull))| {
            let apart = (height - support.height).abs();
            other != index && *height > 0.08 && apart > 0.15 && apart < 0.6 && hull.overlap(&support.hull) > 0.4
        });
        if support.kind == SupportKind::Table && stacked {
            support.kind = SupportKind::Shelf;
        }
    }
}
