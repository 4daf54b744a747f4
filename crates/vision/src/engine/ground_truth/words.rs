use cerebellum_core::TruthObject;

const ARTICLES: [&str; 8] = ["the", "a", "an", "any", "some", "my", "your", "one"];
const PERSON: [&str; 6] = ["person", "people", "somebody", "someone", "human", "anybody"];
/// What may follow the thing in a condition; the longest that fits is taken.
const IN_VIEW: [&str; 6] = ["is visible", "are visible", "is in view", "are in view", "visible", "in view"];
const GONE: [&str; 4] = ["is gone", "are gone", "is not visible", "is not in view"];

/// A thing in words, such as "red can".
pub(super) struct Phrase {
    text: String,
    words: Vec<String>,
}

impl Phrase {
    /// Reads "the red can" as "red can".
    pub(super) fn read(text: &str) -> Self {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        while words.len() > 1 && ARTICLES.contains(&words[0].to_lowercase().as_str()) {
            words.remove(0);
        }
        Self { text: words.join(" "), words: words.iter().flat_map(|word| plain(word)).collect() }
    }

    /// The phrase without its article.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether every word of the phrase is a word of the thing's label or name.
    pub(super) fn names(&self, object: &TruthObject) -> bool {
        let mut known: Vec<String> = plain(&object.label).chain(plain(&object.name)).collect();
        if object.is_person {
            known.extend(PERSON.iter().map(|&word| singular(word.to_owned())));
        }
        !self.words.is_empty() && self.words.iter().all(|word| known.contains(word))
    }
}

/// The thing of a condition such as "whether the red can is visible" or "no person in view", and whether its absence is
/// what makes it true.
pub(super) fn visibility(description: &str) -> Option<(Phrase, bool)> {
    let lower = description.trim().trim_end_matches(['.', '?', '!']).to_lowercase();
    let text = lower.strip_prefix("whether").unwrap_or(&lower).trim_start_matches([':', ' ']);
    let text = text.strip_prefix("there is ").or_else(|| text.strip_prefix("there are ")).unwrap_or(text);
    let (text, none) = match text.strip_prefix("no ") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let ends = |suffixes: &[&str]| suffixes.iter().find_map(|suffix| text.strip_suffix(suffix).map(str::trim_end));
    let (thing, gone) = match (ends(&GONE), ends(&IN_VIEW)) {
        (Some(thing), _) => (thing, true),
        (None, Some(thing)) => (thing, false),
        (None, None) => return None,
    };
    (!thing.is_empty()).then(|| (Phrase::read(thing), gone != none))
}

/// What is counted.
pub(super) enum Counted {
    Everything,
    Things(Phrase),
}

/// The thing of "number of red cans" or "how many red cans"; everything for "objects" and "things".
pub(super) fn counted(description: &str) -> Option<Counted> {
    let lower = description.trim().trim_end_matches(['.', '?', '!']).to_lowercase();
    let text = lower.strip_prefix("the ").unwrap_or(&lower);
    let text = text.strip_prefix("number of ").or_else(|| text.strip_prefix("how many "))?;
    let thing = IN_VIEW.iter().find_map(|suffix| text.strip_suffix(suffix)).unwrap_or(text).trim();
    match thing {
        "" => None,
        "objects" | "things" => Some(Counted::Everything),
        thing => Some(Counted::Things(Phrase::read(thing))),
    }
}

fn plain(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(|word| singular(word.to_lowercase()))
}

/// "cans" is read as "can"; "glass" stays.
fn singular(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    }
}
