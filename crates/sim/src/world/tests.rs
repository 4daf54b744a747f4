use super::*;
use crate::world::person::Stage;

fn home() -> World {
    World::new(&Arc::new(Scene::home()))
}

#[test]
fn everything_comes_to_rest_where_the_scene_says() {
    let world = home();
    assert!(world.is_resting());
    for object in &world.scene().objects {
        let pose = world.object_pose(&object.name).unwrap();
        let surface = world.support_of(&object.name).unwrap();
        assert_eq!(surface.map(|s| s.name.as_str()), Some(object.on.as_str()), "{} is at {pose:?}", object.name);
        let foot = on(surface.unwrap(), object.at);
        let moved = (pose.translation - foot).truncate().length();
        assert!(moved < 0.01, "{} moved {moved} m", object.name);
        let height = pose.translation.z - foot.z - f64::from(object.size[2]) * 0.5;
        assert!(height.abs() < 0.006, "{} floats {height} m", object.name);
        assert!((pose.rotation * DVec3::Z).z > 0.99 || object.size[0] == object.size[2], "{} fell over", object.name);
    }
}

#[test]
fn there_is_a_dozen_on_the_kitchen_table_and_nothing_on_the_other() {
    let world = home();
    let count = |surface: &str| world.scene().objects.iter().filter(|object| object.on == surface).count();
    assert!(count("kitchen table") >= 12);
    assert_eq!(count("other table"), 0);
    let coke = world.scene().objects.iter().find(|object| object.name == "coke").unwrap();
    assert_eq!((coke.label.as_str(), coke.on.as_str()), ("red can", "kitchen table"));
    for name in ["kitchen table", "other table", "sofa", "shelf", "door", "operator", "home"] {
        assert!(world.scene().waypoint(name).is_some(), "{name}");
    }
}

#[test]
fn a_thing_that_is_put_on_a_surface_stays_there() {
    let mut world = home();
    world.place("coke", &Spot::On { surface: "other table".into() }).unwrap();
    world.advance_to(world.tick() + 4 * TICKS_PER_SECOND);
    assert!(world.is_resting());
    assert_eq!(world.support_of("coke").unwrap().unwrap().name, "other table");
    let height = world.object_pose("coke").unwrap().translation.z;
    assert!((height - 0.5 - 0.061).abs() < 0.003, "{height}");
    // A second one finds a place beside it.
    world.place("mug", &Spot::On { surface: "other table".into() }).unwrap();
    world.advance_to(world.tick() + 4 * TICKS_PER_SECOND);
    let apart = world.object_pose("mug").unwrap().translation - world.object_pose("coke").unwrap().translation;
    assert!(apart.truncate().length() > 0.07, "{apart}");
}

#[test]
fn a_thing_that_is_let_go_in_the_air_falls() {
    let mut world = home();
    world.place("green_cube", &Spot::At { x: -2.0, y: 2.0, z: 0.5 }).unwrap();
    world.advance_to(world.tick() + 4 * TICKS_PER_SECOND);
    let height = world.object_pose("green_cube").unwrap().translation.z;
    assert!((height - 0.0275).abs() < 0.003, "{height}");
    assert!(world.support_of("green_cube").unwrap().is_none());
}

#[test]
fn equal_calls_give_equal_worlds() {
    let run = || {
        let mut world = home();
        world.place("orange", &Spot::At { x: 2.1, y: 2.0, z: 1.1 }).unwrap();
        world.person_enters().unwrap();
        world.advance_to(3 * TICKS_PER_SECOND);
        world.truth().into_iter().map(|truth| truth.centre.to_array().map(f64::to_bits)).collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn the_person_walks_in_stays_and_walks_out() {
    let mut world = home();
    let visible = |world: &World| world.truth().iter().any(|truth| truth.is_person);
    assert!(!visible(&world) && world.person().parts().is_empty());
    world.person_enters().unwrap();
    world.advance_to(TICKS_PER_SECOND);
    let walked = world.person().place().unwrap().translation;
    assert!(matches!(world.person().stage(), Stage::Entering { .. }));
    world.advance_to(2 * TICKS_PER_SECOND);
    let step = world.person().place().unwrap().translation.distance(walked);
    assert!((0.5..1.3).contains(&step), "{step} m in a second");
    world.advance_to(20 * TICKS_PER_SECOND);
    assert_eq!(world.person().stage(), Stage::Standing);
    assert!(visible(&world) && world.is_resting());
    world.person_leaves().unwrap();
    world.advance_to(40 * TICKS_PER_SECOND);
    assert_eq!(world.person().stage(), Stage::Outside);
    assert!(!visible(&world));
}

#[test]
fn a_resting_world_keeps_its_version() {
    let mut world = home();
    let version = world.version();
    world.advance_to(1_000_000);
    assert_eq!((world.version(), world.tick()), (version, 1_000_000));
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let mut world = home();
    let WorldError::NoSuchObject { known, .. } =
        world.place("unicorn", &Spot::On { surface: "sofa".into() }).unwrap_err()
    else {
        panic!()
    };
    assert!(known.contains(&"coke".to_owned()));
    assert!(matches!(world.set_base_to("attic"), Err(WorldError::NoSuchWaypoint { .. })));
    assert!(matches!(world.set_base(f64::NAN, 0.0, 0.0), Err(WorldError::OutOfBounds { .. })));
    assert!(matches!(
        world.place("coke", &Spot::OnAt { surface: "other table".into(), x: 3.0, y: 0.0 }),
        Err(WorldError::Beside { .. })
    ));
}

#[test]
fn the_base_stands_at_every_waypoint_and_in_no_furniture() {
    let mut world = home();
    for waypoint in world.scene().waypoints.clone() {
        assert_eq!(world.set_base_to(&waypoint.name), Ok(()), "{}", waypoint.name);
    }
    let before = world.robot().map_from_base;
    for surface in world.surfaces().to_vec() {
        let middle = on(&surface, [0.0, 0.0]);
        let edge = on(&surface, [surface.half[0] + 0.1, 0.0]);
        for place in [middle, edge] {
            let refused = world.set_base(place.x, place.y, 0.0);
            let Err(WorldError::Blocked { obstacle, .. }) = refused else { panic!("{}: {refused:?}", surface.name) };
            assert!(world.surfaces().iter().any(|known| known.name == obstacle), "{obstacle}");
        }
    }
    assert_eq!(world.robot().map_from_base, before, "a refusal moves nothing");
}

#[test]
fn a_reset_puts_everything_back() {
    let mut world = World::new(&Arc::new(Scene::home()));
    let name = world.object_names().next().unwrap().to_owned();
    let start = world.object_pose(&name).unwrap();
    world.place(&name, &Spot::On { surface: "other table".into() }).unwrap();
    world.person_enters().unwrap();
    world.set_base_to("sofa").unwrap();
    world.advance_to(world.tick() + 10 * TICKS_PER_SECOND);
    assert!((world.object_pose(&name).unwrap().translation - start.translation).length() > 0.5);
    world.reset();
    world.advance_to(world.tick() + 2 * TICKS_PER_SECOND);
    assert!((world.object_pose(&name).unwrap().translation - start.translation).length() < 0.005);
    assert_eq!(world.person().stage(), Stage::Outside);
}
