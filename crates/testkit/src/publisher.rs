use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    BusError, DetectionFrame, Found, OutputName, OutputValue, Skill, SkillPublisher, SkillStreams, Stamp,
};
use tokio::sync::watch;

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was published, in order.
#[derive(Clone, Debug)]
pub enum Published {
    /// What was found in one picture.
    Detections(Arc<DetectionFrame<Found>>),
    /// The value of an output.
    Output {
        /// Its topic.
        topic: String,
        /// Stamp of the picture.
        stamp: Stamp,
        /// The value.
        value: OutputValue,
    },
    /// An annotated picture.
    Overlay {
        /// Its topic.
        topic: String,
        /// Stamp of the picture.
        stamp: Stamp,
        /// The picture.
        jpeg: Arc<Vec<u8>>,
    },
}

impl Published {
    /// The topic it went to.
    pub fn topic(&self) -> String {
        match self {
            Self::Detections(frame) => format!("/vision/{}/detections", frame.skill),
            Self::Output { topic, .. } | Self::Overlay { topic, .. } => topic.clone(),
        }
    }

    /// The stamp of the picture it is about.
    pub fn stamp(&self) -> Stamp {
        match self {
            Self::Detections(frame) => frame.stamp,
            Self::Output { stamp, .. } | Self::Overlay { stamp, .. } => *stamp,
        }
    }
}

/// A bus that remembers what was published, and which topics have a publisher.
#[derive(Clone)]
pub struct RecordingStreams {
    inner: Arc<Inner>,
}

struct Inner {
    published: watch::Sender<Vec<Published>>,
    /// Topics, and how many publishers each has.
    topics: watch::Sender<BTreeMap<String, usize>>,
    overlay_wanted: AtomicBool,
    refusal: Mutex<Option<BusError>>,
    held: watch::Sender<bool>,
}

impl Default for RecordingStreams {
    fn default() -> Self {
        Self::new()
    }
}

impl RecordingStreams {
    /// A bus on which nobody wants overlays.
    pub fn new() -> Self {
        let inner = Inner {
            published: watch::Sender::new(Vec::new()),
            topics: watch::Sender::new(BTreeMap::new()),
            overlay_wanted: AtomicBool::new(false),
            refusal: Mutex::new(None),
            held: watch::Sender::new(false),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Whether somebody reads the overlays.
    pub fn want_overlay(&self, wanted: bool) {
        self.inner.overlay_wanted.store(wanted, Ordering::SeqCst);
    }

    /// What `advertise` answers from now on instead of a publisher.
    pub fn refuse(&self, error: Option<BusError>) {
        *lock(&self.inner.refusal) = error;
    }

    /// Makes `advertise` hang while `held`.
    pub fn hold(&self, held: bool) {
        self.inner.held.send_replace(held);
    }

    /// The topics that have a publisher.
    pub fn topics(&self) -> Vec<String> {
        self.inner.topics.borrow().keys().cloned().collect()
    }

    /// Everything that was published so far.
    pub fn published(&self) -> Vec<Published> {
        self.inner.published.borrow().clone()
    }

    /// What was published on one topic so far.
    pub fn on(&self, topic: &str) -> Vec<Published> {
        self.inner.published.borrow().iter().filter(|published| published.topic() == topic).cloned().collect()
    }

    /// Returns what was published on the topic once there are at least `count`. Panics when that takes too long.
    pub async fn wait_for(&self, topic: &str, count: usize) -> Vec<Published> {
        let mut published = self.inner.published.subscribe();
        let enough = |all: &Vec<Published>| all.iter().filter(|one| one.topic() == topic).count() >= count;
        let waited = tokio::time::timeout(PATIENCE, published.wait_for(enough)).await.map(|_| ());
        let seen = self.on(topic);
        assert!(waited.is_ok(), "waited for {count} messages on {topic}, got {}: {seen:?}", seen.len());
        seen
    }

    /// Returns once the topics with a publisher fit. Panics when that takes too long.
    pub async fn wait_for_topics(&self, fits: impl Fn(&[String]) -> bool) {
        let mut topics = self.inner.topics.subscribe();
        let fitting = topics.wait_for(|topics| fits(&topics.keys().cloned().collect::<Vec<_>>()));
        let waited = tokio::time::timeout(PATIENCE, fitting).await.map(|_| ());
        assert!(waited.is_ok(), "the topics are {:?}", self.topics());
    }
}

#[async_trait]
impl SkillStreams for RecordingStreams {
    async fn advertise(&self, skill: &Skill) -> Result<Arc<dyn SkillPublisher>, BusError> {
        let mut held = self.inner.held.subscribe();
        held.wait_for(|held| !held).await.expect("the bus holds the sender");
        if let Some(error) = lock(&self.inner.refusal).clone() {
            return Err(error);
        }
        let mut topics = vec![skill.detections_topic()];
        topics.extend(skill.semantic_topics());
        topics.push(skill.overlay_topic());
        self.inner.topics.send_modify(|all| {
            for topic in &topics {
                *all.entry(topic.clone()).or_default() += 1;
            }
        });
        Ok(Arc::new(Recorder { skill: skill.clone(), topics, inner: Arc::clone(&self.inner) }))
    }
}

struct Recorder {
    skill: Skill,
    topics: Vec<String>,
    inner: Arc<Inner>,
}

impl Recorder {
    fn record(&self, published: Published) {
        self.inner.published.send_modify(|all| all.push(published));
    }
}

impl SkillPublisher for Recorder {
    fn detections(&self, frame: Arc<DetectionFrame<Found>>) {
        self.record(Published::Detections(frame));
    }

    fn output(&self, name: &OutputName, stamp: Stamp, _frame_id: &str, value: &OutputValue) {
        self.record(Published::Output { topic: self.skill.output_topic(name), stamp, value: value.clone() });
    }

    fn overlay(&self, stamp: Stamp, _frame_id: &str, jpeg: Vec<u8>) {
        self.record(Published::Overlay { topic: self.skill.overlay_topic(), stamp, jpeg: Arc::new(jpeg) });
    }

    fn overlay_wanted(&self) -> bool {
        self.inner.overlay_wanted.load(Ordering::SeqCst)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.inner.topics.send_modify(|all| {
            for topic in &self.topics {
                let Some(count) = all.get_mut(topic) else { continue };
                *count -= 1;
                if *count == 0 {
                    all.remove(topic);
                }
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
