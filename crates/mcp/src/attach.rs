use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, MetaObject, ProtocolVersion, ReadResourceRequestParams,
    RequestMetaObject, ResourceContents, ServerResult,
};
use rmcp::service::ClientCacheConfig;
use rmcp::service::{ClientLifecycleMode, PeerRequestOptions, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientServiceExt, RoleClient};
use secrecy::ExposeSecret;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::tool_server::Progress;

/// Limits of time and of pages.
mod bounds;
/// Where a server is, and how to get there.
mod endpoint;
/// What went wrong, in words that say what to do.
mod error;
/// The client's side of the old transport.
mod legacy_sse;
/// Progress of calls, on its way to who asked for it.
mod listener;
/// What a server says about itself, and what its tools answer.
mod remote;

use bounds::{Limit, Pages};
use endpoint::http_client;
pub use endpoint::{Address, Command, Endpoint};
pub use error::{AttachError, CallError};
use error::{Kind, diagnose};
use listener::Listener;
pub use remote::{Answer, RemoteResource, RemoteServer, RemoteTool};

/// How long a list or a resource may take.
const LOOK_UP: Duration = Duration::from_secs(30);
/// How long the notice of a cancelled call may take to leave.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a call may take, who hears of its progress, and how it is cancelled.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// The longest time without an answer or a report of progress; `None` waits as long as `total` allows.
    pub idle: Option<Duration>,
    /// The longest time in all.
    pub total: Option<Duration>,
    /// Hears of progress. Reports that come too fast are dropped.
    pub progress: Option<Arc<dyn Progress>>,
    /// The request's `_meta`, such as `cerebellum/call`.
    pub meta: Map<String, Value>,
    /// Cancels the call; the server is told, and the call ends with [`CallError::Cancelled`].
    pub cancel: CancellationToken,
}

impl CallOptions {
    /// At most this long without news.
    pub fn within(idle: Duration) -> Self {
        Self { idle: Some(idle), ..Self::default() }
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
            .map_err(|_elapsed| AttachError::TimedOut { target: endpoint.target(), within })??;
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
            tools.extend(listed.tools.into_iter().map(RemoteTool::from));
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
            resources.extend(listed.resources.into_iter().map(RemoteResource::from));
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
        let mut asked = PeerRequestOptions::no_options();
        asked.meta = (!options.meta.is_empty()).then(|| RequestMetaObject(MetaObject(options.meta.clone())));
        let handle = self.service.peer().send_cancellable_request(request, asked);
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

async fn within<T, E: Into<CallError>>(
    limit: Duration,
    doing: impl Future<Output = Result<T, E>>,
) -> Result<T, CallError> {
    Box::pin(tokio::time::timeout(limit, doing))
        .await
        .map_err(|_elapsed| CallError::TimedOut { after: limit })?
        .map_err(Into::into)
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
    use serde_json::json;

    #[test]
    fn pairs_become_arguments() {
        let arguments = arguments_of_pairs([("n", "3"), ("name", "red can"), ("p", "{\"a\":1}")]);
        assert_eq!(Value::Object(arguments), json!({"n": 3, "name": "red can", "p": {"a": 1}}));
    }
}
