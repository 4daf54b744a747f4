use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::WallClock;
use cerebellum_wire::event::Event;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, redirect};
use tracing::warn;

use super::line::{Attempt, Outcome};
use super::target::{PushError, Target};
use crate::signing::{self, ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER};

/// How long a receiver may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The longest id of a caller.
const ID_LENGTH_MAX: usize = 200;
/// How much of an answer is read, so that its connection can be used again.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// A client that keeps its connection, follows no redirect (a signed body is for one receiver only) and uses no proxy.
pub(super) fn client(target: &Target) -> Result<Client, PushError> {
    // Whoever installed a provider first has the say; ours is only there so that there is one.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        drop(rustls::crypto::ring::default_provider().install_default());
    }
    let mut builder = Client::builder()
        .redirect(redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("cerebellum/", env!("CARGO_PKG_VERSION")));
    if target.url().scheme() == "http" {
        // Without TLS a host needs no root certificates, so they are not looked for.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| PushError::Client { reason: cause(&error) })
}

/// The id an event travels under: its own, or a new one.
pub(super) fn event_id(event: &Event) -> Arc<str> {
    match event.id.as_deref() {
        Some(id) if is_header_text(id) => id.into(),
        other => {
            if other.is_some() {
                warn!(task_id = event.task_id, "event got a new id, its own cannot stand in a header");
            }
            format!("evt_{:032x}", rand::random::<u128>()).into()
        }
    }
}

fn is_header_text(id: &str) -> bool {
    (1..=ID_LENGTH_MAX).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// One try: signs for the present moment, sends, and waits for the answer.
pub(super) async fn post(client: &Client, target: &Target, clock: &dyn WallClock, attempt: &Attempt) -> Outcome {
    let timestamp = clock.now().nanos().div_euclid(1_000_000_000);
    let signatures = signing::sign(target.secrets(), &attempt.id, timestamp, &attempt.body);
    let request = client
        .post(target.url().clone())
        .header(CONTENT_TYPE, "application/json")
        .header(ID_HEADER, attempt.id.as_ref())
        .header(TIMESTAMP_HEADER, timestamp)
        .header(SIGNATURE_HEADER, signatures)
        .body(attempt.body.to_vec());
    let answered = async {
        match request.send().await {
            Ok(response) => {
                let outcome = read(response.status(), response.headers());
                finish(response).await;
                outcome
            }
            Err(error) => Outcome::Failed { why: cause(&error.without_url()), retry_after: None },
        }
    };
    tokio::select! {
        outcome = answered => outcome,
        () = clock.sleep(ANSWER_WITHIN) => {
            let why = format!("no answer within {} s", ANSWER_WITHIN.as_secs());
            Outcome::Failed { why, retry_after: None }
        }
    }
}

fn read(status: StatusCode, headers: &HeaderMap) -> Outcome {
    if status.is_success() {
        return Outcome::Delivered;
    }
    if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
        let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).and_then(seconds);
        return Outcome::Failed { why: status.to_string(), retry_after };
    }
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; compare the secrets and the clocks of both sides",
        status if status.is_redirection() => "; redirects are not followed, set the final address",
        _ => "",
    };
    Outcome::Refused { why: format!("{status}{hint}") }
}

/// `Retry-After` as seconds. Its other form, a date, is passed over: the schedule applies then.
fn seconds(text: &str) -> Option<Duration> {
    text.trim().parse().ok().map(Duration::from_secs)
}

/// Reads what is left of the answer. A receiver that sends more than anybody needs loses its connection.
async fn finish(mut response: Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        read += chunk.len();
        if read > ANSWER_BYTES_MAX {
            return;
        }
    }
}

/// The innermost reason, such as "Connection refused": the outer ones only say that a request failed.
fn cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use cerebellum_wire::event::EventType;

    use super::*;

    #[test]
    fn an_event_keeps_an_id_that_fits_a_header_and_else_gets_a_new_one() {
        let event = Event::new(EventType::WatchEvent, "watch_for", "perception", &());
        assert_eq!(&*event_id(&event.clone().with_id("evt_01")), "evt_01");
        for bad in ["", "two words", "line\nbreak", "ünicode", &"x".repeat(201)] {
            let id = event_id(&event.clone().with_id(bad));
            assert!(id.starts_with("evt_") && id.len() == 36, "{id}");
        }
        assert_ne!(event_id(&event), event_id(&event));
    }

    #[test]
    fn only_server_errors_and_floods_are_worth_another_try() {
        let outcome = |code: u16| read(StatusCode::from_u16(code).unwrap(), &HeaderMap::new());
        for code in [200, 202, 204] {
            assert_eq!(outcome(code), Outcome::Delivered, "{code}");
        }
        for code in [429, 500, 502, 503, 504] {
            assert!(matches!(outcome(code), Outcome::Failed { .. }), "{code}");
        }
        for code in [301, 307, 400, 401, 403, 404, 408, 410, 413] {
            assert!(matches!(outcome(code), Outcome::Refused { .. }), "{code}");
        }
    }
}
