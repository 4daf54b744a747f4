//! The MCP servers as plain logic over ports.
//!
//! A server here knows the domain's ports and the words of its tools. It knows no transport, no bus and no HTTP.

/// `perception`: what the robot sees, from memory.
pub mod perception_buffer;
/// `skill_control`: what the robot is configured to perceive.
pub mod skill_control;
#[cfg(test)]
mod testing;

use cerebellum_wire::{ToolError, ToolSpec, text};

/// The error of a call to a tool that is not there.
fn unknown_tool(tool: &str, specs: &[ToolSpec]) -> ToolError {
    let shown = text::cut(tool);
    let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
    ToolError::new("unknown_tool", format!("no tool named {shown:?}"), format!("Call one of {}.", known.join(", ")))
}
