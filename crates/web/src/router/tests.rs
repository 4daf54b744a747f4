use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use serde_json::Value;
use tower::ServiceExt;

use super::*;
use crate::view::{PageState, SeenView};

const SCRIPTS: [(&str, &str); 4] = [
    ("/page/app.js", include_str!("../../page/app.js")),
    ("/page/dom.js", include_str!("../../page/dom.js")),
    ("/page/picture.js", include_str!("../../page/picture.js")),
    ("/page/render.js", include_str!("../../page/render.js")),
];

#[derive(Default)]
struct FakeData {
    asked: Mutex<Vec<String>>,
    hangs: bool,
}

impl FakeData {
    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

#[async_trait]
impl PageData for FakeData {
    async fn state(&self) -> Result<PageState, PageError> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let text = "a <script>alert(1)</script> & \"can\"".to_owned();
        Ok(PageState { seen: SeenView { text, stale: true }, ..PageState::default() })
    }

    async fn picture(&self) -> Result<Jpeg, PageError> {
        Ok(Jpeg { bytes: b"jpeg"[..].into(), stamp: Stamp::from_nanos(1_750_000_000_000_000_001), age_ms: 12 })
    }

    async fn overlay(&self, skill: &str) -> Result<Jpeg, PageError> {
        match skill {
            "find_object" => self.picture().await,
            "watch_for" => Err(PageError::Unavailable { reason: "watch_for has published no overlay yet".into() }),
            _ => Err(PageError::NotFound { what: format!("no skill {skill:?} runs") }),
        }
    }

    async fn start_skill(&self, start: StartSkill) -> Result<String, PageError> {
        if start.template != "find_object" {
            return Err(PageError::NotFound { what: format!("no template {:?}", start.template) });
        }
        self.note(format!("start {}", Value::Object(start.params)));
        Ok("find_object_2".into())
    }

    async fn stop_skill(&self, skill: &str) -> Result<(), PageError> {
        self.note(format!("stop {skill}"));
        Ok(())
    }

    async fn change_scene(&self, change: SceneChange) -> Result<String, PageError> {
        self.note(format!("{change:?}"));
        Ok("done".into())
    }
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

async fn ask(data: &Arc<FakeData>, request: Request<Body>) -> Answer {
    let response = router(Arc::clone(data) as Data).oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    Answer { status: parts.status, headers: parts.headers, body }
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &'static str) -> Request<Body> {
    let mut builder = Request::builder().method(method).uri(path);
    if !headers.iter().any(|(name, _)| *name == "host") {
        builder = builder.header("host", "127.0.0.1:8001");
    }
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(Body::from(body)).unwrap()
}

async fn get(path: &str) -> Answer {
    ask(&Arc::default(), request("GET", path, &[], "")).await
}

async fn post(data: &Arc<FakeData>, path: &str, body: &'static str) -> Answer {
    ask(data, request("POST", path, &[("content-type", "application/json")], body)).await
}

#[tokio::test]
async fn every_answer_forbids_inline_and_foreign_code() {
    for path in ["/", "/page/app.js", "/api/state", "/picture.jpg", "/nowhere"] {
        let answer = get(path).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
    }
}

#[tokio::test]
async fn the_page_names_only_files_that_are_there_and_holds_no_inline_code() {
    let answer = get("/").await;
    let html = String::from_utf8(answer.body.clone()).unwrap();
    assert_eq!((answer.status, answer.header("content-type")), (StatusCode::OK, "text/html; charset=utf-8"));
    assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains("http"), "all comes from here");
    let inline_handler = html.split_whitespace().find(|word| word.starts_with("on") && word.contains('='));
    assert_eq!(inline_handler, None);
    for script in html.split("<script").skip(1) {
        assert!(script.starts_with(" type=\"module\" src=\"/page/app.js\"></script>"), "{script}");
    }
    assert_eq!(get("/page/style.css").await.header("content-type"), "text/css; charset=utf-8");
    for (path, text) in SCRIPTS {
        let answer = get(path).await;
        assert_eq!(answer.header("content-type"), "text/javascript; charset=utf-8", "{path}");
        assert_eq!(answer.body, text.as_bytes(), "{path}");
        for import in text.lines().filter_map(|line| line.split_once(" from \"./")) {
            let file = import.1.trim_end_matches("\";");
            assert!(SCRIPTS.iter().any(|(path, _)| path.ends_with(&format!("/{file}"))), "{path} needs {file}");
        }
    }
    assert_eq!(get("/page/other.js").await.status, StatusCode::NOT_FOUND);
}

#[test]
fn scripts_write_texts_never_markup() {
    for (path, text) in SCRIPTS {
        for markup in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", ".style"]
        {
            assert!(!text.contains(markup), "{path} uses {markup}");
        }
    }
}

#[tokio::test]
async fn markup_in_what_is_seen_travels_as_json_text() {
    let answer = get("/api/state").await;
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.json()["seen"]["text"], "a <script>alert(1)</script> & \"can\"");
}

#[tokio::test]
async fn a_foreign_name_is_refused_before_anything_is_done() {
    for host in ["evil.example", "robot.lan:8001", "127.0.0.1.evil.example", ""] {
        for path in ["/", "/api/state", "/picture.jpg"] {
            let answer = ask(&Arc::default(), request("GET", path, &[("host", host)], "")).await;
            assert_eq!((answer.status, answer.code()), (StatusCode::MISDIRECTED_REQUEST, "host_not_allowed".into()));
        }
    }
    let hosts = AllowedHosts::new(["robot.lan".to_owned()]);
    let app = router_for(Arc::new(FakeData::default()), hosts);
    let answer = app.oneshot(request("GET", "/", &[("host", "robot.lan:8001")], "")).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_foreign_page_cannot_change_anything_nor_show_the_camera() {
    let data = Arc::default();
    let foreign: [&[(&str, &str)]; 6] = [
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://127.0.0.1:3000")],
        &[("origin", "http://127.0.0.1:8001"), ("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site")],
    ];
    for headers in foreign {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        let answer = ask(&data, request("POST", "/api/scene/reset", &headers, "{}")).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::FORBIDDEN, "foreign_origin".into()), "{headers:?}");
        let answer = ask(&data, request("GET", "/picture.jpg", &headers, "")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
    }
    assert!(data.asked.lock().unwrap().is_empty());

    let link = ask(&data, request("GET", "/", &[("sec-fetch-site", "cross-site")], "")).await;
    assert_eq!(link.status, StatusCode::OK, "a link on another page may lead here");
    let own =
        [("origin", "http://127.0.0.1:8001"), ("sec-fetch-site", "same-origin"), ("content-type", "application/json")];
    assert_eq!(ask(&data, request("POST", "/api/scene/reset", &own, "{}")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn buttons_do_what_they_say() {
    let data = Arc::default();
    let moved = r#"{"object": "coke", "place": "other table"}"#;
    for (path, body) in [
        ("/api/scene/person", r#"{"present": true}"#),
        ("/api/scene/person", r#"{"present": false}"#),
        ("/api/scene/object", moved),
        ("/api/scene/camera", r#"{"covered": true}"#),
        ("/api/scene/camera", r#"{"covered": false}"#),
        ("/api/scene/reset", "{}"),
        ("/api/skills", r#"{"template": "find_object", "params": {"query": "red can"}}"#),
        ("/api/skills/find_object_2/stop", "{}"),
    ] {
        let answer = post(&data, path, body).await;
        assert_eq!((answer.status, &answer.json()["ok"]), (StatusCode::OK, &Value::Bool(true)), "{path}");
    }
    let asked = data.asked.lock().unwrap();
    let expected = [
        "PersonEnters",
        "PersonLeaves",
        r#"MoveObject { object: "coke", place: "other table" }"#,
        "CoverCamera",
        "UncoverCamera",
        "Reset",
        r#"start {"query":"red can"}"#,
        "stop find_object_2",
    ];
    assert_eq!(*asked, expected);
}

#[tokio::test]
async fn a_bad_body_is_refused_with_what_is_wrong() {
    let data = Arc::default();
    for (body, says) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "invalid length"),
        ("{}", "present"),
        (r#"{"present": "yes"}"#, "boolean"),
        (r#"{"present": true, "extra": 1}"#, "extra"),
    ] {
        let answer = post(&data, "/api/scene/person", body).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, "bad_request".into()), "{body}");
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{body}: {message}");
    }
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = ask(&data, request("POST", "/api/scene/person", &form, "present=true")).await;
    assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let large: &'static str = Box::leak(format!("{{\"x\":\"{}\"}}", "x".repeat(BODY_BYTES_MAX)).into_boxed_str());
    assert_eq!(post(&data, "/api/skills", large).await.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(data.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_unknown_skill_and_an_unknown_template_are_not_found() {
    let answer = get("/overlay/nobody.jpg").await;
    assert_eq!((answer.status, answer.code()), (StatusCode::NOT_FOUND, "not_found".into()));
    assert_eq!(answer.json()["error"]["message"], "no skill \"nobody\" runs");
    let answer = post(&Arc::default(), "/api/skills", r#"{"template": "fly"}"#).await;
    assert_eq!((answer.status, answer.code()), (StatusCode::NOT_FOUND, "not_found".into()));
}

#[tokio::test]
async fn a_picture_carries_its_age_and_is_not_sent_twice() {
    for path in ["/picture.jpg", "/overlay/find_object.jpg"] {
        let first = get(path).await;
        assert_eq!((first.status, first.header("content-type")), (StatusCode::OK, "image/jpeg"));
        assert_eq!((first.body.as_slice(), first.header("x-picture-age-ms")), (b"jpeg".as_slice(), "12"));
        let again = get(&format!("{path}?after={}", first.header("x-picture-stamp"))).await;
        assert_eq!(
            (again.status, again.body.len(), again.header("x-picture-age-ms")),
            (StatusCode::NO_CONTENT, 0, "12")
        );
        assert_eq!(get(&format!("{path}?after=1")).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_stamp_that_is_no_number_is_refused_as_all_else() {
    for path in ["/picture.jpg?after=abc", "/overlay/find_object.jpg?after=1.5"] {
        let answer = get(path).await;
        assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, "bad_request".into()), "{path}");
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains("after"), "{path}");
    }
}

#[test]
fn what_is_seen_is_no_scroll_box() {
    let style = include_str!("../../page/style.css");
    let rule = style.lines().find(|line| line.starts_with(".seen {")).unwrap();
    assert!(rule.contains("white-space: pre-wrap"), "{rule}");
    assert!(!rule.contains("max-height") && !rule.contains("overflow-y"), "{rule}");
}

#[test]
fn a_camera_with_a_problem_is_not_shown_as_live() {
    let script = include_str!("../../page/render.js");
    assert!(script.contains(r#"tone: !camera.alive ? "bad" : camera.problem ? "warn" : "good""#));
    assert!(script.contains("const lastFrame = camera.problem || "));
}

#[test]
fn events_are_called_pushed_only_when_push_is_on() {
    let script = include_str!("../../page/render.js");
    assert!(script.contains(r#"push.on ? "Events pushed lately" : "Events""#));
    assert!(script.contains("not pushed: push is off"));
    assert!(!include_str!("../../page/index.html").contains("pushed"));
}

#[tokio::test]
async fn a_picture_that_is_not_there_is_503_with_the_reason() {
    let answer = get("/overlay/watch_for.jpg").await;
    assert_eq!((answer.status, answer.code()), (StatusCode::SERVICE_UNAVAILABLE, "unavailable".into()));
    assert_eq!(answer.json()["error"]["message"], "watch_for has published no overlay yet");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_hangs_is_told_after_the_deadline() {
    let data = Arc::new(FakeData { hangs: true, ..FakeData::default() });
    let answer = ask(&data, request("GET", "/api/state", &[], "")).await;
    assert_eq!((answer.status, answer.code()), (StatusCode::SERVICE_UNAVAILABLE, "unavailable".into()));
}
