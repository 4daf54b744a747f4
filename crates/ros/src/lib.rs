//! ROS 2 without ROS: message types, CDR, buses, and the domain ports over them.
//!
//! The rest of the program sees the ports of `cerebellum-core` that [`vision`] and [`camera`] implement. CDR, type hashes and
//! key expressions stay in this crate.

/// The port of a bus: topics, services and the graph, with CDR bytes.
pub mod bus;
/// A camera on the bus: serving one, and reading one.
pub mod camera;
/// A bus inside one process.
pub mod mem;
/// The ROS message types this program speaks, and their CDR.
pub mod msg;
/// What a robot says of where it is: transforms and odometry.
pub mod robot;
/// The tree of frames that `/tf` tells.
pub mod tf;
/// The vision node's services and topics, as ports of the domain.
pub mod vision;
/// The bus of ROS 2 nodes that run `rmw_zenoh`.
pub mod zenoh;
