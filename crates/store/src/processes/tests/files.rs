use std::fs;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection};

use super::*;

async fn refused(path: &Path, expected: &str) {
    let before = fs::read(path).ok();
    let error = open(path).await.err().expect("the file is refused").to_string();
    assert!(error.contains(expected) && error.contains(&path.display().to_string()), "{error}");
    assert_eq!(fs::read(path).ok(), before, "what is refused stays as it is");
}

async fn sqlite(path: &Path, statements: &str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    sqlx::raw_sql(statements).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn files_that_are_not_ours_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "buy milk, ".repeat(200)).unwrap();
    refused(&text, "is no store file").await;
    let other = folder.path().join("other.db");
    sqlite(&other, "CREATE TABLE bookmark (url TEXT)").await;
    refused(&other, "belongs to another program").await;
    refused(folder.path(), "cannot be opened").await;
    let error = open(&text.join("inside.db")).await.err().expect("a file is no folder").to_string();
    assert!(error.contains("cannot make the folder") && error.contains("notes.txt"), "{error}");
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused() {
    let rig = Rig::new().await;
    rig.store.close().await;
    sqlite(&rig.file(), "PRAGMA user_version = 7").await;
    refused(&rig.file(), "was written by a newer version of this program (format 7, this one knows 1)").await;
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.db");
    fs::write(&path, "").unwrap();
    contract::check(&open(&path).await.unwrap()).await;
}

#[tokio::test]
async fn a_damaged_file_is_said_to_be_damaged() {
    let rig = Rig::new().await;
    let many = (0..300).map(|number| process(&format!("errand {number}"), "Fetches the post.")).collect();
    rig.store.save_all(many).await.unwrap();
    rig.store.close().await;
    let mut bytes = fs::read(rig.file()).unwrap();
    let length = bytes.len();
    bytes[4_096..length].fill(0xa5);
    fs::write(rig.file(), bytes).unwrap();
    let error = match open(&rig.file()).await {
        Ok(store) => store.list(0, 500).await.unwrap_err(),
        Err(error) => error,
    };
    assert!(error.to_string().contains("processes.db is damaged"), "{error}");
}

#[tokio::test]
async fn a_file_that_another_process_is_writing_can_be_read_and_says_so_when_it_cannot_be_written() {
    let rig = Rig::new().await;
    rig.store.save(process("make tea", "Brews.")).await.unwrap();
    let impatient = open_with(&rig.file(), Settings { busy_wait: Duration::from_millis(20) }).await.unwrap();
    let mut held = rig.store.database.writer.begin_with("BEGIN IMMEDIATE").await.unwrap();
    sqlx::raw_sql("UPDATE process SET merit = merit").execute(&mut *held).await.unwrap();
    let error = impatient.save(process("make coffee", "Brews.")).await.unwrap_err().to_string();
    assert!(error.contains("is held by another process that is writing"), "{error}");
    assert_eq!(impatient.find("tea", 5).await.unwrap().len(), 1, "reading goes on");
    held.rollback().await.unwrap();
    impatient.save(process("make coffee", "Brews.")).await.expect("the file is free again");
}

#[tokio::test]
async fn a_store_that_was_dropped_without_closing_has_everything() {
    let rig = Rig::new().await;
    rig.store.save(process("make tea", "Brews.")).await.unwrap();
    let Rig { folder, store } = rig;
    drop(store);
    let again = open(&folder.path().join("memory/processes.db")).await.unwrap();
    assert_eq!(again.find("tea", 5).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_write_whose_caller_goes_away_leaves_nothing_behind() {
    let rig = Rig::new().await;
    let many: Vec<Process> = (0..5_000).map(|number| process(&format!("errand {number}"), "Fetches.")).collect();
    let ended = tokio::time::timeout(Duration::from_millis(50), rig.store.save_all(many)).await;
    assert!(ended.is_err(), "five thousand processes take longer than that");
    assert_eq!(rig.store.list(0, 1).await.unwrap().1, 0);
    rig.store.save(process("make tea", "Brews.")).await.expect("the next write works");
}
