use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cerebellum_core::{
    BusError, COMMAND_EXPIRY, Clock, Motion, MotionDone, MotionFailure, Robot, RobotError, RunningMotion, Stamp,
    Subscription,
};
use cerebellum_wire::robot::{self, MotionNow, Refresh, Reply, Request, Told};
use futures::FutureExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{MOTIONS, REFRESH, REQUEST};
use crate::bus::{Handler, Publisher, Qos, RosBus, Sink, persist};
use crate::msg::common::Text;
use crate::msg::robot::{JSON_CALL, JsonReply, JsonRequest};
use crate::msg::{Message, decode, encode};

/// How often callers hear of their motions while one runs, and while none does.
const IN_MOTION: Duration = Duration::from_millis(50);
const AT_REST: Duration = Duration::from_millis(100);
/// How many outcomes are told.
const OUTCOMES_TOLD: usize = 16;
/// How many ids are remembered, so that none is used twice.
const IDS_REMEMBERED: usize = 1_000;
/// The longest id, in bytes.
const ID_MAX: usize = 100;
/// The longest name that is taken down for a stop, in characters.
const NAME_CHARS_MAX: usize = 200;
/// How long a caller waits at most for its motion to be let go.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Lets other processes drive `robot`, until `stop`: each by a [`super::Link`]. One motion at a time. A motion whose caller
/// does not refresh it for [`COMMAND_EXPIRY`] of `clock` ends, and the robot stops. Nothing here resumes a stopped robot.
pub fn serve(
    bus: Arc<dyn RosBus>,
    robot: Arc<dyn Robot>,
    clock: Arc<dyn Clock>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let server = Arc::new(Server {
        robot,
        clock,
        life: format!("{:032x}", rand::random::<u128>()),
        book: Mutex::default(),
        changed: watch::Sender::new(()),
        tasks: tasks.clone(),
        stop: stop.clone(),
    });
    tasks.spawn(async move {
        stop.run_until_cancelled(server.run(bus)).await;
    });
}

struct Server {
    robot: Arc<dyn Robot>,
    clock: Arc<dyn Clock>,
    life: String,
    book: Mutex<Book>,
    changed: watch::Sender<()>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

type Outcome = Result<MotionDone, MotionFailure>;

/// What is known of the callers' motions.
#[derive(Default)]
struct Book {
    running: BTreeMap<String, Running>,
    outcomes: VecDeque<(String, Outcome)>,
    /// Ids that start nothing any more.
    used: VecDeque<String>,
}

struct Running {
    name: &'static str,
    since: Stamp,
    cancel: CancellationToken,
    /// Monotonic time of the robot's clock.
    refreshed: watch::Sender<Duration>,
    fraction: Option<f64>,
    message: String,
}

impl Book {
    fn use_up(&mut self, id: &str) {
        self.used.push_back(id.to_owned());
        if self.used.len() > IDS_REMEMBERED {
            self.used.pop_front();
        }
    }
}

impl Server {
    async fn run(self: Arc<Self>, bus: Arc<dyn RosBus>) {
        let (told, _held) = persist(&bus, "robot", || self.declare(&bus)).await;
        let mut changed = self.changed.subscribe();
        loop {
            changed.mark_unchanged();
            let is_in_motion = self.tell(told.as_ref());
            let pause = if is_in_motion { IN_MOTION } else { AT_REST };
            drop(tokio::time::timeout(pause, changed.changed()).await);
        }
    }

    async fn declare(
        self: &Arc<Self>,
        bus: &Arc<dyn RosBus>,
    ) -> Result<(Box<dyn Publisher>, [Subscription; 2]), BusError> {
        let told = bus.advertise(MOTIONS, &Text::TYPE, Qos::STREAM).await?;
        let server = Arc::clone(self);
        let refresh: Sink = Arc::new(move |bytes| server.refresh(bytes));
        let refreshes = bus.subscribe(REFRESH, &Text::TYPE, Qos::STREAM, refresh).await?;
        let server = Arc::clone(self);
        let handler: Handler = Arc::new(move |request| Arc::clone(&server).answer(request).boxed());
        let service = bus.serve(REQUEST, &JSON_CALL, handler).await?;
        Ok((told, [refreshes, service]))
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no holder of this lock panics")
    }

    /// Answers whether a motion runs.
    fn tell(&self, told: &dyn Publisher) -> bool {
        let (running, outcomes) = {
            let book = self.lock();
            let now = |(id, running): (&String, &Running)| MotionNow {
                id: id.clone(),
                fraction: running.fraction,
                message: running.message.clone(),
            };
            (book.running.iter().map(now).collect::<Vec<_>>(), book.outcomes.iter().cloned().collect())
        };
        let is_in_motion = !running.is_empty();
        let data = robot::to_string(&Told { life: self.life.clone(), running, outcomes });
        told.put(encode(&Text { data: &data }));
        is_in_motion
    }

    fn refresh(&self, bytes: &[u8]) {
        let Ok(text) = decode::<Text<'_>>(bytes) else { return };
        let Ok(refresh) = robot::from_str::<Refresh>(text.data) else { return };
        let book = self.lock();
        let Some(running) = book.running.get(&refresh.id) else { return };
        if refresh.is_wanted {
            running.refreshed.send_replace(self.clock.monotonic());
        } else {
            running.cancel.cancel();
        }
    }

    async fn answer(self: Arc<Self>, request: Vec<u8>) -> Result<Vec<u8>, String> {
        let request = decode::<JsonRequest<'_>>(&request).map_err(|error| error.to_string())?;
        let reply = match robot::from_str::<Request>(request.request_json) {
            Ok(request) => self.reply(request).await,
            Err(fault) => Reply::BadRequest { reason: fault.to_string() },
        };
        Ok(encode(&JsonReply { reply_json: &robot::to_string(&reply) }))
    }

    async fn reply(self: Arc<Self>, request: Request) -> Reply {
        let robot = &self.robot;
        let answer = match request {
            Request::Parts => Ok(Reply::Parts { parts: robot.parts() }),
            Request::State => robot.state().await.map(|state| Reply::State { state }),
            Request::Map => robot.map().await.map(|map| Reply::Map { map }),
            Request::Reach { side, tip } => robot.reach(side, &tip).await.map(|reach| Reply::Reach { reach }),
            Request::MarkedGoal => robot.marked_goal().await.map(|goal| Reply::MarkedGoal { goal }),
            Request::Limits => robot.limits().await.map(|limits| Reply::Limits { limits }),
            Request::Start { id, motion } => Ok(self.start(id, motion)),
            Request::Cancel { id } => Ok(self.cancel(&id).await),
            Request::Stop { by } => {
                let by: String = by.chars().take(NAME_CHARS_MAX).collect();
                robot.stop(&by).await.map(|report| Reply::Stopped { report })
            }
            Request::ClearObstacles => robot.clear_obstacles().await.map(|()| Reply::Done),
            Request::AllowTouch { target, allow } => {
                robot.allow_touch(target.as_deref(), allow).await.map(|()| Reply::Done)
            }
        };
        answer.unwrap_or_else(|error| Reply::Error { error })
    }

    fn start(self: &Arc<Self>, id: String, motion: Motion) -> Reply {
        if id.is_empty() || id.len() > ID_MAX {
            return Reply::BadRequest { reason: format!("id: expected 1 to {ID_MAX} bytes, not {}", id.len()) };
        }
        let (cancel, refreshed) = (self.stop.child_token(), watch::Sender::new(self.clock.monotonic()));
        let refreshes = refreshed.subscribe();
        {
            let mut book = self.lock();
            if book.used.contains(&id) {
                let reason =
                    format!("the motion {id} was started or cancelled before; nothing moves twice. Ask with a new id");
                return Reply::Failure { failure: MotionFailure::Refused { rule: "motion_id".into(), reason } };
            }
            if let Some(running) = book.running.values().next() {
                let running = RunningMotion { name: running.name.to_owned(), since: running.since };
                return Reply::Failure { failure: MotionFailure::Busy { running } };
            }
            book.use_up(&id);
            let running = Running {
                name: motion.name(),
                since: self.clock.now(),
                cancel: cancel.clone(),
                refreshed,
                fraction: None,
                message: String::new(),
            };
            book.running.insert(id.clone(), running);
        }
        let ending = Ending { server: Arc::clone(self), id, outcome: None };
        self.tasks.spawn(ending.run(motion, cancel, refreshes));
        self.changed.send_replace(());
        Reply::Done
    }

    /// Returns when the robot has let the motion go.
    async fn cancel(&self, id: &str) -> Reply {
        let mut changed = self.changed.subscribe();
        {
            let mut book = self.lock();
            match book.running.get(id) {
                Some(running) => running.cancel.cancel(),
                // Its start may still be on its way.
                None if !book.used.iter().any(|used| used == id) => book.use_up(id),
                None => {}
            }
        }
        let is_gone = async { while self.lock().running.contains_key(id) && changed.changed().await.is_ok() {} };
        if tokio::time::timeout(LETTING_GO, is_gone).await.is_ok() {
            return Reply::Done;
        }
        let reason = format!("the motion {id} was cancelled, and the robot has not let it go yet");
        Reply::Error { error: RobotError::Unavailable { reason } }
    }
}

/// Writes down what a motion came to, whatever ends it.
struct Ending {
    server: Arc<Server>,
    id: String,
    outcome: Option<Outcome>,
}

impl Ending {
    async fn run(mut self, motion: Motion, cancel: CancellationToken, refreshes: watch::Receiver<Duration>) {
        let progress = |fraction: Option<f64>, message: &str| {
            if let Some(running) = self.server.lock().running.get_mut(&self.id) {
                running.fraction = fraction;
                message.clone_into(&mut running.message);
            }
        };
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(MotionFailure::Failed { reason: "cancelled by whoever started it".into() }),
            () = expiry(self.server.clock.as_ref(), refreshes) => Err(MotionFailure::Expired),
            outcome = self.server.robot.run(motion, &progress) => outcome,
        };
        self.outcome = Some(outcome);
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let failed = || Err(MotionFailure::Failed { reason: "the robot's process failed at it; see its log".into() });
        let outcome = self.outcome.take().unwrap_or_else(failed);
        {
            let mut book = self.server.lock();
            book.running.remove(&self.id);
            book.outcomes.push_back((std::mem::take(&mut self.id), outcome));
            if book.outcomes.len() > OUTCOMES_TOLD {
                book.outcomes.pop_front();
            }
        }
        self.server.changed.send_replace(());
    }
}

/// Returns when the last refresh is too old.
async fn expiry(clock: &dyn Clock, refreshes: watch::Receiver<Duration>) {
    loop {
        let valid_until = *refreshes.borrow() + COMMAND_EXPIRY;
        let left = valid_until.saturating_sub(clock.monotonic());
        if left.is_zero() {
            return;
        }
        clock.sleep(left).await;
    }
}
