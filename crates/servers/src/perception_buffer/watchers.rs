use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cerebellum_core::{OutputType, OutputValue, Skill, Stamp, TaskInfo, Watch};
use cerebellum_wire::output;
use sha2::{Digest, Sha256};

use super::edge::{Edge, Look, Rules};
use super::moment::Moment;
use super::remembered::{Remembered, RememberedWatch};
use super::stream::{Entry, Seen, Taken};

/// A watched skill is told of as failed when it is stale past so many windows.
const FAILED_AFTER_WINDOWS: u32 = 3;
/// How much older than its task the first picture a task looks at may be, in seconds.
const PICTURE_AGE_S_MAX: f64 = 1.0;

/// The watchers of all tasks, and what is remembered of them.
pub(super) struct Watchers {
    state: Mutex<Hub>,
}

struct Hub {
    watchers: BTreeMap<String, Arc<Watcher>>,
    remembered: Remembered,
    /// Whether the task list could not be read since it was last read.
    had_outage: bool,
    /// Whether the task list was read at all.
    has_listed: bool,
}

/// Looks at one output of one task.
pub(super) struct Watcher {
    pub(super) task: String,
    pub(super) topic: String,
    pub(super) condition: String,
    created: Stamp,
    watch: Watch,
    output_type: OutputType,
    window: Duration,
    is_new: bool,
    state: Mutex<State>,
}

struct State {
    edge: Edge,
    enabled: bool,
    /// When a fresh value was last seen, or looking began.
    last_fresh: Duration,
    /// Whether the failure was told; a fresh value clears it.
    failed: bool,
}

/// An edge, ready to be told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fired {
    pub(super) id: String,
    pub(super) value: OutputValue,
}

/// Why a watched skill is told of as failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// It has said nothing for too long.
    Stale,
    /// It is gone, and nobody stopped it while the node answered.
    Gone,
}

/// What the brain is to be told.
pub(super) enum Told {
    Fired(Arc<Watcher>, Fired),
    Failed(Arc<Watcher>, Failing),
}

impl Watchers {
    pub(super) fn new(remembered: Remembered) -> Self {
        let hub = Hub { watchers: BTreeMap::new(), remembered, had_outage: false, has_listed: false };
        Self { state: Mutex::new(hub) }
    }

    /// Takes the task list; answers what became of tasks that were watched, and the topics nobody watches any more.
    pub(super) fn learn(
        &self,
        tasks: &[TaskInfo],
        window_of: impl Fn(&TaskInfo) -> Duration,
        now: Moment,
    ) -> (Vec<Told>, Vec<String>) {
        let mut hub = self.lock();
        let mut next = BTreeMap::new();
        for task in tasks {
            let Some((skill, watch)) = task.skill.as_ref().and_then(|skill| Some((skill, skill.watch.as_ref()?)))
            else {
                continue;
            };
            let watcher = match hub.watchers.remove(&task.name) {
                Some(old) if old.is_for(task, watch) => old,
                Some(_) | None => Arc::new(Watcher::new(task, skill, watch, window_of(task), now, &hub)),
            };
            watcher.set_enabled(task.enabled, now);
            next.insert(task.name.clone(), watcher);
        }
        let gone = std::mem::replace(&mut hub.watchers, next);
        let had_outage = std::mem::replace(&mut hub.had_outage, false);
        hub.has_listed = true;
        hub.remembered.listed = Some(now.stamp);
        let topics = gone.values().map(|watcher| watcher.topic.clone()).collect();
        for watcher in gone.values() {
            let remembered = watcher.remembered();
            hub.remembered.keep(remembered);
        }
        // A node that answered all along and lists the task no more was told to stop it.
        let told = gone
            .into_values()
            .filter(|watcher| had_outage && watcher.fail())
            .map(|watcher| Told::Failed(watcher, Failing::Gone));
        (told.collect(), topics)
    }

    /// The task list could not be read.
    pub(super) fn miss(&self) {
        self.lock().had_outage = true;
    }

    /// Lets time pass: values that have held long enough, and skills that have been silent for too long.
    pub(super) fn tick(&self, now: Moment) -> Vec<Told> {
        let mut told = Vec::new();
        for watcher in self.all() {
            if let Some(fired) = watcher.tick(now) {
                told.push(Told::Fired(Arc::clone(&watcher), fired));
            }
            if watcher.has_gone_stale(now) && watcher.fail() {
                told.push(Told::Failed(watcher, Failing::Stale));
            }
        }
        told
    }

    pub(super) fn all(&self) -> Vec<Arc<Watcher>> {
        self.lock().watchers.values().cloned().collect()
    }

    /// What a restart has to know.
    pub(super) fn remembered(&self) -> Remembered {
        let mut hub = self.lock();
        let now: Vec<RememberedWatch> = hub.watchers.values().map(|watcher| watcher.remembered()).collect();
        for watch in now {
            hub.remembered.keep(watch);
        }
        hub.remembered.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Hub> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher {
    fn new(task: &TaskInfo, skill: &Skill, watch: &Watch, window: Duration, now: Moment, hub: &Hub) -> Self {
        let spec = skill.outputs.iter().find(|output| output.name == watch.output);
        let known =
            hub.remembered.known(&task.name, task.created, watch.output.as_str(), &output::to_text(&watch.equals));
        let is_new = if task.created.is_zero() { hub.has_listed } else { hub.remembered.is_new(task.created) };
        Self {
            task: task.name.clone(),
            topic: skill.output_topic(&watch.output),
            condition: condition_of(watch, spec.map_or("", |spec| spec.description.as_str())),
            created: task.created,
            watch: watch.clone(),
            output_type: spec.map_or_else(|| watch.equals.output_type(), |spec| spec.output_type),
            window,
            is_new,
            state: Mutex::new(State {
                edge: Edge::remembered(known),
                enabled: task.enabled,
                last_fresh: now.monotonic,
                failed: false,
            }),
        }
    }

    fn is_for(&self, task: &TaskInfo, watch: &Watch) -> bool {
        self.created == task.created && self.watch == *watch
    }

    fn rules(&self) -> Rules {
        Rules { debounce: self.watch.debounce, window: self.window, is_new: self.is_new }
    }

    /// Takes a message of the output. Stale data never fires, and text that is no value of the output's type says nothing.
    pub(super) fn look(self: &Arc<Self>, entry: &Entry, now: Moment) -> Taken {
        let Seen::Output(text) = &entry.seen else { return Taken::Quiet };
        if entry.arrival.age_s(now) > self.window.as_secs_f64() || self.is_of_an_older_task(entry) {
            return Taken::Quiet;
        }
        let Ok(value) = output::from_text(self.output_type, text) else { return Taken::Quiet };
        let stamp = if entry.arrival.skew_s.is_some() { now.stamp } else { entry.arrival.stamp };
        let look = Look { at: now.monotonic, stamp, holds: value == self.watch.equals };
        let mut state = self.lock();
        state.last_fresh = now.monotonic;
        state.failed = false;
        let before = state.edge.known();
        match state.edge.observe(look, self.rules()) {
            Some(stamp) => Taken::Fired(Arc::clone(self), self.fired(stamp)),
            None if before != state.edge.known() => Taken::Changed,
            None => Taken::Quiet,
        }
    }

    /// What a task of the same name said before this one was created.
    fn is_of_an_older_task(&self, entry: &Entry) -> bool {
        let has_age = entry.arrival.skew_s.is_none() && !self.created.is_zero();
        has_age && self.created.secs_since(entry.arrival.stamp) > PICTURE_AGE_S_MAX
    }

    fn tick(&self, now: Moment) -> Option<Fired> {
        let fired = self.lock().edge.tick(now.monotonic, self.rules());
        fired.map(|stamp| self.fired(stamp))
    }

    fn set_enabled(&self, enabled: bool, now: Moment) {
        let mut state = self.lock();
        if enabled && !state.enabled {
            state.last_fresh = now.monotonic;
        }
        state.enabled = enabled;
    }

    fn has_gone_stale(&self, now: Moment) -> bool {
        let state = self.lock();
        state.enabled && now.monotonic.saturating_sub(state.last_fresh) > self.window * FAILED_AFTER_WINDOWS
    }

    /// Marks the watcher as failed; false when it was already, or is paused and owes nothing.
    fn fail(&self) -> bool {
        let mut state = self.lock();
        state.enabled && !std::mem::replace(&mut state.failed, true)
    }

    /// The same edge gives the same id, so that the receiver can tell a repetition.
    fn fired(&self, stamp: Stamp) -> Fired {
        Fired { id: self.id(&format!("edge {}", stamp.nanos())), value: self.watch.equals.clone() }
    }

    /// The id of a failure that is told now.
    pub(super) fn failure_id(&self, now: Moment) -> String {
        self.id(&format!("failed {}", now.stamp.nanos()))
    }

    fn id(&self, what: &str) -> String {
        let digest = Sha256::digest(format!("{}\n{}\n{what}", self.task, self.created.nanos()));
        let half = digest.iter().take(16).fold(0_u128, |number, byte| (number << 8) | u128::from(*byte));
        format!("evt_{half:032x}")
    }

    fn remembered(&self) -> RememberedWatch {
        RememberedWatch {
            task: self.task.clone(),
            created: self.created.nanos(),
            output: self.watch.output.to_string(),
            equals: output::to_text(&self.watch.equals),
            known: self.lock().edge.known(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn condition_of(watch: &Watch, description: &str) -> String {
    if let Some(condition) = &watch.condition {
        return condition.clone();
    }
    let words = description.trim();
    let words = words.strip_prefix("whether:").unwrap_or(words).trim();
    if words.is_empty() { format!("{} = {}", watch.output, output::to_text(&watch.equals)) } else { words.to_owned() }
}
