use cerebellum_core::{OutputSpec, OutputType, OutputValue, Skill, SkillMode};
use cerebellum_geometry::Scene;

use super::condition::{Condition, GRAMMAR};
use super::describe;
use super::matching::{Item, NEAR_PERSON_M, are_near, find, has_colour};
use super::phrase::{Head, Phrase};
use super::things::Things;
use super::words::{is_filler, tokens};

/// How the value of an output follows from a scene.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Judge {
    Condition(Condition),
    Count(Phrase),
    Distance(Phrase),
    Text,
    List,
}

impl Judge {
    /// How to judge an output; the reason when this engine cannot.
    pub(super) fn of(output: &OutputSpec, skill: &Skill, things: &Things) -> Result<Self, String> {
        let asked = skill.grounding.as_deref().filter(|_| skill.mode == SkillMode::GroundAndSegment);
        let judge = match output.output_type {
            OutputType::Boolean => condition(output, asked, things),
            OutputType::Number => number(output, asked, things),
            OutputType::Text => speaks_only_of(output, &TEXT_WORDS).then_some(Self::Text).ok_or(None),
            OutputType::List => speaks_only_of(output, &LIST_WORDS).then_some(Self::List).ok_or(None),
        };
        judge.map_err(|why| unsupported(output, why))
    }

    /// The words it uses from the owner's list, and those it does not understand.
    pub(super) fn notes(&self) -> Vec<String> {
        match self {
            Self::Condition(condition) => condition.phrases().iter().flat_map(|phrase| phrase.notes()).collect(),
            Self::Count(phrase) | Self::Distance(phrase) => phrase.notes(),
            Self::Text | Self::List => Vec::new(),
        }
    }

    /// The value; `None` when this scene does not tell.
    pub(super) fn value(&self, scene: &Scene) -> Option<OutputValue> {
        match self {
            Self::Condition(condition) => holds(condition, scene).map(OutputValue::Boolean),
            Self::Count(phrase) => Some(OutputValue::Number(find(phrase, scene).len() as f64)),
            Self::Distance(phrase) => {
                let eye = scene.camera.position();
                let away =
                    find(phrase, scene).iter().map(|found| found.item.centre().distance(eye)).min_by(f32::total_cmp)?;
                Some(OutputValue::Number((f64::from(away) * 1_000.0).round() / 1_000.0))
            }
            Self::Text => Some(OutputValue::Text(describe::text(scene))),
            Self::List => Some(describe::list(scene)),
        }
    }
}

fn unsupported(output: &OutputSpec, why: Option<String>) -> String {
    let why = why.unwrap_or_else(|| format!("engine geometry cannot judge {:?}", output.description));
    format!(
        "{why}; engine geometry judges conditions of the form {GRAMMAR} and the same of a person, numbers like \"number of red \
         cans\" and \"distance to the mug\", a text like \"description of the scene\" and a list like \"main objects\"; anything \
         else needs an engine with a vision language model"
    )
}

/// The judge of an output; else what of it is not understood, if that can be named.
type Read = Result<Judge, Option<String>>;

fn condition(output: &OutputSpec, asked: Option<&str>, things: &Things) -> Read {
    let words = tokens(&output.description);
    let says_nothing =
        words.is_empty() || words.iter().all(|word| is_filler(word) || matches!(word.as_str(), "found" | "whether"));
    let asked = asked.map(|text| Phrase::read(text, things));
    // What the skill looks for is looked for as well as it is understood, with a note; any other sentence is judged whole.
    let can_look_for = |thing: &Phrase| thing.is_understood() || thing.colours.is_some();
    if says_nothing {
        let thing = asked.ok_or(None)?;
        if !can_look_for(&thing) {
            return Err(thing.fault());
        }
        return Ok(Judge::Condition(Condition::InView { thing, least: 1 }));
    }
    let condition = Condition::read(&output.description, things)
        .ok_or_else(|| Some("a number of things is judged as \"in view\" only".to_owned()))?;
    let is_asked = match (condition.phrases().as_slice(), &asked) {
        ([thing], Some(asked)) => asked.text == thing.text && can_look_for(thing),
        _ => false,
    };
    match condition.fault() {
        Some(fault) if !is_asked => Err(Some(fault)),
        Some(_) | None => Ok(Judge::Condition(condition)),
    }
}

fn number(output: &OutputSpec, asked: Option<&str>, things: &Things) -> Read {
    const COUNTS: [&[&str]; 6] = [
        &["number", "of"],
        &["count", "of"],
        &["how", "many"],
        &["the", "number", "of"],
        &["amount", "of"],
        &["counts"],
    ];
    const DISTANCES: [&[&str]; 4] =
        [&["distance", "to"], &["distance", "of"], &["how", "far", "away"], &["how", "far"]];
    let all = tokens(&output.description);
    if all.is_empty() && matches!(output.name.as_str(), "count" | "number") {
        return exact(Judge::Count(Phrase::read(asked.ok_or(None)?, things)));
    }
    let words: Vec<String> = all.into_iter().skip_while(|word| is_filler(word)).collect();
    let after = |patterns: &[&[&str]]| {
        let pattern = patterns
            .iter()
            .find(|pattern| words.len() > pattern.len() && words.iter().zip(**pattern).all(|(a, b)| a == b))?;
        let rest = words[pattern.len()..].join(" ");
        let thing = rest
            .trim_end_matches(" in metres")
            .trim_end_matches(" in meters")
            .trim_end_matches(" in m")
            .trim_end_matches(" in view")
            .trim_end_matches(" visible")
            .trim_end_matches(" are")
            .trim_end_matches(" is");
        Some(Phrase::read(thing, things))
    };
    exact(after(&COUNTS).map(Judge::Count).or_else(|| after(&DISTANCES).map(Judge::Distance)).ok_or(None)?)
}

fn exact(judge: Judge) -> Read {
    let fault = match &judge {
        Judge::Count(phrase) | Judge::Distance(phrase) => phrase.fault(),
        Judge::Condition(_) | Judge::Text | Judge::List => None,
    };
    fault.map_or(Ok(judge), |fault| Err(Some(fault)))
}

const TEXT_WORDS: [&str; 33] = [
    "description",
    "describe",
    "describes",
    "detailed",
    "short",
    "brief",
    "full",
    "scene",
    "of",
    "what",
    "in",
    "view",
    "camera",
    "sees",
    "seen",
    "picture",
    "image",
    "summary",
    "text",
    "and",
    "objects",
    "things",
    "people",
    "visible",
    "current",
    "room",
    "can",
    "be",
    "on",
    "table",
    "surroundings",
    "words",
    "as",
];
const LIST_WORDS: [&str; 27] = [
    "main",
    "objects",
    "object",
    "things",
    "items",
    "up",
    "to",
    "10",
    "ten",
    "list",
    "of",
    "in",
    "view",
    "visible",
    "names",
    "labels",
    "all",
    "seen",
    "detected",
    "scene",
    "and",
    "people",
    "most",
    "important",
    "on",
    "table",
    "at",
];

/// Whether all words of the description (of the name, without one) are about the whole scene.
fn speaks_only_of(output: &OutputSpec, known: &[&str]) -> bool {
    let described = tokens(&output.description);
    let words = if described.is_empty() { tokens(&output.name.as_str().replace('_', " ")) } else { described };
    let about = words
        .iter()
        .any(|word| known.contains(&word.as_str()) && !matches!(word.as_str(), "of" | "in" | "and" | "to" | "on"));
    about && words.iter().all(|word| is_filler(word) || known.contains(&word.as_str()))
}

/// Whether the condition holds; `None` when the scene does not tell.
fn holds(condition: &Condition, scene: &Scene) -> Option<bool> {
    match condition {
        Condition::InView { thing, least } => {
            if let Head::Unknown(_) = thing.head {
                // A red something may be the red thing that was asked for; where nothing red is in view, it is not.
                let possible = thing.colours.as_ref().is_none_or(|colours| has_colour(colours, scene));
                return if possible { None } else { Some(false) };
            }
            Some(find(thing, scene).len() >= *least)
        }
        Condition::Gone { thing } => {
            if let Head::Unknown(_) = thing.head {
                return None;
            }
            Some(find(thing, scene).is_empty())
        }
        Condition::Near { thing, other } => {
            let things = find(thing, scene);
            let others = other.as_ref().map(|other| find(other, scene));
            let near = |item: &Item<'_>| match &others {
                Some(others) => others
                    .iter()
                    .any(|other| !std::ptr::eq(other.item.mask(), item.mask()) && are_near(item, &other.item)),
                None => item.centre().truncate().distance(scene.camera.position().truncate()) < NEAR_PERSON_M,
            };
            Some(things.iter().any(|found| near(&found.item)))
        }
    }
}
