//! The MCP servers as plain logic over ports.
//!
//! A server here knows the domain's ports and the words of its tools. It knows no transport, no bus and no HTTP.

/// `motion`: the robot's body.
pub mod capability;
/// `locate`: where things are, how to take them, and where there is room.
pub mod locate;
/// `memory`: ways of doing things that were taught.
pub mod memory;
/// `perception`: what the robot sees, from memory.
pub mod perception_buffer;
/// `skill_control`: what the robot is configured to perceive.
pub mod skill_control;
/// `task`: whole tasks over a robot's own tools.
pub mod task;
#[cfg(test)]
mod testing;

use cerebellum_wire::{ToolError, ToolSpec, text};
use serde::Serialize;

/// The error of a call to a tool that is not there.
fn unknown_tool(tool: &str, specs: &[ToolSpec]) -> ToolError {
    let shown = text::cut(tool);
    let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    ToolError::new("unknown_tool", format!("no tool named {shown:?}"), format!("Call one of {}.", known.join(", ")))
}

/// The first items, as many as fit into so many bytes of JSON; one that is too large for what is left is passed over.
fn fitting<T: Serialize>(items: impl Iterator<Item = T>, bytes_max: usize) -> Vec<T> {
    let mut left = bytes_max;
    let mut fitting = Vec::new();
    for item in items {
        let bytes = serde_json::to_string(&item).map_or(0, |text| text.len() + 1);
        if bytes <= left {
            left -= bytes;
            fitting.push(item);
        }
    }
    fitting
}
