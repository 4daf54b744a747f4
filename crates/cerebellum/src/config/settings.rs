use std::path::{Path, PathBuf};

use cerebellum_servers::perception_buffer;

use super::source::{self, Resource, Root};
use super::table::{Findings, Table};
use super::{environment::Environment, node::Node};

mod bus;
mod robot;
mod services;

pub use bus::{Ros, RouterRole, Zenoh};
pub use robot::{Camera, FolderCamera, Pace, Robot, Ros2Robot, RosCamera, SimCamera, SimRobot};
pub use services::{Capability, Events, Locate, Log, LogFormat, Memory, SkillControl, Vision, VisionNode};

/// The whole configuration, checked: one adapter chosen for each port, and the settings of the services.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The bus to ROS 2.
    pub ros: Ros,
    /// The engine that looks at pictures.
    pub vision: Vision,
    /// Where pictures come from.
    pub camera: Camera,
    /// The robot.
    pub robot: Robot,
    /// The vision node itself.
    pub vision_node: VisionNode,
    /// The skill-control server.
    pub skill_control: SkillControl,
    /// The perception buffer.
    pub buffer: perception_buffer::Config,
    /// Where learned processes are kept.
    pub memory: Memory,
    /// The motion server.
    pub capability: Capability,
    /// The locate server.
    pub locate: Locate,
    /// Where events are posted.
    pub events: Events,
    /// Logging.
    pub log: Log,
    /// Where state is kept: the skill list, watch states, the operator token. Made when first written to.
    pub state_folder: PathBuf,
}

/// What settings are read with besides their own text.
pub(super) struct Context<'a> {
    pub(super) root: &'a Root,
    pub(super) working_folder: &'a Path,
    pub(super) environment: &'a Environment,
    pub(super) findings: &'a Findings,
}

impl Context<'_> {
    /// A file that a setting names, or a fault of that setting.
    fn resource(&self, table: &Table<'_>, key: &'static str, default: &str) -> Option<Resource> {
        let name = table.text_or(key, default)?;
        source::resource(self.root, self.working_folder, &name)
            .or_else(|message| table.refuse_key(key, &message).ok_or(()))
            .ok()
    }
}

const GROUPS: &str = "a root file has ros, vision, camera, robot, vision_node, skill_control, buffer, memory, capability, locate, events and log";

/// Reads every setting, and records every fault on the way. `None` when there is at least one.
pub(super) fn read(node: &Node, context: &Context<'_>) -> Option<Settings> {
    let findings = context.findings;
    let root = Table::open(node, "", findings)?;
    let need = |key: &'static str, file: &str| root.need(key, &format!("write {key}: !include {file} ({GROUPS})"));
    let ros = need("ros", "ros/zenoh.yaml").and_then(|node| bus::read(node, findings));
    let vision = need("vision", "vision/geometry.yaml").and_then(|node| services::read_vision(node, context));
    let camera = need("camera", "camera/sim.yaml").and_then(|node| robot::read_camera(node, findings));
    let robot = need("robot", "robot/sim.yaml").and_then(|node| robot::read_robot(node, findings));
    let vision_node =
        need("vision_node", "services/vision_node.yaml").and_then(|node| services::read_vision_node(node, findings));
    let skill_control = need("skill_control", "services/skill_control.yaml")
        .and_then(|node| services::read_skill_control(node, context));
    let buffer = need("buffer", "buffer.yaml").and_then(|node| services::read_buffer(node, findings));
    let memory = match root.find("memory") {
        Some(node) => services::read_memory(node, findings),
        None => Some(Memory::default()),
    };
    let capability = match root.find("capability") {
        Some(node) => services::read_capability(node, findings),
        None => Some(Capability::default()),
    };
    let locate = match root.find("locate") {
        Some(node) => services::read_locate(node, findings),
        None => Some(Locate::default()),
    };
    let events = need("events", "services/events.yaml").and_then(|node| services::read_events(node, findings));
    let log = need("log", "services/log.yaml").and_then(|node| services::read_log(node, findings));
    root.finish();
    Some(Settings {
        ros: ros?,
        vision: vision?,
        camera: camera?,
        robot: robot?,
        vision_node: vision_node?,
        skill_control: skill_control?,
        buffer: buffer?,
        memory: memory?,
        capability: capability?,
        locate: locate?,
        events: events?,
        log: log?,
        state_folder: state_folder(context.environment),
    })
}

/// Where state is kept: the folder systemd gives, else `XDG_STATE_HOME`, else `~/.local/state`, else below the folder for
/// temporary files, each with `cerebellum` in it.
pub fn state_folder(environment: &Environment) -> PathBuf {
    let absolute = |key| environment.get(key).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = absolute("STATE_DIRECTORY") {
        return folder;
    }
    let base = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    base.unwrap_or_else(std::env::temp_dir).join("cerebellum")
}
