use std::borrow::Cow;

/// What all actions share, and `JsonTask`.
pub mod action;
/// CDR: how messages look as bytes.
pub mod cdr;
/// Types of the common ROS packages.
pub mod common;
/// Transforms and odometry.
pub mod motion;
/// Maps, goals and `NavigateToPose`.
pub mod nav;
/// Types of `cerebellum_robot_interfaces`.
pub mod robot;
/// The services of `std_srvs`.
pub mod std_srvs;
/// Types of `ros2_vision_interfaces`.
pub mod vision;
/// `vision_msgs/Detection2DArray` in the layouts that are in use. Only read.
pub mod vision_msgs;

pub use cdr::{Bytes, CdrError, decode, encode};

/// The name and the hash of a message or service type, as peers compare them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RosType {
    /// Such as `std_msgs/msg/String`.
    pub name: Cow<'static, str>,
    /// `RIHS01_` and 64 hexadecimal digits; other texts are kept as a peer announced them.
    pub hash: Cow<'static, str>,
}

impl RosType {
    /// A type known when this program was built.
    pub const fn known(name: &'static str, hash: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), hash: Cow::Borrowed(hash) }
    }
}

/// A message type this program can write or read.
pub trait Message {
    /// Its name and hash.
    const TYPE: RosType;
}

#[cfg(test)]
mod tests;
