//! The vision node: skills in, streams out.
//!
//! It looks at pictures through the port of an engine and publishes through the port of a bus. It knows no ROS and no MCP:
//! `cerebellum-ros` puts [`Node`] behind services, and gives it its streams.

/// Ways to look at pictures.
pub mod engine;
/// Runs skills: each at its rate, on the robot's clock.
pub mod node;
/// Draws what was found into the picture.
pub mod overlay;
/// Where pictures come from, other than a simulator.
pub mod source;

pub use node::{Node, NodeConfig, StartError};
