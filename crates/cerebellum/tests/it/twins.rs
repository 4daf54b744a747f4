use serde_json::json;

use crate::program::{Place, Session, free_port, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_vision_node_of_one_name_does_not_start_and_says_what_to_set() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let endpoint = format!("tcp/127.0.0.1:{}", free_port());
    let variables = [("CEREBELLUM_ZENOH_ENDPOINT", endpoint.as_str())];
    let mut first = place.start("first", &["vision-node", "--robot", "sim"], &variables);
    let port = free_port().to_string();
    let _skills = place.start("skills", &["skill-control", "--transport", "http", "--port", &port], &variables);
    let skills = Session::open(&format!("http://127.0.0.1:{port}/mcp")).await;
    skills.call_until("list_running_skills", json!({}), |answer| answer["ok"] == json!(true)).await;

    let mut second = elsewhere.start("second", &["vision-node", "--robot", "sim"], &variables);
    assert_eq!(second.ended().await, Some(64), "{}", second.log());
    let said = second.log();
    assert!(said.contains("/vision_node") && said.contains("VISION_NODE_NAME"), "{said}");
    assert!(first.child.try_wait().unwrap().is_none(), "the first goes on:\n{}", first.log());

    let named = [variables[0], ("VISION_NODE_NAME", "other_node")];
    let third = elsewhere.start("third", &["vision-node", "--robot", "sim"], &named);
    until("the node of another name serves", || third.log().contains("vision services are offered").then_some(()))
        .await;
}
