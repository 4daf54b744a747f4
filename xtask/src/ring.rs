use std::time::Instant;

use anyhow::{Result, bail};

pub(crate) mod browser;
mod clients;
mod ros_peers;
mod rust;
/// Python environments and Node packages, kept under `target/rings`.
mod tools;

/// Which rings to run, and what may be done to make them run.
#[derive(Default)]
pub(crate) struct Options {
    /// A ring that cannot run is a failure.
    pub(crate) all: bool,
    /// What a ring misses may be fetched.
    pub(crate) install: bool,
    only: Vec<String>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--all" => (options.all, options.install) = (true, true),
                "--install" => options.install = true,
                "--ring" => match arguments.next() {
                    Some(name) if RINGS.iter().any(|ring| ring.name == name) => options.only.push(name.clone()),
                    other => bail!("--ring takes one of {}, not {other:?}", names()),
                },
                other => bail!("test knows --all, --install and --ring NAME, not {other:?}"),
            }
        }
        Ok(options)
    }

    fn wants(&self, ring: &Ring) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == ring.name)
    }
}

/// How a ring ended.
enum Outcome {
    Passed,
    /// Something it needs is not here.
    Skipped(String),
    Failed(anyhow::Error),
}

struct Ring {
    name: &'static str,
    /// What the ring misses, if anything; with `install` it fetches it first.
    missing: fn(install: bool) -> Result<Option<String>>,
    run: fn() -> Result<()>,
}

const RINGS: [Ring; 4] = [
    Ring { name: "rust", missing: |_| Ok(None), run: rust::run },
    Ring { name: "clients", missing: clients::missing, run: clients::run },
    Ring { name: "ros-peers", missing: ros_peers::missing, run: ros_peers::run },
    Ring { name: "browser", missing: browser::missing, run: browser::run },
];

fn names() -> String {
    RINGS.map(|ring| ring.name).join(", ")
}

/// Runs the rings one after the other, all of them even when one fails, and says at the end how each ended.
pub(crate) fn run(options: &Options) -> bool {
    let mut rows = Vec::new();
    let mut counts = [0; 3];
    for ring in RINGS.iter().filter(|ring| options.wants(ring)) {
        println!("\n== ring {} ==", ring.name);
        let start = Instant::now();
        let outcome = attempt(ring, options);
        let (index, word) = match &outcome {
            Outcome::Passed => (0, "passed".to_owned()),
            Outcome::Failed(error) => (1, format!("FAILED: {error:#}")),
            Outcome::Skipped(reason) if options.all => (1, format!("FAILED: cannot run: {reason}")),
            Outcome::Skipped(reason) => (2, format!("skipped: {reason} (--install fetches it)")),
        };
        counts[index] += 1;
        rows.push(format!("{:10} {:5.0} s  {word}", ring.name, start.elapsed().as_secs_f64()));
    }
    println!("\n{}", rows.join("\n"));
    let [passed, failed, skipped] = counts;
    println!("rings: {passed} passed, {failed} failed, {skipped} skipped");
    failed == 0
}

fn attempt(ring: &Ring, options: &Options) -> Outcome {
    match (ring.missing)(options.install) {
        Err(error) => Outcome::Failed(error),
        Ok(Some(reason)) => Outcome::Skipped(reason),
        Ok(None) => match (ring.run)() {
            Ok(()) => Outcome::Passed,
            Err(error) => Outcome::Failed(error),
        },
    }
}
