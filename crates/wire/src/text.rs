/// The most characters of a caller's text that a message repeats.
pub const SHOWN_CHARS_MAX: usize = 80;

/// A caller's text as a message repeats it: at most [`SHOWN_CHARS_MAX`] characters, and `…` where something was cut.
pub fn cut(text: &str) -> String {
    cut_to(text, SHOWN_CHARS_MAX)
}

/// The text cut to so many characters, and `…` where something was cut.
pub fn cut_to(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The first names of a list, and how many more there are.
pub fn list<T: AsRef<str>>(names: &[T], names_max: usize) -> String {
    let shown: Vec<&str> = names.iter().take(names_max).map(AsRef::as_ref).collect();
    match names.len() - shown.len() {
        0 if shown.is_empty() => "none".to_owned(),
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A number as a message repeats it: in few digits, however large or small it is.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e15).contains(&magnitude) || !value.is_finite() {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// Whether a character does something to a text that nobody sees: control characters, line breaks, and marks that turn the
/// direction of reading.
pub fn is_hidden(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(cut("red can"), "red can");
        assert_eq!(cut(&"ä".repeat(80)), "ä".repeat(80));
        assert_eq!(cut(&"ä".repeat(81)), format!("{}…", "ä".repeat(80)));
    }

    #[test]
    fn lists_tell_how_many_more_there_are() {
        assert_eq!(list::<&str>(&[], 2), "none");
        assert_eq!(list(&["a", "b"], 2), "a, b");
        assert_eq!(list(&["a", "b", "c"], 2), "a, b and 1 more");
    }

    #[test]
    fn numbers_are_short() {
        for (value, expected) in [(-1.0, "-1"), (30.5, "30.5"), (0.0, "0"), (1e308, "1e308"), (-5e-324, "-5e-324")] {
            assert_eq!(number(value), expected);
        }
    }

    #[test]
    fn control_characters_and_turns_of_direction_are_hidden() {
        for c in ['\0', '\n', '\u{7f}', '\u{85}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{2028}'] {
            assert!(is_hidden(c), "{c:?}");
        }
        for c in ['a', ' ', 'ä', '中', 'ש', '…', '\u{a0}'] {
            assert!(!is_hidden(c), "{c:?}");
        }
    }
}
