//! A small home, a mobile manipulator and an RGB-D camera, simulated.
//!
//! Seeded and deterministic. Knows no transport but the control port's routes, and nothing of how its pictures are
//! looked at.

/// The robot's time.
pub mod clock;
/// The control port.
pub mod control;
/// What things look like, and what they are to physics.
pub mod model;
/// Numbers that look random.
pub mod random;
/// Draws solids by following rays.
pub mod render;
/// The robot's links.
pub mod robot;
/// What stands where before anything moves.
pub mod scene;
/// The flaws of a real camera.
pub mod sensor;
/// The simulator as a service.
pub mod simulator;
/// The world as it moves.
pub mod world;

pub use clock::Pace;
pub use scene::{Scene, generate};
pub use simulator::command::{
    BaseRequest, CameraMode, CameraRequest, MoveRequest, PersonAction, PersonRequest, PlaceRequest, SceneCommand,
    SceneState,
};
pub use simulator::still::{StillRequest, View};
pub use simulator::{CameraConfig, SimConfig, SimError, Simulator};
