use std::collections::BTreeSet;

use serde_json::Value;

use super::node::{Content, Node, Place};

/// A value of the configuration, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The setting, such as `ros.zenoh.endpoint`.
    pub setting: String,
    /// Its value; `[redacted]` for a secret.
    pub value: String,
    /// Where it stands.
    pub place: Place,
    /// The variables it asks for.
    pub variables: Vec<String>,
}

const REDACTED: &str = "[redacted]";

/// A text, without the user and password of the URL that it may be.
pub(super) fn without_credentials(text: &str) -> String {
    let hidden = text.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (_user_and_password, host) = authority.rsplit_once('@')?;
        Some(format!("{scheme}://{REDACTED}@{host}{path}"))
    });
    hidden.unwrap_or_else(|| text.to_owned())
}

/// Every scalar and list of the tree, in the order of the files. The values of `secrets` are never shown.
pub(super) fn rows(node: &Node, secrets: &BTreeSet<String>) -> Vec<Row> {
    let mut rows = Vec::new();
    collect(node, "", secrets, &mut rows);
    rows
}

fn collect(node: &Node, setting: &str, secrets: &BTreeSet<String>, rows: &mut Vec<Row>) {
    let mut row = |value: String, variables: &[String]| {
        let value = if secrets.contains(setting) && !value.is_empty() {
            REDACTED.to_owned()
        } else {
            without_credentials(&value)
        };
        rows.push(Row { setting: setting.to_owned(), value, place: node.place.clone(), variables: variables.to_vec() });
    };
    match &node.content {
        Content::Scalar(Value::String(text)) => row(text.clone(), &[]),
        Content::Scalar(Value::Null) => row(String::new(), &[]),
        Content::Scalar(value) => row(value.to_string(), &[]),
        Content::Interpolated { text, variables, .. } => row(text.clone(), variables),
        Content::Map(entries) if entries.is_empty() => row("{}".to_owned(), &[]),
        Content::List(items) if items.is_empty() => row("[]".to_owned(), &[]),
        Content::Map(entries) => {
            for entry in entries {
                let inner = if setting.is_empty() { entry.key.clone() } else { format!("{setting}.{}", entry.key) };
                collect(&entry.value, &inner, secrets, rows);
            }
        }
        Content::List(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, &format!("{setting}[{index}]"), secrets, rows);
            }
        }
    }
}
