use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Json, Response};
use http::{HeaderMap, Method, StatusCode, header};
use serde::de::IgnoredAny;
use serde_json::json;

use super::metrics::Metrics;

/// The largest body of a request, in bytes.
pub(super) const BODY_LIMIT: usize = 4 * 1024 * 1024;

/// The layer around `/mcp`: batches and what is no JSON get an answer that says so, a missing Accept header is named, and
/// the end of a session is answered with 204 (some clients take 202 for a failure).
pub(super) async fn layer(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let says_json = says_json(request.headers());
    let (response, sent) = if method == Method::POST {
        let (parts, body) = request.into_parts();
        let Ok(sent) = to_bytes(body, BODY_LIMIT).await else {
            metrics.refused("too_large");
            return refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                -32600,
                &format!("the body is larger than {BODY_LIMIT} bytes"),
            );
        };
        if is_batch(&sent) {
            metrics.refused("batch");
            return batch();
        }
        (next.run(Request::from_parts(parts, Body::from(sent.clone()))).await, sent)
    } else {
        (next.run(request).await, Bytes::new())
    };
    match response.status() {
        StatusCode::ACCEPTED if method == Method::DELETE => StatusCode::NO_CONTENT.into_response(),
        StatusCode::NOT_ACCEPTABLE => not_acceptable(&method),
        StatusCode::UNSUPPORTED_MEDIA_TYPE if says_json => unreadable(&sent).unwrap_or(response),
        _ => response,
    }
}

/// Batches left the protocol in June 2025; one that held a motion could not be cancelled by closing its stream.
pub(super) fn is_batch(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

pub(super) fn batch() -> Response {
    refusal(StatusCode::BAD_REQUEST, -32600, "JSON-RPC batches are not taken; send one message in each POST")
}

/// What is wrong with a body that is no message, if it is the body.
pub(super) fn unreadable(body: &[u8]) -> Option<Response> {
    match serde_json::from_slice::<IgnoredAny>(body) {
        Err(error) => Some(refusal(StatusCode::BAD_REQUEST, -32700, &format!("the body is no JSON: {error}"))),
        Ok(_) if looks_like_a_message(body) => None,
        Ok(_) => Some(refusal(StatusCode::BAD_REQUEST, -32600, "the body is JSON, but no JSON-RPC 2.0 message")),
    }
}

fn looks_like_a_message(body: &[u8]) -> bool {
    serde_json::from_slice::<rmcp::model::ClientJsonRpcMessage>(body).is_ok()
}

/// Whether the sender says that the body is JSON. If not, the answer is about that header and not about the body.
fn says_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

fn not_acceptable(method: &Method) -> Response {
    let wanted = if *method == Method::GET { "text/event-stream" } else { "application/json, text/event-stream" };
    refusal(StatusCode::NOT_ACCEPTABLE, -32600, &format!("send the header \"Accept: {wanted}\""))
}

fn refusal(status: StatusCode, code: i32, message: &str) -> Response {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
    (status, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_told_apart() {
        assert!(is_batch(b" \n[{}]") && !is_batch(b"{\"a\":[]}") && !is_batch(b""));
        assert!(unreadable(b"{\"jsonrpc\":").is_some());
        assert!(unreadable(b"{\"hello\":1}").is_some());
        assert!(unreadable(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_none());
    }
}
