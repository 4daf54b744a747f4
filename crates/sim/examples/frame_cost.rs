//! Prints the CPU time of live frames of the built-in home, per waypoint: `frame_cost [WIDTH HEIGHT]`.
use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use cerebellum_core::Intrinsics;
use cerebellum_sim::Scene;
use cerebellum_sim::render::{Camera, Looks, render};
use cerebellum_sim::sensor::Sensor;
use cerebellum_sim::world::World;

const FRAMES: u32 = 10;

/// Nanoseconds of CPU that this thread and the render thread took; Linux only.
fn cpu_ns() -> Result<u64, Box<dyn Error>> {
    let mut total = 0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        total += text.split_whitespace().next().unwrap_or("0").parse::<u64>()?;
    }
    Ok(total)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let width: u32 = arguments.next().map_or(Ok(640), |text| text.parse())?;
    let height: u32 = arguments.next().map_or(Ok(480), |text| text.parse())?;
    let focal = 525.0 * f64::from(width) / 640.0;
    let intrinsics =
        Intrinsics { width, height, fx: focal, fy: focal, cx: f64::from(width) * 0.5, cy: f64::from(height) * 0.5 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let scene = Arc::new(Scene::home());
    let mut world = World::new(&scene);
    world.person_enters()?;
    world.advance_to(240 * 30);
    let sensor = Sensor::new(1);
    let mut out = std::io::stdout().lock();
    for waypoint in &scene.waypoints {
        world.set_base_to(&waypoint.name)?;
        let camera = Camera { intrinsics, map_from_camera: world.robot().map_from_camera() };
        let mut picture = render(&world.parts(), &camera, Looks::Live, &pool);
        let start = cpu_ns()?;
        for _ in 0..FRAMES {
            picture = render(&world.parts(), &camera, Looks::Live, &pool);
        }
        let drawn = cpu_ns()?;
        for index in 0..FRAMES {
            sensor.expose(&picture, u64::from(index));
        }
        let exposed = cpu_ns()?;
        let ms = |ns: u64| ns as f64 / 1e6 / f64::from(FRAMES);
        writeln!(
            out,
            "{:14} render {:6.1} ms, noise {:5.1} ms",
            waypoint.name,
            ms(drawn - start),
            ms(exposed - drawn)
        )?;
    }
    Ok(())
}
