//! The simulator as a service: one task owns the world; frames, truth and commands go through a bounded queue.

/// What the world can be told to do, and what it tells of itself.
pub mod command;
/// Pictures for people, from anywhere.
pub mod still;

mod core;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, Frame, FrameError, FrameSource, GroundTruth, Stamp, TruthFrame};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::Pace;
use crate::robot::Robot;
use crate::scene::Scene;
use crate::world::WorldError;

use command::{SceneCommand, SceneState};
use core::{Request, Truths};
use still::StillRequest;

/// How the simulator runs.
#[derive(Clone, Debug)]
pub struct SimConfig {
    pub scene: Arc<Scene>,
    /// Where the camera's noise begins.
    pub seed: u64,
    pub pace: Pace,
    pub camera: CameraConfig,
    /// Threads that draw; at least 1.
    pub render_threads: usize,
}

/// The head camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraConfig {
    pub width: u32,
    pub height: u32,
    /// Frames in a second of simulated time.
    pub rate_hz: f64,
}

impl Default for CameraConfig {
    fn default() -> Self {
        Self { width: 640, height: 480, rate_hz: 15.0 }
    }
}

impl Default for SimConfig {
    fn default() -> Self {
        Self {
            scene: Arc::new(Scene::home()),
            seed: 1,
            pace: Pace::REALTIME,
            camera: CameraConfig::default(),
            render_threads: 2,
        }
    }
}

/// Where the robot is at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Posture {
    /// On the robot's clock.
    pub stamp: Stamp,
    pub robot: Robot,
}

/// Why the simulator did not do it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimError {
    /// The world knows better.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The queue of requests is full; nothing was done.
    #[error("the simulator is busy: {QUEUE} requests wait already; try again")]
    Busy,
    /// The simulator has ended.
    #[error("the simulator has stopped")]
    Stopped,
    /// A request that cannot be meant so.
    #[error("{reason}")]
    BadRequest { reason: String },
}

/// Requests that may wait at once.
pub const QUEUE: usize = 32;
/// Frames whose truth is remembered.
pub const TRUTHS: usize = 8;
/// The frame that pictures and depth are in.
pub const CAMERA_FRAME: &str = "head_camera_optical";

/// A running simulator. It ends when its token is cancelled.
pub struct Simulator {
    requests: mpsc::Sender<Request>,
    clock: Arc<dyn Clock>,
    truths: Truths,
    camera: CameraConfig,
}

impl Simulator {
    /// Starts the simulator on a task of `tasks` that ends with `stop`. Returns at once; the first request waits until
    /// the world is built.
    pub fn start(config: SimConfig, tasks: &TaskTracker, stop: CancellationToken) -> Arc<Self> {
        let (requests, queue) = mpsc::channel(QUEUE);
        let clock = config.pace.clock();
        let truths: Truths = Arc::new(Mutex::new(VecDeque::new()));
        let camera = config.camera;
        let simulator = Self { requests, clock: Arc::clone(&clock), truths: Arc::clone(&truths), camera };
        tasks.spawn(core::run(config, clock, truths, queue, stop));
        Arc::new(simulator)
    }

    /// The robot's time.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    /// Does one thing to the scene, now. Refused at once when the queue is full.
    pub async fn command(&self, command: SceneCommand) -> Result<SceneState, SimError> {
        self.ask(|reply| Request::Command { command, reply }).await?
    }

    /// What stands where.
    pub async fn state(&self) -> Result<SceneState, SimError> {
        self.ask(|reply| Request::State { reply }).await
    }

    /// Where the robot is, and how its joints stand, now.
    pub async fn posture(&self) -> Result<Posture, SimError> {
        self.ask(|reply| Request::Posture { reply }).await
    }

    /// A picture for people as PNG, with soft shadows and without noise. Takes seconds of CPU.
    pub async fn still(&self, request: StillRequest) -> Result<Vec<u8>, SimError> {
        self.ask(|reply| Request::Still { request, reply }).await?
    }

    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Result<T, SimError> {
        let (reply, answer) = oneshot::channel();
        self.requests.try_send(request(reply)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SimError::Busy,
            mpsc::error::TrySendError::Closed(_) => SimError::Stopped,
        })?;
        answer.await.map_err(|_ended| SimError::Stopped)
    }

    fn period(&self) -> Duration {
        Duration::from_secs_f64(1.0 / self.camera.rate_hz)
    }

    /// The number of the frame that is due now.
    fn due(&self) -> u64 {
        (self.clock.monotonic().as_secs_f64() * self.camera.rate_hz + 1e-6) as u64
    }
}

#[async_trait]
impl FrameSource for Simulator {
    async fn next(&self, after: Option<u64>, deadline: Duration) -> Result<Arc<Frame>, FrameError> {
        let wanted = after.map_or(0, |after| after.saturating_add(1));
        if wanted > self.due() {
            let wait = self.period().mul_f64(wanted as f64).saturating_sub(self.clock.monotonic());
            self.clock.sleep(wait.min(deadline)).await;
            if wait > deadline {
                return Err(FrameError::TimedOut { waited: deadline });
            }
        }
        let index = self.due().max(wanted);
        let unavailable = |error: SimError| FrameError::Unavailable { reason: error.to_string() };
        self.ask(|reply| Request::Frame { index, reply }).await.map_err(unavailable)
    }
}

impl GroundTruth for Simulator {
    fn truth_of(&self, seq: u64) -> Option<Arc<TruthFrame>> {
        let truths = self.truths.lock().expect("no holder of this lock panics");
        truths.iter().find(|(known, _)| *known == seq).map(|(_, truth)| Arc::clone(truth))
    }
}

#[cfg(test)]
mod tests;
