//! What every adapter of a port keeps. Each suite takes the port as its users see it, with nothing in it yet.

/// What every `ProcessStore` keeps.
pub mod processes;
/// What every `SkillStreams` and the `VisionStreams` that reads it keep together.
pub mod vision_streams;
/// What every `VisionTasks` keeps.
pub mod vision_tasks;

use std::time::Duration;

/// How long a suite waits for what must come: ten times what the slowest adapter needs on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Returns once `holds`. Panics with `what` when that takes too long.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let until = tokio::time::Instant::now() + PATIENCE;
    while !holds().await {
        assert!(tokio::time::Instant::now() < until, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
