use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Location, Spanned};

use super::environment::Environment;
use super::fault::ConfigFault;
use super::interpolate::{self, Expression};

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file as a person would name it; embedded ones say so.
    pub file: Arc<str>,
    /// Counted from 1; 0 when unknown.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 { f.write_str(&self.file) } else { write!(f, "{}:{}", self.file, self.line) }
    }
}

/// A piece of YAML that knows where it stands, with its variables put in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// Where it stands.
    pub(super) place: Place,
    /// What it is.
    pub(super) content: Content,
}

/// What a piece of YAML is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// A scalar as YAML reads it; never an array or an object.
    Scalar(Value),
    /// A scalar that had variables in it.
    Interpolated {
        /// The text with the values put in.
        text: String,
        /// The variables asked for.
        variables: Vec<String>,
        /// Whether all of the text came from variables.
        from_environment_alone: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file.
    Map(Vec<Entry>),
}

/// A key of a mapping and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// The key.
    pub(super) key: String,
    /// Where the key stands.
    pub(super) place: Place,
    /// Its value.
    pub(super) value: Node,
}

impl Node {
    /// Whether it says nothing: null, or variables that are all unset.
    pub(super) fn is_empty(&self) -> bool {
        match &self.content {
            Content::Scalar(value) => value.is_null(),
            Content::Interpolated { text, .. } => text.is_empty(),
            Content::List(_) | Content::Map(_) => false,
        }
    }
}

/// Turns what the YAML reader gave into nodes: names files, puts variables in, and collects what is wrong with them.
pub(super) struct Resolver<'a> {
    pub(super) files: &'a [Arc<str>],
    pub(super) expressions: &'a [Expression],
    pub(super) environment: &'a Environment,
    pub(super) faults: &'a mut Vec<ConfigFault>,
}

impl Resolver<'_> {
    pub(super) fn place(&self, location: Location) -> Place {
        // The reader counts sources from 1 in the order they were opened; the root file is the first.
        let index = (location.source_id() as usize).saturating_sub(1);
        let file = self.files.get(index).or_else(|| self.files.first()).cloned().unwrap_or_default();
        Place { file, line: location.line() }
    }

    pub(super) fn resolve(&mut self, raw: RawNode, setting: &str) -> Node {
        let place = self.place(raw.0.referenced);
        let content = match raw.0.value {
            Raw::Scalar(Value::String(text)) => self.text(text, &place, setting),
            Raw::Scalar(value) => Content::Scalar(value),
            Raw::List(items) => {
                let items = items.into_iter().enumerate();
                Content::List(items.map(|(index, item)| self.resolve(item, &format!("{setting}[{index}]"))).collect())
            }
            Raw::Map(entries) => Content::Map(entries.into_iter().map(|entry| self.entry(entry, setting)).collect()),
        };
        Node { place, content }
    }

    fn entry(&mut self, (key, value): (Spanned<String>, RawNode), setting: &str) -> Entry {
        let inner = if setting.is_empty() { key.value.clone() } else { format!("{setting}.{}", key.value) };
        Entry { place: self.place(key.referenced), value: self.resolve(value, &inner), key: key.value }
    }

    fn text(&mut self, text: String, place: &Place, setting: &str) -> Content {
        match interpolate::expand(&text, self.expressions, self.environment) {
            Ok(expanded) if expanded.variables.is_empty() => Content::Scalar(Value::String(text)),
            Ok(expanded) => Content::Interpolated {
                text: expanded.text,
                variables: expanded.variables,
                from_environment_alone: expanded.from_environment_alone,
            },
            Err(message) => {
                self.faults.push(ConfigFault::at(place, setting, message));
                // The fault is said; an empty value keeps later checks from saying it again.
                Content::Interpolated { text: String::new(), variables: Vec::new(), from_environment_alone: true }
            }
        }
    }
}

/// YAML of any shape with the location of every part.
#[derive(Clone, Debug)]
pub(super) struct RawNode(Spanned<Raw>);

#[derive(Clone, Debug)]
enum Raw {
    Scalar(Value),
    List(Vec<RawNode>),
    Map(Vec<(Spanned<String>, RawNode)>),
}

impl<'de> Deserialize<'de> for RawNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Spanned::<Raw>::deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Scalar(serde_json::Number::from_f64(value).map_or_else(|| value.to_string().into(), Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}
