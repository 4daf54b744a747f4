use std::fmt::Write;
use std::path::Path;

use cerebellum_mcp::ResourceSpec;
use tokio::io::AsyncReadExt;
use tracing::warn;

use super::Server;

pub(super) const URI: &str = "prompt://system";
/// The prompt when the owner has written none.
const SHIPPED: &str = include_str!("prompt/system.md");
/// More of the owner's file is not read, in bytes.
const BYTES_MAX: u64 = 64_000;

pub(super) const RESOURCES: &[ResourceSpec] = &[ResourceSpec {
    uri: URI,
    name: "system prompt",
    description: "How to look with this robot, and what its eyes can do.",
    mime_type: "text/markdown",
}];

impl Server {
    /// The owner's text, read anew each time, followed by what engine and camera report of themselves.
    pub(super) async fn prompt(&self) -> String {
        let owners = match &self.config.prompt {
            Some(path) => owners_text(path).await,
            None => None,
        };
        let mut prompt = owners.unwrap_or_else(|| SHIPPED.to_owned()).trim_end().to_owned();
        prompt.push_str("\n\n## What these eyes report of themselves\n\n");
        let _written = writeln!(prompt, "- Engine: {}.", self.ports.engine.name());
        let camera = match self.eyes.newest().await {
            Ok(sight) => {
                let frame = &sight.frame;
                let depth = if frame.depth.is_some() { "with depth" } else { "without depth: no points, no grasps" };
                let place = if frame.map_from_camera.is_some() { "points in `map`" } else { "not localised" };
                format!("- Camera: {}x{}, {depth}, {place}.\n", frame.rgb.width, frame.rgb.height)
            }
            Err(_) => "- Camera: no picture now.\n".to_owned(),
        };
        prompt.push_str(&camera);
        let gripper = self.config.gripper;
        let most = (gripper.opening_m - 0.01) * 100.0;
        let _written = writeln!(prompt, "- Gripper: takes things up to {most:.0} cm wide.");
        prompt
    }
}

/// `None`, with a warning, when it cannot be read or says nothing. A pipe never ends and is not opened.
async fn owners_text(path: &Path) -> Option<String> {
    let is_file = tokio::fs::metadata(path).await.is_ok_and(|found| found.is_file());
    let mut bytes = Vec::new();
    let read = match tokio::fs::File::open(path).await {
        Ok(file) if is_file => file.take(BYTES_MAX).read_to_end(&mut bytes).await.is_ok(),
        Ok(_) | Err(_) => false,
    };
    let said = String::from_utf8_lossy(&bytes).into_owned();
    if !read {
        warn!(path = %path.display(), "the prompt cannot be read, using the embedded one");
    }
    (read && !said.trim().is_empty()).then_some(said)
}
