use cerebellum_core::Pose;
use glam::{DQuat, DVec3};
use rapier3d::prelude as rapier;

use super::TICKS_PER_SECOND;
use crate::model::{Form, Solid, person};
use crate::robot::{BASE_RADIUS_M, BODY_HEIGHT_M, Robot};

/// Bodies under gravity. Furniture stands still, things fall, the robot and the person go where they are put.
pub(super) struct Physics {
    world: rapier::PhysicsWorld,
    robot: rapier::RigidBodyHandle,
    person: rapier::RigidBodyHandle,
    /// A body was put somewhere, and the engine will notice only in its next step.
    is_stirred: bool,
}

/// A thing that falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body(rapier::RigidBodyHandle);

/// Where the person's body waits while the person is not in the home.
const AWAY: rapier::Vector = rapier::Vector::new(0.0, 0.0, -50.0);
const DENSITY: f32 = 400.0;

impl Physics {
    pub(super) fn new() -> Self {
        let mut world = rapier::PhysicsWorld::new();
        world.gravity = rapier::Vector::new(0.0, 0.0, -9.81);
        world.integration_parameters.dt = 1.0 / TICKS_PER_SECOND as f32;
        let floor = rapier::ColliderBuilder::cuboid(50.0, 50.0, 0.5).translation(rapier::Vector::new(0.0, 0.0, -0.5));
        world.insert(rapier::RigidBodyBuilder::fixed(), floor.friction(0.8));
        let upright = |radius: f32, height: f32| {
            standing_cylinder(height * 0.5, radius).translation(rapier::Vector::new(0.0, 0.0, height * 0.5))
        };
        let body = rapier::RigidBodyBuilder::kinematic_position_based();
        let (robot, _) = world.insert(body.clone(), upright(BASE_RADIUS_M, BODY_HEIGHT_M));
        let (person, _) = world.insert(body.translation(AWAY), upright(person::RADIUS_M, person::HEIGHT_M));
        Self { world, robot, person, is_stirred: false }
    }

    /// Adds something that never moves.
    pub(super) fn fix(&mut self, place: &Pose, solids: &[Solid]) {
        if solids.is_empty() {
            return;
        }
        let body = self.world.insert_body(rapier::RigidBodyBuilder::fixed().pose(to_rapier(place)));
        for solid in solids {
            self.world.insert_collider(collider(solid), Some(body));
        }
    }

    /// Adds something that falls.
    pub(super) fn add(&mut self, place: &Pose, solids: &[Solid]) -> Body {
        let body = rapier::RigidBodyBuilder::dynamic().pose(to_rapier(place)).angular_damping(3.0).linear_damping(0.2);
        let body = self.world.insert_body(body);
        for solid in solids {
            self.world.insert_collider(collider(solid).density(DENSITY), Some(body));
        }
        self.is_stirred = true;
        Body(body)
    }

    pub(super) fn pose(&self, body: Body) -> Pose {
        from_rapier(self.world.bodies[body.0].position())
    }

    /// Puts a body somewhere, at rest, and lets it fall from there.
    pub(super) fn put(&mut self, body: Body, place: &Pose) {
        // What leaned on it must notice that it is gone.
        self.world.wake_up_all(true);
        self.is_stirred = true;
        let body = &mut self.world.bodies[body.0];
        body.set_position(to_rapier(place), true);
        body.set_linvel(rapier::Vector::ZERO, true);
        body.set_angvel(rapier::Vector::ZERO, true);
    }

    pub(super) fn set_robot(&mut self, robot: &Robot) {
        self.world.bodies[self.robot].set_position(to_rapier(&robot.map_from_base), true);
    }

    pub(super) fn set_person(&mut self, place: Option<Pose>) {
        let place = place.map_or(rapier::Pose::from_parts(AWAY, rapier::Rotation::IDENTITY), |place| to_rapier(&place));
        self.world.bodies[self.person].set_next_kinematic_position(place);
        self.world.bodies[self.person].set_position(place, false);
    }

    pub(super) fn is_resting(&self) -> bool {
        !self.is_stirred && self.world.active_bodies().all(|(_, body)| !body.is_dynamic())
    }

    pub(super) fn step(&mut self) {
        self.world.step();
        self.is_stirred = false;
    }
}

fn collider(solid: &Solid) -> rapier::ColliderBuilder {
    let shape = match solid.form {
        Form::Box { half } => rapier::ColliderBuilder::cuboid(half.x, half.y, half.z),
        Form::Cylinder { half_height, radius } => {
            return standing_cylinder(half_height, radius).translation(vector(solid.at)).friction(0.7);
        }
        Form::Ball { radius } => rapier::ColliderBuilder::ball(radius),
    };
    shape.translation(vector(solid.at)).friction(0.7)
}

/// Cylinders of the engine stand along `y`.
fn standing_cylinder(half_height: f32, radius: f32) -> rapier::ColliderBuilder {
    let upright = rapier::Vector::new(std::f32::consts::FRAC_PI_2, 0.0, 0.0);
    rapier::ColliderBuilder::cylinder(half_height, radius).rotation(upright)
}

fn vector(v: glam::Vec3) -> rapier::Vector {
    rapier::Vector::new(v.x, v.y, v.z)
}

fn to_rapier(pose: &Pose) -> rapier::Pose {
    let (t, q) = (pose.translation, pose.rotation);
    rapier::Pose::from_parts(
        rapier::Vector::new(t.x as f32, t.y as f32, t.z as f32),
        rapier::Rotation::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32),
    )
}

fn from_rapier(pose: &rapier::Pose) -> Pose {
    let (t, q) = (pose.translation, pose.rotation);
    Pose::new(
        DVec3::new(t.x.into(), t.y.into(), t.z.into()),
        DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into()).normalize(),
    )
}
