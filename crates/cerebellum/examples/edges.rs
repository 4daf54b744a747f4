//! From a published value to the signed POST that tells of it, beside a bare POST of the same size.
//!
//!     edges ENDPOINT PORT COUNT
//!
//! Is the vision node with one watched skill, and the receiver of events at `http://127.0.0.1:PORT/`. Waits for a perception
//! buffer, publishes COUNT rising edges, after each one sends itself a POST, and writes both latencies as JSON, in microseconds.
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use axum::Router;
use axum::body::Bytes as Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use cerebellum_core::{Clock, VisionTasks};
use cerebellum_kit::clock::HostClock;
use cerebellum_ros::bus::{Publisher, Qos, RosBus};
use cerebellum_ros::msg::common::Header;
use cerebellum_ros::msg::vision::StampedString;
use cerebellum_ros::msg::{Message, encode};
use cerebellum_ros::vision::serve_tasks;
use cerebellum_ros::zenoh::{RouterRole, ZenohBus, ZenohConfig};
use cerebellum_testkit::tasks::FakeVisionTasks;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const SKILL: &str = r#"{"name": "watch_for", "mode": "describe",
    "outputs": [{"name": "triggered", "type": "boolean", "description": "whether: a person is in view"}],
    "watch": {"output": "triggered", "equals": true, "condition": "a person is in view"}}"#;
const TOPIC: &str = "/vision/watch_for/triggered";
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two values, so that each is a message of its own.
const PAUSE: Duration = Duration::from_millis(10);

struct Got {
    at: Instant,
    bytes: usize,
    is_signed: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, port, count] = &arguments[..] else { bail!("usage: edges ENDPOINT PORT COUNT") };
    let (port, count): (u16, usize) = (port.parse()?, count.parse()?);
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut received = receiver(port).await?;

    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let _stop = stop.clone().drop_guard();
    let bus = ZenohBus::open(ZenohConfig::new(endpoint, RouterRole::Always, 0, "vision_node")?, tasks, stop);
    bus.connected(PATIENCE).await?;
    let bus: Arc<dyn RosBus> = bus;
    let clock = Arc::new(HostClock::new());
    let node = Arc::new(FakeVisionTasks::new(clock.clone()));
    node.add(&cerebellum_wire::skill::from_str(SKILL).map_err(|fault| anyhow::anyhow!("{fault:?}"))?);
    let _serving = serve_tasks(&bus, "vision_node", node as Arc<dyn VisionTasks>).await?;
    let publisher = bus.advertise(TOPIC, &StampedString::TYPE, Qos::STREAM).await?;

    let bare = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
    let address = format!("http://127.0.0.1:{port}/");
    let length = first_edge(publisher.as_ref(), clock.as_ref(), &mut received).await?;
    let (mut told, mut posted) = (Vec::new(), Vec::new());
    for _ in 0..count {
        say(publisher.as_ref(), clock.as_ref(), "false");
        tokio::time::sleep(PAUSE).await;
        let begin = say(publisher.as_ref(), clock.as_ref(), "true");
        let got = next(&mut received).await?;
        if !got.is_signed {
            bail!("an event without a signature");
        }
        told.push(micros(got.at - begin));
        tokio::time::sleep(PAUSE).await;
        let begin = Instant::now();
        bare.post(&address).body(vec![b'x'; length]).send().await?;
        posted.push(micros(next(&mut received).await?.at - begin));
    }
    writeln!(std::io::stdout(), r#"{{"event_us": {told:?}, "post_us": {posted:?}, "bytes": {length}}}"#)?;
    Ok(())
}

fn micros(took: Duration) -> u64 {
    took.as_micros() as u64
}

async fn receiver(port: u16) -> anyhow::Result<mpsc::Receiver<Got>> {
    let (sender, received) = mpsc::channel(16);
    let take = |State(sender): State<mpsc::Sender<Got>>, headers: HeaderMap, body: Body| async move {
        let is_signed = headers.contains_key(cerebellum_kit::signing::SIGNATURE_HEADER);
        drop(sender.try_send(Got { at: Instant::now(), bytes: body.len(), is_signed }));
    };
    let router = Router::new().route("/", post(take)).with_state(sender);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(received)
}

/// Says false and true in turn until the buffer tells of it; answers how long the event was.
async fn first_edge(
    publisher: &dyn Publisher,
    clock: &dyn Clock,
    received: &mut mpsc::Receiver<Got>,
) -> anyhow::Result<usize> {
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        say(publisher, clock, "false");
        tokio::time::sleep(PAUSE).await;
        say(publisher, clock, "true");
        if let Ok(Some(got)) = tokio::time::timeout(Duration::from_secs(1), received.recv()).await {
            return Ok(got.bytes);
        }
    }
    bail!("no event came; is a perception buffer running with RVC_CALLBACK_URL and RVC_EVENT_SECRET?")
}

async fn next(received: &mut mpsc::Receiver<Got>) -> anyhow::Result<Got> {
    tokio::time::timeout(PATIENCE, received.recv()).await.context("no POST came")?.context("the receiver ended")
}

fn say(publisher: &dyn Publisher, clock: &dyn Clock, value: &str) -> Instant {
    let header = Header { stamp: clock.now().into(), frame_id: "camera" };
    let message = encode(&StampedString { header, data: value });
    let begin = Instant::now();
    publisher.put(message);
    begin
}
