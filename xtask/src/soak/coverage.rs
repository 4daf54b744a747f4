use std::path::Path;

use anyhow::{Result, bail};

use crate::process::{cargo, found, root, show};

/// The least share of our lines that tests must reach, in percent.
const LINES_MIN: &str = "80";

/// Runs all tests once more, built to count the lines they reach, the programs they start included. A program that is killed
/// leaves no count.
pub(super) fn measure() -> Result<()> {
    if !found("cargo-llvm-cov", "--version") {
        bail!(
            "cargo-llvm-cov is not found; `cargo install cargo-llvm-cov --locked` builds it. It needs the toolchain's \
             component llvm-tools, or LLVM_COV and LLVM_PROFDATA with programs of the same LLVM as `rustc -Vv` names"
        );
    }
    let target = root().join("target/coverage");
    let mut tests = cargo();
    tests.args(["llvm-cov", "nextest", "--locked", "--workspace", "--exclude", "xtask", "--no-fail-fast"]);
    tests.args(["--summary-only", "--fail-under-lines", LINES_MIN]).env("CARGO_LLVM_COV_TARGET_DIR", &target);
    let measured = show(&mut tests);
    forget(&target)?;
    measured
}

/// The build takes as much room as all the others together, and nothing else can use it.
fn forget(target: &Path) -> Result<()> {
    if target.exists() {
        std::fs::remove_dir_all(target)?;
    }
    Ok(())
}
