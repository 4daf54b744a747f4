use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cerebellum_core::{Clock, Frame, Intrinsics, Pose, Stamp, TruthFrame};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error};

use super::command::{CameraMode, SceneCommand, SceneState};
use super::still::{self, StillRequest};
use super::{CAMERA_FRAME, CameraConfig, Posture, SimConfig, SimError, TRUTHS};
use crate::render::{Camera, Looks, Rendering, render};
use crate::sensor::Sensor;
use crate::world::{TICKS_PER_SECOND, World};

pub(super) type Truths = Arc<Mutex<VecDeque<(u64, Arc<TruthFrame>)>>>;

/// What the owner of the world is asked for. An answer that nobody waits for any more is dropped.
pub(super) enum Request {
    Frame { index: u64, reply: oneshot::Sender<Arc<Frame>> },
    Command { command: SceneCommand, reply: oneshot::Sender<Result<SceneState, SimError>> },
    State { reply: oneshot::Sender<SceneState> },
    Posture { reply: oneshot::Sender<Posture> },
    Still { request: StillRequest, reply: oneshot::Sender<Result<Vec<u8>, SimError>> },
}

/// Serves requests one by one, each on a thread where it may take its time.
pub(super) async fn run(
    config: SimConfig,
    clock: Arc<dyn Clock>,
    truths: Truths,
    mut queue: mpsc::Receiver<Request>,
    stop: CancellationToken,
) {
    let built = tokio::task::spawn_blocking(move || Core::new(&config, clock, truths)).await;
    let mut core = match built {
        Ok(Ok(core)) => core,
        Ok(Err(reason)) => return error!(%reason, "the simulator cannot start its render threads"),
        Err(panic) => return error!(error = %panic, "the simulator failed to build its world"),
    };
    loop {
        let request = tokio::select! {
            () = stop.cancelled() => return,
            request = queue.recv() => request,
        };
        let Some(request) = request else { return };
        let served = tokio::task::spawn_blocking(move || {
            core.serve(request);
            core
        });
        core = match served.await {
            Ok(core) => core,
            Err(panic) => return error!(error = %panic, "the simulator failed and stopped"),
        };
    }
}

/// The world and its camera.
pub(super) struct Core {
    world: World,
    clock: Arc<dyn Clock>,
    camera: CameraConfig,
    mode: CameraMode,
    sensor: Sensor,
    pool: rayon::ThreadPool,
    drawn: Option<Drawn>,
    latest: Option<Arc<Frame>>,
    /// Stamp of frame 0.
    began: Stamp,
    truths: Truths,
}

/// The last rendering, and the world's version that it shows.
struct Drawn {
    version: u64,
    rendering: Rendering,
    truth: Arc<TruthFrame>,
    map_from_camera: Pose,
}

impl Core {
    fn new(
        config: &SimConfig,
        clock: Arc<dyn Clock>,
        truths: Truths,
    ) -> Result<Box<Self>, rayon::ThreadPoolBuildError> {
        let threads = config.render_threads.max(1);
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).thread_name(|n| format!("render-{n}")).build()?;
        let world = World::new(&config.scene);
        let elapsed = i64::try_from(clock.monotonic().as_nanos()).unwrap_or(i64::MAX);
        Ok(Box::new(Self {
            world,
            began: Stamp::from_nanos(clock.now().nanos() - elapsed),
            clock,
            camera: config.camera,
            mode: CameraMode::Open,
            sensor: Sensor::new(config.seed),
            pool,
            drawn: None,
            latest: None,
            truths,
        }))
    }

    fn serve(&mut self, request: Request) {
        // Whoever asked may have gone away meanwhile; then the answer is for nobody.
        let is_taken = match request {
            Request::Frame { index, reply } => reply.send(self.frame(index)).is_ok(),
            Request::Command { command, reply } => {
                self.advance();
                let done = self.command(command);
                reply.send(done.map(|()| self.state())).is_ok()
            }
            Request::State { reply } => {
                self.advance();
                reply.send(self.state()).is_ok()
            }
            Request::Posture { reply } => {
                let elapsed = self.clock.monotonic();
                self.world.advance_to(tick_at(elapsed));
                reply.send(Posture { stamp: self.began.plus(elapsed), robot: *self.world.robot() }).is_ok()
            }
            Request::Still { request, reply } => {
                self.advance();
                reply.send(still::take(&self.world, &request, &self.pool)).is_ok()
            }
        };
        if !is_taken {
            debug!("an answer of the simulator found nobody waiting");
        }
    }

    fn advance(&mut self) {
        self.world.advance_to(tick_at(self.clock.monotonic()));
    }

    fn state(&self) -> SceneState {
        SceneState::of(&self.world, self.mode)
    }

    fn command(&mut self, command: SceneCommand) -> Result<(), SimError> {
        match command {
            SceneCommand::Place(place) => {
                let spot = place.spot()?;
                self.world.place(&place.object, &spot)?;
            }
            SceneCommand::Move(by) => self.world.shift(&by.object, [by.dx, by.dy, by.dz])?,
            SceneCommand::Person(super::command::PersonRequest { action }) => match action {
                super::command::PersonAction::Enter => self.world.person_enters()?,
                super::command::PersonAction::Leave => self.world.person_leaves()?,
            },
            SceneCommand::Camera(camera) => self.mode = camera.mode,
            SceneCommand::Base(base) => match base.target()? {
                super::command::BaseTarget::Waypoint(name) => self.world.set_base_to(&name)?,
                super::command::BaseTarget::Pose { x, y, yaw } => self.world.set_base(x, y, yaw)?,
            },
            SceneCommand::Reset(_) => {
                self.world.reset();
                self.mode = CameraMode::Open;
            }
        }
        Ok(())
    }

    /// The frame of that number, or the newest if that is newer.
    fn frame(&mut self, index: u64) -> Arc<Frame> {
        if let Some(latest) = self.latest.as_ref().filter(|latest| latest.seq >= index) {
            return Arc::clone(latest);
        }
        let due = Duration::from_secs_f64(index as f64 / self.camera.rate_hz);
        let stamp = self.began.plus(due);
        let frame = match (self.mode, &self.latest) {
            (CameraMode::Frozen, Some(latest)) => {
                let truth =
                    self.truths.lock().expect("no holder of this lock panics").back().map(|(_, t)| Arc::clone(t));
                let frozen = Frame { seq: index, ..Frame::clone(latest) };
                (frozen, truth.unwrap_or_else(|| self.nothing()))
            }
            (CameraMode::Covered, _) => {
                self.world.advance_to(tick_at(due));
                let images = self.sensor.covered(self.camera.width, self.camera.height, index);
                (self.wrap(index, stamp, images, self.world.robot().map_from_camera()), self.nothing())
            }
            (CameraMode::Open | CameraMode::Frozen, _) => {
                self.world.advance_to(tick_at(due));
                let drawn = self.draw();
                let images = self.sensor.expose(&drawn.rendering, index);
                let (place, truth) = (drawn.map_from_camera, Arc::clone(&drawn.truth));
                let frame = self.wrap(index, stamp, images, place);
                self.drawn = Some(drawn);
                (frame, truth)
            }
        };
        let (frame, truth) = (Arc::new(frame.0), frame.1);
        let mut truths = self.truths.lock().expect("no holder of this lock panics");
        truths.push_back((index, truth));
        while truths.len() > TRUTHS {
            truths.pop_front();
        }
        self.latest = Some(Arc::clone(&frame));
        frame
    }

    /// The rendering of the world as it is: the last one if nothing changed.
    fn draw(&mut self) -> Drawn {
        if let Some(drawn) = self.drawn.take_if(|drawn| drawn.version == self.world.version()) {
            return drawn;
        }
        let camera = Camera { intrinsics: self.intrinsics(), map_from_camera: self.world.robot().map_from_camera() };
        let rendering = render(&self.world.parts(), &camera, Looks::Live, &self.pool);
        let truth = TruthFrame {
            width: rendering.width,
            height: rendering.height,
            ids: rendering.ids.clone(),
            objects: self.world.truth(),
        };
        Drawn {
            version: self.world.version(),
            rendering,
            truth: Arc::new(truth),
            map_from_camera: camera.map_from_camera,
        }
    }

    fn nothing(&self) -> Arc<TruthFrame> {
        let CameraConfig { width, height, .. } = self.camera;
        let ids = vec![0; width as usize * height as usize];
        Arc::new(TruthFrame { width, height, ids, objects: self.world.truth() })
    }

    fn wrap(
        &self,
        seq: u64,
        stamp: Stamp,
        (rgb, depth): (Arc<cerebellum_core::RgbImage>, Arc<cerebellum_core::DepthImage>),
        map_from_camera: Pose,
    ) -> Frame {
        Frame {
            stamp,
            seq,
            frame_id: CAMERA_FRAME.to_owned(),
            rgb,
            depth: Some(depth),
            intrinsics: Some(self.intrinsics()),
            map_from_camera: Some(map_from_camera),
        }
    }

    fn intrinsics(&self) -> Intrinsics {
        intrinsics(self.camera.width, self.camera.height)
    }
}

/// The head camera's model at a size: 62.7 degrees across.
pub(super) fn intrinsics(width: u32, height: u32) -> Intrinsics {
    let focal = 525.0 * f64::from(width) / 640.0;
    Intrinsics { width, height, fx: focal, fy: focal, cx: f64::from(width) * 0.5, cy: f64::from(height) * 0.5 }
}

fn tick_at(elapsed: Duration) -> u64 {
    (elapsed.as_secs_f64() * TICKS_PER_SECOND as f64 + 1e-6) as u64
}
