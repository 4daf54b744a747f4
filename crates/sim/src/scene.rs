//! The scene: what stands where before anything moves.
//!
//! A scene comes from a YAML file or is made up from a seed; both are checked before anything is built from them.

/// Reading and checking scene files.
pub mod file;
/// Scenes made up from a seed.
pub mod generate;

use serde::{Deserialize, Serialize};

pub use file::{SceneError, SceneFault};
pub use generate::generate;

use crate::model::{Colour, furniture, object, room};

/// A whole scene, checked: names are unique, surfaces exist, things lie on them. Metres and degrees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// What the scene is called.
    pub name: String,
    /// Where all randomness begins.
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub rooms: Vec<Room>,
    #[serde(default)]
    pub walls: Vec<Wall>,
    #[serde(default)]
    pub furniture: Vec<Furniture>,
    #[serde(default)]
    pub objects: Vec<Object>,
    pub waypoints: Vec<Waypoint>,
    #[serde(default)]
    pub person: Option<Person>,
    /// The waypoint where the robot begins.
    pub start: String,
}

/// A room: a floor with a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Room {
    pub name: String,
    pub from: [f32; 2],
    pub to: [f32; 2],
    pub floor: room::Floor,
}

/// A wall along a line, with its holes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wall {
    pub from: [f32; 2],
    pub to: [f32; 2],
    #[serde(default = "white")]
    pub colour: Colour,
    #[serde(default)]
    pub openings: Vec<Opening>,
}

/// A hole in a wall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// Metres along the wall from its start to the middle of the hole.
    pub at: f32,
    pub width: f32,
    /// Height of its lower and upper edge.
    pub height: [f32; 2],
    pub filling: room::Filling,
}

/// A piece of furniture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Furniture {
    pub name: String,
    pub kind: furniture::Kind,
    /// Its middle.
    pub at: [f32; 2],
    /// Height of its foot: pictures and cupboards hang.
    #[serde(default)]
    pub height: f32,
    /// Where its front looks; 0 is along `+x`.
    #[serde(default)]
    pub yaw_deg: f32,
    /// Depth, width, height.
    pub size: [f32; 3],
    pub colour: Colour,
    #[serde(default)]
    pub accent: Option<Colour>,
}

/// A thing that can be grasped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Unique name.
    pub name: String,
    /// What a person calls it.
    pub label: String,
    pub kind: object::Kind,
    pub colour: Colour,
    #[serde(default)]
    pub accent: Option<Colour>,
    /// Its box, in its own axes.
    pub size: [f32; 3],
    /// The furniture it stands on.
    pub on: String,
    /// Its middle, from the middle of the surface, in the axes of the furniture.
    pub at: [f32; 2],
    #[serde(default)]
    pub yaw_deg: f32,
}

/// A place for the robot's base.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    pub name: String,
    pub at: [f32; 2],
    pub yaw_deg: f32,
}

/// Where the person comes from and stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Person {
    pub label: String,
    /// From the door, where the person appears, to the place where the person stands.
    pub path: Vec<[f32; 2]>,
    /// Where the person looks when standing.
    pub faces: [f32; 2],
}

/// A flat top that things can stand on.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// The furniture's name.
    pub name: String,
    pub centre: [f32; 2],
    pub height: f32,
    /// Half sides along the furniture's axes.
    pub half: [f32; 2],
    pub yaw: f32,
}

impl Scene {
    /// The home that is built in.
    pub fn home() -> Self {
        file::parse(include_str!("../scenes/home.yaml"), "scenes/home.yaml")
            .expect("a test holds the built-in scene valid")
    }

    /// All tops that things can stand on.
    pub fn surfaces(&self) -> Vec<Surface> {
        self.furniture.iter().filter_map(Furniture::surface).collect()
    }

    /// The waypoint of that name.
    pub fn waypoint(&self, name: &str) -> Option<&Waypoint> {
        self.waypoints.iter().find(|waypoint| waypoint.name == name)
    }
}

impl Furniture {
    /// Its top, if things can stand on it.
    pub fn surface(&self) -> Option<Surface> {
        let height = self.height + self.kind.surface_m(self.size)?;
        let half = [self.size[0] * 0.5, self.size[1] * 0.5];
        Some(Surface { name: self.name.clone(), centre: self.at, height, half, yaw: self.yaw_deg.to_radians() })
    }
}

impl Surface {
    /// A place on it, given from its middle in its own axes, in `map`.
    pub fn to_map(&self, at: [f32; 2]) -> [f32; 2] {
        let (sin, cos) = self.yaw.sin_cos();
        [self.centre[0] + cos * at[0] - sin * at[1], self.centre[1] + sin * at[0] + cos * at[1]]
    }

    /// Whether a place in its own axes lies on it, `margin` metres from the edge or more.
    pub fn holds(&self, at: [f32; 2], margin: f32) -> bool {
        at[0].abs() + margin <= self.half[0] && at[1].abs() + margin <= self.half[1]
    }
}

fn white() -> Colour {
    Colour::White
}
