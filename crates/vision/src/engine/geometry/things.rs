use std::collections::BTreeMap;

use cerebellum_geometry::{ColourName, Shape};
use cerebellum_wire::Fault;
use serde_json::{Map, Value};

/// What the owner calls things, and what they look like: `config/vision/things.yaml`.
///
/// ```yaml
/// coke: {shape: can, colour: red, height_m: [0.10, 0.14], synonyms: [cola]}
/// ```
/// A key or synonym may be several words. `shape` and `colour` take one word or a list of what the thing may look like.
/// A word without any of them would match everything, so each thing says at least one.
#[derive(Clone, Debug, Default)]
pub struct Things {
    things: Vec<Thing>,
    words: BTreeMap<String, usize>,
}

/// A thing of the owner.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Thing {
    /// Its key.
    pub(super) name: String,
    /// The shapes it may have; empty for any.
    pub(super) shapes: Vec<Shape>,
    /// The colours it may have; empty for any.
    pub(super) colours: Vec<ColourName>,
    /// Its height in metres, from and to.
    pub(super) height: Option<(f32, f32)>,
    /// The room it takes on a surface, across, in metres.
    pub(super) width: Option<f32>,
}

const KEYS: [&str; 5] = ["shape", "colour", "height_m", "width_m", "synonyms"];
const SHAPES: [Shape; 8] =
    [Shape::Can, Shape::Bottle, Shape::Ball, Shape::Box, Shape::Book, Shape::Mug, Shape::Bowl, Shape::Object];

impl Things {
    /// Reads the text of the file. The fault names the path of what is wrong.
    pub fn parse(yaml: &str) -> Result<Self, Fault> {
        let root: Value = serde_saphyr::from_str(yaml).map_err(|error| Fault::at("", error.to_string()))?;
        let entries = match root {
            Value::Object(entries) => entries,
            Value::Null => Map::new(),
            _ => return Err(Fault::at("", "must be a map from a word to what it looks like")),
        };
        let mut read = Self::default();
        for (name, value) in &entries {
            let (thing, synonyms) = read_thing(name, value).map_err(|fault| fault.within(name))?;
            let index = read.things.len();
            read.things.push(thing);
            read.name(name, index).map_err(|message| Fault::at(name.as_str(), message))?;
            for (at, synonym) in synonyms.iter().enumerate() {
                let path = format!("{name}.synonyms[{at}]");
                read.name(synonym, index).map_err(|message| Fault::at(path, message))?;
            }
        }
        Ok(read)
    }

    /// The thing of that word or words.
    pub(super) fn get(&self, words: &str) -> Option<&Thing> {
        self.words.get(words).map(|&index| &self.things[index])
    }

    /// The thing that the first words name, the longest name first, and how many words that are.
    pub(super) fn first(&self, words: &[String]) -> Option<(&Thing, usize)> {
        (1..=self.longest().min(words.len())).rev().find_map(|count| {
            let mut before = words[..count - 1].join(" ");
            if count > 1 {
                before.push(' ');
            }
            let named =
                super::words::singulars(&words[count - 1]).find_map(|last| self.get(&format!("{before}{last}")));
            named.map(|thing| (thing, count))
        })
    }

    /// The most words that one name has.
    fn longest(&self) -> usize {
        self.words.keys().map(|words| words.split(' ').count()).max().unwrap_or(0)
    }

    fn name(&mut self, words: &str, index: usize) -> Result<(), String> {
        let plain = super::words::tokens(words).join(" ");
        if plain.is_empty() {
            return Err("a name needs at least one letter or digit".into());
        }
        match self.words.insert(plain, index) {
            Some(other) if other != index => {
                Err(format!("{words:?} already names {:?}; a word means one thing", self.things[other].name))
            }
            _ => Ok(()),
        }
    }
}

fn read_thing(name: &str, value: &Value) -> Result<(Thing, Vec<String>), Fault> {
    let Value::Object(entry) = value else {
        return Err(Fault::at("", "must be a map such as {shape: can, colour: red}"));
    };
    if let Some(unknown) = entry.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(Fault::at(unknown.as_str(), format!("is no key of a thing; it takes {}", KEYS.join(", "))));
    }
    let shape_of = |word: &str| SHAPES.into_iter().find(|shape| shape.as_str() == word);
    let shape_words = SHAPES.map(Shape::as_str).join(", ");
    let shapes = read_words(entry, "shape", &shape_words, |word| shape_of(word).map(|shape| vec![shape]))?;
    let colour_words = ColourName::ALL.map(ColourName::as_str).join(", ");
    let colours = read_words(entry, "colour", &colour_words, super::words::colours_of)?;
    let height = entry.get("height_m").map(read_range).transpose().map_err(|fault| fault.within("height_m"))?;
    let width = entry.get("width_m").map(read_length).transpose().map_err(|fault| fault.within("width_m"))?;
    if shapes.is_empty() && colours.is_empty() && height.is_none() {
        return Err(Fault::at("", "says nothing to know it by; give shape, colour or height_m"));
    }
    let synonyms = match entry.get("synonyms") {
        None => Vec::new(),
        Some(list) => strings(list).map_err(|fault| fault.within("synonyms"))?,
    };
    Ok((Thing { name: name.to_owned(), shapes, colours, height, width }, synonyms))
}

fn read_words<T>(
    entry: &Map<String, Value>,
    key: &str,
    known: &str,
    read: impl Fn(&str) -> Option<Vec<T>>,
) -> Result<Vec<T>, Fault> {
    let Some(value) = entry.get(key) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for word in strings(value).map_err(|fault| fault.within(key))? {
        let meant = read(&word).ok_or_else(|| Fault::at(key, format!("{word:?} is none of {known}")))?;
        all.extend(meant);
    }
    Ok(all)
}

/// One word, or a list of words.
fn strings(value: &Value) -> Result<Vec<String>, Fault> {
    let text = |value: &Value, path: String| match value {
        Value::String(text) => Ok(text.to_lowercase()),
        other => Err(Fault::at(path, format!("{other} is no word"))),
    };
    match value {
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| text(item, format!("[{at}]"))).collect(),
        single => text(single, String::new()).map(|text| vec![text]),
    }
}

fn read_length(value: &Value) -> Result<f32, Fault> {
    let length = value.as_f64().filter(|length| *length > 0.0 && *length <= 3.0);
    length.map(|length| length as f32).ok_or_else(|| Fault::at("", format!("{value} is no length from 0 to 3 metres")))
}

fn read_range(value: &Value) -> Result<(f32, f32), Fault> {
    let Some([low, high]) = value.as_array().map(Vec::as_slice) else {
        return Err(Fault::at("", "must be two lengths in metres, such as [0.10, 0.14]"));
    };
    let low = read_length(low).map_err(|fault| fault.within("[0]"))?;
    let high = read_length(high).map_err(|fault| fault.within("[1]"))?;
    if low > high {
        return Err(Fault::at("", format!("{low} is more than {high}")));
    }
    Ok((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thing_has_its_looks_and_its_synonyms() {
        let things = Things::parse(
            "coke: {shape: can, colour: red, height_m: [0.10, 0.14], synonyms: [cola, coca cola]}\n\
             apple: {shape: ball, colour: [red, green]}\n",
        )
        .unwrap();
        let coke = things.get("coca cola").unwrap();
        assert_eq!(coke, things.get("coke").unwrap());
        assert_eq!((coke.shapes.as_slice(), coke.height), ([Shape::Can].as_slice(), Some((0.10, 0.14))));
        assert_eq!(things.get("apple").unwrap().colours, [ColourName::Red, ColourName::Green]);
        assert_eq!(things.longest(), 2);
        assert!(things.get("pepsi").is_none());
    }

    #[test]
    fn each_fault_names_its_path() {
        for (yaml, path) in [
            ("- coke", ""),
            ("coke: can", "coke"),
            ("coke: {}", "coke"),
            ("coke: {form: can}", "coke.form"),
            ("coke: {shape: tube}", "coke.shape"),
            ("coke: {shape: can, colour: [red, 3]}", "coke.colour[1]"),
            ("coke: {shape: can, height_m: 0.1}", "coke.height_m"),
            ("coke: {shape: can, height_m: [0.1, -1]}", "coke.height_m[1]"),
            ("coke: {shape: can, height_m: [0.2, 0.1]}", "coke.height_m"),
            ("coke: {shape: can}\ncola: {shape: can, synonyms: [coke]}", "cola.synonyms[0]"),
        ] {
            assert_eq!(Things::parse(yaml).unwrap_err().path, path, "{yaml}");
        }
        assert!(Things::parse("coke: {shape: can, shape: box}").is_err());
        assert!(Things::parse("").unwrap().words.is_empty());
    }

    #[test]
    fn the_shipped_file_is_read() {
        let things = Things::parse(include_str!("../../../../../config/vision/things.yaml")).unwrap();
        assert!(things.get("coke").is_some() && things.get("cola").is_some());
    }
}
