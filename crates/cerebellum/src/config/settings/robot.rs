use std::path::PathBuf;

use crate::config::node::Node;
use crate::config::table::{Findings, Table};

/// Where pictures come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Camera {
    /// The simulator's head camera.
    Sim(SimCamera),
    /// Pictures in a folder, with depth and intrinsics beside them.
    Folder(FolderCamera),
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
    /// The simulated one.
    Sim(SimRobot),
    /// None of this program's: a real one is on the bus.
    None,
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
    let (adapter, table) = Table::adapter(node, "camera", &["sim", "folder"], findings)?;
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

pub(super) fn read_robot(node: &Node, findings: &Findings) -> Option<Robot> {
    let (adapter, table) = Table::adapter(node, "robot", &["sim", "none"], findings)?;
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
