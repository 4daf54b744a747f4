use std::collections::BTreeSet;

use cerebellum_core::name::folded;

/// How much of two names is compared, in characters.
const COMPARED_CHARS_MAX: usize = 80;

/// The names nearest to what was asked for, each once, the nearest first.
pub(super) fn nearest(asked: &str, names: Vec<String>, max: usize) -> Vec<String> {
    let asked = folded(asked);
    let mut seen = BTreeSet::new();
    let mut all: Vec<(usize, String)> = names
        .into_iter()
        .filter(|name| seen.insert(name.clone()))
        .map(|name| (distance(&asked, &name), name))
        .collect();
    all.sort();
    all.truncate(max);
    all.into_iter().map(|(_, name)| name).collect()
}

/// How many characters must be put in, left out or changed to make one name of the other.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(COMPARED_CHARS_MAX).collect();
    let b: Vec<char> = b.chars().take(COMPARED_CHARS_MAX).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_comes_first() {
        let names = ["water plants", "make coffee", "make tea", "make coffee"].map(str::to_owned).to_vec();
        assert_eq!(nearest("Make_Cofee", names.clone(), 2), ["make coffee", "make tea"]);
        assert_eq!(nearest("", names, 9).len(), 3);
    }

    #[test]
    fn a_distance_counts_the_changes() {
        for (a, b, expected) in [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("ä", "a", 1), ("ab", "ba", 2)]
        {
            assert_eq!((distance(a, b), distance(b, a)), (expected, expected), "{a} {b}");
        }
    }
}
