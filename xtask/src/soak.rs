use anyhow::{Result, bail};

use crate::process::{cargo, show};

mod coverage;

type Part = fn() -> Result<()>;

/// What is measured by hand, and what measures it. All of them make up the whole.
const PARTS: [(&str, Part); 2] = [("scenes", scenes), ("coverage", coverage::measure)];

/// Perception on scenes it was not tuned on, and the coverage of our crates.
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
