use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use super::refusal;

/// A JSON body whose faults are told as the other refusals are. Only `application/json` is read: a form of a foreign page
/// cannot send that without asking first.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let content_type =
            request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        if !media_type.eq_ignore_ascii_case("application/json") {
            return Err(bad(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json"));
        }
        let body = match Bytes::from_request(request, state).await {
            Ok(body) => body,
            Err(rejection) => return Err(bad(rejection.status(), &rejection.body_text())),
        };
        serde_json::from_slice(&body).map(Self).map_err(|error| bad(StatusCode::BAD_REQUEST, &error.to_string()))
    }
}

fn bad(status: StatusCode, message: &str) -> Response {
    refusal(status, "bad_request", message, "correct the body and try again").into_response()
}
