use cerebellum_core::Pose;
use glam::{DMat3, DQuat, DVec3};
use image::ImageEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use serde::{Deserialize, Serialize};

use super::SimError;
use super::core::intrinsics;
use crate::render::{Camera, Looks, render};
use crate::world::World;

/// A picture for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StillRequest {
    #[serde(default)]
    pub view: View,
    #[serde(default = "width")]
    pub width: u32,
    #[serde(default = "height")]
    pub height: u32,
}

fn width() -> u32 {
    640
}

fn height() -> u32 {
    480
}

impl Default for StillRequest {
    fn default() -> Self {
        Self { view: View::Head, width: width(), height: height() }
    }
}

/// From where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// The robot's head camera.
    #[default]
    Head,
    /// The kitchen with the robot, from a corner.
    Room,
    /// The living room, from its door.
    Living,
    /// Close to the kitchen table.
    Table,
    /// The person's face, or where it would be.
    Person,
    /// The robot, from before it.
    Robot,
    /// The whole home, from above.
    Plan,
}

/// Pixels on a side, at most.
pub const MAX_SIDE: u32 = 1920;

/// Draws and encodes the picture.
pub(super) fn take(world: &World, request: &StillRequest, pool: &rayon::ThreadPool) -> Result<Vec<u8>, SimError> {
    let size = 16..=MAX_SIDE;
    if !size.contains(&request.width) || !size.contains(&request.height) {
        let reason = format!("{} by {} pixels: each side is 16 to {MAX_SIDE}", request.width, request.height);
        return Err(SimError::BadRequest { reason });
    }
    let camera = Camera {
        intrinsics: intrinsics(request.width, request.height),
        map_from_camera: viewpoint(world, request.view),
    };
    let picture = render(&world.parts(), &camera, Looks::Still, pool);
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Best, FilterType::Adaptive)
        .write_image(&picture.rgb, picture.width, picture.height, image::ExtendedColorType::Rgb8)
        .map_err(|error| SimError::BadRequest { reason: format!("the picture cannot be encoded: {error}") })?;
    Ok(png)
}

fn viewpoint(world: &World, view: View) -> Pose {
    let base = world.robot().map_from_base;
    let person = world.person().place();
    match view {
        View::Head => world.robot().map_from_camera(),
        View::Room => look(DVec3::new(0.25, 0.35, 2.15), DVec3::new(2.75, 2.3, 0.72)),
        View::Living => look(DVec3::new(-0.25, 0.5, 1.75), DVec3::new(-3.2, 2.5, 0.55)),
        View::Table => look(DVec3::new(1.35, 1.35, 1.2), DVec3::new(2.2, 2.08, 0.76)),
        View::Person => {
            let place = person.unwrap_or_else(|| Pose::planar(3.95, 1.6, 2.9));
            let eye = place.transform_point(DVec3::new(1.0, -0.22, 1.56));
            look(eye, place.transform_point(DVec3::new(0.0, 0.0, 1.4)))
        }
        View::Robot => {
            let eye = base.transform_point(DVec3::new(1.3, 1.15, 1.5));
            look(eye, base.transform_point(DVec3::new(0.0, 0.0, 0.72)))
        }
        View::Plan => look(DVec3::new(0.1, -4.4, 9.6), DVec3::new(0.1, 0.35, 0.0)),
    }
}

/// A camera at `eye` that looks at `target`, upright.
fn look(eye: DVec3, target: DVec3) -> Pose {
    let forward = (target - eye).normalize();
    let right = forward.cross(DVec3::Z).normalize();
    let down = forward.cross(right);
    Pose::new(eye, DQuat::from_mat3(&DMat3::from_cols(right, down, forward)))
}
