use std::collections::BTreeMap;

use cerebellum_core::RankedProcess;
use cerebellum_core::name::folded;
use serde_json::Value;
use sqlx::sqlite::SqlitePool;

use super::rank::{Term, rank};
use super::row::{self, Row};
use crate::words;

/// How much of a query is read, in characters.
const QUERY_CHARS_MAX: usize = 4_000;
/// How many different words of a query are looked up, and how many of them are searched for: the rarest.
const LOOKED_UP_MAX: usize = 128;
const TERMS_MAX: usize = 12;
/// How many processes are ranked by the index, and how many of those are looked at as a whole.
const RANKED_MAX: usize = 1_000;
const CANDIDATES_MAX: usize = 40;
/// How many of those that the index cannot rank are compared by how often they worked.
const COMPARED_MAX: usize = 500;
/// A word nobody uses may be the beginning of one: from so many letters on, and so many words at most.
const PREFIX_CHARS_MIN: usize = 3;
const MEANINGS_MAX: i64 = 4;
const PREFIXES_MAX: usize = 8;

/// The best matches. The work is bounded by the numbers above, not by the size of the store or of the query.
pub(super) async fn find(from: &SqlitePool, query: &str, limit: usize) -> Result<Vec<RankedProcess>, sqlx::Error> {
    let query: String = query.chars().take(QUERY_CHARS_MAX).collect();
    if query.trim().is_empty() {
        let best = row::best(from, limit).await?;
        return Ok(best.into_iter().map(|row| RankedProcess { score: row.merit, stored: row.stored }).collect());
    }
    let name = folded(&query);
    let terms = terms(from, &words::of_query(&query, LOOKED_UP_MAX)).await?;
    let wanted = limit.max(CANDIDATES_MAX);
    let mut rows: Vec<Row> = row::one(from, "name", &name).await?.into_iter().collect();
    let mut keys = candidates(from, &terms, wanted).await?;
    keys.retain(|key| rows.iter().all(|row| row.key != *key));
    rows.extend(row::of_keys(from, &keys).await?);
    // All that were ever made: near enough for telling rare words from common ones, and known without counting.
    let made: Option<(i64,)> =
        sqlx::query_as("SELECT seq FROM sqlite_sequence WHERE name = 'process'").fetch_optional(from).await?;
    let total = made.map_or(0, |(made,)| usize::try_from(made).unwrap_or(0));
    let mut ranked = rank(&terms, total, &name, rows);
    ranked.truncate(limit);
    Ok(ranked)
}

/// The query's words with what the store knows of them, the rarest first. Unknown words stay: they tell how much is missing.
async fn terms(from: &SqlitePool, words: &[String]) -> Result<Vec<Term>, sqlx::Error> {
    let known: Vec<(String, i64)> =
        sqlx::query_as("SELECT word, processes FROM vocabulary WHERE word IN (SELECT value FROM json_each(?))")
            .bind(Value::from(words.to_vec()).to_string())
            .fetch_all(from)
            .await?;
    let known: BTreeMap<String, i64> = known.into_iter().collect();
    let mut terms = Vec::with_capacity(words.len());
    let mut prefixes = 0;
    for word in words {
        let meanings = match known.get(word) {
            Some(&processes) => vec![(word.clone(), processes)],
            None if prefixes < PREFIXES_MAX && word.chars().count() >= PREFIX_CHARS_MIN => {
                prefixes += 1;
                beginning_with(from, word).await?
            }
            None => Vec::new(),
        };
        let processes = meanings.iter().map(|(_, processes)| usize::try_from(*processes).unwrap_or(0)).sum();
        terms.push(Term { meanings: meanings.into_iter().map(|(meaning, _)| meaning).collect(), processes });
    }
    terms.sort_by_key(|term| (term.meanings.is_empty(), term.processes));
    terms.truncate(TERMS_MAX);
    Ok(terms)
}

/// The most frequent words that begin so.
async fn beginning_with(from: &SqlitePool, prefix: &str) -> Result<Vec<(String, i64)>, sqlx::Error> {
    sqlx::query_as("SELECT word, processes FROM vocabulary WHERE word > ? AND word < ? ORDER BY processes DESC LIMIT ?")
        .bind(prefix)
        .bind(format!("{prefix}{}", char::MAX))
        .bind(MEANINGS_MAX)
        .fetch_all(from)
        .await
}

/// Keys of processes worth looking at: those with all words, then those with rare ones.
async fn candidates(from: &SqlitePool, terms: &[Term], wanted: usize) -> Result<Vec<i64>, sqlx::Error> {
    let known: Vec<&Term> = terms.iter().filter(|term| !term.meanings.is_empty()).collect();
    let mut keys = Vec::new();
    if known.is_empty() {
        return Ok(keys);
    }
    let mut sum = 0;
    let rare: Vec<&Term> = known
        .iter()
        .take_while(|term| {
            sum += term.processes;
            sum <= RANKED_MAX
        })
        .copied()
        .collect();
    if rare.is_empty() {
        // All words are common. The more of them a process has the better, in its name above all.
        for matching in [format!("{{name tags}} : ({})", all(&known)), all(&known), all(&known[..1])] {
            if keys.len() < wanted {
                keys.extend(most_merited(from, &matching, wanted).await?);
            }
        }
    } else {
        if rare.len() < known.len() {
            keys.extend(most_merited(from, &all(&known), wanted).await?);
        }
        keys.extend(by_index(from, &any(&rare), wanted).await?);
    }
    let mut seen = std::collections::BTreeSet::new();
    keys.retain(|key| seen.insert(*key));
    Ok(keys)
}

/// What matches best by the index's own measure.
async fn by_index(from: &SqlitePool, matching: &str, limit: usize) -> Result<Vec<i64>, sqlx::Error> {
    let read = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, 10.0, 5.0, 3.0, 1.0) LIMIT ?";
    Ok(keys(sqlx::query_as(read).bind(matching).bind(row::signed(limit)).fetch_all(from).await?))
}

/// Of the first that match, those that worked best.
async fn most_merited(from: &SqlitePool, matching: &str, limit: usize) -> Result<Vec<i64>, sqlx::Error> {
    let read = "SELECT key FROM process WHERE key IN (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?) \
                ORDER BY +merit DESC LIMIT ?";
    let query = sqlx::query_as(read).bind(matching).bind(row::signed(COMPARED_MAX.max(limit))).bind(row::signed(limit));
    Ok(keys(query.fetch_all(from).await?))
}

fn keys(rows: Vec<(i64,)>) -> Vec<i64> {
    rows.into_iter().map(|(key,)| key).collect()
}

fn all(terms: &[&Term]) -> String {
    terms.iter().map(|term| one(term)).collect::<Vec<_>>().join(" AND ")
}

fn any(terms: &[&Term]) -> String {
    terms.iter().map(|term| one(term)).collect::<Vec<_>>().join(" OR ")
}

/// A term in the index's language. Words are letters and digits alone, so quotes make them plain whatever they say.
fn one(term: &Term) -> String {
    let quoted: Vec<String> = term.meanings.iter().map(|meaning| format!("\"{meaning}\"")).collect();
    format!("({})", quoted.join(" OR "))
}
