use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::{Stream, StreamExt};
use http::{HeaderValue, StatusCode, header};
use rmcp::ServerHandler;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::serve_server_with_ct;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::{CancellationToken, DropGuard, PollSender};
use tokio_util::task::TaskTracker;

use super::metrics::Metrics;
use super::repair;

/// The most streams at a time; one more is answered with 503.
const STREAMS_MAX: usize = 256;
/// Messages of one caller that wait to be handled. A POST beyond them waits.
const INBOX: usize = 32;
/// Messages to one caller that wait to be read. A caller that reads no more holds up its own session and nobody else's.
const OUTBOX: usize = 64;
/// How long a POST waits for a place in the inbox.
const PATIENCE: Duration = Duration::from_secs(5);

/// The transport of 2024-11-05: GET `/sse` opens a session and its stream, POST `/messages?session_id=..` sends into it.
/// Closing the stream cancels whatever the session was doing.
pub(super) struct LegacySse<H> {
    handler: H,
    keep_alive: Duration,
    end: CancellationToken,
    tasks: TaskTracker,
    inboxes: Arc<Inboxes>,
}

impl<H: ServerHandler + Clone> LegacySse<H> {
    pub(super) fn new(
        handler: H,
        keep_alive: Duration,
        end: CancellationToken,
        tasks: TaskTracker,
        metrics: Arc<Metrics>,
    ) -> Self {
        Self { handler, keep_alive, end, tasks, inboxes: Arc::new(Inboxes { table: Mutex::default(), metrics }) }
    }

    pub(super) fn router(self) -> Router {
        let inboxes = Arc::clone(&self.inboxes);
        Router::new()
            .route("/sse", get(open::<H>))
            .with_state(Arc::new(self))
            .merge(Router::new().route("/messages", post(accept)).route("/messages/", post(accept)).with_state(inboxes))
    }
}

async fn open<H: ServerHandler + Clone>(State(sse): State<Arc<LegacySse<H>>>) -> Response {
    let (inbox, received) = mpsc::channel(INBOX);
    let (outbox, to_send) = mpsc::channel::<ServerJsonRpcMessage>(OUTBOX);
    let Some(place) = sse.inboxes.open(inbox) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many open streams; close one or try again later\n")
            .into_response();
    };
    let session = sse.end.child_token();
    let guard = session.clone().drop_guard();
    let handler = sse.handler.clone();
    let transport = (PollSender::new(outbox), ReceiverStream::new(received));
    sse.tasks.spawn(async move {
        match serve_server_with_ct(handler, transport, session.clone()).await {
            Ok(service) => drop(service.waiting().await),
            Err(error) => tracing::debug!(%error, "no session was opened on a stream"),
        }
        session.cancel();
    });
    let endpoint = Event::default().event("endpoint").data(format!("/messages?session_id={}", place.id));
    let messages = ReceiverStream::new(to_send).map(|message| event(&message));
    let stream = futures::stream::once(std::future::ready(endpoint)).chain(messages);
    let stream = Open { inner: Box::pin(stream), _place: place, _guard: guard };
    let keep_alive = KeepAlive::new().interval(sse.keep_alive).text("alive");
    let mut response = Sse::new(stream).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn event(message: &ServerJsonRpcMessage) -> Event {
    let text = serde_json::to_string(message).expect("messages of the protocol are JSON");
    Event::default().event("message").data(text)
}

#[derive(Deserialize)]
struct Address {
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
}

async fn accept(State(inboxes): State<Arc<Inboxes>>, Query(address): Query<Address>, body: Body) -> Response {
    let Some(id) = address.session_id else {
        return (StatusCode::BAD_REQUEST, "session_id is missing; it is in the first event of GET /sse\n")
            .into_response();
    };
    let Some(inbox) = inboxes.find(&id) else {
        return (StatusCode::NOT_FOUND, "no such session; open one with GET /sse\n").into_response();
    };
    let body = match repair::read(body).await {
        Ok(body) => body,
        Err(unread) => return unread.into_response(),
    };
    if repair::is_batch(&body) {
        return repair::batch();
    }
    let Ok(message) = serde_json::from_slice::<ClientJsonRpcMessage>(&body) else {
        return repair::unreadable(&body).unwrap_or_else(|| StatusCode::BAD_REQUEST.into_response());
    };
    match tokio::time::timeout(PATIENCE, inbox.send(message)).await {
        Ok(Ok(())) => (StatusCode::ACCEPTED, "Accepted").into_response(),
        Ok(Err(_)) => (StatusCode::NOT_FOUND, "the session has ended\n").into_response(),
        Err(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "the session is busy; read its stream and try again\n").into_response()
        }
    }
}

type Inbox = mpsc::Sender<ClientJsonRpcMessage>;

struct Inboxes {
    table: Mutex<HashMap<String, Inbox>>,
    metrics: Arc<Metrics>,
}

impl Inboxes {
    fn open(self: &Arc<Self>, inbox: Inbox) -> Option<Place> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if table.len() >= STREAMS_MAX {
            return None;
        }
        let id = format!("{:032x}", rand::random::<u128>());
        table.insert(id.clone(), inbox);
        self.metrics.sessions("sse", table.len());
        Some(Place { id, inboxes: Arc::clone(self) })
    }

    fn find(&self, id: &str) -> Option<Inbox> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }
}

/// A session's place in the table, given back when its stream is closed.
struct Place {
    id: String,
    inboxes: Arc<Inboxes>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.inboxes.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.remove(&self.id);
        self.inboxes.metrics.sessions("sse", table.len());
    }
}

/// The stream to the caller. Dropping it cancels the session.
struct Open {
    inner: Pin<Box<dyn Stream<Item = Event> + Send>>,
    _place: Place,
    _guard: DropGuard,
}

impl Stream for Open {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.inner.as_mut().poll_next(context).map(|event| event.map(Ok))
    }
}
