//! Where things are, how to take them and where there is room, from single looks of a camera. It moves nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Body, Clock, FrameSource, VisionEngine};
use cerebellum_geometry::grasp::Gripper;
use cerebellum_wire::tools::locate as words;
use cerebellum_wire::{ToolError, ToolOutcome, ToolSpec};
use serde::Serialize;

mod eyes;
mod grasps;
mod pixels;
mod places;
mod prompt;
mod scene;
mod seek;
mod server;
#[cfg(test)]
mod tests;

/// What the owner sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What the gripper can do.
    pub gripper: Gripper,
    /// Quality of pictures as JPEG, 1 to 100.
    pub jpeg_quality: u8,
    /// The owner's text of `prompt://system`, read anew each time; the embedded one when `None` or unreadable.
    pub prompt: Option<PathBuf>,
    /// How long a picture is waited for.
    pub frame_deadline: Duration,
    /// How old a picture may be and still count as new.
    pub frame_age_max: Duration,
    /// How long the engine may look at one picture.
    pub look_deadline: Duration,
    /// Room around the middle of what is put down, in metres: a thing of 8 cm then keeps 5 cm from every edge.
    pub place_radius_m: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            gripper: Gripper::default(),
            jpeg_quality: 80,
            prompt: None,
            frame_deadline: Duration::from_secs(2),
            frame_age_max: Duration::from_secs(1),
            look_deadline: Duration::from_secs(20),
            place_radius_m: 0.09,
        }
    }
}

/// What the server looks with.
#[derive(Clone)]
pub struct Ports {
    /// Where pictures come from.
    pub frames: Arc<dyn FrameSource>,
    /// What finds things in them.
    pub engine: Arc<dyn VisionEngine>,
    /// The robot, for its reach and its map; without one nothing counts as reachable.
    pub body: Option<Arc<dyn Body>>,
    /// The robot's clock.
    pub clock: Arc<dyn Clock>,
}

/// The `locate` server.
pub struct Server {
    ports: Ports,
    config: Config,
    eyes: eyes::Eyes,
    specs: Vec<ToolSpec>,
}

impl Server {
    /// A server over a camera and an engine. It looks only when it is asked.
    pub fn new(ports: Ports, config: Config) -> Self {
        let eyes = eyes::Eyes::new(&ports, &config);
        Self { ports, config, eyes, specs: words::specs() }
    }
}

/// An answer that ends the call early.
struct Ended(ToolOutcome);

impl Ended {
    /// The outcome is a no that the tool worked out.
    fn no(code: &str, message: impl Into<String>, next: &str, data: &impl Serialize) -> Self {
        Self(ToolOutcome::declined(&ToolError::new(code, message, next), data))
    }

    /// The tool could not do its work.
    fn failed(code: &str, message: impl Into<String>, next: &str) -> Self {
        Self(ToolOutcome::failed(&ToolError::new(code, message, next), &()))
    }
}

impl From<ToolError> for Ended {
    fn from(error: ToolError) -> Self {
        Self(ToolOutcome::failed(&error, &()))
    }
}
