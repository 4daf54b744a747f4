use cerebellum_core::{OutputValue, Scalar};
use cerebellum_geometry::{Scene, SupportKind};

use super::matching::{Item, are_near};

/// The most things that are named.
const NAMED_MAX: usize = 10;

/// The scene in words: "a red can left of a blue box on the table; a person near the red can".
pub(super) fn text(scene: &Scene) -> String {
    let mut parts = Vec::new();
    let mut left = NAMED_MAX;
    for (index, support) in scene.supports.iter().enumerate() {
        let labels: Vec<String> = scene
            .objects
            .iter()
            .filter(|object| object.support == index)
            .take(left)
            .map(|object| with_article(&Item::Thing(object).label()))
            .collect();
        left -= labels.len();
        if !labels.is_empty() {
            parts.push(row(&labels, surface_name(support.kind)));
        }
    }
    if scene.objects.len() > NAMED_MAX {
        parts.push(format!("{} more things", scene.objects.len() - NAMED_MAX));
    }
    parts.extend(scene.people.iter().map(|person| {
        let person = Item::Person(person);
        let near = scene.objects.iter().map(Item::Thing).find(|thing| are_near(&person, thing));
        if let Some(thing) = near {
            return format!("a person near the {}", thing.label());
        }
        let away = person.centre().truncate().distance(scene.camera.position().truncate());
        format!("a person {away:.1} m away")
    }));
    if parts.is_empty() { "nothing on a surface and no person in view".into() } else { parts.join("; ") }
}

/// The main things, at most ten.
pub(super) fn list(scene: &Scene) -> OutputValue {
    let mut items: Vec<Item<'_>> = Item::all(scene).collect();
    items.sort_by_key(|item| (!item.is_person(), std::cmp::Reverse(item.bounds().area())));
    OutputValue::List(items.iter().take(NAMED_MAX).map(|item| Scalar::Text(item.label())).collect())
}

fn row(labels: &[String], surface: &str) -> String {
    match labels {
        [one] => format!("{one} on the {surface}"),
        [one, two] => format!("{one} left of {two} on the {surface}"),
        [first @ .., last] => format!("{} and {last} on the {surface}, from left to right", first.join(", ")),
        [] => String::new(),
    }
}

fn surface_name(kind: SupportKind) -> &'static str {
    match kind {
        SupportKind::Floor => "floor",
        SupportKind::Shelf => "shelf",
        SupportKind::Table => "table",
    }
}

fn with_article(label: &str) -> String {
    let article = if label.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {label}")
}
