use serde_json::json;

use crate::program::{Place, Session, free_port};

/// A configuration whose robot runs ROS 2 and is not there.
fn place() -> Place {
    let place = Place::new();
    assert!(place.run(&["config", "init", "config"]).status.success());
    let root = place.path().join("config/config.yaml");
    let text = std::fs::read_to_string(&root)
        .unwrap()
        .replace("robot: !include robot/sim.yaml", "robot: !include robot/ros2.yaml");
    std::fs::write(&root, text.replace("camera: !include camera/sim.yaml", "camera: !include camera/ros.yaml"))
        .unwrap();
    let robot = place.path().join("config/robot/ros2.yaml");
    let text = std::fs::read_to_string(&robot).unwrap().replace("control_port: 9200", "control_port: 0");
    std::fs::write(robot, text).unwrap();
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_motion_server_whose_robot_is_away_says_so_and_moves_nothing() {
    let place = place();
    let port = free_port().to_string();
    let endpoint = format!("tcp/127.0.0.1:{}", free_port());
    let variables = [("CEREBELLUM_ZENOH_ENDPOINT", endpoint.as_str()), ("CAP_PORT", port.as_str())];
    let _server = place.start("capability", &["capability"], &variables);
    let session = Session::open(&format!("http://127.0.0.1:{port}/sse")).await;
    let answer = session.call("get_pose", json!({})).await;
    assert_eq!(answer["ok"], false, "{answer}");
    let answer = session.call("turn_by", json!({"degrees": 10})).await;
    assert_eq!(answer["ok"], false, "{answer}");
    let places = session.call("list_waypoints", json!({})).await;
    assert_eq!(places["error"]["code"], "robot_unavailable", "which map the places are of is not known: {places}");
    let stopped = session.call("stop", json!({})).await;
    assert_ne!(stopped["stopped"], true, "nobody measured it: {stopped}");
}

#[tokio::test]
async fn a_wide_bind_of_motion_tools_without_a_token_is_refused() {
    let place = place();
    let mut server = place.start("capability", &["capability", "--host", "0.0.0.0", "--port", "0"], &[]);
    assert_eq!(server.ended().await, Some(64));
    assert!(server.log().contains("MCP_TOKEN"), "{}", server.log());
}

#[tokio::test]
async fn nothing_is_stopped_where_nobody_listens() {
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}", free_port());
    let output = place.run(&["stop", &url]);
    assert_eq!(output.status.code(), Some(69), "{output:?}");
    let output = place.run(&["resume", &url]);
    assert_eq!(output.status.code(), Some(64), "there is no token yet: {output:?}");
}
