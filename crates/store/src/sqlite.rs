use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cerebellum_core::StoreError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};

/// Marks a file as ours: "Crbl".
const APPLICATION: i64 = 0x4372_626c;
/// Each step takes a file from the version of its place to the next; steps are only ever added.
const STEPS: &[&str] = &[include_str!("sqlite/schema.sql")];
/// Readers beside the one writer.
const READERS: u32 = 4;
/// The pause before a change of the journal is tried again.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// How a store file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a write waits for another process that is writing; an error after that.
    pub busy_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { busy_wait: Duration::from_secs(5) }
    }
}

/// An open store file. Every write is on disk when it returns; a process that is killed leaves all of a write or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    path: PathBuf,
    /// One connection: writes of this process queue here and meet only those of other processes.
    pub(crate) writer: SqlitePool,
    pub(crate) readers: SqlitePool,
}

impl Database {
    /// Opens the file, or makes it with its folder. A file of another program is refused and left as it is.
    pub(crate) async fn open(path: &Path, settings: Settings) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|error| unavailable(format!("cannot make the folder {}: {error}", folder.display())))?;
        }
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .busy_timeout(settings.busy_wait)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .disable_statement_logging();
        let fault = |error: sqlx::Error| explain(path, &error);
        let mut connection = options.connect().await.map_err(fault)?;
        prepare(&mut connection, path, settings.busy_wait).await?;
        connection.close().await.map_err(fault)?;
        let patience = settings.busy_wait + Duration::from_secs(5);
        let pool = SqlitePoolOptions::new()
            .acquire_timeout(patience)
            .test_before_acquire(false)
            .idle_timeout(None)
            .max_lifetime(None);
        let writer = pool.clone().max_connections(1).connect_lazy_with(options.clone());
        let readers = pool.max_connections(READERS).connect_lazy_with(options.pragma("query_only", "1"));
        Ok(Self { path: path.to_owned(), writer, readers })
    }

    /// What an error of `SQLite` means for whoever keeps the file.
    pub(crate) fn fault(&self, error: &sqlx::Error) -> StoreError {
        explain(&self.path, error)
    }

    /// Closes all connections; what is being written ends first.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Checks that the file is ours and brings it to the newest version.
async fn prepare(connection: &mut SqliteConnection, path: &Path, busy_wait: Duration) -> Result<(), StoreError> {
    let fault = |error: sqlx::Error| explain(path, &error);
    check(connection, path).await?;
    let mut change = connection.begin_with("BEGIN IMMEDIATE").await.map_err(fault)?;
    // Another process may have made the file meanwhile.
    let done = check(&mut change, path).await?;
    for (index, step) in STEPS.iter().enumerate().skip(done) {
        sqlx::raw_sql(step).execute(&mut *change).await.map_err(fault)?;
        let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {};", index + 1);
        sqlx::raw_sql(&marks).execute(&mut *change).await.map_err(fault)?;
    }
    change.commit().await.map_err(fault)?;
    let started = Instant::now();
    loop {
        // Readers go on while somebody writes. The change of the journal itself does not wait for others, so this does.
        match sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut *connection).await {
            Ok(_) => return Ok(()),
            Err(error) if primary_code(&error) == Some(5) && started.elapsed() < busy_wait => {
                tokio::time::sleep(RETRY_AFTER).await;
            }
            Err(error) => return Err(fault(error)),
        }
    }
}

/// How many steps the file has behind it; 0 for an empty one.
async fn check(connection: &mut SqliteConnection, path: &Path) -> Result<usize, StoreError> {
    let read = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
                (SELECT count(*) FROM sqlite_schema)";
    let (application, version, tables): (i64, i64, i64) =
        sqlx::query_as(read).fetch_one(connection).await.map_err(|error| explain(path, &error))?;
    let shown = path.display();
    if application != APPLICATION && (application != 0 || version != 0 || tables != 0) {
        return Err(unavailable(format!("{shown} belongs to another program; name another file")));
    }
    let version = usize::try_from(version).unwrap_or(usize::MAX);
    if version > STEPS.len() {
        return Err(unavailable(format!(
            "{shown} was written by a newer version of this program (format {version}, this one knows {}); update it",
            STEPS.len()
        )));
    }
    Ok(version)
}

fn explain(path: &Path, error: &sqlx::Error) -> StoreError {
    let shown = path.display();
    unavailable(match (error, primary_code(error)) {
        (sqlx::Error::PoolTimedOut, _) | (_, Some(5 | 6)) => {
            format!(
                "{shown} is held by another process that is writing; call again, and look which process keeps it open"
            )
        }
        (_, Some(8)) => format!("{shown} cannot be written; look at the permissions of the file and its folder"),
        (_, Some(10)) => format!("{shown} cannot be read or written ({error}); look at the disk"),
        (_, Some(11)) => format!(
            "{shown} is damaged; stop the program, keep the file aside, and put back a copy or start without one"
        ),
        (_, Some(13)) => format!("there is no room left on the disk of {shown}; make room and call again"),
        (_, Some(14)) => format!("{shown} cannot be opened; look at the path and its permissions"),
        (_, Some(26)) => format!("{shown} is no store file (not SQLite); name another file"),
        _ => format!("{shown}: {error}"),
    })
}

/// `SQLite`'s result code without its refinement in the upper bits.
fn primary_code(error: &sqlx::Error) -> Option<u32> {
    let code: u32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

pub(crate) fn unavailable(reason: String) -> StoreError {
    StoreError::Unavailable { reason }
}
