use serde_json::json;

use crate::program::{Place, Session};

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_from_template_to_detection_and_back() {
    let place = Place::new();
    let (mut demo, endpoints) = place.demo().await;
    let skills = Session::open(endpoints["servers"]["skill_control"]["mcp"].as_str().unwrap()).await;
    let perception = Session::open(endpoints["servers"]["perception"]["sse"].as_str().unwrap()).await;

    let can = json!({"template": "find_object", "params": {"query": "red can"}});
    let started = skills.call("instantiate_skill", can.clone()).await;
    assert_eq!(
        started.to_string(),
        r#"{"ok":true,"skill_id":"find_object","name":"find_object","topic":"/vision/find_object/detections","semantic_topics":["/vision/find_object/found"]}"#
    );
    let latest = perception
        .call_until("get_latest", json!({"skill": "find_object"}), |latest| {
            latest["outputs"]["found"]["value"] == json!(true) && latest["detections"][0]["label"] == json!("red can")
        })
        .await;
    assert_eq!(latest["detections"][0]["mask_ref"], json!({"topic": latest["topic"], "stamp": latest["stamp"]}));
    assert_eq!(latest["detections"][0]["point"]["frame"], json!("map"));

    let again = skills.call("instantiate_skill", can).await;
    assert_eq!(again["skill_id"], json!("find_object_2"));
    for skill in ["find_object", "find_object_2"] {
        let stopped = skills.call("stop_skill", json!({"skill_id": skill})).await;
        assert_eq!(stopped, json!({"ok": true, "skill_id": skill}));
    }
    perception
        .call_until("list_streams", json!({}), |answer| answer["total"] == json!(0) && answer["ok"] == json!(true))
        .await;

    demo.signal("TERM");
    assert_eq!(demo.ended().await, Some(0), "a demo that is asked to stop ends well:\n{}", demo.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_demo_says_which_port_is_taken_and_what_to_do() {
    let place = Place::new();
    let (_demo, endpoints) = place.demo().await;
    let page = endpoints["page"].as_str().unwrap();
    let port: u16 = page.trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
    // The default page port moved to the taken one.
    let offset = i32::from(port) - 8001;
    let second = Place::new().run(&["demo", "--port-offset", &offset.to_string()]);
    let message = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(64), "{message}");
    assert!(message.contains(&port.to_string()) && message.contains("--port-offset"), "{message}");
}
