//! MCP: one way to serve and one way to attach.
//!
//! Servers implement [`ToolServer`] and know no transport; nothing of `rmcp` shows outside this crate.

/// What a server implements.
pub mod tool_server;

pub use tool_server::{CallContext, Identity, Progress, Readiness, ResourceSpec, ToolServer};
