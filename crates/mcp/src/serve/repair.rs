use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Json, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};

use super::metrics::Metrics;
use super::sessions::SessionsError;

/// The largest body of a request, in bytes.
pub(super) const BODY_LIMIT: usize = 4 * 1024 * 1024;

/// How long a body may take to arrive.
const BODY_WITHIN: Duration = Duration::from_secs(10);
/// The most that is read of an answer of the library that tells of a fault.
const FAULT_LIMIT: usize = 4096;

/// The layer around `/mcp`: batches and what is no JSON get an answer that says so, a missing Accept header is named, a
/// full table of sessions is no fault of the server, and the end of a session is answered with 204 (some clients take 202
/// for a failure).
pub(super) async fn layer(State(metrics): State<Arc<Metrics>>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let says_json = says_json(request.headers());
    let (response, sent) = if method == Method::POST {
        let (parts, body) = request.into_parts();
        let sent = match read(body).await {
            Ok(sent) => sent,
            Err(unread) => {
                metrics.refused(unread.word());
                return unread.into_response();
            }
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
        StatusCode::INTERNAL_SERVER_ERROR => full(response, &metrics).await,
        _ => response,
    }
}

/// The whole body of a request.
pub(super) async fn read(body: Body) -> Result<Bytes, Unread> {
    match tokio::time::timeout(BODY_WITHIN, to_bytes(body, BODY_LIMIT)).await {
        Ok(read) => read.map_err(|_broken| Unread::TooLarge),
        Err(_) => Err(Unread::Late),
    }
}

/// Why a body was not read. The rest of it is not read either: the connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    TooLarge,
    Late,
}

impl Unread {
    fn word(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Late => "body_timeout",
        }
    }
}

impl IntoResponse for Unread {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {BODY_LIMIT} bytes")),
            Self::Late => {
                let seconds = BODY_WITHIN.as_secs();
                (StatusCode::REQUEST_TIMEOUT, format!("the body was not complete within {seconds} s; send it again"))
            }
        };
        let mut response = refusal(status, -32600, &message);
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

/// The library calls every reason for which there is no session a fault of the server.
async fn full(response: Response, metrics: &Metrics) -> Response {
    let (parts, body) = response.into_parts();
    let told = to_bytes(body, FAULT_LIMIT).await.unwrap_or_default();
    let full = SessionsError::Full.to_string();
    if String::from_utf8_lossy(&told).contains(&full) {
        metrics.refused("full");
        return refusal(StatusCode::SERVICE_UNAVAILABLE, -32000, &full);
    }
    Response::from_parts(parts, Body::from(told))
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
    match serde_json::from_slice::<Value>(body) {
        Err(error) => Some(refusal(StatusCode::BAD_REQUEST, -32700, &fault(&error))),
        Ok(_) if looks_like_a_message(body) => None,
        Ok(_) => Some(refusal(StatusCode::BAD_REQUEST, -32600, "the body is JSON, but no JSON-RPC 2.0 message")),
    }
}

/// Some JSON is more than a parser takes; that is told apart from what is no JSON. The parser names it in words only.
fn fault(error: &serde_json::Error) -> String {
    let (words, line, column) = (error.to_string(), error.line(), error.column());
    if words.starts_with("recursion limit exceeded") {
        format!("the body is nested too deeply at line {line} column {column}")
    } else if words.starts_with("number out of range") {
        format!("the body has a number out of range at line {line} column {column}")
    } else {
        format!("the body is no JSON: {words}")
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

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up() {
        let begun = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))]);
        let never = futures::StreamExt::chain(begun, futures::stream::pending());
        let unread = read(Body::from_stream(never)).await.unwrap_err();
        assert_eq!(unread, Unread::Late);
        let answer = unread.into_response();
        assert_eq!(answer.status(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(answer.headers()[header::CONNECTION], "close");
    }
}
