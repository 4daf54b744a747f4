use std::sync::Arc;
use std::time::Duration;

use cerebellum_mcp::serve::{ServeConfig, ServeError, Transport, serve};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::robot::Robot;
use crate::support::{Events, PATIENCE, Raw, call, initialize, server, until};

const PATHS: [&str; 6] = ["/mcp", "/sse", "/messages", "/health", "/readyz", "/metrics"];

async fn status(url: String, headers: &[(&str, &str)]) -> u16 {
    let mut request = Raw::new(url).request(Method::GET);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn host_and_origin_are_checked_on_every_path() {
    let server = server(ServeConfig::default()).await;
    for path in PATHS {
        for (header, value, refused) in [
            ("host", "evil.com", Some(421)),
            ("host", "robot.tailnet:9201", Some(421)),
            ("host", "localhost:1", None),
            ("origin", "https://evil.com", Some(403)),
            ("origin", "null", Some(403)),
            ("origin", "http://localhost:3000", None),
        ] {
            let status = status(server.url(path), &[(header, value)]).await;
            match refused {
                Some(refused) => assert_eq!(status, refused, "{path} {header}: {value}"),
                None => assert!(![421, 403].contains(&status), "{path} {header}: {value} got {status}"),
            }
        }
    }
    let refused = Raw::new(server.url("/mcp")).request(Method::GET).header("host", "evil.com").send().await.unwrap();
    assert!(refused.text().await.unwrap().contains("MCP_ALLOWED_HOSTS"));
}

#[tokio::test]
async fn a_named_host_is_let_in() {
    let server = server(ServeConfig { allowed_hosts: vec!["robot.tailnet".into()], ..ServeConfig::default() }).await;
    for path in PATHS {
        assert_ne!(status(server.url(path), &[("host", "robot.tailnet:80")]).await, 421, "{path}");
        assert_eq!(status(server.url(path), &[("host", "other.tailnet")]).await, 421, "{path}");
    }
}

#[tokio::test]
async fn the_token_is_asked_for_everywhere_but_on_health() {
    let server = server(ServeConfig { token: Some(SecretString::from("s3cret")), ..ServeConfig::default() }).await;
    for path in PATHS {
        let wanted = if path == "/health" { 200 } else { 401 };
        assert_eq!(status(server.url(path), &[]).await, wanted, "{path}");
        assert_eq!(status(server.url(path), &[("authorization", "Bearer wrong")]).await, wanted, "{path}");
        assert_ne!(status(server.url(path), &[("authorization", "Bearer s3cret")]).await, 401, "{path}");
    }
    let refused = Raw::new(server.url("/mcp")).post(&initialize()).await;
    assert_eq!(refused.headers()["www-authenticate"], "Bearer realm=\"mcp\"");
}

#[tokio::test]
async fn health_readiness_and_metrics_answer() {
    let server = server(ServeConfig::default()).await;
    let http = Raw::new(server.url("/readyz"));
    assert_eq!(status(server.url("/health"), &[]).await, 200);
    assert_eq!(status(server.url("/readyz"), &[]).await, 200);
    server.robot.moving.send_replace(true);
    let busy = http.request(Method::GET).send().await.unwrap();
    assert_eq!(busy.status(), 503);
    assert_eq!(busy.json::<Value>().await.unwrap()["missing"], "the robot is busy");
    Raw::attached(&server).await.call("look", json!({"query": "can"})).await;
    let metrics = http.http.get(server.url("/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(metrics.contains("mcp_tool_calls_total{tool=\"look\",outcome=\"done\"} 1"), "{metrics}");
    assert!(metrics.contains("mcp_sessions{transport=\"http\"} 1"), "{metrics}");
    assert!(metrics.contains("\nrobot_steps_total 7\n") && metrics.ends_with("# EOF\n"), "{metrics}");
}

#[tokio::test]
async fn tools_are_listed_with_their_schemas_and_hints() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let listed = client.post(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    let answer = Events::of(listed).answer().await;
    let tools = &answer["result"]["tools"];
    assert!(answer["result"].get("nextCursor").is_none());
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[0]["outputSchema"]["type"], "object");
    assert_eq!(tools[1]["name"], "drive");
    assert_eq!(tools[1]["_meta"]["cerebellum/blocking"], true);
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], false);
    assert!(tools[3].get("outputSchema").is_none());
}

#[tokio::test]
async fn answers_are_structured_and_text() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let answer = client.call("look", json!({"query": "can", "colour": "red"})).await;
    let result = &answer["result"];
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["query"], "can");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert!(text["warnings"][0].as_str().unwrap().contains("colour"), "{text}");
    let frame = client.call("frame", json!({})).await;
    assert!(frame["result"].get("structuredContent").is_none());
    assert!(frame["result"]["content"][0]["text"].as_str().unwrap().contains("picture"));
}

#[tokio::test]
async fn arguments_that_came_as_text_are_read() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    for (arguments, ok) in [
        (json!("{\"query\":\"x\"}"), true),
        (json!({"query": "x", "region": "{\"left\":1}"}), true),
        (json!("nonsense"), false),
        (json!([1]), false),
        (json!({"query": 7}), false),
        (json!({}), false),
    ] {
        let answer = client.call("look", arguments.clone()).await;
        assert_eq!(answer["result"]["isError"], !ok, "{arguments}: {answer}");
        assert_eq!(answer["result"]["structuredContent"]["ok"], ok, "{arguments}: {answer}");
    }
    let wrong = client.call("look", json!({"query": "x", "limit": "many"})).await;
    let error = &wrong["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "bad_arguments");
    assert!(error["message"].as_str().unwrap().contains("limit"), "{error}");
}

#[tokio::test]
async fn an_unknown_tool_is_refused_with_the_known_ones() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    for arguments in [json!({}), json!("{}")] {
        let error = client.call("fly", arguments).await["error"].clone();
        assert_eq!(error["code"], -32602);
        assert!(error["message"].as_str().unwrap().contains("look, drive"), "{error}");
    }
}

#[tokio::test]
async fn long_texts_of_callers_are_not_sent_back_whole() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let long = "x".repeat(300_000);
    let request = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    for body in [
        call(1, &long, json!({})),
        call(1, &long, json!("{}")),
        request(&long, json!({})),
        request("resources/read", json!({"uri": long})),
    ] {
        let error = Events::of(client.post(&body).await).answer().await["error"].to_string();
        assert!(error.contains("xxx…"), "{}", &error[..error.len().min(200)]);
        assert!(error.len() < 1000, "{} bytes", error.len());
    }
    let host = "x".repeat(2000);
    let refused = Raw::new(server.url("/mcp")).request(Method::GET).header("host", &host).send().await.unwrap();
    assert_eq!(refused.status(), 421);
    assert!(refused.text().await.unwrap().len() < 400);
}

#[tokio::test]
async fn a_full_table_of_sessions_says_so() {
    let server = server(ServeConfig::default()).await;
    let mut client = Raw::new(server.url("/mcp"));
    let mut streams = Vec::new();
    for _ in 0..256 {
        client.session = None;
        let opened = client.post(&initialize()).await;
        client.session = Some(opened.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        drop(Events::of(opened).answer().await);
        streams.push(client.request(Method::GET).send().await.unwrap());
    }
    client.session = None;
    let refused = client.post(&initialize()).await;
    assert_eq!(refused.status(), 503);
    let answer: Value = refused.json().await.unwrap();
    assert_eq!(answer["error"]["message"], "all 256 sessions are in use; close one or try again later");
    drop(streams);
}

#[tokio::test]
async fn a_panic_is_a_failed_call_and_nothing_more() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let answer = client.call("boom", json!({})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "internal_fault");
    assert_eq!(client.call("look", json!({"query": "x"})).await["result"]["isError"], false);
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let ask = async |body: Value| Events::of(client.post(&body).await).answer().await;
    let listed = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "resources/list"})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], "prompt://system");
    let read = |uri: &str| json!({"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": {"uri": uri}});
    assert_eq!(ask(read("prompt://system")).await["result"]["contents"][0]["text"], "You drive a robot.");
    let missing = ask(read("prompt://other")).await;
    assert!(missing["error"]["message"].as_str().unwrap().contains("prompt://system"), "{missing}");
}

#[tokio::test]
async fn the_revision_of_2026_needs_no_session() {
    let server = server(ServeConfig::default()).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}
    });
    for (arguments, wanted) in [(json!({"query": "x"}), "x"), (json!("{\"query\":\"y\"}"), "y")] {
        let mut body = call(1, "look", arguments);
        body["params"]["_meta"] = meta.clone();
        let request = Raw::new(server.url("/mcp")).request(Method::POST).json(&body);
        let request = request.header("mcp-protocol-version", "2026-07-28").header("mcp-method", "tools/call");
        let answer = Events::of(request.header("mcp-name", "look").send().await.unwrap()).answer().await;
        assert_eq!(answer["result"]["structuredContent"]["query"], wanted, "{answer}");
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
}

#[tokio::test]
async fn wrong_requests_say_what_is_wrong() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let send = async |body: &'static str| {
        let request = client.request(Method::POST).header("content-type", "application/json");
        let response = request.body(body).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let batch = send(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#).await;
    assert!(batch.0 == 400 && batch.1.contains("batches are not taken"), "{batch:?}");
    let broken = send(r#"{"jsonrpc":"#).await;
    assert!(broken.0 == 400 && broken.1.contains("-32700"), "{broken:?}");
    let other = send(r#"{"hello":"world"}"#).await;
    assert!(other.0 == 400 && other.1.contains("-32600"), "{other:?}");
    for (params, says) in [
        (format!(r#"{{"name":"look","arguments":{}{}}}"#, "[".repeat(500), "]".repeat(500)), "nested too deeply"),
        (r#"{"name":"look","arguments":{"query":1e999}}"#.to_owned(), "number out of range"),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let request = client.request(Method::POST).header("content-type", "application/json");
        let response = request.body(body).send().await.unwrap();
        assert_eq!(response.status(), 400, "{says}");
        let text = response.text().await.unwrap();
        assert!(text.contains(says), "{text}");
    }
    let deaf =
        client.http.post(&client.url).header("accept", "application/json").json(&initialize()).send().await.unwrap();
    assert_eq!(deaf.status(), 406);
    assert!(deaf.text().await.unwrap().contains("application/json, text/event-stream"));
    let kind = client.http.post(&client.url).header("accept", "application/json, text/event-stream").body("{}");
    assert_eq!(kind.send().await.unwrap().status(), 415);
}

#[tokio::test]
async fn sessions_are_asked_for_and_forgotten() {
    let server = server(ServeConfig::default()).await;
    let mut client = Raw::attached(&server).await;
    let ended = client.request(Method::DELETE).send().await.unwrap();
    assert_eq!(ended.status(), 204);
    assert_eq!(client.post(&call(1, "look", json!({}))).await.status(), 404);
    client.session = None;
    assert_eq!(client.post(&call(1, "look", json!({}))).await.status(), 400);
    client.session = Some("made-up".into());
    assert_eq!(client.post(&call(1, "look", json!({}))).await.status(), 404);
    assert_eq!(client.request(Method::GET).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_port_in_use_names_its_holder() {
    let server = server(ServeConfig::default()).await;
    let config = ServeConfig { transport: Transport::Sse, port: server.address.port(), ..ServeConfig::default() };
    let error = serve(Arc::new(Robot::default()), config, CancellationToken::new()).await.unwrap_err();
    let ServeError::PortInUse { address, holder } = &error else { panic!("{error}") };
    assert_eq!(*address, server.address.to_string());
    if cfg!(target_os = "linux") {
        assert!(holder.as_ref().unwrap().contains(&format!("pid {}", std::process::id())), "{error}");
    }
}

#[tokio::test]
async fn motion_is_not_served_to_the_network_without_a_token() {
    let open = |robot, config| serve(Arc::new(robot), config, CancellationToken::new());
    let wide = ServeConfig { transport: Transport::Http, host: "0.0.0.0".into(), ..ServeConfig::default() };
    let refused = open(Robot::default(), wide.clone()).await.unwrap_err();
    assert!(matches!(refused, ServeError::MotionWithoutToken { .. }), "{refused}");
    assert!(open(Robot::standing(), wide.clone()).await.is_ok());
    assert!(open(Robot::default(), ServeConfig { token: Some("x".into()), ..wide.clone() }).await.is_ok());
    assert!(open(Robot::default(), ServeConfig { unauthenticated_motion: true, ..wide }).await.is_ok());
}

#[tokio::test]
async fn a_stop_stops_the_robot_and_closes_the_port() {
    let server = server(ServeConfig::default()).await;
    let client = Raw::attached(&server).await;
    let driving = client.post(&call(1, "drive", json!({"steps": 100_000}))).await;
    until(&server.robot.moving, true).await;
    server.stop.cancel();
    until(&server.robot.moving, false).await;
    assert_eq!(*server.robot.ended.borrow(), Some("cancelled"));
    tokio::time::timeout(PATIENCE, server.running.finished()).await.unwrap();
    assert!(client.http.get(format!("http://{}/health", server.address)).send().await.is_err());
    drop(driving);
}

#[tokio::test]
async fn a_caller_that_does_not_read_holds_up_nobody_else() {
    let server = server(ServeConfig::default()).await;
    let slow = Raw::attached(&server).await;
    let mut body = call(1, "wait", json!({"steps": 100_000}));
    body["params"]["_meta"] = json!({"progressToken": "p"});
    let _unread = slow.post(&body).await;
    let other = Raw::attached(&server).await;
    for _ in 0..20 {
        let answer = tokio::time::timeout(Duration::from_secs(2), other.call("look", json!({"query": "x"}))).await;
        assert_eq!(answer.unwrap()["result"]["isError"], false);
    }
}
