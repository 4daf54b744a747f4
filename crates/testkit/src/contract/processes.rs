use cerebellum_core::{Process, ProcessStore, StoreError};

/// A store without processes: saves, versions, finds, lists, counts and forgets, and leaves nothing behind.
pub async fn check(store: &dyn ProcessStore) {
    assert_eq!(store.list(0, 10).await, Ok((Vec::new(), 0)), "the suite begins with no processes");
    assert_eq!(store.find("", 5).await, Ok(Vec::new()));
    assert_eq!(store.find("coffee", 5).await, Ok(Vec::new()));
    versions(store).await;
    finding(store).await;
    any_text(store).await;
    outcomes(store).await;
    listing(store).await;
    forgetting(store).await;
    assert_eq!(store.list(0, 10).await, Ok((Vec::new(), 0)), "the suite leaves nothing behind");
}

/// A process of the suite.
pub fn process(name: &str, description: &str) -> Process {
    Process {
        name: name.to_owned(),
        description: description.to_owned(),
        steps: vec!["go there".to_owned(), "say \"done\"".to_owned()],
        source: "contract".to_owned(),
        ..Process::default()
    }
}

async fn versions(store: &dyn ProcessStore) {
    let whole = Process {
        plan: Some("steps:\n  - {tool: stop}\n".to_owned()),
        when: Some("someone is thirsty".to_owned()),
        tags: vec!["drinks".to_owned(), "küche".to_owned()],
        ..process("Make_Coffee", "Brews a cup of coffee.")
    };
    let first = store.save(whole.clone()).await.expect("a process is saved");
    assert_eq!((first.version, first.successes, first.failures), (1, 0, 0));
    assert_eq!(first.process, Process { name: "make coffee".to_owned(), ..whole.clone() }, "the name is folded");
    assert!(!first.id.is_empty() && !first.saved.is_zero());

    let again = Process { name: " make  coffee ".to_owned(), source: "somebody else".to_owned(), ..whole.clone() };
    assert_eq!(store.save(again).await.as_ref(), Ok(&first), "equal content makes no new version");

    let better = Process { steps: vec!["press the button".to_owned()], source: "other".to_owned(), ..whole };
    let second = store.save(better).await.expect("a version is saved");
    assert_eq!((second.id.as_str(), second.version), (first.id.as_str(), 2), "the id stays, the version counts up");
    assert_eq!((second.process.steps.len(), second.process.source.as_str()), (1, "other"));
    assert_eq!(store.list(0, 10).await, Ok((vec![second], 1)), "only the newest version is listed");
}

async fn finding(store: &dyn ProcessStore) {
    for (name, description) in [
        ("water the plants", "Gives water to each plant of the living room."),
        ("clear the table", "Brings cups and plates from the table to the sink."),
    ] {
        store.save(process(name, description)).await.expect("a process is saved");
    }
    for (query, expected) in [
        ("make coffee", "make coffee"),
        ("COFFEE!", "make coffee"),
        ("please brew coffee for someone thirsty", "make coffee"),
        ("küche", "make coffee"),
        ("press button", "make coffee"),
        ("water plants", "water the plants"),
        ("bring plates to the sink", "clear the table"),
        ("Clear_the Table", "clear the table"),
    ] {
        let found = store.find(query, 5).await.expect("the store answers");
        assert_eq!(found.first().map(|one| one.stored.process.name.as_str()), Some(expected), "{query:?}");
        assert!(found.iter().all(|one| one.score > 0.0 && one.score <= 1.0), "{query:?}: {found:?}");
        assert!(found.is_sorted_by(|a, b| a.score >= b.score), "{query:?}: best first");
    }
    let words_of_the_first_version = store.find("done", 5).await.expect("the store answers");
    let names: Vec<&str> = words_of_the_first_version.iter().map(|one| one.stored.process.name.as_str()).collect();
    assert!(!names.contains(&"make coffee"), "only the newest version is searched, {names:?}");
    assert_eq!(store.find("", 2).await.map(|found| found.len()), Ok(2));
    assert_eq!(store.find("table coffee water", 1).await.map(|found| found.len()), Ok(1));
    assert_eq!(store.find("coffee", 0).await, Ok(Vec::new()));
    assert_eq!(store.find("zzyzx", 5).await, Ok(Vec::new()), "nothing has that word");
}

/// A query is a text, whatever it looks like.
async fn any_text(store: &dyn ProcessStore) {
    for query in [
        "\"",
        "'",
        "\"coffee",
        "coffee\"\"",
        "coffee OR",
        "AND",
        "NOT coffee",
        "NEAR(coffee, 2)",
        "name:coffee",
        "coff*",
        "{name} : coffee",
        "^coffee",
        "-coffee",
        "coffee + tea",
        "(coffee",
        "*",
        "%",
        "_",
        "\\",
        ";",
        "--",
        "\0coffee\0",
        "'; DROP TABLE process; --",
        "☕🤖",
        "泡咖啡",
        "\u{202e}coffee",
        "$1 ?1 :a @b",
        "[coffee]",
        "c o f f e e",
    ] {
        store.find(query, 5).await.unwrap_or_else(|error| panic!("{query:?}: {error}"));
    }
    for query in ["x".repeat(100_000), "coffee ".repeat(15_000), "\"".repeat(100_000), "(a OR ".repeat(17_000)] {
        store.find(&query, 5).await.unwrap_or_else(|error| panic!("a long query: {error}"));
    }
    let many: Vec<String> = (0..20_000).map(|number| format!("w{number}")).collect();
    store.find(&many.join(" "), 5).await.expect("a query of many words is answered");
    let found = store.find("NOT coffee", 5).await.expect("the store answers");
    assert_eq!(found[0].stored.process.name, "make coffee", "NOT is a word like others");
}

async fn outcomes(store: &dyn ProcessStore) {
    let first = store.save(process("fold towels one", "Folds towels.")).await.expect("a process is saved");
    let second = store.save(process("fold towels two", "Folds towels.")).await.expect("a process is saved");
    for (id, worked) in [(&first.id, false), (&second.id, true), (&second.id, true), (&first.id, false)] {
        store.record(id, worked, Some("a \"note\"")).await.expect("an outcome is counted");
    }
    let counted = store.record("Fold_Towels two", false, None).await.expect("a name does as well");
    assert_eq!((counted.id.as_str(), counted.successes, counted.failures), (second.id.as_str(), 2, 1));
    let found = store.find("fold towels", 5).await.expect("the store answers");
    assert_eq!(found[0].stored, counted, "of equal matches the one that worked more often comes first");
    let best = store.find("  ", 1).await.expect("the store answers");
    assert_eq!(best[0].stored, counted, "an empty query lists the most successful");
    let newer = store.save(process("fold towels two", "Folds towels in three.")).await.expect("a version is saved");
    assert_eq!((newer.version, newer.successes, newer.failures), (2, 2, 1), "outcomes stay over versions");
    unknown(&store.record("fold", true, None).await, "fold");
}

async fn listing(store: &dyn ProcessStore) {
    let (all, total) = store.list(0, 100).await.expect("the store answers");
    let names: Vec<&str> = all.iter().map(|one| one.process.name.as_str()).collect();
    let sorted = ["clear the table", "fold towels one", "fold towels two", "make coffee", "water the plants"];
    assert_eq!((names.as_slice(), total), (&sorted[..], 5), "all by name");
    assert_eq!(store.list(3, 1).await, Ok((vec![all[3].clone()], 5)), "a part says how many there are");
    assert_eq!(store.list(5, 10).await, Ok((Vec::new(), 5)));
}

async fn forgetting(store: &dyn ProcessStore) {
    let (all, _) = store.list(0, 100).await.expect("the store answers");
    unknown(&store.forget("make").await, "make");
    assert_eq!(store.forget(&all[0].id).await.as_ref(), Ok(&all[0]), "by id");
    assert_eq!(store.forget("MAKE coffee").await.as_ref(), Ok(&all[3]), "by name");
    unknown(&store.forget(&all[3].id).await, &all[3].id);
    assert_eq!(store.find("coffee", 5).await, Ok(Vec::new()), "what is forgotten is not found");
    let anew = store.save(process("make coffee", "Brews.")).await.expect("a process is saved");
    assert_eq!((anew.version, anew.successes), (1, 0), "a forgotten name begins anew");
    assert_ne!(anew.id, all[3].id, "and is another process");
    for stored in [&anew, &all[1], &all[2], &all[4]] {
        store.forget(&stored.id).await.expect("it is there");
    }
}

fn unknown<T: std::fmt::Debug>(answer: &Result<T, StoreError>, id: &str) {
    let Err(StoreError::Unknown { id: named }) = answer else { panic!("{id} is unknown, got {answer:?}") };
    assert_eq!(named, id);
}
