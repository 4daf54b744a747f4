use axum::body::{Body, to_bytes};
use axum::http::Method;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::*;
use crate::simulator::{CameraConfig, SimConfig};
use crate::{Pace, SceneState};

struct Port {
    router: Router,
    stop: CancellationToken,
}

impl Drop for Port {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Port {
    fn open(token: &str) -> Self {
        let stop = CancellationToken::new();
        let camera = CameraConfig { width: 64, height: 48, rate_hz: 10.0 };
        let config = SimConfig { pace: Pace::AWAITED, camera, render_threads: 1, ..SimConfig::default() };
        let simulator = Simulator::start(config, &TaskTracker::new(), stop.clone());
        Self { router: router(simulator, token.into()), stop }
    }

    async fn send(&self, method: Method, path: &str, token: Option<&str>, body: &str) -> (StatusCode, Vec<u8>) {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "127.0.0.1:9203");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        (status, to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec())
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let (status, body) = self.send(Method::POST, path, Some("sesame"), &body.to_string()).await;
        (status, serde_json::from_slice(&body).unwrap())
    }
}

#[tokio::test]
async fn anybody_reads_the_scene_and_only_the_operator_changes_it() {
    let port = Port::open("sesame");
    let (status, body) = port.send(Method::GET, "/scene", None, "").await;
    assert_eq!(status, StatusCode::OK);
    let state: SceneState =
        serde_json::from_value(serde_json::from_slice::<Value>(&body).unwrap()["scene"].clone()).unwrap();
    let coke = state.objects.iter().find(|object| object.name == "coke").unwrap();
    assert_eq!((coke.label.as_str(), coke.on.as_deref()), ("red can", Some("kitchen table")));
    assert!(state.objects.iter().all(|object| object.on.as_deref() != Some("other table")));

    for token in [None, Some(""), Some("sesam"), Some("sesame2")] {
        let (status, body) = port.send(Method::POST, "/scene/person", token, r#"{"action":"enter"}"#).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{token:?}");
        assert!(String::from_utf8(body).unwrap().contains("not_the_operator"));
    }
    let (status, answer) = port.post("/scene/person", &json!({"action": "enter"})).await;
    assert_eq!((status, &answer["scene"]["person"]), (StatusCode::OK, &json!("entering")));
}

#[tokio::test]
async fn only_loopback_names_are_answered() {
    let port = Port::open("sesame");
    for (host, expected) in [
        ("127.0.0.1:9203", StatusCode::OK),
        ("LOCALHOST", StatusCode::OK),
        ("[::1]:9203", StatusCode::OK),
        ("evil.example", StatusCode::MISDIRECTED_REQUEST),
        ("127.0.0.1.evil.example:9203", StatusCode::MISDIRECTED_REQUEST),
        ("localhost@evil.example", StatusCode::MISDIRECTED_REQUEST),
        ("evil.example@localhost", StatusCode::MISDIRECTED_REQUEST),
        ("192.168.1.5:9203", StatusCode::MISDIRECTED_REQUEST),
        ("", StatusCode::MISDIRECTED_REQUEST),
    ] {
        for path in ["/scene", "/health"] {
            let request = Request::builder().uri(path).header(header::HOST, host).body(Body::empty()).unwrap();
            assert_eq!(port.router.clone().oneshot(request).await.unwrap().status(), expected, "{path} {host}");
        }
        let request = Request::post("/scene/reset")
            .header(header::HOST, host)
            .header(header::AUTHORIZATION, "Bearer sesame")
            .body(Body::from("{}"))
            .unwrap();
        assert_eq!(port.router.clone().oneshot(request).await.unwrap().status(), expected, "reset {host}");
    }
    let nameless = Request::builder().uri("/nowhere").body(Body::empty()).unwrap();
    assert_eq!(port.router.clone().oneshot(nameless).await.unwrap().status(), StatusCode::MISDIRECTED_REQUEST);
}

#[tokio::test]
async fn an_empty_token_lets_nobody_in() {
    let port = Port::open("");
    let (status, _) = port.send(Method::POST, "/scene/person", Some(""), r#"{"action":"enter"}"#).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn things_are_placed_by_name_or_label() {
    let port = Port::open("sesame");
    let (status, answer) = port.post("/scene/place", &json!({"object": "red can", "on": "other table"})).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (status, answer) = port.post("/scene/move", &json!({"object": "coke", "dx": 0.1})).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let objects = answer["scene"]["objects"].as_array().unwrap();
    let coke = objects.iter().find(|object| object["name"] == "coke").unwrap();
    assert_eq!(coke["on"], "other table");
    let (status, answer) = port.post("/scene/base", &json!({"waypoint": "sofa"})).await;
    assert_eq!((status, &answer["scene"]["robot"]["yaw_deg"]), (StatusCode::OK, &json!(90.0)));
    let (_, answer) = port.post("/scene/camera", &json!({"mode": "covered"})).await;
    assert_eq!(answer["scene"]["camera"], "covered");
}

#[tokio::test]
async fn refusals_name_what_is_known_and_what_to_do() {
    let port = Port::open("sesame");
    let cases = [
        ("/scene/place", json!({"object": "coke", "on": "moon"}), 404, "unknown_surface", "kitchen table"),
        ("/scene/place", json!({"object": "unicorn", "on": "sofa"}), 404, "unknown_object", "coke"),
        ("/scene/base", json!({"waypoint": "attic"}), 404, "unknown_waypoint", "operator"),
        ("/scene/place", json!({"object": "coke"}), 400, "bad_arguments", "say where"),
        ("/scene/place", json!({"object": "coke", "where": 1}), 400, "bad_arguments", "where"),
        ("/scene/move", json!({"object": "coke", "dx": 90}), 400, "out_of_bounds", "20 m"),
        ("/scene/person", json!({"action": "dance"}), 400, "bad_arguments", "enter"),
        ("/scene/base", json!({"x": 1}), 400, "bad_arguments", "say where"),
        ("/scene/nothing", json!({}), 404, "unknown_route", "GET /scene"),
    ];
    for (path, body, expected, code, says) in cases {
        let (status, answer) = port.post(path, &body).await;
        assert_eq!(status.as_u16(), expected, "{path} {body}: {answer}");
        assert_eq!(answer["error"]["code"], code, "{path} {body}: {answer}");
        assert!(answer.to_string().contains(says), "{path} {body}: {answer}");
    }
    let (status, _) = port.send(Method::POST, "/scene/person", Some("sesame"), "{").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (status, _) = port.send(Method::GET, "/scene/person", Some("sesame"), "").await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn stills_are_png_of_the_size_asked_for() {
    let port = Port::open("sesame");
    let (status, png) =
        port.send(Method::GET, "/scene/picture?view=table&width=80&height=60", Some("sesame"), "").await;
    assert_eq!(status, StatusCode::OK);
    let picture = image::load_from_memory(&png).unwrap();
    assert_eq!((picture.width(), picture.height()), (80, 60));
    for query in ["view=moon", "width=4", "width=100000"] {
        let path = format!("/scene/picture?{query}");
        let (status, _) = port.send(Method::GET, &path, Some("sesame"), "").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
    }
}
