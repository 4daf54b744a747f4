use anyhow::Result;

use crate::process::{cargo, found, show};
use crate::tidy;

/// Formatting, lints, tests, doc tests and what the repository promises about itself.
pub(crate) fn run() -> Result<()> {
    show(cargo().args(["fmt", "--all", "--", "--check"]))?;
    if found("cargo-nextest", "--version") {
        show(cargo().args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]))?;
        show(cargo().args(["test", "--workspace", "--locked", "--doc", "--quiet"]))?;
    } else {
        show(cargo().args(["test", "--workspace", "--locked", "--no-fail-fast"]))?;
    }
    show(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"]))?;
    // What the tests built is what people run.
    show(cargo().args(["run", "--locked", "--quiet", "--", "--version"]))?;
    show(cargo().args(["run", "--locked", "--quiet", "--", "schema", "--check"]))?;
    show(cargo().args(["run", "--locked", "--quiet", "--", "config", "check"]))?;
    tidy::check()
}
