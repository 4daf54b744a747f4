//! The control port of a robot that this process owns: what no tool of an agent can do.
//!
//! Anybody on this machine may stop the robot; resuming it, its limits and its keep-out zones ask for the operator's token.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use cerebellum_core::{KeepOut, Limits, Robot, RobotError, Safety, StopState};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;

/// Largest body that is read.
const MAX_BODY: usize = 64 * 1024;
/// The longest name of a person that is kept, in characters.
const NAME_MAX: usize = 100;

#[derive(Clone)]
struct Owned {
    robot: Arc<dyn Robot>,
    safety: Arc<dyn Safety>,
}

/// All routes. An empty token lets nobody resume.
pub fn router(robot: Arc<dyn Robot>, safety: Arc<dyn Safety>, operator_token: SecretString) -> Router {
    let guarded = Router::new()
        .route("/resume", post(resume))
        .route("/limits", post(set_limits))
        .route("/keepouts", post(set_keep_outs))
        .route_layer(middleware::from_fn_with_state(Arc::new(operator_token), only_the_operator));
    Router::new()
        .route("/health", get(async || Json(json!({"ok": true}))))
        .route("/stop", post(stop))
        .route("/limits", get(limits))
        .merge(guarded)
        .layer(axum::extract::DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(only_loopback_names))
        .with_state(Owned { robot, safety })
}

/// Who asks, for the record.
#[derive(Default, Deserialize)]
struct Who {
    #[serde(default)]
    by: Option<String>,
}

impl Who {
    fn name(&self) -> String {
        let name: String = self.by.as_deref().unwrap_or_default().chars().take(NAME_MAX).collect();
        if name.trim().is_empty() { "the control port".to_owned() } else { name }
    }
}

/// Whatever the body says, a stop stops.
async fn stop(State(owned): State<Owned>, body: axum::body::Bytes) -> Response {
    let who: Who = serde_json::from_slice(&body).unwrap_or_default();
    match owned.robot.stop(&who.name()).await {
        Ok(report) => Json(json!({
            "ok": true, "stopped": report.is_stopped, "speed_mps": report.speed_mps, "latched": true,
        }))
        .into_response(),
        Err(error) => refusal(&error),
    }
}

async fn resume(State(owned): State<Owned>, body: axum::body::Bytes) -> Response {
    let who: Who = serde_json::from_slice(&body).unwrap_or_default();
    match owned.safety.resume(&who.name()).await {
        Ok(state) => Json(json!({"ok": true, "stop": stop_json(&state)})).into_response(),
        Err(error) => refusal(&error),
    }
}

async fn limits(State(owned): State<Owned>) -> Response {
    match owned.robot.limits().await {
        Ok(limits) => Json(json!({"ok": true, "limits": LimitsJson::of(&limits)})).into_response(),
        Err(error) => refusal(&error),
    }
}

/// Limits as JSON: those that are left out stay as they are.
#[derive(Default, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
struct LimitsJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_speed_mps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_turn_dps: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_acceleration_mps2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_deceleration_mps2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_drive_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_turn_deg: Option<f64>,
    /// Lower and upper corner in `map`.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace: Option<[[f64; 2]; 2]>,
}

impl LimitsJson {
    fn of(limits: &Limits) -> Self {
        Self {
            max_speed_mps: Some(limits.max_speed_mps),
            max_turn_dps: Some(limits.max_turn_rate.to_degrees()),
            max_acceleration_mps2: Some(limits.max_acceleration),
            stop_deceleration_mps2: Some(limits.stop_deceleration),
            max_drive_m: Some(limits.max_drive_m),
            max_turn_deg: Some(limits.max_turn.to_degrees()),
            workspace: limits.workspace,
        }
    }

    fn over(&self, limits: &Limits) -> Limits {
        Limits {
            max_speed_mps: self.max_speed_mps.unwrap_or(limits.max_speed_mps),
            max_turn_rate: self.max_turn_dps.map_or(limits.max_turn_rate, f64::to_radians),
            max_acceleration: self.max_acceleration_mps2.unwrap_or(limits.max_acceleration),
            stop_deceleration: self.stop_deceleration_mps2.unwrap_or(limits.stop_deceleration),
            max_drive_m: self.max_drive_m.unwrap_or(limits.max_drive_m),
            max_turn: self.max_turn_deg.map_or(limits.max_turn, f64::to_radians),
            workspace: self.workspace.or(limits.workspace),
        }
    }
}

async fn set_limits(State(owned): State<Owned>, body: axum::body::Bytes) -> Response {
    let given: LimitsJson = match serde_json::from_slice(&body) {
        Ok(given) => given,
        Err(error) => return bad_body(&error),
    };
    let now = match owned.robot.limits().await {
        Ok(limits) => limits,
        Err(error) => return refusal(&error),
    };
    match owned.safety.set_limits(given.over(&now)).await {
        Ok(()) => limits(State(owned)).await,
        Err(error) => refusal(&error),
    }
}

/// A keep-out zone as JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeepOutJson {
    name: String,
    outline: Vec<[f64; 2]>,
}

async fn set_keep_outs(State(owned): State<Owned>, body: axum::body::Bytes) -> Response {
    let given: Vec<KeepOutJson> = match serde_json::from_slice(&body) {
        Ok(given) => given,
        Err(error) => return bad_body(&error),
    };
    let unusable =
        |zone: &KeepOutJson| zone.outline.len() < 3 || zone.outline.iter().flatten().any(|at| !at.is_finite());
    if let Some(zone) = given.iter().find(|zone| unusable(zone)) {
        let message = format!("the zone {:?} needs at least three corners, in metres", zone.name);
        return failure(StatusCode::BAD_REQUEST, "bad_arguments", &message, "send [{name, outline: [[x, y], ...]}]");
    }
    let zones: Vec<KeepOut> =
        given.into_iter().map(|zone| KeepOut { name: zone.name, outline: zone.outline }).collect();
    let count = zones.len();
    match owned.safety.set_keep_outs(zones).await {
        Ok(()) => Json(json!({"ok": true, "keepouts": count})).into_response(),
        Err(error) => refusal(&error),
    }
}

fn stop_json(state: &StopState) -> Value {
    json!({
        "latched": state.is_latched,
        "by": state.by,
        "since": state.since.map(cerebellum_core::Stamp::as_secs_micros),
        "resumed_by": state.resumed.as_ref().map(|(by, _)| by),
        "resumed": state.resumed.as_ref().map(|(_, at)| at.as_secs_micros()),
    })
}

async fn only_the_operator(State(token): State<Arc<SecretString>>, request: Request, next: Next) -> Response {
    let given =
        request.headers().get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let expected = token.expose_secret().as_bytes();
    if !expected.is_empty() && given.is_some_and(|given| bool::from(given.ct_eq(expected))) {
        return next.run(request).await;
    }
    let next = "send the operator token, Authorization: Bearer TOKEN; the command line reads it from the state folder";
    failure(StatusCode::UNAUTHORIZED, "not_the_operator", "only the operator may do this", next)
}

/// Only callers that ask for this machine by a loopback name: a foreign page could otherwise reach the port through a name
/// of its own that points here.
async fn only_loopback_names(request: Request, next: Next) -> Response {
    let sent = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let sent = sent.or_else(|| request.uri().authority().map(Authority::as_str)).unwrap_or_default();
    if is_loopback(sent) {
        return next.run(request).await;
    }
    let message = "this name is not allowed for the control port";
    failure(StatusCode::MISDIRECTED_REQUEST, "host_not_allowed", message, "use http://127.0.0.1 with this port")
}

fn is_loopback(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else { return false };
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_this_machine =
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_this_machine && !authority.as_str().contains('@')
}

fn bad_body(error: &serde_json::Error) -> Response {
    failure(
        StatusCode::BAD_REQUEST,
        "bad_arguments",
        &error.to_string(),
        "GET /limits shows the fields and their units",
    )
}

fn refusal(error: &RobotError) -> Response {
    let (status, code) = match error {
        RobotError::Unsupported { .. } => (StatusCode::BAD_REQUEST, "refused"),
        RobotError::Unavailable { .. } => (StatusCode::SERVICE_UNAVAILABLE, "robot_unavailable"),
    };
    failure(status, code, &error.to_string(), "look at the robot, and at the log of this process")
}

fn failure(status: StatusCode, code: &str, message: &str, next: &str) -> Response {
    (status, Json(json!({"ok": false, "error": {"code": code, "message": message, "next": next}}))).into_response()
}

#[cfg(test)]
mod tests;
