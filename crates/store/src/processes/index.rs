use std::collections::BTreeSet;

use cerebellum_core::Process;
use serde_json::Value;
use sqlx::SqliteConnection;

use crate::words::words;

/// The words of a process, as they are searched.
pub(super) struct Words {
    /// Those of its name.
    pub(super) name: Vec<String>,
    /// Those of its tags.
    pub(super) tags: Vec<String>,
    about: Vec<String>,
    steps: Vec<String>,
}

impl Words {
    /// Plans are not searched: their words are those of a language, not of a task.
    pub(super) fn of(process: &Process) -> Self {
        let when = process.when.as_deref().unwrap_or_default();
        Self {
            name: words(&process.name).collect(),
            tags: process.tags.iter().flat_map(|tag| words(tag)).collect(),
            about: words(&process.description).chain(words(when)).collect(),
            steps: process.steps.iter().flat_map(|step| words(step)).collect(),
        }
    }

    /// Each word once.
    pub(super) fn different(&self) -> BTreeSet<&str> {
        [&self.name, &self.tags, &self.about, &self.steps].into_iter().flatten().map(String::as_str).collect()
    }
}

/// Makes a process findable by its words.
pub(super) async fn add(connection: &mut SqliteConnection, key: i64, process: &Process) -> Result<(), sqlx::Error> {
    let words = Words::of(process);
    sqlx::query("INSERT INTO words (rowid, name, tags, about, steps) VALUES (?, ?, ?, ?, ?)")
        .bind(key)
        .bind(words.name.join(" "))
        .bind(words.tags.join(" "))
        .bind(words.about.join(" "))
        .bind(words.steps.join(" "))
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO vocabulary (word, processes) SELECT value, 1 FROM json_each(?) WHERE true \
         ON CONFLICT (word) DO UPDATE SET processes = processes + 1",
    )
    .bind(json(&words))
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes it not findable any more. `process` is what was added.
pub(super) async fn remove(connection: &mut SqliteConnection, key: i64, process: &Process) -> Result<(), sqlx::Error> {
    let words = json(&Words::of(process));
    sqlx::query("DELETE FROM words WHERE rowid = ?").bind(key).execute(&mut *connection).await?;
    sqlx::query("UPDATE vocabulary SET processes = processes - 1 WHERE word IN (SELECT value FROM json_each(?))")
        .bind(&words)
        .execute(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM vocabulary WHERE processes <= 0 AND word IN (SELECT value FROM json_each(?))")
        .bind(&words)
        .execute(connection)
        .await?;
    Ok(())
}

fn json(words: &Words) -> String {
    words.different().into_iter().collect::<Value>().to_string()
}
