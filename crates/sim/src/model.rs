//! What things look like, and what they are to physics.
//!
//! Knows sizes and colours, not where things stand.

/// Colour words.
pub mod colour;
/// Furniture.
pub mod furniture;
/// Things that can be grasped.
pub mod object;
/// A person, standing or walking.
pub mod person;
/// Floors, walls, windows and doors.
pub mod room;

use glam::Vec3;

use crate::render::{Part, Shape};

pub use colour::Colour;

/// A thing in its own frame.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub parts: Vec<Part>,
    pub solids: Vec<Solid>,
}

/// What physics feels of a thing. Metres, in the thing's frame; round ones stand along `z`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    pub form: Form,
    pub at: Vec3,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    Box { half: Vec3 },
    Cylinder { half_height: f32, radius: f32 },
    Ball { radius: f32 },
}

impl Model {
    /// Adds a part and a box of physics of the same size.
    pub(crate) fn add_block(&mut self, part: Part) {
        self.solids.push(Solid { form: Form::Box { half: part.shape.half_extent() }, at: part.position });
        self.parts.push(part);
    }
}

pub(crate) fn block(size: [f32; 3], bevel: f32) -> Shape {
    Shape::Box { half: Vec3::from(size) * 0.5, bevel }
}

pub(crate) fn cylinder(radius: f32, height: f32) -> Shape {
    cone(radius, radius, height)
}

pub(crate) fn cone(bottom: f32, top: f32, height: f32) -> Shape {
    Shape::Cone { half_height: height * 0.5, bottom, top }
}

pub(crate) fn ellipsoid(x: f32, y: f32, z: f32) -> Shape {
    Shape::Ellipsoid { radii: Vec3::new(x, y, z) }
}

pub(crate) fn capsule(radius: f32, length: f32) -> Shape {
    Shape::Capsule { half_height: length * 0.5, radius }
}
