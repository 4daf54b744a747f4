//! One table of the tools that a robot and the brain agree on: names, arguments, and the fields of answers that plans
//! branch on. Grading a foreign robot and checking a plan read the same rows.

use serde_json::{Map, Value};

mod rows;

pub use rows::TOOLS;

/// How much of the contract a tool belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Without it the brain cannot drive the robot.
    Minimum,
    /// Needed to use everything the brain can do.
    Full,
    /// This project's own addition; no other robot is asked for it.
    Extra,
}

/// The JSON type of an argument or a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// An array.
    List,
    /// A string or an object.
    TextOrObject,
    /// Anything, null included.
    Any,
}

impl Kind {
    /// Whether a value is of this type. A number must be finite, which JSON sees to.
    pub fn takes(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::List => value.is_array(),
            Self::TextOrObject => value.is_string() || value.is_object(),
            Self::Any => true,
        }
    }

    /// The type's name in sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Object => "an object",
            Self::List => "a list",
            Self::TextOrObject => "text or an object",
            Self::Any => "anything",
        }
    }
}

/// Which answers must have a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Every answer, a refusal too.
    Always,
    /// Answers whose `ok` is not false.
    Done,
    /// Answers that refuse an unknown name.
    Unknown,
    /// Answers in which the field of that name is true.
    True(&'static str),
    /// No answer must; when it is there it has this type.
    Optional,
}

/// An argument of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether a call without it is refused.
    pub is_required: bool,
}

/// A field of a tool's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Which answers must have it.
    pub when: When,
}

/// A tool of the contract.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContractTool {
    /// Which server has it by convention: `motion`, `locate`, `memory` or `task`. A robot may spread its tools as it likes.
    pub server: &'static str,
    /// Its bare name.
    pub name: &'static str,
    /// How much of the contract it belongs to.
    pub level: Level,
    /// Whether it moves the robot: it blocks until it is done, and stops when its caller goes away.
    pub is_motion: bool,
    /// The tool that may stand in its place, where the contract names two in one row.
    pub either: Option<&'static str>,
    /// What a robot must have for the tool to be asked of it, for a person; `None` asks every robot.
    pub only_if: Option<&'static str>,
    /// What it is called with.
    pub arguments: &'static [Argument],
    /// What it answers besides `ok`.
    pub fields: &'static [Field],
}

/// The row of a tool.
pub fn tool(name: &str) -> Option<&'static ContractTool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The tools of one server.
pub fn of_server(server: &str) -> impl Iterator<Item = &'static ContractTool> {
    TOOLS.iter().filter(move |tool| tool.server == server)
}

impl ContractTool {
    /// What is wrong with an answer, one sentence a fault; empty when it keeps the contract. `unknown_name` says that the
    /// call named something that does not exist.
    pub fn faults(&self, answer: &Map<String, Value>, unknown_name: bool) -> Vec<String> {
        let is_done = answer.get("ok") != Some(&Value::Bool(false));
        let mut faults = Vec::new();
        match answer.get("ok") {
            Some(Value::Bool(_)) => {}
            Some(other) => faults.push(format!("ok is {other}, and must be true or false")),
            // `locate_3d` is the one tool whose row has no `ok`.
            None if self.name == "locate_3d" => {}
            None => faults.push("ok is missing".to_owned()),
        }
        for field in self.fields {
            let must = match field.when {
                When::Always => true,
                When::Done => is_done,
                When::Unknown => unknown_name,
                When::True(other) => answer.get(other) == Some(&Value::Bool(true)),
                When::Optional => false,
            };
            match answer.get(field.name) {
                Some(value) if !field.kind.takes(value) => {
                    faults.push(format!("{} is {}, and must be {}", field.name, shown(value), field.kind.as_str()));
                }
                None if must => faults.push(format!("{} is missing", field.name)),
                Some(_) | None => {}
            }
        }
        faults
    }
}

fn shown(value: &Value) -> String {
    crate::text::cut(&value.to_string())
}

#[cfg(test)]
mod tests;
