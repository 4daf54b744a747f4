use std::time::Duration;

use cerebellum_core::{MotionFailure, Reach, RunningMotion, StopReport};
use cerebellum_kit::Leases;
use cerebellum_mcp::{CallContext, Caller, Progress, ToolServer};
use cerebellum_testkit::robot::{Ended, Play};
use cerebellum_testkit::{FakeClock, FakeRobot};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::testing::{call, call_with, context, settle};

/// Pick and place.
mod picking;
/// Places, goals and their file.
mod places;
/// One motion at a time, progress, cancel, keys.
mod running;
/// Refusals of arguments, and which tools there are.
mod surface;
/// Over the protocol.
mod wire;

const NOW: f64 = 1_750_000_000.0;

struct Rig {
    clock: Arc<FakeClock>,
    robot: Arc<FakeRobot>,
    lease: Arc<Leases>,
    server: Arc<Server>,
    folder: tempfile::TempDir,
}

fn rig() -> Rig {
    rig_with(|_| {}, |_| {})
}

fn rig_with(parts: impl FnOnce(&mut Parts), config: impl FnOnce(&mut Config)) -> Rig {
    let clock = Arc::new(FakeClock::at(Stamp::from_secs_f64(NOW)));
    let robot = Arc::new(FakeRobot::new(clock.clone()));
    robot.edit_parts(parts);
    let lease = Arc::new(Leases::new(clock.clone()));
    let folder = tempfile::tempdir().unwrap();
    let server = Arc::new(server(&clock, &robot, &lease, folder.path(), config).unwrap());
    Rig { clock, robot, lease, server, folder }
}

fn server(
    clock: &Arc<FakeClock>,
    robot: &Arc<FakeRobot>,
    lease: &Arc<Leases>,
    folder: &std::path::Path,
    config: impl FnOnce(&mut Config),
) -> Result<Server, ConfigError> {
    let mut given = Config {
        name: "Testy".to_owned(),
        waypoints: folder.join("waypoints.json"),
        calls: folder.join("calls.jsonl"),
        ..Config::default()
    };
    config(&mut given);
    let ports =
        Ports { robot: robot.clone(), lease: lease.clone(), clock: clock.clone(), wall: clock.clone(), locate: None };
    Server::new(ports, given)
}

impl Rig {
    async fn call(&self, tool: &str, given: Value) -> Value {
        call(self.server.as_ref(), tool, &given).await.0
    }

    /// A call that must be answered with a no of that code; whether it is the protocol's error is checked too.
    async fn no(&self, tool: &str, given: Value, code: &str) -> Value {
        let (answer, is_error) = call(self.server.as_ref(), tool, &given).await;
        assert_eq!(answer["ok"], json!(false), "{answer}");
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["next"].as_str().is_some_and(|next| !next.is_empty()), "{answer}");
        let faulty = ["bad_arguments", "robot_unavailable", "expired", "call_log_unavailable", "locate_unavailable"];
        assert_eq!(is_error, faulty.contains(&code), "{answer}");
        answer
    }

    /// A call that runs beside the test.
    fn spawn(&self, tool: &'static str, given: Value, context: CallContext) -> tokio::task::JoinHandle<Value> {
        let server = self.server.clone();
        tokio::spawn(async move { call_with(server.as_ref(), tool, &given, &context).await.0 })
    }
}

fn called_by(name: &str, meta: Value) -> CallContext {
    let Value::Object(meta) = meta else { panic!("meta is an object") };
    CallContext { caller: Caller { name: name.to_owned(), meta }, ..context() }
}

struct Told(Arc<Mutex<Vec<(f64, String)>>>);

impl Progress for Told {
    fn report(&self, done: f64, _total: Option<f64>, message: &str) {
        self.0.lock().unwrap().push((done, message.to_owned()));
    }
}

/// Advances the clock in steps while others run, until the call is answered.
async fn drive(rig: &Rig, call: tokio::task::JoinHandle<Value>, step: Duration) -> Value {
    for _ in 0..2_000 {
        settle().await;
        if call.is_finished() {
            return call.await.unwrap();
        }
        rig.clock.advance(step);
        // Files are written on other threads.
        tokio::task::yield_now().await;
    }
    panic!("the call was never answered");
}
