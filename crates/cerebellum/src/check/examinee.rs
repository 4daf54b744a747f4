use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use cerebellum_mcp::attach::{Answer, AttachError, CallError, CallOptions, Client, Endpoint, RemoteTool};
use cerebellum_wire::contract::Level;
use serde_json::{Map, Value};

use super::report::Report;

/// How long opening a session may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a tool that only reads may take.
pub(super) const READ: Duration = Duration::from_secs(30);

/// The robot as its servers show it, all together: a robot may spread its tools as it likes.
pub(super) struct Examinee {
    servers: Vec<Attached>,
}

/// One of its servers.
pub(super) struct Attached {
    pub(super) url: String,
    pub(super) endpoint: Endpoint,
    pub(super) client: Client,
    pub(super) tools: Vec<RemoteTool>,
    /// The text of `prompt://system`.
    pub(super) prompt: Option<String>,
}

impl Examinee {
    /// Attaches to all servers, and reports of each whether that worked.
    pub(super) async fn attach(servers: Vec<(String, Endpoint)>, report: &mut Report) -> Self {
        let mut attached = Vec::new();
        for (url, endpoint) in servers {
            let id = format!("connect {url}");
            match Box::pin(Self::attach_one(url.clone(), endpoint)).await {
                Ok(server) => {
                    let who = server.client.server();
                    let seen =
                        format!("{} {}, MCP {}, {} tools", who.name, who.version, who.protocol, server.tools.len());
                    report.holds(id, Level::Minimum, seen);
                    attached.push(server);
                }
                Err((found, change)) => report.fails(id, Level::Minimum, found, change),
            }
        }
        Self { servers: attached }
    }

    async fn attach_one(url: String, endpoint: Endpoint) -> Result<Attached, (String, String)> {
        let client =
            Client::connect(&endpoint, CONNECT).await.map_err(|error| (error.to_string(), remedy(&error, &url)))?;
        let tools = client.list_tools().await.map_err(|error| {
            (format!("the list of tools: {error}"), "answer tools/list with every tool and its schema".to_owned())
        })?;
        let prompt = client.read_resource("prompt://system").await.ok();
        Ok(Attached { url, endpoint, client, tools, prompt })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    pub(super) fn servers(&self) -> &[Attached] {
        &self.servers
    }

    /// The server that has the tool; the first one wins, as it does for the brain.
    pub(super) fn owner(&self, tool: &str) -> Option<(&Attached, &RemoteTool)> {
        self.servers.iter().find_map(|server| {
            server.tools.iter().find(|offered| offered.name == tool).map(|offered| (server, offered))
        })
    }

    pub(super) fn has(&self, tool: &str) -> bool {
        self.owner(tool).is_some()
    }

    /// Whether the tool takes an argument of that name.
    pub(super) fn takes(&self, tool: &str, argument: &str) -> bool {
        self.owner(tool).is_some_and(|(_, offered)| offered.input_schema["properties"].get(argument).is_some())
    }

    /// Calls a tool that the robot has.
    pub(super) async fn call(&self, tool: &str, arguments: Value, options: CallOptions) -> Result<Answer, CallError> {
        let Some((server, _)) = self.owner(tool) else {
            return Err(CallError::Unexpected(format!("no server has {tool}")));
        };
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        server.client.call(tool, arguments, options).await
    }

    pub(super) async fn close(self) {
        for server in self.servers {
            server.client.close().await;
        }
    }
}

/// The classic failures, told apart as far as they can be from here.
fn remedy(error: &AttachError, url: &str) -> String {
    match error {
        AttachError::HostNotAllowed { host, .. } => format!(
            "the server guards against DNS rebinding: allow the name {host} (cerebellum: --allowed-host {host}; FastMCP: \
             transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False) on a private network)"
        ),
        AttachError::Refused { .. } if listens_on_loopback_only(url) => {
            "it listens on loopback only: bind 0.0.0.0 (cerebellum: --host 0.0.0.0 with --allowed-host; FastMCP: \
             mcp.settings.host = \"0.0.0.0\")"
                .to_owned()
        }
        AttachError::Refused { .. } => {
            "start the server; `ss -ltn` on its machine shows whether it listens, and on which address".to_owned()
        }
        AttachError::WrongTransport { hint, .. } => format!("wrong transport: {hint}"),
        AttachError::Unauthorized { .. } => "give its bearer token with --token-file FILE".to_owned(),
        AttachError::Unreachable { .. } | AttachError::TimedOut { .. } => {
            "check the address, the network (tailscale status) and the machine's firewall".to_owned()
        }
        AttachError::Program { .. } | AttachError::NoMcp { .. } | AttachError::BadAddress { .. } => {
            "expected http://HOST:PORT/mcp or http://HOST:PORT/sse of an MCP server".to_owned()
        }
    }
}

/// Whether the URL names this machine by an address of its network, and the port answers on loopback.
fn listens_on_loopback_only(url: &str) -> bool {
    let Some(url) = reqwest::Url::parse(url).ok() else { return false };
    let Some(port) = url.port_or_known_default() else { return false };
    let Ok(addresses) = url.socket_addrs(|| None) else { return false };
    let is_ours = |address: IpAddr| !address.is_loopback() && UdpSocket::bind(SocketAddr::new(address, 0)).is_ok();
    addresses.iter().any(|address| is_ours(address.ip()))
        && std::net::TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), Duration::from_secs(1))
            .is_ok()
}
