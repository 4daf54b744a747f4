use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Clock, Robot, Safety};
use cerebellum_kit::Leases;
use cerebellum_kit::clock::HostClock;
use cerebellum_ros::bus::RosBus;
use cerebellum_ros::robot::{Link, Ros2};
use cerebellum_servers::capability;

use super::Life;
use crate::config::{self, Settings};
use crate::exit::Failure;

/// How long a robot in another process may take to come onto the bus.
const ROBOT_PATIENCE: Duration = Duration::from_secs(20);

/// A robot that can be driven.
pub struct Body {
    /// The robot.
    pub robot: Arc<dyn Robot>,
    /// What only its operator may do, when this process owns the robot. Else the robot's own process has a control port.
    pub safety: Option<Arc<dyn Safety>>,
    /// Where the control port listens then, on 127.0.0.1.
    pub control_port: u16,
}

/// The robot of the configuration: one that runs ROS 2, or with `robot: sim` one that another process serves on the bus.
pub async fn body(
    settings: &Settings,
    bus: &Arc<dyn RosBus>,
    clock: &Arc<dyn Clock>,
    life: &Life,
) -> Result<Body, Failure> {
    match &settings.robot {
        config::Robot::Ros2(settings) => {
            let config = settings.config.clone();
            let robot = Ros2::follow(Arc::clone(bus), config, Arc::clone(clock), &life.tasks, life.stop.clone());
            Ok(Body { robot: robot.clone(), safety: Some(robot), control_port: settings.control_port })
        }
        config::Robot::Sim(_) => {
            let link = Link::attach(Arc::clone(bus), &life.tasks, ROBOT_PATIENCE).await.map_err(|error| {
                Failure::new(
                    crate::exit::Exit::Unavailable,
                    format!(
                        "{error}. The robot that `cerebellum sim` shows cannot be driven: a robot in another process serves \
                         /cerebellum_robot/request; one that runs ROS 2 is robot: !include robot/ros2.yaml"
                    ),
                )
            })?;
            Ok(Body { robot: link, safety: None, control_port: 0 })
        }
        config::Robot::None => Err(Failure::usage("there is no robot to move; write robot: !include robot/ros2.yaml")),
    }
}

/// What the command line says over the configuration of the motion server.
#[derive(Clone, Debug, Default)]
pub struct Restrictions {
    /// Only tools that change nothing, and `stop`.
    pub read_only: bool,
    /// Only these tools, and `stop`; all when empty.
    pub allow: Vec<String>,
}

/// The motion server over a robot.
pub async fn capability(
    settings: &Settings,
    robot: Arc<dyn Robot>,
    clock: &Arc<dyn Clock>,
    restrictions: Restrictions,
    life: &Life,
) -> Result<Arc<capability::Server>, Failure> {
    let calls = settings.state_folder.join("calls.jsonl");
    life.hold(&calls).await?;
    let own = &settings.capability;
    let config = capability::Config {
        name: own.name.clone(),
        waypoints: settings.state_folder.join("waypoints.json"),
        calls,
        prompt: own.prompt.clone(),
        read_only: own.read_only || restrictions.read_only,
        allow: if restrictions.allow.is_empty() { own.allow.clone() } else { restrictions.allow },
    };
    let ports = capability::Ports {
        robot,
        lease: Arc::new(Leases::new(Arc::clone(clock))),
        clock: Arc::clone(clock),
        wall: Arc::new(HostClock::new()),
        locate: None,
    };
    capability::Server::new(ports, config).map(Arc::new).map_err(|error| Failure::usage(error.to_string()))
}
