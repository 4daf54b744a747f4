//! ROS 2 without ROS: message types, CDR, buses, and the domain ports over them.
//!
//! The rest of the program sees the ports of `cerebellum-core` that [`vision`] and [`camera`] implement. CDR, type hashes and
//! key expressions stay in this crate.

/// ROS 2 actions: clients and servers.
pub mod action;
/// The port of a bus: topics, services and the graph, with CDR bytes.
pub mod bus;
/// A camera on the bus: serving one, and reading one.
pub mod camera;
/// A bus inside one process.
pub mod mem;
/// The ROS message types this program speaks, and their CDR.
pub mod msg;
/// A robot on the bus: driving one in another process, and telling where one is.
pub mod robot;
/// The tree of frames that `/tf` tells.
pub mod tf;
/// The vision node's services and topics, as ports of the domain.
pub mod vision;
/// The bus of ROS 2 nodes that run `rmw_zenoh`.
pub mod zenoh;
