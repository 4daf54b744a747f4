use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use cerebellum_mcp::attach::{CallOptions, Client, Endpoint};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// Ten times what the slowest wait of these tests is expected to take.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A folder for one test's state, and the programs started in it.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program with arguments, in a folder of its own and without the caller's settings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cerebellum"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if ["MCP_", "CEREBELLUM_", "RVC_", "ROS_", "ZENOH_", "RUST_LOG"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
            {
                command.env_remove(&*name);
            }
        }
        command.env("XDG_STATE_HOME", self.path().join("state")).env("XDG_CONFIG_HOME", self.path().join("config"));
        command
    }

    /// Runs the program to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts the program; its log goes to a file.
    pub(crate) fn start(&self, name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Program {
        let log = self.path().join(format!("{name}.log"));
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied()).stdout(Stdio::null()).stderr(file);
        Program { child: command.spawn().unwrap(), log }
    }

    /// A demo on free ports, and its endpoints.
    pub(crate) async fn demo(&self) -> (Program, Value) {
        let ready = self.path().join("ready.json");
        let mut demo = self.start("demo", &["demo", "--ports", "0", "--ready-file", ready.to_str().unwrap()], &[]);
        let endpoints = until("the demo serves", || {
            assert!(demo.child.try_wait().unwrap().is_none(), "the demo ended:\n{}", demo.log());
            std::fs::read_to_string(&ready).ok().and_then(|text| serde_json::from_str(&text).ok())
        })
        .await;
        (demo, endpoints)
    }
}

/// A running program; killed when dropped.
pub(crate) struct Program {
    pub(crate) child: Child,
    log: PathBuf,
}

impl Program {
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends a signal by name, such as `TERM` or `STOP`.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits for the end and answers the exit code.
    pub(crate) async fn ended(&mut self) -> Option<i32> {
        let status = until("the program ends", || self.child.try_wait().unwrap()).await;
        status.code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Asks again until there is an answer; panics after the deadline.
pub(crate) async fn until<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = probe() {
            return answer;
        }
        assert!(start.elapsed() < DEADLINE, "not within {DEADLINE:?}: {what}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A session with a server.
pub(crate) struct Session(Client);

impl Session {
    /// Connects, trying again while the server starts.
    pub(crate) async fn open(url: &str) -> Self {
        let start = Instant::now();
        loop {
            match Client::connect(&Endpoint::of_url(url, None), Duration::from_secs(10)).await {
                Ok(client) => return Self(client),
                Err(error) => assert!(start.elapsed() < DEADLINE, "{url}: {error}"),
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// The answer of a tool.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let options = CallOptions::within(Duration::from_secs(40));
        self.0.call(tool, arguments, options).await.unwrap_or_else(|error| panic!("{tool}: {error}")).data
    }

    /// Calls until the answer satisfies; panics with the last answer after the deadline.
    pub(crate) async fn call_until(&self, tool: &str, arguments: Value, satisfied: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let answer = self.call(tool, arguments.clone()).await;
            if satisfied(&answer) {
                return answer;
            }
            assert!(start.elapsed() < DEADLINE, "{tool} never answered what was waited for; last: {answer}");
            sleep(Duration::from_millis(100)).await;
        }
    }
}
