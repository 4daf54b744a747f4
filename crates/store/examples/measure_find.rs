//! Measures `find` over many processes, and prints percentiles in milliseconds as one line of JSON.
//!
//! `cargo run --release -p cerebellum-store --example measure_find -- 100000 2000`: processes, queries.
#![allow(clippy::print_stdout, reason = "printing is what a measurement is for")]

use std::sync::Arc;
use std::time::Instant;

use cerebellum_core::{Process, ProcessStore, Stamp, StoreError};
use cerebellum_store::{Settings, SqliteProcesses};
use cerebellum_testkit::FakeClock;

const VERBS: &[&str] =
    &["make", "clean", "bring", "fetch", "wipe", "fold", "open", "close", "fill", "water", "sort", "count"];
const THINGS: &[&str] =
    &["coffee", "cup", "plate", "table", "plant", "towel", "door", "bottle", "book", "shirt", "lamp", "box"];
const PLACES: &[&str] = &["kitchen", "living room", "bedroom", "hall", "shelf", "sofa", "sink", "garden"];

/// A small generator of its own, so that every run measures the same.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.next() as usize % from.len()]
    }

    /// A rare word; small numbers come more often, as words of a language do.
    fn rare(&mut self) -> String {
        let share = self.next() as f64 / f64::from(1_u32 << 31);
        format!("thing{}", (20_000_f64.powf(share)) as u64)
    }
}

fn process(number: usize, numbers: &mut Numbers) -> Process {
    let (verb, thing, place) = (numbers.pick(VERBS), numbers.pick(THINGS), numbers.pick(PLACES));
    let mut steps = vec![format!("go to the {place}"), format!("look for the {thing}"), format!("{verb} the {thing}")];
    for _ in 0..8 {
        steps.push(format!("{} the {} beside the {}", numbers.pick(VERBS), numbers.rare(), numbers.rare()));
    }
    Process {
        name: format!("{verb} {thing} {} {number}", numbers.rare()),
        description: format!("{verb} the {thing} with {} in the {place} when asked to.", numbers.rare()),
        steps,
        tags: vec![place.to_owned()],
        source: "measurement".to_owned(),
        ..Process::default()
    }
}

fn query(kind: usize, numbers: &mut Numbers) -> String {
    let (verb, thing, place) = (numbers.pick(VERBS), numbers.pick(THINGS), numbers.pick(PLACES));
    match kind {
        0 => format!("{verb} the {thing} in the {place}"),
        1 => format!("please {verb} {} and the {thing} in the {place}", numbers.rare()),
        2 => place.to_owned(),
        3 => format!("{verb} {thing}"),
        4 => format!("{} {} {}", numbers.rare(), numbers.rare(), numbers.rare()),
        5 => format!("{verb} {} nobody knows that wor", numbers.rare()),
        6 => [VERBS, THINGS, PLACES].concat().join(" "),
        7 => format!("go look {place}"),
        8 => (0..400).map(|_| numbers.rare()).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}

#[tokio::main]
async fn main() -> Result<(), StoreError> {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let processes = arguments.next().unwrap_or(100_000);
    let queries = arguments.next().unwrap_or(2_000);
    let folder = tempfile::tempdir().expect("a folder for the store can be made");
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_750_000_000.0)));
    let store = SqliteProcesses::open(&folder.path().join("processes.db"), Settings::default(), clock).await?;
    let mut numbers = Numbers(7);
    let filled = Instant::now();
    for first in (0..processes).step_by(5_000) {
        let part = first..(first + 5_000).min(processes);
        store.save_all(part.map(|number| process(number, &mut numbers)).collect()).await?;
    }
    let fill_s = filled.elapsed().as_secs_f64();
    let kinds = 10;
    let mut took: Vec<Vec<f64>> = vec![Vec::new(); kinds];
    for turn in 0..queries {
        let query = query(turn % kinds, &mut numbers);
        let started = Instant::now();
        store.find(&query, 5).await?;
        took[turn % kinds].push(started.elapsed().as_secs_f64() * 1e3);
    }
    let by_kind = |share: f64| -> String {
        took.iter().map(|times| format!("{:.2}", percentile(times, share))).collect::<Vec<_>>().join(", ")
    };
    let all: Vec<f64> = took.concat();
    println!(
        "{{\"processes\": {processes}, \"queries\": {}, \"fill_s\": {fill_s:.1}, \"p50_ms\": {:.2}, \"p99_ms\": {:.2}, \
         \"max_ms\": {:.2}, \"p50_by_kind_ms\": [{}], \"p99_by_kind_ms\": [{}]}}",
        all.len(),
        percentile(&all, 0.5),
        percentile(&all, 0.99),
        percentile(&all, 1.0),
        by_kind(0.5),
        by_kind(0.99)
    );
    Ok(())
}

fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = ((sorted.len() as f64 - 1.0) * share).round() as usize;
    sorted.get(place).copied().unwrap_or_default()
}
