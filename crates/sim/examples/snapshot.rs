use std::sync::Arc;
use cerebellum_core::Intrinsics;
use cerebellum_sim::{render::{Camera, Looks, render}, scene::Scene, world::World};
fn main() {
    let out = std::env::args().nth(1).unwrap();
    let mut world = World::new(Arc::new(Scene::home()));
    world.person_enters().unwrap();
    world.advance_to(240 * 30);
    let k = Intrinsics { width: 640, height: 480, fx: 525.0, fy: 525.0, cx: 320.0, cy: 240.0 };
    let camera = Camera { intrinsics: k, map_from_camera: world.robot().map_from_camera() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let parts = world.parts();
    let start = std::time::Instant::now();
    let looks = if std::env::args().nth(2).is_some() { Looks::Live } else { Looks::Still };
    let picture = render(&parts, &camera, looks, &pool);
    eprintln!("{} parts, {:?}", parts.len(), start.elapsed());
    image::save_buffer(out, &picture.rgb, 640, 480, image::ColorType::Rgb8).unwrap();
}
