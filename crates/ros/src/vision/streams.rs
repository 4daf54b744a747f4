use std::sync::Arc;

use async_trait::async_trait;
use cerebellum_core::{
    BusError, CameraBeat, Stamp, StreamKind, StreamMessage, StreamTopic, Subscription, VisionStreams,
};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use crate::bus::{Endpoint, RosBus, Sink};
use crate::msg::common::{CameraInfo, CompressedImage, Header, Image, Text};
use crate::msg::vision::{StampedString, VisionDetectionArray};
use crate::msg::{CdrError, Message, RosType, decode, vision_msgs};

mod camera;
mod detections;

/// What skills publish, read from a bus.
pub struct Streams {
    bus: Arc<dyn RosBus>,
    changes: Mutex<watch::Receiver<u64>>,
}

impl Streams {
    /// All vision nodes of the bus.
    pub fn new(bus: Arc<dyn RosBus>) -> Self {
        let changes = Mutex::new(bus.graph_changes());
        Self { bus, changes }
    }
}

#[async_trait]
impl VisionStreams for Streams {
    async fn topics(&self, prefixes: &[String]) -> Result<Vec<StreamTopic>, BusError> {
        let graph = self.bus.graph()?;
        let mut topics: Vec<StreamTopic> = Vec::new();
        for endpoint in &graph.publishers {
            let Some(prefix) = prefixes.iter().find(|prefix| endpoint.name.starts_with(prefix.as_str())) else {
                continue;
            };
            let Some(topic) = stream_topic(endpoint, prefix) else { continue };
            match topics.iter_mut().find(|known| known.topic == topic.topic) {
                None => topics.push(topic),
                // Of several publishers one that can be read speaks for the topic.
                Some(known) if known.unreadable.is_some() => *known = topic,
                Some(_) => {}
            }
        }
        Ok(topics)
    }

    async fn changed(&self) {
        // The sender lives as long as the bus, so an error cannot come; waiting for ever is then right as well.
        if self.changes.lock().await.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    async fn subscribe(
        &self,
        topic: &StreamTopic,
        sink: Arc<dyn Fn(StreamMessage) + Send + Sync>,
    ) -> Result<Subscription, BusError> {
        let graph = self.bus.graph()?;
        let publishers = graph.publishers.iter().filter(|endpoint| endpoint.name == topic.topic);
        let mut fault = None;
        for endpoint in publishers {
            match reader_of(&endpoint.ros_type) {
                Ok(read) => {
                    let sink: Sink = Arc::new(move |message| sink(read(message)));
                    return self.bus.subscribe(&topic.topic, &endpoint.ros_type, endpoint.qos, sink).await;
                }
                Err(unreadable) => fault = Some(format!("{} cannot be read: {unreadable}", topic.topic)),
            }
        }
        let reason = fault.unwrap_or_else(|| format!("{} has no publisher", topic.topic));
        Err(BusError::Refused { reason })
    }

    async fn subscribe_camera(
        &self,
        image_topic: &str,
        sink: Arc<dyn Fn(CameraBeat) + Send + Sync>,
    ) -> Result<Subscription, BusError> {
        self.bus.graph()?;
        let stop = CancellationToken::new();
        tokio::spawn(camera::follow(self.bus.clone(), image_topic.to_owned(), sink, stop.clone()));
        Ok(Box::new(stop.drop_guard()))
    }

    fn lost(&self) -> u64 {
        self.bus.lost()
    }
}

/// A publisher as a stream; `None` when its topic has no skill in its name.
fn stream_topic(endpoint: &Endpoint, prefix: &str) -> Option<StreamTopic> {
    let (before, last) = endpoint.name.rsplit_once('/')?;
    let kind = kind_of(&endpoint.ros_type, last);
    let between = before.get(prefix.trim_end_matches('/').len()..).unwrap_or_default().trim_matches('/');
    let skill = match between {
        // A detector that is configured by its own topic is called by the segment before the last.
        "" if kind == StreamKind::Detections => before.rsplit_once('/')?.1,
        skill => skill,
    };
    if skill.is_empty() {
        return None;
    }
    let unreadable = reader_of(&endpoint.ros_type).err();
    Some(StreamTopic {
        topic: endpoint.name.clone(),
        skill: skill.to_owned(),
        kind,
        type_name: endpoint.ros_type.name.clone().into_owned(),
        unreadable: unreadable.map(|reason| format!("{reason} (publisher: {})", endpoint.node)),
    })
}

fn kind_of(ros_type: &RosType, last_segment: &str) -> StreamKind {
    let name = ros_type.name.as_ref();
    if name == VisionDetectionArray::TYPE.name || name == vision_msgs::DETECTION_2D_ARRAY {
        StreamKind::Detections
    } else if name == CompressedImage::TYPE.name || name == Image::TYPE.name {
        StreamKind::Overlay
    } else {
        match last_segment {
            "detections" => StreamKind::Detections,
            "overlay" => StreamKind::Overlay,
            _ => StreamKind::Output,
        }
    }
}

type Reader = fn(&[u8]) -> StreamMessage;

/// How messages of a type are read, or why they cannot be.
fn reader_of(announced: &RosType) -> Result<Reader, String> {
    // Its layouts have different hashes and are told apart by their bytes.
    if announced.name == vision_msgs::DETECTION_2D_ARRAY {
        return Ok(|bytes| or_garbled(detections::read_foreign(bytes)));
    }
    let readers: [(RosType, Reader); 5] = [
        (VisionDetectionArray::TYPE, |bytes| or_garbled(detections::read(bytes))),
        (StampedString::TYPE, |bytes| or_garbled(read_output(bytes))),
        (Text::TYPE, |bytes| or_garbled(read_bare_output(bytes))),
        (CompressedImage::TYPE, |bytes| or_garbled(read_overlay(bytes))),
        (Image::TYPE, |bytes| or_garbled(read_overlay(bytes))),
    ];
    let Some((ours, reader)) = readers.into_iter().find(|(ours, _)| ours.name == announced.name) else {
        return Err(format!("the type {} is not read here", announced.name));
    };
    if ours.hash == announced.hash {
        return Ok(reader);
    }
    if !announced.hash.starts_with("RIHS") {
        return Err(format!(
            "its publisher announces {} without a type hash, as ROS 2 Humble does; over Zenoh it needs Jazzy or newer",
            announced.name
        ));
    }
    Err(format!(
        "its publisher announces {} with the type hash {}, ours is {}; build both sides from the same interface package",
        announced.name, announced.hash, ours.hash
    ))
}

fn or_garbled(read: Result<StreamMessage, CdrError>) -> StreamMessage {
    read.unwrap_or_else(|error| StreamMessage::Garbled { reason: error.to_string() })
}

fn read_output(bytes: &[u8]) -> Result<StreamMessage, CdrError> {
    let message: StampedString<'_> = decode(bytes)?;
    Ok(StreamMessage::Output { stamp: message.header.stamp.into(), text: message.data.to_owned() })
}

fn read_bare_output(bytes: &[u8]) -> Result<StreamMessage, CdrError> {
    let message: Text<'_> = decode(bytes)?;
    Ok(StreamMessage::Output { stamp: Stamp::ZERO, text: message.data.to_owned() })
}

/// Only the header is read, whatever size the picture has.
fn read_overlay(bytes: &[u8]) -> Result<StreamMessage, CdrError> {
    Ok(StreamMessage::Overlay { stamp: decode::<Header<'_>>(bytes)?.stamp.into() })
}

/// Whether the publisher's messages begin with the stamp of a picture.
fn beat_type(endpoint: &Endpoint) -> bool {
    [CameraInfo::TYPE, CompressedImage::TYPE, Image::TYPE].contains(&endpoint.ros_type)
}
