use std::collections::BTreeSet;

use cerebellum_core::RankedProcess;

use super::index::Words;
use super::row::Row;

/// How much of a process's score it loses when it never worked.
const MERIT_SHARE: f64 = 0.4;
/// How much of the match is for words that stand in the name or the tags.
const NAME_SHARE: f64 = 0.15;

/// A word of the query, with the words of the store that it may mean.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) meanings: Vec<String>,
    /// In how many processes one of them stands, at most.
    pub(super) processes: usize,
}

impl Term {
    fn stands_in(&self, words: &BTreeSet<&str>) -> bool {
        self.meanings.iter().any(|meaning| words.contains(meaning.as_str()))
    }

    /// How much the word tells: much when few of the `total` processes have it.
    fn weight(&self, total: usize) -> f64 {
        let (has, total) = (self.processes as f64, total.max(self.processes) as f64);
        (1.0 + (total - has + 0.5) / (has + 0.5)).ln()
    }
}

/// Scores the candidates, best first; of equal ones the earlier comes first. One that has none of the words is left out.
pub(super) fn rank(terms: &[Term], total: usize, name: &str, candidates: Vec<Row>) -> Vec<RankedProcess> {
    let mut ranked: Vec<RankedProcess> = candidates
        .into_iter()
        .filter_map(|row| {
            let matched = if row.stored.process.name == name { 1.0 } else { matched(terms, total, &row) };
            let score = matched * (1.0 - MERIT_SHARE * (1.0 - row.merit));
            (matched > 0.0).then_some(RankedProcess { stored: row.stored, score })
        })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    ranked
}

/// How much of what the query tells stands in the process, 0 to 1.
fn matched(terms: &[Term], total: usize, row: &Row) -> f64 {
    let words = Words::of(&row.stored.process);
    let all = words.different();
    let named: BTreeSet<&str> = words.name.iter().chain(&words.tags).map(String::as_str).collect();
    let share = |stands: &dyn Fn(&Term) -> bool| {
        let weights = |terms: &mut dyn Iterator<Item = &Term>| terms.map(|term| term.weight(total)).sum::<f64>();
        weights(&mut terms.iter().filter(|term| stands(term))) / weights(&mut terms.iter()).max(f64::MIN_POSITIVE)
    };
    let anywhere = share(&|term| term.stands_in(&all));
    let in_name = share(&|term| term.stands_in(&named));
    (1.0 - NAME_SHARE) * anywhere + NAME_SHARE * in_name
}
