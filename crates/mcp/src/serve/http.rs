use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::get;
use axum_server::Handle;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use rmcp::ServerHandler;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::guard::{self, Guard};
use super::legacy_sse::LegacySse;
use super::sessions::Sessions;
use super::sockets::Sockets;
use super::{STOP_BOUND, ServeConfig, ServeError, Served, port_holder, repair, tls};
use crate::tool_server::Readiness;

/// Bytes on every open stream at least this often, so that no proxy between takes it for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The same for servers with motion tools: a dead caller must be noticed soon.
const KEEP_ALIVE_MOTION: Duration = Duration::from_secs(1);
/// How long sent bytes may stay unacknowledged before the connection counts as dead.
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);
/// The same for servers with motion tools.
const UNACKNOWLEDGED_MOTION: Duration = Duration::from_secs(3);
/// How long a new connection may take to send its first request.
const FIRST_REQUEST: Duration = Duration::from_secs(20);
/// How long a connection may wait for the headers of its next request. Longer than clients keep a connection that is idle, so
/// that none is closed under a request.
const NEXT_REQUEST: Duration = Duration::from_secs(120);
/// How long `/readyz` waits for the server's own answer.
const READINESS: Duration = Duration::from_secs(2);

/// Binds the port and answers with it and with what serves there until `stop` is cancelled.
pub(super) async fn open<H: ServerHandler + Clone>(
    served: Served<H>,
    config: ServeConfig,
    stop: CancellationToken,
) -> Result<(SocketAddr, impl Future<Output = ()> + Send + 'static), ServeError> {
    let exposed = exposure(&config, &served.motions)?;
    let tls = config.tls.as_ref().map(tls::load).transpose()?;
    let (listener, address) = bind(&config.host, config.port).await?;
    let calls = served.calls.clone();
    let sockets = Sockets::new(if served.motions.is_empty() { UNACKNOWLEDGED } else { UNACKNOWLEDGED_MOTION });
    let sessions_end = CancellationToken::new();
    let tasks = TaskTracker::new();
    let router = router(served, &config, &sessions_end, &tasks);
    let handle = Handle::new();
    let secure = tls.is_some();
    tracing::info!(%address, secure, "MCP is served at /mcp and /sse");
    if let Some(warning) = exposed {
        tracing::warn!(host = config.host, "{warning}");
    }
    let connections = listen(listener, tls, (sockets, handle.clone()), router);
    let serving = async move {
        let told_to_stop = async {
            stop.cancelled().await;
            calls.stop(STOP_BOUND).await;
            sessions_end.cancel();
            handle.graceful_shutdown(Some(STOP_BOUND));
        };
        tokio::pin!(connections);
        tokio::select! {
            result = &mut connections => if let Err(error) = result {
                tracing::error!(%error, "the port can no longer be served");
            },
            () = told_to_stop => if let Err(error) = connections.await {
                tracing::warn!(%error, "connections did not close cleanly");
            },
        }
        sessions_end.cancel();
        tasks.close();
        if tokio::time::timeout(STOP_BOUND, tasks.wait()).await.is_err() {
            tracing::warn!(left = tasks.len(), "sessions did not end in time, leaving them");
        }
    };
    Ok((address, serving))
}

/// What to warn of when anyone on the network may call; an error when that may not be.
fn exposure(config: &ServeConfig, motions: &[String]) -> Result<Option<&'static str>, ServeError> {
    let loopback =
        config.host == "localhost" || config.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if loopback || config.token.is_some() {
        return Ok(None);
    }
    if motions.is_empty() {
        return Ok(Some("no token: anyone on the network can call this server; set MCP_TOKEN or --token-file"));
    }
    if config.unauthenticated_motion {
        return Ok(Some("auth: none - anyone on the network can move the robot"));
    }
    Err(ServeError::MotionWithoutToken { host: config.host.clone() })
}

async fn bind(host: &str, port: u16) -> Result<(std::net::TcpListener, SocketAddr), ServeError> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let named = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let bound = async {
        let listener = TcpListener::bind((host, port)).await?;
        let address = listener.local_addr()?;
        Ok((listener.into_std()?, address))
    };
    bound.await.map_err(|source: io::Error| match source.kind() {
        io::ErrorKind::AddrInUse => ServeError::PortInUse { address: named, holder: port_holder::of(port) },
        _ => ServeError::Bind { address: named, source },
    })
}

async fn listen(
    listener: std::net::TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    (sockets, handle): (Sockets, Handle<SocketAddr>),
    router: Router,
) -> io::Result<()> {
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let mut server = axum_server::from_tcp(listener)?.handle(handle).first_request_timeout(FIRST_REQUEST).http1_only();
    server.http_builder().http1().header_read_timeout(NEXT_REQUEST);
    match tls {
        None => server.acceptor(sockets).serve(service).await,
        Some(config) => {
            let secured = RustlsAcceptor::new(RustlsConfig::from_config(config)).acceptor(sockets);
            server.acceptor(secured).serve(service).await
        }
    }
}

fn router<H: ServerHandler + Clone>(
    served: Served<H>,
    config: &ServeConfig,
    end: &CancellationToken,
    tasks: &TaskTracker,
) -> Router {
    let keep_alive = if served.motions.is_empty() { KEEP_ALIVE } else { KEEP_ALIVE_MOTION };
    let guard = Guard::new(&config.host, &config.allowed_hosts, config.token.clone(), Arc::clone(&served.metrics));
    let mcp = {
        let handler = served.handler.clone();
        let sessions = Sessions::new(served.motions.clone(), Arc::clone(&served.metrics));
        let mut settings = StreamableHttpServerConfig::default().disable_allowed_hosts();
        settings.cancellation_token = end.clone();
        settings.sse_keep_alive = Some(keep_alive);
        settings.max_request_body_bytes = repair::BODY_LIMIT;
        StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(sessions), settings)
    };
    let metrics = Arc::clone(&served.metrics);
    let about =
        Arc::new(About { name: served.name.clone(), probe: served.probe, metrics: Arc::clone(&served.metrics) });
    let sse = LegacySse::new(served.handler, keep_alive, end.clone(), tasks.clone(), served.metrics);
    Router::new()
        .route_service("/mcp", mcp)
        .layer(axum::middleware::from_fn_with_state(metrics, repair::layer))
        .merge(sse.router())
        .merge(
            Router::new()
                .route("/health", get(health))
                .route("/readyz", get(ready))
                .route("/metrics", get(metered))
                .with_state(about),
        )
        .fallback(nothing_here)
        .layer(axum::middleware::from_fn_with_state(Arc::new(guard), guard::layer))
}

struct About {
    name: String,
    probe: Arc<dyn Fn() -> super::ReadinessFuture + Send + Sync>,
    metrics: Arc<super::metrics::Metrics>,
}

async fn health(State(about): State<Arc<About>>) -> Response {
    Json(json!({"status": "ok", "server": about.name})).into_response()
}

async fn ready(State(about): State<Arc<About>>) -> Response {
    let readiness = tokio::time::timeout(READINESS, (about.probe)()).await;
    match readiness.unwrap_or_else(|_| Readiness::NotReady("it does not answer in time".to_owned())) {
        Readiness::Ready => Json(json!({"ready": true, "server": about.name})).into_response(),
        Readiness::NotReady(missing) => {
            let body = json!({"ready": false, "server": about.name, "missing": missing});
            (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
        }
    }
}

async fn metered(State(about): State<Arc<About>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(http::header::CONTENT_TYPE, kind)], about.metrics.text()).into_response()
}

async fn nothing_here() -> Response {
    (StatusCode::NOT_FOUND, "Nothing here. MCP is at /mcp (streamable HTTP) and /sse (legacy SSE).\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_port_without_a_token_is_warned_of() {
        let warning = |host: &str, token: Option<&str>| {
            let config = ServeConfig { host: host.into(), token: token.map(Into::into), ..ServeConfig::default() };
            exposure(&config, &[]).unwrap()
        };
        for wide in ["0.0.0.0", "::", "192.168.1.5", "robot.lan"] {
            assert!(warning(wide, None).is_some_and(|warning| warning.contains("MCP_TOKEN")), "{wide}");
            assert_eq!(warning(wide, Some("s3cret")), None, "{wide}");
        }
        for narrow in ["127.0.0.1", "::1", "localhost"] {
            assert_eq!(warning(narrow, None), None, "{narrow}");
        }
    }
}
