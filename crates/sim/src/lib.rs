//! A small home, a mobile manipulator and an RGB-D camera, simulated.
//!
//! Seeded and deterministic. Knows no transport but the control port's routes, and nothing of how its pictures are
//! looked at.

/// What things look like, and what they are to physics.
pub mod model;
/// Draws solids by following rays.
pub mod render;
/// The robot's links.
pub mod robot;
/// What stands where before anything moves.
pub mod scene;
/// The world as it moves.
pub mod world;
