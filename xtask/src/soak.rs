use anyhow::{Result, bail};

use crate::process::{cargo, show};

mod coverage;

type Part = fn() -> Result<()>;

/// What is measured by hand, and what measures it. All of them make up the whole.
const PARTS: [(&str, Part); 3] = [("restarts", restarts), ("scenes", scenes), ("coverage", coverage::measure)];

/// The vision node killed ten times and the buffer frozen for 30 s, perception on scenes it was not tuned on, and the coverage
/// of our crates.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    let parts: Vec<_> =
        PARTS.iter().filter(|(name, _)| arguments.is_empty() || arguments.iter().any(|given| given == name)).collect();
    if parts.len() < arguments.len() {
        bail!("soak takes nothing, or some of {}, not {arguments:?}", PARTS.map(|(name, _)| name).join(", "));
    }
    for (_, part) in parts {
        part()?;
    }
    Ok(true)
}

fn scenes() -> Result<()> {
    show(cargo().args(["run", "--locked", "--package", "cerebellum-vision", "--example", "score"]))
}

/// The tests of the whole program that take their large counts from the environment.
fn restarts() -> Result<()> {
    let mut tests = cargo();
    tests.args(["nextest", "run", "--locked", "--package", "cerebellum", "--no-capture", "--no-fail-fast"]);
    show(tests.args(["-E", "test(/^restart::/)"]).env("CEREBELLUM_SOAK", "1"))
}
