use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use cerebellum_core::{CameraBeat, DetectionFrame, Stamp, StreamKind, StreamTopic, TaskInfo};

use super::config::Config;
use super::moment::{Arrival, Moment};
use super::stream::{Entry, Seen, Stream};

/// The most topics kept; more are named as unreadable.
const STREAMS_MAX: usize = 2_000;
/// A value is fresh for at least so many periods of its skill.
const FRESH_PERIODS: f64 = 2.5;

/// What is wrong with a skill that was stopped.
const STOPPED: &str = "the skill was stopped; what it said last is kept for a while and not renewed";

/// The streams of all skills, the tasks behind them, and the camera's health.
pub(super) struct Store {
    config: Config,
    state: RwLock<State>,
    camera: Mutex<Option<Arrival>>,
}

struct State {
    streams: BTreeMap<String, Listed>,
    unreadable: BTreeMap<String, String>,
    tasks: Tasks,
    lives: BTreeMap<String, Life>,
    bus: Bus,
}

/// A name in the task list, now or before.
struct Life {
    /// The stamp of the task that had it last.
    created: Stamp,
    /// Since when a list that could be read has it no more.
    stopped_since: Option<Duration>,
}

struct Listed {
    stream: Arc<Stream>,
    /// Since when it is not in the graph.
    gone_since: Option<Duration>,
}

/// The last task list that could be read.
#[derive(Clone, Default)]
pub(super) struct Tasks {
    pub(super) list: Arc<Vec<TaskInfo>>,
    /// Why it could not be read last time, if so.
    pub(super) problem: Option<String>,
    /// Since when it cannot be read.
    missing_since: Option<Duration>,
}

/// The bus as the last look at its graph found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Bus {
    /// Never reached so far.
    NotYet(String),
    Up,
    /// Reached before, not now.
    Lost(String),
}

/// What a change of the graph asks for.
#[derive(Default)]
pub(super) struct Changes {
    /// Topics that came, or changed what they carry.
    pub(super) came: Vec<Arc<Stream>>,
    /// Topics that left the graph.
    pub(super) left: Vec<String>,
}

/// Everything known of one skill, copied out.
pub(super) struct View {
    pub(super) skill: String,
    pub(super) task: Option<TaskInfo>,
    pub(super) window: Duration,
    pub(super) topic: String,
    pub(super) detections: Option<(Arrival, Arc<DetectionFrame>)>,
    pub(super) outputs: Vec<(String, Arrival, Arc<str>)>,
    /// Where its pictures are drawn for whoever reads them.
    overlay_topic: Option<String>,
    /// What was strange about the newest detections.
    pub(super) strange: Option<Arc<str>>,
    /// What could not be read on its topics.
    pub(super) garbled: Option<String>,
    /// Whether its task was there and is no more.
    pub(super) is_stopped: bool,
    /// Whether the topic of its detections has left the graph.
    pub(super) has_left: bool,
}

/// A stream as it is listed.
pub(super) struct StreamView {
    pub(super) topic: StreamTopic,
    pub(super) arrival: Arrival,
    pub(super) window: Duration,
    pub(super) problem: Option<String>,
}

impl Store {
    pub(super) fn new(config: Config) -> Self {
        let bus = Bus::NotYet("the graph was not read yet".to_owned());
        let state = State {
            streams: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            tasks: Tasks::default(),
            lives: BTreeMap::new(),
            bus,
        };
        Self { config, state: RwLock::new(state), camera: Mutex::new(None) }
    }

    /// Takes the topics of the graph: new ones get a stream, ones that came back keep theirs with its history, and those gone
    /// for long are forgotten.
    pub(super) fn apply_topics(&self, topics: Vec<StreamTopic>, now: Duration) -> Changes {
        let mut state = self.write();
        let mut changes = Changes::default();
        let mut present = BTreeSet::new();
        state.bus = Bus::Up;
        state.unreadable.clear();
        for topic in topics {
            let name = topic.topic.clone();
            if let Some(reason) = topic.unreadable.clone() {
                state.unreadable.insert(name, reason);
                continue;
            }
            present.insert(name.clone());
            let is_full = state.streams.len() >= STREAMS_MAX;
            match state.streams.get_mut(&name) {
                Some(listed) if *listed.stream.topic() == topic => {
                    if listed.gone_since.take().is_some() {
                        changes.came.push(Arc::clone(&listed.stream));
                    }
                }
                None if is_full => {
                    let reason = format!("{STREAMS_MAX} topics are read already; narrow topic_patterns");
                    state.unreadable.insert(name, reason);
                }
                Some(_) | None => {
                    let stream = Arc::new(Stream::new(topic, self.config.history_depth));
                    changes.came.push(Arc::clone(&stream));
                    state.streams.insert(name, Listed { stream, gone_since: None });
                }
            }
        }
        let forget_after = self.config.forget_after;
        state.streams.retain(|name, listed| {
            if present.contains(name) {
                return true;
            }
            let gone_since = *listed.gone_since.get_or_insert_with(|| {
                changes.left.push(name.clone());
                now
            });
            listed.stream.latest_arrival().is_some() && now.saturating_sub(gone_since) < forget_after
        });
        changes
    }

    /// The streams whose topic is in the graph and which `is_wanted` wants.
    pub(super) fn present(&self, is_wanted: impl Fn(&StreamTopic) -> bool) -> Vec<Arc<Stream>> {
        let state = self.read();
        let present = state.streams.values().filter(|one| one.gone_since.is_none() && is_wanted(one.stream.topic()));
        present.map(|listed| Arc::clone(&listed.stream)).collect()
    }

    /// A topic is there and cannot be subscribed to.
    pub(super) fn mark_unreadable(&self, topic: &str, reason: String) {
        self.write().unreadable.insert(topic.to_owned(), reason);
    }

    /// The graph cannot be read.
    pub(super) fn lose_bus(&self, reason: String) {
        let mut state = self.write();
        state.bus = match state.bus {
            Bus::NotYet(_) => Bus::NotYet(reason),
            Bus::Up | Bus::Lost(_) => Bus::Lost(reason),
        };
    }

    /// Takes a task list. What a task said is forgotten when another one has its name.
    pub(super) fn apply_tasks(&self, tasks: Vec<TaskInfo>, now: Duration) {
        let mut state = self.write();
        let State { streams, lives, .. } = &mut *state;
        for task in &tasks {
            let life = lives.insert(task.name.clone(), Life { created: task.created, stopped_since: None });
            let forget = |is_old: &dyn Fn(&Arrival) -> bool| {
                for listed in streams.values().filter(|listed| listed.stream.topic().skill == task.name) {
                    listed.stream.forget(is_old);
                }
            };
            match life {
                Some(Life { stopped_since: Some(since), .. }) if task.created.is_zero() => {
                    forget(&|arrival| arrival.at <= since);
                }
                Some(life) if life.created == task.created => {}
                life => {
                    let since = life.and_then(|life| life.stopped_since);
                    // Seen to be stopped: certain even where the node's clock is behind.
                    let of_the_stopped = |arrival: &Arrival| {
                        since.is_some_and(|since| arrival.at <= since) && arrival.stamp < task.created
                    };
                    forget(&|arrival| arrival.is_before(task.created) || of_the_stopped(arrival));
                }
            }
        }
        let listed: BTreeSet<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
        let publishing: BTreeSet<&str> = streams.values().map(|one| one.stream.topic().skill.as_str()).collect();
        lives.retain(|name, life| {
            let is_listed = listed.contains(name.as_str());
            if !is_listed {
                life.stopped_since.get_or_insert(now);
            }
            is_listed || publishing.contains(name.as_str())
        });
        state.tasks = Tasks { list: Arc::new(tasks), problem: None, missing_since: None };
    }

    /// The task list cannot be read: the last one stays in use until it is too old.
    pub(super) fn miss_tasks(&self, problem: String, now: Duration) {
        let mut state = self.write();
        let since = *state.tasks.missing_since.get_or_insert(now);
        if now.saturating_sub(since) >= self.config.forget_after {
            state.tasks.list = Arc::default();
        }
        state.tasks.problem = Some(problem);
    }

    pub(super) fn beat(&self, beat: CameraBeat, now: Moment) {
        *self.camera.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arrival::new(now, beat.stamp));
    }

    /// The camera's topic, whether it is alive, and the age of its last picture.
    pub(super) fn camera(&self, now: Moment) -> Option<(String, bool, Option<f64>)> {
        let topic = self.config.camera_topic.clone()?;
        let last = *self.camera.lock().unwrap_or_else(PoisonError::into_inner);
        let age_s = last.map(|arrival| arrival.age_s(now));
        Some((topic, age_s.is_some_and(|age_s| age_s <= self.config.freshness_window.as_secs_f64()), age_s))
    }

    pub(super) fn bus(&self) -> Bus {
        self.read().bus.clone()
    }

    pub(super) fn tasks(&self) -> Tasks {
        self.read().tasks.clone()
    }

    pub(super) fn unreadable(&self) -> Vec<(String, String)> {
        self.read().unreadable.iter().map(|(topic, reason)| (topic.clone(), reason.clone())).collect()
    }

    pub(super) fn stream(&self, topic: &str) -> Option<Arc<Stream>> {
        self.read().streams.get(topic).map(|listed| Arc::clone(&listed.stream))
    }

    /// How long a value of the task's skill is fresh.
    pub(super) fn window_of(&self, task: Option<&TaskInfo>) -> Duration {
        let window = self.config.freshness_window;
        let rated = task.and_then(|task| task.skill.as_ref()).filter(|skill| skill.rate_hz.is_some());
        rated.map_or(window, |skill| window.max(skill.period().mul_f64(FRESH_PERIODS)))
    }

    /// The names of all skills: those that run, in order of creation, then others that publish.
    pub(super) fn skills(&self) -> Vec<String> {
        let state = self.read();
        let mut names: Vec<String> = state.tasks.list.iter().map(|task| task.name.clone()).collect();
        let listed: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let others: BTreeSet<String> = state
            .streams
            .values()
            .map(|one| one.stream.topic().skill.clone())
            .filter(|skill| !listed.contains(skill.as_str()))
            .collect();
        names.extend(others);
        names
    }

    /// Everything known of one skill; `None` when there is no such skill.
    pub(super) fn view(&self, skill: &str) -> Option<View> {
        self.views(Some(skill)).into_iter().next()
    }

    /// Everything known of all skills, or of one, in the order of [`Self::skills`].
    pub(super) fn views(&self, only: Option<&str>) -> Vec<View> {
        let (tasks, streams, stopped) = {
            let state = self.read();
            let streams: Vec<(Arc<Stream>, bool)> = state
                .streams
                .values()
                .filter(|listed| only.is_none_or(|only| listed.stream.topic().skill == only))
                .map(|listed| (Arc::clone(&listed.stream), listed.gone_since.is_some()))
                .collect();
            (state.tasks.clone(), streams, state.stopped())
        };
        let mut views: Vec<View> = tasks
            .list
            .iter()
            .filter(|task| only.is_none_or(|only| task.name == only))
            .map(|task| View::new(&task.name, Some(task.clone()), self.window_of(Some(task))))
            .collect();
        let mut index: BTreeMap<String, usize> =
            views.iter().enumerate().map(|(at, view)| (view.skill.clone(), at)).collect();
        for (stream, has_left) in streams {
            let skill = &stream.topic().skill;
            let at = *index.entry(skill.clone()).or_insert_with(|| {
                views.push(View::new(skill, None, self.window_of(None)));
                views.len() - 1
            });
            views[at].add(&stream, has_left);
        }
        for view in views.iter_mut().filter(|view| view.task.is_none()) {
            view.is_stopped = stopped.contains(&view.skill);
        }
        views
    }

    /// The streams that are live: those that spoke within the window, and results of `once` skills whose publisher lives.
    pub(super) fn live(&self, prefix: &str, now: Moment) -> Vec<StreamView> {
        let state = self.read();
        let tasks: BTreeMap<&str, &TaskInfo> = state.tasks.list.iter().map(|task| (task.name.as_str(), task)).collect();
        let stopped = state.stopped();
        let looked: BTreeMap<&str, Arrival> = state.looked();
        let mut live = Vec::new();
        for listed in state.streams.range(prefix.to_owned()..).map(|(_, listed)| listed) {
            let topic = listed.stream.topic();
            if !topic.topic.starts_with(prefix) {
                break;
            }
            // Overlays are not read here; they are drawn into the pictures that detections were found in.
            let arrival = match topic.kind {
                StreamKind::Overlay => looked.get(topic.skill.as_str()).copied(),
                StreamKind::Detections | StreamKind::Output => listed.stream.latest_arrival(),
            };
            let Some(arrival) = arrival else { continue };
            let task = tasks.get(topic.skill.as_str()).copied();
            let window = self.window_of(task);
            let is_once = task.and_then(|task| task.skill.as_ref()).is_some_and(|skill| skill.once);
            let has_spoken = arrival.arrival_age_s(now) <= window.as_secs_f64();
            if has_spoken || (is_once && listed.gone_since.is_none()) {
                let is_stopped = task.is_none() && stopped.contains(&topic.skill);
                let problem = task.and_then(|task| task.error.clone()).or_else(|| listed.stream.garbled());
                let problem = problem.or_else(|| is_stopped.then(|| STOPPED.to_owned()));
                live.push(StreamView { topic: topic.clone(), arrival, window, problem });
            }
        }
        live
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// When each skill's newest detections came.
    fn looked(&self) -> BTreeMap<&str, Arrival> {
        let detections = self.streams.values().filter(|one| one.stream.topic().kind == StreamKind::Detections);
        let arrivals = detections.map(|one| Some((one.stream.topic().skill.as_str(), one.stream.latest_arrival()?)));
        arrivals.flatten().collect()
    }

    /// The names whose task was listed before and is no more.
    fn stopped(&self) -> BTreeSet<String> {
        let stopped = self.lives.iter().filter(|(_, life)| life.stopped_since.is_some());
        stopped.map(|(name, _)| name.clone()).collect()
    }
}

impl View {
    fn new(skill: &str, task: Option<TaskInfo>, window: Duration) -> Self {
        let topic = task.as_ref().map_or_else(|| format!("/vision/{skill}/detections"), |task| task.topic.clone());
        Self {
            skill: skill.to_owned(),
            task,
            window,
            topic,
            detections: None,
            outputs: Vec::new(),
            overlay_topic: None,
            strange: None,
            garbled: None,
            is_stopped: false,
            has_left: false,
        }
    }

    fn add(&mut self, stream: &Stream, has_left: bool) {
        let topic = stream.topic();
        self.garbled =
            self.garbled.take().or_else(|| stream.garbled().map(|reason| format!("{}: {reason}", topic.topic)));
        if topic.kind == StreamKind::Detections {
            self.topic.clone_from(&topic.topic);
            self.has_left = has_left;
        }
        if topic.kind == StreamKind::Overlay && !has_left {
            self.overlay_topic = Some(topic.topic.clone());
        }
        let Some(Entry { arrival, seen }) = stream.latest() else { return };
        match seen {
            Seen::Detections(frame, strange) => {
                self.detections = Some((arrival, frame));
                self.strange = strange;
            }
            Seen::Output(text) => {
                let name = topic.topic.rsplit('/').next().unwrap_or_default().to_owned();
                self.outputs.push((name, arrival, text));
            }
        }
    }

    /// The topic of the skill's annotated pictures, and what is known of the newest: it is drawn, for whoever reads it, into
    /// the picture that the newest detections were found in.
    pub(super) fn overlay(&self) -> Option<(&str, Arrival)> {
        self.overlay_topic.as_deref().zip(self.detections.as_ref().map(|(arrival, _)| *arrival))
    }

    /// The age of the newest value, overlays aside.
    pub(super) fn age_s(&self, now: Moment) -> Option<f64> {
        let detections = self.detections.iter().map(|(arrival, _)| arrival);
        let outputs = self.outputs.iter().map(|(_, arrival, _)| arrival);
        detections.chain(outputs).map(|arrival| arrival.age_s(now)).min_by(f64::total_cmp)
    }

    pub(super) fn is_stale(&self, age_s: f64) -> bool {
        age_s > self.window.as_secs_f64()
    }

    /// What is wrong with the skill.
    pub(super) fn problem(&self) -> Option<String> {
        let told = self.task.as_ref().and_then(|task| task.error.clone());
        told.or_else(|| self.is_stopped.then(|| STOPPED.to_owned())).or_else(|| self.garbled.clone())
    }

    /// Whether the skill looks; one that somebody else publishes does.
    pub(super) fn is_enabled(&self) -> bool {
        self.task.as_ref().map_or(!self.is_stopped, |task| task.enabled)
    }

    /// Whether somebody paused it; one that has looked once is done and not paused.
    pub(super) fn is_paused(&self) -> bool {
        let is_once = |task: &TaskInfo| task.skill.as_ref().is_some_and(|skill| skill.once);
        self.task.as_ref().is_some_and(|task| !task.enabled && !is_once(task))
    }
}
