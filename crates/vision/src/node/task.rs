use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cerebellum_core::{OutputName, Prepared, Skill, SkillPublisher, Spend, Stamp, TaskInfo};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::latched::Latched;

/// The most notes of one skill.
const NOTES_MAX: usize = 32;

/// A running skill as everybody sees it.
pub(super) struct Task {
    pub(super) skill: Skill,
    pub(super) created: Stamp,
    engine: &'static str,
    stop: CancellationToken,
    enabled: watch::Sender<bool>,
    /// Locked while something is published, and while that is switched off: afterwards nothing more comes out.
    publisher: Mutex<Option<Arc<dyn SkillPublisher>>>,
    status: Mutex<Status>,
    /// The one result of a skill that looks once.
    latched: Mutex<Option<Arc<Latched>>>,
}

#[derive(Default)]
struct Status {
    prepared_notes: Vec<String>,
    look_notes: Vec<String>,
    unjudged: Vec<(OutputName, String)>,
    trouble: Option<String>,
    looks: u64,
}

impl Task {
    pub(super) fn new(skill: Skill, created: Stamp, engine: &'static str, stop: CancellationToken) -> Self {
        Self {
            skill,
            created,
            engine,
            stop,
            enabled: watch::Sender::new(true),
            publisher: Mutex::new(None),
            status: Mutex::new(Status::default()),
            latched: Mutex::new(None),
        }
    }

    /// Takes what the engine said about the skill's words.
    pub(super) fn prepared(&self, prepared: &Prepared) {
        let mut status = lock(&self.status);
        status.prepared_notes.clone_from(&prepared.notes);
        status.unjudged =
            prepared.unjudged.iter().map(|unjudged| (unjudged.output.clone(), unjudged.reason.clone())).collect();
    }

    /// Publishes through this from now on. Dropped at once when the skill is gone already.
    pub(super) fn advertised(&self, publisher: Arc<dyn SkillPublisher>) {
        let mut slot = lock(&self.publisher);
        if self.stop.is_cancelled() {
            return;
        }
        // What it saw before a restart is still its result.
        if let Some(latched) = self.latched() {
            latched.publish(publisher.as_ref());
        }
        *slot = Some(publisher);
    }

    /// Keeps the one result.
    pub(super) fn keep(&self, latched: Option<Arc<Latched>>) {
        *lock(&self.latched) = latched;
    }

    pub(super) fn latched(&self) -> Option<Arc<Latched>> {
        lock(&self.latched).clone()
    }

    /// Whether the topics are in the graph.
    pub(super) fn is_advertised(&self) -> bool {
        lock(&self.publisher).is_some()
    }

    /// Lets `send` publish, unless the skill is disabled or gone. Answers whether it did.
    pub(super) fn publish(&self, send: impl FnOnce(&dyn SkillPublisher)) -> bool {
        let publisher = lock(&self.publisher);
        let Some(publisher) = publisher.as_deref().filter(|_| self.is_enabled()) else { return false };
        send(publisher);
        true
    }

    /// Whether anybody reads the overlay.
    pub(super) fn overlay_wanted(&self) -> bool {
        lock(&self.publisher).as_ref().is_some_and(|publisher| publisher.overlay_wanted())
    }

    /// Answers whether that changed anything.
    pub(super) fn enable(&self) -> bool {
        self.enabled.send_if_modified(|enabled| !std::mem::replace(enabled, true))
    }

    /// Answers whether that changed anything.
    pub(super) fn disable(&self) -> bool {
        let _nothing_is_being_published = lock(&self.publisher);
        self.enabled.send_if_modified(|enabled| std::mem::replace(enabled, false))
    }

    pub(super) fn is_enabled(&self) -> bool {
        *self.enabled.borrow()
    }

    /// Returns once the skill is enabled, or disabled; at once if it is.
    pub(super) async fn until_enabled(&self, enabled: bool) {
        let mut changes = self.enabled.subscribe();
        // The sender lives as long as `self`, so this ends only by the value.
        let _ended = changes.wait_for(|now| *now == enabled).await.is_ok();
    }

    /// Ends the skill and takes its topics from the graph.
    pub(super) fn close(&self) {
        self.stop.cancel();
        let publisher = lock(&self.publisher).take();
        drop(publisher);
    }

    /// Cancelled when the skill is gone, or the node.
    pub(super) fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Counts a look that begins.
    pub(super) fn looking(&self) {
        lock(&self.status).looks += 1;
    }

    /// A look succeeded: what was wrong before is over, what it left out is not.
    pub(super) fn looked(&self, notes: Vec<String>, left_out: Option<String>) {
        lock(&self.status).look_notes = notes;
        self.set_trouble(left_out);
    }

    /// Something is wrong now.
    pub(super) fn trouble(&self, what: String) {
        self.set_trouble(Some(what));
    }

    fn set_trouble(&self, trouble: Option<String>) {
        let before = std::mem::replace(&mut lock(&self.status).trouble, trouble.clone());
        match (before, trouble) {
            (None, Some(trouble)) => warn!(skill = %self.skill.name, reason = %trouble, "skill in trouble"),
            (Some(before), Some(trouble)) if before != trouble => {
                debug!(skill = %self.skill.name, reason = %trouble, "skill in other trouble");
            }
            (Some(_), None) => info!(skill = %self.skill.name, "skill works again"),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }

    /// Whether the engine cannot judge that output.
    pub(super) fn is_unjudged(&self, output: &OutputName) -> bool {
        lock(&self.status).unjudged.iter().any(|(unjudged, _)| unjudged == output)
    }

    pub(super) fn info(&self) -> TaskInfo {
        let status = lock(&self.status);
        let mut notes = status.prepared_notes.clone();
        for note in &status.look_notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes.truncate(NOTES_MAX);
        TaskInfo {
            name: self.skill.name.to_string(),
            enabled: self.is_enabled(),
            topic: self.skill.detections_topic(),
            semantic_topics: self.skill.semantic_topics(),
            skill: Some(self.skill.clone()),
            error: status.error(),
            engine: Some(self.engine.to_owned()),
            notes,
            created: self.created,
            spend: Some(Spend { calls: status.looks, usd: None }),
        }
    }
}

impl Status {
    fn error(&self) -> Option<String> {
        let unjudged: Vec<String> =
            self.unjudged.iter().map(|(output, reason)| format!("output {output}: {reason}")).collect();
        let unsupported = (!unjudged.is_empty()).then(|| format!("unsupported_condition: {}", unjudged.join("; ")));
        match (unsupported, &self.trouble) {
            (Some(unsupported), Some(trouble)) => Some(format!("{unsupported}; {trouble}")),
            (unsupported, trouble) => unsupported.or_else(|| trouble.clone()),
        }
    }
}

/// A publisher that panicked leaves nothing half done here, so a poisoned lock is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
