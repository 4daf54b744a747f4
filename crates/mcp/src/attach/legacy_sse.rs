use std::pin::Pin;
use std::sync::Arc;

use futures::{Stream, StreamExt};
use http::header;
use reqwest::{StatusCode, Url};
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use secrecy::{ExposeSecret, SecretString};
use sse_stream::{Sse, SseStream};

use super::Address;
use super::error::{AttachError, Kind, of_answer, of_failure};

/// Opens the stream of a legacy server and waits until it has said where messages go.
pub(super) async fn open(http: reqwest::Client, address: &Address) -> Result<LegacySse, AttachError> {
    let mut request = http.get(&address.url).header(header::ACCEPT, "text/event-stream");
    if let Some(token) = &address.token {
        request = request.bearer_auth(token.expose_secret());
    }
    let response = request.send().await.map_err(|error| of_failure(address, &error))?;
    if let Some(error) = of_answer(address, Kind::LegacySse, &response) {
        return Err(error);
    }
    let here = response.url().clone();
    let mut events: Events = Box::pin(SseStream::from_bytes_stream(response.bytes_stream()));
    let no_mcp = |reason: &str| AttachError::NoMcp { target: address.url.clone(), reason: reason.to_owned() };
    loop {
        let event = events.next().await.ok_or_else(|| no_mcp("the stream ended before it named its endpoint"))?;
        let event = event.map_err(|error| no_mcp(&error.to_string()))?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let path = event.data.unwrap_or_default();
        let inbox = here.join(path.trim()).map_err(|error| no_mcp(&error.to_string()))?;
        // The token goes along with every message: never to another machine than the one that was named.
        if inbox.origin() != here.origin() {
            return Err(no_mcp(&format!("it sends messages elsewhere, to {inbox}")));
        }
        let outbox = Outbox { http, inbox, token: address.token.clone() };
        return Ok(LegacySse { events, outbox: Arc::new(outbox) });
    }
}

type Events = Pin<Box<dyn Stream<Item = Result<Sse, sse_stream::Error>> + Send>>;

/// An open stream and the address for messages.
pub(super) struct LegacySse {
    events: Events,
    outbox: Arc<Outbox>,
}

struct Outbox {
    http: reqwest::Client,
    inbox: Url,
    token: Option<SecretString>,
}

/// Why a message could not be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("the server could not be reached")]
    Http(#[from] reqwest::Error),
    #[error("the server answered {0} to a message")]
    Status(StatusCode),
}

impl Outbox {
    async fn send(&self, message: ClientJsonRpcMessage) -> Result<(), SendError> {
        let mut request = self.http.post(self.inbox.clone()).json(&message);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose_secret());
        }
        let status = request.send().await?.status();
        if status.is_success() { Ok(()) } else { Err(SendError::Status(status)) }
    }
}

impl Transport<RoleClient> for LegacySse {
    type Error = SendError;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        let outbox = Arc::clone(&self.outbox);
        async move { outbox.send(message).await }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            let event = match self.events.next().await? {
                Ok(event) => event,
                Err(error) => {
                    tracing::warn!(%error, "the stream of the server broke");
                    return None;
                }
            };
            let Some(data) = event.data.filter(|_| event.event.as_deref().is_none_or(|kind| kind == "message")) else {
                continue;
            };
            match serde_json::from_str(&data) {
                Ok(message) => return Some(message),
                Err(error) => tracing::warn!(%error, "the server sent what is no message"),
            }
        }
    }

    async fn close(&mut self) -> Result<(), SendError> {
        self.events = Box::pin(futures::stream::empty());
        Ok(())
    }
}
