use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use cerebellum_core::name::folded;
use cerebellum_core::{Process, ProcessStore, RankedProcess, StoreError, StoredProcess, WallClock};
use sqlx::{Connection, SqliteConnection};

use self::row::Row;
use crate::sqlite::{Database, Settings};

mod find;
mod index;
mod rank;
mod row;
mod write;

/// Learned processes in a `SQLite` file, which several processes of the host may use at once.
///
/// Searching looks at a bounded number of candidates, however many processes there are and whatever the query says.
#[derive(Clone)]
pub struct SqliteProcesses {
    database: Database,
    wall: Arc<dyn WallClock>,
}

impl SqliteProcesses {
    /// Opens the store file, or makes it with its folder. Versions and outcomes are stamped with `wall`.
    ///
    /// A file of another program, of a newer version of this one, or that is damaged is an error that says so, and the file
    /// stays as it is.
    pub async fn open(path: &Path, settings: Settings, wall: Arc<dyn WallClock>) -> Result<Self, StoreError> {
        Ok(Self { database: Database::open(path, settings).await?, wall })
    }

    /// Saves many processes in one write: all or none. Others who write wait meanwhile.
    pub async fn save_all(&self, processes: Vec<Process>) -> Result<Vec<StoredProcess>, StoreError> {
        self.write(async |connection| {
            let mut saved = Vec::with_capacity(processes.len());
            for process in processes {
                saved.push(write::save(connection, process, self.wall.now()).await?);
            }
            Ok(saved)
        })
        .await
    }

    /// Closes the file; what is being written ends first. Without it nothing is lost, the next opening has more to do.
    pub async fn close(&self) {
        self.database.close().await;
    }

    /// Runs one write: all of it is on disk when it returns, or nothing when it fails or is dropped.
    async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        let fault = |error: sqlx::Error| self.database.fault(&error);
        let mut connection = self.database.writer.acquire().await.map_err(fault)?;
        let mut change = connection.begin_with("BEGIN IMMEDIATE").await.map_err(fault)?;
        let ended = match work(&mut change).await {
            Ok(done) => change.commit().await.map(|()| done).map_err(WriteError::Sqlite),
            Err(error) => {
                drop(change);
                Err(error)
            }
        };
        match ended {
            Ok(done) => Ok(done),
            Err(WriteError::Unknown { id }) => Err(StoreError::Unknown { id }),
            Err(WriteError::Sqlite(error)) => {
                // On some errors, such as a full disk, SQLite undoes the write by itself, and the connection would count it
                // as open for ever.
                drop(connection.detach());
                Err(fault(error))
            }
        }
    }
}

/// Why a write was not done.
enum WriteError {
    Unknown { id: String },
    Sqlite(sqlx::Error),
}

impl From<sqlx::Error> for WriteError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sqlite(error)
    }
}

#[async_trait]
impl ProcessStore for SqliteProcesses {
    async fn save(&self, process: Process) -> Result<StoredProcess, StoreError> {
        let now = self.wall.now();
        self.write(async |connection| write::save(connection, process, now).await).await
    }

    async fn find(&self, query: &str, limit: usize) -> Result<Vec<RankedProcess>, StoreError> {
        find::find(&self.database.readers, query, limit).await.map_err(|error| self.database.fault(&error))
    }

    async fn list(&self, skip: usize, limit: usize) -> Result<(Vec<StoredProcess>, usize), StoreError> {
        row::page(&self.database.readers, skip, limit).await.map_err(|error| self.database.fault(&error))
    }

    async fn forget(&self, id: &str) -> Result<StoredProcess, StoreError> {
        self.write(async |connection| write::forget(connection, id).await).await
    }

    async fn record(&self, id: &str, worked: bool, note: Option<&str>) -> Result<StoredProcess, StoreError> {
        let now = self.wall.now();
        self.write(async |connection| write::record(connection, id, worked, note, now).await).await
    }
}

/// The process of that id, or of that name when no id is the same.
async fn by_id_or_name(connection: &mut SqliteConnection, id: &str) -> Result<Row, WriteError> {
    if let Some(row) = row::one(&mut *connection, "id", id).await? {
        return Ok(row);
    }
    let named = row::one(connection, "name", &folded(id)).await?;
    named.ok_or_else(|| WriteError::Unknown { id: id.to_owned() })
}

#[cfg(test)]
mod tests;
