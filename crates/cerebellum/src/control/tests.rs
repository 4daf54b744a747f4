use axum::body::Body as Bytes;
use cerebellum_core::{Body as _, Clock, Motion, MotionFailure, Stamp};
use cerebellum_testkit::{FakeClock, FakeRobot};
use tower::ServiceExt;

use super::*;

const TOKEN: &str = "the-operator";

fn robot() -> (Arc<FakeRobot>, Router) {
    let clock: Arc<dyn Clock> = Arc::new(FakeClock::at(Stamp::from_nanos(1_750_000_000_000_000_000)));
    let robot = Arc::new(FakeRobot::new(clock));
    (robot.clone(), router(robot.clone(), robot, SecretString::from(TOKEN)))
}

async fn ask(router: &Router, method: &str, path: &str, token: Option<&str>, host: &str, body: &str) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path).header("host", host);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Bytes::from(body.to_owned())).unwrap();
    let response = router.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn anybody_here_may_stop_and_only_the_operator_resumes() {
    let (robot, router) = robot();
    let (status, answer) = ask(&router, "POST", "/stop", None, "127.0.0.1:9200", "what is this").await;
    assert_eq!((status, &answer["latched"]), (200, &json!(true)), "{answer}");
    let refused = robot.run(Motion::Turn { radians: 1.0 }, &|_: Option<f64>, _: &str| {}).await;
    assert!(matches!(refused, Err(MotionFailure::Stopped { .. })), "{refused:?}");
    for token in [None, Some("somebody"), Some("")] {
        let (status, answer) = ask(&router, "POST", "/resume", token, "localhost", "{}").await;
        assert_eq!((status, &answer["error"]["code"]), (401, &json!("not_the_operator")));
    }
    let (status, answer) = ask(&router, "POST", "/resume", Some(TOKEN), "localhost", r#"{"by": "Robin"}"#).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!((&answer["stop"]["latched"], &answer["stop"]["resumed_by"]), (&json!(false), &json!("Robin")));
}

#[tokio::test]
async fn a_name_of_another_machine_is_not_answered() {
    let (_, router) = robot();
    let (status, answer) = ask(&router, "POST", "/stop", None, "evil.example", "{}").await;
    assert_eq!((status, &answer["error"]["code"]), (421, &json!("host_not_allowed")));
}

#[tokio::test]
async fn limits_that_are_left_out_stay_and_unknown_ones_are_refused() {
    let (_, router) = robot();
    let (status, answer) = ask(&router, "POST", "/limits", Some(TOKEN), "localhost", r#"{"max_turn_dps": 30}"#).await;
    assert_eq!(status, 200, "{answer}");
    let turn = answer["limits"]["max_turn_dps"].as_f64().unwrap();
    assert!((turn - 30.0).abs() < 1e-9 && answer["limits"]["max_speed_mps"] == json!(0.5), "{answer}");
    for body in [r#"{"max_speed": 1}"#, "[]", r#"{"max_speed_mps": "fast"}"#] {
        let (status, answer) = ask(&router, "POST", "/limits", Some(TOKEN), "localhost", body).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("bad_arguments")), "{body}");
    }
    assert_eq!(ask(&router, "POST", "/limits", None, "localhost", "{}").await.0, 401);
}

#[tokio::test]
async fn a_zone_needs_three_corners() {
    let (robot, router) = robot();
    let send = |body: &'static str| ask(&router, "POST", "/keepouts", Some(TOKEN), "localhost", body);
    assert_eq!(send(r#"[{"name": "rug", "outline": [[0, 0], [1, 1]]}]"#).await.0, 400);
    let (status, answer) = send(r#"[{"name": "rug", "outline": [[0, 0], [1, 0], [1, 1]]}]"#).await;
    assert_eq!((status, &answer["keepouts"]), (200, &json!(1)));
    assert_eq!(robot.map().await.unwrap().keep_outs[0].name, "rug");
}
