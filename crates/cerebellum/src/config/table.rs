use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use secrecy::SecretString;
use serde_json::Value;

use super::fault::{ConfigFault, quoted};
use super::node::{Content, Entry, Node};

/// What is collected while settings are read.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) faults: RefCell<Vec<ConfigFault>>,
    /// The settings whose values are never shown.
    pub(super) secrets: RefCell<BTreeSet<String>>,
}

/// Reads the keys of one mapping. Each reader records what is wrong and answers `None` then, so that one pass finds every
/// fault; [`Table::finish`] refuses the keys that nobody asked for.
pub(super) struct Table<'a> {
    node: &'a Node,
    entries: &'a [Entry],
    path: String,
    asked: RefCell<Vec<&'static str>>,
    findings: &'a Findings,
}

impl<'a> Table<'a> {
    /// The mapping at `path`; `None` (and a fault) when it is something else. Nothing at all counts as an empty mapping.
    pub(super) fn open(node: &'a Node, path: &str, findings: &'a Findings) -> Option<Self> {
        let entries = match &node.content {
            Content::Map(entries) => entries.as_slice(),
            Content::Scalar(_) | Content::Interpolated { .. } if node.is_empty() => &[],
            Content::Scalar(_) | Content::Interpolated { .. } | Content::List(_) => {
                let message = format!("expected a mapping (key: value), found {}", kind(node));
                findings.faults.borrow_mut().push(ConfigFault::at(&node.place, path, message));
                return None;
            }
        };
        Some(Self { node, entries, path: path.to_owned(), asked: RefCell::default(), findings })
    }

    /// The value of a key; `None` when it is missing or empty.
    pub(super) fn find(&self, key: &'static str) -> Option<&'a Node> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value).filter(|value| !value.is_empty())
    }

    /// The value of a key that must be there.
    pub(super) fn need(&self, key: &'static str, accepted: &str) -> Option<&'a Node> {
        let found = self.find(key);
        if found.is_none() {
            let at = self.entries.iter().find(|entry| entry.key == key).map_or(&self.node.place, |entry| &entry.place);
            self.push(ConfigFault::at(at, self.setting(key), format!("is missing or empty; {accepted}")));
        }
        found
    }

    /// A text.
    pub(super) fn text_or(&self, key: &'static str, default: &str) -> Option<String> {
        match self.find(key) {
            Some(node) => self.text_of(node, &self.setting(key)),
            None => Some(default.to_owned()),
        }
    }

    /// A text that may be absent.
    #[allow(
        clippy::option_option,
        reason = "the outer one says faulty, as in every reader here; the inner one says absent"
    )]
    pub(super) fn optional_text(&self, key: &'static str) -> Option<Option<String>> {
        match self.find(key) {
            Some(node) => self.text_of(node, &self.setting(key)).map(Some),
            None => Some(None),
        }
    }

    /// A list of texts, each checked by `check`, which says what is wrong.
    pub(super) fn texts_or(&self, key: &'static str, default: &[&str]) -> Option<Vec<String>> {
        let Some(node) = self.find(key) else {
            return Some(default.iter().map(|&text| text.to_owned()).collect());
        };
        let setting = self.setting(key);
        let Content::List(items) = &node.content else {
            return self.refuse(node, &setting, &format!("expected a list of texts, found {}", kind(node)));
        };
        let texts = items.iter().enumerate().map(|(index, item)| self.text_of(item, &format!("{setting}[{index}]")));
        texts.collect::<Vec<_>>().into_iter().collect()
    }

    /// True or false.
    pub(super) fn flag_or(&self, key: &'static str, default: bool) -> Option<bool> {
        let Some(node) = self.find(key) else { return Some(default) };
        let flag = match &node.content {
            Content::Scalar(value) => value.as_bool(),
            Content::Interpolated { text, .. } => text.parse().ok(),
            Content::List(_) | Content::Map(_) => None,
        };
        flag.or_else(|| self.refuse(node, &self.setting(key), &format!("expected true or false, found {}", kind(node))))
    }

    /// A whole number within limits.
    pub(super) fn whole_or(&self, key: &'static str, default: u64, limits: RangeInclusive<u64>) -> Option<u64> {
        let Some(node) = self.find(key) else { return Some(default) };
        let number = match &node.content {
            Content::Scalar(value) => value.as_u64(),
            Content::Interpolated { text, .. } => text.trim().parse().ok(),
            Content::List(_) | Content::Map(_) => None,
        };
        let accepted =
            || format!("expected a whole number from {} to {}, found {}", limits.start(), limits.end(), kind(node));
        number.filter(|number| limits.contains(number)).or_else(|| self.refuse(node, &self.setting(key), &accepted()))
    }

    /// A number within limits.
    pub(super) fn number_or(&self, key: &'static str, default: f64, limits: RangeInclusive<f64>) -> Option<f64> {
        let Some(node) = self.find(key) else { return Some(default) };
        let number = match &node.content {
            Content::Scalar(value) => value.as_f64(),
            Content::Interpolated { text, .. } => text.trim().parse().ok(),
            Content::List(_) | Content::Map(_) => None,
        };
        let accepted =
            || format!("expected a number from {} to {}, found {}", limits.start(), limits.end(), kind(node));
        number.filter(|number| limits.contains(number)).or_else(|| self.refuse(node, &self.setting(key), &accepted()))
    }

    /// One of a few words.
    pub(super) fn word_or<T: Copy>(&self, key: &'static str, default: T, words: &[(&str, T)]) -> Option<T> {
        let Some(node) = self.find(key) else { return Some(default) };
        let setting = self.setting(key);
        let text = self.text_of(node, &setting)?;
        let found = words.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
        found.or_else(|| {
            let accepted: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            self.refuse(node, &setting, &format!("{} is unknown; accepted: {}", quoted(&text), accepted.join(", ")))
        })
    }

    /// A secret that may be absent. It comes from a variable alone: one that stands in a file is refused, and never shown.
    #[allow(
        clippy::option_option,
        reason = "the outer one says faulty, as in every reader here; the inner one says absent"
    )]
    pub(super) fn optional_secret(&self, key: &'static str) -> Option<Option<SecretString>> {
        let setting = self.setting(key);
        self.findings.secrets.borrow_mut().insert(setting.clone());
        let Some(node) = self.find(key) else { return Some(None) };
        if let Content::Interpolated { text, from_environment_alone: true, .. } = &node.content {
            return Some(Some(SecretString::from(text.clone())));
        }
        let variable = setting.replace('.', "_").to_uppercase();
        self.refuse(
            node,
            &setting,
            &format!("a secret does not stand in a file; write ${{oc.env:{variable},}} and set that variable in the environment or in .env"),
        )
    }

    /// The one entry of a group file: the name of an adapter, and its settings.
    pub(super) fn adapter(
        node: &'a Node,
        group: &str,
        accepted: &[&str],
        findings: &'a Findings,
    ) -> Option<(&'a str, Table<'a>)> {
        let refuse = |node: &Node, message: String| {
            findings.faults.borrow_mut().push(ConfigFault::at(&node.place, group, message));
            None
        };
        let Content::Map(entries) = &node.content else {
            return refuse(
                node,
                format!(
                    "expected the name of an adapter and its settings, found {}; accepted: {}",
                    kind(node),
                    accepted.join(", ")
                ),
            );
        };
        let [entry] = entries.as_slice() else {
            return refuse(
                node,
                format!("expected one adapter, found {}; accepted: {}", entries.len(), accepted.join(", ")),
            );
        };
        if !accepted.contains(&entry.key.as_str()) {
            let message = format!("{} is no adapter of {group}; accepted: {}", quoted(&entry.key), accepted.join(", "));
            findings.faults.borrow_mut().push(ConfigFault::at(&entry.place, group, message));
            return None;
        }
        let table = Table::open(&entry.value, &format!("{group}.{}", entry.key), findings)?;
        Some((entry.key.as_str(), table))
    }

    /// Refuses the keys that nobody asked for.
    pub(super) fn finish(self) {
        let asked = self.asked.borrow();
        for entry in self.entries.iter().filter(|entry| !asked.contains(&entry.key.as_str())) {
            let accepted = if asked.is_empty() {
                "nothing is accepted here".to_owned()
            } else {
                format!("accepted: {}", asked.join(", "))
            };
            self.push(ConfigFault::at(
                &entry.place,
                format!("{}{}", self.prefix(), entry.key),
                format!("is unknown; {accepted}"),
            ));
        }
    }

    /// Records a fault of a key that was read.
    pub(super) fn refuse_key<T>(&self, key: &'static str, message: &str) -> Option<T> {
        let node = self.entries.iter().find(|entry| entry.key == key).map_or(self.node, |entry| &entry.value);
        self.refuse(node, &self.setting(key), message)
    }

    fn text_of(&self, node: &Node, setting: &str) -> Option<String> {
        match &node.content {
            Content::Scalar(Value::String(text)) | Content::Interpolated { text, .. } => Some(text.clone()),
            Content::Scalar(_) | Content::List(_) | Content::Map(_) => self.refuse(
                node,
                setting,
                &format!("expected a text, found {}; put it in quotes if it is one", kind(node)),
            ),
        }
    }

    fn refuse<T>(&self, node: &Node, setting: &str, message: &str) -> Option<T> {
        self.push(ConfigFault::at(&node.place, setting, message));
        None
    }

    fn push(&self, fault: ConfigFault) {
        self.findings.faults.borrow_mut().push(fault);
    }

    fn setting(&self, key: &str) -> String {
        format!("{}{key}", self.prefix())
    }

    fn prefix(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!("{}.", self.path) }
    }
}

fn kind(node: &Node) -> String {
    match &node.content {
        Content::Scalar(Value::Null) => "nothing".to_owned(),
        Content::Scalar(Value::String(text)) => quoted(text),
        Content::Scalar(value) => value.to_string(),
        Content::Interpolated { variables, .. } => format!("the value of {}", variables.join(" and ")),
        Content::List(_) => "a list".to_owned(),
        Content::Map(_) => "a mapping".to_owned(),
    }
}
