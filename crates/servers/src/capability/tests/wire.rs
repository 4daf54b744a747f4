use cerebellum_kit::HostClock;
use cerebellum_mcp::attach::{CallOptions, Client, Endpoint};
use cerebellum_mcp::serve::{Running, ServeConfig, Transport, serve};

use super::*;

/// Ten times what anything here should take.
const PATIENCE: Duration = Duration::from_secs(10);

struct Served {
    robot: Arc<FakeRobot>,
    running: Running,
    stop: CancellationToken,
    _folder: tempfile::TempDir,
}

async fn served() -> Served {
    let clock = Arc::new(HostClock::new());
    let robot = Arc::new(FakeRobot::new(clock.clone()));
    let lease = Arc::new(Leases::new(clock.clone()));
    let folder = tempfile::tempdir().unwrap();
    let ports = Ports { robot: robot.clone(), lease, clock: clock.clone(), wall: clock, locate: None };
    let config = Config {
        waypoints: folder.path().join("waypoints.json"),
        calls: folder.path().join("calls.jsonl"),
        ..Config::default()
    };
    let server = Arc::new(Server::new(ports, config).unwrap());
    let stop = CancellationToken::new();
    let running = serve(server, ServeConfig { transport: Transport::Http, ..ServeConfig::default() }, stop.clone());
    Served { robot, running: running.await.unwrap(), stop, _folder: folder }
}

impl Served {
    fn endpoints(&self) -> [Endpoint; 2] {
        ["/mcp", "/sse"].map(|path| Endpoint::of_url(format!("http://{}{path}", self.running.address.unwrap()), None))
    }

    async fn until(&self, wanted: impl Fn(&[cerebellum_testkit::robot::Run]) -> bool) {
        tokio::time::timeout(PATIENCE, self.robot.until(wanted)).await.expect("the robot never did");
    }
}

fn turn() -> Map<String, Value> {
    Map::from_iter([("degrees".to_owned(), json!(90))])
}

#[tokio::test]
async fn a_motion_is_dropped_when_its_client_goes_away() {
    let served = served().await;
    for (index, endpoint) in served.endpoints().iter().enumerate() {
        served.robot.play(Play::Hang);
        let client = Client::connect(endpoint, PATIENCE).await.unwrap();
        let calling = tokio::spawn(async move { client.call("turn_by", turn(), CallOptions::default()).await });
        served.until(|runs| runs.len() == index + 1).await;
        calling.abort();
        assert!(calling.await.unwrap_err().is_cancelled());
        served.until(|runs| runs[index].ended == Some(Ended::Dropped)).await;
    }
}

#[tokio::test]
async fn a_motion_is_dropped_when_its_client_cancels_and_the_next_call_answers() {
    let served = served().await;
    for (index, endpoint) in served.endpoints().iter().enumerate() {
        served.robot.play(Play::Hang);
        let client = Client::connect(endpoint, PATIENCE).await.unwrap();
        let options = CallOptions::default();
        let cancel = options.cancel.clone();
        let calling = async {
            assert!(client.call("turn_by", turn(), options).await.is_err());
        };
        let cancelling = async {
            served.until(|runs| runs.len() == 2 * index + 1).await;
            cancel.cancel();
        };
        tokio::join!(calling, cancelling);
        served.until(|runs| runs[2 * index].ended == Some(Ended::Dropped)).await;
        // The cancelled call may still wait for standing still; the next is answered all the same, if only with busy.
        let next = tokio::time::timeout(PATIENCE, async {
            loop {
                let answer = client.call("turn_by", turn(), CallOptions::within(PATIENCE)).await.unwrap();
                if answer.is_ok() {
                    return;
                }
                tokio::task::yield_now().await;
            }
        });
        next.await.expect("the robot stayed busy");
    }
}

#[tokio::test]
async fn a_motion_is_dropped_when_the_server_is_told_to_end() {
    let served = served().await;
    served.robot.play(Play::Hang);
    let client = Client::connect(&served.endpoints()[0], PATIENCE).await.unwrap();
    let calling = tokio::spawn(async move { client.call("turn_by", turn(), CallOptions::default()).await });
    served.until(|runs| runs.len() == 1).await;
    served.stop.cancel();
    served.until(|runs| runs[0].ended == Some(Ended::Dropped)).await;
    drop(calling.await);
}

#[tokio::test]
async fn a_key_in_meta_reaches_the_server_and_the_caller_is_named() {
    let served = served().await;
    for endpoint in served.endpoints() {
        let client = Client::connect(&endpoint, PATIENCE).await.unwrap();
        let before = served.robot.runs().len();
        for _ in 0..2 {
            let meta = Map::from_iter([("cerebellum/call".to_owned(), json!(format!("k{before}")))]);
            let options = CallOptions { meta, ..CallOptions::within(PATIENCE) };
            assert!(client.call("turn_by", turn(), options).await.unwrap().is_ok());
        }
        assert_eq!(served.robot.runs().len(), before + 1);
        let prompt = client.read_resource("prompt://system").await.unwrap();
        assert!(prompt.contains("plan-template"));
        assert!(client.call("stop", Map::new(), CallOptions::within(PATIENCE)).await.unwrap().is_ok());
        let state = cerebellum_core::Body::state(served.robot.as_ref()).await.unwrap();
        assert!(state.stop.by.is_some_and(|by| !by.starts_with("a caller")));
        cerebellum_core::Safety::resume(served.robot.as_ref(), "test").await.unwrap();
    }
}

#[tokio::test]
async fn a_motion_is_dropped_when_standard_input_closes() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    let folder = tempfile::tempdir().unwrap();
    let this = std::env::current_exe().unwrap();
    let program = this.parent().and_then(|deps| deps.parent()).unwrap().join("examples/motion_fixture");
    let mut child = tokio::process::Command::new(program)
        .arg(folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let messages = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "turn_by",
            "arguments": {"degrees": 90}, "_meta": {"progressToken": 1}}}),
    ];
    for message in messages {
        stdin.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let begun = async {
        loop {
            let line = stdout.next_line().await.unwrap().expect("the program ended");
            if line.contains("notifications/progress") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, begun).await.expect("no progress came at once");
    drop(stdin);
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.expect("the program went on").unwrap();
    assert!(status.success());
    assert_eq!(std::fs::read_to_string(folder.path().join("ended")).unwrap(), "Some(Dropped)");
}
