//! The tools of a robot's other servers, over MCP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_mcp::Progress;
use cerebellum_mcp::attach::{CallOptions, Client, Endpoint, RemoteTool};
use cerebellum_servers::task::RobotTools;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// How long opening a session may take.
const CONNECT: Duration = Duration::from_secs(5);
/// The longest time without news from a tool: motions report progress at least every five seconds.
const IDLE: Duration = Duration::from_secs(60);

/// Attaches to the servers when a tool is first called, and again when a session was lost. A call that was lost is never
/// repeated: it may have moved the robot.
pub struct AttachedTools {
    servers: Vec<(Endpoint, Mutex<Option<Arc<Attached>>>)>,
}

struct Attached {
    client: Client,
    tools: Vec<RemoteTool>,
}

impl AttachedTools {
    /// The tools of these servers; the first that has a tool is asked.
    pub fn new(servers: Vec<Endpoint>) -> Self {
        Self { servers: servers.into_iter().map(|endpoint| (endpoint, Mutex::default())).collect() }
    }

    /// The session with a server, opened anew when it is not there any more.
    async fn attach(endpoint: &Endpoint, slot: &Mutex<Option<Arc<Attached>>>) -> Result<Arc<Attached>, String> {
        let mut slot = slot.lock().await;
        if let Some(attached) = slot.as_ref().filter(|attached| !attached.client.is_closed()) {
            return Ok(Arc::clone(attached));
        }
        let client = Box::pin(Client::connect(endpoint, CONNECT)).await.map_err(|error| error.to_string())?;
        let tools = client.list_tools().await.map_err(|error| error.to_string())?;
        Ok(Arc::clone(slot.insert(Arc::new(Attached { client, tools }))))
    }

    /// The server that has the tool; else what is wrong with those that were asked.
    async fn owner(&self, tool: &str) -> Result<Arc<Attached>, String> {
        let mut away = Vec::new();
        for (endpoint, slot) in &self.servers {
            match Self::attach(endpoint, slot).await {
                Ok(attached) if attached.tools.iter().any(|offered| offered.name == tool) => return Ok(attached),
                Ok(_) => {}
                Err(reason) => away.push(reason),
            }
        }
        Err(if away.is_empty() { format!("no server has {tool}") } else { away.join("; ") })
    }
}

#[async_trait]
impl RobotTools for AttachedTools {
    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        _progress: &dyn Progress,
    ) -> Result<Map<String, Value>, String> {
        let attached = self.owner(tool).await?;
        let cancel = CancellationToken::new();
        let options = CallOptions { idle: Some(IDLE), cancel: cancel.clone(), ..CallOptions::default() };
        let name = tool.to_owned();
        // On a task of its own, so that a dropped future still tells the server to stop.
        let calling = tokio::spawn(async move { attached.client.call(&name, arguments, options).await });
        let _cancelled_when_dropped = cancel.drop_guard();
        let answer = calling.await.map_err(|error| error.to_string())?.map_err(|error| format!("{tool}: {error}"))?;
        match answer.data {
            Value::Object(data) => Ok(data),
            other => Err(format!("{tool} answered no object: {}", cerebellum_wire::text::cut(&other.to_string()))),
        }
    }

    async fn missing(&self, tools: &[&'static str]) -> Vec<String> {
        let mut missing = Vec::new();
        for tool in tools {
            if self.owner(tool).await.is_err() {
                missing.push((*tool).to_owned());
            }
        }
        missing
    }
}
