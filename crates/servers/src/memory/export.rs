//! Skills that proved good, as files of skill-control's catalog.
//!
//! What can be exported is a process that is tagged `skill`, whose plan is one template of the catalog (`name`,
//! `description`, `params`, `skill`, `watch`), and that worked at least as often as the operator asks for and more often than
//! it failed. Each becomes a file of its own, named after the template, with where it came from in its first lines, for a
//! person to read before the folder is given to `SKILLS_CATALOG`. Nothing else writes into a catalog.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cerebellum_core::{ProcessStore, SkillName, StoreError, StoredProcess};
use cerebellum_wire::catalog::Catalog;
use cerebellum_wire::located::Located;
use cerebellum_wire::text;
use serde_json::{Value, json};

use crate::skill_control::Catalogs;

/// The tag of a process whose plan is a skill template.
pub const TAG: &str = "skill";
/// How often a skill must have worked unless told.
pub const SUCCESSES_MIN_DEFAULT: u32 = 1;
/// How many processes are read at once.
const PAGE: usize = 500;
/// The key of a catalog's list.
const TEMPLATES: &str = "templates";

/// What was exported, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The new files, by the name of their template.
    pub written: Vec<(String, PathBuf)>,
    /// Processes tagged `skill` that were not written, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder cannot be used.
    #[error("cannot export to {}: {reason}; name a folder for skill templates", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Writes the learned skill templates into `folder`, which is made if it is not there. A template whose name exists, in the
/// folder or among `known`, is refused; a file that is there is never changed. A file appears whole or not at all.
pub async fn export_skills(
    store: &dyn ProcessStore,
    folder: &Path,
    known: &[String],
    successes_min: u32,
) -> Result<Exported, ExportError> {
    let skills = tagged(store).await?;
    let mut names = names_in(folder).map_err(|reason| ExportError::Folder { folder: folder.to_owned(), reason })?;
    names.extend_from_slice(known);
    let mut exported = Exported::default();
    for stored in &skills {
        match export(stored, folder, &names, successes_min) {
            Ok((name, file)) => {
                names.push(name.clone());
                exported.written.push((name, file));
            }
            Err(reason) => exported.refused.push((stored.process.name.clone(), reason)),
        }
    }
    Ok(exported)
}

/// The file of one process: its template as a catalog, with where it came from in the first lines.
pub fn render(stored: &StoredProcess) -> Result<(String, String), String> {
    let plan = stored.process.plan.as_deref().ok_or("it has no plan; the plan must be a skill template")?;
    let catalog = catalog_of(plan)?;
    let text = serde_saphyr::to_string(&catalog).map_err(|error| format!("its template cannot be written: {error}"))?;
    // What is written is what is read: the text counts, not the value it was made from.
    let read = Catalog::read([("plan", text.as_str())]);
    let template = match (read.templates(), read.faults()) {
        ([template], []) => template,
        (_, [fault, ..]) => {
            return Err(format!("its plan is no skill template: {}", text::cut_to(&fault.message, 300)));
        }
        (templates, []) => return Err(format!("its plan holds {} templates, it must be one", templates.len())),
    };
    // The catalog's names are taken as they are; a file name must be more careful.
    let name: SkillName = template.name.parse().map_err(|error| format!("its template's name: {error}"))?;
    let StoredProcess { id, version, process, successes, failures, .. } = stored;
    let source: String = process.source.chars().filter(|c| !text::is_hidden(*c)).collect();
    let head = format!(
        "# Learned as {:?} ({id}, version {version}), saved by {source}.\n# It worked {successes} times and failed {failures} \
         times. Read it before a robot uses it.\n",
        process.name
    );
    Ok((name.to_string(), format!("{head}{text}")))
}

async fn tagged(store: &dyn ProcessStore) -> Result<Vec<StoredProcess>, StoreError> {
    let mut skills = Vec::new();
    let mut skip = 0;
    loop {
        let (page, total) = store.list(skip, PAGE).await?;
        skip += page.len();
        let is_last = page.is_empty() || skip >= total;
        skills.extend(page.into_iter().filter(|stored| stored.process.tags.iter().any(|tag| tag == TAG)));
        if is_last {
            return Ok(skills);
        }
    }
}

/// The names of the templates that are in the folder; it is made if it is not there.
fn names_in(folder: &Path) -> Result<Vec<String>, String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let is_empty = std::fs::read_dir(folder).map_err(|error| error.to_string())?.next().is_none();
    if is_empty {
        return Ok(Vec::new());
    }
    let catalogs = Catalogs::open(folder).map_err(|error| error.to_string())?;
    Ok(catalogs.current().templates().iter().map(|template| template.name.clone()).collect())
}

fn export(
    stored: &StoredProcess,
    folder: &Path,
    names: &[String],
    successes_min: u32,
) -> Result<(String, PathBuf), String> {
    let StoredProcess { successes, failures, .. } = stored;
    if *successes < successes_min || successes <= failures {
        return Err(format!(
            "it is not proved: it worked {successes} times and failed {failures} times; it must have worked at least \
             {successes_min} times and more often than it failed"
        ));
    }
    let (name, text) = render(stored)?;
    if names.contains(&name) {
        return Err(format!("a template named {name} exists already; save the skill under another name"));
    }
    let file = folder.join(format!("{name}.yaml"));
    write_new(folder, &file, &text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => format!("{} exists already", file.display()),
        _ => format!("{} cannot be written: {error}", file.display()),
    })?;
    Ok((name, file))
}

/// The plan as a catalog: a template by itself, or a catalog of one.
fn catalog_of(plan: &str) -> Result<Value, String> {
    let located: Located = serde_saphyr::from_str(plan).map_err(|error| {
        format!("its plan cannot be read: {}", text::cut_to(&error.without_snippet().to_string(), 300))
    })?;
    match located.to_value() {
        Value::Object(catalog) if catalog.contains_key(TEMPLATES) => Ok(Value::Object(catalog)),
        template => Ok(json!({TEMPLATES: [template]})),
    }
}

/// Writes beside the file and moves it there, unless one is there.
fn write_new(folder: &Path, file: &Path, text: &str) -> io::Result<()> {
    let mut beside = tempfile::Builder::new().prefix(".export").suffix(".new").tempfile_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().sync_all()?;
    beside.persist_noclobber(file).map_err(|error| error.error)?;
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
