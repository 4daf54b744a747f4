//! A driver, or a robot, that is a process of its own and dies or freezes: this same test program, started again.

use std::process::{Child, Command, Stdio};

use super::*;
use crate::zenoh::RouterRole;
use crate::zenoh::tests::{Program, free_endpoint};

const ENDPOINT: &str = "CEREBELLUM_TEST_ENDPOINT";

/// The host's time: a process that is frozen needs a clock that is not.
struct RealTime(tokio::time::Instant);

#[async_trait]
impl Clock for RealTime {
    fn now(&self) -> Stamp {
        Stamp::ZERO.plus(self.0.elapsed())
    }
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
    async fn sleep(&self, span: Duration) {
        tokio::time::sleep(span).await;
    }
}

/// The part of the other process. It answers on its standard output what came of the motion.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the driver's part of the tests beside it"]
async fn driver() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else { return };
    let program = Program::connected(&endpoint, RouterRole::Never, "driver").await;
    let bus: Arc<dyn RosBus> = program.bus.clone();
    let outcome = link(&bus).await.run(Motion::Drive { metres: 1e6 }, &quiet).await;
    std::fs::write(std::env::var("CEREBELLUM_TEST_OUTCOME").unwrap(), format!("{outcome:?}")).unwrap();
    program.end().await;
}

/// The robot's part, until it is ended.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the robot's part of the tests beside it"]
async fn robot() {
    let Ok(endpoint) = std::env::var(ENDPOINT) else { return };
    let program = Program::connected(&endpoint, RouterRole::Never, "robot").await;
    let clock = Arc::new(RealTime(tokio::time::Instant::now()));
    serve(program.bus.clone(), Driver::new(), clock, &program.tasks, program.stop.clone());
    program.stop.cancelled().await;
}

struct Process {
    child: Child,
    outcome: std::path::PathBuf,
}

impl Process {
    fn start(part: &str, endpoint: &str) -> Self {
        let outcome = std::env::temp_dir().join(format!("cerebellum-{:032x}", rand::random::<u128>()));
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("robot::tests::process::{part}"), "--ignored"])
            .env(ENDPOINT, endpoint)
            .env("CEREBELLUM_TEST_OUTCOME", &outcome)
            .stdout(Stdio::null())
            .spawn();
        Self { child: child.unwrap(), outcome }
    }

    fn signal(&self, name: &str) {
        let done = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success(), "kill {name}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
        drop(std::fs::remove_file(&self.outcome));
    }
}

async fn served(endpoint: &str) -> (Program, Arc<Driver>) {
    let program = Program::connected(endpoint, RouterRole::Always, "robot").await;
    let robot = Driver::new();
    let clock = Arc::new(RealTime(tokio::time::Instant::now()));
    serve(program.bus.clone(), robot.clone(), clock, &program.tasks, program.stop.clone());
    (program, robot)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_driver_that_is_killed_stops_the_robot() {
    let endpoint = free_endpoint();
    let (program, robot) = served(&endpoint).await;
    for killed_at_once in [false, true] {
        let mut driving = Process::start("driver", &endpoint);
        eventually("it moves", || robot.moves()).await;
        if !killed_at_once {
            tokio::time::sleep(COMMAND_EXPIRY * 2).await;
            assert!(robot.moves(), "it is refreshed");
        }
        driving.child.kill().unwrap();
        eventually("it stands", || !robot.moves()).await;
    }
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_driver_that_is_frozen_stops_the_robot_and_learns_of_it_later() {
    let endpoint = free_endpoint();
    let (program, robot) = served(&endpoint).await;
    let mut driving = Process::start("driver", &endpoint);
    eventually("it moves", || robot.moves()).await;
    driving.signal("-STOP");
    eventually("it stands", || !robot.moves()).await;
    driving.signal("-CONT");
    eventually("the driver ends", || driving.child.try_wait().unwrap().is_some()).await;
    assert_eq!(std::fs::read_to_string(&driving.outcome).unwrap(), "Err(Expired)");
    assert!(!robot.moves());
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robot_that_is_killed_or_frozen_is_lost() {
    let endpoint = free_endpoint();
    let program = Program::connected(&endpoint, RouterRole::Always, "driver").await;
    let bus: Arc<dyn RosBus> = program.bus.clone();
    for signal in ["-STOP", "-KILL"] {
        let process = Process::start("robot", &endpoint);
        let link = link(&bus).await;
        let driving = drive(&link, 1e6);
        let is_running = async || link.state().await.is_ok_and(|state| state.running.is_some());
        while !is_running().await {
            assert!(!driving.is_finished());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        process.signal(signal);
        let outcome = outcome(driving).await;
        let Err(MotionFailure::Lost { reason }) = &outcome else { panic!("{signal}: {outcome:?}") };
        assert!(reason.contains("/cerebellum_robot/motions"), "{signal}: {reason}");
        assert!(matches!(link.stop("a test").await, Err(RobotError::Unavailable { .. })), "{signal}");
    }
    program.end().await;
}
