use std::collections::BTreeSet;
use std::fmt;

use cerebellum_core::Skill;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::located::Located;
use crate::skill;
use crate::text::{self, cut};

mod placeholder;

/// The longest value of a param, in characters.
pub const PARAM_LENGTH_MAX: usize = 200;
/// The most params a template may have.
pub const PARAMS_MAX: usize = 16;

/// The most names a message lists.
const NAMES_SHOWN_MAX: usize = 20;

/// A parameterized skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Its unique name, and the name of the skill made from it.
    pub name: String,
    /// What it is for, in words for a planner.
    pub description: String,
    /// The params it takes, all of them required.
    pub params: Vec<String>,
    skill: Map<String, Value>,
    watch: Option<Map<String, Value>>,
}

/// The templates a robot offers, and what was wrong with others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalog {
    templates: Vec<Template>,
    faults: Vec<CatalogFault>,
}

/// A template or a file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogFault {
    /// The file it stands in.
    pub file: String,
    /// The line, counted from 1, if known.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for CatalogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

/// Why no skill could be made from a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    /// There is no such template.
    #[error("no template named {name:?}; there are {}", list(.known))]
    UnknownTemplate {
        /// The name asked for, cut for showing.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Params were left out.
    #[error("template {template} needs {}; it takes {}", list(.missing), list(.known))]
    MissingParams {
        /// The template.
        template: String,
        /// What was left out.
        missing: Vec<String>,
        /// All it takes.
        known: Vec<String>,
    },
    /// Params were given that the template does not have.
    #[error("template {template} has no param {}; it takes {}", list(.unknown), list(.known))]
    UnknownParams {
        /// The template.
        template: String,
        /// What it does not have.
        unknown: Vec<String>,
        /// All it takes.
        known: Vec<String>,
    },
    /// A value is not plain text of bounded length.
    #[error("param {param} {reason}")]
    BadValue {
        /// The param.
        param: String,
        /// What is wrong with its value.
        reason: String,
    },
    /// The filled skill breaks the schema.
    #[error("template {template} filled with these params is no skill: {fault}")]
    BadSkill {
        /// The template.
        template: String,
        /// What is wrong, and where.
        fault: Fault,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateFile {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    params: Vec<String>,
    skill: Map<String, Value>,
    #[serde(default)]
    watch: Option<Map<String, Value>>,
}

impl Catalog {
    /// Reads catalog files, given as name and text, in order. A template that cannot be used becomes a fault with its file
    /// and line, and the others load; of two templates with one name the first stays.
    pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut catalog = Self::default();
        for (file, text) in files {
            catalog.read_file(file, text);
        }
        catalog
    }

    /// The templates, in the order of the files.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// What could not be used.
    pub fn faults(&self) -> &[CatalogFault] {
        &self.faults
    }

    /// Adds a fault found while the files were fetched.
    pub fn report(&mut self, fault: CatalogFault) {
        self.faults.push(fault);
    }

    /// The same templates with other faults: for a catalog that is kept because its files broke.
    pub fn replace_faults(&mut self, faults: Vec<CatalogFault>) {
        self.faults = faults;
    }

    /// Makes a skill of a template: every param in, nothing else. A value is put into texts as it is; it can never become
    /// structure.
    pub fn fill(&self, template: &str, params: &Map<String, Value>) -> Result<Skill, FillError> {
        let found = self.templates.iter().find(|one| one.name == template);
        found.map_or_else(
            || {
                let known = self.templates.iter().map(|one| one.name.clone()).collect();
                Err(FillError::UnknownTemplate { name: cut(template), known })
            },
            |found| found.fill(params),
        )
    }

    fn read_file(&mut self, file: &str, text: &str) {
        let root: Located = match serde_saphyr::from_str(text) {
            Ok(root) => root,
            Err(error) => {
                let line = error.location().map(|location| location.line());
                let message = format!("cannot be read: {}", error.without_snippet());
                return self.report(CatalogFault { file: file.to_owned(), line, message });
            }
        };
        let fault = |line: u64, message: String| CatalogFault {
            file: file.to_owned(),
            line: (line > 0).then_some(line),
            message,
        };
        if let Value::Object(map) = root.to_value() {
            for key in map.keys().filter(|key| *key != "templates") {
                self.report(fault(root.line_of(key), format!("unknown key {}; a catalog has templates", cut(key))));
            }
        }
        let Some(templates) = root.get("templates").and_then(Located::items) else {
            return self.report(fault(root.line, "a catalog has a list named templates".to_owned()));
        };
        for located in templates {
            match read_template(located) {
                Ok(template) if self.templates.iter().any(|one| one.name == template.name) => {
                    let message = format!("template {}: the name exists already; choose another", template.name);
                    self.report(fault(located.line_of("name"), message));
                }
                Ok(template) => self.templates.push(template),
                Err((name, wrong)) => {
                    self.report(fault(located.line_of(&wrong.path), format!("template {name}: {wrong}")));
                }
            }
        }
    }
}

impl Template {
    fn fill(&self, params: &Map<String, Value>) -> Result<Skill, FillError> {
        let unknown: Vec<String> = params.keys().filter(|key| !self.params.contains(key)).map(|key| cut(key)).collect();
        if !unknown.is_empty() {
            return Err(FillError::UnknownParams { template: self.name.clone(), unknown, known: self.params.clone() });
        }
        let missing: Vec<String> = self.params.iter().filter(|name| !params.contains_key(*name)).cloned().collect();
        if !missing.is_empty() {
            return Err(FillError::MissingParams { template: self.name.clone(), missing, known: self.params.clone() });
        }
        let mut values = Vec::with_capacity(params.len());
        for (param, value) in params {
            values.push((param.as_str(), plain_text(param, value)?));
        }
        self.build(&values).map_err(|fault| FillError::BadSkill { template: self.name.clone(), fault })
    }

    /// Puts the values in, moves the watch into the skill, and checks the whole.
    fn build(&self, values: &[(&str, &str)]) -> Result<Skill, Fault> {
        let mut skill = placeholder::replace_in_map(&self.skill, values);
        skill.insert("name".to_owned(), Value::String(self.name.clone()));
        if let Some(watch) = &self.watch {
            let mut watch = placeholder::replace_in_map(watch, values);
            if !watch.contains_key("condition")
                && let Some(condition) = condition(&skill, &watch)
            {
                watch.insert("condition".to_owned(), Value::String(condition));
            }
            skill.insert("watch".to_owned(), Value::Object(watch));
        }
        skill::from_value(&Value::Object(skill))
    }
}

/// Reads and checks one template; a fault comes with the name it is known by.
fn read_template(located: &Located) -> Result<Template, (String, Fault)> {
    let value = located.to_value();
    let name = value.get("name").and_then(Value::as_str).map_or_else(|| "without a name".to_owned(), cut);
    let file: TemplateFile =
        serde_path_to_error::deserialize(value).map_err(|error| (name.clone(), Fault::from_serde(&error)))?;
    let template = Template {
        name: file.name,
        description: file.description,
        params: file.params,
        skill: file.skill,
        watch: file.watch,
    };
    check(&template).map_err(|fault| (name, fault))?;
    Ok(template)
}

fn check(template: &Template) -> Result<(), Fault> {
    if template.description.trim().is_empty() {
        return Err(Fault::at("description", "must say what the template is for"));
    }
    check_params(&template.params)?;
    if template.skill.contains_key("name") {
        return Err(Fault::at("skill.name", "a skill is named after its template; leave the name out"));
    }
    if template.skill.contains_key("watch") && template.watch.is_some() {
        return Err(Fault::at("watch", "stands both beside the skill and in it; leave one out"));
    }
    check_placeholders(template)?;
    // Sample values show whether what comes out is a skill, whatever the params will be.
    let samples: Vec<(&str, &str)> = template.params.iter().map(|param| (param.as_str(), "thing")).collect();
    template.build(&samples).map(|_| ()).map_err(|fault| {
        let is_beside = fault.path == "name" || (fault.path.starts_with("watch") && template.watch.is_some());
        if is_beside { fault } else { fault.within("skill") }
    })
}

fn check_params(params: &[String]) -> Result<(), Fault> {
    if params.len() > PARAMS_MAX {
        return Err(Fault::at("params", format!("has {}, at most {PARAMS_MAX} are taken", params.len())));
    }
    for (index, param) in params.iter().enumerate() {
        let path = format!("params[{index}]");
        if !placeholder::is_name(param) {
            return Err(Fault::at(
                path,
                format!("{:?} must be 1 to 63 characters a-z, 0-9 and _, beginning with a letter", cut(param)),
            ));
        }
        if params[..index].contains(param) {
            return Err(Fault::at(path, format!("{param} stands twice")));
        }
    }
    Ok(())
}

fn check_placeholders(template: &Template) -> Result<(), Fault> {
    let mut used = placeholder::find_in_map("skill", &template.skill);
    if let Some(watch) = &template.watch {
        used.extend(placeholder::find_in_map("watch", watch));
    }
    if let Some((path, name)) = used.iter().find(|(_, name)| !template.params.contains(name)) {
        return Err(Fault::at(path.clone(), format!("{{{name}}} is no param; params has {}", list(&template.params))));
    }
    let used: BTreeSet<&str> = used.iter().map(|(_, name)| name.as_str()).collect();
    match template.params.iter().position(|param| !used.contains(param.as_str())) {
        Some(index) => {
            let param = &template.params[index];
            Err(Fault::at(
                format!("params[{index}]"),
                format!("{param} is used nowhere; write {{{param}}} where it belongs"),
            ))
        }
        None => Ok(()),
    }
}

fn plain_text<'a>(param: &str, value: &'a Value) -> Result<&'a str, FillError> {
    let bad = |reason: String| FillError::BadValue { param: param.to_owned(), reason };
    let Value::String(text) = value else {
        return Err(bad(format!("must be text, not {}", cut(&value.to_string()))));
    };
    let text = text.trim();
    let length = text.chars().count();
    if text.is_empty() {
        return Err(bad("must not be empty".to_owned()));
    }
    if length > PARAM_LENGTH_MAX {
        return Err(bad(format!("has {length} characters, at most {PARAM_LENGTH_MAX} are taken")));
    }
    if text.chars().any(text::is_hidden) {
        return Err(bad("must be one line of plain text without control characters".to_owned()));
    }
    Ok(text)
}

/// What is waited for: the description of the watched output without a leading "whether:".
fn condition(skill: &Map<String, Value>, watch: &Map<String, Value>) -> Option<String> {
    let output = watch.get("output")?.as_str()?;
    let outputs = skill.get("outputs")?.as_array()?;
    let found = outputs.iter().find(|one| one.get("name").and_then(Value::as_str) == Some(output))?;
    let description = found.get("description")?.as_str()?.trim();
    let stripped = description.strip_prefix("whether:").unwrap_or(description).trim();
    (!stripped.is_empty()).then(|| stripped.to_owned())
}

fn list(names: &[String]) -> String {
    text::list(names, NAMES_SHOWN_MAX)
}

#[cfg(test)]
mod tests;
