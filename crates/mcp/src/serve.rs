use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_wire::ToolClass;
use rmcp::ServerHandler;
use secrecy::SecretString;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::adapter::Adapter;
use crate::calls::Calls;
use crate::tool_server::{Readiness, ToolServer};

/// Who may ask: Host, Origin and bearer token.
mod guard;
/// One port with everything on it.
mod http;
/// The old transport: a GET stream down, POSTs up.
mod legacy_sse;
/// Counters for `/metrics`.
pub(crate) mod metrics;
/// Who holds a port that is in use.
mod port_holder;
/// What `/mcp` answers to requests that are wrong in a known way.
mod repair;
/// Sessions of `/mcp`, and which of their requests still have a caller.
mod sessions;
/// Accepted sockets.
mod sockets;
/// Standard input and output.
mod stdio;
/// A log that no cause floods.
mod throttle;
/// Certificates.
mod tls;

/// How long a server that was told to stop waits for its motions, and then for its connections.
const STOP_BOUND: Duration = Duration::from_secs(2);

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output: one caller, the parent process.
    Stdio,
    /// A port. Streamable HTTP at `/mcp` and legacy SSE at `/sse` are both there, whichever word was used.
    Http,
    /// The same port and paths as [`Transport::Http`], under the name that older configurations use.
    Sse,
}

impl FromStr for Transport {
    type Err = UnknownTransport;

    fn from_str(word: &str) -> Result<Self, UnknownTransport> {
        match word.trim().to_ascii_lowercase().as_str() {
            "stdio" => Ok(Self::Stdio),
            "http" | "streamable_http" | "streamable-http" => Ok(Self::Http),
            "sse" => Ok(Self::Sse),
            _ => Err(UnknownTransport(word.to_owned())),
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        })
    }
}

/// A word that names no transport.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown transport {0:?}; use stdio, sse or http")]
pub struct UnknownTransport(pub String);

/// Certificate chain and private key, as PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by the ones that signed it.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// How to serve. Host, port and what follows mean nothing on stdio.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// How the server is reached.
    pub transport: Transport,
    /// The address to listen on.
    pub host: String,
    /// The port to listen on; 0 takes a free one.
    pub port: u16,
    /// Names by which callers may call this server besides loopback and `host`, with or without a port; `*` takes any.
    pub allowed_hosts: Vec<String>,
    /// What callers must send as `Authorization: Bearer`; `None` asks for nothing.
    pub token: Option<SecretString>,
    /// Serve HTTPS instead of HTTP.
    pub tls: Option<TlsFiles>,
    /// How long a motion goes on when its caller has no stream to it any more.
    pub grace: Duration,
    /// Allows a server with motion tools to listen beyond loopback without a token.
    pub unauthenticated_motion: bool,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            transport: Transport::Stdio,
            host: "127.0.0.1".to_owned(),
            port: 0,
            allowed_hosts: Vec::new(),
            token: None,
            tls: None,
            grace: Duration::from_millis(300),
            unauthenticated_motion: false,
        }
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another program listens there.
    #[error("{address} is in use{}; stop that program or choose another port with MCP_PORT or --port",
        .holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default())]
    PortInUse {
        /// The address that was asked for.
        address: String,
        /// The program that has it, where that can be told, such as `python3 (pid 4711)`.
        holder: Option<String>,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}; check MCP_HOST and MCP_PORT (or --host and --port)")]
    Bind {
        /// The address that was asked for.
        address: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The certificate or its key cannot be used.
    #[error("cannot use {path} for TLS: {reason}; --tls-cert and --tls-key take PEM files")]
    Tls {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A server with motion tools would take calls from the network without asking for a token.
    #[error(
        "{host} is reachable from the network and this server moves the robot; set a token (MCP_TOKEN or --token-file), or say `auth: none`"
    )]
    MotionWithoutToken {
        /// The address that was asked for.
        host: String,
    },
}

/// A server that runs.
#[derive(Debug)]
pub struct Running {
    /// Where it listens; `None` on stdio.
    pub address: Option<SocketAddr>,
    task: JoinHandle<()>,
}

impl Running {
    /// Returns when the server has stopped: it was told to, or standard input was closed.
    pub async fn finished(self) {
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the server ended by a fault");
        }
    }
}

/// Serves the tools of `server` until `stop` is cancelled (or, on stdio, standard input is closed). When told to stop it
/// cancels motions first, then every other call, then closes its connections, each within two seconds. Returns as soon as
/// the server can be called.
pub async fn serve(
    server: Arc<dyn ToolServer>,
    config: ServeConfig,
    stop: CancellationToken,
) -> Result<Running, ServeError> {
    let names = |class| server.tools().iter().filter(move |spec| spec.class == class).map(|spec| spec.name.to_owned());
    let motions: Vec<String> = names(ToolClass::Motion).collect();
    let calls = Calls::default();
    let metrics = Arc::new(metrics::Metrics::of(Arc::clone(&server)));
    let handler = Adapter::new(Arc::clone(&server), calls.clone(), Arc::clone(&metrics), config.grace);
    let probe = Arc::new(move || {
        let server = Arc::clone(&server);
        Box::pin(async move { server.readiness().await }) as ReadinessFuture
    });
    let name = handler.get_info().server_info.name;
    start(Served { name, handler, motions, calls, metrics, probe }, config, stop).await
}

type ReadinessFuture = std::pin::Pin<Box<dyn Future<Output = Readiness> + Send>>;

/// What is served, whatever speaks for it.
pub(crate) struct Served<H> {
    pub(crate) name: String,
    pub(crate) handler: H,
    pub(crate) motions: Vec<String>,
    pub(crate) calls: Calls,
    pub(crate) metrics: Arc<metrics::Metrics>,
    pub(crate) probe: Arc<dyn Fn() -> ReadinessFuture + Send + Sync>,
}

pub(crate) async fn start<H: ServerHandler + Clone>(
    served: Served<H>,
    config: ServeConfig,
    stop: CancellationToken,
) -> Result<Running, ServeError> {
    match config.transport {
        Transport::Stdio => {
            let (reader, writer) = rmcp::transport::stdio_pipes();
            let task = tokio::spawn(stdio::serve(served.handler, served.calls, (reader, writer), stop));
            Ok(Running { address: None, task })
        }
        Transport::Http | Transport::Sse => {
            let (address, serving) = http::open(served, config, stop).await?;
            Ok(Running { address: Some(address), task: tokio::spawn(serving) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_transport_is_read() {
        for (word, transport) in [
            ("stdio", Transport::Stdio),
            ("SSE", Transport::Sse),
            ("http", Transport::Http),
            ("streamable_http", Transport::Http),
            ("streamable-http", Transport::Http),
        ] {
            assert_eq!(word.parse(), Ok(transport), "{word}");
        }
        assert_eq!(
            "websocket".parse::<Transport>().unwrap_err().to_string(),
            "unknown transport \"websocket\"; use stdio, sse or http"
        );
    }
}
