use serde_json::json;

use crate::program::{Place, Session, free_port};

const TEMPLATE: &str = r#"{"name": "find_cups", "description": "Finds cups.", "params": [],
    "skill": {"mode": "ground_and_segment", "grounding": "cup", "segment": true, "outputs": []}}"#;

#[tokio::test]
async fn what_was_taught_outlives_a_server_that_is_killed_and_proves_good_before_it_is_exported() {
    let place = Place::new();
    let port = free_port().to_string();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let serve = ["memory", "--transport", "http", "--port", &port];

    let first = place.start("memory", &serve, &[]);
    let session = Session::open(&url).await;
    let steps = json!({"name": "Make tea", "description": "Boils water and pours it.", "steps": ["boil", "pour"]});
    let saved = session.call("save_process", steps).await;
    assert_eq!((&saved["ok"], &saved["version"]), (&json!(true), &json!(1)), "{saved}");
    let skill = json!({"name": "look for cups", "description": "A skill.", "plan": TEMPLATE, "tags": ["skill"]});
    let skill = session.call("save_process", skill).await;
    assert_eq!(skill["ok"], true, "{skill}");
    // Dropping it kills it.
    drop((session, first));

    let _second = place.start("memory", &serve, &[]);
    let session = Session::open(&url).await;
    let found = session.call("find_processes", json!({"query": "tea"})).await;
    assert_eq!(found["processes"][0]["id"], saved["id"], "{found}");
    assert_eq!(found["processes"][0]["steps"], json!(["boil", "pour"]));

    let folder = place.path().join("skills");
    let export = ["memory", "export-skills", folder.to_str().unwrap()];
    let output = place.run(&export);
    assert!(!folder.join("find_cups.yaml").exists(), "nobody used it yet: {output:?}");
    let recorded = session.call("record_outcome", json!({"id": skill["id"], "ok": true})).await;
    assert_eq!(recorded["ok"], true, "{recorded}");
    let output = place.run(&export);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(folder.join("find_cups.yaml")).unwrap();
    assert!(text.contains("find_cups"), "{text}");
    let again = place.run(&export);
    assert_eq!(again.status.code(), Some(1), "what is there is not overwritten: {again:?}");
}

#[tokio::test]
async fn a_file_of_another_program_is_bad_usage_and_stays_as_it_is() {
    let place = Place::new();
    let file = place.path().join("notes.txt");
    std::fs::write(&file, "not a database, and somebody's").unwrap();
    let mut memory = place.start(
        "memory",
        &["memory", "--transport", "http", "--port", "0"],
        &[("MEMORY_FILE", file.to_str().unwrap())],
    );
    assert_eq!(memory.ended().await, Some(64));
    assert!(memory.log().contains("MEMORY_FILE"), "{}", memory.log());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not a database, and somebody's");
}
