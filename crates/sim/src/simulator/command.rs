use serde::{Deserialize, Serialize};

use super::SimError;
use crate::world::person::Stage;
use crate::world::{Spot, World};

/// One change of the scene.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneCommand {
    Place(PlaceRequest),
    Move(MoveRequest),
    Person(PersonRequest),
    Camera(CameraRequest),
    Base(BaseRequest),
    /// Everything stands as at the start, the person is outside, and the camera sees.
    Reset(ResetRequest),
}

/// Puts an object on a surface, or anywhere. Metres.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceRequest {
    /// Its name, or its label when only one object has it.
    pub object: String,
    /// A surface. With `x` and `y` they count from its middle in its own axes, without them any free place is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    /// Height of its foot in `map`, when there is no surface; the floor if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
}

/// Moves an object by so many metres along the axes of `map`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    pub object: String,
    #[serde(default)]
    pub dx: f64,
    #[serde(default)]
    pub dy: f64,
    #[serde(default)]
    pub dz: f64,
}

/// Lets the person come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonRequest {
    pub action: PersonAction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonAction {
    /// Walks in from the door and stays; turns back when on the way out.
    Enter,
    /// Walks out by the door.
    Leave,
}

/// Blinds the camera, or lets it see again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CameraRequest {
    pub mode: CameraMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CameraMode {
    /// Sees.
    Open,
    /// Something covers the lens: black pictures without depth, fresh stamps.
    Covered,
    /// The driver hangs: the last picture and its stamp again and again.
    Frozen,
}

/// Puts everything back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetRequest {}

/// Puts the robot's base at a waypoint, or at a place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaseRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waypoint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaw_deg: Option<f64>,
}

pub(super) enum BaseTarget {
    Waypoint(String),
    Pose { x: f64, y: f64, yaw: f64 },
}

impl PlaceRequest {
    pub(super) fn spot(&self) -> Result<Spot, SimError> {
        match (&self.on, self.x, self.y, self.z) {
            (Some(surface), None, None, None) => Ok(Spot::On { surface: surface.clone() }),
            (Some(surface), Some(x), Some(y), None) => Ok(Spot::OnAt { surface: surface.clone(), x, y }),
            (None, Some(x), Some(y), z) => Ok(Spot::At { x, y, z: z.unwrap_or(0.0) }),
            _ => Err(SimError::BadRequest {
                reason: "say where: `on` alone, `on` with `x` and `y`, or `x` and `y` with or without `z`".into(),
            }),
        }
    }
}

impl BaseRequest {
    pub(super) fn target(&self) -> Result<BaseTarget, SimError> {
        match (&self.waypoint, self.x, self.y) {
            (Some(name), None, None) => Ok(BaseTarget::Waypoint(name.clone())),
            (None, Some(x), Some(y)) => {
                let yaw = self.yaw_deg.unwrap_or(0.0);
                if !yaw.is_finite() {
                    return Err(SimError::BadRequest { reason: "yaw_deg is not a finite number".into() });
                }
                Ok(BaseTarget::Pose { x, y, yaw: yaw.to_radians() })
            }
            _ => Err(SimError::BadRequest {
                reason: "say where: `waypoint`, or `x` and `y` with or without `yaw_deg`".into(),
            }),
        }
    }
}

/// What stands where. Metres and degrees, in `map`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneState {
    pub scene: String,
    /// Seconds of simulated time since the start.
    pub time_s: f64,
    pub robot: BaseState,
    pub camera: CameraMode,
    /// `outside`, `entering`, `standing` or `leaving`; `null` when the scene has no person.
    pub person: Option<PersonState>,
    pub objects: Vec<ObjectState>,
    pub surfaces: Vec<String>,
    pub waypoints: Vec<String>,
    /// Whether something still moves.
    pub moving: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaseState {
    pub x: f64,
    pub y: f64,
    pub yaw_deg: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonState {
    Outside,
    Entering,
    Standing,
    Leaving,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectState {
    pub name: String,
    pub label: String,
    /// Its middle.
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub yaw_deg: f64,
    /// The surface it stands on.
    pub on: Option<String>,
}

impl SceneState {
    pub(super) fn of(world: &World, camera: CameraMode) -> Self {
        let base = world.robot().map_from_base;
        let person = match world.person().stage() {
            _ if world.scene().person.is_none() => None,
            Stage::Outside => Some(PersonState::Outside),
            Stage::Entering { .. } => Some(PersonState::Entering),
            Stage::Standing => Some(PersonState::Standing),
            Stage::Leaving { .. } => Some(PersonState::Leaving),
        };
        let object = |truth: cerebellum_core::TruthObject| {
            let yaw = world.object_pose(&truth.name).map_or(0.0, |pose| pose.yaw());
            let on = world.support_of(&truth.name).ok().flatten().map(|surface| surface.name.clone());
            ObjectState {
                x: millimetres(truth.centre.x),
                y: millimetres(truth.centre.y),
                z: millimetres(truth.centre.z),
                yaw_deg: (yaw.to_degrees() * 10.0).round() / 10.0,
                name: truth.name,
                label: truth.label,
                on,
            }
        };
        Self {
            scene: world.scene().name.clone(),
            time_s: millimetres(world.tick() as f64 / crate::world::TICKS_PER_SECOND as f64),
            robot: BaseState {
                x: millimetres(base.translation.x),
                y: millimetres(base.translation.y),
                yaw_deg: (base.yaw().to_degrees() * 10.0).round() / 10.0,
            },
            camera,
            person,
            objects: world.truth().into_iter().filter(|truth| truth.is_graspable).map(object).collect(),
            surfaces: world.surfaces().iter().map(|surface| surface.name.clone()).collect(),
            waypoints: world.scene().waypoints.iter().map(|waypoint| waypoint.name.clone()).collect(),
            moving: !world.is_resting(),
        }
    }
}

fn millimetres(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
