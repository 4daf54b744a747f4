use serde_json::{Value, json};

use crate::program::{Place, Program, Session, free_port};

/// A vision node with its own simulated robot and the two servers, each a process.
struct Robot {
    place: Place,
    endpoint: String,
    node: Program,
    servers: Vec<Program>,
    skills: Session,
    perception: Session,
}

impl Robot {
    async fn start() -> Self {
        let place = Place::new();
        let endpoint = format!("tcp/127.0.0.1:{}", free_port());
        let node = Self::vision_node(&place, &endpoint);
        let (skills_port, perception_port) = (free_port().to_string(), free_port().to_string());
        let variables = [("CEREBELLUM_ZENOH_ENDPOINT", endpoint.as_str())];
        let servers = vec![
            place.start("skills", &["skill-control", "--transport", "http", "--port", &skills_port], &variables),
            place.start(
                "perception",
                &["perception-buffer", "--transport", "http", "--port", &perception_port],
                &variables,
            ),
        ];
        let skills = Session::open(&format!("http://127.0.0.1:{skills_port}/mcp")).await;
        let perception = Session::open(&format!("http://127.0.0.1:{perception_port}/mcp")).await;
        Self { place, endpoint, node, servers, skills, perception }
    }

    fn vision_node(place: &Place, endpoint: &str) -> Program {
        let variables = [("CEREBELLUM_ZENOH_ENDPOINT", endpoint)];
        place.start("vision-node", &["vision-node", "--robot", "sim"], &variables)
    }

    /// Kills the node without a farewell and starts it again.
    fn replace_node(&mut self) {
        self.node.signal("KILL");
        drop(self.node.child.wait());
        self.node = Self::vision_node(&self.place, &self.endpoint);
    }

    async fn latest(&self, satisfied: impl Fn(&Value) -> bool) -> Value {
        self.perception.call_until("get_latest", json!({"skill": "find_object"}), satisfied).await
    }
}

fn is_fresh(latest: &Value) -> bool {
    latest["ok"] == json!(true)
        && latest["stale"] == json!(false)
        && latest["detections"][0]["label"] == json!("red can")
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_outlive_the_vision_node_and_skills_come_back() {
    let mut robot = Robot::start().await;
    let can = json!({"template": "find_object", "params": {"query": "red can"}});
    robot.skills.call_until("list_running_skills", json!({}), |answer| answer["ok"] == json!(true)).await;
    robot.skills.call_until("instantiate_skill", can, |answer| answer["ok"] == json!(true)).await;
    robot.latest(is_fresh).await;
    for _ in 0..3 {
        robot.replace_node();
        // While the node is away a call is a clean error that says what to do.
        let away = robot.skills.call("list_running_skills", json!({})).await;
        assert!(away["ok"] == json!(true) || away["error"]["next"].is_string(), "{away}");
        robot.skills.call_until("list_running_skills", json!({}), |answer| answer["ok"] == json!(true)).await;
        robot.latest(is_fresh).await;
    }
    for server in &mut robot.servers {
        assert!(server.child.try_wait().unwrap().is_none(), "nothing was restarted by hand:\n{}", server.log());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stays_away_leaves_stale_values() {
    let robot = Robot::start().await;
    let can = json!({"template": "find_object", "params": {"query": "red can"}});
    robot.skills.call_until("instantiate_skill", can, |answer| answer["ok"] == json!(true)).await;
    robot.latest(is_fresh).await;
    robot.node.signal("KILL");
    let stale = robot.latest(|latest| latest["stale"] == json!(true)).await;
    assert!(stale["age_s"].as_f64().unwrap() > 5.0, "{stale}");
    let snapshot = robot.perception.call("what_do_you_see", json!({})).await;
    assert!(snapshot["text"].as_str().unwrap().to_lowercase().contains("stale"), "{snapshot}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_buffer_costs_the_others_nothing() {
    let robot = Robot::start().await;
    let can = json!({"template": "find_object", "params": {"query": "red can"}});
    robot.skills.call_until("instantiate_skill", can, |answer| answer["ok"] == json!(true)).await;
    robot.latest(is_fresh).await;
    let buffer = &robot.servers[1];
    buffer.signal("STOP");
    for index in 0..5 {
        let start = json!({"template": "find_object", "params": {"query": format!("blue box {index}")}});
        let started = robot.skills.call("instantiate_skill", start).await;
        assert_eq!(started["ok"], json!(true), "{started}");
        let stopped = robot.skills.call("stop_skill", json!({"skill_id": started["skill_id"]})).await;
        assert_eq!(stopped["ok"], json!(true), "{stopped}");
    }
    buffer.signal("CONT");
    robot.latest(is_fresh).await;
}
