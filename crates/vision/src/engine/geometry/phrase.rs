use cerebellum_geometry::{ColourName, Shape, SupportKind};

use super::things::Things;
use super::words::{Noun, colours_of, is_filler, is_shade, noun_of, singulars, tokens};

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
            phrase.used.extend(other.used.iter().cloned());
            if let Head::Unknown(word) = &other.head {
                phrase.unknown.push(word.clone());
                phrase.head = Head::Unknown(word.clone());
            }
        }
        phrase.place = place;
        phrase.unknown.extend(lost);
        phrase
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
        notes.extend(self.used.iter().map(|word| format!("{word:?} is taken from the list of things")));
        if matches!(self.head, Head::Surface(_)) {
            notes.push(format!("{:?} is a surface; this engine reports what stands on surfaces", self.text));
        }
        notes
    }
}

/// Parts "HEAD on the table" and "HEAD left of the mug"; answers also the words of a place that is not understood.
fn split_place<'a>(words: &'a [String], things: &Things) -> (&'a [String], Option<Place>, Vec<String>) {
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
    for at in 1..words.len() {
        let Some((pattern, way)) = PLACES.iter().find(|(pattern, _)| {
            words[at..].len() >= pattern.len() && words[at..].iter().zip(*pattern).all(|(a, b)| a == b)
        }) else {
            continue;
        };
        let rest = &words[at + pattern.len()..];
        let head = &words[..at];
        return match way {
            Way::Side if rest.is_empty() => (words, None, Vec::new()),
            Way::Side => continue,
            Way::On => match surface_of(rest) {
                Some((kinds, which)) => (head, Some(Place::On(kinds)), which),
                None => (head, None, words[at..].iter().filter(|word| !is_filler(word)).cloned().collect()),
            },
            Way::LeftOf => (head, Some(Place::LeftOf(Box::new(Phrase::of(rest, things)))), Vec::new()),
            Way::RightOf => (head, Some(Place::RightOf(Box::new(Phrase::of(rest, things)))), Vec::new()),
            Way::Near => (head, Some(Place::Near(Box::new(Phrase::of(rest, things)))), Vec::new()),
        };
    }
    (words, None, Vec::new())
}

#[derive(Clone, Copy)]
enum Way {
    On,
    LeftOf,
    RightOf,
    Near,
    Side,
}

/// The kinds of surface that "the kitchen table" may be, and the words before it that say which.
fn surface_of(words: &[String]) -> Option<(Vec<SupportKind>, Vec<String>)> {
    let kinds = match noun_of(words.last()?)? {
        Noun::Table => vec![SupportKind::Table],
        Noun::Shelf => vec![SupportKind::Shelf],
        Noun::Floor => vec![SupportKind::Floor],
        Noun::Shape(_) | Noun::Cube | Noun::Person | Noun::Any => return None,
    };
    Some((kinds, words[..words.len() - 1].iter().filter(|word| !is_filler(word)).cloned().collect()))
}

/// The state while the words of a head are read one after the other.
struct Reading<'a> {
    things: &'a Things,
    phrase: Phrase,
    /// Whether the last word that counts is a noun that is understood.
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
            used: Vec::new(),
        };
        let mut reading = Self { things, phrase, last_unknown: None };
        let mut at = 0;
        while at < words.len() {
            at += reading.take(&words[at..]);
        }
        reading
    }

    /// Takes the first words of those left, and answers how many.
    fn take(&mut self, words: &[String]) -> usize {
        let word = words[0].as_str();
        if word == "of" && !matches!(self.phrase.head, Head::Any { .. }) {
            // "a bottle of water": what is inside cannot be seen. "One of the cans" goes on to its noun.
            self.phrase.unknown.extend(words[1..].iter().filter(|word| !is_filler(word)).cloned());
            return words.len();
        }
        if let Some(pick) = pick_of(words) {
            self.phrase.pick = Some(pick.0);
            return pick.1;
        }
        let named = self.thing(words);
        if let Some((thing, count)) = named.as_ref().filter(|(_, count)| *count > 1) {
            self.take_thing(thing);
            return *count;
        }
        let qualifies_more =
            words[1..].iter().any(|word| !is_filler(word) && pick_of(std::slice::from_ref(word)).is_none());
        let colours = colours_of(word);
        if let (true, Some(colours)) = (qualifies_more, &colours) {
            self.restrict_colours(colours);
            return 1;
        }
        if let Some((thing, count)) = named {
            self.take_thing(&thing);
            return count;
        }
        if let Some(colours) = &colours {
            self.restrict_colours(colours);
        } else if let Some(noun) = noun_of(word) {
            self.take_noun(noun);
        } else if !is_filler(word) && !is_shade(word) && word != "of" && !word.starts_with(|c: char| c.is_ascii_digit())
        {
            self.last_unknown = Some(word.to_owned());
            self.phrase.unknown.push(word.to_owned());
        }
        1
    }

    fn thing(&self, words: &[String]) -> Option<(super::things::Thing, usize)> {
        (1..=self.things.longest().min(words.len())).rev().find_map(|count| {
            let mut before = words[..count - 1].join(" ");
            if count > 1 {
                before.push(' ');
            }
            let named = singulars(&words[count - 1]).find_map(|last| self.things.get(&format!("{before}{last}")));
            named.map(|thing| (thing.clone(), count))
        })
    }

    fn take_thing(&mut self, thing: &super::things::Thing) {
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

    fn take_noun(&mut self, noun: Noun) {
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
mod tests {
    use super::*;

    fn things() -> Things {
        Things::parse(
            "coke: {shape: can, colour: red, synonyms: [cola]}\norange: {shape: ball, colour: orange}\n\
             apple: {shape: ball, colour: [red, green]}\ntomato soup: {shape: can}\n",
        )
        .unwrap()
    }

    fn read(text: &str) -> Phrase {
        Phrase::read(text, &things())
    }

    fn shapes(shapes: &[Shape]) -> Head {
        Head::Shapes { shapes: shapes.to_vec(), cube: false }
    }

    #[test]
    fn colour_and_shape_are_read_and_the_article_is_no_label() {
        let phrase = read("the red can");
        assert_eq!(phrase.text, "red can");
        assert_eq!((phrase.head, phrase.colours), (shapes(&[Shape::Can]), Some(vec![ColourName::Red])));
        assert!(phrase.unknown.is_empty());
        assert_eq!(read("blue cartons").head, shapes(&[Shape::Box]));
        assert_eq!(read("a cube").head, Head::Shapes { shapes: vec![Shape::Box], cube: true });
        assert_eq!(read("the nearest person").head, Head::Person);
    }

    #[test]
    fn an_unknown_head_noun_stays_unknown() {
        for text in
            ["scissors", "the scissors on top", "red scissors", "can opener", "orange juice", "red can and scissors"]
        {
            assert!(matches!(read(text).head, Head::Unknown(_)), "{text}: {:?}", read(text).head);
            assert!(!read(text).is_understood());
        }
    }

    #[test]
    fn an_unknown_word_before_a_known_noun_is_noted() {
        let phrase = read("my shiny can of beans");
        assert_eq!(phrase.head, shapes(&[Shape::Can]));
        assert_eq!(phrase.unknown, ["shiny", "beans"]);
        assert_eq!(phrase.notes(), ["words not understood: shiny, beans"]);
    }

    #[test]
    fn the_owners_words_are_used_and_noted() {
        let phrase = read("the cola");
        assert_eq!((phrase.head.clone(), phrase.colours.clone()), (shapes(&[Shape::Can]), Some(vec![ColourName::Red])));
        assert_eq!(phrase.notes(), ["\"coke\" is taken from the list of things"]);
        assert_eq!(read("tomato soup").head, shapes(&[Shape::Can]));
        assert_eq!(read("green apples").colours, Some(vec![ColourName::Green]));
        assert_eq!(read("blue coke").colours, Some(vec![]));
    }

    #[test]
    fn orange_is_a_colour_before_a_noun_and_a_thing_alone() {
        assert_eq!(read("orange box").head, shapes(&[Shape::Box]));
        assert_eq!(read("orange box").colours, Some(vec![ColourName::Orange]));
        assert_eq!(read("the orange").head, shapes(&[Shape::Ball]));
        assert_eq!(Phrase::read("orange", &Things::default()).head, Head::Any { named: false });
        assert!(Phrase::read("orange", &Things::default()).is_understood());
    }

    #[test]
    fn places_and_picks_are_read() {
        assert_eq!(read("the mug on the table").place, Some(Place::On(vec![SupportKind::Table])));
        assert!(matches!(read("the box left of the red can").place, Some(Place::LeftOf(_))));
        assert!(matches!(read("the box next to the red can").place, Some(Place::Near(_))));
        assert_eq!(read("the leftmost box").pick, Some(Pick::Left));
        assert_eq!(read("the box on the right").pick, Some(Pick::Right));
        assert_eq!(read("the biggest box").pick, Some(Pick::Biggest));
        assert!(matches!(read("the box near the scissors").head, Head::Unknown(_)));
        assert_eq!(read("the can on the kitchen table").unknown, ["kitchen"]);
        assert_eq!(read("the can on the roof").unknown, ["on", "roof"]);
    }

    #[test]
    fn nothing_said_is_nothing_understood() {
        for text in ["", "the", "42", "the table"] {
            assert!(!read(text).is_understood(), "{text}");
        }
        assert!(read("something").is_understood() && read("something red").is_understood());
    }
}
