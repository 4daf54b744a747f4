//! The world as it moves: bodies under gravity, the robot, the person.
//!
//! Advances by fixed ticks; equal scenes and equal calls give equal worlds. Costs nothing while everything rests.

/// The person: enters, stands, leaves.
pub mod person;

mod physics;

use std::f32::consts::PI;
use std::sync::Arc;

use cerebellum_core::{Pose, TruthObject};
use glam::{DQuat, DVec3};

use crate::model::{Model, furniture, object, room};
use crate::render::Part;
use crate::robot::{BASE_RADIUS_M, Robot};
use crate::scene::{Object, Scene, Surface};

use person::Person;
use physics::{Body, Physics};

/// Ticks in a second of simulated time.
pub const TICKS_PER_SECOND: u64 = 240;

/// Longest time that things get to come to rest.
const SETTLE_TICKS: u64 = 4 * TICKS_PER_SECOND;

pub struct World {
    scene: Arc<Scene>,
    surfaces: Vec<Surface>,
    /// Floors, walls and furniture: drawn, never moved.
    background: Vec<Part>,
    things: Vec<Thing>,
    physics: Physics,
    robot: Robot,
    person: Person,
    tick: u64,
    version: u64,
}

/// A thing that can be grasped, and its body.
struct Thing {
    spec: Object,
    model: Model,
    body: Body,
    instance: u16,
}

/// Why the world did not change.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WorldError {
    #[error("there is no object {name:?}; known objects: {}", .known.join(", "))]
    NoSuchObject { name: String, known: Vec<String> },
    #[error("nothing can stand on {name:?}; known surfaces: {}", .known.join(", "))]
    NoSuchSurface { name: String, known: Vec<String> },
    #[error("there is no waypoint {name:?}; known waypoints: {}", .known.join(", "))]
    NoSuchWaypoint { name: String, known: Vec<String> },
    #[error(
        "the point {x}, {y} is not on {surface:?}, which reaches from -{along:.2} to {along:.2} m along x and from -{across:.2} to {across:.2} m along y of its own middle"
    )]
    Beside { surface: String, x: f64, y: f64, along: f64, across: f64 },
    #[error(
        "the robot cannot stand at {x}, {y}: {obstacle:?} is there; choose a place at least {radius} m away from it"
    )]
    Blocked { obstacle: String, x: f64, y: f64, radius: f32 },
    #[error("{surface:?} has no free place for {object:?}; move something away or name a place with x and y")]
    NoRoom { surface: String, object: String },
    #[error("the place {x}, {y}, {z} is outside the home; give metres in map, within 20 m and up to 3 m high")]
    OutOfBounds { x: f64, y: f64, z: f64 },
    #[error("nobody is in this scene: its file names no person")]
    NoPerson,
}

/// Where a thing is put.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    /// Anywhere free on a surface.
    On { surface: String },
    /// A place on a surface, from its middle in its own axes.
    OnAt { surface: String, x: f64, y: f64 },
    /// The middle of its foot, in `map`.
    At { x: f64, y: f64, z: f64 },
}

impl World {
    /// Builds the scene and lets everything come to rest.
    pub fn new(scene: &Arc<Scene>) -> Self {
        let surfaces = scene.surfaces();
        let mut background = Vec::new();
        let mut physics = Physics::new();
        for room in &scene.rooms {
            background.push(room::floor(room.from, room.to, room.floor));
        }
        for wall in &scene.walls {
            let openings: Vec<_> = wall.openings.iter().map(opening).collect();
            let model = room::wall(wall.from, wall.to, &openings, wall.colour);
            physics.fix(&Pose::IDENTITY, &model.solids);
            background.extend(model.parts);
        }
        for piece in &scene.furniture {
            let model = furniture::model(piece.kind, piece.size, piece.colour, piece.accent);
            let place = Pose::new(
                DVec3::new(piece.at[0].into(), piece.at[1].into(), piece.height.into()),
                DQuat::from_rotation_z(f64::from(piece.yaw_deg).to_radians()),
            );
            physics.fix(&place, &model.solids);
            background.extend(model.parts.iter().map(|part| part.placed(&place)));
        }
        let start = scene.waypoint(&scene.start).map_or(Pose::IDENTITY, base_pose);
        let robot = Robot::stowed(start);
        physics.set_robot(&robot);
        let mut world = Self {
            person: Person::outside(scene.person.as_ref()),
            surfaces,
            background,
            things: Vec::new(),
            physics,
            robot,
            tick: 0,
            version: 0,
            scene: Arc::clone(scene),
        };
        for (index, spec) in scene.objects.iter().enumerate() {
            world.add(spec, index as u16 + 2);
        }
        world.settle();
        world
    }

    fn add(&mut self, spec: &Object, instance: u16) {
        let model = object::model(spec.kind, spec.size, spec.colour, spec.accent);
        let body = self.physics.add(&self.start_of(spec), &model.solids);
        self.things.push(Thing { spec: spec.clone(), model, body, instance });
    }

    /// Where the scene file has a thing.
    fn start_of(&self, spec: &Object) -> Pose {
        let surface = self.surfaces.iter().find(|surface| surface.name == spec.on);
        let (at, yaw, height) = surface.map_or((spec.at, 0.0, 0.0), |s| (s.to_map(spec.at), s.yaw, s.height));
        let yaw = f64::from(yaw) + f64::from(spec.yaw_deg).to_radians();
        standing(spec, DVec3::new(at[0].into(), at[1].into(), height.into()), yaw)
    }

    /// Ticks since the world began.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Changes whenever something that can be seen changed.
    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    pub fn surfaces(&self) -> &[Surface] {
        &self.surfaces
    }

    pub fn robot(&self) -> &Robot {
        &self.robot
    }

    pub fn person(&self) -> &Person {
        &self.person
    }

    /// Whether nothing moves by itself.
    pub fn is_resting(&self) -> bool {
        self.person.is_still() && self.physics.is_resting()
    }

    /// Lets time pass up to a tick. What rests is skipped at no cost.
    pub fn advance_to(&mut self, tick: u64) {
        while self.tick < tick {
            if self.is_resting() {
                self.tick = tick;
                return;
            }
            self.tick += 1;
            if self.person.step() {
                self.physics.set_person(self.person.place());
                self.version += 1;
            }
            if !self.physics.is_resting() {
                self.physics.step();
                self.version += 1;
            }
        }
    }

    /// Lets things come to rest without time passing for anybody else.
    fn settle(&mut self) {
        for _ in 0..SETTLE_TICKS {
            if self.physics.is_resting() {
                break;
            }
            self.physics.step();
        }
        self.version += 1;
    }

    /// Puts a thing somewhere; it falls and comes to rest as time passes.
    pub fn place(&mut self, name: &str, spot: &Spot) -> Result<(), WorldError> {
        let index = self.index_of(name)?;
        let spec = &self.things[index].spec;
        let (foot, yaw) = match spot {
            Spot::At { x, y, z } => (within(*x, *y, *z)?, 0.0),
            Spot::OnAt { surface, x, y } => {
                let surface = self.surface(surface)?;
                if !surface.holds([*x as f32, *y as f32], 0.0) {
                    let [along, across] = surface.half.map(f64::from);
                    return Err(WorldError::Beside { surface: surface.name.clone(), x: *x, y: *y, along, across });
                }
                (on(surface, [*x as f32, *y as f32]), f64::from(surface.yaw))
            }
            Spot::On { surface } => {
                let surface = self.surface(surface)?;
                let Some(at) = self.free_place(surface, index) else {
                    return Err(WorldError::NoRoom { surface: surface.name.clone(), object: name.to_owned() });
                };
                (on(surface, at), f64::from(surface.yaw))
            }
        };
        let place = standing(spec, foot, yaw + f64::from(spec.yaw_deg).to_radians());
        self.physics.put(self.things[index].body, &place);
        self.version += 1;
        Ok(())
    }

    /// Moves a thing by so many metres along the axes of `map`; it falls and comes to rest as time passes.
    pub fn shift(&mut self, name: &str, by: [f64; 3]) -> Result<(), WorldError> {
        let body = self.things[self.index_of(name)?].body;
        let pose = self.physics.pose(body);
        let moved = pose.translation + DVec3::from(by);
        within(moved.x, moved.y, moved.z)?;
        self.physics.put(body, &Pose::new(moved, pose.rotation));
        self.version += 1;
        Ok(())
    }

    /// Puts everything back to where the scene file has it, at once: things, the base, the person outside. Time goes on.
    pub fn reset(&mut self) {
        for index in 0..self.things.len() {
            let place = self.start_of(&self.things[index].spec);
            self.physics.put(self.things[index].body, &place);
        }
        self.person = Person::outside(self.scene.person.as_ref());
        self.robot = Robot::stowed(self.scene.waypoint(&self.scene.start).map_or(Pose::IDENTITY, base_pose));
        self.physics.set_robot(&self.robot);
        self.version += 1;
    }

    /// The place on the surface nearest its middle where the thing touches nothing.
    fn free_place(&self, surface: &Surface, index: usize) -> Option<[f32; 2]> {
        let radius = |spec: &Object| spec.size[0].hypot(spec.size[1]) * 0.5;
        let own = radius(&self.things[index].spec);
        let others: Vec<_> = self.things.iter().enumerate().filter(|(other, _)| *other != index).collect();
        let is_free = |at: [f32; 2]| {
            let place = on(surface, at);
            others.iter().all(|(_, thing)| {
                let centre = self.physics.pose(thing.body).translation;
                let apart = (centre - place).truncate().length() as f32;
                let near_height = (centre.z - place.z).abs() < 0.5;
                !near_height || apart > own + radius(&thing.spec) + 0.01
            })
        };
        let step = 0.03_f32;
        let (columns, rows) = ((surface.half[0] / step) as i32, (surface.half[1] / step) as i32);
        let places = (-columns..=columns).flat_map(|x| (-rows..=rows).map(move |y| [x as f32 * step, y as f32 * step]));
        let mut places: Vec<_> = places.filter(|at| surface.holds(*at, own.min(surface.half[0] * 0.8))).collect();
        places.sort_by(|a, b| a[0].hypot(a[1]).total_cmp(&b[0].hypot(b[1])));
        places.into_iter().find(|at| is_free(*at))
    }

    /// Lets the person come in from the door.
    pub fn person_enters(&mut self) -> Result<(), WorldError> {
        self.scene.person.as_ref().ok_or(WorldError::NoPerson)?;
        self.person.enter();
        self.version += 1;
        Ok(())
    }

    /// Lets the person go out by the door.
    pub fn person_leaves(&mut self) -> Result<(), WorldError> {
        self.scene.person.as_ref().ok_or(WorldError::NoPerson)?;
        self.person.leave();
        self.version += 1;
        Ok(())
    }

    /// Puts the robot's base somewhere at once.
    pub fn set_base(&mut self, x: f64, y: f64, yaw: f64) -> Result<(), WorldError> {
        within(x, y, 0.0)?;
        if let Some(obstacle) = self.obstacle(x, y) {
            return Err(WorldError::Blocked { obstacle, x, y, radius: BASE_RADIUS_M });
        }
        self.robot.map_from_base = Pose::planar(x, y, yaw);
        self.physics.set_robot(&self.robot);
        self.version += 1;
        Ok(())
    }

    /// The piece of furniture with a surface that the base would stand in.
    fn obstacle(&self, x: f64, y: f64) -> Option<String> {
        let blocking = self.surfaces.iter().find(|surface| {
            let to_it = DVec3::new(x, y, 0.0) - on(surface, [0.0, 0.0]);
            let own = DQuat::from_rotation_z(-f64::from(surface.yaw)) * to_it;
            let beyond = |at: f64, half: f32| (at.abs() - f64::from(half)).max(0.0);
            beyond(own.x, surface.half[0]).hypot(beyond(own.y, surface.half[1])) < f64::from(BASE_RADIUS_M)
        });
        blocking.map(|surface| surface.name.clone())
    }

    /// Puts the robot's base at a waypoint at once.
    pub fn set_base_to(&mut self, name: &str) -> Result<(), WorldError> {
        let Some(waypoint) = self.scene.waypoint(name) else {
            let known = self.scene.waypoints.iter().map(|waypoint| waypoint.name.clone()).collect();
            return Err(WorldError::NoSuchWaypoint { name: name.to_owned(), known });
        };
        let pose = base_pose(waypoint);
        self.set_base(pose.translation.x, pose.translation.y, pose.yaw())
    }

    /// All there is to draw.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = self.background.clone();
        for thing in &self.things {
            let pose = self.physics.pose(thing.body);
            parts.extend(thing.model.parts.iter().map(|part| part.placed(&pose).belonging_to(thing.instance)));
        }
        parts.extend(self.person.parts().into_iter().map(|part| part.belonging_to(PERSON_INSTANCE)));
        parts.extend(self.robot.parts());
        parts
    }

    /// All there is to know.
    pub fn truth(&self) -> Vec<TruthObject> {
        let thing = |thing: &Thing| TruthObject {
            instance: thing.instance,
            name: thing.spec.name.clone(),
            label: thing.spec.label.clone(),
            is_person: false,
            is_graspable: true,
            centre: self.physics.pose(thing.body).translation,
        };
        let mut objects: Vec<_> = self.things.iter().map(thing).collect();
        if let (Some(spec), Some(place)) = (&self.scene.person, self.person.place()) {
            objects.push(TruthObject {
                instance: PERSON_INSTANCE,
                name: "person".into(),
                label: spec.label.clone(),
                is_person: true,
                is_graspable: false,
                centre: place.translation + DVec3::Z * f64::from(crate::model::person::HEIGHT_M) * 0.5,
            });
        }
        objects
    }

    /// Pose of a thing's middle.
    pub fn object_pose(&self, name: &str) -> Result<Pose, WorldError> {
        Ok(self.physics.pose(self.things[self.index_of(name)?].body))
    }

    /// The surface a thing stands on, if any.
    pub fn support_of(&self, name: &str) -> Result<Option<&Surface>, WorldError> {
        let thing = &self.things[self.index_of(name)?];
        let centre = self.physics.pose(thing.body).translation;
        let reach = f64::from(thing.spec.size.iter().copied().fold(0.0, f32::max)) * 0.6 + 0.01;
        Ok(self.surfaces.iter().find(|surface| {
            let (dx, dy) = (centre.x - f64::from(surface.centre[0]), centre.y - f64::from(surface.centre[1]));
            let (sin, cos) = f64::from(surface.yaw).sin_cos();
            let at = [(cos * dx + sin * dy) as f32, (cos * dy - sin * dx) as f32];
            let above = centre.z - f64::from(surface.height);
            surface.holds(at, 0.0) && (0.0..reach).contains(&above)
        }))
    }

    /// The names of all things.
    pub fn object_names(&self) -> impl Iterator<Item = &str> {
        self.things.iter().map(|thing| thing.spec.name.as_str())
    }

    /// What a person calls the thing.
    pub fn label_of(&self, name: &str) -> Option<&str> {
        self.things.iter().find(|thing| thing.spec.name == name).map(|thing| thing.spec.label.as_str())
    }

    /// By its name, or by its label when only one thing has it.
    fn index_of(&self, name: &str) -> Result<usize, WorldError> {
        let by_name = self.things.iter().position(|thing| thing.spec.name == name);
        let mut by_label = self.things.iter().enumerate().filter(|(_, thing)| thing.spec.label == name);
        by_name.or_else(|| by_label.next().filter(|_| by_label.next().is_none()).map(|(index, _)| index)).ok_or_else(
            || {
                let known = self.object_names().map(str::to_owned).collect();
                WorldError::NoSuchObject { name: name.to_owned(), known }
            },
        )
    }

    fn surface(&self, name: &str) -> Result<&Surface, WorldError> {
        self.surfaces.iter().find(|surface| surface.name == name).ok_or_else(|| {
            let known = self.surfaces.iter().map(|surface| surface.name.clone()).collect();
            WorldError::NoSuchSurface { name: name.to_owned(), known }
        })
    }
}

/// The person's number in pictures.
pub const PERSON_INSTANCE: u16 = 1;

fn base_pose(waypoint: &crate::scene::Waypoint) -> Pose {
    let yaw = f64::from(waypoint.yaw_deg).to_radians();
    Pose::planar(waypoint.at[0].into(), waypoint.at[1].into(), yaw)
}

fn opening(opening: &crate::scene::Opening) -> room::Opening {
    room::Opening {
        middle: opening.at,
        width: opening.width,
        sill: opening.height[0],
        head: opening.height[1],
        filling: opening.filling,
    }
}

/// The pose of a thing whose foot stands at a place, a hair above it.
fn standing(spec: &Object, foot: DVec3, yaw: f64) -> Pose {
    let middle = foot + DVec3::Z * (f64::from(spec.size[2]) * 0.5 + 0.001);
    Pose::new(middle, DQuat::from_rotation_z(yaw % (2.0 * f64::from(PI))))
}

fn on(surface: &Surface, at: [f32; 2]) -> DVec3 {
    let [x, y] = surface.to_map(at);
    DVec3::new(x.into(), y.into(), surface.height.into())
}

fn within(x: f64, y: f64, z: f64) -> Result<DVec3, WorldError> {
    let is_inside = x.abs() <= 20.0 && y.abs() <= 20.0 && (0.0..=3.0).contains(&z);
    if is_inside { Ok(DVec3::new(x, y, z)) } else { Err(WorldError::OutOfBounds { x, y, z }) }
}

#[cfg(test)]
mod tests;
