use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;

use crate::detection::{DetectionFrame, Found};
use crate::skill::{OutputName, OutputValue, Skill};
use crate::time::Stamp;

/// Why the bus did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// The bus is not connected (yet).
    #[error("the ROS bus is not connected yet: {reason}")]
    Down {
        /// What is being waited for, and which setting changes it.
        reason: String,
    },
    /// The bus said no; `reason` says why.
    #[error("{reason}")]
    Refused {
        /// What is wrong, for a person.
        reason: String,
    },
}

/// What a topic of a skill carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamKind {
    /// `/vision/{skill}/detections`.
    Detections,
    /// `/vision/{skill}/{output}`.
    Output,
    /// `/vision/{skill}/overlay`.
    Overlay,
}

/// A topic that has a publisher now.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StreamTopic {
    /// The full name.
    pub topic: String,
    /// The skill it belongs to: the part between the prefix and the last segment.
    pub skill: String,
    /// What it carries.
    pub kind: StreamKind,
    /// The ROS type its publisher announces, such as `ros2_vision_interfaces/msg/VisionDetectionArray`.
    pub type_name: String,
    /// Why it cannot be read, such as a type hash that is not ours.
    pub unreadable: Option<String>,
}

/// What came in on a topic.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamMessage {
    /// Detections, without pixels.
    Detections(DetectionFrame),
    /// The text of a semantic output; its type is known from the skill.
    Output {
        /// Stamp of the picture that was looked at; zero for types without a header.
        stamp: Stamp,
        /// `true|false`, a decimal, a JSON array, or the text.
        text: String,
    },
    /// An annotated picture was published; its pixels stay on the bus.
    Overlay {
        /// Stamp of the picture.
        stamp: Stamp,
    },
    /// Bytes that are not a message of the announced type.
    Garbled {
        /// What is wrong.
        reason: String,
    },
}

/// A sign of life of the camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CameraBeat {
    /// Stamp of the picture; zero when it carried none.
    pub stamp: Stamp,
}

/// Ends when dropped.
pub type Subscription = Box<dyn Any + Send + Sync>;

/// The reading side: what skills publish, wherever the vision node runs. Never carries pixels.
#[async_trait]
pub trait VisionStreams: Send + Sync {
    /// All topics with a publisher whose name begins with one of `prefixes`.
    async fn topics(&self, prefixes: &[String]) -> Result<Vec<StreamTopic>, BusError>;
    /// Returns at the next change of the graph; at once if one happened since the last call returned. Callers bound it by a
    /// wait of their own.
    async fn changed(&self);
    /// Calls `sink` for each message until the answer is dropped. Takes the publisher's durability, so that a latched value
    /// arrives. `sink` runs on the bus's task and must not block.
    async fn subscribe(
        &self,
        topic: &StreamTopic,
        sink: Arc<dyn Fn(StreamMessage) + Send + Sync>,
    ) -> Result<Subscription, BusError>;
    /// Calls `sink` for each sign of life of the camera: from `camera_info` beside the topic where there is one, else from
    /// the picture's header only.
    async fn subscribe_camera(
        &self,
        image_topic: &str,
        sink: Arc<dyn Fn(CameraBeat) + Send + Sync>,
    ) -> Result<Subscription, BusError>;
    /// How many messages did not come so far, as far as publishers number them.
    fn lost(&self) -> u64 {
        0
    }
}

/// The writing side: where a vision node publishes.
#[async_trait]
pub trait SkillStreams: Send + Sync {
    /// Advertises all topics of the skill. They leave the graph when the answer is dropped.
    async fn advertise(&self, skill: &Skill) -> Result<Arc<dyn SkillPublisher>, BusError>;
}

/// The publishers of one skill. Each topic has a slot for the latest value and a task of its own that sends it: no call
/// waits, and a slow reader of one topic costs the other topics nothing. A value that is overtaken before it was sent is
/// dropped.
pub trait SkillPublisher: Send + Sync {
    /// Publishes what was found in one picture.
    fn detections(&self, frame: Arc<DetectionFrame<Found>>);
    /// Publishes the value of an output.
    fn output(&self, name: &OutputName, stamp: Stamp, frame_id: &str, value: &OutputValue);
    /// Publishes an annotated picture as JPEG.
    fn overlay(&self, stamp: Stamp, frame_id: &str, jpeg: Vec<u8>);
    /// Whether anybody reads the overlay; drawing it is skipped when nobody does.
    fn overlay_wanted(&self) -> bool;
}
