use std::time::Duration;

use cerebellum_mcp::serve::ServeConfig;
use reqwest::Method;
use serde_json::json;

use crate::support::{Events, Raw, Server, call, server, until};

const GRACE: Duration = Duration::from_millis(300);

async fn driving() -> (Server, Raw, Events, String) {
    let server = server(ServeConfig { grace: GRACE, ..ServeConfig::default() }).await;
    let client = Raw::attached(&server).await;
    let mut events = Events::of(client.post(&call(7, "drive", json!({"steps": 100_000}))).await);
    let event_id = events.field("id").await;
    until(&server.robot.moving, true).await;
    (server, client, events, event_id)
}

#[tokio::test]
async fn a_motion_stops_when_its_caller_is_gone() {
    let (server, client, events, _) = driving().await;
    drop(events);
    until(&server.robot.moving, false).await;
    assert_eq!(*server.robot.ended.borrow(), Some("cancelled"));
    assert_eq!(client.call("look", json!({"query": "x"})).await["result"]["isError"], false);
}

#[tokio::test]
async fn a_motion_goes_on_when_its_caller_comes_back_in_time() {
    let (server, client, events, event_id) = driving().await;
    drop(events);
    let resumed = client.request(Method::GET).header("last-event-id", &event_id).send().await.unwrap();
    assert_eq!(resumed.status(), 200);
    tokio::time::sleep(GRACE * 3).await;
    assert!(*server.robot.moving.borrow(), "the motion was stopped though its caller had come back");
    drop(resumed);
    until(&server.robot.moving, false).await;
}

#[tokio::test]
async fn coming_back_to_another_stream_does_not_count() {
    let (server, client, events, _) = driving().await;
    drop(events);
    let standalone = client.request(Method::GET).send().await.unwrap();
    assert_eq!(standalone.status(), 200);
    until(&server.robot.moving, false).await;
}

#[tokio::test]
async fn a_call_that_reads_outlives_its_stream() {
    let server = server(ServeConfig { grace: GRACE, ..ServeConfig::default() }).await;
    let client = Raw::attached(&server).await;
    let mut events = Events::of(client.post(&call(7, "wait", json!({"steps": 80}))).await);
    events.field("id").await;
    drop(events);
    until(&server.robot.ended, Some("finished")).await;
}

#[tokio::test]
async fn a_cancelled_call_stops_and_the_session_goes_on() {
    let (server, client, _events, _) = driving().await;
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(client.post(&notice).await.status(), 202);
    until(&server.robot.moving, false).await;
    assert_eq!(client.call("look", json!({"query": "x"})).await["result"]["isError"], false);
}

#[tokio::test]
async fn ending_the_session_stops_its_motion() {
    let (server, client, _events, _) = driving().await;
    assert_eq!(client.request(Method::DELETE).send().await.unwrap().status(), 204);
    until(&server.robot.moving, false).await;
}

#[tokio::test]
async fn a_motion_of_the_revision_of_2026_stops_with_its_stream() {
    let server = server(ServeConfig { grace: GRACE, ..ServeConfig::default() }).await;
    let mut body = call(1, "drive", json!({"steps": 100_000}));
    body["params"]["_meta"] = json!({
        "progressToken": "p",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
    });
    let request = Raw::new(server.url("/mcp")).request(Method::POST).json(&body).header("mcp-name", "drive");
    let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
    let stream = request.send().await.unwrap();
    until(&server.robot.moving, true).await;
    drop(stream);
    until(&server.robot.moving, false).await;
}
