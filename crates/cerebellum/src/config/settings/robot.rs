use std::path::PathBuf;

use cerebellum_core::{Limits, Pose};
use cerebellum_ros::camera::SourceTopics;
use cerebellum_ros::robot::Ros2Config;
use glam::{DQuat, DVec3, EulerRot};

use crate::config::fault::quoted;
use crate::config::node::Node;
use crate::config::table::{Findings, Table};

/// Where pictures come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Camera {
    /// The simulator's head camera.
    Sim(SimCamera),
    /// Pictures in a folder, with depth and intrinsics beside them.
    Folder(FolderCamera),
    /// A robot's camera on the bus.
    Ros(RosCamera),
}

/// A robot's camera on the bus.
#[derive(Clone, Debug, PartialEq)]
pub struct RosCamera {
    /// Its topics.
    pub topics: SourceTopics,
    /// `map` from its optical frame; `None` when the robot says so on `/tf`.
    pub fixed: Option<Pose>,
}

/// The simulator's head camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimCamera {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Pictures a second while somebody looks.
    pub rate_hz: f64,
}

/// Pictures in a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct FolderCamera {
    /// The folder; whether it is there is found out by who opens it.
    pub path: PathBuf,
    /// Pictures a second.
    pub rate_hz: f64,
}

/// The robot.
#[derive(Clone, Debug, PartialEq)]
pub enum Robot {
    /// One that runs ROS 2.
    Ros2(Box<Ros2Robot>),
    /// The simulated one.
    Sim(SimRobot),
    /// None of this program's: a real one is on the bus.
    None,
}

/// A robot that runs ROS 2.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros2Robot {
    /// Its topics, actions and limits.
    pub config: Ros2Config,
    /// The port of stop, resume, limits and keep-out zones on 127.0.0.1.
    pub control_port: u16,
}

/// The simulated robot in its home.
#[derive(Clone, Debug, PartialEq)]
pub struct SimRobot {
    /// Fixes everything that is random.
    pub seed: u64,
    /// How its time passes.
    pub pace: Pace,
    /// How many times faster than the host's clock, at pace `realtime`.
    pub speed: f64,
    /// The port of scene control on 127.0.0.1.
    pub control_port: u16,
}

/// How the simulator's time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// With the host's clock.
    Realtime,
    /// Only while something is awaited.
    Awaited,
}

pub(super) fn read_camera(node: &Node, findings: &Findings) -> Option<Camera> {
    let (adapter, table) = Table::adapter(node, "camera", &["sim", "folder", "ros"], findings)?;
    if adapter == "ros" {
        return read_ros_camera(table);
    }
    let rate_hz = table.number_or("rate_hz", 15.0, 0.1..=120.0);
    if adapter == "folder" {
        let path = table.need("path", "name the folder with the pictures").and_then(|_| table.text_or("path", ""));
        table.finish();
        return Some(Camera::Folder(FolderCamera { path: path?.into(), rate_hz: rate_hz? }));
    }
    let width = table.whole_or("width", 640, 64..=1920);
    let height = table.whole_or("height", 480, 48..=1440);
    table.finish();
    Some(Camera::Sim(SimCamera { width: width? as u32, height: height? as u32, rate_hz: rate_hz? }))
}

fn read_ros_camera(table: Table<'_>) -> Option<Camera> {
    let usual = SourceTopics::default();
    let topic = |key, text: String| {
        if is_full_name(&text) {
            return Some(text);
        }
        table
            .refuse_key(key, &format!("{} is no topic; expected a full name, such as /camera/image_raw", quoted(&text)))
    };
    let image = table.text_or("image", &usual.image).and_then(|text| topic("image", text));
    let info = table.text_or("info", &usual.info).and_then(|text| topic("info", text));
    let depth = table.optional_text("depth").and_then(|depth| match depth {
        None => Some(None),
        Some(text) => topic("depth", text).map(Some),
    });
    let fixed = table.text_or("pose", "tf").and_then(|text| match text.as_str() {
        "tf" => Some(None),
        _ => parse_pose(&text).map(Some).or_else(|| {
            let found = quoted(&text);
            table.refuse_key(
                "pose",
                &format!("{found} is no pose; expected tf, or \"X Y Z ROLL PITCH YAW\" in metres and radians"),
            )
        }),
    });
    table.finish();
    Some(Camera::Ros(RosCamera { topics: SourceTopics { image: image?, depth: depth?, info: info? }, fixed: fixed? }))
}

/// Reads a pose as `static_transform_publisher` takes it: turned about the fixed axes `x`, `y` and `z` in that order.
fn parse_pose(text: &str) -> Option<Pose> {
    let numbers: Option<Vec<f64>> =
        text.split_whitespace().map(|part| part.parse().ok().filter(|number: &f64| number.is_finite())).collect();
    let &[x, y, z, roll, pitch, yaw] = numbers?.as_slice() else { return None };
    Some(Pose::new(DVec3::new(x, y, z), DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll)))
}

pub(super) fn read_robot(node: &Node, findings: &Findings) -> Option<Robot> {
    let (adapter, table) = Table::adapter(node, "robot", &["sim", "ros2", "none"], findings)?;
    if adapter == "ros2" {
        return read_ros2(table);
    }
    if adapter == "none" {
        table.finish();
        return Some(Robot::None);
    }
    let seed = table.whole_or("seed", 1, 0..=u64::MAX);
    let pace = table.word_or("pace", Pace::Realtime, &[("realtime", Pace::Realtime), ("awaited", Pace::Awaited)]);
    let speed = table.number_or("speed", 1.0, 0.1..=20.0);
    let control_port = table.whole_or("control_port", 9200, 0..=65535);
    table.finish();
    Some(Robot::Sim(SimRobot { seed: seed?, pace: pace?, speed: speed?, control_port: control_port? as u16 }))
}

fn read_ros2(table: Table<'_>) -> Option<Robot> {
    let usual = Ros2Config::default();
    let name = |key, default: &str| {
        table.text_or(key, default).and_then(|text| {
            if is_full_name(&text) {
                return Some(text);
            }
            table.refuse_key(key, &format!("{} is no full name; expected one such as {default}", quoted(&text)))
        })
    };
    let optional = |key, default: &str| match table.optional_text(key)? {
        None => Some(None),
        Some(_) => name(key, default).map(Some),
    };
    let odometry = name("odometry", &usual.odometry);
    let cmd_vel = name("cmd_vel", &usual.cmd_vel);
    let navigate = optional("navigate", "/navigate_to_pose");
    let goal_pose = name("goal_pose", &usual.goal_pose);
    let map = optional("map", "/map");
    let map_id = table.text_or("map_id", &usual.map_id);
    let frames = table.texts_or("frames", &["map", "odom", "base_link"]).and_then(|frames| {
        <[String; 3]>::try_from(frames)
            .ok()
            .or_else(|| table.refuse_key("frames", "expected three: of the map, of odometry and of the base"))
    });
    let holonomic = table.flag_or("holonomic", usual.holonomic);
    let max_speed_mps = table.number_or("max_speed_mps", usual.limits.max_speed_mps, 0.01..=5.0);
    let max_turn_dps = table.number_or("max_turn_dps", usual.limits.max_turn_rate.to_degrees().round(), 1.0..=720.0);
    let max_drive_m = table.number_or("max_drive_m", usual.limits.max_drive_m, 0.01..=100.0);
    let max_turn_deg = table.number_or("max_turn_deg", usual.limits.max_turn.to_degrees().round(), 1.0..=360.0);
    let needs_watchdog = table.flag_or("needs_watchdog", true);
    let description = table.text_or("description", "");
    let control_port = table.whole_or("control_port", 9200, 0..=65535);
    table.finish();
    let limits = Limits {
        max_speed_mps: max_speed_mps?,
        max_turn_rate: max_turn_dps?.to_radians(),
        max_drive_m: max_drive_m?,
        max_turn: max_turn_deg?.to_radians(),
        ..usual.limits
    };
    let config = Ros2Config {
        odometry: odometry?,
        cmd_vel: cmd_vel?,
        navigate: navigate?,
        goal_pose: goal_pose?,
        map: map?,
        map_id: map_id?,
        frames: frames?,
        holonomic: holonomic?,
        limits,
        needs_watchdog: needs_watchdog?,
        description: description?,
        ..Ros2Config::default()
    };
    Some(Robot::Ros2(Box::new(Ros2Robot { config, control_port: control_port? as u16 })))
}

fn is_full_name(text: &str) -> bool {
    text.starts_with('/') && !text.ends_with('/') && !text.contains("//")
}
