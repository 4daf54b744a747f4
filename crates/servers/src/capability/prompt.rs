use std::fmt::Write;
use std::io;
use std::path::Path;

use cerebellum_core::{Limits, Parts};
use cerebellum_mcp::ResourceSpec;
use cerebellum_wire::text;
use tokio::io::AsyncReadExt;
use tracing::warn;

use super::Server;

/// The resource that planners read.
pub(super) const URI: &str = "prompt://system";
/// The prompt when the owner has written none.
const DEFAULT: &str = include_str!("prompt/system.md");
/// More than this of the owner's file is not read, in bytes.
const FILE_MAX: u64 = 64_000;
/// The most places that the prompt names.
const PLACES_MAX: usize = 100;

pub(super) const RESOURCES: &[ResourceSpec] = &[ResourceSpec {
    uri: URI,
    name: "system prompt",
    description: "What this robot is, its limits, its places, and how to use its tools.",
    mime_type: "text/markdown",
}];

impl Server {
    /// The owner's text, read anew each time, followed by what the robot reports of itself now.
    pub(super) async fn prompt(&self) -> String {
        let mut prompt = self.owners_text().await;
        let parts = parts_text(&self.config.name, &self.parts);
        let limits = match self.limits().await {
            Ok(limits) => limits_text(&limits),
            Err(_) => "- Limits: the robot does not answer now.".to_owned(),
        };
        let tools: Vec<&str> = self.specs.iter().map(|spec| spec.name).collect();
        let places = self.places_text().await;
        let _written = write!(
            prompt,
            "\n\n## What this robot reports of itself\n\n{parts}\n{limits}\n{places}\n- Tools: {}.\n",
            tools.join(", ")
        );
        prompt
    }

    async fn owners_text(&self) -> String {
        let Some(path) = &self.config.prompt else { return DEFAULT.trim_end().to_owned() };
        match read(path).await {
            Ok(text) if text.trim().is_empty() => DEFAULT.trim_end().to_owned(),
            Ok(text) => text.trim_end().to_owned(),
            Err(error) => {
                warn!(path = %path.display(), %error, "the prompt cannot be read, using the embedded one");
                DEFAULT.trim_end().to_owned()
            }
        }
    }

    async fn places_text(&self) -> String {
        let (Ok((known, _)), Ok(map_id)) = (self.waypoints.read().await, self.map_id().await) else {
            return "- Saved places: they cannot be read now.".to_owned();
        };
        let names: Vec<String> =
            known.into_iter().filter(|saved| saved.map_id == map_id).map(|saved| saved.name).collect();
        format!("- Saved places: {}.", text::list(&names, PLACES_MAX))
    }
}

/// The owner's file, up to [`FILE_MAX`]. A pipe or a device never ends and is refused.
async fn read(path: &Path) -> io::Result<String> {
    if !tokio::fs::metadata(path).await?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    tokio::fs::File::open(path).await?.take(FILE_MAX).read_to_end(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn parts_text(name: &str, parts: &Parts) -> String {
    let mut text = String::new();
    if !name.is_empty() {
        let _written = writeln!(text, "- Name: {name}.");
    }
    if !parts.description.is_empty() {
        let _written = writeln!(text, "- {}", parts.description);
    }
    let base = match (parts.base, parts.holonomic) {
        (false, _) => "none",
        (true, false) => "drives and turns, no sideways motion",
        (true, true) => "drives, turns and moves sideways",
    };
    let arms: Vec<&str> = parts.arms.iter().map(|side| side.as_str()).collect();
    let _written = write!(text, "- Base: {base}. Arms with grippers: {}.", text::list(&arms, 8));
    for (group, states) in &parts.postures {
        let _written = write!(text, "\n- Postures of {group}: {}.", text::list(states, 20));
    }
    text
}

fn limits_text(limits: &Limits) -> String {
    let mut text = format!(
        "- Limits: {} m/s and {:.0} degrees/s; one drive_by or strafe_by {} m, one turn_by {:.0} degrees.",
        limits.max_speed_mps,
        limits.max_turn_rate.to_degrees(),
        limits.max_drive_m,
        limits.max_turn.to_degrees(),
    );
    if let Some([[left, bottom], [right, top]]) = limits.workspace {
        let _written = write!(text, " The base stays within x {left} to {right} and y {bottom} to {top} m.");
    }
    text
}
