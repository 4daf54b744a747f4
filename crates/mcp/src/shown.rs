/// How many characters of a caller's text an answer or the log shows.
const SHOWN: usize = 80;

/// A text of a caller, cut for an answer or the log.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(shown("fly"), "fly");
        let fits = "é".repeat(SHOWN);
        assert_eq!(shown(&fits), fits);
        assert_eq!(shown(&format!("{fits}é")), format!("{fits}…"));
    }
}
