use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Frame, Looker};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use tracing::{Span, warn};

use super::round::{Finished, Round};
use super::task::Task;
use super::{Shared, schedule};

/// How much longer than its deadline a look may take before its skill says that the engine hangs.
const HANG_GRACE: Duration = Duration::from_secs(1);
/// The longest pause an engine may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(10 * 60);
/// How long the skill list may take to be saved when no caller says how long.
const SAVE_DEADLINE: Duration = Duration::from_secs(5);

/// Runs one skill until it is deleted or the node stops.
pub(super) struct Runner {
    shared: Arc<Shared>,
    task: Arc<Task>,
    /// Away while it looks, and after a look that panicked.
    looker: Option<Box<dyn Looker>>,
    /// When the last picture came in.
    taken: Option<Duration>,
}

/// A picture, and the permission to look at it.
struct Turn {
    frame: Arc<Frame>,
    permit: OwnedSemaphorePermit,
}

impl Runner {
    pub(super) fn new(shared: Arc<Shared>, task: Arc<Task>, looker: Box<dyn Looker>) -> Self {
        Self { shared, task, looker: Some(looker), taken: None }
    }

    pub(super) fn name(&self) -> &str {
        self.task.skill.name.as_str()
    }

    pub(super) async fn run(mut self) {
        let task = Arc::clone(&self.task);
        task.stop().clone().run_until_cancelled(self.live()).await;
        task.close();
    }

    async fn live(&mut self) {
        self.advertise().await;
        let task = Arc::clone(&self.task);
        let mut due = self.shared.clock.monotonic();
        loop {
            if !task.is_enabled() {
                task.until_enabled(true).await;
                due = self.shared.clock.monotonic().max(self.after_last());
            }
            let turn = tokio::select! {
                biased;
                () = task.until_enabled(false) => continue,
                turn = self.turn(due) => turn,
            };
            let pause = match turn {
                Ok(turn) => self.look(turn).await,
                Err(problem) => {
                    task.trouble(problem);
                    Duration::ZERO
                }
            };
            let now = self.shared.clock.monotonic() + pause.min(PAUSE_MAX);
            due = schedule::next(due, now, self.taken, task.skill.period());
        }
    }

    /// Puts the topics of a restored skill into the graph; tries until the bus takes them.
    async fn advertise(&mut self) {
        let patience = self.shared.config.advertise;
        while !self.task.is_advertised() {
            let problem = match timeout(patience.deadline, self.shared.streams.advertise(&self.task.skill)).await {
                Ok(Ok(publisher)) => {
                    self.task.advertised(publisher);
                    return;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("the bus did not take the topics within {} s", patience.deadline.as_secs_f64()),
            };
            self.task.trouble(problem);
            self.shared.clock.sleep(patience.pause).await;
        }
    }

    /// Waits until a look is due, for a picture, and for a free thread.
    async fn turn(&mut self, due: Duration) -> Result<Turn, String> {
        let clock = &self.shared.clock;
        clock.sleep(due.saturating_sub(clock.monotonic())).await;
        let from = due.max(self.after_last());
        let first = self.shared.camera.frame(from).await;
        self.taken = Some(first.at);
        let first_frame = first.frame?;
        let Ok(permit) = Arc::clone(&self.shared.looks).acquire_owned().await else {
            return Err("the vision node is stopping".to_owned());
        };
        // While waiting for the thread, others may have fetched a newer picture.
        let newest = self.shared.camera.newest();
        let (taken, frame) = match newest {
            Some(newest) if newest.at > first.at => (newest.at, newest.frame?),
            Some(_) | None => (first.at, first_frame),
        };
        self.taken = Some(taken);
        Ok(Turn { frame, permit })
    }

    /// Looks on a blocking thread. Answers how long the engine asked to be left alone.
    async fn look(&mut self, turn: Turn) -> Duration {
        let (shared, task) = (&self.shared, &self.task);
        let looker = self.looker.take().unwrap_or_else(|| shared.engine.prepare(&task.skill).looker);
        let round = Round {
            looker,
            frame: turn.frame,
            task: Arc::clone(task),
            engine: shared.engine.name(),
            deadline: shared.config.look_deadline,
            turn: turn.permit,
        };
        let (runtime, span) = (Handle::current(), Span::current());
        let mut looking = shared.tracker.spawn_blocking(move || span.in_scope(|| round.run(&runtime)));
        let hangs_after = shared.config.look_deadline.saturating_add(HANG_GRACE);
        let finished = if let Ok(finished) = timeout(hangs_after, &mut looking).await {
            finished
        } else {
            task.trouble(format!("engine {}: hangs over a picture, still waiting for it", shared.engine.name()));
            looking.await
        };
        match finished {
            Ok(Finished { looker, pause, done }) => {
                self.looker = Some(looker);
                if done {
                    // The outcome is logged; the skill itself has done its work.
                    let _warning = shared.save(SAVE_DEADLINE).await;
                }
                pause
            }
            Err(error) => {
                warn!(%error, "engine crashed over a picture");
                task.trouble(format!("engine {}: crashed over a picture and was started anew", shared.engine.name()));
                Duration::ZERO
            }
        }
    }

    /// The first moment after the last picture came in.
    fn after_last(&self) -> Duration {
        self.taken.map_or(Duration::ZERO, |taken| taken.saturating_add(Duration::from_nanos(1)))
    }
}
