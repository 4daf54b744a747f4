use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{Colour, Model, block, capsule, cone, cylinder, ellipsoid};
use crate::render::material::linear;
use crate::render::{Material, Part, Pattern, Shape};

/// A piece of furniture. Its frame lies on the floor in its middle, its front looks along `+x`; `size` is its box in
/// metres, depth, width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Table,
    RoundTable,
    Sofa,
    Shelf,
    Counter,
    WallCupboard,
    Fridge,
    Bed,
    Wardrobe,
    Chair,
    Plant,
    Picture,
    Rug,
    FloorLamp,
}

impl Kind {
    /// Height of the surface that things can stand on, as a share of the box; `None` when there is none.
    pub fn surface_m(self, size: [f32; 3]) -> Option<f32> {
        match self {
            Self::Table | Self::RoundTable | Self::Counter => Some(size[2]),
            Self::Shelf => Some(shelf_board(size, 2)),
            Self::Sofa
            | Self::WallCupboard
            | Self::Fridge
            | Self::Bed
            | Self::Wardrobe
            | Self::Chair
            | Self::Plant
            | Self::Picture
            | Self::Rug
            | Self::FloorLamp => None,
        }
    }
}

/// What the furniture looks like and what bodies bump into.
pub fn model(kind: Kind, size: [f32; 3], colour: Colour, accent: Option<Colour>) -> Model {
    let accent = accent.unwrap_or(Colour::Cream);
    let mut model = Model::default();
    match kind {
        Kind::Table => table(&mut model, size, colour),
        Kind::RoundTable => round_table(&mut model, size, colour),
        Kind::Sofa => sofa(&mut model, size, colour, accent),
        Kind::Shelf => shelf(&mut model, size, colour),
        Kind::Counter => counter(&mut model, size, colour, accent),
        Kind::WallCupboard | Kind::Wardrobe => cupboard(&mut model, size, colour),
        Kind::Fridge => fridge(&mut model, size, colour),
        Kind::Bed => bed(&mut model, size, colour, accent),
        Kind::Chair => chair(&mut model, size, colour),
        Kind::Plant => plant(&mut model, size, colour),
        Kind::Picture => picture(&mut model, size, colour),
        Kind::Rug => rug(&mut model, size, colour, accent),
        Kind::FloorLamp => lamp(&mut model, size, colour),
    }
    model
}

/// Wooden colours get grain, others are lacquer.
fn finish(colour: Colour, along: u8) -> Material {
    let base = Material { gloss: 0.16, ..Material::matt(colour.srgb()) };
    match colour {
        Colour::Oak | Colour::Brown | Colour::DarkBrown => base.with(Pattern::Wood { along }),
        _ => base,
    }
}

fn at(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3::new(x, y, z)
}

fn table(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour) {
    let top = 0.036;
    let along = u8::from(x <= y);
    model.add_block(Part::new(block([x, y, top], 0.006), at(0.0, 0.0, z - top * 0.5), finish(colour, along)));
    let leg = 0.06;
    let (dx, dy) = (x * 0.5 - leg * 0.9, y * 0.5 - leg * 0.9);
    for (sx, sy) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        let height = z - top;
        let leg = Part::new(block([leg, leg, height], 0.005), at(dx * sx, dy * sy, height * 0.5), finish(colour, 2));
        model.add_block(leg);
    }
    let apron = 0.07;
    for side in [1.0, -1.0] {
        let z = z - top - apron * 0.5;
        model.parts.push(Part::new(block([0.02, 2.0 * dy, apron], 0.0), at(dx * side, 0.0, z), finish(colour, 1)));
        model.parts.push(Part::new(block([2.0 * dx, 0.02, apron], 0.0), at(0.0, dy * side, z), finish(colour, 0)));
    }
}

fn round_table(model: &mut Model, [x, _, z]: [f32; 3], colour: Colour) {
    let top = 0.03;
    let disc = Part::new(cylinder(x * 0.5, top), at(0.0, 0.0, z - top * 0.5), finish(colour, 0));
    model.add_block(disc);
    let column = Part::new(cylinder(0.03, z - top - 0.02), at(0.0, 0.0, (z - top) * 0.5), finish(colour, 2));
    model.add_block(column);
    model.parts.push(Part::new(cone(x * 0.32, 0.04, 0.03), at(0.0, 0.0, 0.015), finish(colour, 0)));
}

fn sofa(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour, accent: Colour) {
    let cloth = Material::matt(colour.srgb()).with(Pattern::Fabric);
    let seat = z * 0.52;
    model.add_block(Part::new(block([x, y, seat - 0.16], 0.02), at(0.0, 0.0, 0.06 + (seat - 0.16) * 0.5), cloth));
    model.add_block(Part::new(block([x * 0.24, y, z - 0.1], 0.05), at(-x * 0.38, 0.0, 0.1 + (z - 0.1) * 0.5), cloth));
    for side in [1.0, -1.0] {
        let arm =
            Part::new(block([x * 0.96, 0.16, z * 0.7], 0.05), at(0.0, side * (y * 0.5 - 0.08), z * 0.35 + 0.02), cloth);
        model.add_block(arm);
        let cushion = block([x * 0.74, y * 0.5 - 0.18, 0.15], 0.05);
        model.parts.push(Part::new(cushion, at(x * 0.1, side * (y * 0.25 - 0.08), seat - 0.04), cloth));
        let pillow = Material::matt(accent.srgb()).with(Pattern::Fabric);
        model.parts.push(
            Part::new(ellipsoid(0.09, 0.21, 0.2), at(-x * 0.16, side * (y * 0.5 - 0.42), seat + 0.19), pillow)
                .turned(Quat::from_rotation_y(-0.35)),
        );
    }
}

const SHELF_BOARDS: usize = 5;

fn shelf_board(size: [f32; 3], board: usize) -> f32 {
    0.1 + (size[2] - 0.1) * board as f32 / (SHELF_BOARDS - 1) as f32
}

fn shelf(model: &mut Model, size: [f32; 3], colour: Colour) {
    let [x, y, z] = size;
    let wood = finish(colour, 1);
    for side in [1.0, -1.0] {
        let cheek =
            Part::new(block([x, 0.03, z], 0.004), at(0.0, side * (y * 0.5 - 0.015), z * 0.5), finish(colour, 2));
        model.add_block(cheek);
    }
    for board in 0..SHELF_BOARDS {
        let top = shelf_board(size, board);
        model.add_block(Part::new(block([x, y - 0.06, 0.024], 0.003), at(0.0, 0.0, top - 0.012), wood));
    }
    model.parts.push(Part::new(block([0.012, y - 0.06, z - 0.02], 0.0), at(0.006 - x * 0.5, 0.0, z * 0.5), wood));
    for board in [1, 3] {
        row_of_books(model, size, shelf_board(size, board), board);
    }
    let vase = Material::glossy(Colour::Turquoise.srgb());
    let low = shelf_board(size, 0);
    model.parts.push(Part::new(ellipsoid(0.09, 0.09, 0.12), at(0.0, y * 0.24, low + 0.118), vase));
    model.parts.push(Part::new(cone(0.04, 0.06, 0.09), at(0.0, y * 0.24, low + 0.26), vase));
    let basket = Material::matt(Colour::Beige.srgb()).with(Pattern::Fabric);
    model.parts.push(Part::new(cone(0.13, 0.16, 0.2), at(0.0, -y * 0.22, low + 0.1), basket));
}

fn row_of_books(model: &mut Model, [x, y, _]: [f32; 3], board: f32, seed: usize) {
    const SPINES: [Colour; 7] =
        [Colour::DarkGrey, Colour::Brown, Colour::Cream, Colour::LightBlue, Colour::Beige, Colour::Red, Colour::Grey];
    let mut place = -y * 0.5 + 0.06;
    for book in 0..11 {
        let pick = (book * 5 + seed * 3) % 7;
        let (thick, high) = (0.026 + 0.006 * (pick % 4) as f32, 0.2 + 0.018 * ((pick * 3) % 5) as f32);
        let cover = Material { gloss: 0.12, ..Material::matt(SPINES[pick].srgb()) };
        let shape = block([x * 0.66, thick, high], 0.004);
        model.parts.push(Part::new(shape, at(x * 0.06, place + thick * 0.5, board + high * 0.5), cover));
        place += thick + 0.002;
    }
}

fn counter(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour, accent: Colour) {
    let front = finish(colour, 2);
    model.add_block(Part::new(block([x - 0.06, y, z - 0.14], 0.004), at(-0.03, 0.0, 0.1 + (z - 0.14) * 0.5), front));
    let plinth = Material::matt(Colour::DarkGrey.srgb());
    model.parts.push(Part::new(block([x - 0.12, y, 0.1], 0.0), at(-0.06, 0.0, 0.05), plinth));
    let along = u8::from(y > x);
    model.add_block(Part::new(block([x, y, 0.04], 0.006), at(0.0, 0.0, z - 0.02), finish(accent, along)));
    let steel = Material { gloss: 0.8, ..Material::matt(Colour::Silver.srgb()) };
    let dark = Material::matt(Colour::Grey.srgb());
    let doors = (y / 0.6).round().max(1.0) as usize;
    let width = y / doors as f32;
    for door in 0..doors {
        let middle = -y * 0.5 + width * (door as f32 + 0.5);
        let face = x * 0.5 - 0.06;
        model.parts.push(Part::new(
            Shape::Box { half: at(0.009, width * 0.5 - 0.004, (z - 0.16) * 0.5), bevel: 0.006 },
            at(face + 0.004, middle, 0.11 + (z - 0.16) * 0.5),
            front,
        ));
        let handle = Part::new(capsule(0.006, 0.16), at(face + 0.03, middle, z - 0.11), steel)
            .turned(Quat::from_rotation_x(std::f32::consts::FRAC_PI_2));
        model.parts.push(handle);
    }
    let sink = y * 0.22;
    model.parts.push(Part::new(block([x * 0.62, 0.46, 0.006], 0.003), at(0.02, sink, z), steel));
    model.parts.push(Part::new(block([x * 0.5, 0.38, 0.004], 0.0), at(0.02, sink, z + 0.002), dark));
    model.parts.push(Part::new(cylinder(0.014, 0.24), at(-x * 0.36, sink, z + 0.12), steel));
    model.parts.push(
        Part::new(capsule(0.011, 0.15), at(-x * 0.36 + 0.07, sink, z + 0.235), steel)
            .turned(Quat::from_rotation_y(std::f32::consts::FRAC_PI_2 + 0.15)),
    );
}

fn cupboard(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour) {
    let wood = finish(colour, 2);
    model.add_block(Part::new(block([x - 0.02, y, z], 0.004), at(-0.01, 0.0, z * 0.5), wood));
    let steel = Material { gloss: 0.8, ..Material::matt(Colour::Silver.srgb()) };
    let doors = (y / 0.55).round().max(1.0) as usize;
    let width = y / doors as f32;
    for door in 0..doors {
        let middle = -y * 0.5 + width * (door as f32 + 0.5);
        let leaf = Shape::Box { half: at(0.009, width * 0.5 - 0.003, z * 0.5 - 0.006), bevel: 0.006 };
        model.parts.push(Part::new(leaf, at(x * 0.5 - 0.012, middle, z * 0.5), wood));
        let inward = if door % 2 == 0 { 1.0 } else { -1.0 };
        let handle = at(x * 0.5 + 0.014, middle + inward * (width * 0.5 - 0.04), z * 0.5);
        model.parts.push(Part::new(capsule(0.006, 0.14), handle, steel));
    }
}

fn fridge(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour) {
    let lacquer = Material { gloss: 0.35, ..Material::matt(colour.srgb()) };
    model.add_block(Part::new(block([x - 0.04, y, z], 0.01), at(-0.02, 0.0, z * 0.5), lacquer));
    let steel = Material { gloss: 0.8, ..Material::matt(Colour::Silver.srgb()) };
    for (from, to) in [(0.05, z * 0.62), (z * 0.62 + 0.012, z - 0.01)] {
        let leaf = Shape::Box { half: at(0.02, y * 0.5 - 0.004, (to - from) * 0.5), bevel: 0.012 };
        model.parts.push(Part::new(leaf, at(x * 0.5 - 0.02, 0.0, (from + to) * 0.5), lacquer));
        let handle = at(x * 0.5 + 0.03, y * 0.5 - 0.06, if from < 0.1 { to - 0.2 } else { from + 0.16 });
        model.parts.push(Part::new(capsule(0.009, 0.2), handle, steel));
    }
}

fn bed(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour, accent: Colour) {
    model.add_block(Part::new(block([x, y, 0.26], 0.01), at(0.0, 0.0, 0.17), finish(colour, 0)));
    model.add_block(Part::new(block([0.06, y, z], 0.01), at(0.03 - x * 0.5, 0.0, z * 0.5), finish(colour, 1)));
    let linen = Material::matt(Colour::White.srgb()).with(Pattern::Fabric);
    model.add_block(Part::new(block([x - 0.08, y - 0.04, 0.2], 0.05), at(0.03, 0.0, 0.38), linen));
    let cover = Material::matt(accent.srgb()).with(Pattern::Fabric);
    model.parts.push(Part::new(block([x * 0.62, y + 0.02, 0.23], 0.06), at(x * 0.19, 0.0, 0.385), cover));
    for side in [1.0, -1.0] {
        model.parts.push(Part::new(ellipsoid(0.22, y * 0.21, 0.09), at(0.32 - x * 0.5, side * y * 0.24, 0.53), linen));
    }
}

fn chair(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour) {
    let seat = 0.46;
    model.add_block(Part::new(block([x, y, 0.035], 0.008), at(0.0, 0.0, seat), finish(colour, 0)));
    for (sx, sy) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
        let height = if sx < 0.0 { z } else { seat };
        let leg = Part::new(
            block([0.035, 0.035, height], 0.004),
            at(sx * (x * 0.5 - 0.02), sy * (y * 0.5 - 0.02), height * 0.5),
            finish(colour, 2),
        );
        model.add_block(leg);
    }
    for row in 0..3 {
        let z = z - 0.06 - 0.13 * row as f32;
        model.parts.push(Part::new(
            block([0.018, y - 0.05, 0.07], 0.004),
            at(0.02 - x * 0.5, 0.0, z),
            finish(colour, 1),
        ));
    }
}

fn plant(model: &mut Model, [x, _, z]: [f32; 3], colour: Colour) {
    let pot = Material { gloss: 0.12, ..Material::matt([178, 92, 58]) }.with(Pattern::Plaster);
    let height = z * 0.32;
    model.add_block(Part::new(cone(x * 0.26, x * 0.34, height), at(0.0, 0.0, height * 0.5), pot));
    model.parts.push(Part::new(cylinder(x * 0.37, 0.035), at(0.0, 0.0, height), pot));
    model.parts.push(Part::new(cylinder(x * 0.31, 0.006), at(0.0, 0.0, height + 0.018), Material::matt([58, 40, 30])));
    let stem = Material::matt([94, 110, 60]);
    // Leaves in three rings, wider below.
    for ring in 0..3_u8 {
        let count = 7 - ring;
        for leaf in 0..count {
            let turn = std::f32::consts::TAU * (leaf as f32 / count as f32 + 0.13 * ring as f32);
            let lean = 0.95 - 0.36 * ring as f32 + 0.12 * ((leaf * 5) % 3) as f32;
            let length = (z - height) * (0.62 + 0.08 * ring as f32);
            let shade = 0.8 + 0.14 * ((leaf * 3 + ring) % 4) as f32;
            let green = Material { base: linear(colour.srgb()) * shade, gloss: 0.22, ..Material::matt(colour.srgb()) };
            let turned = Quat::from_rotation_z(turn) * Quat::from_rotation_y(lean);
            let root = at(0.0, 0.0, height);
            let tip = turned * Vec3::Z;
            model.parts.push(Part::new(capsule(0.006, length * 0.5), root + tip * length * 0.25, stem).turned(turned));
            let blade = ellipsoid(0.012, x * 0.13, length * 0.34);
            model.parts.push(Part::new(blade, root + tip * length * 0.7, green).turned(turned));
        }
    }
}

fn picture(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour) {
    let frame = 0.035;
    let wood = finish(colour, 1);
    for side in [1.0, -1.0] {
        let bar = block([x, y, frame], 0.006);
        model.parts.push(Part::new(bar, at(0.0, 0.0, z * 0.5 + side * (z - frame) * 0.5), wood));
        let post = block([x, frame, z], 0.006);
        model.parts.push(Part::new(post, at(0.0, side * (y - frame) * 0.5, z * 0.5), finish(colour, 2)));
    }
    let half = at(x * 0.3, y * 0.5 - frame * 0.8, z * 0.5 - frame * 0.8);
    let canvas =
        Material::matt(Colour::White.srgb()).with(Pattern::Landscape { half_width: half.y, half_height: half.z });
    model.parts.push(Part::new(Shape::Box { half, bevel: 0.0 }, at(0.0, 0.0, z * 0.5), canvas));
}

fn rug(model: &mut Model, [x, y, z]: [f32; 3], colour: Colour, accent: Colour) {
    let border = Material::matt(accent.srgb()).with(Pattern::Fabric);
    let wool = Material::matt(colour.srgb()).with(Pattern::Fabric);
    model.parts.push(Part::new(block([x, y, z], 0.0), at(0.0, 0.0, z * 0.5), border));
    model.parts.push(Part::new(block([x - 0.2, y - 0.2, z], 0.0), at(0.0, 0.0, z * 0.5 + 0.0015), wool));
}

fn lamp(model: &mut Model, [x, _, z]: [f32; 3], colour: Colour) {
    let metal = Material { gloss: 0.6, ..Material::matt(Colour::DarkGrey.srgb()) };
    model.add_block(Part::new(cylinder(x * 0.4, 0.025), at(0.0, 0.0, 0.0125), metal));
    model.add_block(Part::new(cylinder(0.014, z - 0.2), at(0.0, 0.0, (z - 0.2) * 0.5), metal));
    let shade = Material { base: linear(colour.srgb()) * 1.15, ..Material::matt(colour.srgb()) }.with(Pattern::Fabric);
    model.parts.push(Part::new(cone(x * 0.5, x * 0.36, 0.28), at(0.0, 0.0, z - 0.14), shade));
}
