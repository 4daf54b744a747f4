use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{cargo, command, found, output, root, show};

/// The least share of our lines that tests must reach, in percent.
const LINES_MIN: f64 = 80.0;
/// Files with the most lines that no test reaches: how many are named.
const WORST: usize = 15;

/// Runs all tests once more, built to count the lines they reach, the programs they start included. A program that is killed
/// leaves no count. The counts are read by `cov` of `llvm_profparser`, which needs no part of the toolchain that is not
/// always there.
pub(super) fn measure() -> Result<()> {
    for (program, argument, package) in
        [("cargo-llvm-cov", "--version", "cargo-llvm-cov"), ("cov", "--help", "llvm_profparser")]
    {
        if !found(program, argument) {
            bail!("{program} is not found; `cargo install {package} --locked` builds it");
        }
    }
    let target = root().join("target/coverage");
    let mut tests = cargo();
    tests.args([
        "llvm-cov",
        "nextest",
        "--locked",
        "--workspace",
        "--exclude",
        "xtask",
        "--no-fail-fast",
        "--no-report",
    ]);
    // The driver of the tests asks where the readers of its counts are, even when it is told to read none.
    tests.env("CARGO_LLVM_COV_TARGET_DIR", &target).env("LLVM_COV", "cov").env("LLVM_PROFDATA", "cov");
    let measured = show(&mut tests).and_then(|()| report(&target));
    forget(&target)?;
    measured
}

fn report(target: &Path) -> Result<()> {
    let mut files = Vec::new();
    walk(target, &mut files)?;
    let mut show = command("cov");
    show.arg("show");
    for file in &files {
        if file.extension().is_some_and(|extension| extension == "profraw") {
            show.arg("--instr-profile").arg(file);
        } else if is_program(file) {
            show.arg("--object").arg(file);
        }
    }
    let lines = Lines::parse(&output(&mut show)?);
    let reached = lines.share();
    println!("{lines}");
    if reached < LINES_MIN {
        bail!("tests reach {reached:.1} % of the lines, less than {LINES_MIN} %");
    }
    Ok(())
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether it is a test or a program of the build: executable, without an extension, among the dependencies or at the top.
#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
    let is_executable = path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
    is_executable && path.extension().is_none() && (folder == "deps" || folder == "debug")
}

#[cfg(not(unix))]
fn is_program(_path: &Path) -> bool {
    false
}

/// For each of our source files the lines that can run, and whether a test reached them.
#[derive(Default)]
struct Lines(BTreeMap<String, BTreeMap<u32, bool>>);

impl Lines {
    /// Reads what `cov show` prints: the path of a file, then its lines as `number|count|text`.
    fn parse(text: &str) -> Self {
        let mut lines = Self::default();
        let mut file = None;
        for line in text.lines() {
            if line.starts_with('/') {
                file = line.split_once("/crates/").map(|(_, name)| name.to_owned()).filter(|name| is_ours(name));
                continue;
            }
            let mut columns = line.splitn(3, '|').map(str::trim);
            let (Some(file), Some(number), Some(count)) = (&file, columns.next(), columns.next()) else { continue };
            if let (Ok(number), false) = (number.parse(), count.is_empty()) {
                *lines.0.entry(file.clone()).or_default().entry(number).or_default() |= count != "0";
            }
        }
        lines
    }

    fn share(&self) -> f64 {
        percent(self.0.values().flat_map(BTreeMap::values))
    }
}

/// Tests reach themselves, which tells nothing.
fn is_ours(name: &str) -> bool {
    name.contains("/src/") && !name.contains("/tests")
}

fn percent<'a>(lines: impl Iterator<Item = &'a bool>) -> f64 {
    let (mut all, mut reached) = (0_u32, 0_u32);
    for is_reached in lines {
        all += 1;
        reached += u32::from(*is_reached);
    }
    100.0 * f64::from(reached) / f64::from(all.max(1))
}

impl std::fmt::Display for Lines {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut crates: BTreeMap<&str, Vec<&bool>> = BTreeMap::new();
        for (file, lines) in &self.0 {
            crates.entry(file.split('/').next().unwrap_or_default()).or_default().extend(lines.values());
        }
        for (name, lines) in crates {
            writeln!(to, "{name:12} {:6} lines {:5.1} %", lines.len(), percent(lines.into_iter()))?;
        }
        let missed = |lines: &BTreeMap<u32, bool>| lines.values().filter(|is_reached| !**is_reached).count();
        let mut worst: Vec<_> = self.0.iter().map(|(file, lines)| (missed(lines), file)).collect();
        worst.sort_by(|one, other| other.cmp(one));
        writeln!(to, "most lines that no test reaches:")?;
        for (count, file) in worst.into_iter().take(WORST) {
            writeln!(to, "  {count:4} {file}")?;
        }
        let all = self.0.values().map(BTreeMap::len).sum::<usize>();
        write!(to, "all crates: {:.1} % of {all} lines", self.share())
    }
}

/// The build takes as much room as all the others together, and nothing else can use it.
fn forget(target: &Path) -> Result<()> {
    if target.exists() {
        std::fs::remove_dir_all(target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once_and_is_reached_if_any_copy_of_it_is() {
        let shown = "/home/x/crates/core/src/a.rs\n    1|       |// words\n    2|      0|one\n    3|   1.2k|two\n\
                     /home/x/crates/core/src/a.rs\n    2|      4|one\n    4|      0|three\n\
                     /home/x/crates/core/src/a/tests.rs\n    1|      0|test\n/registry/b.rs\n    1|      0|theirs\n";
        let lines = Lines::parse(shown);
        assert_eq!(lines.0.len(), 1);
        assert!((lines.share() - 200.0 / 3.0).abs() < 1e-9, "{lines}");
    }
}
