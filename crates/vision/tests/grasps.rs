//! How things of the simulated home are taken, measured from its pictures and held against the truth.

use std::sync::Arc;

use cerebellum_core::{Mask, PixelBox};
use cerebellum_geometry::grasp::{Approach, Gripper, Measured};
use cerebellum_sim::Scene;
use cerebellum_sim::world::World;
use glam::DVec3;

#[path = "home/view.rs"]
mod view;

#[test]
fn what_can_be_taken_from_the_kitchen_table_is_taken_near_its_middle() {
    let mut world = World::new(&Arc::new(Scene::home()));
    world.set_base_to("kitchen table").expect("the home has that waypoint");
    let view = view::head(&world, 640, 1);
    let (width, height) = (view.truth.width, view.truth.height);
    let (mut taken, mut said) = (0, Vec::new());
    for object in view.truth.objects.iter().filter(|object| object.is_graspable) {
        let data: Vec<u8> = view.truth.ids.iter().map(|&id| if id == object.instance { 255 } else { 0 }).collect();
        let mask = Mask::new(PixelBox { x: 0, y: 0, width, height }, data).expect("it has a value for each pixel");
        if mask.pixels() < 400 {
            continue;
        }
        let grasps = match Measured::of(&view.frame, &mask).map(|measured| measured.grasps(&Gripper::default())) {
            Ok(Ok(grasps)) => grasps,
            other => {
                said.push(format!("{}: {other:?}", object.name));
                continue;
            }
        };
        let best = &grasps[0];
        let off = best.tip.translation.truncate().distance(object.centre.truncate());
        said.push(format!("{}: {off:.3} m off, {:.3} m wide", object.name, best.width_m));
        assert!(off < 0.02, "{said:?}");
        assert!(best.width_m > 0.01 && best.width_m <= 0.09, "{said:?}");
        if best.approach == Approach::Top {
            assert!((best.tip.rotation * DVec3::X).distance(DVec3::NEG_Z) < 1e-6, "{said:?}");
        }
        taken += 1;
    }
    assert!(taken >= 3, "{said:?}");
}
