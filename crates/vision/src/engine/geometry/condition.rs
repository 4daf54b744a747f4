use super::phrase::{Phrase, Pick};
use super::things::Things;
use super::words::{is_filler, tokens};

/// The grammar of conditions, as it is told to people.
pub(super) const GRAMMAR: &str = "[a|no|N+] THING [is] (in view|gone|near|on) [THING]";

/// A sentence that is true or false of a picture.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// At least `least` of them are in view.
    InView { thing: Phrase, least: usize },
    /// None is in view.
    Gone { thing: Phrase },
    /// One is near another thing, or near the camera.
    Near { thing: Phrase, other: Option<Box<Phrase>> },
}

impl Condition {
    /// Reads a sentence; `None` when it is not of the grammar.
    pub(super) fn read(text: &str, things: &Things) -> Option<Self> {
        let words = tokens(text);
        let mut words = words.as_slice();
        while let Some(first) = words.first()
            && matches!(first.as_str(), "whether" | "if" | "when" | "there" | "is" | "are" | "true" | "that" | "now")
        {
            words = &words[1..];
        }
        let (amount, words) = amount(words);
        let (words, ending) = strip_ending(words);
        let condition = match ending {
            Ending::Near => near(words, None, things),
            Ending::InView | Ending::None => match split_near(words) {
                Some((thing, other)) if ending == Ending::None => near(thing, Some(other), things),
                _ => Self::InView { thing: Phrase::of(without_verb(words), things), least: 1 },
            },
            Ending::Gone => Self::Gone { thing: Phrase::of(without_verb(words), things) },
        };
        condition.counted(amount)
    }

    /// The things it speaks of.
    pub(super) fn phrases(&self) -> Vec<&Phrase> {
        match self {
            Self::InView { thing, .. } | Self::Gone { thing } => vec![thing],
            Self::Near { thing, other } => std::iter::once(thing).chain(other.as_deref()).collect(),
        }
    }

    /// What of it is not understood; `None` when it is judged whole.
    pub(super) fn fault(&self) -> Option<String> {
        if let Self::InView { thing, .. } | Self::Gone { thing } = self
            && let Some(side @ (Pick::Left | Pick::Right)) = thing.pick
            && thing.text.contains(" on the ")
        {
            let side = if side == Pick::Left { "left" } else { "right" };
            return Some(format!(
                "\"on the {side}\" is not understood in a condition; it may say left of or right of a thing"
            ));
        }
        self.phrases().iter().find_map(|phrase| phrase.fault())
    }

    fn counted(self, amount: Amount) -> Option<Self> {
        Some(match (self, amount) {
            (Self::InView { thing, .. }, Amount::None) => Self::Gone { thing },
            (Self::Gone { thing }, Amount::None) => Self::InView { thing, least: 1 },
            (Self::InView { thing, .. }, Amount::AtLeast(least)) => Self::InView { thing, least },
            (condition, Amount::AtLeast(1)) => condition,
            (_, Amount::None | Amount::AtLeast(_)) => return None,
        })
    }
}

fn near(thing: &[String], other: Option<&[String]>, things: &Things) -> Condition {
    let thing = Phrase::of(without_verb(thing), things);
    let is_camera = |word: &str| matches!(word, "camera" | "robot" | "you" | "me");
    let camera = |words: &&[String]| {
        words.iter().any(|word| is_camera(word)) && words.iter().all(|word| is_filler(word) || is_camera(word))
    };
    let other = other.filter(|words| !camera(words)).map(|words| Box::new(Phrase::of(words, things)));
    Condition::Near { thing, other }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    AtLeast(usize),
    None,
}

fn amount(words: &[String]) -> (Amount, &[String]) {
    let number = |word: &String| match word.trim_end_matches('+') {
        "one" => Some(1),
        "two" => Some(2),
        "three" => Some(3),
        "four" => Some(4),
        "five" => Some(5),
        digits => digits.parse::<usize>().ok().filter(|&count| count > 0),
    };
    match words {
        [first, second, rest @ ..] if first == "not" && matches!(second.as_str(), "a" | "any") => (Amount::None, rest),
        [first, rest @ ..] if first == "no" => (Amount::None, rest),
        [at, least, count, rest @ ..] if at == "at" && least == "least" && number(count).is_some() => {
            (Amount::AtLeast(number(count).unwrap_or(1)), rest)
        }
        [count, or, more, rest @ ..] if or == "or" && more == "more" && number(count).is_some() => {
            (Amount::AtLeast(number(count).unwrap_or(1)), rest)
        }
        [count, rest @ ..] if number(count).is_some() && !rest.is_empty() => {
            (Amount::AtLeast(number(count).unwrap_or(1)), rest)
        }
        _ => (Amount::AtLeast(1), words),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    InView,
    Gone,
    Near,
    None,
}

fn strip_ending(words: &[String]) -> (&[String], Ending) {
    const ENDINGS: [(&str, Ending); 20] = [
        ("not in view", Ending::Gone),
        ("not visible", Ending::Gone),
        ("no longer visible", Ending::Gone),
        ("no longer in view", Ending::Gone),
        ("out of view", Ending::Gone),
        ("out of sight", Ending::Gone),
        ("gone", Ending::Gone),
        ("missing", Ending::Gone),
        ("absent", Ending::Gone),
        ("in view", Ending::InView),
        ("in sight", Ending::InView),
        ("in the picture", Ending::InView),
        ("in the scene", Ending::InView),
        ("visible", Ending::InView),
        ("present", Ending::InView),
        ("seen", Ending::InView),
        ("detected", Ending::InView),
        ("found", Ending::InView),
        ("there", Ending::InView),
        ("near", Ending::Near),
    ];
    for (ending, meaning) in ENDINGS {
        let ending: Vec<&str> = ending.split(' ').collect();
        if words.len() > ending.len() && words[words.len() - ending.len()..].iter().zip(&ending).all(|(a, b)| a == b) {
            return (&words[..words.len() - ending.len()], meaning);
        }
    }
    (words, Ending::None)
}

fn split_near(words: &[String]) -> Option<(&[String], &[String])> {
    const NEAR: [&[&str]; 5] = [&["next", "to"], &["close", "to"], &["near"], &["beside"], &["by"]];
    (1..words.len()).find_map(|at| {
        let pattern = NEAR.iter().find(|pattern| {
            words.len() > at + pattern.len() && words[at..].iter().zip(**pattern).all(|(word, wanted)| word == wanted)
        })?;
        Some((&words[..at], &words[at + pattern.len()..]))
    })
}

fn without_verb(words: &[String]) -> &[String] {
    match words {
        [rest @ .., last]
            if matches!(last.as_str(), "is" | "are" | "be" | "stands" | "appears" | "can") && !rest.is_empty() =>
        {
            // "a can is" has lost its verb, "a can" has none.
            if last == "can" { words } else { without_verb(rest) }
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_geometry::SupportKind;

    use super::super::phrase::{Head, Place};
    use super::*;

    fn read(text: &str) -> Condition {
        Condition::read(text, &Things::default()).unwrap_or_else(|| panic!("{text}"))
    }

    fn in_view(text: &str) -> (String, usize) {
        let Condition::InView { thing, least } = read(text) else { panic!("{text}: {:?}", read(text)) };
        assert!(thing.is_understood() && thing.unknown.is_empty(), "{text}: {thing:?}");
        (thing.text, least)
    }

    #[test]
    fn what_is_in_view_may_be_said_in_several_ways() {
        for text in [
            "a red can is in view",
            "whether: a red can is in view",
            "whether the red can is visible",
            "there is a red can",
            "red can present",
            "the red can can be seen",
        ] {
            let Condition::InView { thing, least } = read(text) else { panic!("{text}") };
            assert_eq!((least, thing.is_understood()), (1, true), "{text}");
        }
        assert_eq!(in_view("a red can is in view"), ("red can".into(), 1));
        assert_eq!(in_view("whether: a person is in view"), ("person".into(), 1));
    }

    #[test]
    fn amounts_count() {
        assert_eq!(in_view("3+ cans are in view"), ("cans".into(), 3));
        assert_eq!(in_view("at least two boxes in view").1, 2);
        assert_eq!(in_view("2 or more people are visible").1, 2);
        assert!(Condition::read("2+ cans are gone", &Things::default()).is_none());
    }

    #[test]
    fn absence_is_read() {
        for text in
            ["no person is in view", "the red can is gone", "the red can is not visible", "whether there is no red can"]
        {
            assert!(matches!(read(text), Condition::Gone { .. }), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn relations_are_read() {
        let Condition::Near { thing, other: Some(other) } = read("a person is near the red can") else { panic!() };
        assert_eq!((thing.head, other.text.as_str()), (Head::Person, "red can"));
        assert!(matches!(read("a person is near"), Condition::Near { other: None, .. }));
        assert!(matches!(read("a person is near the robot"), Condition::Near { other: None, .. }));
        let Condition::InView { thing, .. } = read("a red can is on the table") else { panic!() };
        assert_eq!(thing.place, Some(Place::On(vec![SupportKind::Table])));
        assert!(thing.is_understood());
    }

    #[test]
    fn a_word_that_is_no_part_of_the_grammar_is_named() {
        for (text, word) in [
            ("the person left", "\"left\""),
            ("the red can is on the counter", "the counter"),
            ("the red can is on the desk", "the desk"),
            ("a banana is in view", "\"banana\""),
            ("the red can is on the book", "\"on the book\""),
            ("a person is in the kitchen", "\"in\""),
            ("the red can is not on the table", "\"not\""),
            ("a red can is on the left", "\"on the left\""),
            ("a person is near it", "no thing is named"),
            ("a person is near the table", "\"table\""),
            ("a person is near the frobs", "\"frobs\""),
        ] {
            let fault = read(text).fault();
            assert!(fault.as_ref().is_some_and(|fault| fault.contains(word)), "{text}: {fault:?}");
        }
        for text in ["a person is near the leftmost can", "no red can is on the table", "a person is near me"] {
            assert_eq!(read(text).fault(), None, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_shows_in_the_phrases() {
        for text in [
            "the kettle is boiling",
            "a person is sleeping in view",
            "it is raining",
            "the red can and the mug are in view",
        ] {
            let condition = Condition::read(text, &Things::default());
            let understood = condition.is_some_and(|condition| {
                condition.phrases().iter().all(|phrase| phrase.is_understood() && phrase.unknown.is_empty())
            });
            assert!(!understood, "{text}");
        }
    }
}
