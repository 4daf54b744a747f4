use cerebellum_core::name::folded;
use cerebellum_core::{Process, Stamp, StoredProcess};
use serde_json::Value;
use sqlx::SqliteConnection;

use super::row::Row;
use super::{WriteError, by_id_or_name, index, row};

pub(super) async fn save(
    connection: &mut SqliteConnection,
    mut process: Process,
    now: Stamp,
) -> Result<StoredProcess, WriteError> {
    process.name = folded(&process.name);
    let Some(known) = row::one(&mut *connection, "name", &process.name).await? else {
        return first(connection, process, now).await;
    };
    if known.stored.process.says_the_same_as(&process) {
        return Ok(known.stored);
    }
    let Row { key, stored, .. } = known;
    index::remove(connection, key, &stored.process).await?;
    let stored = StoredProcess { version: stored.version + 1, process, saved: now, ..stored };
    add_version(connection, key, &stored).await?;
    let update = sqlx::query("UPDATE process SET version = ? WHERE key = ?");
    update.bind(stored.version).bind(key).execute(connection).await?;
    Ok(stored)
}

async fn first(connection: &mut SqliteConnection, process: Process, now: Stamp) -> Result<StoredProcess, WriteError> {
    let (key, id): (i64, String) = sqlx::query_as(
        "INSERT INTO process (id, name, version) VALUES ('proc_' || lower(hex(randomblob(6))), ?, 1) RETURNING key, id",
    )
    .bind(&process.name)
    .fetch_one(&mut *connection)
    .await?;
    let stored = StoredProcess { id, version: 1, process, successes: 0, failures: 0, saved: now };
    add_version(connection, key, &stored).await?;
    Ok(stored)
}

async fn add_version(connection: &mut SqliteConnection, key: i64, stored: &StoredProcess) -> Result<(), sqlx::Error> {
    let process = &stored.process;
    sqlx::query(
        "INSERT INTO version (process, version, saved_ns, source, description, steps, tags, plan, when_to_use) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(key)
    .bind(stored.version)
    .bind(stored.saved.nanos())
    .bind(&process.source)
    .bind(&process.description)
    .bind(json(&process.steps))
    .bind(json(&process.tags))
    .bind(&process.plan)
    .bind(&process.when)
    .execute(&mut *connection)
    .await?;
    index::add(connection, key, process).await
}

pub(super) async fn forget(connection: &mut SqliteConnection, id: &str) -> Result<StoredProcess, WriteError> {
    let Row { key, stored, .. } = by_id_or_name(connection, id).await?;
    index::remove(connection, key, &stored.process).await?;
    sqlx::query("DELETE FROM process WHERE key = ?").bind(key).execute(connection).await?;
    Ok(stored)
}

pub(super) async fn record(
    connection: &mut SqliteConnection,
    id: &str,
    worked: bool,
    note: Option<&str>,
    now: Stamp,
) -> Result<StoredProcess, WriteError> {
    let Row { key, mut stored, .. } = by_id_or_name(connection, id).await?;
    if worked {
        stored.successes = stored.successes.saturating_add(1);
    } else {
        stored.failures = stored.failures.saturating_add(1);
    }
    sqlx::query("INSERT INTO outcome (process, version, worked, note, recorded_ns) VALUES (?, ?, ?, ?, ?)")
        .bind(key)
        .bind(stored.version)
        .bind(worked)
        .bind(note)
        .bind(now.nanos())
        .execute(&mut *connection)
        .await?;
    sqlx::query(
        "UPDATE process SET successes = ?1, failures = ?2, merit = (?1 + 1.0) / (?1 + ?2 + 2.0) WHERE key = ?3",
    )
    .bind(stored.successes)
    .bind(stored.failures)
    .bind(key)
    .execute(connection)
    .await?;
    Ok(stored)
}

fn json(texts: &[String]) -> String {
    texts.iter().map(String::as_str).collect::<Value>().to_string()
}
