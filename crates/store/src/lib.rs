//! What outlives the program, in `SQLite`: learned processes.
//!
//! Each store implements a port of `cerebellum-core`; nothing of `SQLite` shows in it, so that another database can take its
//! place. A store file may be used by several processes at once.
#![warn(missing_docs)]

mod processes;
mod sqlite;
mod words;

pub use processes::SqliteProcesses;
pub use sqlite::Settings;
