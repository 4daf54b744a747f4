use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cerebellum_core::{Subscription, VisionStreams};
use cerebellum_ros::vision::Streams;
use cerebellum_ros::zenoh::{RouterRole, ZenohBus, ZenohConfig};
use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::program::{DEADLINE, Place, Program, Session, free_port, until};

/// Whether the large counts are asked for, as `cargo xtask soak restarts` does.
fn soaks() -> bool {
    std::env::var_os("CEREBELLUM_SOAK").is_some()
}

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
    for _ in 0..if soaks() { 10 } else { 3 } {
        robot.node.signal("KILL");
        robot.latest(|latest| latest["stale"] == json!(true)).await;
        robot.replace_node();
        // While the node is away a call is a clean error that says what to do.
        let away = robot.skills.call("list_running_skills", json!({})).await;
        assert!(away["ok"] == json!(true) || away["error"]["next"].is_string(), "{away}");
        let is_back = |answer: &Value| answer["skills"][0]["name"] == json!("find_object");
        robot.skills.call_until("list_running_skills", json!({}), is_back).await;
        let there = std::time::Instant::now();
        robot.latest(is_fresh).await;
        println!("fresh {:.1} s after the node answered", there.elapsed().as_secs_f64());
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

/// A reader of its own on the bus, which counts what comes on a skill's topic.
struct Reader {
    count: Arc<AtomicUsize>,
    stop: CancellationToken,
    _subscription: Subscription,
}

impl Reader {
    async fn of(topic: &str, endpoint: &str) -> Self {
        let stop = CancellationToken::new();
        let config = ZenohConfig::new(endpoint, RouterRole::Never, 0, "reader").unwrap();
        let bus = ZenohBus::open(config, TaskTracker::new(), stop.clone());
        bus.connected(DEADLINE).await.unwrap();
        let streams = Streams::new(bus);
        // Who publishes becomes known one by one after the bus has come up.
        let begun = std::time::Instant::now();
        let topic = loop {
            let topics = streams.topics(&["/vision/".to_owned()]).await.unwrap();
            if let Some(topic) = topics.iter().find(|known| known.topic == topic) {
                break topic.clone();
            }
            assert!(begun.elapsed() < DEADLINE, "{topic} is not among {topics:?}");
            sleep(Duration::from_millis(50)).await;
        };
        let count = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&count);
        let sink = Arc::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let subscription = streams.subscribe(&topic, sink).await.unwrap();
        Self { count, stop, _subscription: subscription }
    }

    fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    async fn more(&self, wanted: usize) {
        let before = self.count();
        until("messages come on the topic", || (self.count() >= before + wanted).then_some(())).await;
    }

    async fn during(&self, time: Duration) -> usize {
        let before = self.count();
        sleep(time).await;
        self.count() - before
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_buffer_costs_the_others_nothing() {
    let robot = Robot::start().await;
    let can = json!({"template": "find_object", "params": {"query": "red can"}});
    let started = robot.skills.call_until("instantiate_skill", can, |answer| answer["ok"] == json!(true)).await;
    robot.latest(is_fresh).await;
    let reader = Reader::of(started["topic"].as_str().unwrap(), &robot.endpoint).await;
    reader.more(1).await;
    let awake = if soaks() { reader.during(Duration::from_secs(30)).await } else { 0 };
    let buffer = &robot.servers[1];
    buffer.signal("STOP");
    if soaks() {
        let frozen = reader.during(Duration::from_secs(30)).await;
        println!("messages in 30 s: {awake} with the buffer awake, {frozen} with it frozen");
        assert!(frozen * 10 >= awake * 9, "{frozen} messages came while the buffer was frozen, {awake} before");
    } else {
        reader.more(5).await;
    }
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
