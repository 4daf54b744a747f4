use std::sync::Arc;

use cerebellum_core::Stamp;
use glam::{DMat3, DQuat, DVec3};

use super::*;

/// How things are taken, and where they are put.
mod grasps;

/// A body that stands at `at` (the middle of its foot).
#[derive(Clone, Copy)]
enum Body {
    Cuboid { at: Vec3, size: Vec3, turn: f32 },
    Cylinder { at: Vec3, radius: f32, height: f32 },
    Ball { centre: Vec3, radius: f32 },
}

struct World {
    bodies: Vec<(Body, [u8; 3])>,
    eye: Vec3,
    target: Vec3,
    noise: f32,
}

const WOOD: [u8; 3] = [170, 120, 70];
const TABLE: f32 = 0.72;

impl World {
    /// A table 0.4 to 1.4 m ahead, on a floor, before a wall.
    fn with_table() -> Self {
        let table = Body::Cuboid { at: Vec3::new(1.0, 0.0, TABLE - 0.04), size: Vec3::new(0.8, 1.4, 0.04), turn: 0.0 };
        let wall = Body::Cuboid { at: Vec3::new(2.6, 0.0, 0.0), size: Vec3::new(0.1, 8.0, 2.6), turn: 0.0 };
        Self {
            bodies: vec![(table, WOOD), (wall, [225, 225, 220])],
            eye: Vec3::new(0.0, 0.0, 1.3),
            target: Vec3::new(1.0, 0.0, TABLE),
            noise: 1.0,
        }
    }

    fn and(mut self, body: Body, rgb: [u8; 3]) -> Self {
        self.bodies.push((body, rgb));
        self
    }

    fn frame(&self, width: u32, localised: bool) -> Frame {
        let height = width * 3 / 4;
        let focal = f64::from(width) * 0.82;
        let (cx, cy) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
        let intrinsics = Intrinsics { width, height, fx: focal, fy: focal, cx, cy };
        let forward = (self.target - self.eye).as_dvec3().normalize();
        let right = forward.cross(DVec3::Z).normalize();
        let rotation = DQuat::from_mat3(&DMat3::from_cols(right, forward.cross(right), forward));
        let pose = Pose::new(self.eye.as_dvec3(), rotation);
        let camera = Camera::new(&intrinsics, &pose);
        let (mut rgb, mut depth) = (Vec::new(), Vec::new());
        let mut state = 99_u32;
        for row in 0..height as usize {
            for column in 0..width as usize {
                let ray = camera.ray(column, row);
                let floor = (-self.eye.z / ray.z, Vec3::Z, [120, 110, 100]);
                let hits =
                    self.bodies.iter().filter_map(|&(body, rgb)| hit(body, self.eye, ray).map(|(t, n)| (t, n, rgb)));
                let floor = (floor.0 > 0.0).then_some(floor);
                let nearest = hits.chain(floor).min_by(|a, b| a.0.total_cmp(&b.0));
                let Some((t, normal, colour)) = nearest.filter(|hit| hit.0 < 8.0) else {
                    rgb.extend([0, 0, 0]);
                    depth.push(0.0);
                    continue;
                };
                let light = 0.45 + 0.55 * normal.dot(Vec3::new(-0.4, 0.3, 0.85).normalize()).max(0.0);
                rgb.extend(colour.map(|value| (f32::from(value) * light) as u8));
                let mut noise = 0.0;
                for _ in 0..4 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    noise += (state >> 8) as f32 / (1 << 24) as f32 - 0.5;
                }
                depth.push(t + noise * 1.7 * 0.001_5 * t * t * self.noise);
            }
        }
        Frame {
            stamp: Stamp::from_nanos(1),
            seq: 1,
            frame_id: "camera".into(),
            rgb: Arc::new(RgbImage::new(width, height, rgb).unwrap()),
            depth: Some(Arc::new(DepthImage::new(width, height, depth).unwrap())),
            intrinsics: Some(intrinsics),
            map_from_camera: localised.then_some(pose),
        }
    }

    fn scene(&self) -> Scene {
        Analyser::default().analyse(&self.frame(640, true)).unwrap()
    }
}

fn hit(body: Body, eye: Vec3, ray: Vec3) -> Option<(f32, Vec3)> {
    match body {
        Body::Ball { centre, radius } => {
            let (to, a) = (eye - centre, ray.dot(ray));
            let b = to.dot(ray);
            let root = b * b - a * (to.dot(to) - radius * radius);
            let t = (-b - root.max(0.0).sqrt()) / a;
            (root > 0.0 && t > 0.0).then(|| (t, (eye + ray * t - centre) / radius))
        }
        Body::Cuboid { at, size, turn } => {
            let spin = glam::Quat::from_rotation_z(-turn);
            let (from, way) = (spin * (eye - at - Vec3::Z * size.z / 2.0), spin * ray);
            let (a, b) = ((-size / 2.0 - from) / way, (size / 2.0 - from) / way);
            let (near, far) = (a.min(b), a.max(b));
            let t = near.max_element();
            let normal = if t == near.x {
                Vec3::X * -way.x.signum()
            } else if t == near.y {
                Vec3::Y * -way.y.signum()
            } else {
                Vec3::Z * -way.z.signum()
            };
            (t > 0.0 && t < far.min_element()).then(|| (t, spin.inverse() * normal))
        }
        Body::Cylinder { at, radius, height } => {
            let (to, flat) = ((eye - at).truncate(), ray.truncate());
            let (a, b) = (flat.dot(flat), to.dot(flat));
            let root = b * b - a * (to.dot(to) - radius * radius);
            let side = (-b - root.max(0.0).sqrt()) / a;
            let rise = eye.z + ray.z * side - at.z;
            let side = (root > 0.0 && side > 0.0 && (0.0..height).contains(&rise))
                .then(|| (side, ((to + flat * side) / radius).extend(0.0)));
            let top = (at.z + height - eye.z) / ray.z;
            let top = (top > 0.0 && (to + flat * top).length() < radius).then_some((top, Vec3::Z));
            side.into_iter().chain(top).min_by(|a, b| a.0.total_cmp(&b.0))
        }
    }
}

const RED: [u8; 3] = [205, 25, 25];
const BLUE: [u8; 3] = [25, 60, 210];
const GREEN: [u8; 3] = [30, 160, 60];
const ORANGE: [u8; 3] = [245, 145, 20];

fn can(x: f32, y: f32) -> Body {
    Body::Cylinder { at: Vec3::new(x, y, TABLE), radius: 0.033, height: 0.12 }
}

fn cube(x: f32, y: f32, side: f32, turn: f32) -> Body {
    Body::Cuboid { at: Vec3::new(x, y, TABLE), size: Vec3::splat(side), turn }
}

fn ball(x: f32, y: f32, radius: f32) -> Body {
    Body::Ball { centre: Vec3::new(x, y, TABLE + radius), radius }
}

fn seen(scene: &Scene) -> Vec<(ColourName, Shape)> {
    scene.objects.iter().map(|object| (object.colour, object.fit.shape)).collect()
}

fn tabletop() -> World {
    World::with_table()
        .and(can(0.9, 0.25), RED)
        .and(cube(1.0, -0.05, 0.07, 0.5), BLUE)
        .and(ball(0.85, -0.3, 0.037), ORANGE)
        .and(Body::Cuboid { at: Vec3::new(1.2, 0.3, TABLE), size: Vec3::new(0.15, 0.22, 0.03), turn: 0.3 }, GREEN)
}

const TABLETOP: [(ColourName, Shape); 4] = [
    (ColourName::Red, Shape::Can),
    (ColourName::Green, Shape::Book),
    (ColourName::Blue, Shape::Box),
    (ColourName::Orange, Shape::Ball),
];

fn sorted(mut seen: Vec<(ColourName, Shape)>) -> Vec<String> {
    seen.sort_by_key(|(colour, _)| *colour);
    seen.into_iter().map(|(colour, shape)| format!("{colour} {}", shape.as_str())).collect()
}

#[test]
fn a_table_and_the_floor_are_the_supports() {
    let scene = tabletop().scene();
    let kinds: Vec<SupportKind> = scene.supports.iter().map(|support| support.kind).collect();
    assert_eq!(kinds, [SupportKind::Table, SupportKind::Floor]);
    assert!((scene.supports[0].height - TABLE).abs() < 0.004, "{}", scene.supports[0].height);
}

#[test]
fn things_on_a_table_have_colours_shapes_and_places() {
    let scene = tabletop().scene();
    assert_eq!(sorted(seen(&scene)), sorted(TABLETOP.to_vec()));
    for (object, place) in [
        (ColourName::Red, Vec3::new(0.9, 0.25, TABLE + 0.06)),
        (ColourName::Blue, Vec3::new(1.0, -0.05, TABLE + 0.035)),
        (ColourName::Orange, Vec3::new(0.85, -0.3, TABLE + 0.037)),
        (ColourName::Green, Vec3::new(1.2, 0.3, TABLE + 0.015)),
    ] {
        let found = scene.objects.iter().find(|found| found.colour == object).unwrap();
        assert!(found.fit.centre.distance(place) < 0.012, "{object}: {} for {place}", found.fit.centre);
    }
}

#[test]
fn a_small_picture_shows_the_same_things() {
    let scene = Analyser::default().analyse(&tabletop().frame(320, true)).unwrap();
    assert_eq!(sorted(seen(&scene)), sorted(TABLETOP.to_vec()));
}

#[test]
fn without_a_pose_the_table_is_found_by_its_shape() {
    let scene = Analyser::default().analyse(&tabletop().frame(640, false)).unwrap();
    assert!(!scene.localised);
    assert_eq!(sorted(seen(&scene)), sorted(TABLETOP.to_vec()));
    let can = scene.objects.iter().find(|object| object.colour == ColourName::Red).unwrap();
    let world = tabletop();
    let away = world.eye.distance(Vec3::new(0.9, 0.25, TABLE + 0.06));
    assert!((scene.in_camera(can.fit.centre).length() - away).abs() < 0.015);
}

#[test]
fn the_same_picture_gives_the_same_scene_from_used_buffers() {
    let frame = tabletop().frame(640, true);
    let mut analyser = Analyser::default();
    let first = analyser.analyse(&frame).unwrap();
    analyser.analyse(&World::with_table().and(can(1.0, 0.0), BLUE).frame(320, true)).unwrap();
    let second = analyser.analyse(&frame).unwrap();
    for (a, b) in first.objects.iter().zip(&second.objects) {
        assert!(a.mask == b.mask && a.fit == b.fit && a.colour == b.colour);
    }
    assert_eq!(first.objects.len(), second.objects.len());
}

#[test]
fn masks_cover_what_is_seen() {
    let world = tabletop();
    let frame = world.frame(640, true);
    let scene = Analyser::default().analyse(&frame).unwrap();
    let camera = &scene.camera;
    for (index, colour) in
        [(2, ColourName::Red), (3, ColourName::Blue), (4, ColourName::Orange), (5, ColourName::Green)]
    {
        let object = scene.objects.iter().find(|object| object.colour == colour).unwrap();
        let (mut shared, mut union) = (0, 0);
        for row in 0..480_u32 {
            for column in 0..640_u32 {
                let ray = camera.ray(column as usize, row as usize);
                let hits = world
                    .bodies
                    .iter()
                    .enumerate()
                    .filter_map(|(i, &(body, _))| hit(body, world.eye, ray).map(|h| (h.0, i)));
                let truth = hits.min_by(|a, b| a.0.total_cmp(&b.0)).is_some_and(|(_, i)| i == index);
                let mask = object.mask.contains(column, row);
                shared += usize::from(truth && mask);
                union += usize::from(truth || mask);
            }
        }
        let iou = shared as f32 / union as f32;
        assert!(iou > 0.85, "{colour}: {iou}");
    }
}

#[test]
fn touching_things_of_different_colours_are_apart() {
    let scene =
        World::with_table().and(cube(0.9, 0.035, 0.07, 0.0), BLUE).and(cube(0.9, -0.035, 0.07, 0.0), GREEN).scene();
    assert_eq!(sorted(seen(&scene)), ["green box", "blue box"]);
}

#[test]
fn touching_things_of_one_colour_are_apart_where_they_fold_inwards() {
    let scene = World::with_table().and(can(0.8, 0.0335), RED).and(can(0.8, -0.0335), RED).scene();
    assert_eq!(sorted(seen(&scene)), ["red can", "red can"]);
}

#[test]
fn a_thing_behind_another_is_apart_from_it() {
    let scene = World::with_table().and(cube(0.9, 0.0, 0.07, 0.0), BLUE).and(can(0.97, 0.0), RED).scene();
    assert_eq!(sorted(seen(&scene)), ["red can", "blue box"]);
}

#[test]
fn a_band_around_a_can_leaves_it_one_thing() {
    let band = Body::Cylinder { at: Vec3::new(0.9, 0.0, TABLE + 0.04), radius: 0.033_3, height: 0.035 };
    let scene = World::with_table().and(can(0.9, 0.0), RED).and(band, [235, 235, 235]).scene();
    assert_eq!(sorted(seen(&scene)), ["red can"]);
}

#[test]
fn what_hovers_or_reaches_in_from_beyond_the_table_is_no_object() {
    let hand = Body::Cuboid { at: Vec3::new(0.8, 0.1, TABLE + 0.12), size: Vec3::new(0.1, 0.08, 0.05), turn: 0.0 };
    assert_eq!(seen(&World::with_table().and(hand, [60, 60, 60]).scene()), []);
    let arm = Body::Cuboid { at: Vec3::new(0.45, -0.2, TABLE + 0.005), size: Vec3::new(0.6, 0.08, 0.08), turn: 0.0 };
    assert_eq!(seen(&World::with_table().and(arm, [200, 200, 200]).scene()), []);
}

fn person_at(world: World, x: f32, y: f32) -> World {
    let part = |z: f32, radius: f32, height: f32| Body::Cylinder { at: Vec3::new(x, y, z), radius, height };
    let leg = |side: f32| Body::Cylinder { at: Vec3::new(x, y + side, 0.0), radius: 0.08, height: 0.85 };
    world
        .and(leg(0.1), [30, 40, 90])
        .and(leg(-0.1), [30, 40, 90])
        .and(part(0.8, 0.2, 0.65), [200, 60, 40])
        .and(part(1.45, 0.06, 0.1), [230, 190, 160])
        .and(Body::Ball { centre: Vec3::new(x, y, 1.62), radius: 0.11 }, [230, 190, 160])
}

fn hall() -> World {
    let wall = Body::Cuboid { at: Vec3::new(4.5, 0.0, 0.0), size: Vec3::new(0.1, 12.0, 2.6), turn: 0.0 };
    World {
        bodies: vec![(wall, [225; 3])],
        eye: Vec3::new(0.0, 0.0, 1.3),
        target: Vec3::new(3.0, 0.0, 0.9),
        noise: 1.0,
    }
}

#[test]
fn a_person_on_the_floor_is_a_person() {
    let scene = person_at(hall(), 2.8, 0.4).scene();
    assert_eq!(scene.people.len(), 1);
    let person = &scene.people[0];
    assert!((person.height - 1.72).abs() < 0.06, "{}", person.height);
    assert!(person.centre.truncate().distance(Vec2::new(2.7, 0.4)) < 0.15, "{}", person.centre);
    assert!(
        scene.objects.is_empty(),
        "{:?}",
        scene.objects.iter().map(|o| (&o.fit, o.mask.bounds)).collect::<Vec<_>>()
    );
}

#[test]
fn walls_cupboards_and_lamps_are_no_people() {
    let cupboard = Body::Cuboid { at: Vec3::new(3.0, 0.8, 0.0), size: Vec3::new(0.4, 0.7, 1.7), turn: 0.3 };
    let lamp = Body::Cylinder { at: Vec3::new(3.0, -0.8, 0.0), radius: 0.03, height: 1.6 };
    let scene = hall().and(cupboard, [150, 100, 60]).and(lamp, [40, 40, 40]).scene();
    assert_eq!(scene.people.len(), 0);
    assert!(scene.objects.is_empty(), "{:?}", seen(&scene));
}

#[test]
fn a_person_behind_the_table_does_not_disturb_the_things_on_it() {
    let scene = person_at(tabletop(), 1.7, 0.2).scene();
    assert_eq!(sorted(seen(&scene)), sorted(TABLETOP.to_vec()));
    assert_eq!(scene.people.len(), 1);
}

#[test]
fn free_regions_keep_away_from_things_and_edges() {
    let scene = tabletop().scene();
    let regions = scene.free_regions(0.08, false);
    assert!(!regions.is_empty());
    for region in &regions {
        assert!(region.clearance >= 0.08 && (region.place.z - TABLE).abs() < 0.005);
        for object in &scene.objects {
            let gap = region.place.truncate().distance(object.fit.centre.truncate()) - object.fit.width / 2.0;
            assert!(gap > 0.07, "{gap}");
        }
        assert!((0.6 + 0.07..1.4 - 0.07).contains(&region.place.x) && region.place.y.abs() < 0.63, "{}", region.place);
        assert!(region.mask.pixels() > 500);
    }
    assert!(scene.free_regions(0.6, false).is_empty());
    assert!(regions.len() > 1 && regions.len() <= 8, "{}", regions.len());
    for (at, region) in regions.iter().enumerate() {
        assert!(region.area < 3.5 * region.clearance * region.clearance, "the region is the room around its place");
        assert!(regions[..at].iter().all(|other| other.place.distance(region.place) > 0.15));
    }
}

#[test]
fn a_frame_without_depth_or_of_odd_sizes_is_refused() {
    let frame = World::with_table().frame(64, true);
    let analyse = |frame: &Frame| Analyser::default().analyse(frame).map(|_| ());
    assert_eq!(analyse(&Frame { depth: None, ..frame.clone() }), Err(ViewError::NoDepth));
    assert_eq!(analyse(&Frame { intrinsics: None, ..frame.clone() }), Err(ViewError::NoIntrinsics));
    let small = Arc::new(DepthImage::new(2, 2, vec![1.0; 4]).unwrap());
    assert!(matches!(analyse(&Frame { depth: Some(small), ..frame.clone() }), Err(ViewError::Sizes { .. })));
    assert!(analyse(&frame).is_ok());
}

#[test]
fn an_empty_or_blind_picture_shows_nothing() {
    let frame = World::with_table().frame(160, true);
    let blind = Arc::new(DepthImage::new(160, 120, vec![0.0; 160 * 120]).unwrap());
    for localised in [frame.map_from_camera, None] {
        let frame = Frame { depth: Some(blind.clone()), map_from_camera: localised, ..frame.clone() };
        let scene = Analyser::default().analyse(&frame).unwrap();
        assert!(scene.objects.is_empty() && scene.people.is_empty() && scene.free_regions(0.05, false).is_empty());
    }
}
