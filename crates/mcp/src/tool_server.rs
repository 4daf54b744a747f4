use async_trait::async_trait;
use cerebellum_wire::{ToolOutcome, ToolSpec};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

/// Who a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The server's name in MCP, such as `skill_control`.
    pub name: &'static str,
    /// A title for people.
    pub title: &'static str,
    /// What the server is for and how its tools go together, in words for a planner.
    pub instructions: String,
}

/// A text resource, such as `prompt://system`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceSpec {
    /// Its URI.
    pub uri: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub description: &'static str,
    /// Its media type.
    pub mime_type: &'static str,
}

/// Whether a server can do its work now: the answer of `/readyz`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It can.
    Ready,
    /// It cannot yet; the text says what is missing.
    NotReady(String),
}

/// A number that only grows, for `/metrics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Its name, without the server's name before it and the `_total` behind it.
    pub name: &'static str,
    /// What is counted.
    pub help: &'static str,
    /// How many so far.
    pub value: u64,
}

/// Tells the caller of a slow tool how far it is. Sending is best effort and never waits.
pub trait Progress: Send + Sync {
    /// `done` of `total` (when known), with a few words.
    fn report(&self, done: f64, total: Option<f64>, message: &str);
}

/// Who calls, as far as the protocol tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caller {
    /// The client's name, and its session where the transport has one; empty when nothing is known.
    pub name: String,
    /// The request's `_meta`.
    pub meta: Map<String, Value>,
}

impl Caller {
    /// A text of the request's `_meta`.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.meta.get(key).and_then(Value::as_str)
    }
}

/// What a call knows of its caller.
pub struct CallContext {
    /// Who calls.
    pub caller: Caller,
    /// Cancelled when the caller cancels, goes away, or the server stops. A motion tool must stop the robot then.
    pub cancelled: CancellationToken,
    /// Where to report progress; does nothing when the caller did not ask for it.
    pub progress: Box<dyn Progress>,
}

/// A server's tools as plain logic: what every MCP server of this workspace implements. Transports, schemas on the wire,
/// argument repair and cancellation are the business of this crate.
#[async_trait]
pub trait ToolServer: Send + Sync + 'static {
    /// Who this is. The same for the whole life of the server.
    fn identity(&self) -> Identity;
    /// The tools, in the order people should read them. The same for the whole life of the server.
    fn tools(&self) -> &[ToolSpec];
    /// Does the work of one call. `arguments` hold only keys of the tool's schema, objects sent as text already parsed; their
    /// types are checked here. `tool` is one of [`Self::tools`].
    async fn call(&self, tool: &str, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome;
    /// The resources; none unless the server says otherwise.
    fn resources(&self) -> &[ResourceSpec] {
        &[]
    }
    /// The text of a resource; `None` when there is no such resource.
    async fn read_resource(&self, _uri: &str) -> Option<String> {
        None
    }
    /// Whether it can do its work now.
    async fn readiness(&self) -> Readiness {
        Readiness::Ready
    }
    /// What it counts itself, beside calls and sessions; always the same names. Must not wait.
    fn counts(&self) -> Vec<Count> {
        Vec::new()
    }
}
