//! The only place that names adapters: one `match` a port, from one line of configuration.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, FrameSource, GroundTruth, VisionEngine};
use cerebellum_kit::clock::HostClock;
use cerebellum_kit::poster::{Poster, Push};
use cerebellum_ros::bus::RosBus;
use cerebellum_ros::camera::{self, CameraPose, CameraTopics};
use cerebellum_ros::mem::MemBus;
use cerebellum_ros::robot::{self, Placed, Placement};
use cerebellum_ros::tf::Transforms;
use cerebellum_ros::vision::{Streams, Tasks};
use cerebellum_ros::zenoh::{RouterRole, ZenohBus, ZenohConfig};
use cerebellum_servers::{locate, perception_buffer, skill_control};
use cerebellum_sim::clock::Pace;
use cerebellum_sim::simulator::{CAMERA_FRAME, CameraConfig, SimConfig, Simulator};
use cerebellum_store::SqliteProcesses;
use cerebellum_vision::engine::{geometry, ground_truth};
use cerebellum_vision::source::folder::{Folder, FolderConfig};
use secrecy::ExposeSecret;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

use crate::config::{self, Environment, Resource, Settings};
use crate::exit::Failure;
use crate::page::RecentEvents;
use crate::state::{self, Hold};

/// A robot that can be driven, and the motion server over it.
mod body;
/// The vision node, and that there is one of its name.
mod node;

pub use body::{Body, Restrictions, body, capability};
pub use node::vision_node;

/// How long the tasks of a program that was told to stop may take to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Owns every task of the program, and the word that ends them.
#[derive(Clone, Default)]
pub struct Life {
    /// Every task is on it.
    pub tasks: TaskTracker,
    /// Ends them.
    pub stop: CancellationToken,
    /// The state files that are ours as long as anything runs.
    held: Arc<Mutex<Vec<Hold>>>,
}

impl Life {
    /// A life that ends when the user or the system asks for it (`SIGINT`, `SIGTERM`).
    pub fn until_asked() -> Self {
        let life = Self::default();
        let stop = life.stop.clone();
        life.tasks.spawn(async move {
            tokio::select! {
                () = asked() => {
                    info!("asked to stop");
                    stop.cancel();
                }
                () = stop.cancelled() => {}
            }
        });
        life
    }

    /// Takes a state file for this program, for as long as it lives. A file that another process has is bad usage.
    async fn hold(&self, file: &Path) -> Result<(), Failure> {
        let hold = state::hold(file).await?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).extend(hold);
        Ok(())
    }

    /// Ends every task, and waits for that a few seconds.
    pub async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(FAREWELL, self.tasks.wait()).await.is_err() {
            warn!(left = self.tasks.len(), "some tasks did not end in time");
        }
    }
}

#[cfg(unix)]
async fn asked() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return interrupted().await };
    tokio::select! {
        _ = terminate.recv() => {}
        () = interrupted() => {}
    }
}

#[cfg(not(unix))]
async fn asked() {
    interrupted().await;
}

async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Who this process is on the bus.
#[derive(Clone, Copy)]
pub struct OnBus<'a> {
    /// The ROS node name.
    pub node: &'a str,
    /// Whether it opens the router, when the configuration leaves that to the subcommand.
    pub router: RouterRole,
    /// Other routers that its router connects to.
    pub join: &'a [String],
}

/// The bus. Answers at once; the connection comes up in the background.
pub fn bus(
    settings: &Settings,
    environment: &Environment,
    who: OnBus<'_>,
    life: &Life,
) -> Result<Arc<dyn RosBus>, Failure> {
    match &settings.ros {
        config::Ros::Mem => Ok(MemBus::new()),
        config::Ros::Zenoh(zenoh) => {
            let config = zenoh_config(zenoh, environment, who)?;
            Ok(ZenohBus::open(config, life.tasks.clone(), life.stop.clone()))
        }
    }
}

/// How Zenoh is reached, from the configuration and Zenoh's own variables.
pub fn zenoh_config(zenoh: &config::Zenoh, environment: &Environment, who: OnBus<'_>) -> Result<ZenohConfig, Failure> {
    let router = zenoh.router.map_or(who.router, |role| match role {
        config::RouterRole::Never => RouterRole::Never,
        config::RouterRole::Auto => RouterRole::Auto,
        config::RouterRole::Always => RouterRole::Always,
    });
    let session_file = environment.get("ZENOH_SESSION_CONFIG_URI").map(Into::into);
    ZenohConfig::new(&zenoh.endpoint, router, zenoh.domain_id, who.node)
        .and_then(|config| config.joining(who.join))
        .and_then(|config| config.with_variables(session_file, environment.get("ZENOH_CONFIG_OVERRIDE")))
        .map_err(|error| Failure::usage(error.to_string()))
}

/// The robot's clock and camera, and the simulator behind them where there is one.
pub struct Robot {
    /// The robot's time.
    pub clock: Arc<dyn Clock>,
    /// Its camera.
    pub camera: Arc<dyn FrameSource>,
    /// The simulated robot, unless the robot is a real one.
    pub simulator: Option<Arc<Simulator>>,
    /// Whose camera it is.
    eye: Eye,
}

/// Whose camera a robot looks through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Eye {
    /// The simulator's: it has a sensor's noise.
    Simulated,
    /// This program's, without noise.
    Folder,
    /// Somebody else's: it is on the bus already.
    Bus,
}

impl Robot {
    /// Serves the camera on the bus unless it is there already, and where the robot is if this program simulates it.
    pub fn serve(&self, bus: &Arc<dyn RosBus>, life: &Life) {
        if self.eye != Eye::Bus {
            let camera = Arc::clone(&self.camera);
            camera::serve(Arc::clone(bus), camera, CameraTopics::default(), &life.tasks, life.stop.clone());
        }
        if let (Eye::Simulated, Some(simulator)) = (self.eye, &self.simulator) {
            let placed = Arc::new(PlacedSimulator(Arc::clone(simulator)));
            robot::serve_placement(Arc::clone(bus), placed, &life.tasks, life.stop.clone());
        }
    }
}

/// The simulated robot as it says on the bus where it is.
struct PlacedSimulator(Arc<Simulator>);

#[async_trait]
impl Placed for PlacedSimulator {
    async fn placement(&self) -> Option<Placement> {
        let posture = self.0.posture().await.ok()?;
        Some(Placement {
            stamp: posture.stamp,
            map_from_base: posture.robot.map_from_base,
            base_from_camera: posture.robot.map_from_base.inverse().then(&posture.robot.map_from_camera()),
            camera_frame: CAMERA_FRAME,
            // It is put somewhere, it does not drive.
            velocity: [0.0, 0.0],
            turn_rate: 0.0,
        })
    }
}

/// The robot and its camera.
pub fn robot(settings: &Settings, bus: &Arc<dyn RosBus>, life: &Life) -> Result<Robot, Failure> {
    let simulator = match &settings.robot {
        config::Robot::None | config::Robot::Ros2(_) => None,
        config::Robot::Sim(robot) => Some(simulator(settings, robot, life)),
    };
    let clock = simulator.as_ref().map_or_else(host_clock, |simulator| simulator.clock());
    let (eye, camera): (Eye, Arc<dyn FrameSource>) = match (&settings.camera, &simulator) {
        (config::Camera::Sim(_), Some(simulator)) => (Eye::Simulated, Arc::clone(simulator) as Arc<dyn FrameSource>),
        (config::Camera::Sim(_), None) => {
            return Err(Failure::usage("camera: sim needs the simulated robot; write robot: !include robot/sim.yaml"));
        }
        (config::Camera::Folder(folder), _) => {
            let folder = open_folder(folder, &clock)?;
            if let Some(missing) = folder.missing() {
                warn!("{missing}");
            }
            (Eye::Folder, Arc::new(folder))
        }
        (config::Camera::Ros(camera), _) => (Eye::Bus, ros_camera(camera, bus, &clock, life)),
    };
    Ok(Robot { clock, camera, simulator, eye })
}

/// The pictures of a folder, all looked at once so that what is wrong is said now.
pub fn open_folder(folder: &config::FolderCamera, clock: &Arc<dyn Clock>) -> Result<Folder, Failure> {
    let config = FolderConfig { rate_hz: folder.rate_hz, ..FolderConfig::default() };
    Folder::open(&folder.path, &config, Arc::clone(clock)).map_err(|error| Failure::usage(format!("camera: {error}")))
}

fn ros_camera(
    camera: &config::RosCamera,
    bus: &Arc<dyn RosBus>,
    clock: &Arc<dyn Clock>,
    life: &Life,
) -> Arc<camera::Source> {
    let (bus, tasks, stop) = (Arc::clone(bus), &life.tasks, life.stop.clone());
    let pose = match camera.fixed {
        Some(pose) => CameraPose::Fixed(pose),
        None => CameraPose::Told(Transforms::follow(Arc::clone(&bus), tasks, stop.clone())),
    };
    camera::Source::open(bus, camera.topics.clone(), pose, Arc::clone(clock), tasks, stop)
}

fn simulator(settings: &Settings, robot: &config::SimRobot, life: &Life) -> Arc<Simulator> {
    let camera = match settings.camera {
        config::Camera::Sim(camera) => {
            CameraConfig { width: camera.width, height: camera.height, rate_hz: camera.rate_hz }
        }
        config::Camera::Folder(_) | config::Camera::Ros(_) => CameraConfig::default(),
    };
    let pace = match robot.pace {
        config::Pace::Realtime => Pace::Realtime { speed: robot.speed },
        config::Pace::Awaited => Pace::AWAITED,
    };
    let config = SimConfig { seed: robot.seed, pace, camera, ..SimConfig::default() };
    Simulator::start(config, &life.tasks, life.stop.clone())
}

/// The host's time, where no simulator has its own.
pub fn host_clock() -> Arc<dyn Clock> {
    Arc::new(HostClock::new())
}

/// The engine that looks at pictures.
pub fn engine(settings: &Settings, robot: &Robot) -> Result<Arc<dyn VisionEngine>, Failure> {
    match &settings.vision {
        config::Vision::Geometry { things } => Ok(Arc::new(geometry::Engine::new(read_things(things)?))),
        config::Vision::GroundTruth => {
            let Some(simulator) = &robot.simulator else {
                return Err(Failure::usage(
                    "vision: ground_truth asks the simulator; write robot: !include robot/sim.yaml",
                ));
            };
            Ok(Arc::new(ground_truth::Engine::new(Arc::clone(simulator) as Arc<dyn GroundTruth>)))
        }
    }
}

/// What things are called and look like.
pub fn read_things(things: &Resource) -> Result<geometry::Things, Failure> {
    let text = read_resource(things)?;
    geometry::Things::parse(&text).map_err(|fault| Failure::usage(format!("{}: {fault}", resource_name(things))))
}

/// The locate server, with the camera of the robot and an engine of its own.
pub fn locate(
    settings: &Settings,
    robot: &Robot,
    body: Option<Arc<dyn cerebellum_core::Body>>,
) -> Result<Arc<locate::Server>, Failure> {
    let ports = locate::Ports {
        frames: Arc::clone(&robot.camera),
        engine: engine(settings, robot)?,
        body,
        clock: Arc::clone(&robot.clock),
    };
    let config = locate::Config {
        prompt: settings.locate.prompt.clone(),
        jpeg_quality: settings.locate.jpeg_quality,
        ..locate::Config::default()
    };
    Ok(Arc::new(locate::Server::new(ports, config)))
}

/// The skill-control server over the vision node of the bus.
pub fn skill_control(settings: &Settings, bus: &Arc<dyn RosBus>) -> Result<Arc<skill_control::Server>, Failure> {
    let catalogs = catalogs(settings)?;
    let catalog = catalogs.current();
    let file = resource_name(&settings.skill_control.catalog);
    info!(templates = catalog.templates().len(), file, "skill templates are read, from there alone");
    let faults = catalog.faults().iter().map(ToString::to_string).collect::<Vec<_>>();
    if settings.skill_control.strict && !faults.is_empty() {
        return Err(Failure::usage(format!("strict: the skill catalog has faults:\n  {}", faults.join("\n  "))));
    }
    let tasks = Arc::new(Tasks::new(Arc::clone(bus), &settings.vision_node.name));
    let deadline = settings.skill_control.service_deadline;
    Ok(Arc::new(skill_control::Server::new(tasks, catalogs, Arc::new(HostClock::new()), deadline)))
}

/// The skill templates.
pub fn catalogs(settings: &Settings) -> Result<skill_control::Catalogs, Failure> {
    match &settings.skill_control.catalog {
        Resource::Embedded(_) => Ok(skill_control::Catalogs::shipped()),
        Resource::Disk(path) => skill_control::Catalogs::open(path).map_err(|error| Failure::usage(error.to_string())),
    }
}

/// The file of learned processes.
pub async fn memory_store(settings: &Settings) -> Result<Arc<SqliteProcesses>, Failure> {
    let path = settings.memory.path.clone().unwrap_or_else(|| settings.state_folder.join("memory.sqlite"));
    let store = SqliteProcesses::open(&path, cerebellum_store::Settings::default(), Arc::new(HostClock::new())).await;
    store.map(Arc::new).map_err(|error| Failure::usage(format!("{error}; another file: MEMORY_FILE")))
}

/// The buffer, and what its events go through.
pub struct Perception {
    /// What is kept.
    pub buffer: Arc<perception_buffer::Buffer>,
    /// Posts events.
    pub poster: Arc<Poster>,
    /// The last events on their way there.
    pub events: Arc<RecentEvents>,
}

/// The perception buffer over the streams of the bus.
pub async fn perception(
    settings: &Settings,
    bus: &Arc<dyn RosBus>,
    clock: Arc<dyn Clock>,
    life: &Life,
) -> Result<Perception, Failure> {
    let state_file = settings.state_folder.join("watches.json");
    life.hold(&state_file).await?;
    let push = push(settings)?;
    let wall = Arc::new(HostClock::new());
    let poster = Poster::start(push, wall.clone(), &life.tasks, life.stop.clone())
        .map_err(|error| Failure::usage(error.to_string()))?;
    let events = Arc::new(RecentEvents::before(poster.clone(), clock.clone()));
    let ports = perception_buffer::Ports {
        streams: Arc::new(Streams::new(Arc::clone(bus))),
        tasks: Arc::new(Tasks::new(Arc::clone(bus), &settings.vision_node.name)),
        clock,
        wall,
        events: Some(events.clone()),
        state_file: Some(state_file),
    };
    let buffer = perception_buffer::Buffer::start(settings.buffer.clone(), ports, &life.tasks, &life.stop);
    Ok(Perception { buffer, poster, events })
}

/// Where events are pushed.
pub fn push(settings: &Settings) -> Result<Push, Failure> {
    let secret = settings.events.secret.as_ref().map(ExposeSecret::expose_secret);
    Push::from_settings(settings.events.callback_url.as_deref(), secret)
        .map_err(|error| Failure::usage(error.to_string()))
}

fn read_resource(resource: &Resource) -> Result<String, Failure> {
    match resource {
        Resource::Embedded(file) => Ok(file.text.to_owned()),
        Resource::Disk(path) => read(path),
    }
}

fn resource_name(resource: &Resource) -> String {
    match resource {
        Resource::Embedded(file) => format!("{} (built in)", file.name),
        Resource::Disk(path) => path.display().to_string(),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))
}
