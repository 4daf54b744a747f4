use std::time::Duration;

use cerebellum_wire::located::Located;
use cerebellum_wire::{Fault, text};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The configuration that is built in.
const SHIPPED: &str = include_str!("../../../../config/buffer.yaml");
const SHIPPED_NAME: &str = "config/buffer.yaml (built in)";

/// What the buffer reads and how long it believes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Prefixes of the topics to subscribe to.
    pub topic_prefixes: Vec<String>,
    /// Messages kept a topic, at least 1.
    pub history_depth: usize,
    /// Older values are stale.
    pub freshness_window: Duration,
    /// How often topics and tasks are read, besides each change of the graph.
    pub reconcile_interval: Duration,
    /// How long the last value of a topic that left the graph is kept.
    pub forget_after: Duration,
    /// The picture topic of the camera whose health is told.
    pub camera_topic: Option<String>,
    /// Whether watched outputs are told to the brain.
    pub watch_push: bool,
}

/// What is wrong with a configuration, each with file and line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .faults.join("\n"))]
pub struct ConfigError {
    /// The faults, at least one.
    pub faults: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    topic_patterns: Vec<String>,
    history_depth: i64,
    freshness_window_s: f64,
    reconcile_interval_s: f64,
    forget_after_s: f64,
    camera_topic: Option<String>,
    watch_push: bool,
}

impl Default for File {
    fn default() -> Self {
        Self {
            topic_patterns: vec!["/vision/".to_owned()],
            history_depth: 10,
            freshness_window_s: 5.0,
            reconcile_interval_s: 2.0,
            forget_after_s: 60.0,
            camera_topic: Some("/camera/image_raw".to_owned()),
            watch_push: true,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from_yaml(SHIPPED_NAME, SHIPPED).expect("the built-in configuration is tested")
    }
}

impl Config {
    /// Reads `buffer.yaml`, whose variables were already replaced. `file` is how faults name it. Keys that are left out take
    /// their defaults; unknown keys and values out of range are faults.
    pub fn from_yaml(file: &str, text: &str) -> Result<Self, ConfigError> {
        let located: Located = serde_saphyr::from_str(text).map_err(|error| {
            let line = error.location().map_or(1, |location| location.line());
            ConfigError { faults: vec![format!("{file}:{line}: {}", error.without_snippet())] }
        })?;
        let told = |fault: &Fault| format!("{file}:{}: {fault}", located.line_of(&fault.path).max(1));
        let value = match located.to_value() {
            Value::Null => Value::Object(Map::new()),
            value => value,
        };
        let read: File = serde_path_to_error::deserialize(value)
            .map_err(|error| ConfigError { faults: vec![told(&Fault::from_serde(&error))] })?;
        let faults = faults(&read);
        if faults.is_empty() { Ok(read.into()) } else { Err(ConfigError { faults: faults.iter().map(told).collect() }) }
    }
}

impl From<File> for Config {
    fn from(file: File) -> Self {
        Self {
            topic_prefixes: file.topic_patterns.iter().map(|pattern| prefix_of(pattern).to_owned()).collect(),
            history_depth: usize::try_from(file.history_depth).unwrap_or(1),
            freshness_window: Duration::from_secs_f64(file.freshness_window_s),
            reconcile_interval: Duration::from_secs_f64(file.reconcile_interval_s),
            forget_after: Duration::from_secs_f64(file.forget_after_s),
            camera_topic: file.camera_topic,
            watch_push: file.watch_push,
        }
    }
}

/// `/vision/**` means the prefix `/vision/`.
fn prefix_of(pattern: &str) -> &str {
    pattern.trim_end_matches('*')
}

fn faults(file: &File) -> Vec<Fault> {
    let mut faults = Vec::new();
    if file.topic_patterns.is_empty() {
        faults.push(Fault::at("topic_patterns", "must name at least one prefix, such as /vision/"));
    }
    for (index, pattern) in file.topic_patterns.iter().enumerate() {
        if !pattern.starts_with('/') || prefix_of(pattern).contains('*') {
            let message = format!("{pattern:?} must be a prefix that begins with /, such as /vision/");
            faults.push(Fault::at(format!("topic_patterns[{index}]"), message));
        }
    }
    if !(1..=1000).contains(&file.history_depth) {
        faults.push(Fault::at("history_depth", format!("is {}; must be 1 to 1000", file.history_depth)));
    }
    let spans = [
        ("freshness_window_s", file.freshness_window_s, 0.05, 3600.0),
        ("reconcile_interval_s", file.reconcile_interval_s, 0.05, 3600.0),
        ("forget_after_s", file.forget_after_s, 0.0, 86_400.0),
    ];
    for (name, value, least, most) in spans {
        if !(least..=most).contains(&value) {
            faults.push(Fault::at(name, format!("is {}; must be {least} to {most} seconds", text::number(value))));
        }
    }
    if file.camera_topic.as_ref().is_some_and(|topic| !topic.starts_with('/')) {
        faults.push(Fault::at("camera_topic", "must be a topic that begins with /, or null"));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_file_says_the_defaults_of_the_document() {
        let config = Config::default();
        assert_eq!(config, Config::from(File::default()));
        assert_eq!(config.topic_prefixes, ["/vision/"]);
        assert_eq!((config.history_depth, config.freshness_window.as_secs()), (10, 5));
        assert_eq!((config.reconcile_interval.as_secs(), config.forget_after.as_secs()), (2, 60));
        assert_eq!(config.camera_topic.as_deref(), Some("/camera/image_raw"));
        assert!(config.watch_push);
    }

    #[test]
    fn an_empty_file_takes_the_defaults_and_a_pattern_may_end_in_stars() {
        assert_eq!(Config::from_yaml("b.yaml", "# nothing\n").unwrap(), Config::default());
        let config = Config::from_yaml("b.yaml", "topic_patterns: [\"/vision/**\"]\ncamera_topic: null\n").unwrap();
        assert_eq!((config.topic_prefixes, config.camera_topic), (vec!["/vision/".to_owned()], None));
    }

    #[test]
    fn each_fault_is_told_with_file_and_line() {
        let cases: [(&str, &[&str]); 6] = [
            ("history_depth: 10\nfreshness: 3\n", &["b.yaml:2: freshness: unknown field"]),
            ("\nhistory_depth: many\n", &["b.yaml:2: history_depth: invalid type"]),
            (
                "history_depth: 0\nforget_after_s: -1\n",
                &["b.yaml:1: history_depth: is 0", "b.yaml:2: forget_after_s: is -1"],
            ),
            ("topic_patterns:\n  - /vision/\n  - vision\n", &["b.yaml:3: topic_patterns[1]: \"vision\" must"]),
            ("topic_patterns: []\n", &["b.yaml:1: topic_patterns: must name"]),
            ("history_depth: [\n", &["b.yaml:"]),
        ];
        for (text, expected) in cases {
            let error = Config::from_yaml("b.yaml", text).unwrap_err();
            assert_eq!(error.faults.len(), expected.len(), "{error}");
            for (fault, start) in error.faults.iter().zip(expected) {
                assert!(fault.starts_with(start), "{fault}");
            }
        }
    }
}
