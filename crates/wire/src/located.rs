use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

/// A piece of YAML that knows the line each of its parts stands on.
#[derive(Clone, Debug)]
pub struct Located {
    /// The line it begins on, counted from 1; 0 when not known.
    pub line: u64,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Scalar(Value),
    List(Vec<Located>),
    Map(Vec<(String, Located)>),
}

impl Located {
    /// The same without lines.
    pub fn to_value(&self) -> Value {
        match &self.node {
            Node::Scalar(value) => value.clone(),
            Node::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Node::Map(entries) => {
                Value::Object(entries.iter().map(|(key, value)| (key.clone(), value.to_value())).collect::<Map<_, _>>())
            }
        }
    }

    /// The value of a key; `None` when there is none or this is no map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Node::Map(entries) = &self.node else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The items of a list.
    pub fn items(&self) -> Option<&[Self]> {
        match &self.node {
            Node::List(items) => Some(items),
            Node::Scalar(_) | Node::Map(_) => None,
        }
    }

    /// The line of a place such as `skill.outputs[1].type`, or of the innermost part of it that exists.
    pub fn line_of(&self, path: &str) -> u64 {
        let mut here = self;
        for part in path.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|part| !part.is_empty()) {
            let next = match &here.node {
                Node::Map(_) => here.get(part),
                Node::List(items) => part.parse::<usize>().ok().and_then(|index| items.get(index)),
                Node::Scalar(_) => None,
            };
            let Some(next) = next else { break };
            here = next;
        }
        here.line
    }
}

impl<'de> Deserialize<'de> for Located {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Node>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), node: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar, a list or a map with text keys")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        Number::from_f64(value)
            .map(|number| Node::Scalar(Value::Number(number)))
            .ok_or_else(|| E::custom(format!("{value} is no finite number")))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::String(text.to_owned())))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Node, E> {
        Ok(Node::Scalar(Value::String(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "a:\n  - {b: 1, c: plain}\n  -\n    b: \"x\"\n    c: 2.5\nd: null\n";

    #[test]
    fn values_and_their_lines_are_read() {
        let located: Located = serde_saphyr::from_str(TEXT).unwrap();
        assert_eq!(located.to_value(), json!({"a": [{"b": 1, "c": "plain"}, {"b": "x", "c": 2.5}], "d": null}));
        let lines: Vec<u64> =
            ["a[0].c", "a[1].b", "a[1].c", "d", "a[1].nothing"].map(|path| located.line_of(path)).into();
        assert_eq!(lines, [2, 4, 5, 6, 4]);
    }
}
