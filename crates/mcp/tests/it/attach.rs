use std::sync::{Arc, Mutex};
use std::time::Duration;

use cerebellum_mcp::Progress;
use cerebellum_mcp::attach::{AttachError, CallError, CallOptions, Client, Command, Endpoint};
use cerebellum_mcp::serve::ServeConfig;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

use crate::stdio::program;
use crate::support::{PATIENCE, server, until};

fn arguments(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

async fn connect(url: String) -> Client {
    Client::connect(&Endpoint::of_url(url, None), PATIENCE).await.unwrap()
}

#[derive(Default)]
struct Heard(Mutex<Vec<f64>>);

impl Progress for Heard {
    fn report(&self, done: f64, _total: Option<f64>, _message: &str) {
        self.0.lock().unwrap().push(done);
    }
}

async fn talk(client: &Client) {
    assert_eq!(client.server().name, "robot");
    assert_eq!(client.server().instructions, "Look first, then drive.");
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["look", "drive", "wait", "frame", "stuck", "boom"]);
    assert!(tools[0].read_only && !tools[0].blocking && tools[1].blocking && !tools[1].read_only);
    let look = client.call("look", arguments(json!({"query": "can"})), CallOptions::within(PATIENCE)).await.unwrap();
    assert!(look.is_ok());
    assert_eq!(look.data["query"], "can");
    let frame = client.call("frame", Map::new(), CallOptions::within(PATIENCE)).await.unwrap();
    assert_eq!(frame.data["picture"].as_str().unwrap().len(), 30_000);
    let heard = Arc::new(Heard::default());
    let options = CallOptions { progress: Some(heard.clone()), ..CallOptions::within(PATIENCE) };
    let drive = client.call("drive", arguments(json!({"steps": 10})), options).await.unwrap();
    assert_eq!(drive.data, json!({"ok": true, "steps": 10}));
    assert!(heard.0.lock().unwrap().len() > 3, "progress was not heard");
    assert_eq!(client.list_resources().await.unwrap()[0].uri, "prompt://system");
    assert_eq!(client.read_resource("prompt://system").await.unwrap(), "You drive a robot.");
    let unknown = client.call("fly", Map::new(), CallOptions::within(PATIENCE)).await.unwrap_err();
    assert!(matches!(&unknown, CallError::Refused { code: -32602, message } if message.contains("look")), "{unknown}");
}

#[tokio::test]
async fn a_session_over_streamable_http() {
    let server = server(ServeConfig::default()).await;
    let client = connect(server.url("/mcp")).await;
    assert_eq!(client.server().protocol, "2026-07-28");
    talk(&client).await;
    client.close().await;
}

#[tokio::test]
async fn a_session_over_legacy_sse() {
    let server = server(ServeConfig::default()).await;
    let client = connect(server.url("/sse")).await;
    talk(&client).await;
    client.close().await;
}

#[tokio::test]
async fn a_session_with_a_child_process() {
    let command = Command { program: program().into(), arguments: vec!["stdio".into()], environment: vec![] };
    let client = Client::connect(&Endpoint::Stdio(command), PATIENCE).await.unwrap();
    talk(&client).await;
    tokio::time::timeout(PATIENCE, client.close()).await.unwrap();
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_late_stops_the_robot() {
    let server = server(ServeConfig::default()).await;
    for path in ["/mcp", "/sse"] {
        let client = connect(server.url(path)).await;
        let silent = CallOptions { total: Some(Duration::from_millis(300)), ..CallOptions::default() };
        let late = client.call("drive", arguments(json!({"steps": 100_000})), silent).await.unwrap_err();
        assert_eq!(late, CallError::TimedOut { after: Duration::from_millis(300) }, "{path}");
        until(&server.robot.moving, false).await;
        let options = CallOptions::within(PATIENCE);
        let cancel = options.cancel.clone();
        let (ended, ()) = tokio::join!(client.call("drive", arguments(json!({"steps": 100_000})), options), async {
            until(&server.robot.moving, true).await;
            cancel.cancel();
        });
        assert_eq!(ended.unwrap_err(), CallError::Cancelled, "{path}");
        until(&server.robot.moving, false).await;
        let look = client.call("look", arguments(json!({"query": "x"})), CallOptions::within(PATIENCE)).await.unwrap();
        assert!(look.is_ok(), "{path}");
    }
}

#[tokio::test]
async fn progress_keeps_a_call_alive_and_silence_ends_it() {
    let server = server(ServeConfig::default()).await;
    let client = connect(server.url("/mcp")).await;
    let short = || CallOptions::within(Duration::from_millis(400));
    let long = client.call("wait", arguments(json!({"steps": 100})), short()).await.unwrap();
    assert_eq!(long.data["steps"], 100);
    let stuck = client.call("stuck", Map::new(), short()).await.unwrap_err();
    assert!(matches!(stuck, CallError::TimedOut { .. }), "{stuck}");
}

#[tokio::test]
async fn a_server_that_dies_ends_the_call() {
    for path in ["/mcp", "/sse"] {
        let own = server(ServeConfig::default()).await;
        let client = connect(own.url(path)).await;
        let call = client.call("drive", arguments(json!({"steps": 100_000})), CallOptions::within(PATIENCE));
        let (ended, ()) = tokio::join!(call, async {
            until(&own.robot.moving, true).await;
            own.stop.cancel();
        });
        // The server says how the motion ended if it still can.
        assert!(ended.is_err() || !ended.unwrap().is_ok(), "{path}");
    }
}

#[tokio::test]
async fn failures_say_what_to_do() {
    let open = server(ServeConfig::default()).await;
    let guarded = server(ServeConfig { token: Some(SecretString::from("s3cret")), ..ServeConfig::default() }).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for path in ["/mcp", "/sse"] {
        let failed = async |url: String, token: Option<&str>| {
            let endpoint = Endpoint::of_url(url, token.map(SecretString::from));
            Client::connect(&endpoint, PATIENCE).await.err().expect("it must fail")
        };
        let refused = failed(format!("http://{free}{path}"), None).await;
        assert!(matches!(refused, AttachError::Refused { .. }), "{path}: {refused}");
        assert!(refused.to_string().contains("loopback"), "{refused}");
        let no_token = failed(guarded.url(path), None).await;
        assert!(matches!(no_token, AttachError::Unauthorized { sent: false, .. }), "{path}: {no_token}");
        let wrong = failed(guarded.url(path), Some("wrong")).await;
        assert!(matches!(wrong, AttachError::Unauthorized { sent: true, .. }), "{path}: {wrong}");
        let lost = failed(open.url(&format!("/elsewhere{path}")), None).await;
        assert!(matches!(lost, AttachError::WrongTransport { .. }), "{path}: {lost}");
        let endpoint = Endpoint::of_url(guarded.url(path), Some(SecretString::from("s3cret")));
        assert_eq!(Client::connect(&endpoint, PATIENCE).await.unwrap().server().name, "robot", "{path}");
    }
}

#[tokio::test]
async fn a_host_that_is_not_allowed_names_the_setting() {
    // 127.0.0.2 reaches a server on 0.0.0.0, which knows only 127.0.0.1 by name.
    let config = ServeConfig { host: "0.0.0.0".into(), unauthenticated_motion: true, ..ServeConfig::default() };
    let server = server(config).await;
    for path in ["/mcp", "/sse"] {
        let url = format!("http://127.0.0.2:{}{path}", server.address.port());
        let error = Client::connect(&Endpoint::of_url(url, None), PATIENCE).await.err().expect("it must fail");
        assert!(matches!(&error, AttachError::HostNotAllowed { host, .. } if host == "127.0.0.2"), "{path}: {error}");
        assert!(error.to_string().contains("--allowed-host 127.0.0.2"), "{error}");
    }
}

#[tokio::test]
async fn a_legacy_stream_under_another_name_is_recognised() {
    let server = server(ServeConfig::default()).await;
    let Endpoint::Sse(address) = Endpoint::of_url(server.url("/sse"), None) else { panic!("a URL that ends in /sse") };
    let error = Client::connect(&Endpoint::Http(address), PATIENCE).await.err().expect("it must fail");
    assert!(matches!(&error, AttachError::WrongTransport { hint, .. } if hint.contains("legacy SSE")), "{error}");
    let Endpoint::Http(address) = Endpoint::of_url(server.url("/mcp"), None) else { panic!("a URL that ends in /mcp") };
    let error = Client::connect(&Endpoint::Sse(address), PATIENCE).await.err().expect("it must fail");
    assert!(matches!(&error, AttachError::WrongTransport { hint, .. } if hint.contains("/mcp")), "{error}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let command = Command { program: "/no/such/program".into(), arguments: vec![], environment: vec![] };
    let error = Client::connect(&Endpoint::Stdio(command), PATIENCE).await.err().expect("it must fail");
    assert_eq!(error.to_string(), "cannot start /no/such/program");
    let command = Command { program: "true".into(), arguments: vec![], environment: vec![] };
    let error = Client::connect(&Endpoint::Stdio(command), PATIENCE).await.err().expect("it must fail");
    assert!(matches!(error, AttachError::NoMcp { .. }), "{error}");
}
