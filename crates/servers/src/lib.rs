//! The MCP servers as plain logic over ports.
