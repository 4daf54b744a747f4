use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

/// The longest word that is told apart, in characters.
const WORD_CHARS_MAX: usize = 40;

/// Words that say nothing about a process.
const SMALL_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "can", "do", "for", "from", "get", "how", "i", "in", "into", "is", "it",
    "me", "my", "of", "on", "or", "please", "that", "the", "this", "to", "we", "what", "with", "you", "your",
];

/// The words of a text as they are searched: small letters and digits, English plurals cut, scripts without spaces as
/// characters and pairs of them. Everything else separates words and is never part of one.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    let one_form: String = text.nfkc().collect();
    let pieces = one_form.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty());
    pieces.flat_map(split).collect::<Vec<_>>().into_iter()
}

/// The different words of a query that tell something, in their order, at most `max`.
pub(crate) fn of_query(query: &str, max: usize) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let different = words(query).filter(|word| seen.insert(word.clone()));
    let told: Vec<String> = different.take(max).collect();
    let telling: Vec<String> = told.iter().filter(|word| !SMALL_WORDS.contains(&word.as_str())).cloned().collect();
    if telling.is_empty() { told } else { telling }
}

fn split(piece: &str) -> Vec<String> {
    if piece.is_ascii() {
        return vec![singular(&piece[..piece.len().min(WORD_CHARS_MAX)]).to_ascii_lowercase()];
    }
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    for c in piece.chars() {
        if is_without_spaces(c) {
            push(&mut found, &mut word);
            found.push(c.to_string());
            found.extend(before.map(|before| format!("{before}{c}")));
            before = Some(c);
        } else {
            before = None;
            word.push(c);
        }
    }
    push(&mut found, &mut word);
    found
}

fn push(found: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        let lower: String = word.to_lowercase().chars().take(WORD_CHARS_MAX).collect();
        found.push(lower);
        word.clear();
    }
}

/// Han, Hiragana, Katakana and what stands around them.
fn is_without_spaces(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}')
}

/// An English word without its plural ending, by Harman's three rules.
fn singular(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| lower.ends_with(ending));
    match lower.len() {
        0..=3 => lower,
        length if ends(&["ies"]) && !ends(&["eies", "aies"]) => format!("{}y", &lower[..length - 3]),
        length if ends(&["s"]) && !ends(&["us", "ss", "aes", "ees", "oes"]) => lower[..length - 1].to_owned(),
        _ => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text).collect::<Vec<_>>(), expected, "{text:?}");
    }

    #[test]
    fn words_are_small_letters_and_digits_without_plurals() {
        check("Make 2 CUPS of coffee!", &["make", "2", "cup", "of", "coffee"]);
        check("berries, glasses, glass, bus, us", &["berry", "glasse", "glass", "bus", "us"]);
        check("Küchentisch\u{0}Äpfel", &["küchentisch", "äpfel"]);
        check("Ku\u{308}che", &["küche"]);
        check("", &[]);
    }

    #[test]
    fn nothing_of_a_search_language_is_in_a_word() {
        check(
            "\"a\" OR b* NEAR(c, 2) -d ^e {f}: g' ; -- 🤖☕",
            &["a", "or", "b", "near", "c", "2", "d", "e", "f", "g"],
        );
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_characters_and_pairs() {
        check("泡咖啡x", &["泡", "咖", "泡咖", "啡", "咖啡", "x"]);
    }

    #[test]
    fn long_words_are_cut() {
        check(&"x".repeat(100), &["x".repeat(40).as_str()]);
        check(&"ä".repeat(100), &["ä".repeat(40).as_str()]);
    }

    #[test]
    fn small_words_count_only_alone() {
        assert_eq!(of_query("put the cup on the table", 9), ["put", "cup", "table"]);
        assert_eq!(of_query("to the", 9), ["to", "the"]);
        assert_eq!(of_query("cup cups CUP", 9), ["cup"]);
        assert_eq!(of_query("a b c d", 2), ["b"]);
    }
}
