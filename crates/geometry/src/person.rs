use cerebellum_core::{Mask, PixelBox};
use glam::{Vec2, Vec3};

use crate::camera::Camera;
use crate::classes::{UNSEEN, on_plane};
use crate::hull::Hull;
use crate::plane::{Support, SupportKind};
use crate::surface::{Surface, step_gate};

/// A person, standing on the floor.
#[derive(Clone, Debug)]
pub struct Person {
    /// Their pixels.
    pub mask: Mask,
    /// The middle of the seen body, in the level frame.
    pub centre: Vec3,
    /// Height of the seen top above the floor, in metres.
    pub height: f32,
    /// How sure the shape is, 0 to 1.
    pub confidence: f32,
}

const CELLS_MIN: usize = 250;

/// Finds people: bodies of 1.2 to 2.1 m on the floor, 0.25 to 0.9 m wide, round rather than flat or boxy, narrower at the
/// head than at the trunk. `taken` are cells of things that stand on supports.
pub(crate) fn find_people(
    surface: &Surface,
    classes: &[u8],
    camera: &Camera,
    supports: &[Support],
    taken: impl Fn(usize) -> bool,
) -> Vec<Person> {
    let Some(floor) = supports.iter().position(|support| support.kind == SupportKind::Floor) else { return Vec::new() };
    let mut free: Vec<bool> = (0..surface.points.len())
        .map(|cell| {
            let class = classes[surface.pixel_of(cell, camera.width)];
            let is_plane = class >= on_plane(0) && class.is_multiple_of(2);
            let height = surface.points[cell].z - supports[floor].height;
            class != UNSEEN && !is_plane && height > 0.06 && height < 2.2 && !taken(cell)
        })
        .collect();
    let mut people = Vec::new();
    for seed in 0..free.len() {
        if !free[seed] {
            continue;
        }
        let cells = flood(surface, seed, &mut free);
        if cells.len() >= CELLS_MIN * cell_share(surface) / 100 {
            people.extend(person_of(surface, camera, &cells, supports[floor].height));
        }
    }
    people
}

/// The size of the coarse grid in per cent of the usual 320x240.
fn cell_share(surface: &Surface) -> usize {
    surface.columns * surface.rows * 100 / (320 * 240)
}

fn flood(surface: &Surface, seed: usize, free: &mut [bool]) -> Vec<u32> {
    let columns = surface.columns;
    free[seed] = false;
    let mut group = vec![seed as u32];
    let mut next = 0;
    while next < group.len() {
        let cell = group[next] as usize;
        next += 1;
        let (column, row) = (cell % columns, cell / columns);
        let depth = surface.cell_depth[cell];
        for (exists, near) in [
            (column > 0, cell.wrapping_sub(1)),
            (column + 1 < columns, cell + 1),
            (row > 0, cell.wrapping_sub(columns)),
            (row + 1 < surface.rows, cell + columns),
        ] {
            // Limbs lie before and behind the trunk, so that steps within a body are larger than within a thing.
            if exists && free[near] && (surface.cell_depth[near] - depth).abs() < 0.05 + 2.0 * step_gate(depth) {
                free[near] = false;
                group.push(near as u32);
            }
        }
    }
    group
}

fn person_of(surface: &Surface, camera: &Camera, cells: &[u32], floor: f32) -> Option<Person> {
    let points: Vec<Vec3> = cells.iter().map(|&cell| surface.points[cell as usize]).collect();
    let top = points.iter().map(|point| point.z).fold(f32::NEG_INFINITY, f32::max) - floor;
    let bottom = points.iter().map(|point| point.z).fold(f32::INFINITY, f32::min) - floor;
    let rows = || cells.iter().map(|&cell| cell as usize / surface.columns);
    let cut_above = rows().min() <= Some(1);
    let places: Vec<Vec2> = points.iter().map(|point| point.truncate()).collect();
    let rectangle = Hull::around(&places).rectangle();
    let sized = (0.22..1.0).contains(&rectangle.length) && (0.1..0.85).contains(&rectangle.width);
    let tall = top < 2.15 && top - bottom > 0.5 && (top > 1.2 || (cut_above && top > 0.8));
    if !sized || !tall || boxiness(surface, cells) > 0.55 {
        return None;
    }
    let middle = places.iter().sum::<Vec2>() / places.len() as f32;
    let sideways = (middle - camera.position().truncate()).normalize_or_zero().perp();
    let width_between = |low: f32, high: f32| width_of(&points, sideways, floor + low, floor + high);
    let trunk = width_between(top - 0.75, top - 0.35);
    if !cut_above {
        let head = width_between(top - 0.16, top);
        if !(0.08..0.36).contains(&head) || head > 0.85 * trunk {
            return None;
        }
    }
    if !(0.2..0.95).contains(&trunk) {
        return None;
    }
    let stands = bottom < 0.35;
    let confidence = 0.6 + if cut_above { 0.0 } else { 0.2 } + if stands { 0.15 } else { 0.0 };
    let centre = middle.extend(floor + f32::midpoint(top, bottom.min(0.3)));
    Some(Person { mask: mask_of_cells(surface, camera, cells), centre, height: top, confidence })
}

fn width_of(points: &[Vec3], sideways: Vec2, low: f32, high: f32) -> f32 {
    let mut across: Vec<f32> = points
        .iter()
        .filter(|point| point.z >= low && point.z < high)
        .map(|point| point.truncate().dot(sideways))
        .collect();
    if across.len() < 6 {
        return 0.0;
    }
    across.sort_by(f32::total_cmp);
    across[across.len() * 49 / 50] - across[across.len() / 50]
}

/// How much the upright normals agree modulo a quarter turn: near 1 for furniture and walls, low for a body.
fn boxiness(surface: &Surface, cells: &[u32]) -> f32 {
    let (mut sum, mut count) = (Vec2::ZERO, 0.0);
    for &cell in cells {
        let normal = surface.normals[cell as usize];
        if normal != Vec3::ZERO && normal.z.abs() < 0.5 {
            sum += Vec2::from_angle(normal.truncate().to_angle() * 4.0);
            count += 1.0;
        }
    }
    if count < 20.0 { 1.0 } else { sum.length() / count }
}

/// The pixels of cells of the coarse grid.
fn mask_of_cells(surface: &Surface, camera: &Camera, cells: &[u32]) -> Mask {
    let step = surface.step;
    let columns = || cells.iter().map(|&cell| cell as usize % surface.columns);
    let rows = || cells.iter().map(|&cell| cell as usize / surface.columns);
    let (left, right) = (columns().min().unwrap_or(0) * step, (columns().max().unwrap_or(0) + 1) * step);
    let (top, bottom) = (rows().min().unwrap_or(0) * step, (rows().max().unwrap_or(0) + 1) * step);
    let (right, bottom) = (right.min(camera.width), bottom.min(camera.height));
    let bounds =
        PixelBox { x: left as u32, y: top as u32, width: (right - left) as u32, height: (bottom - top) as u32 };
    let mut data = vec![0; bounds.area() as usize];
    for &cell in cells {
        let (column, row) = (cell as usize % surface.columns * step, cell as usize / surface.columns * step);
        for y in row..(row + step).min(bottom) {
            let start = (y - top) * (right - left) + column - left;
            data[start..start + step.min(right - column)].fill(255);
        }
    }
    Mask { bounds, data }
}
