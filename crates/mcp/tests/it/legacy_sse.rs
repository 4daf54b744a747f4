use cerebellum_mcp::serve::ServeConfig;
use serde_json::{Value, json};

use crate::support::{Events, PATIENCE, Raw, Server, call, initialize, server, until};

/// A session of the old transport, spoken by hand.
struct Session {
    events: Events,
    http: reqwest::Client,
    inbox: String,
}

impl Session {
    async fn open(server: &Server) -> Self {
        let http = Raw::new(String::new()).http;
        let response = http.get(server.url("/sse")).send().await.unwrap();
        assert_eq!(response.headers()["cache-control"], "no-cache, no-transform");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
        let mut events = Events::of(response);
        let first = events.next().await.unwrap();
        assert_eq!(first[0], "event: endpoint");
        let inbox = server.url(first[1].strip_prefix("data: ").unwrap());
        let mut session = Self { events, http, inbox };
        assert_eq!(session.send(&initialize()).await, 202);
        session.events.answer().await;
        session
    }

    async fn send(&self, body: &Value) -> u16 {
        self.http.post(&self.inbox).json(body).send().await.unwrap().status().as_u16()
    }
}

async fn metric(server: &Server, name: &str) -> String {
    let text = Raw::new(String::new()).http.get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_call_goes_up_by_post_and_comes_down_the_stream() {
    let server = server(ServeConfig::default()).await;
    let mut session = Session::open(&server).await;
    assert_eq!(session.send(&call(5, "look", json!({"query": "can"}))).await, 202);
    let event = session.events.next().await.unwrap();
    assert_eq!(event[0], "event: message");
    let answer: Value = serde_json::from_str(event[1].strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(answer["id"], 5);
    assert_eq!(answer["result"]["structuredContent"]["query"], "can");
}

#[tokio::test]
async fn wrong_posts_are_told_apart() {
    let server = server(ServeConfig::default()).await;
    let session = Session::open(&server).await;
    let post = async |url: String, body: &'static str| session.http.post(url).body(body).send().await.unwrap();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(post(server.url("/messages?session_id=nobody"), ping).await.status(), 404);
    assert_eq!(post(server.url("/messages"), ping).await.status(), 400);
    assert_eq!(post(session.inbox.clone(), "{").await.status(), 400);
    assert_eq!(post(session.inbox.clone(), "{}").await.status(), 400);
    let batch = post(session.inbox.clone(), "[{}]").await;
    assert_eq!(batch.status(), 400);
    assert!(batch.text().await.unwrap().contains("batches"));
    let camel = session.inbox.replace("session_id", "sessionId");
    assert_eq!(post(camel, ping).await.status(), 202);
}

#[tokio::test]
async fn the_stream_is_kept_alive() {
    let server = server(ServeConfig::default()).await;
    let mut session = Session::open(&server).await;
    assert!(session.events.next().await.unwrap()[0].starts_with(':'));
}

#[tokio::test]
async fn closing_the_stream_stops_the_motion_and_forgets_the_session() {
    let server = server(ServeConfig::default()).await;
    let session = Session::open(&server).await;
    assert_eq!(session.send(&call(5, "drive", json!({"steps": 100_000}))).await, 202);
    until(&server.robot.moving, true).await;
    assert_eq!(metric(&server, "mcp_sessions{transport=\"sse\"}").await, "mcp_sessions{transport=\"sse\"} 1.0");
    let Session { events, http, inbox } = session;
    drop(events);
    until(&server.robot.moving, false).await;
    assert_eq!(metric(&server, "mcp_sessions{transport=\"sse\"}").await, "mcp_sessions{transport=\"sse\"} 0.0");
    assert_eq!(http.post(inbox).json(&call(6, "look", json!({}))).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_cancel_notice_reaches_the_tool() {
    let server = server(ServeConfig::default()).await;
    let mut session = Session::open(&server).await;
    session.send(&call(5, "drive", json!({"steps": 100_000}))).await;
    until(&server.robot.moving, true).await;
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}})).await;
    until(&server.robot.moving, false).await;
    session.send(&call(6, "look", json!({"query": "x"}))).await;
    let answer = tokio::time::timeout(PATIENCE, session.events.answer()).await.unwrap();
    assert_eq!(answer["id"], 6);
}
