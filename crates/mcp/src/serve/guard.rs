use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri, header};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use super::metrics::Metrics;
use super::throttle::Throttle;
use crate::shown::shown;

/// The path that answers without a token.
const OPEN_PATH: &str = "/health";
/// Names of this machine seen from itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Who may call: by which Host, from which Origin, with which token.
pub(super) struct Guard {
    hosts: Hosts,
    token: Option<SecretString>,
    metrics: Arc<Metrics>,
    log: Throttle,
}

impl Guard {
    pub(super) fn new(bound: &str, allowed: &[String], token: Option<SecretString>, metrics: Arc<Metrics>) -> Self {
        Self { hosts: Hosts::new(bound, allowed), token, metrics, log: Throttle::default() }
    }

    /// Turns a request away, or says that it may pass.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        self.hosts.check_host(uri, headers)?;
        self.hosts.check_origin(headers)?;
        if uri.path() == OPEN_PATH { Ok(()) } else { self.check_token(headers) }
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let sent = headers.get(header::AUTHORIZATION).map(http::HeaderValue::as_bytes).unwrap_or_default();
        let (scheme, value) = sent.split_at_checked(7).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(b"Bearer ") {
            return Err(Refusal::NoToken);
        }
        let same: bool = value.trim_ascii().ct_eq(token.expose_secret().as_bytes()).into();
        if same { Ok(()) } else { Err(Refusal::WrongToken) }
    }
}

/// The layer in front of every path.
pub(super) async fn layer(
    State(guard): State<Arc<Guard>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            guard.metrics.refused(refusal.word());
            if let Some(count) = guard.log.due() {
                refusal.log(peer, &shown(request.uri().path()), count);
            }
            refusal.into_response()
        }
    }
}

struct Hosts {
    any: bool,
    allowed: Vec<(String, Option<u16>)>,
}

impl Hosts {
    fn new(bound: &str, allowed: &[String]) -> Self {
        let any = allowed.iter().any(|entry| entry.trim() == "*");
        let own = bound.parse::<IpAddr>().map_or(true, |address| !address.is_unspecified()).then(|| bound.to_owned());
        let names = LOOPBACK.iter().map(|&name| name.to_owned()).chain(own).chain(allowed.iter().cloned());
        Self { any, allowed: names.filter_map(|name| split(name.trim())).collect() }
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        let sent = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let sent = sent.or_else(|| uri.authority().map(Authority::as_str)).unwrap_or_default();
        if self.any || split(sent).is_some_and(|(name, port)| self.knows(&name, port)) {
            return Ok(());
        }
        Err(Refusal::Host(shown(sent)))
    }

    /// Requests that come from no web page carry no Origin. A page may call only when it was itself served under an allowed
    /// name.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
        let text = origin.to_str().unwrap_or_default();
        let authority = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
        let allowed =
            authority.and_then(split).is_some_and(|(name, _)| self.allowed.iter().any(|(host, _)| *host == name));
        if self.any || allowed { Ok(()) } else { Err(Refusal::Origin(shown(text))) }
    }

    fn knows(&self, name: &str, port: Option<u16>) -> bool {
        self.allowed.iter().any(|(host, wanted)| host == name && (wanted.is_none() || *wanted == port))
    }
}

/// Name and port of an authority; IPv6 addresses without their brackets.
fn split(authority: &str) -> Option<(String, Option<u16>)> {
    if let Ok(address) = authority.parse::<std::net::Ipv6Addr>() {
        return Some((address.to_string(), None));
    }
    let authority: Authority = authority.parse().ok()?;
    let port = match authority.port() {
        Some(port) => Some(port.as_str().parse().ok()?),
        None => None,
    };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    (!authority.as_str().contains('@')).then(|| (name.to_ascii_lowercase(), port))
}

enum Refusal {
    Host(String),
    Origin(String),
    NoToken,
    WrongToken,
}

impl Refusal {
    fn word(&self) -> &'static str {
        match self {
            Self::Host(_) => "host",
            Self::Origin(_) => "origin",
            Self::NoToken => "no_token",
            Self::WrongToken => "wrong_token",
        }
    }

    /// `count` is how many requests were refused since the last line; the line is about the newest.
    fn log(&self, peer: SocketAddr, path: &str, count: u64) {
        match self {
            Self::Host(host) => tracing::warn!(
                %peer, path, host, count,
                "refused: this Host is not allowed; name it in MCP_ALLOWED_HOSTS or with --allowed-host"
            ),
            Self::Origin(origin) => tracing::warn!(
                %peer, path, origin, count,
                "refused: a web page of this Origin may not call; name its host in MCP_ALLOWED_HOSTS or with --allowed-host"
            ),
            Self::NoToken => tracing::warn!(%peer, path, count, "refused: no bearer token was sent (MCP_TOKEN is set)"),
            Self::WrongToken => {
                tracing::warn!(%peer, path, count, "refused: the bearer token is not the one in MCP_TOKEN");
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        match self {
            Self::Host(host) => text(
                StatusCode::MISDIRECTED_REQUEST,
                format!(
                    "Host {host:?} is not allowed. Start the server with --allowed-host NAME, or set MCP_ALLOWED_HOSTS=NAME \
                     (several by comma, * for any).\n"
                ),
            ),
            Self::Origin(origin) => text(
                StatusCode::FORBIDDEN,
                format!(
                    "Origin {origin:?} is not allowed. Name its host in MCP_ALLOWED_HOSTS or with --allowed-host.\n"
                ),
            ),
            Self::NoToken | Self::WrongToken => {
                let mut response = text(
                    StatusCode::UNAUTHORIZED,
                    "This server wants the header \"Authorization: Bearer TOKEN\" with the token of MCP_TOKEN.\n"
                        .to_owned(),
                );
                let challenge = http::HeaderValue::from_static("Bearer realm=\"mcp\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
                response
            }
        }
    }
}

fn text(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], Body::from(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(bound: &str, allowed: &[&str], token: Option<&str>) -> Guard {
        let allowed: Vec<_> = allowed.iter().map(|&name| name.to_owned()).collect();
        Guard::new(bound, &allowed, token.map(SecretString::from), Arc::default())
    }

    fn answer(guard: &Guard, path: &str, headers: &[(&'static str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        match guard.check(&path.parse().unwrap(), &map) {
            Ok(()) => 200,
            Err(refusal) => refusal.into_response().status().as_u16(),
        }
    }

    #[test]
    fn only_known_hosts_pass() {
        let narrow = guard("127.0.0.1", &[], None);
        let wide = guard("0.0.0.0", &["robot.tailnet", "100.64.0.1:9201"], None);
        let own = guard("192.168.1.5", &[], None);
        let any = guard("0.0.0.0", &["*"], None);
        for (guard, host, status) in [
            (&narrow, "localhost:9201", 200),
            (&narrow, "LOCALHOST", 200),
            (&narrow, "127.0.0.1:9201", 200),
            (&narrow, "[::1]:9201", 200),
            (&narrow, "evil.com", 421),
            (&narrow, "evil.com:9201", 421),
            (&narrow, "127.0.0.1.evil.com", 421),
            (&narrow, "localhost@evil.com", 421),
            (&narrow, "robot.tailnet:9201", 421),
            (&narrow, "", 421),
            (&wide, "robot.tailnet:9201", 200),
            (&wide, "100.64.0.1:9201", 200),
            (&wide, "100.64.0.1:9202", 421),
            (&wide, "0.0.0.0:9201", 421),
            (&own, "192.168.1.5:9201", 200),
            (&any, "evil.com", 200),
        ] {
            assert_eq!(answer(guard, "/mcp", &[("host", host)]), status, "{host:?}");
        }
    }

    #[test]
    fn a_page_of_another_site_may_not_call() {
        let guard = guard("127.0.0.1", &["robot.tailnet"], None);
        for (origin, status) in [
            ("http://localhost:3000", 200),
            ("https://robot.tailnet", 200),
            ("http://[::1]:8001", 200),
            ("https://evil.com", 403),
            ("null", 403),
            ("file://localhost", 403),
            ("http://localhost.evil.com", 403),
        ] {
            assert_eq!(answer(&guard, "/mcp", &[("host", "localhost"), ("origin", origin)]), status, "{origin}");
        }
    }

    #[test]
    fn the_token_is_asked_for_everywhere_but_on_health() {
        let guard = guard("127.0.0.1", &[], Some("s3cret"));
        for (path, sent, status) in [
            ("/mcp", "Bearer s3cret", 200),
            ("/mcp", "bearer s3cret", 200),
            ("/mcp", "Bearer wrong", 401),
            ("/mcp", "Bearer s3cre", 401),
            ("/mcp", "Basic s3cret", 401),
            ("/sse", "", 401),
            ("/readyz", "", 401),
            ("/metrics", "", 401),
            ("/health", "", 200),
        ] {
            assert_eq!(
                answer(&guard, path, &[("host", "localhost"), ("authorization", sent)]),
                status,
                "{path} {sent}"
            );
        }
        assert_eq!(answer(&guard, "/mcp", &[("host", "localhost")]), 401);
    }
}
