use super::*;
use crate::grasp::{Approach, Candidate, GraspError, Gripper, MeasureError, Measured};

const BRICK: Body = Body::Cuboid { at: Vec3::new(0.9, 0.1, TABLE), size: Vec3::new(0.05, 0.10, 0.07), turn: 0.4 };

/// How the blue thing of the world can be taken.
fn blue(world: &World, localised: bool) -> (Measured, Result<Vec<Candidate>, GraspError>) {
    let frame = world.frame(640, localised);
    let scene = Analyser::default().analyse(&frame).unwrap();
    let thing = scene.objects.iter().find(|object| object.colour == ColourName::Blue).unwrap();
    let measured = Measured::of(&frame, &thing.mask).unwrap();
    let grasps = measured.grasps(&Gripper::default());
    (measured, grasps)
}

fn closing(candidate: &Candidate) -> DVec3 {
    candidate.tip.rotation * DVec3::Y
}

#[test]
fn a_can_is_taken_from_above_at_its_true_width_and_middle() {
    let (_, grasps) = blue(&World::with_table().and(can(0.9, 0.15), BLUE), true);
    let best = &grasps.unwrap()[0];
    let wanted = DVec3::new(0.9, 0.15, f64::from(TABLE) + 0.12 - 0.04);
    assert!(best.tip.translation.distance(wanted) < 0.01, "{}", best.tip.translation);
    assert!((best.width_m - 0.066).abs() < 0.008, "{}", best.width_m);
    assert_eq!(best.approach, Approach::Top);
    assert!((best.tip.rotation * DVec3::X).distance(DVec3::NEG_Z) < 1e-6);
    assert!(closing(best).z.abs() < 1e-6);
}

#[test]
fn the_fingers_close_across_the_shorter_side() {
    let (_, grasps) = blue(&World::with_table().and(BRICK, BLUE), true);
    let best = &grasps.unwrap()[0];
    let shorter = DVec3::new(0.4_f64.cos(), 0.4_f64.sin(), 0.0);
    let off = closing(best).dot(shorter).abs().min(1.0).acos().to_degrees();
    assert!(off < 6.0, "{off} degrees off");
    assert!((best.width_m - 0.05).abs() < 0.008, "{}", best.width_m);
    assert!(best.tip.translation.truncate().distance(glam::DVec2::new(0.9, 0.1)) < 0.01, "{}", best.tip.translation);
}

#[test]
fn the_fingers_keep_a_centimetre_above_the_support() {
    let low = Body::Cuboid { at: Vec3::new(0.85, 0.0, TABLE), size: Vec3::new(0.05, 0.09, 0.03), turn: 0.2 };
    let (measured, grasps) = blue(&World::with_table().and(low, BLUE), true);
    let height = grasps.unwrap()[0].tip.translation.z - f64::from(measured.ground);
    assert!((height - 0.01).abs() < 1e-6, "{height}");
}

#[test]
fn what_is_wider_than_the_opening_less_a_centimetre_is_refused() {
    let (_, grasps) = blue(&World::with_table().and(cube(0.95, 0.0, 0.12, 0.3), BLUE), true);
    let Err(GraspError::TooWide { width_m, most_m }) = grasps else { panic!("{grasps:?}") };
    assert!((width_m - 0.12).abs() < 0.012 && (most_m - 0.09).abs() < 1e-6, "{width_m} {most_m}");
}

#[test]
fn fingers_go_where_nothing_stands() {
    let beside = |x: f32, y: f32| Body::Cuboid {
        at: Vec3::new(x, y, TABLE),
        size: Vec3::new(0.03, 0.12, 0.12),
        turn: std::f32::consts::FRAC_PI_2,
    };
    let alone = World::with_table().and(can(0.9, 0.0), BLUE);
    let free = blue(&alone, true).1.unwrap();
    let between = alone.and(beside(0.9, 0.055), RED).and(beside(0.9, -0.055), RED);
    let taken = blue(&between, true).1;
    let tops = |grasps: &[Candidate]| grasps.iter().filter(|grasp| grasp.approach == Approach::Top).count();
    let left = taken.unwrap_or_default();
    assert!(tops(&left) < tops(&free), "{} of {}", tops(&left), tops(&free));
    for grasp in left.iter().filter(|grasp| grasp.approach == Approach::Top) {
        assert!(closing(grasp).y.abs() < 0.8, "its fingers would stand in a thing: {}", closing(grasp));
    }
}

#[test]
fn without_a_pose_the_grasp_is_right_in_the_cameras_frame() {
    let world = World::with_table().and(can(0.9, 0.15), BLUE);
    let (measured, grasps) = blue(&world, false);
    assert!(!measured.localised);
    let tip = measured.level_from_camera.inverse().then(&grasps.unwrap()[0].tip);
    let map_from_camera = world.frame(64, true).map_from_camera.unwrap();
    let place = map_from_camera.transform_point(tip.translation);
    assert!(place.distance(DVec3::new(0.9, 0.15, f64::from(TABLE) + 0.08)) < 0.02, "{place}");
}

#[test]
fn a_mask_of_nothing_is_no_thing() {
    let frame = World::with_table().and(can(0.9, 0.15), BLUE).frame(640, true);
    let bounds = cerebellum_core::PixelBox { x: 100, y: 100, width: 8, height: 8 };
    let empty = Mask::new(bounds, vec![0; 64]).unwrap();
    assert_eq!(Measured::of(&frame, &empty).unwrap_err(), MeasureError::TooFewPoints { points: 0 });
    let blind = Frame { depth: None, ..frame };
    assert_eq!(Measured::of(&blind, &empty).unwrap_err(), MeasureError::View(ViewError::NoDepth));
}

#[test]
fn a_free_place_keeps_away_from_things_and_from_the_edge() {
    let scene = tabletop().scene();
    let table = scene.supports.iter().position(|support| support.kind == SupportKind::Table).unwrap();
    let (place, clearance) = scene.free_place(table, 0.09, Vec2::ZERO).unwrap();
    assert!(clearance >= 0.09, "{clearance}");
    assert!((place.z - TABLE).abs() < 0.01, "{place}");
    assert!((0.6 + 0.07..1.4 - 0.07).contains(&place.x) && place.y.abs() < 0.7 - 0.07, "{place}");
    for (x, y, radius) in [(0.9, 0.25, 0.033), (1.0, -0.05, 0.04), (0.85, -0.3, 0.037)] {
        let gap = place.truncate().distance(Vec2::new(x, y)) - radius;
        assert!(gap > 0.06, "{gap} from {x}, {y}");
    }
    assert!(scene.free_place(table, 0.9, Vec2::ZERO).is_none());
}
