//! Depth to planes, components, masks and free space.
//!
//! Pure algorithms over one RGB-D picture: which level surfaces it shows, what stands on them, of what colour and shape,
//! where people are and where room is free. No IO, no language, no memory of earlier pictures, and no knowledge of a
//! simulator: the same code serves any registered RGB-D camera.
#![warn(missing_docs)]

/// The pinhole camera in a level frame.
pub mod camera;
mod classes;
/// The point that a click shows.
pub mod click;
/// Colour words of pixels.
pub mod colour;
mod components;
/// Outlines of masks.
pub mod contour;
mod fit;
/// Free regions of a support.
pub mod free;
/// Where fingers go to take a thing.
pub mod grasp;
/// Convex polygons on a level surface.
pub mod hull;
mod level;
mod mask;
/// People.
pub mod person;
/// Supports: level surfaces that things stand on.
pub mod plane;
/// From a picture to a scene.
pub mod scene;
/// Shapes of things.
pub mod shape;
mod split;
mod surface;

pub use colour::ColourName;
pub use free::FreeRegion;
pub use person::Person;
pub use plane::{Support, SupportKind};
pub use scene::{Analyser, Object, Scene, ViewError};
pub use shape::{Shape, ShapeFit};
