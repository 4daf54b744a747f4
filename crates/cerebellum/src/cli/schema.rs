use std::path::{Path, PathBuf};

use cerebellum_wire::{ToolClass, ToolSpec, skill, tools};
use clap::Args;
use serde_json::{Map, Value, json};

use super::print;
use crate::exit::{Exit, Failure};

/// Where the committed files are.
pub(super) const FOLDER: &str = "docs/schemas";

/// Arguments of `schema`.
#[derive(Args, Clone, Debug)]
pub struct SchemaArgs {
    /// Compare with the committed files of this folder instead; exit 1 if they differ
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = FOLDER, conflicts_with = "write")]
    pub check: Option<PathBuf>,
    /// Write the files into this folder instead
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = FOLDER)]
    pub write: Option<PathBuf>,
}

/// Prints the schemas, writes them, or compares the committed files with them.
pub fn run(args: &SchemaArgs) -> Result<Exit, Failure> {
    if let Some(folder) = &args.write {
        return write(folder);
    }
    if let Some(folder) = &args.check {
        return check(folder);
    }
    let all: Map<String, Value> = documents().into_iter().map(|(name, document)| (name.to_owned(), document)).collect();
    print(&format!("{:#}", Value::Object(all)));
    Ok(Exit::Ok)
}

fn documents() -> Vec<(&'static str, Value)> {
    let servers = [
        ("skill_control.tools", tools::skill_control::specs()),
        ("perception.tools", tools::perception::specs()),
        ("motion.tools", tools::motion::specs()),
        ("locate.tools", tools::locate::specs()),
        ("memory.tools", tools::memory::specs()),
        ("task.tools", tools::task::specs()),
    ];
    let mut documents: Vec<_> =
        servers.into_iter().map(|(name, specs)| (name, Value::Array(specs.iter().map(to_json).collect()))).collect();
    documents.push(("skill", skill::json_schema()));
    documents
}

fn to_json(spec: &ToolSpec) -> Value {
    let class = match spec.class {
        ToolClass::Read => "read",
        ToolClass::Write => "write",
        ToolClass::Motion => "motion",
    };
    json!({
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "class": class,
        "blocking": spec.blocking,
        "input_schema": spec.input_schema,
        "output_schema": spec.output_schema,
    })
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

fn write(folder: &Path) -> Result<Exit, Failure> {
    let fault = |error: std::io::Error| Failure::failed(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(fault)?;
    for (name, document) in documents() {
        std::fs::write(file(folder, name), format!("{document:#}\n")).map_err(fault)?;
    }
    Ok(Exit::Ok)
}

fn check(folder: &Path) -> Result<Exit, Failure> {
    let differs = |(name, document): &(&'static str, Value)| {
        let committed = std::fs::read_to_string(file(folder, name)).unwrap_or_default();
        committed.trim_end() != format!("{document:#}")
    };
    let different: Vec<String> = documents()
        .iter()
        .filter(|named| differs(named))
        .map(|(name, _)| file(folder, name).display().to_string())
        .collect();
    if different.is_empty() {
        return Ok(Exit::Ok);
    }
    Err(Failure::failed(format!(
        "not what the program says: {}; write them with: cerebellum schema --write",
        different.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn committed_schemas_are_what_the_program_says() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FOLDER);
        check(&folder).unwrap();
    }

    #[test]
    fn a_file_that_differs_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        assert_eq!(check(folder.path()).unwrap(), Exit::Ok);
        std::fs::write(file(folder.path(), "perception.tools"), "[]").unwrap();
        let failure = check(folder.path()).unwrap_err();
        assert!(
            failure.message.contains("perception.tools") && !failure.message.contains("skill_control.tools"),
            "{failure}"
        );
    }
}
