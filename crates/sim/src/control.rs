//! The control port's routes: who may, what was asked, what to answer.
//!
//! Only callers on this machine that name it so are answered. Reading the scene is open to them; changing it and drawing stills ask for the operator's token. No route here is a tool of an
//! agent.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

use crate::simulator::command::SceneCommand;
use crate::simulator::still::StillRequest;
use crate::simulator::{SimError, Simulator};
use crate::world::WorldError;

/// Which names the port answers to.
mod host;

/// Largest body that is read.
const MAX_BODY: usize = 16 * 1024;

/// All routes. An empty token lets nobody change anything.
pub fn router(simulator: Arc<Simulator>, operator_token: SecretString) -> Router {
    let guarded = Router::new()
        .route("/scene/place", post(change(SceneCommand::Place)))
        .route("/scene/move", post(change(SceneCommand::Move)))
        .route("/scene/person", post(change(SceneCommand::Person)))
        .route("/scene/camera", post(change(SceneCommand::Camera)))
        .route("/scene/base", post(change(SceneCommand::Base)))
        .route("/scene/reset", post(change(SceneCommand::Reset)))
        .route("/scene/picture", get(picture))
        .route_layer(middleware::from_fn_with_state(Arc::new(operator_token), only_the_operator));
    Router::new()
        .route("/health", get(async || Json(json!({"ok": true}))))
        .route("/scene", get(scene))
        .merge(guarded)
        .fallback(async || {
            let next = "GET /scene, POST /scene/{place,move,person,camera,base,reset}, GET /scene/picture";
            failure(StatusCode::NOT_FOUND, "unknown_route", "there is no such route on the control port", next)
        })
        .method_not_allowed_fallback(async || {
            let next = "POST changes the scene, GET reads it";
            failure(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "this route wants another method", next)
        })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(host::only_loopback_names))
        .with_state(simulator)
}

async fn scene(State(simulator): State<Arc<Simulator>>) -> Response {
    match simulator.state().await {
        Ok(state) => Json(json!({"ok": true, "scene": state})).into_response(),
        Err(error) => refusal(&error),
    }
}

async fn picture(
    State(simulator): State<Arc<Simulator>>,
    request: Result<Query<StillRequest>, QueryRejection>,
) -> Response {
    let request = match request {
        Ok(Query(request)) => request,
        Err(rejection) => {
            let next = "view is head, room, living, table, person, robot or plan; width and height are pixels";
            return failure(StatusCode::BAD_REQUEST, "bad_arguments", &rejection.body_text(), next);
        }
    };
    match simulator.still(request).await {
        Ok(png) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
        Err(error) => refusal(&error),
    }
}

/// A handler that reads `T` and has it done.
fn change<T, F>(
    command: F,
) -> impl Fn(State<Arc<Simulator>>, Bytes) -> std::pin::Pin<Box<dyn Future<Output = Response> + Send>> + Clone + Send + Sync
where
    T: DeserializeOwned + Send + 'static,
    F: Fn(T) -> SceneCommand + Clone + Send + Sync + 'static,
{
    move |State(simulator), body| {
        let command = command.clone();
        Box::pin(async move {
            let request: T = match serde_json::from_slice(&body) {
                Ok(request) => request,
                Err(error) => {
                    let next = "send a JSON object with the fields of the documentation";
                    return failure(StatusCode::BAD_REQUEST, "bad_arguments", &error.to_string(), next);
                }
            };
            match simulator.command(command(request)).await {
                Ok(state) => Json(json!({"ok": true, "scene": state})).into_response(),
                Err(error) => refusal(&error),
            }
        })
    }
}

async fn only_the_operator(State(token): State<Arc<SecretString>>, request: Request, next: Next) -> Response {
    let given =
        request.headers().get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let expected = token.expose_secret().as_bytes();
    let is_operator = !expected.is_empty() && given.is_some_and(|given| bool::from(given.ct_eq(expected)));
    if is_operator {
        return next.run(request).await;
    }
    let next = "send the operator token, Authorization: Bearer TOKEN; the command line reads it from the state folder";
    let mut answer = failure(StatusCode::UNAUTHORIZED, "not_the_operator", "only the operator may do this", next);
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
    answer
}

fn refusal(error: &SimError) -> Response {
    let (status, code, known): (_, _, &[String]) = match error {
        SimError::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy", &[]),
        SimError::Stopped => (StatusCode::SERVICE_UNAVAILABLE, "stopped", &[]),
        SimError::BadRequest { .. } => (StatusCode::BAD_REQUEST, "bad_arguments", &[]),
        SimError::World(WorldError::NoSuchObject { known, .. }) => (StatusCode::NOT_FOUND, "unknown_object", known),
        SimError::World(WorldError::NoSuchSurface { known, .. }) => (StatusCode::NOT_FOUND, "unknown_surface", known),
        SimError::World(WorldError::NoSuchWaypoint { known, .. }) => (StatusCode::NOT_FOUND, "unknown_waypoint", known),
        SimError::World(WorldError::NoRoom { .. }) => (StatusCode::CONFLICT, "no_room", &[]),
        SimError::World(WorldError::Beside { .. }) => (StatusCode::BAD_REQUEST, "not_on_surface", &[]),
        SimError::World(WorldError::Blocked { .. }) => (StatusCode::CONFLICT, "blocked", &[]),
        SimError::World(WorldError::OutOfBounds { .. }) => (StatusCode::BAD_REQUEST, "out_of_bounds", &[]),
        SimError::World(WorldError::NoPerson) => (StatusCode::CONFLICT, "no_person", &[]),
    };
    let next = match error {
        SimError::Busy => "try again",
        SimError::Stopped => "start the simulator again",
        SimError::World(WorldError::NoRoom { .. }) => "move something away, or give x and y",
        SimError::BadRequest { .. } | SimError::World(_) => "GET /scene lists objects, surfaces and waypoints",
    };
    let mut body = fault(code, &error.to_string(), next);
    if !known.is_empty() {
        body["known"] = json!(known);
    }
    (status, Json(body)).into_response()
}

fn failure(status: StatusCode, code: &str, message: &str, next: &str) -> Response {
    (status, Json(fault(code, message, next))).into_response()
}

fn fault(code: &str, message: &str, next: &str) -> Value {
    json!({"ok": false, "error": {"code": code, "message": message, "next": next}})
}

#[cfg(test)]
mod tests;
