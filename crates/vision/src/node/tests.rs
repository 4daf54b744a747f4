use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{
    CreatedTask, OutputSpec, OutputType, OutputValue, Skill, SkillMode, Stamp, TaskAction, TaskError, TaskInfo,
    VisionTasks, Watch,
};
use cerebellum_testkit::{FakeClock, FakeEngine, FakeFrames, Published, RecordingStreams};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Node, NodeConfig};

mod looking;
mod managing;
mod trouble;

const PATIENCE: Duration = Duration::from_secs(20);
const DEADLINE: Duration = Duration::from_secs(20);
const START: Stamp = Stamp::from_nanos(1_000_000_000_000);
/// The period of a skill that does not say its rate.
const HALF_SECOND: Duration = Duration::from_millis(500);

/// A node with fakes at every port.
struct Lab {
    node: Arc<Node>,
    engine: Arc<FakeEngine>,
    frames: Arc<FakeFrames>,
    streams: RecordingStreams,
    clock: Arc<FakeClock>,
    stop: CancellationToken,
}

impl Lab {
    fn new() -> Self {
        Self::with(FakeEngine::new(), NodeConfig::default())
    }

    fn with(engine: FakeEngine, config: NodeConfig) -> Self {
        let clock = Arc::new(FakeClock::at(START));
        let frames = Arc::new(FakeFrames::live(clock.clone(), Duration::from_millis(100)));
        Self::start(engine, config, clock, frames, RecordingStreams::new())
    }

    fn start(
        engine: FakeEngine,
        config: NodeConfig,
        clock: Arc<FakeClock>,
        frames: Arc<FakeFrames>,
        streams: RecordingStreams,
    ) -> Self {
        let engine = Arc::new(engine);
        let stop = CancellationToken::new();
        let node = Node::start(
            config,
            engine.clone(),
            frames.clone(),
            Arc::new(streams.clone()),
            clock.clone(),
            TaskTracker::new(),
            stop.clone(),
        );
        Self { node: node.unwrap(), engine, frames, streams, clock, stop }
    }

    async fn create(&self, skill: &Skill) -> CreatedTask {
        self.node.create(skill, DEADLINE).await.unwrap()
    }

    async fn refused(&self, skill: &Skill) -> String {
        match self.node.create(skill, DEADLINE).await {
            Err(TaskError::Refused { message }) => message,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

    async fn manage(&self, name: &str, action: TaskAction) -> String {
        self.node.manage(name, action, DEADLINE).await.unwrap()
    }

    async fn list(&self) -> Vec<TaskInfo> {
        self.node.list(DEADLINE).await.unwrap()
    }

    async fn info(&self, name: &str) -> TaskInfo {
        self.list().await.into_iter().find(|task| task.name == name).unwrap()
    }

    async fn error(&self, name: &str) -> String {
        self.info(name).await.error.unwrap_or_default()
    }

    /// Moves the clock once all `asleep` wait for it.
    async fn pass(&self, asleep: usize, span: Duration) {
        within(self.clock.sleepers(asleep)).await;
        self.clock.advance(span);
    }

    /// The stamps of what was published, in milliseconds since the start.
    fn stamps(&self, skill: &str) -> Vec<i64> {
        let topic = format!("/vision/{skill}/detections");
        let millis = |published: &Published| (published.stamp().nanos() - START.nanos()) / 1_000_000;
        self.streams.on(&topic).iter().map(millis).collect()
    }

    async fn detections(&self, skill: &str, count: usize) {
        self.streams.wait_for(&format!("/vision/{skill}/detections"), count).await;
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop.cancel();
        self.engine.release();
    }
}

fn skill(name: &str) -> Skill {
    Skill {
        name: name.parse().unwrap(),
        mode: SkillMode::SegmentAll,
        grounding: None,
        segment: true,
        once: false,
        rate_hz: None,
        outputs: vec![],
        watch: None,
    }
}

fn with_output(name: &str, output: &str) -> Skill {
    let spec = OutputSpec {
        name: output.parse().unwrap(),
        output_type: OutputType::Boolean,
        description: "whether all is well".into(),
    };
    Skill { outputs: vec![spec], ..skill(name) }
}

fn watching(name: &str, output: &str) -> Skill {
    let watch = Watch {
        output: output.parse().unwrap(),
        equals: OutputValue::Boolean(true),
        debounce: Duration::ZERO,
        condition: None,
    };
    Skill { watch: Some(watch), ..with_output(name, output) }
}

fn keeping(file: &Path) -> NodeConfig {
    NodeConfig { state_file: Some(file.to_owned()), ..NodeConfig::default() }
}

async fn within<T>(wait: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, wait).await.expect("it takes too long")
}

async fn until(condition: impl AsyncFn() -> bool) {
    within(async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}
