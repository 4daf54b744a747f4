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
    assert_eq!(read("the can on the kitchen table").surfaces, ["kitchen table"]);
    assert_eq!(read("the can on the counter").notes(), ["cannot tell the counter from another surface"]);
    assert_eq!(read("the can on the roof").unknown, ["on", "roof"]);
}

#[test]
fn the_content_of_a_can_counts_when_it_is_a_known_thing_of_that_shape() {
    for text in ["can of coke", "a can of cola"] {
        let phrase = read(text);
        assert_eq!((phrase.head.clone(), phrase.colours.clone()), (shapes(&[Shape::Can]), Some(vec![ColourName::Red])));
        assert_eq!(phrase.notes(), ["\"coke\" is taken from the list of things"], "{text}");
    }
    for (text, shape, unknown) in [
        ("box of milk", Shape::Box, "milk"),
        ("cup of coffee", Shape::Mug, "coffee"),
        ("box of apples", Shape::Box, "apples"),
    ] {
        let phrase = read(text);
        assert_eq!((phrase.head.clone(), phrase.colours.clone()), (shapes(&[shape]), None), "{text}");
        assert_eq!((phrase.unknown.as_slice(), phrase.label()), ([unknown.to_owned()].as_slice(), Some(text)));
    }
}

#[test]
fn a_relation_that_is_not_understood_means_no_thing() {
    for (text, word) in [
        ("box behind the apple", "behind"),
        ("the red box under the apple", "under"),
        ("box inside the box", "inside"),
        ("box hidden beyond the apple", "beyond"),
        ("picture of an apple", "picture"),
        ("person can see the red can", "can"),
        ("the box near the table", "table"),
    ] {
        let phrase = read(text);
        assert!(!phrase.is_understood(), "{text}: {phrase:?}");
        assert!(phrase.notes()[0].contains(word), "{text}: {:?}", phrase.notes());
        assert!(phrase.fault().unwrap().contains(&format!("{word:?}")), "{text}: {:?}", phrase.fault());
    }
}

#[test]
fn a_word_for_which_one_counts_before_the_noun_only() {
    assert_eq!(read("the left box").pick, Some(Pick::Left));
    for (text, word) in [("the person left", "left"), ("the can is small", "small"), ("the can is light", "light")] {
        let phrase = read(text);
        assert_eq!((phrase.pick, phrase.unknown.as_slice()), (None, [word.to_owned()].as_slice()), "{text}");
        assert_eq!(phrase.fault(), Some(format!("{word:?} is not understood")));
    }
}

#[test]
fn a_label_claims_no_word_of_an_unknown_noun() {
    assert_eq!(read("shiny red can").label(), Some("shiny red can"));
    assert_eq!(read("something on the roof").label(), None);
}

#[test]
fn nothing_said_is_nothing_understood() {
    for text in ["", "the", "42", "the table"] {
        assert!(!read(text).is_understood(), "{text}");
    }
    assert!(read("something").is_understood() && read("something red").is_understood());
}
