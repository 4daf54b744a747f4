use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::{PATIENCE, call, initialize};

/// The robot's own program, built with the tests.
pub(crate) fn program() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.parent().and_then(|deps| deps.parent()).unwrap().join("examples/fixture_server")
}

struct Session {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Session {
    async fn open() -> Self {
        let mut child = Command::new(program())
            .arg("stdio")
            .env("RUST_LOG", "trace")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
        let mut session = Self { child, stdin, stdout };
        session.send(&initialize()).await;
        assert_eq!(session.next().await["id"], 0);
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        session
    }

    async fn send(&mut self, message: &Value) {
        self.write(&format!("{message}\n")).await;
    }

    async fn write(&mut self, text: &str) {
        self.stdin.write_all(text.as_bytes()).await.unwrap();
        self.stdin.flush().await.unwrap();
    }

    /// The next line, which must be a message.
    async fn next(&mut self) -> Value {
        let line =
            tokio::time::timeout(PATIENCE, self.stdout.next_line()).await.expect("silence").unwrap().expect("closed");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
        assert_eq!(message["jsonrpc"], "2.0");
        message
    }

    async fn answer(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if message.get("id").is_some() {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn every_line_on_stdout_is_a_message() {
    let mut session = Session::open().await;
    session.send(&call(1, "boom", json!({}))).await;
    assert_eq!(session.answer().await["result"]["isError"], true);
    session.write("this is no JSON\n").await;
    session.send(&call(2, "look", json!("{\"query\":\"x\"}"))).await;
    assert_eq!(session.answer().await["result"]["structuredContent"]["query"], "x");
    session.write("[{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}]\n").await;
    assert_eq!(session.next().await["error"]["code"], -32600);
    session.send(&call(4, "look", json!({"query": "y"}))).await;
    assert_eq!(session.answer().await["id"], 4);
}

#[tokio::test]
async fn closing_stdin_ends_the_program_even_in_the_middle_of_a_call() {
    for tool in ["drive", "stuck", "look"] {
        let mut session = Session::open().await;
        let mut body = call(1, tool, json!({"steps": 100_000, "query": "x"}));
        body["params"]["_meta"] = json!({"progressToken": 1});
        session.send(&body).await;
        session.next_progress_of(tool).await;
        let Session { mut child, stdin, stdout, .. } = session;
        drop(stdin);
        let status =
            tokio::time::timeout(Duration::from_secs(4), child.wait()).await.expect("the server went on").unwrap();
        assert!(status.success(), "{tool}: {status}");
        drop(stdout);
    }
}

impl Session {
    /// Waits until a drive has begun; other tools say nothing on their way.
    async fn next_progress_of(&mut self, tool: &str) {
        if tool == "drive" {
            assert_eq!(self.next().await["method"], "notifications/progress");
        }
    }
}

#[tokio::test]
async fn answers_to_what_was_sent_before_stdin_closed_still_come() {
    let mut session = Session::open().await;
    session.send(&call(1, "look", json!({"query": "x"}))).await;
    let Session { mut child, stdin, mut stdout, .. } = session;
    drop(stdin);
    let line = tokio::time::timeout(PATIENCE, stdout.next_line()).await.unwrap().unwrap().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 1);
    tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_cancel_notice_reaches_the_tool() {
    let mut session = Session::open().await;
    let mut body = call(1, "drive", json!({"steps": 100_000}));
    body["params"]["_meta"] = json!({"progressToken": 1});
    session.send(&body).await;
    assert_eq!(session.next().await["params"]["progressToken"], 1);
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    session.send(&call(2, "look", json!({"query": "x"}))).await;
    assert_eq!(session.answer().await["id"], 2);
}
