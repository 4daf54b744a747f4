use std::net::IpAddr;

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

use super::failure;

/// How many characters of a foreign name are shown.
const SHOWN: usize = 80;

/// Only callers that ask for this machine by a loopback name or address: a foreign page could otherwise reach the port
/// through a name of its own that points here.
pub(super) async fn only_loopback_names(request: Request, next: Next) -> Response {
    let sent = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let sent = sent.or_else(|| request.uri().authority().map(Authority::as_str)).unwrap_or_default();
    if is_loopback(sent) {
        return next.run(request).await;
    }
    let shown: String = sent.chars().take(SHOWN).collect();
    let message = format!("the name {shown:?} is not allowed for the control port");
    failure(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", &message, "use http://127.0.0.1 with this port")
}

fn is_loopback(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_this_machine =
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_this_machine && !authority.as_str().contains('@')
}
