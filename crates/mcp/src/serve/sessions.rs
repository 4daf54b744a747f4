use std::collections::HashMap;
use std::collections::HashSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::Stream;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, GetExtensions, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, LocalSessionManagerError};
use rmcp::transport::streamable_http_server::session::{ServerSseMessage, SessionId, SessionManager};

use super::metrics::Metrics;
use super::throttle::Throttle;
use crate::calls::{Attached, StreamLink};

/// A session without a request for this long ends. Shorter, and clients of a robot that idles would die: many cannot open a
/// new session.
const IDLE: Duration = Duration::from_secs(3600);
/// The most sessions at a time. One more ends the one that was idle longest.
pub(super) const SESSIONS_MAX: usize = 256;

/// The sessions of `/mcp`. Each request for a motion carries a [`StreamLink`], attached while a stream of it (the POST's own,
/// or a GET with its Last-Event-ID) is open.
pub(super) struct Sessions {
    local: LocalSessionManager,
    motions: HashSet<String>,
    shared: Arc<Shared>,
    log: Throttle,
}

/// Why a session could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("all {SESSIONS_MAX} sessions are in use; close one or try again later")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(motions: Vec<String>, metrics: Arc<Metrics>) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(IDLE);
        Self {
            local,
            motions: motions.into_iter().collect(),
            shared: Arc::new(Shared { table: Mutex::default(), metrics }),
            log: Throttle::default(),
        }
    }

    fn is_motion(&self, message: &ClientJsonRpcMessage) -> bool {
        let ClientJsonRpcMessage::Request(request) = message else { return false };
        match &request.request {
            ClientRequest::CallToolRequest(call) => self.motions.contains(call.params.name.as_ref()),
            ClientRequest::CustomRequest(custom) if custom.method == "tools/call" => {
                let name = custom.params.as_ref().and_then(|params| params.get("name"));
                name.and_then(|name| name.as_str()).is_some_and(|name| self.motions.contains(name))
            }
            _ => false,
        }
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionsError> {
        if self.shared.open() >= SESSIONS_MAX {
            let idle = self.shared.idle_longest().ok_or(SessionsError::Full)?;
            if let Some(count) = self.log.due() {
                tracing::warn!(count, limit = SESSIONS_MAX, "too many sessions, ending those idle longest");
            }
            self.close_session(&idle).await?;
        }
        let (id, transport) = self.local.create_session().await?;
        self.shared.insert(id.clone());
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionsError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionsError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionsError> {
        self.shared.remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let in_use = InUse::of(&self.shared, id);
        let link = self.is_motion(&message).then(StreamLink::default);
        let attached = link.as_ref().map(StreamLink::attach);
        if let (Some(link), ClientJsonRpcMessage::Request(request)) = (&link, &mut message) {
            request.request.extensions_mut().insert(link.clone());
        }
        let inner = self.local.create_stream(id, message).await?;
        Ok(Tracked { inner: Box::pin(inner), in_use, _attached: attached, unnamed: link })
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let in_use = InUse::of(&self.shared, id);
        let inner = self.local.create_standalone_stream(id).await?;
        Ok(Tracked { inner: Box::pin(inner), in_use, _attached: None, unnamed: None })
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionsError> {
        let in_use = InUse::of(&self.shared, id);
        let attached =
            stream_of(&last_event_id).and_then(|stream| self.shared.link(id, stream)).map(|link| link.attach());
        let inner = self.local.resume(id, last_event_id).await?;
        Ok(Tracked { inner: Box::pin(inner), in_use, _attached: attached, unnamed: None })
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), SessionsError> {
        drop(InUse::of(&self.shared, id));
        Ok(self.local.accept_message(id, message).await?)
    }
}

/// The number of the stream in an event id, which reads `INDEX/STREAM`.
fn stream_of(event_id: &str) -> Option<u64> {
    event_id.split_once('/')?.1.parse().ok()
}

struct Shared {
    table: Mutex<HashMap<SessionId, Session>>,
    metrics: Arc<Metrics>,
}

struct Session {
    last_used: Instant,
    streams: usize,
    /// Motions that run, by the number of the stream that was opened for them.
    links: HashMap<u64, StreamLink>,
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> usize {
        self.table().len()
    }

    fn insert(&self, id: SessionId) {
        let mut table = self.table();
        table.insert(id, Session { last_used: Instant::now(), streams: 0, links: HashMap::new() });
        self.metrics.sessions("http", table.len());
    }

    fn remove(&self, id: &SessionId) {
        let mut table = self.table();
        table.remove(id);
        self.metrics.sessions("http", table.len());
    }

    fn idle_longest(&self) -> Option<SessionId> {
        let table = self.table();
        let idle = table.iter().filter(|(_, session)| session.streams == 0);
        idle.min_by_key(|(_, session)| session.last_used).map(|(id, _)| id.clone())
    }

    fn link(&self, id: &SessionId, stream: u64) -> Option<StreamLink> {
        self.table().get(id)?.links.get(&stream).cloned()
    }
}

/// A session that is being used; it is not ended to make room.
struct InUse {
    shared: Arc<Shared>,
    id: SessionId,
}

impl InUse {
    fn of(shared: &Arc<Shared>, id: &SessionId) -> Self {
        if let Some(session) = shared.table().get_mut(id) {
            session.streams += 1;
            session.last_used = Instant::now();
        }
        Self { shared: Arc::clone(shared), id: id.clone() }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(session) = self.shared.table().get_mut(&self.id) {
            session.streams = session.streams.saturating_sub(1);
            session.last_used = Instant::now();
        }
    }
}

/// A stream to a caller. Dropping it detaches the caller from the motion it belongs to.
struct Tracked {
    inner: Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>,
    in_use: InUse,
    _attached: Option<Attached>,
    /// The link of a motion whose stream has not told its number yet: its first event does.
    unnamed: Option<StreamLink>,
}

impl Tracked {
    fn learn_number(&mut self, event: &ServerSseMessage) {
        let Some(stream) = event.event_id.as_deref().and_then(stream_of) else { return };
        let Some(link) = self.unnamed.take() else { return };
        if let Some(session) = self.in_use.shared.table().get_mut(&self.in_use.id) {
            // Calls that have ended leave links that nobody needs.
            session.links.retain(|_, link| link.is_needed());
            session.links.insert(stream, link);
        }
    }
}

impl Stream for Tracked {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = self.inner.as_mut().poll_next(context);
        if let Poll::Ready(Some(event)) = &polled
            && self.unnamed.is_some()
        {
            self.learn_number(event);
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_ids_name_their_stream() {
        assert_eq!(stream_of("0/7"), Some(7));
        assert_eq!(stream_of("12/0"), Some(0));
        assert_eq!(stream_of("0"), None);
        assert_eq!(stream_of("0/x"), None);
    }

    #[tokio::test]
    async fn one_session_too_many_ends_the_one_idle_longest() {
        let sessions = Sessions::new(vec![], Arc::default());
        let mut ids = Vec::new();
        let mut transports = Vec::new();
        for _ in 0..SESSIONS_MAX {
            let (id, transport) = sessions.create_session().await.unwrap();
            ids.push(id);
            transports.push(transport);
        }
        let busy = InUse::of(&sessions.shared, &ids[0]);
        sessions.create_session().await.unwrap();
        assert!(sessions.has_session(&ids[0]).await.unwrap());
        assert!(!sessions.has_session(&ids[1]).await.unwrap());
        assert_eq!(sessions.shared.open(), SESSIONS_MAX);
        drop(busy);
    }

    #[tokio::test]
    async fn sessions_that_are_all_in_use_leave_no_room() {
        let sessions = Sessions::new(vec![], Arc::default());
        let mut in_use = Vec::new();
        for _ in 0..SESSIONS_MAX {
            let (id, transport) = sessions.create_session().await.unwrap();
            in_use.push((InUse::of(&sessions.shared, &id), transport));
        }
        assert!(matches!(sessions.create_session().await, Err(SessionsError::Full)));
    }
}
