use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The largest body of an event, in bytes.
pub const BODY_BYTES_MAX: usize = 256 * 1024;

/// Something a server tells the brain without being asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// What it is about: a skill for watch events, else the id a tool answered.
    pub task_id: String,
    /// The server that tells it, as the brain's configuration names it.
    pub server: String,
    /// The details; what they hold depends on the type.
    #[serde(default)]
    pub payload: Map<String, Value>,
    /// The id the receiver tells repetitions by. It travels in a header, not in the body; `None` lets the sender make one.
    #[serde(skip)]
    pub id: Option<String>,
}

/// The type of an event. A type that is not known is kept, since a server may be newer than the reader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// A watched condition became true.
    WatchEvent,
    /// A tool that does not block has begun.
    TaskAccepted,
    /// It goes on.
    TaskProgress,
    /// It is done.
    TaskCompleted,
    /// It failed, or what was watched went away.
    TaskFailed,
    /// A type this program does not know.
    Other(String),
}

impl EventType {
    /// The word in the body.
    pub fn as_str(&self) -> &str {
        match self {
            Self::WatchEvent => "watch_event",
            Self::TaskAccepted => "task_accepted",
            Self::TaskProgress => "task_progress",
            Self::TaskCompleted => "task_completed",
            Self::TaskFailed => "task_failed",
            Self::Other(word) => word,
        }
    }
}

impl From<String> for EventType {
    fn from(word: String) -> Self {
        match word.as_str() {
            "watch_event" => Self::WatchEvent,
            "task_accepted" => Self::TaskAccepted,
            "task_progress" => Self::TaskProgress,
            "task_completed" => Self::TaskCompleted,
            "task_failed" => Self::TaskFailed,
            _ => Self::Other(word),
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for EventType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// The payload of a `watch_event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchEvent {
    /// The watched skill.
    pub skill: String,
    /// What was waited for, in words.
    pub condition: String,
    /// The value the output took.
    pub value: Value,
    /// What is in view, in one line; empty when nothing is known.
    pub detection_summary: String,
    /// Where the annotated picture can be fetched; left out when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ref: Option<TopicRef>,
}

/// A message on a topic, named instead of copied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicRef {
    /// The topic.
    pub topic: String,
    /// The message's stamp: Unix seconds rounded to microseconds.
    pub stamp: f64,
}

/// The payload of a `task_progress`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskProgress {
    /// How much is done, in units of `total`.
    pub progress: f64,
    /// How much there is to do, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// A few words.
    pub message: String,
}

/// The payload of a `task_failed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailed {
    /// The skill it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// A stable word, what is wrong, and what to do next.
    pub error: crate::tool::ToolError,
}

/// Why an event cannot be sent or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The body is larger than [`BODY_BYTES_MAX`].
    #[error("the event has {bytes} bytes, at most {BODY_BYTES_MAX} are taken")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The body is not an event.
    #[error("not an event: {reason}")]
    Malformed {
        /// What is wrong and where.
        reason: String,
    },
}

impl Event {
    /// An event with a payload, which must serialise as an object.
    pub fn new(
        event_type: EventType,
        task_id: impl Into<String>,
        server: impl Into<String>,
        payload: &impl Serialize,
    ) -> Self {
        let payload = match serde_json::to_value(payload) {
            Ok(Value::Object(payload)) => payload,
            Ok(Value::Null) => Map::new(),
            other => unreachable!("the payload of an event is an object, not {other:?}"),
        };
        Self { event_type, task_id: task_id.into(), server: server.into(), payload, id: None }
    }

    /// The same event with an id of the sender's own, so that telling it twice has one effect.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// The exact bytes to sign and send.
    pub fn body(&self) -> Result<Vec<u8>, EventError> {
        let body = serde_json::to_vec(self).expect("an event holds only JSON");
        if body.len() > BODY_BYTES_MAX {
            return Err(EventError::TooLarge { bytes: body.len() });
        }
        Ok(body)
    }

    /// Reads a body. Unknown keys and unknown types are no fault.
    pub fn from_body(body: &[u8]) -> Result<Self, EventError> {
        if body.len() > BODY_BYTES_MAX {
            return Err(EventError::TooLarge { bytes: body.len() });
        }
        let mut reader = serde_json::Deserializer::from_slice(body);
        let event = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| EventError::Malformed { reason: crate::Fault::from_serde(&error).to_string() })?;
        reader
            .end()
            .map_err(|error| EventError::Malformed { reason: format!("more text after the event: {error}") })?;
        Ok(event)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The body of the second signing vector.
    const VECTOR: &str = r#"{"type":"watch_event","task_id":"watch_for","server":"perception","payload":{"skill":"watch_for","condition":"a person is near the table","value":true,"detection_summary":"person 0.91","overlay_ref":{"topic":"/vision/watch_for/overlay","stamp":1750000000.5}}}"#;

    #[test]
    fn a_watch_event_has_the_bytes_of_the_vector() {
        let payload = WatchEvent {
            skill: "watch_for".into(),
            condition: "a person is near the table".into(),
            value: json!(true),
            detection_summary: "person 0.91".into(),
            overlay_ref: Some(TopicRef { topic: "/vision/watch_for/overlay".into(), stamp: 1_750_000_000.5 }),
        };
        let event = Event::new(EventType::WatchEvent, "watch_for", "perception", &payload).with_id("evt_1");
        assert_eq!(String::from_utf8(event.body().unwrap()).unwrap(), VECTOR);
        assert_eq!(Event::from_body(VECTOR.as_bytes()).unwrap(), Event { id: None, ..event });
    }

    #[test]
    fn an_unknown_type_is_kept() {
        let event = Event::from_body(br#"{"type":"battery_low","task_id":"t","server":"s","level":3}"#).unwrap();
        assert_eq!(event.event_type, EventType::Other("battery_low".into()));
        assert!(String::from_utf8(event.body().unwrap()).unwrap().starts_with(r#"{"type":"battery_low""#));
    }

    #[test]
    fn a_body_that_is_no_event_is_refused_with_its_place() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"type":1,"task_id":"t","server":"s"}"#,
            r#"{"type":"x","task_id":"t","server":"s"} {}"#,
        ] {
            assert!(matches!(Event::from_body(body.as_bytes()), Err(EventError::Malformed { .. })), "{body}");
        }
        let error = Event::from_body(br#"{"type":"x","task_id":3,"server":"s"}"#).unwrap_err();
        assert!(error.to_string().contains("task_id"), "{error}");
    }

    #[test]
    fn a_body_over_the_limit_is_refused_both_ways() {
        let event = Event::new(EventType::TaskCompleted, "t", "s", &json!({"text": "x".repeat(BODY_BYTES_MAX)}));
        assert!(matches!(event.body(), Err(EventError::TooLarge { .. })));
        assert!(matches!(Event::from_body(&vec![b' '; BODY_BYTES_MAX + 1]), Err(EventError::TooLarge { .. })));
    }
}
