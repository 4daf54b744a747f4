use std::sync::Arc;

use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

use crate::calls::Calls;
use crate::serve::metrics::Metrics;
use crate::serve::{Running, ServeConfig, ServeError, Served, start};
use crate::tool_server::Readiness;

/// Serves a handler of the protocol's own library through the shipped router, guard, sessions and drop guard. The
/// conformance suite wants answers (pictures, sound, elicitation) that no [`crate::ToolServer`] gives.
pub async fn serve_handler<H: ServerHandler + Clone>(
    handler: H,
    motions: Vec<String>,
    config: ServeConfig,
    stop: CancellationToken,
) -> Result<Running, ServeError> {
    let served = Served {
        name: handler.get_info().server_info.name,
        handler,
        motions,
        calls: Calls::default(),
        metrics: Arc::new(Metrics::default()),
        probe: Arc::new(|| Box::pin(async { Readiness::Ready })),
    };
    start(served, config, stop).await
}
