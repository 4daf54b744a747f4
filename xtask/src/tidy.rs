use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{cargo, command, output, root};

/// What each crate may depend on inside the workspace, in normal builds. ARCHITECTURE.md shows the same table.
const CRATES: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("wire", &["core"]),
    ("ros", &["core", "wire"]),
    ("mcp", &["core", "wire"]),
    ("kit", &["core", "wire"]),
    ("geometry", &["core"]),
    ("vision", &["core", "wire", "geometry"]),
    ("servers", &["core", "wire", "mcp", "kit", "geometry"]),
    ("store", &["core"]),
    ("web", &["core", "wire"]),
    ("sim", &["core"]),
    ("testkit", &["core", "wire", "kit"]),
];

/// Crates whose dependency tree must not contain a bus.
const WITHOUT_ZENOH: &[&str] = &["wire", "mcp", "kit", "servers", "vision", "sim", "store", "web"];

/// The largest picture a README may carry.
const PICTURE_BYTES_MAX: u64 = 300_000;

/// Checks and says whether all holds.
pub(crate) fn run() -> bool {
    match check() {
        Ok(()) => true,
        Err(error) => {
            eprintln!("{error:#}");
            false
        }
    }
}

/// Everything the repository promises about itself; an error lists what does not hold.
pub(crate) fn check() -> Result<()> {
    println!("\n$ tidy");
    let mut faults = crate_graph()?;
    faults.extend(buses()?);
    faults.extend(files()?);
    if faults.is_empty() {
        return Ok(());
    }
    bail!("tidy found {}:\n  {}", faults.len(), faults.join("\n  "));
}

fn crate_graph() -> Result<Vec<String>> {
    let text = output(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists packages")?;
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        CRATES.iter().map(|(name, others)| (*name, others.iter().copied().collect())).collect();
    let mut faults = Vec::new();
    for package in packages {
        let Some(name) = package["name"].as_str().and_then(|name| name.strip_prefix("cerebellum-")) else { continue };
        let Some(allowed) = allowed.get(name) else {
            faults.push(format!("crate {name} stands in no row of the table of crates"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let Some(other) = dependency["name"].as_str().and_then(|name| name.strip_prefix("cerebellum-")) else {
                continue;
            };
            if dependency["kind"].is_null() && !allowed.contains(other) {
                faults.push(format!("crate {name} depends on {other}, which the table of crates does not allow"));
            }
        }
    }
    Ok(faults)
}

fn buses() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for name in WITHOUT_ZENOH {
        let package = format!("cerebellum-{name}");
        let tree =
            output(cargo().args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--package", &package]))?;
        if tree.lines().any(|line| line.starts_with("zenoh")) {
            faults.push(format!("crate {name} pulls in Zenoh; only crate ros may"));
        }
    }
    Ok(faults)
}

fn files() -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for file in output(command("git").args(["ls-files", "-z"]))?.split_terminator('\0') {
        let path = root().join(file);
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        if file.ends_with("/mod.rs") {
            faults.push(format!("{file}: a module is foo.rs beside foo/, never mod.rs"));
        }
        if file.starts_with("docs/pictures/") && metadata.len() > PICTURE_BYTES_MAX {
            faults.push(format!("{file}: {} bytes, at most {PICTURE_BYTES_MAX}", metadata.len()));
        }
    }
    Ok(faults)
}
