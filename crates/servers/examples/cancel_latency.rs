//! How long it takes from a caller's cancel to the moment the motion is dropped, beside the round trip of a call that does
//! nothing, over `/mcp` and `/sse` on loopback: `cancel_latency [ROUNDS]`.

#![allow(clippy::print_stdout, reason = "a program that prints what it measured")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cerebellum_kit::{HostClock, Leases};
use cerebellum_mcp::attach::{CallOptions, Client, Endpoint};
use cerebellum_mcp::serve::{ServeConfig, Transport, serve};
use cerebellum_servers::capability::{Config, Ports, Server};
use cerebellum_testkit::FakeRobot;
use cerebellum_testkit::robot::Play;
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(300), |rounds| rounds.parse())?;
    let folder = tempfile::tempdir()?;
    let clock = Arc::new(HostClock::new());
    let robot = Arc::new(FakeRobot::new(clock.clone()));
    let lease = Arc::new(Leases::new(clock.clone()));
    let ports = Ports { robot: robot.clone(), lease, clock: clock.clone(), wall: clock, locate: None };
    let files = folder.path();
    let config =
        Config { waypoints: files.join("waypoints.json"), calls: files.join("calls.jsonl"), ..Config::default() };
    let server = Arc::new(Server::new(ports, config)?);
    let stop = CancellationToken::new();
    let running =
        serve(server, ServeConfig { transport: Transport::Http, ..ServeConfig::default() }, stop.clone()).await?;
    let address = running.address.ok_or("no address")?;
    for path in ["/mcp", "/sse"] {
        let client = Client::connect(&Endpoint::of_url(format!("http://{address}{path}"), None), PATIENCE).await?;
        let (mut trips, mut drops) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let began = Instant::now();
            client.call("get_pose", Map::new(), CallOptions::within(PATIENCE)).await?;
            trips.push(began.elapsed());
            drops.push(round(&client, &robot).await);
        }
        println!("{path}: round trip {}, cancel to dropped {}", told(&mut trips), told(&mut drops));
    }
    stop.cancel();
    running.finished().await;
    Ok(())
}

async fn round(client: &Client, robot: &FakeRobot) -> Duration {
    let before = robot.runs().len();
    robot.play(Play::Hang);
    let options = CallOptions::default();
    let cancel = options.cancel.clone();
    let calling = async {
        let turn = Map::from_iter([("degrees".to_owned(), json!(90))]);
        // The answer is that it was cancelled.
        drop(client.call("turn_by", turn, options).await);
    };
    let cancelling = async {
        robot.until(|runs| runs.len() > before).await;
        let began = Instant::now();
        cancel.cancel();
        robot.until(|runs| runs[before].ended.is_some()).await;
        began.elapsed()
    };
    let ((), took) = tokio::join!(calling, cancelling);
    // The server may still make sure that the robot stands.
    tokio::time::sleep(Duration::from_millis(5)).await;
    took
}

fn told(spans: &mut [Duration]) -> String {
    spans.sort_unstable();
    let at = |share: f64| spans[((spans.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    format!("p50 {:.2} ms, p99 {:.2} ms", at(0.5), at(0.99))
}
