use std::path::PathBuf;

use cerebellum_core::Stamp;
use cerebellum_testkit::FakeClock;
use cerebellum_testkit::contract::processes::{self as contract, process};

use super::*;

mod crowded;
mod files;

/// A store in a folder that goes with it.
struct Rig {
    folder: tempfile::TempDir,
    store: SqliteProcesses,
}

impl Rig {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&folder.path().join("memory/processes.db")).await.unwrap();
        Self { folder, store }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("memory/processes.db")
    }

    async fn names(&self, query: &str) -> Vec<String> {
        let found = self.store.find(query, 5).await.unwrap();
        found.into_iter().map(|one| one.stored.process.name).collect()
    }

    async fn count(&self, read: &str) -> i64 {
        let (count,): (i64,) = sqlx::query_as(read).fetch_one(&self.store.database.readers).await.unwrap();
        count
    }
}

async fn open(path: &Path) -> Result<SqliteProcesses, StoreError> {
    open_with(path, Settings::default()).await
}

async fn open_with(path: &Path, settings: Settings) -> Result<SqliteProcesses, StoreError> {
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(1_750_000_000.0)));
    SqliteProcesses::open(path, settings, clock).await
}

#[tokio::test]
async fn the_store_keeps_the_contract() {
    let rig = Rig::new().await;
    contract::check(&rig.store).await;
}

#[tokio::test]
async fn the_store_keeps_the_contract_when_opened_anew() {
    let rig = Rig::new().await;
    rig.store.save(process("make tea", "Brews.")).await.unwrap();
    rig.store.close().await;
    let store = open(&rig.file()).await.unwrap();
    assert_eq!(store.find("tea", 5).await.unwrap().len(), 1);
    store.forget("make tea").await.unwrap();
    contract::check(&store).await;
}

#[tokio::test]
async fn every_version_and_outcome_stays_until_the_process_is_forgotten() {
    let rig = Rig::new().await;
    let first = rig.store.save(process("make tea", "Brews.")).await.unwrap();
    rig.store.record(&first.id, false, Some("the cup was hot")).await.unwrap();
    rig.store.save(process("make tea", "Brews with care.")).await.unwrap();
    rig.store.record(&first.id, true, None).await.unwrap();
    let outcomes: Vec<(i64, bool, Option<String>)> =
        sqlx::query_as("SELECT version, worked, note FROM outcome ORDER BY key")
            .fetch_all(&rig.store.database.readers)
            .await
            .unwrap();
    assert_eq!(outcomes, [(1, false, Some("the cup was hot".to_owned())), (2, true, None)]);
    assert_eq!(rig.count("SELECT count(*) FROM version").await, 2);
    rig.store.forget(&first.id).await.unwrap();
    for table in ["process", "version", "outcome", "vocabulary", "words"] {
        assert_eq!(rig.count(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
}

#[tokio::test]
async fn the_vocabulary_counts_the_newest_versions() {
    let rig = Rig::new().await;
    let count = "SELECT coalesce(sum(processes), 0) FROM vocabulary WHERE word = 'brew'";
    rig.store.save(process("make tea", "Brew and brew.")).await.unwrap();
    rig.store.save(process("make coffee", "Brews.")).await.unwrap();
    assert_eq!(rig.count(count).await, 2);
    rig.store.save(process("make tea", "Steeps.")).await.unwrap();
    assert_eq!(rig.count(count).await, 1);
}

#[tokio::test]
async fn a_beginning_of_a_word_finds_it() {
    let rig = Rig::new().await;
    rig.store.save(process("make coffee", "Brews.")).await.unwrap();
    rig.store.save(process("泡咖啡", "用咖啡机")).await.unwrap();
    assert_eq!(rig.names("coff").await, ["make coffee"]);
    assert_eq!(rig.names("co").await, Vec::<String>::new(), "two letters are too few");
    assert_eq!(rig.names("咖啡").await, ["泡咖啡"]);
}

#[tokio::test]
async fn words_that_everything_has_still_find_the_best() {
    let rig = Rig::new().await;
    let mut all: Vec<Process> = (0..3_000)
        .map(|number| process(&format!("errand {number}"), "Goes to the kitchen and wipes the table there."))
        .collect();
    all.push(process("wipe kitchen table", "Wipes."));
    all.push(process("table", "Lays it for two in the kitchen."));
    rig.store.save_all(all).await.unwrap();
    rig.store.record("errand 7", true, None).await.unwrap();
    assert_eq!(rig.names("wipe the table in the kitchen").await[0], "wipe kitchen table");
    assert_eq!(rig.names("table").await[0], "table");
    assert_eq!(rig.names("goes there").await[0], "errand 7", "of equal matches the one that worked");
    assert_eq!(rig.names("kitchen errand 2999").await[0], "errand 2999");
}

#[tokio::test]
async fn many_are_saved_together_or_not_at_all() {
    let rig = Rig::new().await;
    let limit = "PRAGMA max_page_count = 40";
    sqlx::raw_sql(limit).execute(&rig.store.database.writer).await.unwrap();
    let many = (0..500).map(|number| process(&format!("errand {number}"), &"word ".repeat(200))).collect();
    let full = rig.store.save_all(many).await.unwrap_err().to_string();
    assert!(full.contains("no room left on the disk") && full.contains("processes.db"), "{full}");
    assert_eq!(rig.store.list(0, 1).await.unwrap().1, 0);
    let more = "PRAGMA max_page_count = 100000";
    sqlx::raw_sql(more).execute(&rig.store.database.writer).await.unwrap();
    rig.store.save(process("make tea", "Brews.")).await.expect("it goes on once there is room");
}
