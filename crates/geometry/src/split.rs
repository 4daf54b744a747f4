use std::collections::{BTreeMap, VecDeque};

use cerebellum_core::RgbImage;
use glam::{Vec2, Vec3};

use crate::classes::support_below;
use crate::colour::chroma;
use crate::components::{Components, NONE};
use crate::hull::Hull;
use crate::surface::{Surface, step_gate};

const CHROMA_EDGE: f32 = 0.09;
/// Cosine of the least bend that counts as an edge.
const BEND_COS: f32 = 0.87;
/// Two pieces whose mean colours are further apart look like two things.
const TWO_COLOURS: f32 = 0.15;
const CHROMA_CUT: u8 = 1;
const CONCAVE_CUT: u8 = 2;

/// Things that touch are one component: cut it where colours meet and where the surface folds inwards, then join again
/// the pieces that stand on the same ground, such as a can and its label.
///
/// Answers the number of parts, and the part of each cell of the coarse grid.
pub(crate) fn split(surface: &Surface, components: &Components, classes: &[u8], rgb: &RgbImage) -> (usize, Vec<u32>) {
    let width = rgb.width as usize;
    let owner = cell_owners(surface, components, width);
    let chromas = chromas(surface, &owner, rgb);
    let cuts = cuts(surface, &owner, &chromas);
    let pieces = Pieces::grow(surface, &owner, &cuts);
    let contacts = pieces.contacts(surface, &owner, &cuts);
    pieces.join(surface, &Colours { owner: &owner, chromas: &chromas }, classes, width, &contacts)
}

fn cell_owners(surface: &Surface, components: &Components, width: usize) -> Vec<u32> {
    (0..surface.points.len()).map(|cell| components.labels[surface.pixel_of(cell, width)]).collect()
}

fn chromas(surface: &Surface, owner: &[u32], rgb: &RgbImage) -> Vec<Vec2> {
    let step = surface.step;
    let width = rgb.width as usize;
    let mean = |cell: usize| {
        let (column, row) = (cell % surface.columns * step, cell / surface.columns * step);
        let mut sum = [0.0_f32; 3];
        for y in row..row + step {
            for pixel in rgb.data[(y * width + column) * 3..(y * width + column + step) * 3].chunks_exact(3) {
                for (sum, &value) in sum.iter_mut().zip(pixel) {
                    *sum += f32::from(value);
                }
            }
        }
        chroma(sum.map(|value| value / (step * step) as f32))
    };
    (0..owner.len()).map(|cell| if owner[cell] == NONE { Vec2::ZERO } else { mean(cell) }).collect()
}

fn cuts(surface: &Surface, owner: &[u32], chromas: &[Vec2]) -> Vec<u8> {
    let (columns, rows) = (surface.columns, surface.rows);
    let mut cuts = vec![0_u8; owner.len()];
    for row in 2..rows.saturating_sub(2) {
        for column in 2..columns.saturating_sub(2) {
            let cell = row * columns + column;
            if owner[cell] == NONE {
                continue;
            }
            for stride in [1, columns] {
                let (a, b) = (cell - stride, cell + stride);
                if owner[a] == owner[cell] && owner[b] == owner[cell] && chromas[a].distance(chromas[b]) > CHROMA_EDGE {
                    cuts[cell] |= CHROMA_CUT;
                }
                let (a, b) = (cell - 2 * stride, cell + 2 * stride);
                if owner[a] == owner[cell] && owner[b] == owner[cell] && is_concave(surface, a, b) {
                    cuts[cell] |= CONCAVE_CUT;
                }
            }
        }
    }
    cuts
}

/// Whether the surface folds inwards between two cells: their normals lean towards each other.
fn is_concave(surface: &Surface, a: usize, b: usize) -> bool {
    let (na, nb) = (surface.normals[a], surface.normals[b]);
    if na == Vec3::ZERO || nb == Vec3::ZERO || na.dot(nb) > BEND_COS {
        return false;
    }
    let (turn, way) = (na - nb, surface.points[a] - surface.points[b]);
    turn.dot(way) < -0.3 * turn.length() * way.length()
}

#[derive(Default)]
struct Contact {
    concave: usize,
    total: usize,
}

struct Pieces {
    of_cell: Vec<u32>,
    cells: Vec<Vec<u32>>,
}

impl Pieces {
    /// Grows pieces between the cuts; what is too small for a piece goes to the nearest one of its component.
    fn grow(surface: &Surface, owner: &[u32], cuts: &[u8]) -> Self {
        let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
        for &component in owner.iter().filter(|&&component| component != NONE) {
            *sizes.entry(component).or_default() += 1;
        }
        let mut of_cell = vec![NONE; owner.len()];
        let mut seen = vec![false; owner.len()];
        let mut cells: Vec<Vec<u32>> = Vec::new();
        let mut whole: BTreeMap<u32, bool> = BTreeMap::new();
        for seed in 0..owner.len() {
            if owner[seed] == NONE || cuts[seed] != 0 || seen[seed] {
                continue;
            }
            let group = flood(surface, seed, &mut seen, |cell| owner[cell] == owner[seed] && cuts[cell] == 0);
            let least = (sizes[&owner[seed]] * 6 / 100).max(14);
            if group.len() >= least {
                for &cell in &group {
                    of_cell[cell as usize] = cells.len() as u32;
                }
                cells.push(group);
                whole.insert(owner[seed], true);
            }
        }
        // A component without any piece of its own is one piece.
        for seed in 0..owner.len() {
            if owner[seed] != NONE && !whole.contains_key(&owner[seed]) && of_cell[seed] == NONE {
                of_cell[seed] = cells.len() as u32;
                cells.push(vec![seed as u32]);
                whole.insert(owner[seed], true);
            }
        }
        let mut pieces = Self { of_cell, cells };
        pieces.spread(surface, owner);
        pieces
    }

    fn spread(&mut self, surface: &Surface, owner: &[u32]) {
        let mut queue: VecDeque<u32> = self.cells.iter().flatten().copied().collect();
        while let Some(cell) = queue.pop_front() {
            let piece = self.of_cell[cell as usize];
            for near in neighbours(surface, cell as usize) {
                if owner[near] == owner[cell as usize] && self.of_cell[near] == NONE {
                    self.of_cell[near] = piece;
                    self.cells[piece as usize].push(near as u32);
                    queue.push_back(near as u32);
                }
            }
        }
        // Cells that no neighbour reaches (bridged pixels) go with the first piece of their component.
        let mut first: BTreeMap<u32, u32> = BTreeMap::new();
        for (&piece, &component) in self.of_cell.iter().zip(owner).filter(|(piece, _)| **piece != NONE) {
            first.entry(component).or_insert(piece);
        }
        for (cell, &component) in owner.iter().enumerate() {
            if component != NONE && self.of_cell[cell] == NONE {
                let piece = first[&component];
                self.of_cell[cell] = piece;
                self.cells[piece as usize].push(cell as u32);
            }
        }
    }

    fn contacts(&self, surface: &Surface, owner: &[u32], cuts: &[u8]) -> BTreeMap<(u32, u32), Contact> {
        let mut contacts: BTreeMap<(u32, u32), Contact> = BTreeMap::new();
        for cell in 0..owner.len() {
            let a = self.of_cell[cell];
            if a == NONE {
                continue;
            }
            let (column, row) = (cell % surface.columns, cell / surface.columns);
            for near in [(column + 1 < surface.columns, cell + 1), (row + 1 < surface.rows, cell + surface.columns)] {
                let Some(b) = near.0.then(|| self.of_cell[near.1]).filter(|&b| b != NONE && b != a) else { continue };
                let contact = contacts.entry((a.min(b), a.max(b))).or_default();
                contact.total += 1;
                let folds = owner[cell] == owner[near.1] && (cuts[cell] | cuts[near.1]) & CONCAVE_CUT != 0;
                contact.concave += usize::from(folds);
            }
        }
        contacts
    }

    fn join(
        self,
        surface: &Surface,
        colours: &Colours<'_>,
        classes: &[u8],
        width: usize,
        contacts: &BTreeMap<(u32, u32), Contact>,
    ) -> (usize, Vec<u32>) {
        let component_of = |piece: usize| colours.owner[self.cells[piece][0] as usize];
        let support_of = |cell: u32| support_below(classes[surface.pixel_of(cell as usize, width)]);
        let mut groups: Vec<Group> = self
            .cells
            .iter()
            .enumerate()
            .map(|(i, cells)| Group::of(surface, cells, component_of(i), colours.chromas))
            .collect();
        let mut parent: Vec<usize> = (0..groups.len()).collect();
        loop {
            let mut merged = false;
            for (&(a, b), contact) in contacts {
                let (a, b) = (root(&parent, a as usize), root(&parent, b as usize));
                let same_support = a != b && support_of(groups[a].cells[0]) == support_of(groups[b].cells[0]);
                if same_support && belong_together(&groups[a], &groups[b], contact) {
                    let (keep, gone) = if groups[a].cells.len() >= groups[b].cells.len() { (a, b) } else { (b, a) };
                    let cells = std::mem::take(&mut groups[gone].cells);
                    let component = groups[keep].component;
                    let all: Vec<u32> = groups[keep].cells.iter().copied().chain(cells).collect();
                    groups[keep] = Group::of(surface, &all, component, colours.chromas);
                    parent[gone] = keep;
                    merged = true;
                }
            }
            if !merged {
                break;
            }
        }
        let mut names = vec![NONE; groups.len()];
        let mut parts = 0;
        for index in 0..groups.len() {
            if parent[index] == index {
                names[index] = parts;
                parts += 1;
            }
        }
        let name = |piece: u32| if piece == NONE { NONE } else { names[root(&parent, piece as usize)] };
        let of_cell = self.of_cell.iter().map(|&piece| name(piece)).collect();
        (parts as usize, of_cell)
    }
}

/// The component and the colour of each cell.
struct Colours<'a> {
    owner: &'a [u32],
    chromas: &'a [Vec2],
}

struct Group {
    cells: Vec<u32>,
    component: u32,
    hull: Hull,
    normal: Vec3,
    middle: Vec3,
    lowest: f32,
    highest: f32,
    chroma: Vec2,
}

impl Group {
    fn of(surface: &Surface, cells: &[u32], component: u32, chromas: &[Vec2]) -> Self {
        let points = || cells.iter().map(|&cell| surface.points[cell as usize]);
        let places: Vec<Vec2> = points().map(Vec3::truncate).collect();
        Self {
            cells: cells.to_vec(),
            component,
            hull: Hull::around(&places).grown(0.005),
            normal: cells.iter().map(|&cell| surface.normals[cell as usize]).sum::<Vec3>().normalize_or_zero(),
            middle: points().sum::<Vec3>() / cells.len().max(1) as f32,
            lowest: points().map(|point| point.z).fold(f32::INFINITY, f32::min),
            highest: points().map(|point| point.z).fold(f32::NEG_INFINITY, f32::max),
            chroma: cells.iter().map(|&cell| chromas[cell as usize]).sum::<Vec2>() / cells.len().max(1) as f32,
        }
    }
}

fn belong_together(a: &Group, b: &Group, contact: &Contact) -> bool {
    let overlap = a.hull.overlap(&b.hull);
    let (upper, lower) = if a.lowest > b.lowest { (a, b) } else { (b, a) };
    // The inside of a bowl or mug, or a handle: it hangs in the air, no higher than what it belongs to, and has its colour.
    let hangs = upper.lowest > lower.lowest + 0.015 && upper.highest < lower.highest + 0.013;
    let one_colour = a.chroma.distance(b.chroma) < 0.08;
    if a.component != b.component {
        let over = lower.hull.grown(0.01).overlap(&upper.hull);
        return hangs && over > if one_colour { 0.35 } else { 0.6 };
    }
    let two_colours = a.chroma.distance(b.chroma) > TWO_COLOURS;
    if contact.concave * 2 > contact.total {
        // Two colours that meet in a fold are two things, unless one lies all within the outline of the other: a cap.
        return overlap
            > if hangs && one_colour {
                0.2
            } else if two_colours {
                0.85
            } else {
                0.55
            };
    }
    let bend = a.normal.dot(b.normal) < BEND_COS && (a.normal - b.normal).dot(a.middle - b.middle) > 0.0;
    // The faces of one box meet in an outward edge; a fold in between is a box on or behind a book.
    let is_folded = contact.concave * 5 > contact.total;
    overlap > 0.4 || (bend && overlap > 0.2 && !is_folded)
}

fn root(parent: &[usize], mut index: usize) -> usize {
    while parent[index] != index {
        index = parent[index];
    }
    index
}

fn neighbours(surface: &Surface, cell: usize) -> impl Iterator<Item = usize> {
    let (column, row) = (cell % surface.columns, cell / surface.columns);
    let (columns, rows) = (surface.columns, surface.rows);
    [
        (column > 0).then(|| cell - 1),
        (column + 1 < columns).then(|| cell + 1),
        (row > 0).then(|| cell - columns),
        (row + 1 < rows).then(|| cell + columns),
    ]
    .into_iter()
    .flatten()
}

fn flood(surface: &Surface, seed: usize, seen: &mut [bool], takes: impl Fn(usize) -> bool) -> Vec<u32> {
    let mut group = vec![seed as u32];
    seen[seed] = true;
    let mut next = 0;
    while next < group.len() {
        let cell = group[next] as usize;
        next += 1;
        for near in neighbours(surface, cell) {
            let depth = surface.cell_depth[cell];
            let steps = (surface.cell_depth[near] - depth).abs() > step_gate(depth) * 1.5;
            if !seen[near] && !steps && takes(near) {
                seen[near] = true;
                group.push(near as u32);
            }
        }
    }
    group
}
