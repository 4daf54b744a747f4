//! Servers on free ports, and a client that speaks the wire by hand.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_mcp::serve::{Running, ServeConfig, Transport, serve};
use futures::StreamExt;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::robot::Robot;

/// Ten times what anything here should take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Server {
    pub(crate) robot: Arc<Robot>,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) running: Running,
    _end: DropGuard,
}

pub(crate) async fn server(config: ServeConfig) -> Server {
    let robot = Arc::new(Robot::default());
    let stop = CancellationToken::new();
    let config = ServeConfig { transport: Transport::Http, ..config };
    let running = serve(robot.clone(), config, stop.clone()).await.unwrap();
    let address = running.address.unwrap();
    Server { robot, address, running, _end: stop.clone().drop_guard(), stop }
}

impl Server {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// Waits until a watched value is what it should be.
pub(crate) async fn until<T: Copy + PartialEq + std::fmt::Debug>(watched: &watch::Sender<T>, wanted: T) {
    let mut watched = watched.subscribe();
    let reached = tokio::time::timeout(PATIENCE, watched.wait_for(|value| *value == wanted)).await;
    assert!(reached.is_ok(), "never became {wanted:?}");
}

/// A client that can be killed: dropping it closes its connections.
pub(crate) struct Raw {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) session: Option<String>,
}

impl Raw {
    pub(crate) fn new(url: String) -> Self {
        // Whoever installs one first wins; all are the same.
        drop(rustls::crypto::ring::default_provider().install_default());
        Self { http: reqwest::Client::builder().no_proxy().build().unwrap(), url, session: None }
    }

    /// A client with a session of the revision of November 2025.
    pub(crate) async fn attached(server: &Server) -> Self {
        let mut raw = Self::new(server.url("/mcp"));
        let response = raw.post(&initialize()).await;
        assert_eq!(response.status(), 200);
        raw.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let noted = raw.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(noted.status(), 202);
        raw
    }

    pub(crate) fn request(&self, method: reqwest::Method) -> reqwest::RequestBuilder {
        let request = self.http.request(method, &self.url).header("accept", "application/json, text/event-stream");
        match &self.session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    pub(crate) async fn post(&self, body: &Value) -> reqwest::Response {
        self.request(reqwest::Method::POST).json(body).send().await.unwrap()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let response = self.post(&call(1, tool, arguments)).await;
        assert_eq!(response.status(), 200);
        Events::of(response).answer().await
    }
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}})
}

pub(crate) fn call(id: u32, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// An event stream, event by event.
pub(crate) struct Events {
    response: futures::stream::BoxStream<'static, reqwest::Result<bytes::Bytes>>,
    text: String,
}

impl Events {
    pub(crate) fn of(response: reqwest::Response) -> Self {
        Self { response: response.bytes_stream().boxed(), text: String::new() }
    }

    /// The next event as its lines; `None` when the stream ended.
    pub(crate) async fn next(&mut self) -> Option<Vec<String>> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let lines = event.lines().map(str::to_owned).collect();
                self.text = rest.to_owned();
                return Some(lines);
            }
            let bytes =
                tokio::time::timeout(PATIENCE, self.response.next()).await.expect("the stream is silent")?.ok()?;
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    /// The value of a field of the next event that has it.
    pub(crate) async fn field(&mut self, name: &str) -> String {
        loop {
            let lines = self.next().await.expect("the stream ended");
            if let Some(value) = lines.iter().find_map(|line| line.strip_prefix(&format!("{name}:"))) {
                return value.trim().to_owned();
            }
        }
    }

    /// The next message that is an answer.
    pub(crate) async fn answer(&mut self) -> Value {
        loop {
            let data = self.field("data").await;
            let Ok(message) = serde_json::from_str::<Value>(&data) else { continue };
            if message.get("id").is_some() {
                return message;
            }
        }
    }
}
