use cerebellum_geometry::{ColourName, Shape};

/// Lower case words; everything but letters, digits and `+` parts them.
pub(super) fn tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .replace("can't", "cannot")
        .split(|c: char| !c.is_alphanumeric() && c != '+')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Words that say nothing about a thing.
pub(super) fn is_filler(word: &str) -> bool {
    const FILLERS: [&str; 27] = [
        "the", "a", "an", "some", "any", "that", "this", "these", "those", "my", "your", "our", "please", "find",
        "locate", "show", "me", "see", "look", "for", "is", "are", "there", "its", "it", "kind", "single",
    ];
    FILLERS.contains(&word)
}

/// Words for how light, how new, or how sure; they part nothing that this engine can tell.
pub(super) fn is_shade(word: &str) -> bool {
    matches!(word, "dark" | "light" | "bright" | "pale" | "deep")
}

/// Words that part two things; what they say about them this engine cannot tell.
pub(super) fn is_relation(word: &str) -> bool {
    const RELATIONS: [&str; 38] = [
        "behind",
        "under",
        "underneath",
        "beneath",
        "below",
        "above",
        "over",
        "inside",
        "in",
        "into",
        "within",
        "outside",
        "from",
        "off",
        "between",
        "among",
        "against",
        "around",
        "without",
        "with",
        "and",
        "or",
        "but",
        "not",
        "except",
        "than",
        "at",
        "through",
        "across",
        "along",
        "before",
        "after",
        "containing",
        "holding",
        "onto",
        "towards",
        "opposite",
        "unless",
    ];
    RELATIONS.contains(&word)
}

/// Whether a word for a surface says no more than its kind; a counter cannot be told from a table.
pub(super) fn is_plain_surface(word: &str) -> bool {
    singulars(word).any(|word| {
        matches!(word.as_str(), "table" | "tabletop" | "surface" | "shelf" | "shelve" | "board" | "floor" | "ground")
    })
}

/// The colours a colour word may look like.
pub(super) fn colours_of(word: &str) -> Option<Vec<ColourName>> {
    use ColourName::{Black, Blue, Brown, Green, Grey, Orange, Pink, Purple, Red, White, Yellow};
    Some(match word {
        "turquoise" | "teal" | "cyan" | "aqua" => vec![Blue, Green],
        "silver" | "metallic" => vec![Grey, White],
        "beige" | "tan" => vec![Brown, White],
        "cream" | "ivory" => vec![White, Yellow],
        "gold" | "golden" => vec![Yellow, Brown],
        "magenta" | "fuchsia" => vec![Purple, Pink],
        "violet" | "lilac" | "lavender" => vec![Purple],
        "maroon" => vec![Red, Brown],
        "lime" | "olive" | "greenish" => vec![Green],
        "navy" | "bluish" => vec![Blue],
        "gray" => vec![Grey],
        "reddish" => vec![Red],
        other => vec![
            [Red, Orange, Yellow, Green, Blue, Purple, Pink, Brown, White, Grey, Black]
                .into_iter()
                .find(|colour| colour.as_str() == other)?,
        ],
    })
}

/// What a noun says about a shape, without any owner's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noun {
    Shape(Shape),
    /// A box with sides of about one length.
    Cube,
    Person,
    /// Anything at all: "object", "thing".
    Any,
    /// A raised surface.
    Table,
    Shelf,
    Floor,
}

pub(super) fn noun_of(word: &str) -> Option<Noun> {
    singulars(word).find_map(|word| {
        Some(match word.as_str() {
            "can" | "tin" => Noun::Shape(Shape::Can),
            "bottle" | "flask" => Noun::Shape(Shape::Bottle),
            "ball" | "sphere" => Noun::Shape(Shape::Ball),
            "box" | "carton" | "package" | "packet" | "block" | "parcel" => Noun::Shape(Shape::Box),
            "cube" => Noun::Cube,
            "book" | "notebook" | "magazine" => Noun::Shape(Shape::Book),
            "mug" | "cup" => Noun::Shape(Shape::Mug),
            "bowl" => Noun::Shape(Shape::Bowl),
            "person" | "people" | "human" | "man" | "woman" | "someone" | "somebody" | "anyone" | "anybody"
            | "visitor" => Noun::Person,
            "object" | "thing" | "item" | "one" | "something" | "anything" | "everything" => Noun::Any,
            "table" | "desk" | "counter" | "tabletop" | "countertop" | "worktop" | "surface" => Noun::Table,
            "shelf" | "shelve" | "board" => Noun::Shelf,
            "floor" | "ground" | "carpet" => Noun::Floor,
            _ => return None,
        })
    })
}

/// The word itself, then what it may be the plural of.
pub(super) fn singulars(word: &str) -> impl Iterator<Item = String> {
    let stem = |suffix: &str| word.strip_suffix(suffix).filter(|stem| stem.len() > 1).map(str::to_owned);
    let ves = stem("ves").map(|stem| format!("{stem}f"));
    let ies = stem("ies").map(|stem| format!("{stem}y"));
    let plain = stem("s").filter(|stem| !stem.ends_with('s'));
    [Some(word.to_owned()), plain, stem("es"), ves, ies].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_the_same_nouns() {
        for (word, noun) in [
            ("cans", Noun::Shape(Shape::Can)),
            ("boxes", Noun::Shape(Shape::Box)),
            ("shelves", Noun::Shelf),
            ("people", Noun::Person),
            ("persons", Noun::Person),
            ("cup", Noun::Shape(Shape::Mug)),
            ("cubes", Noun::Cube),
        ] {
            assert_eq!(noun_of(word), Some(noun), "{word}");
        }
        for word in ["scissors", "cano", "ca", "bo", "glass"] {
            assert_eq!(noun_of(word), None, "{word}");
        }
    }

    #[test]
    fn words_are_parted_at_punctuation() {
        assert_eq!(tokens("The RED can, (2+ of them)!"), ["the", "red", "can", "2+", "of", "them"]);
        assert!(tokens(" .. ").is_empty());
    }
}
