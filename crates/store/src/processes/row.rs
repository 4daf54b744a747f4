use std::fmt::Write as _;

use cerebellum_core::{Process, Stamp, StoredProcess};
use sqlx::sqlite::{SqlitePool, SqliteRow};
use sqlx::{FromRow, Row as _, SqliteExecutor};

/// A process with its newest version.
const READ: &str = "SELECT p.key, p.id, p.name, p.version, p.successes, p.failures, p.merit, v.saved_ns, v.source, \
                    v.description, v.steps, v.tags, v.plan, v.when_to_use \
                    FROM process p JOIN version v ON v.process = p.key AND v.version = p.version";

/// A process as it is kept, with its place in the file.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) key: i64,
    pub(super) merit: f64,
    pub(super) stored: StoredProcess,
}

impl FromRow<'_, SqliteRow> for Row {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        let process = Process {
            name: row.try_get("name")?,
            description: row.try_get("description")?,
            steps: texts(row, "steps")?,
            plan: row.try_get("plan")?,
            when: row.try_get("when_to_use")?,
            tags: texts(row, "tags")?,
            source: row.try_get("source")?,
        };
        let stored = StoredProcess {
            id: row.try_get("id")?,
            version: row.try_get("version")?,
            process,
            successes: row.try_get("successes")?,
            failures: row.try_get("failures")?,
            saved: Stamp::from_nanos(row.try_get("saved_ns")?),
        };
        Ok(Self { key: row.try_get("key")?, merit: row.try_get("merit")?, stored })
    }
}

/// The process whose `id` or `name` is this.
pub(super) async fn one(
    from: impl SqliteExecutor<'_>,
    column: &'static str,
    value: &str,
) -> Result<Option<Row>, sqlx::Error> {
    sqlx::query_as(&format!("{READ} WHERE p.{column} = ?")).bind(value).fetch_optional(from).await
}

/// The processes of these keys, in the order of the keys.
pub(super) async fn of_keys(from: &SqlitePool, keys: &[i64]) -> Result<Vec<Row>, sqlx::Error> {
    let places = numbers(keys);
    let mut rows: Vec<Row> = sqlx::query_as(&format!("{READ} WHERE p.key IN ({places})")).fetch_all(from).await?;
    rows.sort_by_key(|row| keys.iter().position(|key| *key == row.key));
    Ok(rows)
}

/// The processes that work best.
pub(super) async fn best(from: &SqlitePool, limit: usize) -> Result<Vec<Row>, sqlx::Error> {
    let read = format!("{READ} ORDER BY p.merit DESC, p.name LIMIT ?");
    sqlx::query_as(&read).bind(signed(limit)).fetch_all(from).await
}

/// A part of all processes by name, and how many there are.
pub(super) async fn page(
    from: &SqlitePool,
    skip: usize,
    limit: usize,
) -> Result<(Vec<StoredProcess>, usize), sqlx::Error> {
    let read = format!("{READ} ORDER BY p.name LIMIT ? OFFSET ?");
    let mut view = from.begin().await?;
    let rows: Vec<Row> = sqlx::query_as(&read).bind(signed(limit)).bind(signed(skip)).fetch_all(&mut *view).await?;
    let (total,): (i64,) = sqlx::query_as("SELECT count(*) FROM process").fetch_one(&mut *view).await?;
    Ok((rows.into_iter().map(|row| row.stored).collect(), usize::try_from(total).unwrap_or(0)))
}

/// Numbers with commas between, for a list in a query.
pub(super) fn numbers(keys: &[i64]) -> String {
    let mut list = String::new();
    for (index, key) in keys.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _always_fits = write!(list, "{comma}{key}");
    }
    list
}

/// A count as `SQLite` takes it.
pub(super) fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn texts(row: &SqliteRow, column: &str) -> Result<Vec<String>, sqlx::Error> {
    let text: &str = row.try_get(column)?;
    serde_json::from_str(text)
        .map_err(|source| sqlx::Error::ColumnDecode { index: column.to_owned(), source: Box::new(source) })
}
