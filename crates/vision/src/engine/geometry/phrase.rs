use cerebellum_geometry::{ColourName, Shape, SupportKind};

use super::things::Things;
use super::words::{Noun, colours_of, is_filler, is_plain_surface, is_relation, is_shade, noun_of, tokens};

/// What a noun phrase asks for: "the red can left of the mug".
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Phrase {
    /// The words without article, as they become the label.
    pub(super) text: String,
    /// What kind of thing.
    pub(super) head: Head,
    /// The colours it may have; `None` for any.
    pub(super) colours: Option<Vec<ColourName>>,
    /// The height in metres, from and to.
    pub(super) height: Option<(f32, f32)>,
    /// The room it takes across, in metres.
    pub(super) width: Option<f32>,
    /// Which one of several.
    pub(super) pick: Option<Pick>,
    /// Where it is.
    pub(super) place: Option<Place>,
    /// Words that were not understood.
    pub(super) unknown: Vec<String>,
    /// Surfaces that were named, and that cannot be told from others.
    pub(super) surfaces: Vec<String>,
    /// Why it cannot be judged whole, one sentence for each word that got lost.
    pub(super) faults: Vec<String>,
    /// Owner's words that were used.
    pub(super) used: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Head {
    /// Any of these shapes; `cube` asks for sides of one length.
    Shapes {
        shapes: Vec<Shape>,
        cube: bool,
    },
    Person,
    /// No noun, or one like "object".
    Any {
        named: bool,
    },
    /// A surface, which is no thing on one.
    Surface(Vec<SupportKind>),
    /// A noun that is not understood.
    Unknown(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    Left,
    Right,
    Middle,
    Nearest,
    Farthest,
    Biggest,
    Smallest,
    Tallest,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    On(Vec<SupportKind>),
    LeftOf(Box<Phrase>),
    RightOf(Box<Phrase>),
    Near(Box<Phrase>),
}

impl Phrase {
    /// Reads a noun phrase.
    pub(super) fn read(text: &str, things: &Things) -> Self {
        let words = tokens(text);
        Self::of(&words, things)
    }

    /// Reads the words of a noun phrase.
    pub(super) fn of(words: &[String], things: &Things) -> Self {
        let label: Vec<&str> = words.iter().map(String::as_str).skip_while(|word| is_filler(word)).collect();
        let (head_words, place, lost) = split_place(words, things);
        let mut phrase = Reading::of(head_words, things).finish();
        phrase.text = label.join(" ");
        if let Some(place) = &place
            && let Place::LeftOf(other) | Place::RightOf(other) | Place::Near(other) = place
        {
            phrase.unknown.extend(other.unknown.iter().cloned());
            phrase.surfaces.extend(other.surfaces.iter().cloned());
            phrase.faults.extend(other.faults.iter().cloned());
            phrase.used.extend(other.used.iter().cloned());
            if !other.is_understood() {
                if !matches!(other.head, Head::Unknown(_)) {
                    phrase.unknown.push(other.text.clone());
                    phrase.faults.extend(other.fault());
                }
                phrase.head = Head::Unknown(other.text.clone());
            }
        }
        phrase.place = place;
        match lost {
            Lost::Nothing => {}
            Lost::Surface(name) => phrase.surfaces.push(name),
            Lost::On(words) => {
                phrase.faults.push(format!(
                    "{:?} is not understood; this engine tells what is on a table, a shelf or the floor, not on another thing",
                    words.join(" ")
                ));
                phrase.unknown.extend(words.into_iter().filter(|word| !is_filler(word)));
            }
            Lost::Relation(words) => {
                phrase.faults.push(format!(
                    "{:?} is not understood; of two things this engine tells near, left of and right of",
                    words[0]
                ));
                phrase.head = Head::Unknown(words[0].clone());
                phrase.unknown.extend(words.into_iter().filter(|word| !is_filler(word)));
            }
        }
        phrase
    }

    /// Why it cannot be judged whole; `None` when every word counts.
    pub(super) fn fault(&self) -> Option<String> {
        let mut faults = self.faults.clone();
        faults.extend(self.surfaces.iter().map(|name| cannot_tell(name)));
        if faults.is_empty() && !self.is_understood() {
            faults.push(match &self.head {
                Head::Surface(_) => format!("{:?} is a surface; this engine knows what stands on surfaces", self.text),
                _ if self.text.is_empty() => "no thing is named".to_owned(),
                _ => format!("{:?} names no thing", self.text),
            });
        }
        (!faults.is_empty()).then(|| faults.join("; "))
    }

    /// The asked words, when what they call the thing is understood. A detection is called no more than that.
    pub(super) fn label(&self) -> Option<&str> {
        let claims = self.unknown.is_empty() || matches!(self.head, Head::Shapes { .. } | Head::Person);
        claims.then_some(self.text.as_str())
    }

    /// Whether it says which things it means, in words this engine knows.
    pub(super) fn is_understood(&self) -> bool {
        match self.head {
            Head::Shapes { .. } | Head::Person | Head::Any { named: true } => true,
            Head::Any { named: false } => self.colours.is_some(),
            Head::Surface(_) | Head::Unknown(_) => false,
        }
    }

    /// What to say about the words: not understood, and taken from the owner's list.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.unknown.is_empty() {
            notes.push(format!("words not understood: {}", self.unknown.join(", ")));
        }
        notes.extend(self.surfaces.iter().map(|name| cannot_tell(name)));
        notes.extend(self.used.iter().map(|word| format!("{word:?} is taken from the list of things")));
        if matches!(self.head, Head::Surface(_)) {
            notes.push(format!("{:?} is a surface; this engine reports what stands on surfaces", self.text));
        }
        notes
    }
}

fn cannot_tell(surface: &str) -> String {
    format!("cannot tell the {surface} from another surface")
}

/// What of a place is not understood.
enum Lost {
    Nothing,
    /// A surface with a name of its own.
    Surface(String),
    /// All from "on", which no surface follows.
    On(Vec<String>),
    /// All from a relation that is not understood.
    Relation(Vec<String>),
}

/// Parts "HEAD on the table" and "HEAD left of the mug"; answers also what of a place is not understood.
fn split_place<'a>(words: &'a [String], things: &Things) -> (&'a [String], Option<Place>, Lost) {
    const PLACES: [(&[&str], Way); 16] = [
        (&["to", "the", "left", "of"], Way::LeftOf),
        (&["on", "the", "left", "of"], Way::LeftOf),
        (&["left", "of"], Way::LeftOf),
        (&["to", "the", "right", "of"], Way::RightOf),
        (&["on", "the", "right", "of"], Way::RightOf),
        (&["right", "of"], Way::RightOf),
        (&["next", "to"], Way::Near),
        (&["close", "to"], Way::Near),
        (&["beside"], Way::Near),
        (&["near"], Way::Near),
        (&["by"], Way::Near),
        (&["on", "top", "of"], Way::On),
        (&["on", "the", "left"], Way::Side),
        (&["on", "the", "right"], Way::Side),
        (&["on"], Way::On),
        (&["standing", "on"], Way::On),
    ];
    let mut at = 0;
    while at < words.len() {
        if let Some((_, count)) = things.first(&words[at..]).filter(|(_, count)| *count > 1) {
            at += count;
            continue;
        }
        let way = PLACES.iter().find(|(pattern, _)| {
            words[at..].len() >= pattern.len() && words[at..].iter().zip(*pattern).all(|(a, b)| a == b)
        });
        let Some((pattern, way)) = way else {
            if is_relation(&words[at]) {
                return (&words[..at], None, Lost::Relation(words[at..].to_vec()));
            }
            at += 1;
            continue;
        };
        let rest = &words[at + pattern.len()..];
        let head = &words[..at];
        let other = || Box::new(Phrase::of(rest, things));
        return match way {
            Way::Side if rest.is_empty() => (words, None, Lost::Nothing),
            Way::Side => {
                at += 1;
                continue;
            }
            Way::On => match surface_of(rest) {
                Some((kinds, None)) => (head, Some(Place::On(kinds)), Lost::Nothing),
                Some((kinds, Some(name))) => (head, Some(Place::On(kinds)), Lost::Surface(name)),
                None => (head, None, Lost::On(words[at..].to_vec())),
            },
            Way::LeftOf => (head, Some(Place::LeftOf(other())), Lost::Nothing),
            Way::RightOf => (head, Some(Place::RightOf(other())), Lost::Nothing),
            Way::Near => (head, Some(Place::Near(other())), Lost::Nothing),
        };
    }
    (words, None, Lost::Nothing)
}

#[derive(Clone, Copy)]
enum Way {
    On,
    LeftOf,
    RightOf,
    Near,
    Side,
}

/// The kinds of surface that "the kitchen table" may be, and its name when that says more than the kind.
fn surface_of(words: &[String]) -> Option<(Vec<SupportKind>, Option<String>)> {
    let last = words.last()?;
    let kinds = match noun_of(last)? {
        Noun::Table => vec![SupportKind::Table],
        Noun::Shelf => vec![SupportKind::Shelf],
        Noun::Floor => vec![SupportKind::Floor],
        Noun::Shape(_) | Noun::Cube | Noun::Person | Noun::Any => return None,
    };
    let name: Vec<&str> = words.iter().map(String::as_str).filter(|word| !is_filler(word)).collect();
    let says_more = name.len() > 1 || !is_plain_surface(last);
    Some((kinds, says_more.then(|| name.join(" "))))
}

/// The state while the words of a head are read one after the other.
struct Reading<'a> {
    things: &'a Things,
    phrase: Phrase,
    /// Whether a noun was understood.
    named: bool,
    /// The last noun, when it is not understood.
    last_unknown: Option<String>,
}

impl<'a> Reading<'a> {
    fn of(words: &[String], things: &'a Things) -> Self {
        let phrase = Phrase {
            text: String::new(),
            head: Head::Any { named: false },
            colours: None,
            height: None,
            width: None,
            pick: None,
            place: None,
            unknown: Vec::new(),
            surfaces: Vec::new(),
            faults: Vec::new(),
            used: Vec::new(),
        };
        let mut reading = Self { things, phrase, named: false, last_unknown: None };
        let mut at = 0;
        while at < words.len() {
            at += reading.take(&words[at..]);
        }
        reading
    }

    /// Takes the first words of those left, and answers how many.
    fn take(&mut self, words: &[String]) -> usize {
        let word = words[0].as_str();
        if word == "of" && (self.last_unknown.is_some() || !matches!(self.phrase.head, Head::Any { .. })) {
            self.take_content(&words[1..]);
            return words.len();
        }
        let ends = words[1..].iter().all(|word| is_filler(word) || pick_of(std::slice::from_ref(word)).is_some());
        if let Some(pick) = pick_of(words)
            && (pick.1 > 1 || !self.named || !ends)
        {
            self.phrase.pick = Some(pick.0);
            return pick.1;
        }
        let things = self.things;
        let thing = things.first(words);
        if let Some((thing, count)) = thing.filter(|(_, count)| *count > 1) {
            self.take_thing(thing);
            return count;
        }
        let colours = colours_of(word);
        if let (false, Some(colours)) = (ends, &colours) {
            self.restrict_colours(colours);
            return 1;
        }
        if let Some((thing, count)) = thing {
            self.take_thing(thing);
            return count;
        }
        if let Some(colours) = &colours {
            self.restrict_colours(colours);
        } else if let Some(noun) = noun_of(word) {
            self.take_noun(noun, word);
        } else if self.named && (pick_of(words).is_some() || is_shade(word)) {
            // "The person left", "the can is small": no word for which of several.
            self.phrase.unknown.push(word.to_owned());
        } else if !is_filler(word) && !is_shade(word) && word != "of" && !word.starts_with(|c: char| c.is_ascii_digit())
        {
            self.lose(word);
        }
        1
    }

    fn lose(&mut self, word: &str) {
        self.last_unknown = Some(word.to_owned());
        self.phrase.unknown.push(word.to_owned());
    }

    /// "A can of coke" is a coke, if that may be a can; "a cup of coffee" is a cup, for what is inside cannot be seen.
    fn take_content(&mut self, words: &[String]) {
        let left = &words[words.iter().take_while(|word| is_filler(word)).count()..];
        let thing = self.things.first(left).filter(|(_, count)| *count == left.len());
        if let (Some((thing, _)), Head::Shapes { shapes, .. }, None) = (thing, &self.phrase.head, &self.last_unknown)
            && thing.shapes.iter().any(|shape| shapes.contains(shape))
        {
            self.take_thing(thing);
            return;
        }
        self.phrase.unknown.extend(left.iter().filter(|word| !is_filler(word)).cloned());
    }

    /// A noun after an unknown word after a noun is none of the head: what the word between says is not known.
    fn is_lost(&self) -> bool {
        self.named && self.last_unknown.is_some()
    }

    fn take_thing(&mut self, thing: &super::things::Thing) {
        if self.is_lost() {
            return;
        }
        if matches!(self.phrase.head, Head::Person | Head::Surface(_)) {
            self.lose(&thing.name);
            return;
        }
        self.named = true;
        self.last_unknown = None;
        self.phrase.used.push(thing.name.clone());
        if thing.shapes.is_empty() {
            self.name_head();
        } else {
            self.restrict_shapes(&thing.shapes, false);
        }
        if !thing.colours.is_empty() {
            self.restrict_colours(&thing.colours);
        }
        self.phrase.height = thing.height.or(self.phrase.height);
        self.phrase.width = thing.width.or(self.phrase.width);
    }

    fn take_noun(&mut self, noun: Noun, word: &str) {
        if self.is_lost() {
            return;
        }
        let other_kind = match &self.phrase.head {
            Head::Person => noun != Noun::Person,
            Head::Surface(_) => true,
            Head::Shapes { .. } => matches!(noun, Noun::Person | Noun::Table | Noun::Shelf | Noun::Floor),
            Head::Any { .. } | Head::Unknown(_) => false,
        };
        if other_kind {
            self.lose(word);
            return;
        }
        self.named = true;
        self.last_unknown = None;
        match noun {
            Noun::Shape(shape) => self.restrict_shapes(&[shape], false),
            Noun::Cube => self.restrict_shapes(&[Shape::Box], true),
            Noun::Person => self.phrase.head = Head::Person,
            Noun::Any => self.name_head(),
            Noun::Table => self.phrase.head = Head::Surface(vec![SupportKind::Table]),
            Noun::Shelf => self.phrase.head = Head::Surface(vec![SupportKind::Shelf]),
            Noun::Floor => self.phrase.head = Head::Surface(vec![SupportKind::Floor]),
        }
    }

    fn name_head(&mut self) {
        if let Head::Any { named } = &mut self.phrase.head {
            *named = true;
        }
    }

    /// "coke can": both words must hold. Words that contradict leave the later one, which is the head.
    fn restrict_shapes(&mut self, shapes: &[Shape], cube: bool) {
        let both: Vec<Shape> = match &self.phrase.head {
            Head::Shapes { shapes: known, .. } => {
                shapes.iter().copied().filter(|shape| known.contains(shape)).collect()
            }
            _ => Vec::new(),
        };
        let shapes = if both.is_empty() { shapes.to_vec() } else { both };
        self.phrase.head = Head::Shapes { shapes, cube };
    }

    /// "green apple": both words must hold; if they cannot, nothing is meant.
    fn restrict_colours(&mut self, colours: &[ColourName]) {
        self.phrase.colours = Some(match &self.phrase.colours {
            Some(known) => colours.iter().copied().filter(|colour| known.contains(colour)).collect(),
            None => colours.to_vec(),
        });
    }

    fn finish(mut self) -> Phrase {
        let noun = self.last_unknown.as_ref().filter(|_| !self.named);
        let words: Vec<String> =
            self.phrase.unknown.iter().filter(|word| Some(*word) != noun).map(|word| format!("{word:?}")).collect();
        if !words.is_empty() {
            let verb = if words.len() == 1 { "is" } else { "are" };
            self.phrase.faults.push(format!("{} {verb} not understood", words.join(", ")));
        }
        if let Some(noun) = noun {
            self.phrase.faults.push(format!(
                "{noun:?} is not a thing this engine knows; it knows shapes, colours, a person and the words of things.yaml"
            ));
        }
        if let Some(word) = self.last_unknown {
            self.phrase.head = Head::Unknown(word);
        }
        self.phrase
    }
}

fn pick_of(words: &[String]) -> Option<(Pick, usize)> {
    let side = |words: &[String]| match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["on", "the", "left", ..] => Some(Pick::Left),
        ["on", "the", "right", ..] => Some(Pick::Right),
        _ => None,
    };
    if let Some(pick) = side(words) {
        return Some((pick, 3));
    }
    let pick = match words[0].as_str() {
        "left" | "leftmost" => Pick::Left,
        "right" | "rightmost" => Pick::Right,
        "middle" | "central" => Pick::Middle,
        "nearest" | "closest" => Pick::Nearest,
        "farthest" | "furthest" => Pick::Farthest,
        "biggest" | "largest" | "bigger" | "larger" | "big" | "large" => Pick::Biggest,
        "smallest" | "smaller" | "small" | "little" | "tiny" => Pick::Smallest,
        "tallest" | "highest" | "tall" => Pick::Tallest,
        _ => return None,
    };
    Some((pick, 1))
}

#[cfg(test)]
mod tests;
