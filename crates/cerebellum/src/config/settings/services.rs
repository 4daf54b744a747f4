use std::path::PathBuf;
use std::time::Duration;

use cerebellum_kit::signing::Secret;
use cerebellum_servers::perception_buffer;
use secrecy::{ExposeSecret, SecretString};

use super::Context;
use crate::config::fault::quoted;
use crate::config::node::Node;
use crate::config::show::without_credentials;
use crate::config::source::Resource;
use crate::config::table::{Findings, Table};

/// The engine that looks at pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Vision {
    /// Picture and depth alone.
    Geometry {
        /// What things are called and look like.
        things: Resource,
    },
    /// The simulator's own knowledge: for tests.
    GroundTruth,
}

/// The vision node itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisionNode {
    /// Its ROS name, in front of its services: `/vision_node/create_vision_task`.
    pub name: String,
}

/// The skill-control server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillControl {
    /// The templates: a file or a folder of them.
    pub catalog: Resource,
    /// Whether one bad template is a reason not to start.
    pub strict: bool,
    /// How long a call of the vision node may take.
    pub service_deadline: Duration,
}

/// Where learned processes are kept. A root file may leave this group out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// The file; `memory.sqlite` in the state folder when `None`.
    pub path: Option<PathBuf>,
}

/// The motion server. A root file may leave this group out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capability {
    /// What people call this robot.
    pub name: String,
    /// The owner's text for planners; the built-in one when `None`.
    pub prompt: Option<PathBuf>,
    /// Only tools that change nothing, and `stop`.
    pub read_only: bool,
    /// Only these tools, and `stop`; all when empty.
    pub allow: Vec<String>,
}

/// The locate server. A root file may leave this group out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locate {
    /// The owner's text for planners; the built-in one when `None`.
    pub prompt: Option<PathBuf>,
    /// Quality of pictures as JPEG, 1 to 100.
    pub jpeg_quality: u8,
}

impl Default for Locate {
    fn default() -> Self {
        Self { prompt: None, jpeg_quality: 80 }
    }
}

/// Where events are posted. Push is on when both are there.
#[derive(Clone, Debug)]
pub struct Events {
    /// The URL of the brain's event endpoint.
    pub callback_url: Option<String>,
    /// The key that signs them.
    pub secret: Option<SecretString>,
}

/// Logging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// The level, or a filter such as `info,cerebellum_mcp=debug`.
    pub level: String,
    /// How lines look.
    pub format: LogFormat,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Pretty on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}

impl LogFormat {
    /// The words that name the formats.
    pub const WORDS: &[(&str, Self)] = &[("auto", Self::Auto), ("json", Self::Json), ("pretty", Self::Pretty)];
}

pub(super) fn read_vision(node: &Node, context: &Context<'_>) -> Option<Vision> {
    let (adapter, table) = Table::adapter(node, "vision", &["geometry", "ground_truth"], context.findings)?;
    if adapter == "ground_truth" {
        table.finish();
        return Some(Vision::GroundTruth);
    }
    let things = context.resource(&table, "things", "vision/things.yaml");
    table.finish();
    Some(Vision::Geometry { things: things? })
}

pub(super) fn read_vision_node(node: &Node, findings: &Findings) -> Option<VisionNode> {
    let table = Table::open(node, "vision_node", findings)?;
    let name = table.text_or("name", "vision_node").and_then(|name| {
        if is_node_name(&name) {
            return Some(name);
        }
        table.refuse_key(
            "name",
            &format!("{} is no ROS node name; letters, digits and _ are accepted, a letter first", quoted(&name)),
        )
    });
    table.finish();
    Some(VisionNode { name: name? })
}

fn is_node_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.len() <= 255
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

pub(super) fn read_skill_control(node: &Node, context: &Context<'_>) -> Option<SkillControl> {
    let table = Table::open(node, "skill_control", context.findings)?;
    let catalog = context.resource(&table, "catalog", "skills.yaml");
    let strict = table.flag_or("strict", false);
    let deadline = table.number_or("service_deadline_s", 25.0, 0.1..=29.0);
    table.finish();
    Some(SkillControl { catalog: catalog?, strict: strict?, service_deadline: Duration::from_secs_f64(deadline?) })
}

pub(super) fn read_memory(node: &Node, findings: &Findings) -> Option<Memory> {
    let (_, table) = Table::adapter(node, "memory", &["sqlite"], findings)?;
    let path = table.optional_text("path");
    table.finish();
    Some(Memory { path: path?.filter(|path| !path.is_empty()).map(PathBuf::from) })
}

pub(super) fn read_capability(node: &Node, findings: &Findings) -> Option<Capability> {
    let table = Table::open(node, "capability", findings)?;
    let name = table.text_or("name", "robot");
    let prompt = table.optional_text("prompt");
    let read_only = table.flag_or("read_only", false);
    let allow = table.texts_or("allow", &[]);
    table.finish();
    let prompt = prompt?.filter(|path| !path.is_empty()).map(PathBuf::from);
    Some(Capability { name: name?, prompt, read_only: read_only?, allow: allow? })
}

pub(super) fn read_locate(node: &Node, findings: &Findings) -> Option<Locate> {
    let table = Table::open(node, "locate", findings)?;
    let prompt = table.optional_text("prompt");
    let jpeg_quality = table.whole_or("jpeg_quality", 80, 1..=100);
    table.finish();
    let prompt = prompt?.filter(|path| !path.is_empty()).map(PathBuf::from);
    Some(Locate { prompt, jpeg_quality: jpeg_quality? as u8 })
}

pub(super) fn read_buffer(node: &Node, findings: &Findings) -> Option<perception_buffer::Config> {
    let table = Table::open(node, "buffer", findings)?;
    let patterns = table.texts_or("topic_patterns", &["/vision/"]).and_then(|patterns| {
        let bad = patterns.iter().find(|pattern| !pattern.starts_with('/'));
        match bad {
            None if !patterns.is_empty() => Some(patterns),
            None => table.refuse_key("topic_patterns", "is empty; name at least one prefix, such as \"/vision/\""),
            Some(bad) => table.refuse_key(
                "topic_patterns",
                &format!("{} does not start with /; expected prefixes such as \"/vision/\"", quoted(bad)),
            ),
        }
    });
    let history_depth = table.whole_or("history_depth", 10, 1..=1000);
    let freshness = table.number_or("freshness_window_s", 5.0, 0.05..=86_400.0);
    let reconcile = table.number_or("reconcile_interval_s", 2.0, 0.05..=3_600.0);
    let camera_topic = table.optional_text("camera_topic");
    let watch_push = table.flag_or("watch_push", true);
    let forget_after = table.number_or("forget_after_s", 60.0, 0.0..=86_400.0);
    table.finish();
    Some(perception_buffer::Config {
        topic_prefixes: patterns?,
        history_depth: history_depth? as usize,
        freshness_window: Duration::from_secs_f64(freshness?),
        reconcile_interval: Duration::from_secs_f64(reconcile?),
        forget_after: Duration::from_secs_f64(forget_after?),
        camera_topic: camera_topic?,
        watch_push: watch_push?,
    })
}

pub(super) fn read_events(node: &Node, findings: &Findings) -> Option<Events> {
    let table = Table::open(node, "events", findings)?;
    let callback_url = table.optional_text("callback_url").and_then(|url| match url {
        Some(url) if !is_http(&url) => table.refuse_key(
            "callback_url",
            &format!("{} is no http:// or https:// URL", quoted(&without_credentials(&url))),
        ),
        url => Some(url),
    });
    let secret = table.optional_secret("secret").and_then(|secret| {
        let fault = secret.as_ref().and_then(|secret| secret.expose_secret().parse::<Secret>().err());
        match fault {
            Some(fault) => table.refuse_key("secret", &fault.to_string()),
            None => Some(secret),
        }
    });
    table.finish();
    Some(Events { callback_url: callback_url?, secret: secret? })
}

fn is_http(url: &str) -> bool {
    reqwest::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
}

pub(super) fn read_log(node: &Node, findings: &Findings) -> Option<Log> {
    let table = Table::open(node, "log", findings)?;
    let level = table.text_or("level", "info").and_then(|level| match crate::telemetry::check_level(&level) {
        Ok(()) => Some(level),
        Err(message) => table.refuse_key("level", &message),
    });
    let format = table.word_or("format", LogFormat::Auto, LogFormat::WORDS);
    table.finish();
    Some(Log { level: level?, format: format? })
}
