use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware;
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use cerebellum_core::Stamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::guard::{AllowedHosts, Guarding, guard};
use crate::page_data::{Jpeg, PageData, PageError, SceneChange, StartSkill};
use body::JsonBody;

mod body;
#[cfg(test)]
mod tests;

/// How long a read may take.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// How long a change may take: longer than the services behind it wait.
const CHANGE_WITHIN: Duration = Duration::from_secs(30);
/// The largest body of a request.
const BODY_BYTES_MAX: usize = 16 * 1024;
/// The age of a picture in milliseconds when it was sent.
const AGE_HEADER: HeaderName = HeaderName::from_static("x-picture-age-ms");
/// The stamp of a picture in nanoseconds, as a decimal: `after` takes it back.
const STAMP_HEADER: HeaderName = HeaderName::from_static("x-picture-stamp");

type Data = Arc<dyn PageData>;

/// The page and its routes, for callers on this machine.
pub fn router(data: Arc<dyn PageData>) -> Router {
    router_for(data, AllowedHosts::default())
}

/// The page and its routes, also under the names of `hosts`.
pub fn router_for(data: Arc<dyn PageData>, hosts: AllowedHosts) -> Router {
    Router::new()
        .route("/", get(async || file("text/html; charset=utf-8", include_str!("../page/index.html"))))
        .route("/page/style.css", get(async || file("text/css; charset=utf-8", include_str!("../page/style.css"))))
        .route("/page/{script}", get(script))
        .route("/favicon.ico", get(async || StatusCode::NO_CONTENT))
        .route("/picture.jpg", get(picture))
        .route("/overlay/{file}", get(overlay))
        .route("/api/state", get(state))
        .route("/api/skills", post(start_skill))
        .route("/api/skills/{skill}/stop", post(stop_skill))
        .route("/api/scene/person", post(person))
        .route("/api/scene/object", post(object))
        .route("/api/scene/camera", post(camera))
        .route("/api/scene/reset", post(reset))
        .fallback(async || refusal(StatusCode::NOT_FOUND, "not_found", "there is nothing here", "open /"))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(middleware::from_fn_with_state(Arc::new(Guarding::new(hosts)), guard))
        .with_state(data)
}

/// What every refused request gets: `{ok: false, error: {code, message, next}}`.
pub(crate) fn refusal(status: StatusCode, code: &str, message: &str, next: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({"ok": false, "error": {"code": code, "message": message, "next": next}})))
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, code, next) = match &self {
            Self::NotFound { .. } => (StatusCode::NOT_FOUND, "not_found", "look at the list on the page"),
            Self::BadRequest { .. } => (StatusCode::BAD_REQUEST, "bad_request", "correct it and try again"),
            Self::Refused { .. } => (StatusCode::CONFLICT, "refused", "change what the message names"),
            Self::Unavailable { .. } => (StatusCode::SERVICE_UNAVAILABLE, "unavailable", "wait a moment and try again"),
        };
        refusal(status, code, &self.to_string(), next).into_response()
    }
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    // The files change with the program only; a browser asks again, so that a new program never meets an old script.
    let headers = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, "no-cache")];
    (headers, text).into_response()
}

async fn script(Path(name): Path<String>) -> Response {
    let text = match name.as_str() {
        "app.js" => include_str!("../page/app.js"),
        "dom.js" => include_str!("../page/dom.js"),
        "picture.js" => include_str!("../page/picture.js"),
        "render.js" => include_str!("../page/render.js"),
        _ => {
            let what = "no such file of the page".to_owned();
            return PageError::NotFound { what }.into_response();
        }
    };
    file("text/javascript; charset=utf-8", text)
}

async fn state(State(data): State<Data>) -> Result<Response, PageError> {
    let state = within(READ_WITHIN, data.state()).await?;
    Ok(Json(state).into_response())
}

#[derive(Deserialize)]
struct After {
    after: Option<i64>,
}

impl After {
    fn of(query: Result<Query<Self>, QueryRejection>) -> Result<Option<i64>, PageError> {
        query.map(|Query(query)| query.after).map_err(|rejection| {
            let reason = format!("after is the stamp of a picture in nanoseconds ({})", rejection.body_text());
            PageError::BadRequest { reason }
        })
    }
}

async fn picture(State(data): State<Data>, query: Result<Query<After>, QueryRejection>) -> Result<Response, PageError> {
    let after = After::of(query)?;
    let jpeg = within(READ_WITHIN, data.picture()).await?;
    Ok(jpeg_response(jpeg, after))
}

async fn overlay(
    State(data): State<Data>,
    Path(file): Path<String>,
    query: Result<Query<After>, QueryRejection>,
) -> Result<Response, PageError> {
    let after = After::of(query)?;
    let skill = file.strip_suffix(".jpg").unwrap_or(&file);
    let jpeg = within(READ_WITHIN, data.overlay(skill)).await?;
    Ok(jpeg_response(jpeg, after))
}

/// The picture, or 204 when it is the one the browser has already; its age goes along in both cases.
fn jpeg_response(jpeg: Jpeg, after: Option<i64>) -> Response {
    let is_known = after.is_some_and(|nanos| Stamp::from_nanos(nanos) == jpeg.stamp);
    let mut response = if is_known {
        StatusCode::NO_CONTENT.into_response()
    } else {
        ([(CONTENT_TYPE, "image/jpeg")], Body::from(jpeg.bytes)).into_response()
    };
    response.headers_mut().insert(AGE_HEADER, HeaderValue::from(jpeg.age_ms));
    response.headers_mut().insert(STAMP_HEADER, HeaderValue::from(jpeg.stamp.nanos()));
    response
}

async fn start_skill(
    State(data): State<Data>,
    JsonBody(start): JsonBody<StartSkill>,
) -> Result<Json<Value>, PageError> {
    let skill_id = within(CHANGE_WITHIN, data.start_skill(start)).await?;
    let message = format!("{skill_id} started");
    Ok(Json(json!({"ok": true, "skill_id": skill_id, "message": message})))
}

async fn stop_skill(
    State(data): State<Data>,
    Path(skill): Path<String>,
    JsonBody(_): JsonBody<NoFields>,
) -> Result<Json<Value>, PageError> {
    within(CHANGE_WITHIN, data.stop_skill(&skill)).await?;
    Ok(done(&format!("{skill} stopped")))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PersonBody {
    present: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ObjectBody {
    object: String,
    place: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CameraBody {
    covered: bool,
}

async fn person(data: State<Data>, JsonBody(body): JsonBody<PersonBody>) -> Result<Json<Value>, PageError> {
    let change = if body.present { SceneChange::PersonEnters } else { SceneChange::PersonLeaves };
    change_scene(data, change).await
}

async fn object(data: State<Data>, JsonBody(body): JsonBody<ObjectBody>) -> Result<Json<Value>, PageError> {
    change_scene(data, SceneChange::MoveObject { object: body.object, place: body.place }).await
}

async fn camera(data: State<Data>, JsonBody(body): JsonBody<CameraBody>) -> Result<Json<Value>, PageError> {
    let change = if body.covered { SceneChange::CoverCamera } else { SceneChange::UncoverCamera };
    change_scene(data, change).await
}

async fn reset(data: State<Data>, JsonBody(_): JsonBody<NoFields>) -> Result<Json<Value>, PageError> {
    change_scene(data, SceneChange::Reset).await
}

async fn change_scene(State(data): State<Data>, change: SceneChange) -> Result<Json<Value>, PageError> {
    within(CHANGE_WITHIN, data.change_scene(change)).await.map(|message| done(&message))
}

fn done(message: &str) -> Json<Value> {
    Json(json!({"ok": true, "message": message}))
}

async fn within<T>(span: Duration, work: impl Future<Output = Result<T, PageError>>) -> Result<T, PageError> {
    tokio::time::timeout(span, work).await.unwrap_or_else(|_| {
        let reason = format!("no answer within {} s; is the robot's program busy or stopped?", span.as_secs());
        Err(PageError::Unavailable { reason })
    })
}
