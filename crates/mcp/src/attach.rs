use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ResourceContents, ServerResult, Tool,
};
use rmcp::service::ClientCacheConfig;
use rmcp::service::{ClientLifecycleMode, PeerRequestOptions, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientServiceExt, RoleClient};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::tool_server::Progress;

/// What went wrong, in words that say what to do.
mod error;
/// The client's side of the old transport.
mod legacy_sse;
/// Progress of calls, on its way to who asked for it.
mod listener;

pub use error::{AttachError, CallError};
use error::{Kind, diagnose};
use listener::Listener;

/// The most pages of a list that are followed; a list that goes on has a cursor that never ends.
const PAGES_MAX: usize = 64;
/// How long a list or a resource may take.
const LOOK_UP: Duration = Duration::from_secs(30);
/// How long the notice of a cancelled call may take to leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A child process that speaks MCP on its standard input and output. Its standard error is ours.
    Stdio(Command),
    /// Streamable HTTP.
    Http(Address),
    /// Legacy SSE.
    Sse(Address),
}

/// A program to start.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program; looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables added to our own environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// A server on the network.
#[derive(Clone, Debug)]
pub struct Address {
    /// The whole URL, such as `http://127.0.0.1:9201/mcp`.
    pub url: String,
    /// What is sent as `Authorization: Bearer`.
    pub token: Option<SecretString>,
    /// A PEM file with the only certificates to trust; `None` trusts those of the system.
    pub trusted_root: Option<PathBuf>,
}

impl Endpoint {
    /// The endpoint of a URL: legacy SSE when its path ends in `/sse`, streamable HTTP otherwise.
    pub fn of_url(url: impl Into<String>, token: Option<SecretString>) -> Self {
        let url = url.into();
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let legacy = path.ends_with("/sse");
        let address = Address { url, token, trusted_root: None };
        if legacy { Self::Sse(address) } else { Self::Http(address) }
    }
}

/// How long a call may take, who hears of its progress, and how it is cancelled.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// The longest time without an answer or a report of progress; `None` waits as long as `total` allows.
    pub idle: Option<Duration>,
    /// The longest time in all.
    pub total: Option<Duration>,
    /// Hears of progress. Reports that come too fast are dropped.
    pub progress: Option<Arc<dyn Progress>>,
    /// Cancels the call; the server is told, and the call ends with [`CallError::Cancelled`].
    pub cancel: CancellationToken,
}

impl CallOptions {
    /// At most this long without news.
    pub fn within(idle: Duration) -> Self {
        Self { idle: Some(idle), ..Self::default() }
    }
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteTool {
    /// Its name, as the server wants it.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its answer.
    pub output_schema: Option<Value>,
    /// Whether the server says that it changes nothing.
    pub read_only: bool,
    /// Whether the server says that it is slow (`cerebellum/blocking`).
    pub blocking: bool,
}

/// A resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteResource {
    /// Its URI.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it says.
    pub description: String,
    /// Its media type.
    pub mime_type: Option<String>,
}

/// Who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteServer {
    /// The server's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it says about itself, for a planner.
    pub instructions: String,
    /// The revision of the protocol that is spoken.
    pub protocol: String,
}

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The structured content; else the first text that is JSON; else all text as one JSON string.
    pub data: Value,
    /// Whether the server says that the tool could not do its work.
    pub is_error: bool,
}

impl Answer {
    /// Whether the tool did it: neither an error nor `ok: false`.
    pub fn is_ok(&self) -> bool {
        !self.is_error && self.data.get("ok") != Some(&Value::Bool(false))
    }

    fn of(result: CallToolResult) -> Self {
        let is_error = result.is_error.unwrap_or(false);
        let texts: Vec<String> =
            result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.clone()).collect();
        let data = result.structured_content.or_else(|| texts.iter().find_map(|text| serde_json::from_str(text).ok()));
        Self { data: data.unwrap_or_else(|| Value::String(texts.join("\n"))), is_error }
    }
}

/// An open session with a server. Dropping it closes the session and ends a child process.
pub struct Client {
    service: RunningService<RoleClient, Listener>,
}

impl Client {
    /// Opens a session. Whatever the server speaks, from the revision of 2024 to the one of July 2026, is found out.
    pub async fn connect(endpoint: &Endpoint, within: Duration) -> Result<Self, AttachError> {
        let opening = async {
            match endpoint {
                Endpoint::Stdio(command) => Self::open_child(command).await,
                Endpoint::Http(address) => Self::open_http(address).await,
                Endpoint::Sse(address) => Self::open_sse(address).await,
            }
        };
        let client = Box::pin(tokio::time::timeout(within, opening))
            .await
            .map_err(|_elapsed| AttachError::TimedOut { target: target(endpoint), within })??;
        // A robot's state must not be answered from memory when the server fails.
        let cache = ClientCacheConfig::default().with_serve_stale_on_error(false);
        client.service.peer().set_response_cache_config(cache).await;
        Ok(client)
    }

    async fn open_child(command: &Command) -> Result<Self, AttachError> {
        let mut process = tokio::process::Command::new(&command.program);
        process.args(&command.arguments).envs(command.environment.iter().map(|(name, value)| (name, value)));
        let failed = |source| AttachError::Program { program: command.program.to_string_lossy().into_owned(), source };
        let (transport, _) = TokioChildProcess::builder(process).stderr(Stdio::inherit()).spawn().map_err(failed)?;
        let service = Listener::default().serve_with_lifecycle(transport, lifecycle()).await;
        let program = command.program.to_string_lossy().into_owned();
        service
            .map(|service| Self { service })
            .map_err(|error| AttachError::NoMcp { target: program, reason: error.to_string() })
    }

    async fn open_http(address: &Address) -> Result<Self, AttachError> {
        let http = http_client(address)?;
        let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str());
        if let Some(token) = &address.token {
            config = config.auth_header(token.expose_secret());
        }
        let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
        match Listener::default().serve_with_lifecycle(transport, lifecycle()).await {
            Ok(service) => Ok(Self { service }),
            Err(error) => Err(diagnose(&http, address, Kind::Streamable, &error.to_string()).await),
        }
    }

    async fn open_sse(address: &Address) -> Result<Self, AttachError> {
        let transport = legacy_sse::open(http_client(address)?, address).await?;
        match Listener::default().serve_with_lifecycle(transport, lifecycle()).await {
            Ok(service) => Ok(Self { service }),
            Err(error) => Err(AttachError::NoMcp { target: address.url.clone(), reason: error.to_string() }),
        }
    }

    /// Who answers.
    pub fn server(&self) -> RemoteServer {
        let Some(info) = self.service.peer().peer_info() else { return RemoteServer::default() };
        let (name, version) =
            info.server_info.as_ref().map(|who| (who.name.clone(), who.version.clone())).unwrap_or_default();
        let instructions = info.instructions.clone().unwrap_or_default();
        RemoteServer { name, version, instructions, protocol: info.protocol_version.to_string() }
    }

    /// Whether the session has ended: the server went away or closed it. A new one must be opened.
    pub fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// All tools, over as many pages as the server has.
    pub async fn list_tools(&self) -> Result<Vec<RemoteTool>, CallError> {
        let mut tools = Vec::new();
        let mut pages = Pages::default();
        while let Some(page) = pages.next()? {
            let listed = within(LOOK_UP, self.service.peer().list_tools(page)).await?;
            tools.extend(listed.tools.into_iter().map(remote_tool));
            pages.turn(listed.next_cursor);
        }
        Ok(tools)
    }

    /// All resources, over as many pages as the server has. None if the server has no resources at all.
    pub async fn list_resources(&self) -> Result<Vec<RemoteResource>, CallError> {
        let offered = self.service.peer().peer_info().is_some_and(|info| info.capabilities.resources.is_some());
        let mut resources = Vec::new();
        let mut pages = Pages::default();
        while let Some(page) = pages.next()?.filter(|_| offered) {
            let listed = within(LOOK_UP, self.service.peer().list_resources(page)).await?;
            resources.extend(listed.resources.into_iter().map(|resource| RemoteResource {
                uri: resource.uri,
                name: resource.name,
                description: resource.description.unwrap_or_default(),
                mime_type: resource.mime_type,
            }));
            pages.turn(listed.next_cursor);
        }
        Ok(resources)
    }

    /// The text of a resource; binary parts are left out.
    pub async fn read_resource(&self, uri: &str) -> Result<String, CallError> {
        let request = ReadResourceRequestParams::new(uri);
        let read = within(LOOK_UP, self.service.peer().read_resource(request)).await?;
        let texts = read.contents.into_iter().filter_map(|part| match part {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        });
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }

    /// Calls a tool. A call that ends without an answer (timed out, cancelled, connection lost) may still have moved the
    /// robot.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        options: CallOptions,
    ) -> Result<Answer, CallError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let handle = self.service.peer().send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut handle = within(options.total.unwrap_or(LOOK_UP).min(LOOK_UP), handle).await?;
        let mut lane = self.service.service().lane(&handle.progress_token);
        let mut idle = Limit::of(options.idle);
        let mut total = Limit::of(options.total);
        let ended = loop {
            tokio::select! {
                answer = &mut handle.rx => {
                    return match answer.map_err(|_closed| CallError::Lost)?.map_err(CallError::from)? {
                        ServerResult::CallToolResult(result) => Ok(Answer::of(result)),
                        ServerResult::InputRequiredResult(_) => Err(CallError::AsksForInput),
                        _ => Err(CallError::Unexpected("an answer of another kind".to_owned())),
                    };
                }
                report = lane.next() => {
                    idle.restart();
                    if let Some(progress) = &options.progress {
                        progress.report(report.progress, report.total, report.message.as_deref().unwrap_or_default());
                    }
                }
                () = options.cancel.cancelled() => break CallError::Cancelled,
                after = idle.over() => break CallError::TimedOut { after },
                after = total.over() => break CallError::TimedOut { after },
            }
        };
        let notice = handle.cancel(Some(ended.to_string()));
        if !matches!(tokio::time::timeout(FAREWELL, notice).await, Ok(Ok(()))) {
            tracing::warn!(tool, "the server could not be told that the call is off");
        }
        Err(ended)
    }

    /// Closes the session and waits for it, two seconds at most (a child process gets longer to end).
    pub async fn close(mut self) {
        let bound = FAREWELL * 5;
        if let Ok(None) | Err(_) = self.service.close_with_timeout(bound).await {
            tracing::warn!("the session did not close in time");
        }
    }
}

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

fn target(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Stdio(command) => command.program.to_string_lossy().into_owned(),
        Endpoint::Http(address) | Endpoint::Sse(address) => address.url.clone(),
    }
}

fn http_client(address: &Address) -> Result<reqwest::Client, AttachError> {
    let bad = |reason: String| AttachError::BadAddress { url: address.url.clone(), reason };
    let url = reqwest::Url::parse(&address.url).map_err(|error| bad(error.to_string()))?;
    let host = url.host_str().ok_or_else(|| bad("it has no host".to_owned()))?;
    crate::tls_provider();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(5))
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .http1_only();
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    if plain == "localhost" || plain.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()) {
        builder = builder.no_proxy();
    }
    if let Some(path) = &address.trusted_root {
        let unusable = |reason: String| bad(format!("cannot trust {}: {reason}", path.display()));
        let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
        let roots = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| unusable(error.to_string()))?;
        builder = builder.tls_certs_only(roots);
    }
    builder.build().map_err(|error| bad(error.to_string()))
}

fn remote_tool(tool: Tool) -> RemoteTool {
    let blocking = tool.meta.as_ref().and_then(|meta| meta.0.get("cerebellum/blocking")) == Some(&Value::Bool(true));
    RemoteTool {
        name: tool.name.into_owned(),
        title: tool.title,
        description: tool.description.unwrap_or_default().into_owned(),
        input_schema: Value::Object(tool.input_schema.as_ref().clone()),
        output_schema: tool.output_schema.map(|schema| Value::Object(schema.as_ref().clone())),
        read_only: tool.annotations.and_then(|hints| hints.read_only_hint).unwrap_or(false),
        blocking,
    }
}

async fn within<T, E: Into<CallError>>(
    limit: Duration,
    doing: impl Future<Output = Result<T, E>>,
) -> Result<T, CallError> {
    Box::pin(tokio::time::timeout(limit, doing))
        .await
        .map_err(|_elapsed| CallError::TimedOut { after: limit })?
        .map_err(Into::into)
}

/// A limit of time that may be started anew; none at all waits for ever.
struct Limit {
    after: Duration,
    sleep: Option<std::pin::Pin<Box<tokio::time::Sleep>>>,
}

impl Limit {
    fn of(after: Option<Duration>) -> Self {
        let sleep = after.map(|after| Box::pin(tokio::time::sleep(after)));
        Self { after: after.unwrap_or_default(), sleep }
    }

    fn restart(&mut self) {
        if let Some(sleep) = &mut self.sleep {
            sleep.as_mut().reset(tokio::time::Instant::now() + self.after);
        }
    }

    async fn over(&mut self) -> Duration {
        match &mut self.sleep {
            Some(sleep) => sleep.await,
            None => std::future::pending().await,
        }
        self.after
    }
}

/// The pages of a list, followed until there are no more.
#[derive(Default)]
struct Pages {
    seen: HashSet<String>,
    at: Option<String>,
    ended: bool,
    read: usize,
}

impl Pages {
    /// What to ask for next: `Some(None)` is the first page, `None` means all were read.
    #[expect(clippy::option_option, reason = "the first page is asked for without parameters")]
    fn next(&mut self) -> Result<Option<Option<PaginatedRequestParams>>, CallError> {
        if self.ended {
            return Ok(None);
        }
        if self.read >= PAGES_MAX {
            return Err(CallError::Unexpected(format!("a list of more than {PAGES_MAX} pages")));
        }
        self.read += 1;
        Ok(Some(self.at.clone().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))))
    }

    /// Notes where the list goes on. A cursor that came before ends it.
    fn turn(&mut self, cursor: Option<String>) {
        self.ended = cursor.as_ref().is_none_or(|cursor| !self.seen.insert(cursor.clone()));
        self.at = cursor;
    }
}

/// `key=value` pairs, as people type them, as arguments: what parses as JSON is JSON, the rest is text.
pub fn arguments_of_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Map<String, Value> {
    let pairs: BTreeMap<_, _> = pairs.into_iter().collect();
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    pairs.into_iter().map(|(key, text)| (key.to_owned(), value(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ContentBlock;
    use serde_json::json;

    #[test]
    fn the_path_tells_the_transport() {
        for (url, legacy) in [
            ("http://h:1/mcp", false),
            ("http://h:1/sse", true),
            ("http://h:1/sse/", true),
            ("http://h:1/robot/sse?x=1", true),
            ("http://h:1/", false),
            ("http://h:1/passe", false),
        ] {
            assert_eq!(matches!(Endpoint::of_url(url, None), Endpoint::Sse(_)), legacy, "{url}");
        }
    }

    #[test]
    fn an_answer_is_structured_content_or_the_first_json_text() {
        let blocks =
            |texts: &[&str]| CallToolResult::success(texts.iter().map(|text| ContentBlock::text(*text)).collect());
        assert_eq!(Answer::of(blocks(&["see:", "{\"ok\":true}"])).data, json!({"ok": true}));
        assert_eq!(Answer::of(blocks(&["hello", "world"])).data, json!("hello\nworld"));
        let mut both = blocks(&["{\"ok\":false}"]);
        both.structured_content = Some(json!({"ok": true}));
        assert!(Answer::of(both).is_ok());
        assert!(!Answer::of(blocks(&["{\"ok\":false}"])).is_ok());
        assert!(!Answer::of(CallToolResult::error(vec![ContentBlock::text("no")])).is_ok());
    }

    #[test]
    fn pages_end_at_a_cursor_that_comes_again() {
        let mut pages = Pages::default();
        assert!(pages.next().unwrap().unwrap().is_none());
        pages.turn(Some("a".into()));
        assert!(pages.next().unwrap().unwrap().is_some());
        pages.turn(Some("a".into()));
        assert!(pages.next().unwrap().is_none());
        let mut endless = Pages::default();
        for page in 0..PAGES_MAX {
            assert!(endless.next().unwrap().is_some());
            endless.turn(Some(page.to_string()));
        }
        assert!(endless.next().is_err());
    }

    #[test]
    fn pairs_become_arguments() {
        let arguments = arguments_of_pairs([("n", "3"), ("name", "red can"), ("p", "{\"a\":1}")]);
        assert_eq!(Value::Object(arguments), json!({"n": 3, "name": "red can", "p": {"a": 1}}));
    }
}
