use cerebellum_core::Process;
use cerebellum_core::name::folded;
use cerebellum_wire::tools::memory::save_process::Arguments;
use cerebellum_wire::{Fault, text};

/// The longest texts, in characters.
const NAME_CHARS_MAX: usize = 80;
const DESCRIPTION_CHARS_MAX: usize = 1_000;
const WHEN_CHARS_MAX: usize = 500;
const STEP_CHARS_MAX: usize = 500;
const TAG_CHARS_MAX: usize = 40;
const NOTE_CHARS_MAX: usize = 1_000;
/// The most steps and tags.
const STEPS_MAX: usize = 50;
const TAGS_MAX: usize = 16;
/// The largest process, in bytes of all its texts as JSON: the best match must fit into an answer.
const PROCESS_BYTES_MAX: usize = 12_000;

/// The process as it may be kept; a fault names the argument that is wrong.
pub(super) fn checked(given: Arguments, source: String) -> Result<Process, Fault> {
    let process = Process {
        name: folded(&line("name", &given.name, NAME_CHARS_MAX)?),
        description: paragraph("description", &given.description, DESCRIPTION_CHARS_MAX)?,
        steps: each("steps", given.steps, STEPS_MAX, |path, step| paragraph(path, step, STEP_CHARS_MAX))?,
        plan: given.plan.filter(|plan| !plan.trim().is_empty()),
        when: optional("when", given.when.as_deref(), WHEN_CHARS_MAX)?,
        tags: each("tags", given.tags, TAGS_MAX, |path, tag| Ok(folded(&line(path, tag, TAG_CHARS_MAX)?)))?,
        source,
    };
    if process.name.is_empty() {
        return Err(Fault::at("name", "must have a letter or a digit"));
    }
    if process.steps.is_empty() && process.plan.is_none() {
        return Err(Fault::at("steps", "a process needs steps or a plan"));
    }
    if process.plan.as_deref().is_some_and(|plan| plan.chars().any(|c| text::is_hidden(c) && !c.is_whitespace())) {
        return Err(Fault::at("plan", "must be plain text without control characters"));
    }
    let bytes = size(&process);
    if bytes > PROCESS_BYTES_MAX {
        let message = format!("the process takes {bytes} bytes, at most {PROCESS_BYTES_MAX} are kept; shorten it");
        return Err(Fault::at(if process.plan.is_some() { "plan" } else { "steps" }, message));
    }
    Ok(process)
}

/// A note as it may be kept.
pub(super) fn note(given: Option<&str>) -> Result<Option<&str>, Fault> {
    let note = given.map(str::trim).filter(|note| !note.is_empty());
    note.map(|note| bounded("note", note, NOTE_CHARS_MAX)).transpose()
}

fn line(path: &str, given: &str, chars_max: usize) -> Result<String, Fault> {
    let given = bounded(path, given.trim(), chars_max)?;
    if given.is_empty() {
        return Err(Fault::at(path, "must not be empty"));
    }
    if given.chars().any(text::is_hidden) {
        return Err(Fault::at(path, "must be one line of plain text without control characters"));
    }
    Ok(given.to_owned())
}

/// Text whose lines become one; other characters that nobody sees are refused.
fn paragraph(path: &str, given: &str, chars_max: usize) -> Result<String, Fault> {
    line(path, &given.split_whitespace().collect::<Vec<_>>().join(" "), chars_max)
}

fn optional(path: &str, given: Option<&str>, chars_max: usize) -> Result<Option<String>, Fault> {
    given.filter(|text| !text.trim().is_empty()).map(|text| paragraph(path, text, chars_max)).transpose()
}

fn each(
    path: &str,
    given: Option<Vec<String>>,
    count_max: usize,
    check: impl Fn(&str, &str) -> Result<String, Fault>,
) -> Result<Vec<String>, Fault> {
    let given = given.unwrap_or_default();
    if given.len() > count_max {
        return Err(Fault::at(path, format!("has {} entries, at most {count_max} are kept", given.len())));
    }
    given.iter().enumerate().map(|(index, text)| check(&format!("{path}[{index}]"), text)).collect()
}

fn bounded<'a>(path: &str, given: &'a str, chars_max: usize) -> Result<&'a str, Fault> {
    match given.chars().count() {
        length if length > chars_max => {
            Err(Fault::at(path, format!("has {length} characters, at most {chars_max} are kept")))
        }
        _ => Ok(given),
    }
}

fn size(process: &Process) -> usize {
    let Process { name, description, steps, plan, when, tags, source } = process;
    let texts = [name, description, source].into_iter().chain(plan).chain(when).chain(steps).chain(tags);
    texts.map(|text| serde_json::Value::from(text.as_str()).to_string().len() + 1).sum()
}
