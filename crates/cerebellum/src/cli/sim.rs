use std::io::IsTerminal;
use std::time::Duration;

use cerebellum_sim::simulator::still::{StillRequest, View};
use cerebellum_sim::simulator::{SimConfig, Simulator};
use reqwest::{Method, StatusCode};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{note, print};
use crate::config::{Environment, state_folder};
use crate::exit::{Exit, Failure};
use crate::secrets;

mod words;

pub use words::{
    CameraArg, ControlArgs, PersonArg, SceneAction, SceneArgs, SimArgs, SimCommand, SimServeArgs, SnapshotArgs,
};

pub(super) const EXAMPLES: &str = "\
Examples:
  cerebellum sim                                            the robot as a process of its own
  cerebellum sim scene show
  cerebellum sim scene place 'red can' --on 'other table'
  cerebellum sim scene person enter
  cerebellum sim scene camera cover
  cerebellum sim scene base sofa
  cerebellum sim snapshot home.png";

pub(super) const SCENE_EXAMPLES: &str = "\
Examples:
  cerebellum sim scene show                                 lists the objects, surfaces and waypoints there are
  cerebellum sim scene place 'red can' --on 'other table'
  cerebellum sim scene move 'red can' --by 0.1,0
  cerebellum sim scene person enter
  cerebellum sim scene base sofa
  cerebellum sim scene reset";

/// The control port of a demo.
const CONTROL_DEFAULT: &str = "http://127.0.0.1:9200";
/// How long the simulator may take to answer.
const DEADLINE: Duration = Duration::from_secs(20);

/// A place in the map, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At {
    /// Forward on the map.
    pub x: f64,
    /// Left on the map.
    pub y: f64,
    /// Up; `None` leaves it to what is below.
    pub z: Option<f64>,
}

/// Reads `X,Y` or `X,Y,Z`.
pub(super) fn parse_at(text: &str) -> Result<At, String> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|part| part.trim().parse().ok().filter(|number: &f64| number.is_finite())).collect();
    match numbers.as_deref() {
        Some(&[x, y]) => Ok(At { x, y, z: None }),
        Some(&[x, y, z]) => Ok(At { x, y, z: Some(z) }),
        _ => Err("expected metres as X,Y or X,Y,Z".to_owned()),
    }
}

/// Changes the home of a running simulator, or says what stands where.
pub async fn scene(args: &SceneArgs, environment: &Environment) -> Result<Exit, Failure> {
    let control = Control::open(&args.control, environment)?;
    let answer = match request(&args.action) {
        None => control.send(Method::GET, "/scene", None).await?,
        Some((path, body)) => control.send(Method::POST, path, Some(body)).await?,
    };
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_else(|_| json!({"ok": true}));
    print(&super::json_text(&answer, std::io::stdout().is_terminal()));
    Ok(if answer.get("ok") == Some(&Value::Bool(false)) { Exit::Failed } else { Exit::Ok })
}

/// Writes a picture of the home into a file: of a running simulator's, or as it is shipped when none is running and none was
/// named.
pub async fn snapshot(args: &SnapshotArgs, environment: &Environment) -> Result<Exit, Failure> {
    let request = StillRequest { view: args.view, width: args.width, height: args.height };
    let running = running_snapshot(args, &request, environment).await;
    let picture = match running {
        Err(failure) if args.control.control.is_none() && failure.exit != Exit::Failed => own_snapshot(request).await?,
        other => other?,
    };
    std::fs::write(&args.file, &picture)
        .map_err(|error| Failure::failed(format!("{}: {error}", args.file.display())))?;
    Ok(Exit::Ok)
}

async fn running_snapshot(
    args: &SnapshotArgs,
    request: &StillRequest,
    environment: &Environment,
) -> Result<Vec<u8>, Failure> {
    let control = Control::open(&args.control, environment)?;
    let view = serde_json::to_value(request.view).unwrap_or_default();
    let view = view.as_str().unwrap_or_default();
    let path = format!("/scene/picture?view={view}&width={}&height={}", request.width, request.height);
    control.send(Method::GET, &path, None).await
}

async fn own_snapshot(request: StillRequest) -> Result<Vec<u8>, Failure> {
    note("no simulator is running: this is the home as it stands at the start");
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let simulator = Simulator::start(SimConfig::default(), &tasks, stop.clone());
    let picture = simulator.still(request).await.map_err(|error| Failure::usage(error.to_string()));
    stop.cancel();
    picture
}

/// Reads the word for a view.
pub(super) fn parse_view(word: &str) -> Result<View, String> {
    serde_json::from_value(Value::from(word))
        .map_err(|_unknown| "expected head, room, living, table, person, robot or plan".to_owned())
}

/// The route and the body of a change; `None` when nothing is changed.
fn request(action: &SceneAction) -> Option<(&'static str, Value)> {
    let mut body = json!({});
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body[key] = value;
        }
    };
    let path = match action {
        SceneAction::Show => return None,
        SceneAction::Place { object, on, at } => {
            set("object", Some(object.clone().into()));
            set("on", on.clone().map(Into::into));
            set("x", at.map(|at| at.x.into()));
            set("y", at.map(|at| at.y.into()));
            set("z", at.and_then(|at| at.z).map(Into::into));
            "/scene/place"
        }
        SceneAction::Move { object, by } => {
            set("object", Some(object.clone().into()));
            set("dx", Some(by.x.into()));
            set("dy", Some(by.y.into()));
            set("dz", by.z.map(Into::into));
            "/scene/move"
        }
        SceneAction::Person { what } => {
            let action = match what {
                PersonArg::Enter => "enter",
                PersonArg::Leave => "leave",
            };
            set("action", Some(action.into()));
            "/scene/person"
        }
        SceneAction::Camera { what } => {
            let mode = match what {
                CameraArg::Cover => "covered",
                CameraArg::Freeze => "frozen",
                CameraArg::Uncover => "open",
            };
            set("mode", Some(mode.into()));
            "/scene/camera"
        }
        SceneAction::Base { waypoint, at, yaw_deg } => {
            set("waypoint", waypoint.clone().map(Into::into));
            set("x", at.map(|at| at.x.into()));
            set("y", at.map(|at| at.y.into()));
            set("yaw_deg", yaw_deg.map(Into::into));
            "/scene/base"
        }
        SceneAction::Reset => "/scene/reset",
    };
    Some((path, body))
}

/// The control port of a simulator, and the token it asks for.
struct Control {
    url: reqwest::Url,
    token: secrecy::SecretString,
    http: reqwest::Client,
}

impl Control {
    fn open(args: &ControlArgs, environment: &Environment) -> Result<Self, Failure> {
        let asked = args.control.as_deref().unwrap_or(CONTROL_DEFAULT);
        let url = reqwest::Url::parse(asked).ok().filter(|url| url.host().is_some());
        let url =
            url.ok_or_else(|| Failure::usage(format!("--control: {asked:?} is no URL, such as {CONTROL_DEFAULT}")))?;
        let file = args.token_file.clone().unwrap_or_else(|| secrets::operator_token_file(&state_folder(environment)));
        let token = secrets::read_token(&file).map_err(|error| {
            Failure::usage(format!("the operator token cannot be read: {error}\nThe simulator writes it when it starts; was it started by another user, or with another XDG_STATE_HOME?"))
        })?;
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().timeout(DEADLINE).build();
        let http = http.map_err(|error| Failure::new(Exit::Software, format!("no HTTP client: {error}")))?;
        Ok(Self { url, token, http })
    }

    async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Result<Vec<u8>, Failure> {
        let url = self.url.join(path).map_err(|error| Failure::usage(format!("--control: {error}")))?;
        let mut request = self.http.request(method, url).bearer_auth(self.token.expose_secret());
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(|error| self.unreachable(&error))?;
        match status {
            status if status.is_success() => Ok(bytes.to_vec()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Failure::failed(format!(
                "the simulator at {} does not take this operator token; name its file with --token-file",
                self.url
            ))),
            status => Err(Failure::failed(format!("the simulator says {status}: {}", message(&bytes)))),
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let message = format!(
            "no simulator answers at {} ({}); start one with: cerebellum demo, or name its port with --control",
            self.url,
            reason(error)
        );
        Failure::new(Exit::Unavailable, message)
    }
}

/// What an error says, without the URL it was asked at.
fn reason(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() { "no answer in time" } else { "no connection" }
}

/// The words of a refusal: `error.message`, `error`, `message`, or the text itself.
fn message(bytes: &[u8]) -> String {
    let text = || String::from_utf8_lossy(bytes).trim().chars().take(500).collect();
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return text() };
    let found = [&value["error"]["message"], &value["error"], &value["message"]].into_iter().find_map(Value::as_str);
    found.map_or_else(text, str::to_owned)
}

#[cfg(test)]
mod tests {
    use wiremock::matchers::{body_json, header, method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    use super::*;

    fn control(server: &MockServer, folder: &tempfile::TempDir) -> ControlArgs {
        let token_file = folder.path().join("operator.token");
        std::fs::write(&token_file, "the-token\n").unwrap();
        ControlArgs { control: Some(server.uri()), token_file: Some(token_file) }
    }

    #[test]
    fn places_are_read_in_metres() {
        assert_eq!(parse_at("1.5, -2"), Ok(At { x: 1.5, y: -2.0, z: None }));
        assert_eq!(parse_at("1,2,0.8"), Ok(At { x: 1.0, y: 2.0, z: Some(0.8) }));
        for text in ["", "1", "1,2,3,4", "a,b", "NaN,1"] {
            assert!(parse_at(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_change_says_only_what_was_given() {
        let at = |text| Some(parse_at(text).unwrap());
        let place = |on: Option<&str>, at| SceneAction::Place { object: "red can".into(), on: on.map(Into::into), at };
        for (action, expected) in [
            (place(Some("sofa"), None), ("/scene/place", json!({"object": "red can", "on": "sofa"}))),
            (place(None, at("1,2")), ("/scene/place", json!({"object": "red can", "x": 1.0, "y": 2.0}))),
            (
                SceneAction::Base { waypoint: None, at: at("1,2"), yaw_deg: Some(90.0) },
                ("/scene/base", json!({"x": 1.0, "y": 2.0, "yaw_deg": 90.0})),
            ),
            (SceneAction::Camera { what: CameraArg::Uncover }, ("/scene/camera", json!({"mode": "open"}))),
            (SceneAction::Reset, ("/scene/reset", json!({}))),
        ] {
            assert_eq!(request(&action), Some(expected), "{action:?}");
        }
        assert_eq!(request(&SceneAction::Show), None);
    }

    #[tokio::test]
    async fn a_change_of_the_scene_is_sent_with_the_operator_token() {
        let (server, folder) = (MockServer::start().await, tempfile::tempdir().unwrap());
        let expected =
            Mock::given(method("POST")).and(path("/scene/person")).and(body_json(json!({"action": "enter"})));
        let expected = expected.and(header("authorization", "Bearer the-token"));
        expected
            .respond_with(ResponseTemplate::new(200).set_body_json(json!({"ok": true})))
            .expect(1)
            .mount(&server)
            .await;
        let args =
            SceneArgs { control: control(&server, &folder), action: SceneAction::Person { what: PersonArg::Enter } };
        assert_eq!(scene(&args, &Environment::default()).await.unwrap(), Exit::Ok);
    }

    #[tokio::test]
    async fn a_refusal_says_why() {
        let (server, folder) = (MockServer::start().await, tempfile::tempdir().unwrap());
        let refusal = ResponseTemplate::new(404)
            .set_body_json(json!({"ok": false, "error": {"message": "there is no gold bar"}}));
        Mock::given(method("POST")).respond_with(refusal).mount(&server).await;
        let action = SceneAction::Place { object: "gold bar".into(), on: Some("sofa".into()), at: None };
        let args = SceneArgs { control: control(&server, &folder), action };
        let failure = scene(&args, &Environment::default()).await.unwrap_err();
        assert!(failure.exit == Exit::Failed && failure.message.contains("there is no gold bar"), "{failure}");
    }

    #[tokio::test]
    async fn a_simulator_that_is_not_there_is_unavailable() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("token"), "x").unwrap();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let control =
            ControlArgs { control: Some(format!("http://{free}")), token_file: Some(folder.path().join("token")) };
        let args = SnapshotArgs { file: folder.path().join("x.png"), view: View::Head, width: 64, height: 48, control };
        let failure = snapshot(&args, &Environment::default()).await.unwrap_err();
        assert_eq!(failure.exit, Exit::Unavailable, "{failure}");
    }

    #[tokio::test]
    async fn without_a_token_nothing_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::of([("XDG_STATE_HOME", folder.path().to_str().unwrap())]);
        let control = ControlArgs { control: Some("http://127.0.0.1:9".into()), token_file: None };
        let failure = scene(&SceneArgs { control, action: SceneAction::Show }, &environment).await.unwrap_err();
        assert!(failure.exit == Exit::Usage && failure.message.contains("operator.token"), "{failure}");
    }
}
