mod link;
mod nav2;
mod placement;
mod ros2;
mod server;
mod topics;
mod watchdog;

pub use link::Link;
pub use nav2::serve_nav2;
pub use placement::{Placed, Placement, serve_placement};
pub use ros2::{Call, Ros2, Ros2Config, Tool};
pub use server::serve;
pub use topics::{Velocity, VelocityType, serve_map, take_goals, take_velocities};
pub use watchdog::watch_over;

/// The service of a robot that is driven from other processes.
const REQUEST: &str = "/cerebellum_robot/request";
/// Where the robot tells of the motions that callers started (`std_msgs/String`, JSON).
const MOTIONS: &str = "/cerebellum_robot/motions";
/// Where callers keep their motion going (`std_msgs/String`, JSON).
const REFRESH: &str = "/cerebellum_robot/refresh";

#[cfg(test)]
mod tests;
