use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use cerebellum_core::{BusError, Clock, Stamp, Subscription};
use futures::FutureExt;
use serde::Serialize;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Names, Status};
use crate::bus::{Handler, Publisher, Qos, RosBus, persist};
use crate::msg::action::{
    ActionTypes, CANCEL_GOAL, CancelRequest, CancelResponse, FeedbackMessage, GetResultRequest, GetResultResponse,
    GoalInfo, GoalStatus, GoalStatusArray, SendGoalResponse, Uuid,
};
use crate::msg::{Message, decode, encode};

/// How many goals that are over are remembered.
const REMEMBERED: usize = 64;

/// What came of a goal that nobody cancelled.
pub struct Finish<R> {
    /// Succeeded, else aborted.
    pub is_done: bool,
    /// What is answered.
    pub result: R,
}

/// The work behind an action.
#[async_trait]
pub trait Work: Send + Sync + 'static {
    /// A goal that can be worked on.
    type Goal: Send + 'static;
    /// What is told meanwhile.
    type Feedback: Serialize;
    /// What is answered in the end; the default where a goal is cancelled or gives way to another.
    type Result: Serialize + Default + Send + Sync + 'static;

    /// Reads the CDR of a [`crate::msg::action::SendGoalRequest`]; an error rejects the goal and is logged.
    fn read(&self, request: &[u8]) -> Result<Self::Goal, String>;
    /// Works on a goal. Dropping the future ends the work at once.
    async fn run(&self, goal: Self::Goal, feedback: &(dyn Fn(Self::Feedback) + Send + Sync)) -> Finish<Self::Result>;
}

/// Serves an action until `stop`, one goal at a time: a new goal takes the place of the one that runs, which is aborted.
pub fn serve<W: Work>(
    bus: Arc<dyn RosBus>,
    action: &str,
    types: ActionTypes,
    work: W,
    clock: Arc<dyn Clock>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let server = Arc::new(Server {
        names: Names::of(action),
        types,
        work,
        clock,
        goals: Mutex::default(),
        changed: watch::Sender::new(()),
        turn: tokio::sync::Mutex::new(()),
        feedback: Mutex::default(),
        tasks: tasks.clone(),
        stop: stop.clone(),
    });
    tasks.spawn(async move {
        stop.run_until_cancelled(server.run(bus)).await;
    });
}

struct Server<W: Work> {
    names: Names,
    types: ActionTypes,
    work: W,
    clock: Arc<dyn Clock>,
    goals: Mutex<Vec<Known<W::Result>>>,
    changed: watch::Sender<()>,
    /// Held by the goal that runs.
    turn: tokio::sync::Mutex<()>,
    feedback: Mutex<Option<Box<dyn Publisher>>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// Answers the CDR of a request.
type Answer<S> = fn(&Arc<S>, &[u8]) -> Result<Vec<u8>, String>;

struct Known<R> {
    id: Uuid,
    accepted: Stamp,
    status: Status,
    result: Option<Arc<R>>,
    /// Ends the work.
    end: CancellationToken,
}

impl<W: Work> Server<W> {
    async fn run(self: Arc<Self>, bus: Arc<dyn RosBus>) {
        let (status, _services) = persist(&bus, "action", || self.declare(&bus)).await;
        let mut changed = self.changed.subscribe();
        loop {
            status.put(encode(&self.statuses()));
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    async fn declare(
        self: &Arc<Self>,
        bus: &Arc<dyn RosBus>,
    ) -> Result<(Box<dyn Publisher>, [Subscription; 3]), BusError> {
        let latched = Qos { depth: 1, ..Qos::LATCHED };
        let status = bus.advertise(&self.names.status, &GoalStatusArray::TYPE, latched).await?;
        let feedback = bus.advertise(&self.names.feedback, &self.types.feedback, Qos::STREAM).await?;
        *self.feedback.lock().expect("no holder of this lock panics") = Some(feedback);
        let cancel = bus.serve(&self.names.cancel_goal, &CANCEL_GOAL, self.handler(Self::on_cancel)).await?;
        let server = Arc::clone(self);
        let on_result: Handler = Arc::new(move |request| Arc::clone(&server).on_result(request).boxed());
        let result = bus.serve(&self.names.get_result, &self.types.get_result, on_result).await?;
        // Last, so that whoever can send a goal finds the rest.
        let send = bus.serve(&self.names.send_goal, &self.types.send_goal, self.handler(Self::on_goal)).await?;
        Ok((status, [send, result, cancel]))
    }

    fn handler(self: &Arc<Self>, answer: Answer<Self>) -> Handler {
        let server = Arc::clone(self);
        Arc::new(move |request| {
            let server = Arc::clone(&server);
            async move { answer(&server, &request) }.boxed()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known<W::Result>>> {
        self.goals.lock().expect("no holder of this lock panics")
    }

    fn statuses(&self) -> GoalStatusArray {
        let status = |known: &Known<W::Result>| GoalStatus {
            goal_info: GoalInfo { goal_id: known.id, stamp: known.accepted.into() },
            status: known.status.code(),
        };
        GoalStatusArray { status_list: self.lock().iter().map(status).collect() }
    }

    fn on_goal(self: &Arc<Self>, request: &[u8]) -> Result<Vec<u8>, String> {
        // A request begins with the goal's id, as a question for its result does.
        let id = decode::<GetResultRequest>(request).map_err(|error| error.to_string())?.goal_id;
        let accepted = self.clock.now();
        let answer = |accepted, stamp: Stamp| Ok(encode(&SendGoalResponse { accepted, stamp: stamp.into() }));
        let goal = match self.work.read(request) {
            Ok(goal) => goal,
            Err(reason) => {
                tracing::warn!(action = self.names.send_goal, reason, "goal rejected");
                return answer(false, accepted);
            }
        };
        let end = self.stop.child_token();
        {
            let mut goals = self.lock();
            if goals.iter().any(|known| known.id == id) {
                tracing::warn!(action = self.names.send_goal, "a goal was sent twice; the second is rejected");
                return answer(false, accepted);
            }
            for other in goals.iter_mut().filter(|known| !known.status.is_over()) {
                // One that is being cancelled keeps that as its end.
                if other.status != Status::Canceling {
                    other.status = Status::Aborted;
                    other.result.get_or_insert_default();
                }
                other.end.cancel();
            }
            if goals.len() >= REMEMBERED
                && let Some(oldest) = goals.iter().position(|known| known.status.is_over())
            {
                goals.remove(oldest);
            }
            goals.push(Known { id, accepted, status: Status::Accepted, result: None, end: end.clone() });
        }
        self.changed.send_replace(());
        self.tasks.spawn(Arc::clone(self).work(id, goal, end));
        answer(true, accepted)
    }

    async fn work(self: Arc<Self>, id: Uuid, goal: W::Goal, end: CancellationToken) {
        let tell = |feedback: W::Feedback| {
            if let Some(publisher) = &*self.feedback.lock().expect("no holder of this lock panics") {
                publisher.put(encode(&FeedbackMessage { goal_id: id, feedback }));
            }
        };
        let working = async {
            // The goal before this one lets go first.
            let _turn = self.turn.lock().await;
            self.set(id, Status::Executing, None);
            self.work.run(goal, &tell).await
        };
        let finish = tokio::select! {
            // A cancel first: work that was cancelled is not touched again.
            biased;
            () = end.cancelled() => None,
            finish = working => Some(finish),
        };
        match finish {
            Some(Finish { is_done: true, result }) => self.set(id, Status::Succeeded, Some(result)),
            Some(Finish { is_done: false, result }) => self.set(id, Status::Aborted, Some(result)),
            None => self.set(id, Status::Canceled, Some(W::Result::default())),
        }
    }

    /// Goals that are over stay what they are.
    fn set(&self, id: Uuid, status: Status, result: Option<W::Result>) {
        if let Some(known) = self.lock().iter_mut().find(|known| known.id == id && !known.status.is_over()) {
            known.status = status;
            known.result = result.map(Arc::new);
        }
        self.changed.send_replace(());
    }

    fn on_cancel(self: &Arc<Self>, request: &[u8]) -> Result<Vec<u8>, String> {
        let asked = decode::<CancelRequest>(request).map_err(|error| error.to_string())?.goal_info;
        let (until, names_none) = (Stamp::from(asked.stamp), asked.goal_id == Uuid::default());
        let is_meant = |known: &Known<W::Result>| {
            known.id == asked.goal_id
                || (names_none && until.is_zero())
                || (!until.is_zero() && known.accepted <= until)
        };
        let mut response = CancelResponse::default();
        {
            let mut goals = self.lock();
            let is_known = names_none || goals.iter().any(|known| known.id == asked.goal_id);
            for known in goals.iter_mut().filter(|known| is_meant(known) && !known.status.is_over()) {
                known.status = Status::Canceling;
                known.end.cancel();
                response.goals_canceling.push(GoalInfo { goal_id: known.id, stamp: known.accepted.into() });
            }
            if response.goals_canceling.is_empty() && !names_none {
                response.return_code = if is_known { 3 } else { 2 };
            }
        }
        self.changed.send_replace(());
        Ok(encode(&response))
    }

    async fn on_result(self: Arc<Self>, request: Vec<u8>) -> Result<Vec<u8>, String> {
        let id = decode::<GetResultRequest>(&request).map_err(|error| error.to_string())?.goal_id;
        let mut changed = self.changed.subscribe();
        loop {
            let (status, result) = {
                let goals = self.lock();
                let known = goals.iter().find(|known| known.id == id);
                known.map_or((Status::Unknown, None), |known| (known.status, known.result.clone()))
            };
            if status == Status::Unknown {
                return Ok(encode(&GetResultResponse { status: status.code(), result: W::Result::default() }));
            }
            if let Some(result) = result.filter(|_| status.is_over()) {
                return Ok(encode(&GetResultResponse { status: status.code(), result: result.as_ref() }));
            }
            if changed.changed().await.is_err() {
                return Err("the action is no longer served".into());
            }
        }
    }
}
