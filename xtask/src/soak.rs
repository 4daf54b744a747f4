use anyhow::{Result, bail};

use crate::process::{cargo, found, show};

/// The least share of our lines that tests must reach, in percent.
const COVERAGE_MIN: &str = "80";

/// Coverage of our crates, and perception on scenes it was not tuned on.
pub(crate) fn run(arguments: &[String]) -> Result<bool> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => {
            scenes()?;
            coverage()?;
        }
        ["coverage"] => coverage()?,
        ["scenes"] => scenes()?,
        other => bail!("soak takes nothing, `coverage` or `scenes`, not {other:?}"),
    }
    Ok(true)
}

fn scenes() -> Result<()> {
    show(cargo().args(["run", "--locked", "--package", "cerebellum-vision", "--example", "score"]))
}

/// The coverage tool reads the profiles itself, so that it works without the toolchain's own profile reader.
fn coverage() -> Result<()> {
    if !found("cargo-tarpaulin", "--version") {
        bail!("cargo-tarpaulin is not found; `cargo install cargo-tarpaulin --locked` builds it");
    }
    show(cargo().args([
        "tarpaulin",
        "--engine",
        "llvm",
        "--workspace",
        "--exclude",
        "xtask",
        "--skip-clean",
        "--target-dir",
        "target/coverage",
        "--exclude-files",
        "xtask/*",
        "--fail-under",
        COVERAGE_MIN,
        "--out",
        "Lcov",
        "--output-dir",
        "target/coverage",
    ]))
}
