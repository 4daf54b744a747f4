use glam::{DMat3, DQuat, DVec3};

use super::*;

fn camera(eye: DVec3) -> Camera {
    let down = DQuat::from_mat3(&DMat3::from_cols(DVec3::NEG_Y, DVec3::NEG_Z, DVec3::X));
    Camera {
        intrinsics: Intrinsics { width: 160, height: 120, fx: 131.25, fy: 131.25, cx: 80.0, cy: 60.0 },
        map_from_camera: Pose::new(eye, DQuat::from_rotation_y(0.35) * down),
    }
}

fn scene() -> Vec<Part> {
    let grey = Material::matt([150, 150, 150]);
    let slab = Shape::Box { half: Vec3::new(5.0, 5.0, 0.5), bevel: 0.0 };
    let cube = Shape::Box { half: Vec3::splat(0.1), bevel: 0.0 };
    let ball = Shape::Ellipsoid { radii: Vec3::splat(0.1) };
    vec![
        Part::new(slab, Vec3::new(0.0, 0.0, -0.5), grey).without_shadow(),
        Part::new(cube, Vec3::new(1.5, 0.3, 0.1), Material::matt([200, 20, 20])).belonging_to(1),
        Part::new(ball, Vec3::new(1.4, -0.2, 0.1), Material::matt([20, 20, 200])).belonging_to(2),
    ]
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn depth_and_ids_agree_with_geometry() {
    let camera = camera(DVec3::new(0.0, 0.0, 0.8));
    let picture = render(&scene(), &camera, Looks::Live, &pool(1));
    let (mut floor, mut ball) = (0, 0);
    for y in 0..120 {
        for x in 0..160 {
            let at = y * 160 + x;
            let (u, v) = (x as f64 + 0.5, y as f64 + 0.5);
            let direction = DVec3::new((u - 80.0) / 131.25, (v - 60.0) / 131.25, 1.0);
            let depth = f64::from(picture.depth[at]);
            let place = camera.map_from_camera.transform_point(direction * depth);
            match picture.ids[at] {
                0 if depth > 0.0 && place.z > -0.4 => {
                    assert!(place.z.abs() < 1e-4, "the floor at {x}, {y} is {} m high", place.z);
                    floor += 1;
                }
                2 => {
                    let off = place.distance(DVec3::new(1.4, -0.2, 0.1)) - 0.1;
                    assert!(off.abs() < 1e-4, "the ball at {x}, {y} is off by {off}");
                    ball += 1;
                }
                _ => {}
            }
        }
    }
    assert!(floor > 8000, "{floor}");
    assert!(ball > 200, "{ball}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let camera = camera(DVec3::new(0.0, 0.0, 0.8));
    for looks in [Looks::Live, Looks::Still] {
        let one = render(&scene(), &camera, looks, &pool(1));
        assert_eq!(one, render(&scene(), &camera, looks, &pool(3)));
    }
}

#[test]
fn things_throw_shadows_on_the_floor() {
    let camera = camera(DVec3::new(0.0, 0.0, 0.8));
    let mut bare = scene();
    bare.retain(|part| part.instance == 0);
    let (with, without) =
        (render(&scene(), &camera, Looks::Live, &pool(1)), render(&bare, &camera, Looks::Live, &pool(1)));
    let darker = (0..160 * 120)
        .filter(|&at| with.ids[at] == 0 && i32::from(with.rgb[at * 3]) + 40 < i32::from(without.rgb[at * 3]))
        .count();
    assert!((100..2000).contains(&darker), "{darker}");
}

#[test]
fn what_lies_behind_the_camera_is_not_drawn() {
    let camera = camera(DVec3::new(3.0, 0.0, 0.8));
    let picture = render(&scene(), &camera, Looks::Live, &pool(1));
    assert!(picture.ids.iter().all(|&id| id == 0));
    assert!(picture.depth.iter().any(|&depth| depth > 0.0));
}
