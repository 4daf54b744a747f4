use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{Colour, Form, Model, Solid, block, ellipsoid};
use crate::render::{Material, Part, Pattern};

/// What covers a floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Floor {
    Planks,
    Tiles,
    Carpet,
}

/// A hole in a wall. Metres along the wall from its start, and above the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    pub middle: f32,
    pub width: f32,
    pub sill: f32,
    pub head: f32,
    pub filling: Filling,
}

/// What is in a hole of a wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filling {
    /// One can walk through.
    Passage,
    /// A closed door.
    Door,
    Window,
}

/// Height of walls in metres.
pub const WALL_HEIGHT_M: f32 = 2.6;
const WALL_THICKNESS_M: f32 = 0.1;
const SKIRTING_M: f32 = 0.07;

/// A floor from one corner to the other, its top at height 0.
pub fn floor(from: [f32; 2], to: [f32; 2], cover: Floor) -> Part {
    let middle = Vec3::new((from[0] + to[0]) * 0.5, (from[1] + to[1]) * 0.5, -0.02);
    let size = [(to[0] - from[0]).abs(), (to[1] - from[1]).abs(), 0.04];
    let material = match cover {
        Floor::Planks => Material { gloss: 0.10, ..Material::matt([206, 166, 120]) }.with(Pattern::Planks),
        Floor::Tiles => Material { gloss: 0.2, ..Material::matt([214, 204, 188]) }.with(Pattern::Tiles),
        Floor::Carpet => Material::matt([170, 160, 150]).with(Pattern::Fabric),
    };
    Part::new(block(size, 0.0), middle, material).without_shadow()
}

/// A wall that stands on the line from `from` to `to`.
pub fn wall(from: [f32; 2], to: [f32; 2], openings: &[Opening], colour: Colour) -> Model {
    let (a, b) = (Vec3::new(from[0], from[1], 0.0), Vec3::new(to[0], to[1], 0.0));
    let length = a.distance(b);
    let turn = Quat::from_rotation_z((b.y - a.y).atan2(b.x - a.x));
    let mut wall = Wall { model: Model::default(), start: a, turn, colour };
    let mut openings: Vec<Opening> = openings.to_vec();
    openings.sort_by(|a, b| a.middle.total_cmp(&b.middle));
    let mut done = 0.0;
    for opening in &openings {
        let (left, right) = (opening.middle - opening.width * 0.5, opening.middle + opening.width * 0.5);
        wall.pane(done, left, 0.0, WALL_HEIGHT_M);
        wall.pane(left, right, opening.head, WALL_HEIGHT_M);
        wall.pane(left, right, 0.0, opening.sill);
        wall.fill(opening);
        done = right;
    }
    // A little beyond the end, so that corners close.
    wall.pane(done, length + WALL_THICKNESS_M * 0.5, 0.0, WALL_HEIGHT_M);
    wall.model
}

struct Wall {
    model: Model,
    start: Vec3,
    turn: Quat,
    colour: Colour,
}

impl Wall {
    /// Adds a part given in the wall's frame: `x` along it, `y` to its left.
    fn add(&mut self, part: Part) {
        let position = self.start + self.turn * part.position;
        self.model.parts.push(Part { position, ..part }.turned(self.turn).without_shadow());
    }

    fn pane(&mut self, left: f32, right: f32, low: f32, high: f32) {
        if right - left < 1e-3 || high - low < 1e-3 {
            return;
        }
        let middle = Vec3::new((left + right) * 0.5, 0.0, (low + high) * 0.5);
        let size = [right - left, WALL_THICKNESS_M, high - low];
        let paint = Material { gloss: 0.02, ..Material::matt(self.colour.srgb()) }.with(Pattern::Plaster);
        self.add(Part::new(block(size, 0.0), middle, paint));
        // Physics takes a box that is turned by a quarter at most.
        let half = Vec3::from(size) * 0.5;
        let half = if (self.turn * Vec3::X).y.abs() > 0.7 { Vec3::new(half.y, half.x, half.z) } else { half };
        self.model.solids.push(Solid { form: Form::Box { half }, at: self.start + self.turn * middle });
        if low == 0.0 {
            let white = Material { gloss: 0.15, ..Material::matt([244, 242, 238]) };
            let board = [right - left, WALL_THICKNESS_M + 0.024, SKIRTING_M];
            self.add(Part::new(block(board, 0.004), middle.with_z(SKIRTING_M * 0.5), white));
        }
    }

    fn fill(&mut self, opening: &Opening) {
        let (width, height) = (opening.width, opening.head - opening.sill);
        let centre = Vec3::new(opening.middle, 0.0, (opening.sill + opening.head) * 0.5);
        let white = Material { gloss: 0.25, ..Material::matt([246, 245, 242]) };
        let depth = WALL_THICKNESS_M + 0.03;
        for side in [1.0, -1.0] {
            let post = block([0.06, depth, height], 0.006);
            self.add(Part::new(post, centre + Vec3::X * side * width * 0.5, white));
        }
        self.add(Part::new(block([width + 0.06, depth, 0.06], 0.006), centre + Vec3::Z * height * 0.5, white));
        match opening.filling {
            Filling::Passage => {}
            Filling::Door => self.door(centre, width, height),
            Filling::Window => self.window(centre, width, height),
        }
    }

    fn door(&mut self, centre: Vec3, width: f32, height: f32) {
        let wood = Material { gloss: 0.16, ..Material::matt([156, 98, 56]) }.with(Pattern::Wood { along: 2 });
        let steel = Material { gloss: 0.8, ..Material::matt(Colour::Silver.srgb()) };
        self.add(Part::new(block([width - 0.05, 0.045, height - 0.03], 0.004), centre, wood));
        for (z, tall) in [(height * 0.22, height * 0.4), (-height * 0.24, height * 0.36)] {
            self.add(Part::new(block([width * 0.62, 0.062, tall], 0.014), centre + Vec3::Z * z, wood));
        }
        for side in [1.0, -1.0] {
            let knob = centre + Vec3::new(width * 0.38, side * 0.06, -0.05);
            self.add(Part::new(ellipsoid(0.055, 0.016, 0.014), knob, steel));
            self.add(Part::new(block([0.05, 0.01, 0.2], 0.004), knob - Vec3::Y * side * 0.032, steel));
        }
        let half = Vec3::new(width * 0.5, WALL_THICKNESS_M * 0.5, height * 0.5);
        let half = if (self.turn * Vec3::X).y.abs() > 0.7 { Vec3::new(half.y, half.x, half.z) } else { half };
        self.model.solids.push(Solid { form: Form::Box { half }, at: self.start + self.turn * centre });
    }

    fn window(&mut self, centre: Vec3, width: f32, height: f32) {
        let white = Material { gloss: 0.25, ..Material::matt([246, 245, 242]) };
        // The sky is painted across `x` of its pane.
        let sky = Material { glows: true, ..Material::matt([255, 255, 255]) }
            .with(Pattern::Sky { half_height: height * 0.5 });
        let pane = Part::new(block([0.02, width, height], 0.0), centre, sky)
            .turned(Quat::from_rotation_z(std::f32::consts::FRAC_PI_2));
        self.add(pane);
        let bar = WALL_THICKNESS_M * 0.6;
        self.add(Part::new(block([0.05, bar, height], 0.006), centre, white));
        self.add(Part::new(block([width, bar, 0.04], 0.006), centre + Vec3::Z * height * 0.12, white));
        let sill = block([width + 0.16, 0.24, 0.035], 0.008);
        self.add(Part::new(sill, centre - Vec3::Z * (height * 0.5 + 0.01), white));
    }
}
