use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    BusError, Clock, CreatedTask, FrameSource, Skill, SkillStreams, TaskAction, TaskError, TaskInfo, Unjudged,
    VisionEngine, VisionTasks,
};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, info, info_span, warn};

use camera::Camera;
use registry::Registry;
use runner::Runner;
use store::Store;
use task::Task;

mod camera;
mod clean;
mod latched;
mod registry;
mod round;
mod runner;
mod schedule;
mod store;
mod task;

/// How a node works. [`Default`] says what it does when nothing is set.
#[derive(Clone, Debug)]
pub struct NodeConfig {
    /// Where the skill list is kept, so that skills are back after a restart; without it they are not. Default: nowhere.
    pub state_file: Option<PathBuf>,
    /// How long to wait for a picture, on the robot's clock. Default: 2 s.
    pub frame_deadline: Duration,
    /// How long the camera's stamp may stand still, on the robot's clock, before it counts as frozen. Default: 3 s.
    pub frozen_after: Duration,
    /// Whether two pictures of the camera are never equal, as with a real sensor: then equal bytes count as frozen too.
    /// Default: no, since a folder may show one picture over and over.
    pub noisy_camera: bool,
    /// How long an engine may look at one picture, on the host's clock. Default: 30 s.
    pub look_deadline: Duration,
    /// How many pictures are looked at, and drawn into, at the same time. Others wait for their turn. Default: 2.
    pub look_threads: usize,
    /// The most skills; one more is refused. Default: 64.
    pub skills_max: usize,
    /// How long to wait for the bus when a restored skill's topics are advertised, on the host's clock, and before trying
    /// again when that failed, on the robot's. Default: 5 s and 1 s.
    pub advertise: Advertise,
}

/// How patiently topics of restored skills are advertised.
#[derive(Clone, Copy, Debug)]
pub struct Advertise {
    /// How long one try may take.
    pub deadline: Duration,
    /// The pause after a try that failed.
    pub pause: Duration,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            state_file: None,
            frame_deadline: Duration::from_secs(2),
            frozen_after: Duration::from_secs(3),
            noisy_camera: false,
            look_deadline: Duration::from_secs(30),
            look_threads: 2,
            skills_max: 64,
            advertise: Advertise { deadline: Duration::from_secs(5), pause: Duration::from_secs(1) },
        }
    }
}

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting makes no sense.
    #[error("{setting} must be at least 1")]
    Setting {
        /// Its name.
        setting: &'static str,
    },
    /// The skill list cannot be kept there.
    #[error("cannot keep the skill list in {path}: {source}; choose a file in a folder that can be written")]
    StateFile {
        /// The file.
        path: PathBuf,
        /// What failed.
        source: std::io::Error,
    },
}

/// Runs skills. Each looks at the newest picture at its own rate, skills due at the same time share a picture, and each
/// publishes through its own streams.
///
/// Looking runs on blocking threads, at most [`NodeConfig::look_threads`] at a time, whatever the engine does inside
/// `look`: an engine may compute there as long as it needs, or wait for a server. A look that is not over by its deadline is
/// dropped where it waits. One that computes past it keeps its thread until it ends, and its skill says so; the node goes on
/// answering, and other skills use the threads that are left.
///
/// It ends with the token it was started with, and takes all topics from the graph then.
pub struct Node {
    shared: Arc<Shared>,
}

/// What every part of a node uses.
struct Shared {
    config: NodeConfig,
    engine: Arc<dyn VisionEngine>,
    camera: Camera,
    streams: Arc<dyn SkillStreams>,
    clock: Arc<dyn Clock>,
    looks: Arc<Semaphore>,
    registry: Arc<Registry>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Node {
    /// Starts a node with the skills of its state file. Answers at once: restored skills advertise their topics as soon as
    /// the bus is there. Must be called within a Tokio runtime with time enabled.
    pub fn start(
        config: NodeConfig,
        engine: Arc<dyn VisionEngine>,
        source: Arc<dyn FrameSource>,
        streams: Arc<dyn SkillStreams>,
        clock: Arc<dyn Clock>,
        tracker: TaskTracker,
        stop: CancellationToken,
    ) -> Result<Arc<Self>, StartError> {
        for (setting, value) in [("skills_max", config.skills_max), ("look_threads", config.look_threads)] {
            if value == 0 {
                return Err(StartError::Setting { setting });
            }
        }
        let store = config.state_file.clone().map(Store::open).transpose()?;
        let saved = store.as_ref().map(Store::load).transpose()?.unwrap_or_default();
        let camera = Camera::start(source, Arc::clone(&clock), &config, &tracker, stop.clone());
        let looks = Arc::new(Semaphore::new(config.look_threads.min(Semaphore::MAX_PERMITS)));
        let registry = Arc::new(Registry::new(config.skills_max, store));
        let shared = Arc::new(Shared { config, engine, camera, streams, clock, looks, registry, tracker, stop });
        for saved in saved {
            shared.restore(saved);
        }
        Ok(Arc::new(Self { shared }))
    }
}

impl Shared {
    fn restore(self: &Arc<Self>, saved: store::Saved) {
        let name = saved.skill.name.clone();
        let reservation = match self.registry.reserve(&name) {
            Ok(reservation) => reservation,
            Err(refusal) => {
                warn!(skill = %name, reason = %refusal, "skill not restored");
                return;
            }
        };
        let prepared = self.engine.prepare(&saved.skill);
        let task = Task::new(saved.skill, saved.created, self.engine.name(), self.stop.child_token());
        task.prepared(&prepared);
        if !saved.enabled {
            task.disable();
        }
        task.keep(saved.latched);
        let task = Arc::new(task);
        reservation.fill(Arc::clone(&task));
        self.run(Runner::new(Arc::clone(self), task, prepared.looker));
        info!(skill = %name, enabled = saved.enabled, "skill restored");
    }

    fn run(&self, runner: Runner) {
        let span = info_span!("skill", skill = %runner.name());
        self.tracker.spawn(runner.run().instrument(span));
    }

    /// Keeps the list on disk; says what is wrong if that fails.
    async fn save(&self, deadline: Duration) -> Option<String> {
        let registry = Arc::clone(&self.registry);
        let saving = self.tracker.spawn_blocking(move || registry.save());
        let reason = match timeout(deadline, saving).await {
            Ok(Ok(Ok(()))) => return None,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("the disk did not answer within {} s", deadline.as_secs_f64()),
        };
        warn!(%reason, "skill list not saved");
        Some(format!("the skill list could not be saved, a restart will not know of this: {reason}"))
    }

    fn refuse_when_stopping(&self) -> Result<(), TaskError> {
        if self.stop.is_cancelled() {
            return Err(refused("the vision node is stopping".to_owned()));
        }
        Ok(())
    }
}

#[async_trait]
impl VisionTasks for Node {
    /// Refuses a name that runs, a skill too many, and a watched output that the engine cannot judge. Fails when the bus
    /// does not take the topics within `deadline`. Dropping the future before that leaves nothing behind.
    async fn create(&self, skill: &Skill, deadline: Duration) -> Result<CreatedTask, TaskError> {
        let shared = &self.shared;
        shared.refuse_when_stopping()?;
        let reservation = shared.registry.reserve(&skill.name).map_err(|refusal| refused(refusal.to_string()))?;
        let prepared = shared.engine.prepare(skill);
        refuse_unjudged_watch(skill, &prepared.unjudged, shared.engine.name())?;
        let publisher = match timeout(deadline, shared.streams.advertise(skill)).await {
            Ok(Ok(publisher)) => publisher,
            Ok(Err(BusError::Down { reason })) => return Err(TaskError::BusDown { reason }),
            Ok(Err(BusError::Refused { reason })) => return Err(refused(reason)),
            Err(_) => {
                let reason = format!("the topics of {} were not taken within {} s", skill.name, deadline.as_secs_f64());
                return Err(TaskError::BusDown { reason });
            }
        };
        shared.refuse_when_stopping()?;

        let task = Arc::new(Task::new(
            skill.clone(),
            shared.registry.creation_stamp(shared.clock.now()),
            shared.engine.name(),
            shared.stop.child_token(),
        ));
        task.prepared(&prepared);
        task.advertised(publisher);
        reservation.fill(Arc::clone(&task));
        let mut said = prepared.notes;
        said.extend(prepared.unjudged.iter().map(describe_unjudged));
        shared.run(Runner::new(Arc::clone(shared), task, prepared.looker));
        info!(skill = %skill.name, mode = skill.mode.as_str(), "skill created");

        said.extend(shared.save(deadline).await);
        let mut topics = vec![skill.detections_topic()];
        topics.extend(skill.semantic_topics());
        topics.push(skill.overlay_topic());
        Ok(CreatedTask { name: skill.name.to_string(), topics, message: said.join("; ") })
    }

    /// After `Disable` and `Delete` have answered, nothing more is published, even if a look was under way.
    async fn manage(&self, name: &str, action: TaskAction, deadline: Duration) -> Result<String, TaskError> {
        let shared = &self.shared;
        shared.refuse_when_stopping()?;
        let Some(task) = shared.registry.find(name) else {
            return Err(refused(unknown(name, &shared.registry.all())));
        };
        let changed = match action {
            TaskAction::Delete => shared.registry.remove(&task),
            TaskAction::Enable => task.enable(),
            TaskAction::Disable => task.disable(),
        };
        let done = match (action, changed) {
            (TaskAction::Delete, _) => format!("deleted {name}"),
            (TaskAction::Enable, true) => format!("enabled {name}"),
            (TaskAction::Enable, false) => format!("{name} is enabled already"),
            (TaskAction::Disable, true) => format!("disabled {name}"),
            (TaskAction::Disable, false) => format!("{name} is disabled already"),
        };
        if !changed {
            return Ok(done);
        }
        info!(skill = name, action = action.as_str(), "skill managed");
        Ok(match shared.save(deadline).await {
            None => done,
            Some(warning) => format!("{done}; {warning}"),
        })
    }

    /// Answers at once.
    async fn list(&self, _deadline: Duration) -> Result<Vec<TaskInfo>, TaskError> {
        Ok(self.shared.registry.all().iter().map(|task| task.info()).collect())
    }
}

fn refused(message: String) -> TaskError {
    TaskError::Refused { message }
}

fn refuse_unjudged_watch(skill: &Skill, unjudged: &[Unjudged], engine: &str) -> Result<(), TaskError> {
    let Some(watch) = &skill.watch else { return Ok(()) };
    let Some(unjudged) = unjudged.iter().find(|unjudged| unjudged.output == watch.output) else { return Ok(()) };
    let (name, reason) = (&skill.name, &unjudged.reason);
    Err(refused(format!(
        "unsupported_condition: {name} watches output {}, which engine {engine} cannot judge: {reason}",
        watch.output
    )))
}

fn describe_unjudged(unjudged: &Unjudged) -> String {
    format!("unsupported_condition: output {} will not be published: {}", unjudged.output, unjudged.reason)
}

fn unknown(name: &str, running: &[Arc<Task>]) -> String {
    let shown: String = name.chars().take(80).collect();
    let names: Vec<&str> = running.iter().map(|task| task.skill.name.as_str()).collect();
    if names.is_empty() {
        return format!("no skill {shown:?} runs here; none runs at all");
    }
    format!("no skill {shown:?} runs here; these do: {}", names.join(", "))
}

#[cfg(test)]
mod tests;
