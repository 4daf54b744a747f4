use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{
    Body, BusError, FloorMap, Limits, Motion, MotionDone, MotionFailure, MotionProgress, Parts, PlanarPose, Pose,
    Reach, Robot, RobotError, RobotState, Side, Stamp, StopReport, Subscription,
};
use cerebellum_wire::robot::{self, Refresh, Reply, Request, Told};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::task::TaskTracker;

use super::{MOTIONS, REFRESH, REQUEST};
use crate::bus::{CallError, Publisher, Qos, RosBus, Sink, call_again};
use crate::msg::common::Text;
use crate::msg::robot::{JSON_CALL, JsonReply, JsonRequest};
use crate::msg::{Message, decode, encode};

/// How often a motion is refreshed.
const REFRESH_EVERY: Duration = Duration::from_millis(50);
/// How long a question may take.
const ANSWER_DEADLINE: Duration = Duration::from_secs(2);
/// A stop is measured for up to two seconds.
const STOP_DEADLINE: Duration = Duration::from_secs(5);
/// A robot that says nothing for this long while it moves for us is lost.
const SILENCE_MAX: Duration = Duration::from_secs(2);
/// The same where the bus itself is known to be down.
const SILENCE_MAX_DOWN: Duration = Duration::from_millis(500);
/// How soon a robot that is not there yet is looked for again.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A robot in another process, which serves it with [`super::serve`]. What this process starts ends when it dies, freezes
/// or loses the bus.
pub struct Link {
    line: Arc<Line>,
    parts: Parts,
    _motions: Subscription,
}

/// What a motion needs of the link, also after its future was dropped.
struct Line {
    bus: Arc<dyn RosBus>,
    refreshes: Box<dyn Publisher>,
    told: watch::Sender<Option<Heard>>,
    /// Cancels that are on their way.
    cancels: watch::Sender<usize>,
    tasks: TaskTracker,
    runtime: tokio::runtime::Handle,
}

struct Heard {
    told: Told,
    at: Instant,
}

impl Link {
    /// The robot on that bus, waiting up to `patience` for it to come. Which parts it has is asked once.
    pub async fn attach(
        bus: Arc<dyn RosBus>,
        tasks: &TaskTracker,
        patience: Duration,
    ) -> Result<Arc<Self>, RobotError> {
        let until = Instant::now() + patience;
        loop {
            match Self::try_attach(&bus, tasks).await {
                Ok(link) => return Ok(link),
                Err(error) if Instant::now() + LOOK_EVERY >= until => return Err(error),
                Err(error) => tracing::debug!(%error, "waiting for the robot"),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn try_attach(bus: &Arc<dyn RosBus>, tasks: &TaskTracker) -> Result<Arc<Self>, RobotError> {
        let down = |error: BusError| RobotError::Unavailable { reason: error.to_string() };
        let line = Arc::new(Line {
            bus: Arc::clone(bus),
            refreshes: bus.advertise(REFRESH, &Text::TYPE, Qos::STREAM).await.map_err(down)?,
            told: watch::Sender::new(None),
            cancels: watch::Sender::new(0),
            tasks: tasks.clone(),
            runtime: tokio::runtime::Handle::current(),
        });
        let parts = match line.ask(&Request::Parts, ANSWER_DEADLINE).await? {
            Reply::Parts { parts } => parts,
            other => return Err(unexpected(other)),
        };
        let hearing = Arc::downgrade(&line);
        let sink: Sink = Arc::new(move |bytes| {
            let told = decode::<Text<'_>>(bytes).ok().and_then(|text| robot::from_str::<Told>(text.data).ok());
            if let (Some(line), Some(told)) = (hearing.upgrade(), told) {
                line.told.send_replace(Some(Heard { told, at: Instant::now() }));
            }
        });
        let motions = bus.subscribe(MOTIONS, &Text::TYPE, Qos::STREAM, sink).await.map_err(down)?;
        Ok(Arc::new(Self { line, parts, _motions: motions }))
    }
}

impl Line {
    async fn ask(&self, request: &Request, deadline: Duration) -> Result<Reply, RobotError> {
        let request_json = robot::to_string(request);
        let request = encode(&JsonRequest { request_json: &request_json });
        let unavailable = |reason: String| RobotError::Unavailable { reason };
        let response = call_again(&self.bus, REQUEST, &JSON_CALL, request, deadline).await;
        let response = response.map_err(|error| unavailable(what_failed(&error)))?;
        let read = decode::<JsonReply<'_>>(&response).map_err(|error| error.to_string());
        let reply = read.and_then(|reply| robot::from_str(reply.reply_json).map_err(|fault| fault.to_string()));
        match reply.map_err(|fault| unavailable(format!("its reply on {REQUEST} cannot be read: {fault}")))? {
            Reply::Error { error } => Err(error),
            reply => Ok(reply),
        }
    }

    fn refresh(&self, id: &str, is_wanted: bool) {
        let data = robot::to_string(&Refresh { id: id.to_owned(), is_wanted });
        self.refreshes.put(encode(&Text { data: &data }));
    }

    /// Says at once that the motion is not wanted any more, and sees to it that it was heard.
    fn cancel(self: &Arc<Self>, id: String) {
        self.refresh(&id, false);
        let underway = Underway::count(Arc::clone(self));
        let cancelling = async move {
            if let Err(error) = underway.0.ask(&Request::Cancel { id }, ANSWER_DEADLINE).await {
                tracing::warn!(%error, "a motion was cancelled and the robot did not confirm it; it ends by itself");
            }
        };
        self.tasks.spawn_on(cancelling, &self.runtime);
    }

    /// Why nothing is heard of the robot, once that has lasted too long.
    fn silence(&self, since: Instant) -> Option<String> {
        let heard = self.told.borrow().as_ref().map_or(since, |heard| heard.at.max(since));
        let silent = heard.elapsed();
        let down = self.bus.graph().err().filter(|_| silent >= SILENCE_MAX_DOWN);
        match down {
            Some(error) => Some(error.to_string()),
            None if silent >= SILENCE_MAX => Some(format!(
                "it said nothing on {MOTIONS} for {} s; look whether its process (`cerebellum sim`, `cerebellum demo`) runs",
                SILENCE_MAX.as_secs()
            )),
            None => None,
        }
    }
}

/// A cancel on its way, as long as it lives.
struct Underway(Arc<Line>);

impl Underway {
    fn count(line: Arc<Line>) -> Self {
        line.cancels.send_modify(|count| *count += 1);
        Self(line)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.cancels.send_modify(|count| *count -= 1);
    }
}

/// Cancels the motion when its future is dropped.
struct Held {
    line: Arc<Line>,
    id: String,
    is_over: bool,
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_over {
            self.line.cancel(std::mem::take(&mut self.id));
        }
    }
}

fn what_failed(error: &CallError) -> String {
    match error {
        CallError::Down { reason } => reason.clone(),
        CallError::Unavailable => {
            format!("nobody offers {REQUEST} on the bus; start `cerebellum sim` or `cerebellum demo`")
        }
        CallError::TimedOut { waited } => {
            format!("no reply on {REQUEST} within {} s; look whether its process is frozen", waited.as_secs_f64())
        }
        CallError::Failed { reason } => format!("{REQUEST}: {reason}"),
    }
}

fn unexpected(reply: Reply) -> RobotError {
    let reason = match reply {
        Reply::BadRequest { reason } => format!("it does not understand the request ({reason}); update both programs"),
        _ => "its reply answers another question; update both programs".to_owned(),
    };
    RobotError::Unavailable { reason }
}

fn lost(error: RobotError) -> MotionFailure {
    match error {
        RobotError::Unsupported { what } => MotionFailure::Unsupported { what },
        RobotError::Unavailable { reason } => MotionFailure::Lost { reason },
    }
}

#[async_trait]
impl Body for Link {
    fn parts(&self) -> Parts {
        self.parts.clone()
    }

    async fn state(&self) -> Result<RobotState, RobotError> {
        match self.line.ask(&Request::State, ANSWER_DEADLINE).await? {
            Reply::State { state } => Ok(state),
            other => Err(unexpected(other)),
        }
    }

    async fn map(&self) -> Result<FloorMap, RobotError> {
        match self.line.ask(&Request::Map, ANSWER_DEADLINE).await? {
            Reply::Map { map } => Ok(map),
            other => Err(unexpected(other)),
        }
    }

    async fn reach(&self, side: Option<Side>, tip: &Pose) -> Result<Reach, RobotError> {
        match self.line.ask(&Request::Reach { side, tip: *tip }, ANSWER_DEADLINE).await? {
            Reply::Reach { reach } => Ok(reach),
            other => Err(unexpected(other)),
        }
    }

    async fn marked_goal(&self) -> Result<Option<(PlanarPose, Stamp)>, RobotError> {
        match self.line.ask(&Request::MarkedGoal, ANSWER_DEADLINE).await? {
            Reply::MarkedGoal { goal } => Ok(goal),
            other => Err(unexpected(other)),
        }
    }

    async fn limits(&self) -> Result<Limits, RobotError> {
        match self.line.ask(&Request::Limits, ANSWER_DEADLINE).await? {
            Reply::Limits { limits } => Ok(limits),
            other => Err(unexpected(other)),
        }
    }
}

#[async_trait]
impl Robot for Link {
    /// Refreshes from the task that awaits it, so that it ends also where that task alone hangs.
    async fn run(&self, motion: Motion, progress: &dyn MotionProgress) -> Result<MotionDone, MotionFailure> {
        let line = &self.line;
        // What was dropped just now must not be in the way of what follows it.
        let mut cancels = line.cancels.subscribe();
        drop(tokio::time::timeout(ANSWER_DEADLINE, cancels.wait_for(|count| *count == 0)).await);

        // A refresh that nobody hears yet would be missing at once.
        let until = Instant::now() + ANSWER_DEADLINE;
        while !line.refreshes.is_wanted() && Instant::now() < until {
            tokio::time::sleep(REFRESH_EVERY).await;
        }

        let id = format!("{:032x}", rand::random::<u128>());
        let mut heard = line.told.subscribe();
        let started = Instant::now();
        let mut held = Held { line: Arc::clone(line), id: id.clone(), is_over: false };
        let mut ticks = tokio::time::interval(REFRESH_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        let request = Request::Start { id: id.clone(), motion };
        let mut start = std::pin::pin!(line.ask(&request, ANSWER_DEADLINE));
        let reply = loop {
            tokio::select! {
                reply = &mut start => break reply,
                _ = ticks.tick() => line.refresh(&id, true),
            }
        };
        match reply.map_err(lost)? {
            Reply::Done => {}
            Reply::Failure { failure } => {
                held.is_over = true;
                return Err(failure);
            }
            Reply::BadRequest { reason } => {
                held.is_over = true;
                return Err(MotionFailure::Refused { rule: "request".into(), reason });
            }
            other => return Err(lost(unexpected(other))),
        }

        let mut watched = Watched { id, life: None, shown: (None, String::new()) };
        loop {
            tokio::select! {
                changed = heard.changed() => {
                    changed.expect("the sender lives as long as the link");
                    let news = heard.borrow_and_update().as_ref().map(|heard| watched.news(&heard.told));
                    match news {
                        Some(News::Over(outcome)) => {
                            held.is_over = true;
                            return outcome;
                        }
                        Some(News::Gone) => return Err(MotionFailure::Lost {
                            reason: "its process was restarted in the middle of the motion; look at its log".into(),
                        }),
                        Some(News::Progress) => progress.report(watched.shown.0, &watched.shown.1),
                        Some(News::None) | None => {}
                    }
                }
                _ = ticks.tick() => {
                    line.refresh(&watched.id, true);
                    if let Some(reason) = line.silence(started) {
                        return Err(MotionFailure::Lost { reason });
                    }
                    if watched.life.is_none() && started.elapsed() > ANSWER_DEADLINE + SILENCE_MAX {
                        let reason = "it began the motion and says nothing of it; look at its log".into();
                        return Err(MotionFailure::Lost { reason });
                    }
                }
            }
        }
    }

    async fn stop(&self, by: &str) -> Result<StopReport, RobotError> {
        match self.line.ask(&Request::Stop { by: by.to_owned() }, STOP_DEADLINE).await? {
            Reply::Stopped { report } => Ok(report),
            other => Err(unexpected(other)),
        }
    }

    async fn clear_obstacles(&self) -> Result<(), RobotError> {
        self.line.ask(&Request::ClearObstacles, ANSWER_DEADLINE).await.map(|_| ())
    }

    async fn allow_touch(&self, target: Option<&str>, allow: bool) -> Result<(), RobotError> {
        let request = Request::AllowTouch { target: target.map(str::to_owned), allow };
        self.line.ask(&request, ANSWER_DEADLINE).await.map(|_| ())
    }
}

/// A motion that was begun.
struct Watched {
    id: String,
    /// The life of the robot's process in which it runs, once it was heard of.
    life: Option<String>,
    shown: (Option<f64>, String),
}

enum News {
    None,
    Progress,
    Over(Result<MotionDone, MotionFailure>),
    /// Another life knows nothing of it.
    Gone,
}

impl Watched {
    fn news(&mut self, told: &Told) -> News {
        if let Some((_, outcome)) = told.outcomes.iter().find(|(id, _)| *id == self.id) {
            return News::Over(outcome.clone());
        }
        if let Some(now) = told.running.iter().find(|now| now.id == self.id) {
            self.life = Some(told.life.clone());
            let shown = (now.fraction, now.message.clone());
            if shown == self.shown {
                return News::None;
            }
            self.shown = shown;
            return News::Progress;
        }
        if self.life.as_ref().is_some_and(|life| *life != told.life) { News::Gone } else { News::None }
    }
}
