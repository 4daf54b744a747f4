//! Scores the engine `geometry` on made-up homes: `cargo run -p cerebellum-vision --example score -- [FROM [TO [WIDTH]]]`.
//!
//! Each home is looked at from each of its waypoints. Prints what was missed and what was wrong, then the sums.

use std::io::{Write, stdout};
use std::sync::Arc;
use std::time::Instant;

use cerebellum_core::VisionEngine;
use cerebellum_sim::world::World;
use cerebellum_vision::engine::geometry::score::{RULES, Rules, Score, score};
use cerebellum_vision::engine::geometry::{Engine, Things};

#[path = "../tests/home/view.rs"]
mod view;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, default: u64| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (from, to) = (number(0, 101), number(1, 110));
    let width = number(2, 640) as u32;
    let skill = cerebellum_wire::skill::from_str(r#"{"name": "all", "mode": "segment_all", "segment": true}"#)?;
    let scale = f64::from(width) / 640.0;
    let rules = Rules { pixels_min: (RULES.pixels_min as f64 * scale * scale) as usize, ..RULES };
    let mut out = stdout().lock();
    let (mut all, mut pictures, mut millis) = (Vec::<Score>::new(), 0_u32, 0.0);
    for seed in from..=to {
        let scene = Arc::new(cerebellum_sim::generate(seed));
        let mut world = World::new(&scene);
        for waypoint in scene.waypoints.iter().map(|waypoint| waypoint.name.clone()) {
            if world.set_base_to(&waypoint).is_err() {
                continue;
            }
            let view = view::head(&world, width, seed);
            let mut looker = Engine::new(Things::default()).prepare(&skill).looker;
            let begin = Instant::now();
            let look = looker.look(Arc::clone(&view.frame)).await?;
            millis += begin.elapsed().as_secs_f64() * 1_000.0;
            pictures += 1;
            let depth = view.frame.depth.as_deref().expect("the view has depth");
            let score = score(&look.detections, &view.truth, depth, &view.unhidden, rules);
            report(&mut out, &format!("{seed} {waypoint}"), &score)?;
            all.push(score);
        }
    }
    sums(&mut out, &all, (to + 1 - from) as f64)?;
    writeln!(out, "{pictures} pictures, {:.1} ms each", millis / f64::from(pictures))?;
    Ok(())
}

fn report(out: &mut impl Write, place: &str, score: &Score) -> std::io::Result<()> {
    for judged in score.alone.iter().filter(|judged| !judged.found) {
        let said = judged.said.as_deref().unwrap_or("nothing");
        writeln!(out, "{place}: missed {} ({} px): {said}, IoU {:.2}", judged.label, judged.pixels, judged.iou)?;
    }
    for (a, b, _) in score.touching.iter().filter(|(_, _, apart)| !apart) {
        writeln!(out, "{place}: not apart: {a} and {b}")?;
    }
    for wrong in &score.wrong {
        writeln!(out, "{place}: wrong {wrong}")?;
    }
    for _ in score.people.iter().filter(|found| !**found) {
        writeln!(out, "{place}: missed a person")?;
    }
    Ok(())
}

fn sums(out: &mut impl Write, all: &[Score], homes: f64) -> std::io::Result<()> {
    let things = all.iter().map(|score| score.alone.len()).sum::<usize>();
    let found = all.iter().flat_map(|score| &score.alone).filter(|judged| judged.found).count();
    let pairs = all.iter().map(|score| score.touching.len()).sum::<usize>();
    let apart = all.iter().flat_map(|score| &score.touching).filter(|(_, _, apart)| *apart).count();
    let wrong = all.iter().map(|score| score.wrong.len()).sum::<usize>();
    let share = 100.0 * found as f64 / (things.max(1)) as f64;
    writeln!(out, "things found: {found} of {things} ({share:.1} %)")?;
    writeln!(out, "touching pairs apart: {apart} of {pairs}")?;
    writeln!(
        out,
        "false objects: {wrong}, {:.2} a home, {:.2} a picture",
        wrong as f64 / homes,
        wrong as f64 / all.len().max(1) as f64
    )
}
