use serde_json::json;

use crate::program::{Place, Session, free_port};

#[tokio::test(flavor = "multi_thread")]
async fn a_vision_node_looks_through_the_camera_of_a_robot_in_another_process() {
    let place = Place::new();
    let endpoint = format!("tcp/127.0.0.1:{}", free_port());
    let ours = [("CEREBELLUM_ZENOH_ENDPOINT", endpoint.as_str())];
    let beside_a_robot = [ours[0], ("CEREBELLUM_DEPLOYMENT", "robot")];
    let sim = place.start("sim", &["sim", "--control-port", "0"], &ours);
    let node = place.start("vision-node", &["vision-node"], &beside_a_robot);
    let (skills_port, perception_port) = (free_port().to_string(), free_port().to_string());
    let _servers = [
        place.start("skills", &["skill-control", "--transport", "http", "--port", &skills_port], &ours),
        place.start("perception", &["perception-buffer", "--transport", "http", "--port", &perception_port], &ours),
    ];
    let skills = Session::open(&format!("http://127.0.0.1:{skills_port}/mcp")).await;
    let perception = Session::open(&format!("http://127.0.0.1:{perception_port}/mcp")).await;

    let can = json!({"template": "find_object", "params": {"query": "red can"}});
    skills.call_until("instantiate_skill", can, |answer| answer["ok"] == json!(true)).await;
    let seen = perception
        .call_until("get_latest", json!({"skill": "find_object"}), |latest| {
            latest["detections"][0]["label"] == json!("red can")
                && latest["detections"][0]["point"]["frame"] == json!("map")
        })
        .await;
    // The home's red can stands on the kitchen table, at the height of its top.
    let height = seen["detections"][0]["point"]["z"].as_f64().unwrap_or_else(|| panic!("{seen}"));
    assert!((0.7..1.0).contains(&height), "{seen}\n{}\n{}", sim.log(), node.log());
    assert_eq!(seen["stale"], json!(false), "{seen}");
}
