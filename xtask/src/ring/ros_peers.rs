use anyhow::Result;

use super::tools::Python;
use crate::demo::Demo;

const PYTHON: Python = Python { name: "python-ros", requirements: "tests/ros-peers/requirements.txt" };

pub(super) fn missing(install: bool) -> Result<Option<String>> {
    PYTHON.missing(install)
}

/// An independent ROS 2 peer in another process: it lists topics, reads detections, creates a skill, and feeds detections
/// of its own.
pub(super) fn run() -> Result<()> {
    let demo = Demo::start("ros-peers", &[])?;
    demo.show(&mut PYTHON.run("tests/ros-peers/peer.py"))
}
