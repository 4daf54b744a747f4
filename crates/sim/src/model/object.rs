use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{Colour, Form, Model, Solid, block, cone, cylinder, ellipsoid};
use crate::render::material::linear;
use crate::render::{Material, Part, Pattern, Shape};

/// The form of a thing that can be grasped. Its frame lies in the middle of its box; `size` is that box in metres. Round
/// ones use `x` as the diameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A drink can; the accent is a band around it.
    Can,
    /// A flat tin.
    Tin,
    /// A bottle with a neck and a cap.
    Bottle,
    /// A box; the accent is a patch on two sides.
    Box,
    /// A carton with a gable.
    Carton,
    /// A book that lies.
    Book,
    Ball,
    /// A fruit with a stalk.
    Apple,
    Lemon,
    /// A mug with a round handle.
    Mug,
    /// A tumbler that widens upward.
    Cup,
    Bowl,
}

/// What a thing looks like and feels like.
pub fn model(kind: Kind, size: [f32; 3], colour: Colour, accent: Option<Colour>) -> Model {
    let [x, _, z] = size;
    let radius = x * 0.5;
    let paint = Material::glossy(colour.srgb());
    let cylinder_solid =
        |radius: f32| vec![Solid { form: Form::Cylinder { half_height: z * 0.5, radius }, at: Vec3::ZERO }];
    let box_solid = || vec![Solid { form: Form::Box { half: Vec3::from(size) * 0.5 }, at: Vec3::ZERO }];
    let (parts, solids) = match kind {
        Kind::Can => (can(radius, z, paint, accent), cylinder_solid(radius)),
        Kind::Tin => (tin(radius, z, paint), cylinder_solid(radius)),
        Kind::Bottle => (bottle(radius, z, paint, accent), cylinder_solid(radius)),
        Kind::Box => (package(size, colour, accent), box_solid()),
        Kind::Carton => (carton(size, colour, accent), box_solid()),
        Kind::Book => (book(size, colour), box_solid()),
        Kind::Ball => (vec![Part::new(ellipsoid(radius, radius, z * 0.5), Vec3::ZERO, dimpled(paint))], ball(radius)),
        Kind::Apple => (apple(radius, z, paint), ball(radius.min(z * 0.5))),
        Kind::Lemon => (lemon(size, paint), box_solid()),
        Kind::Mug => (mug(radius, z, paint), cylinder_solid(radius)),
        Kind::Cup => (
            vec![Part::new(vessel(radius * 0.76, radius, z, 0.0035), Vec3::ZERO, paint)],
            cylinder_solid(radius * 0.88),
        ),
        Kind::Bowl => {
            (vec![Part::new(vessel(radius * 0.55, radius, z, 0.005), Vec3::ZERO, paint)], cylinder_solid(radius * 0.8))
        }
    };
    Model { parts, solids }
}

fn ball(radius: f32) -> Vec<Solid> {
    vec![Solid { form: Form::Ball { radius }, at: Vec3::ZERO }]
}

fn dimpled(paint: Material) -> Material {
    Material { gloss: 0.22, ..paint }
}

fn vessel(bottom: f32, top: f32, height: f32, wall: f32) -> Shape {
    Shape::Vessel { half_height: height * 0.5, bottom, top, wall }
}

fn can(radius: f32, height: f32, paint: Material, accent: Option<Colour>) -> Vec<Part> {
    let silver = Material { gloss: 0.8, ..Material::matt(Colour::Silver.srgb()) };
    let rim = height * 0.055;
    let body = height - 2.0 * rim;
    let paint = match accent {
        None => paint,
        Some(colour) => {
            paint.with(Pattern::Band { from: -0.13 * height, to: 0.14 * height, colour: linear(colour.srgb()) })
        }
    };
    let top = height * 0.5;
    vec![
        Part::new(cylinder(radius, body), Vec3::ZERO, paint),
        Part::new(cone(radius, radius * 0.84, rim), Vec3::new(0.0, 0.0, top - rim * 0.5), silver),
        Part::new(cone(radius * 0.86, radius, rim), Vec3::new(0.0, 0.0, rim * 0.5 - top), silver),
        Part::new(
            ellipsoid(radius * 0.3, radius * 0.18, 0.0016),
            Vec3::new(radius * 0.2, 0.0, top),
            Material { gloss: 0.7, ..Material::matt(Colour::Grey.srgb()) },
        ),
    ]
}

fn tin(radius: f32, height: f32, paint: Material) -> Vec<Part> {
    let silver = Material { gloss: 0.8, ..Material::matt(Colour::Silver.srgb()) };
    let rim = 0.004_f32.min(height * 0.2);
    vec![
        Part::new(cylinder(radius * 0.985, height - 2.0 * rim), Vec3::ZERO, paint),
        Part::new(cylinder(radius, rim), Vec3::new(0.0, 0.0, (height - rim) * 0.5), silver),
        Part::new(cylinder(radius, rim), Vec3::new(0.0, 0.0, (rim - height) * 0.5), silver),
        Part::new(cylinder(radius * 0.75, 0.0012), Vec3::new(0.0, 0.0, height * 0.5), silver),
    ]
}

fn bottle(radius: f32, height: f32, paint: Material, accent: Option<Colour>) -> Vec<Part> {
    let (body, shoulder, cap) = (height * 0.58, height * 0.14, height * 0.07);
    let neck = height - body - shoulder - cap;
    let bottom = -height * 0.5;
    let glass = Material { gloss: 0.8, ..paint };
    let label = accent.map_or(glass, |colour| {
        glass.with(Pattern::Band { from: -body * 0.28, to: body * 0.22, colour: linear(colour.srgb()) })
    });
    let at = |z: f32| Vec3::new(0.0, 0.0, bottom + z);
    let neck_radius = radius * 0.36;
    vec![
        Part::new(cylinder(radius, body), at(body * 0.5), label),
        Part::new(cone(radius, neck_radius, shoulder), at(body + shoulder * 0.5), glass),
        Part::new(cone(neck_radius, neck_radius * 0.9, neck), at(body + shoulder + neck * 0.5), glass),
        Part::new(cylinder(neck_radius * 1.18, cap), at(height - cap * 0.5), Material { gloss: 0.5, ..glass }),
    ]
}

fn package(size: [f32; 3], colour: Colour, accent: Option<Colour>) -> Vec<Part> {
    let [_, y, z] = size;
    let card = Material { gloss: 0.16, ..Material::matt(colour.srgb()) };
    let card = accent.map_or(card, |accent| {
        card.with(Pattern::Patch { half_width: y * 0.32, from: -z * 0.12, to: z * 0.26, colour: linear(accent.srgb()) })
    });
    let bevel = size.iter().copied().fold(f32::INFINITY, f32::min) * 0.06;
    vec![Part::new(block(size, bevel), Vec3::ZERO, card)]
}

fn carton(size: [f32; 3], colour: Colour, accent: Option<Colour>) -> Vec<Part> {
    let [x, y, z] = size;
    let gable = z * 0.2;
    let body = z - gable;
    let card = Material { gloss: 0.25, ..Material::matt(colour.srgb()) };
    let printed = accent.map_or(card, |accent| {
        card.with(Pattern::Band { from: -body * 0.5, to: -body * 0.1, colour: linear(accent.srgb()) })
    });
    let bottom = -z * 0.5;
    let ridge = 0.008;
    let lean = ((x * 0.5 - ridge * 0.5) / gable).atan();
    let slope = gable / lean.cos();
    let roof = |side: f32| {
        Part::new(
            block([0.004, y * 0.98, slope], 0.0),
            Vec3::new(side * (x * 0.25 + ridge * 0.25 - 0.002), 0.0, bottom + body + gable * 0.5 - 0.002),
            card,
        )
        .turned(Quat::from_rotation_y(-side * lean))
    };
    let gable_wall =
        Part::new(cone(x * 0.62, 0.006, gable * 0.97), Vec3::new(0.0, 0.0, bottom + body + gable * 0.46), card);
    let fin = Part::new(block([ridge, y * 0.98, z * 0.07], 0.0), Vec3::new(0.0, 0.0, z * 0.5 - z * 0.035), card);
    vec![
        Part::new(block([x, y, body], 0.003), Vec3::new(0.0, 0.0, bottom + body * 0.5), printed),
        roof(1.0),
        roof(-1.0),
        gable_wall,
        fin,
    ]
}

fn book(size: [f32; 3], colour: Colour) -> Vec<Part> {
    let [x, y, z] = size;
    let cover = Material { gloss: 0.2, ..Material::matt(colour.srgb()) };
    let paper = Material::matt([232, 226, 208]);
    let board = (z * 0.14).min(0.004);
    vec![
        Part::new(block([x, y, board], 0.0015), Vec3::new(0.0, 0.0, (z - board) * 0.5), cover),
        Part::new(block([x, y, board], 0.0015), Vec3::new(0.0, 0.0, (board - z) * 0.5), cover),
        Part::new(block([board, y, z], 0.0015), Vec3::new((board - x) * 0.5, 0.0, 0.0), cover),
        Part::new(block([x * 0.97, y * 0.96, z - 2.0 * board], 0.0), Vec3::ZERO, paper),
    ]
}

fn apple(radius: f32, height: f32, paint: Material) -> Vec<Part> {
    let skin = Material { gloss: 0.35, ..paint };
    let stalk = Material::matt(Colour::DarkBrown.srgb());
    vec![
        Part::new(ellipsoid(radius, radius, height * 0.46), Vec3::new(0.0, 0.0, -height * 0.04), skin),
        Part::new(cylinder(radius * 0.06, height * 0.16), Vec3::new(0.0, 0.0, height * 0.46), stalk)
            .turned(Quat::from_rotation_y(0.3)),
    ]
}

fn lemon(size: [f32; 3], paint: Material) -> Vec<Part> {
    let [x, y, z] = size;
    let skin = Material { gloss: 0.25, ..paint };
    vec![
        Part::new(ellipsoid(x * 0.46, y * 0.5, z * 0.5), Vec3::ZERO, skin),
        Part::new(ellipsoid(x * 0.1, y * 0.13, z * 0.13), Vec3::new(x * 0.42, 0.0, 0.0), skin),
        Part::new(ellipsoid(x * 0.08, y * 0.1, z * 0.1), Vec3::new(-x * 0.42, 0.0, 0.0), skin),
    ]
}

fn mug(radius: f32, height: f32, paint: Material) -> Vec<Part> {
    let ring = height * 0.29;
    let handle = Shape::Ring { radius: ring, tube: height * 0.062, half_arc: 1.75 };
    // The ring opens along +y of its plane: stand it up, then let it point along -y of the mug.
    let upright = Quat::from_rotation_z(std::f32::consts::PI) * Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    vec![
        Part::new(vessel(radius * 0.97, radius, height, 0.0045), Vec3::ZERO, paint),
        Part::new(handle, Vec3::new(0.0, -radius - ring * 0.12, 0.0), paint).turned(upright),
        Part::new(
            cylinder(radius * 0.9, height * 0.02),
            Vec3::new(0.0, 0.0, height * 0.22),
            Material { gloss: 0.3, ..Material::matt([70, 42, 26]) },
        ),
    ]
}
