use cerebellum_core::{Mask, PixelBox};
use cerebellum_geometry::{ColourName, Object, Person, Scene, Shape};
use glam::Vec3;

use super::phrase::{Head, Phrase, Pick, Place};

/// How near things are "near", between their centres, in metres.
pub(super) const NEAR_THING_M: f32 = 0.3;
/// How near a person is "near" a thing or the camera, in metres.
pub(super) const NEAR_PERSON_M: f32 = 1.2;
/// A box is a cube when no side is longer than another by more than this.
const CUBE_RATIO: f32 = 1.35;

/// A thing or a person of a scene.
#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Thing(&'a Object),
    Person(&'a Person),
}

/// An item that a phrase means, and how well.
#[derive(Clone, Copy)]
pub(super) struct Match<'a> {
    pub(super) item: Item<'a>,
    pub(super) score: f32,
}

impl<'a> Item<'a> {
    /// All of a scene, things first.
    pub(super) fn all(scene: &'a Scene) -> impl Iterator<Item = Self> {
        scene.objects.iter().map(Item::Thing).chain(scene.people.iter().map(Item::Person))
    }

    pub(super) fn centre(&self) -> Vec3 {
        match self {
            Self::Thing(object) => object.fit.centre,
            Self::Person(person) => person.centre,
        }
    }

    pub(super) fn mask(&self) -> &'a Mask {
        match self {
            Self::Thing(object) => &object.mask,
            Self::Person(person) => &person.mask,
        }
    }

    pub(super) fn bounds(&self) -> PixelBox {
        self.mask().bounds
    }

    pub(super) fn confidence(&self) -> f32 {
        match self {
            Self::Thing(object) => object.fit.confidence,
            Self::Person(person) => person.confidence,
        }
    }

    pub(super) fn is_person(&self) -> bool {
        matches!(self, Self::Person(_))
    }

    /// What this engine calls it: "red can", "person".
    pub(super) fn label(&self) -> String {
        match self {
            Self::Thing(object) => format!("{} {}", object.colour, object.fit.shape.as_str()),
            Self::Person(_) => "person".into(),
        }
    }

    fn size(&self) -> f32 {
        match self {
            Self::Thing(object) => object.fit.length * object.fit.width * object.fit.height,
            Self::Person(person) => person.height,
        }
    }

    fn height(&self) -> f32 {
        match self {
            Self::Thing(object) => object.fit.height,
            Self::Person(person) => person.height,
        }
    }

    fn column(&self) -> u32 {
        self.bounds().x + self.bounds().width / 2
    }
}

/// What a phrase means in a scene, best first.
pub(super) fn find<'a>(phrase: &Phrase, scene: &'a Scene) -> Vec<Match<'a>> {
    let mut matches: Vec<Match<'a>> = Item::all(scene)
        .filter_map(|item| Some(Match { item, score: score(phrase, &item)? }))
        .filter(|found| phrase.place.as_ref().is_none_or(|place| is_at(place, &found.item, scene)))
        .collect();
    matches.sort_by(|a, b| b.score.total_cmp(&a.score));
    match phrase.pick {
        Some(pick) => picked(pick, &matches, scene).into_iter().collect(),
        None => matches,
    }
}

/// Whether anything in view has a colour the phrase allows; without it, an unknown thing of that colour cannot be in view.
pub(super) fn has_colour(colours: &[ColourName], scene: &Scene) -> bool {
    scene.objects.iter().any(|object| colours.contains(&object.colour))
}

/// The distance that counts between two items.
pub(super) fn are_near(a: &Item<'_>, b: &Item<'_>) -> bool {
    if a.is_person() || b.is_person() {
        // A person reaches out: only the floor plan counts.
        return a.centre().truncate().distance(b.centre().truncate()) < NEAR_PERSON_M;
    }
    a.centre().distance(b.centre()) < NEAR_THING_M
}

fn score(phrase: &Phrase, item: &Item<'_>) -> Option<f32> {
    let object = match (&phrase.head, item) {
        (Head::Person, Item::Person(person)) => return phrase.colours.is_none().then_some(person.confidence),
        (Head::Shapes { .. } | Head::Any { .. }, Item::Thing(object)) => object,
        _ => return None,
    };
    if let Some(colours) = &phrase.colours
        && !colours.contains(&object.colour)
    {
        return None;
    }
    if let Some((low, high)) = phrase.height {
        let slack = 0.015 + 0.05 * high;
        if object.fit.height < low - slack || object.fit.height > high + slack {
            return None;
        }
    }
    match &phrase.head {
        Head::Shapes { shapes, cube } => {
            if *cube && !is_cube(object) {
                return None;
            }
            if shapes.contains(&object.fit.shape) {
                return Some(object.fit.confidence);
            }
            let may_be = |shape: &Shape| object.fit.alternatives.contains(shape);
            shapes.iter().any(may_be).then_some(0.7 * object.fit.confidence)
        }
        Head::Any { named } => (*named || phrase.colours.is_some()).then_some(0.8 * object.fit.confidence),
        Head::Person | Head::Surface(_) | Head::Unknown(_) => None,
    }
}

fn is_cube(object: &Object) -> bool {
    let sides = [object.fit.length, object.fit.width, object.fit.height];
    let (low, high) = sides.iter().fold((f32::MAX, 0.0_f32), |(low, high), &side| (low.min(side), high.max(side)));
    high < CUBE_RATIO * low + 0.01
}

fn is_at(place: &Place, item: &Item<'_>, scene: &Scene) -> bool {
    match place {
        Place::On(kinds) => match item {
            Item::Thing(object) => kinds.contains(&scene.supports[object.support].kind),
            Item::Person(_) => kinds.contains(&cerebellum_geometry::SupportKind::Floor),
        },
        Place::LeftOf(other) => others(other, item, scene).any(|other| item.column() < other.column()),
        Place::RightOf(other) => others(other, item, scene).any(|other| item.column() > other.column()),
        Place::Near(other) => others(other, item, scene).any(|other| are_near(item, &other)),
    }
}

fn others<'a>(phrase: &Phrase, item: &Item<'_>, scene: &'a Scene) -> impl Iterator<Item = Item<'a>> {
    let mine = item.mask();
    find(phrase, scene).into_iter().map(|found| found.item).filter(move |other| !std::ptr::eq(other.mask(), mine))
}

fn picked<'a>(pick: Pick, matches: &[Match<'a>], scene: &Scene) -> Option<Match<'a>> {
    let eye = scene.camera.position();
    let middle = scene.camera.width as f32 / 2.0;
    let key = |item: &Item<'_>| match pick {
        Pick::Left => item.column() as f32,
        Pick::Right => -(item.column() as f32),
        Pick::Middle => (item.column() as f32 - middle).abs(),
        Pick::Nearest => item.centre().distance(eye),
        Pick::Farthest => -item.centre().distance(eye),
        Pick::Biggest => -item.size(),
        Pick::Smallest => item.size(),
        Pick::Tallest => -item.height(),
    };
    matches.iter().copied().min_by(|a, b| key(&a.item).total_cmp(&key(&b.item)))
}
