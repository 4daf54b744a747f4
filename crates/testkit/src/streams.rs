use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cerebellum_core::{
    BusError, CameraBeat, Skill, StreamKind, StreamMessage, StreamTopic, Subscription, VisionStreams,
};
use tokio::sync::Notify;

type Sink = Arc<dyn Fn(StreamMessage) + Send + Sync>;
type CameraSink = Arc<dyn Fn(CameraBeat) + Send + Sync>;

/// A graph of vision topics in memory: topics come and go when told, and messages reach whoever subscribed.
#[derive(Default)]
pub struct FakeVisionStreams {
    shared: Arc<Shared>,
    changed: Notify,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    next_id: AtomicU64,
}

#[derive(Default)]
struct State {
    topics: BTreeMap<String, StreamTopic>,
    sinks: BTreeMap<u64, (String, Sink)>,
    cameras: BTreeMap<u64, (String, CameraSink)>,
    down: Option<String>,
    refusals: BTreeMap<String, String>,
    subscribes: usize,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a sink out of the graph when dropped.
struct Ending {
    shared: Arc<Shared>,
    id: u64,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.sinks.remove(&self.id);
        state.cameras.remove(&self.id);
    }
}

impl FakeVisionStreams {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// A topic gets a publisher.
    pub fn appear(&self, topic: &str) {
        self.appear_as(stream_topic(topic));
    }

    /// A topic gets a publisher with properties of its own.
    pub fn appear_as(&self, topic: StreamTopic) {
        self.shared.state().topics.insert(topic.topic.clone(), topic);
        self.changed.notify_one();
    }

    /// All topics of a skill get a publisher.
    pub fn appear_skill(&self, skill: &Skill) {
        let mut topics = vec![skill.detections_topic(), skill.overlay_topic()];
        topics.extend(skill.semantic_topics());
        self.shared.state().topics.extend(topics.into_iter().map(|topic| (topic.clone(), stream_topic(&topic))));
        self.changed.notify_one();
    }

    /// The publisher of a topic goes.
    pub fn vanish(&self, topic: &str) {
        self.shared.state().topics.remove(topic);
        self.changed.notify_one();
    }

    /// Every publisher goes, as when the vision node is killed.
    pub fn vanish_all(&self) {
        self.shared.state().topics.clear();
        self.changed.notify_one();
    }

    /// The bus goes away with a reason, or comes back with `None`. Subscriptions made before stay deaf.
    pub fn set_down(&self, reason: Option<&str>) {
        let mut state = self.shared.state();
        state.down = reason.map(str::to_owned);
        if state.down.is_some() {
            state.sinks.clear();
            state.cameras.clear();
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Subscribing to the topic is refused with that reason; `None` ends it.
    pub fn refuse(&self, topic: &str, reason: Option<&str>) {
        let mut state = self.shared.state();
        match reason {
            Some(reason) => state.refusals.insert(topic.to_owned(), reason.to_owned()),
            None => state.refusals.remove(topic),
        };
    }

    /// Delivers a message to whoever subscribed to the topic; answers how many did.
    pub fn publish(&self, topic: &str, message: &StreamMessage) -> usize {
        let sinks: Vec<Sink> = self
            .shared
            .state()
            .sinks
            .values()
            .filter(|(name, _)| name == topic)
            .map(|(_, sink)| Arc::clone(sink))
            .collect();
        for sink in &sinks {
            sink(message.clone());
        }
        sinks.len()
    }

    /// Delivers a sign of life of a camera; answers how many heard it.
    pub fn beat(&self, image_topic: &str, beat: CameraBeat) -> usize {
        let state = self.shared.state();
        let sinks: Vec<CameraSink> =
            state.cameras.values().filter(|(name, _)| name == image_topic).map(|(_, sink)| Arc::clone(sink)).collect();
        drop(state);
        for sink in &sinks {
            sink(beat);
        }
        sinks.len()
    }

    /// The topics that are subscribed to now, sorted, each as often as it is.
    pub fn subscribed(&self) -> Vec<String> {
        let mut topics: Vec<String> = self.shared.state().sinks.values().map(|(topic, _)| topic.clone()).collect();
        topics.sort();
        topics
    }

    /// How often anybody subscribed to a topic so far.
    pub fn subscribes(&self) -> usize {
        self.shared.state().subscribes
    }
}

/// A readable topic as the graph would list it, its kind told by its last segment.
pub fn stream_topic(topic: &str) -> StreamTopic {
    let (before, last) = topic.rsplit_once('/').unwrap_or(("", topic));
    let (kind, type_name) = match last {
        "detections" => (StreamKind::Detections, "ros2_vision_interfaces/msg/VisionDetectionArray"),
        "overlay" => (StreamKind::Overlay, "sensor_msgs/msg/CompressedImage"),
        _ => (StreamKind::Output, "ros2_vision_interfaces/msg/StampedString"),
    };
    let skill = before.strip_prefix("/vision/").unwrap_or(before);
    StreamTopic {
        topic: topic.to_owned(),
        skill: skill.to_owned(),
        kind,
        type_name: type_name.to_owned(),
        unreadable: None,
    }
}

#[async_trait]
impl VisionStreams for FakeVisionStreams {
    async fn topics(&self, prefixes: &[String]) -> Result<Vec<StreamTopic>, BusError> {
        let state = self.shared.state();
        if let Some(reason) = &state.down {
            return Err(BusError::Down { reason: reason.clone() });
        }
        let is_wanted = |topic: &&StreamTopic| prefixes.iter().any(|prefix| topic.topic.starts_with(prefix));
        Ok(state.topics.values().filter(is_wanted).cloned().collect())
    }

    async fn changed(&self) {
        self.changed.notified().await;
    }

    async fn subscribe(&self, topic: &StreamTopic, sink: Sink) -> Result<Subscription, BusError> {
        let mut state = self.shared.state();
        if let Some(reason) = &state.down {
            return Err(BusError::Down { reason: reason.clone() });
        }
        if let Some(reason) = state.refusals.get(&topic.topic).or(topic.unreadable.as_ref()) {
            return Err(BusError::Refused { reason: reason.clone() });
        }
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        state.subscribes += 1;
        state.sinks.insert(id, (topic.topic.clone(), sink));
        Ok(Box::new(Ending { shared: Arc::clone(&self.shared), id }))
    }

    async fn subscribe_camera(&self, image_topic: &str, sink: CameraSink) -> Result<Subscription, BusError> {
        let mut state = self.shared.state();
        if let Some(reason) = &state.down {
            return Err(BusError::Down { reason: reason.clone() });
        }
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        state.cameras.insert(id, (image_topic.to_owned(), sink));
        Ok(Box::new(Ending { shared: Arc::clone(&self.shared), id }))
    }
}
