use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::warn;

use crate::router::refusal;

/// Only files of this program, pictures it made, and calls to itself; no inline code, no frames, no forms that leave.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const FETCH_SITE: &str = "sec-fetch-site";

/// The names under which the page may be asked for. Loopback always may; a name of the network only when it is listed, so
/// that a foreign page cannot reach this one through a name of its own that points here.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts(Vec<String>);

impl AllowedHosts {
    /// Loopback and these names (without port); `*` allows every name.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().map(|name| name.to_ascii_lowercase()).collect())
    }

    fn allows(&self, authority: &str) -> bool {
        let host = host_of(authority).to_ascii_lowercase();
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost"
            || address.is_ok_and(|address| address.is_loopback())
            || self.0.iter().any(|name| name == "*" || *name == host)
    }
}

/// The host of `host:port`, with the brackets of an IPv6 address.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Refuses foreign names and foreign pages, and adds the headers that every answer has.
pub(crate) async fn guard(State(guarding): State<Arc<Guarding>>, request: Request, next: Next) -> Response {
    let mut response = match check(&guarding.hosts, &request) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            if let Some(refusals) = guarding.refusals_to_tell(Instant::now()) {
                let path: String = request.uri().path().chars().take(80).collect();
                warn!(status = refused.0.as_u16(), path, reason = refused.2, refusals, "request refused");
            }
            refusal(refused.0, refused.1, &refused.2, &refused.3).into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// How often refusals are told of.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// What the guard knows.
#[derive(Default)]
pub(crate) struct Guarding {
    hosts: AllowedHosts,
    told: Mutex<Option<Instant>>,
    refused: AtomicU64,
}

impl Guarding {
    pub(crate) fn new(hosts: AllowedHosts) -> Self {
        Self { hosts, ..Self::default() }
    }

    /// Counts a refusal. Answers how many there were since the last line, if it is time for one: a page that asks again and
    /// again does not fill the log.
    fn refusals_to_tell(&self, now: Instant) -> Option<u64> {
        self.refused.fetch_add(1, Ordering::Relaxed);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = told.is_none_or(|told| now.saturating_duration_since(told) >= TELL_EVERY);
        is_time.then(|| {
            *told = Some(now);
            self.refused.swap(0, Ordering::Relaxed)
        })
    }
}

type Refused = (StatusCode, &'static str, String, String);

fn check(hosts: &AllowedHosts, request: &Request) -> Result<(), Refused> {
    let headers = request.headers();
    let authority =
        text(headers, HOST.as_str()).or_else(|| request.uri().authority().map(axum::http::uri::Authority::as_str));
    let authority = authority.unwrap_or_default();
    if !hosts.allows(authority) {
        let shown: String = host_of(authority).chars().take(80).collect();
        return Err((
            StatusCode::MISDIRECTED_REQUEST,
            "host_not_allowed",
            format!("the name {shown:?} is not allowed for this page"),
            "use http://127.0.0.1 with this port, or allow the name with --allowed-host".to_owned(),
        ));
    }
    let is_page_load = request.method() == Method::GET && request.uri().path() == "/";
    if !is_page_load && !is_from_this_page(headers, authority) {
        return Err((
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "the request comes from another page".to_owned(),
            "open this page itself".to_owned(),
        ));
    }
    Ok(())
}

/// Browsers send at least one of the two headers with requests that change something; a program such as curl sends neither.
fn is_from_this_page(headers: &HeaderMap, authority: &str) -> bool {
    let site_fits = text(headers, FETCH_SITE).is_none_or(|site| matches!(site, "same-origin" | "none"));
    let origin_fits = text(headers, ORIGIN.as_str()).is_none_or(|origin| {
        let rest = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        rest.is_some_and(|rest| rest.eq_ignore_ascii_case(authority))
    });
    site_fits && origin_fits
}

/// A header as text; one that is no text reads as one that fits nothing.
fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_once_in_ten_seconds_with_their_number() {
        let guarding = Guarding::default();
        let start = Instant::now();
        assert_eq!(guarding.refusals_to_tell(start), Some(1));
        assert!((0..1000).all(|_| guarding.refusals_to_tell(start + TELL_EVERY / 2).is_none()));
        assert_eq!(guarding.refusals_to_tell(start + TELL_EVERY), Some(1001));
    }

    #[test]
    fn loopback_is_allowed_and_other_names_only_when_listed() {
        let none = AllowedHosts::default();
        for host in ["127.0.0.1:8001", "localhost:8001", "LOCALHOST", "[::1]:8001", "127.9.9.9"] {
            assert!(none.allows(host), "{host}");
        }
        let foreign =
            ["", "robot.lan:8001", "localhost.evil.example", "127.0.0.1.evil.example:80", "192.168.1.5:8001", "[::2]"];
        for host in foreign {
            assert!(!none.allows(host), "{host}");
        }
        let listed = AllowedHosts::new(["Robot.lan".to_owned()]);
        assert!(listed.allows("robot.lan:8001") && listed.allows("robot.lan") && !listed.allows("robot.lan.evil:8001"));
        assert!(AllowedHosts::new(["*".to_owned()]).allows("anything.example"));
    }
}
