use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use cerebellum_core::{
    BusError, Clock, StreamKind, StreamMessage, Subscription, TaskInfo, VisionStreams, VisionTasks, WallClock,
};
use cerebellum_kit::EventSink;
use cerebellum_wire::ToolError;
use cerebellum_wire::event::{Event, EventType, TaskFailed, TopicRef, WatchEvent};
use cerebellum_wire::output;
use cerebellum_wire::tools::perception::SERVER;
use futures::StreamExt;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{debug, info, warn};

use super::config::Config;
use super::moment::Moment;
use super::remembered::Remembered;
use super::render;
use super::store::{Store, View};
use super::stream::{Stream, Taken};
use super::watchers::{Failing, Fired, Told, Watcher, Watchers};

/// How long one look at the graph or the task list may take.
const LOOK_DEADLINE: Duration = Duration::from_secs(2);
/// How many topics are subscribed to at once.
const SUBSCRIBES_AT_ONCE: usize = 32;
/// The least time between two looks, however fast the graph changes.
const LOOK_SPACING: Duration = Duration::from_millis(50);
/// How long after the start the first calls wait for the bus to be reached.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// The longest value that goes into an event, in characters.
const EVENT_VALUE_CHARS_MAX: usize = 2_000;

/// What the buffer stands on.
pub struct Ports {
    /// What skills publish.
    pub streams: Arc<dyn VisionStreams>,
    /// Which skills run, and what is watched.
    pub tasks: Arc<dyn VisionTasks>,
    /// The robot's time: ages, debounce, forgetting.
    pub clock: Arc<dyn Clock>,
    /// The host's time: deadlines and intervals.
    pub wall: Arc<dyn WallClock>,
    /// Where events go; `None` turns watching off.
    pub events: Option<Arc<dyn EventSink>>,
    /// Where the last known state of watches is kept; `None` keeps it in memory only.
    pub state_file: Option<PathBuf>,
}

/// Subscribes to what skills publish, keeps it, and tells when a watched output takes its value.
pub struct Buffer {
    shared: Arc<Shared>,
    streams: Arc<dyn VisionStreams>,
    tasks: Arc<dyn VisionTasks>,
    wall: Arc<dyn WallClock>,
    config: Config,
    state_file: Option<PathBuf>,
    subscriptions: Mutex<Subscriptions>,
    graph_changed: Notify,
    /// When it began to run.
    began: OnceLock<Instant>,
    /// Whether the bus was reached.
    reached: watch::Sender<bool>,
}

/// What sinks on the bus's tasks see.
struct Shared {
    store: Store,
    watchers: Watchers,
    clock: Arc<dyn Clock>,
    events: Option<Arc<dyn EventSink>>,
    has_to_save: Notify,
    received: AtomicU64,
}

#[derive(Default)]
struct Subscriptions {
    topics: HashMap<String, Subscription>,
    camera: Option<Subscription>,
}

impl Buffer {
    /// A buffer that does nothing by itself: [`Self::run`] drives it.
    pub fn new(config: Config, ports: Ports) -> Arc<Self> {
        let started = ports.clock.now();
        let remembered = match &ports.state_file {
            Some(path) => Remembered::load(path, started),
            None => Remembered::nothing(started),
        };
        let shared = Shared {
            store: Store::new(config.clone()),
            watchers: Watchers::new(remembered),
            clock: ports.clock,
            events: ports.events.filter(|_| config.watch_push),
            has_to_save: Notify::new(),
            received: AtomicU64::new(0),
        };
        Arc::new(Self {
            shared: Arc::new(shared),
            streams: ports.streams,
            tasks: ports.tasks,
            wall: ports.wall,
            config,
            state_file: ports.state_file,
            subscriptions: Mutex::default(),
            graph_changed: Notify::new(),
            began: OnceLock::new(),
            reached: watch::Sender::new(false),
        })
    }

    /// A buffer that runs on `tracker` until `stop` is cancelled. It needs nothing to be there: a bus or a vision node that
    /// comes later is found later, one that goes is waited for.
    pub fn start(config: Config, ports: Ports, tracker: &TaskTracker, stop: &CancellationToken) -> Arc<Self> {
        let buffer = Self::new(config, ports);
        let running = Arc::clone(&buffer);
        let stop = stop.clone();
        tracker.spawn(async move { running.run(stop).await });
        buffer
    }

    /// Keeps topics, tasks and the state file up to date until `stop` is cancelled.
    pub async fn run(&self, stop: CancellationToken) {
        self.began.get_or_init(Instant::now);
        let work = async { tokio::join!(self.keep_topics(), self.keep_tasks(), self.keep_state()) };
        tokio::select! {
            () = stop.cancelled() => {}
            _ = work => {}
        }
        self.save();
    }

    /// Reads the graph and the task list once, and lets time pass for watchers.
    pub async fn reconcile_once(&self) {
        tokio::join!(self.reconcile_topics(), self.reconcile_tasks());
    }

    /// Returns when the bus was reached for the first time, or two seconds after the start: a client that calls at once need
    /// not be told that the bus is not there yet.
    pub(super) async fn first_reached(&self) {
        let Some(began) = self.began.get() else { return };
        let mut reached = self.reached.subscribe();
        drop(timeout_at(*began + FIRST_PATIENCE, reached.wait_for(|reached| *reached)).await);
    }

    pub(super) fn store(&self) -> &Store {
        &self.shared.store
    }

    pub(super) fn now(&self) -> Moment {
        Moment::of(self.shared.clock.as_ref())
    }

    /// How many messages of streams came so far, and how many did not although they were sent.
    pub(super) fn received_and_lost(&self) -> (u64, u64) {
        (self.shared.received.load(Ordering::Relaxed), self.streams.lost())
    }

    async fn keep_topics(&self) {
        loop {
            self.reconcile_topics().await;
            self.wall.sleep(LOOK_SPACING).await;
            tokio::select! {
                () = self.streams.changed() => self.graph_changed.notify_one(),
                () = self.wall.sleep(self.config.reconcile_interval) => {}
            }
        }
    }

    async fn keep_tasks(&self) {
        loop {
            self.reconcile_tasks().await;
            self.wall.sleep(LOOK_SPACING).await;
            tokio::select! {
                () = self.graph_changed.notified() => {}
                () = self.wall.sleep(self.config.reconcile_interval) => {}
            }
        }
    }

    async fn keep_state(&self) {
        loop {
            self.shared.has_to_save.notified().await;
            self.save();
            self.wall.sleep(LOOK_SPACING).await;
        }
    }

    fn save(&self) {
        let (Some(path), Some(_)) = (&self.state_file, &self.shared.events) else { return };
        if let Err(error) = self.shared.watchers.remembered().save(path) {
            warn!(path = %path.display(), %error, "watch state cannot be written, a restart may tell an edge twice");
        }
    }

    async fn reconcile_topics(&self) {
        let topics = self.within(self.streams.topics(&self.config.topic_prefixes)).await;
        let topics = match topics.unwrap_or_else(|| Err(no_answer("the graph"))) {
            Ok(topics) => topics,
            Err(error) => {
                debug!(%error, "graph cannot be read, keeping what is there");
                // Subscriptions of a bus that went away may stay deaf when it returns.
                *self.subscriptions() = Subscriptions::default();
                let (BusError::Down { reason } | BusError::Refused { reason }) = error;
                return self.shared.store.lose_bus(reason);
            }
        };
        let changes = self.shared.store.apply_topics(topics, self.now().monotonic);
        self.reached.send_replace(true);
        {
            let mut subscriptions = self.subscriptions();
            for topic in &changes.left {
                subscriptions.topics.remove(topic);
            }
            for stream in &changes.came {
                subscriptions.topics.remove(&stream.topic().topic);
            }
        }
        self.subscribe_missing().await;
        self.subscribe_camera().await;
        self.attach();
        self.tell(self.shared.watchers.tick(self.now()));
    }

    /// Subscribes to every topic of the graph that is not yet, a bounded number at once. Overlays are left alone: who
    /// subscribes makes the vision node draw.
    async fn subscribe_missing(&self) {
        let missing = {
            let subscriptions = self.subscriptions();
            self.shared
                .store
                .present(|topic| topic.kind != StreamKind::Overlay && !subscriptions.topics.contains_key(&topic.topic))
        };
        let subscribed =
            futures::stream::iter(missing).map(|stream| self.subscribe(stream)).buffer_unordered(SUBSCRIBES_AT_ONCE);
        let mut subscribed = std::pin::pin!(subscribed);
        while let Some((topic, outcome)) = subscribed.next().await {
            match outcome {
                Ok(subscription) => {
                    self.subscriptions().topics.insert(topic, subscription);
                }
                Err(error) => {
                    debug!(topic, %error, "topic cannot be subscribed to, trying again later");
                    self.shared.store.mark_unreadable(&topic, error.to_string());
                }
            }
        }
    }

    async fn subscribe(&self, stream: Arc<Stream>) -> (String, Result<Subscription, BusError>) {
        let shared = Arc::clone(&self.shared);
        let topic = stream.topic().clone();
        let sink = move |message: StreamMessage| shared.take(&stream, message);
        let outcome = self.within(self.streams.subscribe(&topic, Arc::new(sink))).await;
        let outcome = outcome.unwrap_or_else(|| Err(no_answer(&topic.topic)));
        (topic.topic, outcome)
    }

    async fn subscribe_camera(&self) {
        let Some(topic) = &self.config.camera_topic else { return };
        if self.subscriptions().camera.is_some() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let sink = move |beat| shared.store.beat(beat, Moment::of(shared.clock.as_ref()));
        match self.within(self.streams.subscribe_camera(topic, Arc::new(sink))).await {
            Some(Ok(subscription)) => self.subscriptions().camera = Some(subscription),
            Some(Err(error)) => debug!(topic, %error, "camera cannot be listened to, trying again later"),
            None => debug!(topic, "camera cannot be listened to in time, trying again later"),
        }
    }

    async fn reconcile_tasks(&self) {
        let listed = self.within(self.tasks.list(LOOK_DEADLINE)).await;
        let now = self.now();
        match listed {
            Some(Ok(tasks)) => {
                if self.shared.events.is_some() {
                    let window_of = |task: &TaskInfo| self.shared.store.window_of(Some(task));
                    let (told, unwatched) = self.shared.watchers.learn(&tasks, window_of, now);
                    for stream in unwatched.iter().filter_map(|topic| self.shared.store.stream(topic)) {
                        stream.unwatch();
                    }
                    self.shared.has_to_save.notify_one();
                    self.tell(told);
                }
                self.shared.store.apply_tasks(tasks, now.monotonic);
            }
            Some(Err(error)) => self.miss_tasks(error.to_string(), now),
            None => self.miss_tasks("the vision node does not answer".to_owned(), now),
        }
        self.attach();
        self.tell(self.shared.watchers.tick(self.now()));
    }

    fn miss_tasks(&self, problem: String, now: Moment) {
        debug!(problem, "task list cannot be read, keeping the last one");
        self.shared.watchers.miss();
        self.shared.store.miss_tasks(problem, now.monotonic);
    }

    /// Gives each watcher its stream; one that is new there looks at the latest value at once.
    fn attach(&self) {
        for watcher in self.shared.watchers.all() {
            if let Some(stream) = self.shared.store.stream(&watcher.topic) {
                self.shared.act(stream.watch(&watcher, self.now()));
            }
        }
    }

    fn tell(&self, told: Vec<Told>) {
        for one in told {
            match one {
                Told::Fired(watcher, fired) => self.shared.post_edge(&watcher, fired),
                Told::Failed(watcher, failing) => self.shared.post_failure(&watcher, failing),
            }
        }
    }

    /// `None` when it takes too long, even where a port breaks its promise to end in time.
    async fn within<T>(&self, look: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            answer = look => Some(answer),
            () = self.wall.sleep(LOOK_DEADLINE + LOOK_SPACING) => None,
        }
    }

    fn subscriptions(&self) -> MutexGuard<'_, Subscriptions> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Runs on the bus's task: one lock of one stream, and no waiting.
    fn take(&self, stream: &Stream, message: StreamMessage) {
        self.received.fetch_add(1, Ordering::Relaxed);
        let taken = stream.take(message, Moment::of(self.clock.as_ref()));
        self.act(taken);
    }

    fn act(&self, taken: Taken) {
        match taken {
            Taken::Quiet => {}
            Taken::Changed => self.has_to_save.notify_one(),
            Taken::Fired(watcher, fired) => self.post_edge(&watcher, fired),
        }
    }

    fn post_edge(&self, watcher: &Watcher, fired: Fired) {
        let now = Moment::of(self.clock.as_ref());
        let view = self.store.view(&watcher.task);
        let fresh = view
            .as_ref()
            .and_then(|view| view.detections.as_ref().filter(|(arrival, _)| !view.is_stale(arrival.age_s(now))));
        let overlay = view.as_ref().and_then(View::overlay);
        let value = match output::to_json(&fired.value) {
            serde_json::Value::String(text) => render::plain(&text, EVENT_VALUE_CHARS_MAX).into(),
            value => value,
        };
        let payload = WatchEvent {
            skill: watcher.task.clone(),
            condition: watcher.condition.clone(),
            value,
            detection_summary: fresh.map(|(_, frame)| render::brief(frame, &watcher.condition)).unwrap_or_default(),
            overlay_ref: overlay
                .map(|(topic, arrival)| TopicRef { topic: topic.to_owned(), stamp: arrival.stamp.as_secs_micros() }),
        };
        info!(skill = watcher.task, condition = watcher.condition, "watched condition became true");
        self.post(Event::new(EventType::WatchEvent, &watcher.task, SERVER, &payload).with_id(fired.id));
    }

    fn post_failure(&self, watcher: &Watcher, failing: Failing) {
        let error = match failing {
            Failing::Stale => ToolError::new(
                "watch_stale",
                format!("watched skill {} has said nothing fresh for too long", watcher.task),
                "Check the camera and the skill with what_do_you_see; the watch goes on when results return.",
            ),
            Failing::Gone => ToolError::new(
                "watch_gone",
                format!("watched skill {} is gone without having been stopped", watcher.task),
                "Start it again with instantiate_skill if it is still needed.",
            ),
        };
        warn!(skill = watcher.task, code = error.code, "watched skill failed");
        let payload = TaskFailed { skill: Some(watcher.task.clone()), error };
        let id = watcher.failure_id(Moment::of(self.clock.as_ref()));
        self.post(Event::new(EventType::TaskFailed, &watcher.task, SERVER, &payload).with_id(id));
    }

    fn post(&self, event: Event) {
        if let Some(events) = &self.events {
            events.post(event);
        }
        self.has_to_save.notify_one();
    }
}

fn no_answer(what: &str) -> BusError {
    BusError::Down { reason: format!("no answer about {what} within {} s", LOOK_DEADLINE.as_secs()) }
}
