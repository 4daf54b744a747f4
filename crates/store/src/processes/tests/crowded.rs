use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use super::*;

/// Tells the helper below which file to write; without it, it does nothing.
const FILE: &str = "CEREBELLUM_STORE_TEST_FILE";
/// Says which of the writers it is.
const WRITER: &str = "CEREBELLUM_STORE_TEST_WRITER";
/// How many processes a writer saves.
const SAVES: usize = 60;
/// The writer that writes until it is killed.
const VICTIM: &str = "victim";
const PATIENCE: Duration = Duration::from_secs(60);

/// The body of the writers that the other tests start: this test program again, as a process of its own.
#[tokio::test]
async fn writes_when_another_test_asks_for_it() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let writer = std::env::var(WRITER).unwrap();
    let store = open(Path::new(&file)).await.unwrap();
    // The victim is still writing when it is killed.
    let saves = if writer == VICTIM { usize::MAX } else { SAVES };
    for number in 0..saves {
        let name = format!("errand {writer} {number}");
        store.save(process(&name, "Fetches the post.")).await.unwrap();
        store.save(process("shared", &format!("Said by {writer} as number {number}."))).await.unwrap();
        store.record("shared", number % 2 == 0, None).await.unwrap();
        println!("saved {name}");
    }
}

fn start(file: &Path, writer: &str) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["processes::tests::crowded::writes_when_another_test_asks_for_it", "--exact", "--nocapture"])
        .env(FILE, file)
        .env(WRITER, writer)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// The names that the writer has saved for certain, up to so many.
async fn saved(lines: &mut Lines<BufReader<ChildStdout>>, count: usize) -> Vec<String> {
    let mut names = Vec::new();
    while names.len() < count
        && let Some(line) = tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("the writer writes").unwrap()
    {
        names.extend(line.split_once("saved ").map(|(_, name)| name.to_owned()));
    }
    names
}

async fn sound(rig: &Rig) {
    let (verdict,): (String,) =
        sqlx::query_as("PRAGMA integrity_check").fetch_one(&rig.store.database.readers).await.unwrap();
    assert_eq!(verdict, "ok");
    let check = "INSERT INTO words (words) VALUES ('integrity-check')";
    sqlx::raw_sql(check).execute(&rig.store.database.writer).await.expect("the index is sound");
}

#[tokio::test]
async fn two_processes_that_write_at_once_lose_nothing() {
    let rig = Rig::new().await;
    let mut writers = [start(&rig.file(), "a"), start(&rig.file(), "b")];
    for (child, lines) in &mut writers {
        assert_eq!(saved(lines, SAVES).await.len(), SAVES);
        assert!(tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap().success());
    }
    let (all, total) = rig.store.list(0, 500).await.unwrap();
    assert_eq!((all.len(), total), (2 * SAVES + 1, 2 * SAVES + 1));
    let shared = all.iter().find(|one| one.process.name == "shared").unwrap();
    assert_eq!((shared.version as usize, shared.successes as usize), (2 * SAVES, SAVES), "each write counted once");
    assert_eq!(rig.count("SELECT count(*) FROM version").await, 4 * i64::try_from(SAVES).unwrap());
    sound(&rig).await;
}

#[tokio::test]
async fn two_processes_that_make_the_file_at_once_both_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/processes.db");
    let mut writers = [start(&file, "a"), start(&file, "b"), start(&file, "c")];
    for (child, lines) in &mut writers {
        assert_eq!(saved(lines, SAVES).await.len(), SAVES);
        assert!(tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap().success());
    }
    assert_eq!(open(&file).await.unwrap().list(0, 1).await.unwrap().1, 3 * SAVES + 1);
}

#[tokio::test]
async fn what_was_saved_survives_a_kill_in_mid_write() {
    for round in 0..3 {
        let rig = Rig::new().await;
        let (mut child, mut lines) = start(&rig.file(), VICTIM);
        let names = saved(&mut lines, 10 + 7 * round).await;
        child.kill().await.unwrap();
        let survivor = Rig { store: open(&rig.file()).await.unwrap(), folder: rig.folder };
        for name in &names {
            assert_eq!(survivor.names(name).await.first(), Some(name));
        }
        sound(&survivor).await;
    }
}
