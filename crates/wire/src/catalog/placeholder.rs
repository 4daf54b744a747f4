use cerebellum_core::SkillName;
use serde_json::{Map, Value};

/// Whether a word can be a param: the same rule as for names of skills.
pub(super) fn is_name(word: &str) -> bool {
    word.parse::<SkillName>().is_ok()
}

/// The placeholders in the texts of a map, each with the path of its text.
pub(super) fn find_in_map(path: &str, map: &Map<String, Value>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (key, value) in map {
        find(&format!("{path}.{key}"), value, &mut found);
    }
    found
}

/// A copy of the map with the values put into its texts. Values are not looked at again, so braces in them stay.
pub(super) fn replace_in_map(map: &Map<String, Value>, values: &[(&str, &str)]) -> Map<String, Value> {
    map.iter().map(|(key, value)| (key.clone(), replace(value, values))).collect()
}

fn find(path: &str, value: &Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => {
            found.extend(pieces(text).filter_map(|piece| match piece {
                Piece::Placeholder(name) => Some((path.to_owned(), name.to_owned())),
                Piece::Text(_) => None,
            }));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find(&format!("{path}[{index}]"), item, found);
            }
        }
        Value::Object(map) => found.extend(find_in_map(path, map)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replace(value: &Value, values: &[(&str, &str)]) -> Value {
    match value {
        Value::String(text) => Value::String(pieces(text).map(|piece| piece.filled(values)).collect()),
        Value::Array(items) => Value::Array(items.iter().map(|item| replace(item, values)).collect()),
        Value::Object(map) => Value::Object(replace_in_map(map, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

enum Piece<'a> {
    Text(&'a str),
    /// A name between braces.
    Placeholder(&'a str),
}

impl<'a> Piece<'a> {
    fn filled(&self, values: &[(&str, &'a str)]) -> &'a str {
        match self {
            Self::Text(text) => text,
            Self::Placeholder(name) => values.iter().find(|(param, _)| param == name).map_or("", |(_, value)| value),
        }
    }
}

/// Takes a text apart. Braces around anything but a name are text.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'))
            && is_name(name)
        {
            rest = after;
            return Some(Piece::Placeholder(name));
        }
        let (piece, after) = split_text(rest);
        rest = after;
        Some(Piece::Text(piece))
    })
}

/// The text up to the next brace that could open a placeholder, and the rest.
fn split_text(text: &str) -> (&str, &str) {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let end = text[first..].find('{').map_or(text.len(), |at| at + first);
    text.split_at(end)
}
