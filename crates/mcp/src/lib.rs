//! MCP: one way to serve and one way to attach.
//!
//! Servers implement [`ToolServer`] and know no transport; nothing of `rmcp` shows outside this crate.

/// From a [`ToolServer`] to the protocol: schemas, argument repair, cancellation, progress.
mod adapter;
/// Attaching to a server: stdio, streamable HTTP, legacy SSE.
pub mod attach;
/// The calls that run, and how they are stopped.
mod calls;
/// A way past [`ToolServer`] for fixtures of the protocol's conformance suite.
#[doc(hidden)]
pub mod fixture;
/// Serving: stdio, or `/mcp`, `/sse`, `/messages`, `/health`, `/readyz` and `/metrics` on one port.
pub mod serve;
/// Texts of callers, as answers and the log show them.
mod shown;
/// What a server implements.
pub mod tool_server;

pub use tool_server::{CallContext, Caller, Count, Identity, Progress, Readiness, ResourceSpec, ToolServer};

/// The one cryptography provider of the program, for both sides of TLS.
pub(crate) fn tls_provider() -> std::sync::Arc<rustls::crypto::CryptoProvider> {
    if let Some(installed) = rustls::crypto::CryptoProvider::get_default() {
        return std::sync::Arc::clone(installed);
    }
    // Losing a race against another installer is fine: then that provider is the default.
    drop(rustls::crypto::ring::default_provider().install_default());
    rustls::crypto::CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| rustls::crypto::ring::default_provider().into())
}
