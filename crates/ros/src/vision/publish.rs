use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use cerebellum_core::{
    BusError, DetectionFrame, Found, OutputName, OutputValue, Skill, SkillPublisher, SkillStreams, Stamp,
};
use cerebellum_wire::output;
use tokio_util::task::TaskTracker;

use crate::bus::{Qos, RosBus};
use crate::msg::common::{CompressedImage, Header};
use crate::msg::vision::{StampedString, VisionDetectionArray};
use crate::msg::{Bytes, Message, encode};

mod detections;
mod topic;

use topic::Topic;

/// Where a vision node publishes on a bus.
pub struct Publishers {
    bus: Arc<dyn RosBus>,
    tasks: TaskTracker,
}

impl Publishers {
    /// On that bus; each topic's task runs on `tasks` until the skill's publisher is dropped.
    pub fn new(bus: Arc<dyn RosBus>, tasks: TaskTracker) -> Self {
        Self { bus, tasks }
    }
}

/// A bus that is down is no fault: the topics are advertised when it comes up, and the newest values then sent.
#[async_trait]
impl SkillStreams for Publishers {
    async fn advertise(&self, skill: &Skill) -> Result<Arc<dyn SkillPublisher>, BusError> {
        let values = if skill.once { Qos::LATCHED } else { Qos::STREAM };
        let Self { bus, tasks } = self;
        let topic = skill.detections_topic();
        let detections =
            Topic::open(bus, &topic, VisionDetectionArray::TYPE, values, tasks, detections::encode).await?;
        let mut outputs = HashMap::new();
        for output in &skill.outputs {
            let topic = skill.output_topic(&output.name);
            let opened = Topic::open(bus, &topic, StampedString::TYPE, values, tasks, encode_output).await?;
            outputs.insert(output.name.clone(), opened);
        }
        let overlay =
            Topic::open(bus, &skill.overlay_topic(), CompressedImage::TYPE, Qos::PICTURE, tasks, encode_overlay)
                .await?;
        Ok(Arc::new(SkillTopics { detections, outputs, overlay }))
    }
}

/// The topics of one skill.
struct SkillTopics {
    detections: Topic<Arc<DetectionFrame<Found>>>,
    outputs: HashMap<OutputName, Topic<Output>>,
    overlay: Topic<Overlay>,
}

struct Output {
    stamp: Stamp,
    frame_id: String,
    text: String,
}

struct Overlay {
    stamp: Stamp,
    frame_id: String,
    jpeg: Vec<u8>,
}

impl SkillPublisher for SkillTopics {
    fn detections(&self, frame: Arc<DetectionFrame<Found>>) {
        self.detections.publish(frame);
    }

    fn output(&self, name: &OutputName, stamp: Stamp, frame_id: &str, value: &OutputValue) {
        // An output that the skill has not is not published anywhere.
        if let Some(topic) = self.outputs.get(name) {
            topic.publish(Output { stamp, frame_id: frame_id.to_owned(), text: output::to_text(value) });
        }
    }

    fn overlay(&self, stamp: Stamp, frame_id: &str, jpeg: Vec<u8>) {
        self.overlay.publish(Overlay { stamp, frame_id: frame_id.to_owned(), jpeg });
    }

    fn overlay_wanted(&self) -> bool {
        self.overlay.is_wanted()
    }
}

fn encode_output(output: &Output) -> Vec<u8> {
    encode(&StampedString { header: Header::new(output.stamp, &output.frame_id), data: &output.text })
}

fn encode_overlay(overlay: &Overlay) -> Vec<u8> {
    let header = Header::new(overlay.stamp, &overlay.frame_id);
    encode(&CompressedImage { header, format: "jpeg", data: Bytes(&overlay.jpeg) })
}
