use unicode_normalization::UnicodeNormalization;

/// A name as it is compared and kept: small letters in one form of Unicode (NFKC), with one space where spaces and
/// underscores stand. People and planners write the same name in many ways.
pub fn folded(name: &str) -> String {
    // Small letters of what was one form need not be one again.
    let one_form: String = name.nfkc().collect::<String>().to_lowercase().nfkc().collect();
    let words = one_form.split(|c: char| c.is_whitespace() || c == '_').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::folded;

    #[test]
    fn capitals_spaces_and_underscores_make_no_difference() {
        for name in ["kitchen table", " Kitchen  Table\n", "KITCHEN_TABLE", "__kitchen_\u{a0}table"] {
            assert_eq!(folded(name), "kitchen table");
        }
        assert_eq!(folded("Ku\u{308}che 2-b"), folded("KÜCHE 2-B"));
        assert_eq!(folded("ﬁt"), "fit");
        assert_eq!(folded(" _ "), "");
    }
}
