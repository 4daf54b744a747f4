use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cerebellum_core::Subscription;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::{Names, Status};
use crate::bus::{CallError, Endpoint, Qos, RosBus, Sink, call_again};
use crate::msg::action::{
    CANCEL_GOAL, CancelRequest, CancelResponse, GetResultRequest, GetResultResponse, GoalInfo, SendGoalRequest,
    SendGoalResponse, Uuid,
};
use crate::msg::{RosType, decode, encode};

/// How long a server may take to accept a goal, or to say that it cancels one.
const ANSWER_DEADLINE: Duration = Duration::from_secs(5);
/// How long one question for the result is kept open; it is asked again then.
const RESULT_PATIENCE: Duration = Duration::from_secs(600);
/// How often it is looked whether the server is still there.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a server may be away from the graph before its goal is lost.
const AWAY_MAX: Duration = Duration::from_secs(1);

/// How often a cancel is tried.
const CANCELS: usize = 10;
/// What a server answers to a cancel of a goal that it does not know.
const UNKNOWN_GOAL: i8 = 2;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// Nobody offers the action.
    #[error("nobody offers the action {action} on the bus")]
    Unavailable {
        /// Its name.
        action: String,
    },
    /// The action is there with other types than this program knows.
    #[error("{action} is offered as {found}, which this program does not know; update it, or use another action")]
    OtherType {
        /// Its name.
        action: String,
        /// The type and hash that were found.
        found: String,
    },
    /// The server does not take the goal.
    #[error("{action} does not take the goal")]
    Rejected {
        /// Its name.
        action: String,
    },
    /// The server was there and is not any more, or does not answer.
    #[error("{reason}")]
    Lost {
        /// What is known of it.
        reason: String,
    },
    /// What came is no message of the action.
    #[error("{reason}")]
    Garbled {
        /// Which message, and what is wrong.
        reason: String,
    },
}

/// What a goal came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended<R> {
    /// Succeeded, canceled or aborted.
    pub status: Status,
    /// The action's own result.
    pub result: R,
}

/// An action somewhere on the bus. Types are taken as its server announces them, so that a server of another ROS version
/// is met on its own terms; whether its result can be read is for the caller to know.
pub struct Client {
    bus: Arc<dyn RosBus>,
    action: String,
    names: Names,
}

/// A goal that was sent. Dropping it before it is over cancels it.
pub struct Goal {
    asked: Arc<Asked>,
    /// Whether nothing is left to cancel.
    is_over: AtomicBool,
    tasks: TaskTracker,
    runtime: tokio::runtime::Handle,
    _feedback: Option<Subscription>,
}

/// What is needed to ask for a goal's end.
struct Asked {
    bus: Arc<dyn RosBus>,
    action: String,
    id: Uuid,
    get_result: Endpoint,
    cancel_type: RosType,
    cancel_name: String,
}

impl Client {
    /// The action of that name, such as `/navigate_to_pose`. It need not be there yet.
    pub fn new(bus: Arc<dyn RosBus>, action: &str) -> Self {
        Self { bus, action: action.to_owned(), names: Names::of(action) }
    }

    /// The type of `get_result` that the server announces.
    pub fn result_type(&self) -> Result<RosType, ActionError> {
        self.service(&self.names.get_result).map(|endpoint| endpoint.ros_type)
    }

    fn service(&self, name: &str) -> Result<Endpoint, ActionError> {
        let graph = self.bus.graph().map_err(|error| ActionError::Lost { reason: error.to_string() })?;
        let found = graph.services.into_iter().find(|endpoint| endpoint.name == name);
        found.ok_or_else(|| ActionError::Unavailable { action: self.action.clone() })
    }

    /// Sends a goal; dropping the future cancels it, also where its answer is still on its way. `feedback` gets the CDR of each feedback message of this goal; it runs on the bus's task and must not
    /// block. `type_name` is the action's, such as `nav2_msgs/action/NavigateToPose`.
    pub async fn send<G: Serialize>(
        &self,
        type_name: &str,
        goal: &G,
        tasks: &TaskTracker,
        feedback: impl Fn(&[u8]) + Send + Sync + 'static,
    ) -> Result<Goal, ActionError> {
        let (send_goal, get_result) = (self.service(&self.names.send_goal)?, self.service(&self.names.get_result)?);
        if send_goal.ros_type.name.strip_suffix("_SendGoal") != Some(type_name) {
            let found = format!("{} ({})", send_goal.ros_type.name, send_goal.ros_type.hash);
            return Err(ActionError::OtherType { action: self.action.clone(), found });
        }
        let id = Uuid::random();
        let request = encode(&SendGoalRequest { goal_id: id, goal });
        // Before it is sent: a goal whose answer is not waited for may be running all the same.
        let goal = Goal {
            asked: Arc::new(Asked {
                bus: Arc::clone(&self.bus),
                action: self.action.clone(),
                id,
                get_result,
                cancel_type: self.cancel_type(),
                cancel_name: self.names.cancel_goal.clone(),
            }),
            is_over: AtomicBool::new(false),
            tasks: tasks.clone(),
            runtime: tokio::runtime::Handle::current(),
            _feedback: self.feedback(id, feedback).await,
        };
        let response = call_again(&self.bus, &send_goal.name, &send_goal.ros_type, request, ANSWER_DEADLINE).await;
        let response = response.map_err(|error| {
            goal.is_over.store(error == CallError::Unavailable, Ordering::Relaxed);
            self.failed("send_goal", &error)
        })?;
        let response: SendGoalResponse = decode(&response).map_err(|error| self.garbled("send_goal", &error))?;
        if response.accepted {
            return Ok(goal);
        }
        goal.is_over.store(true, Ordering::Relaxed);
        Err(ActionError::Rejected { action: self.action.clone() })
    }

    /// Cancels every goal of the action, whoever sent it. Answers how many are being cancelled.
    pub async fn cancel_all(&self, deadline: Duration) -> Result<usize, ActionError> {
        let request = encode(&CancelRequest::default());
        let response = self.bus.call(&self.names.cancel_goal, &self.cancel_type(), request, deadline).await;
        let response = response.map_err(|error| self.failed("cancel_goal", &error))?;
        let response: CancelResponse = decode(&response).map_err(|error| self.garbled("cancel_goal", &error))?;
        Ok(response.goals_canceling.len())
    }

    fn cancel_type(&self) -> RosType {
        self.service(&self.names.cancel_goal).map_or(CANCEL_GOAL, |endpoint| endpoint.ros_type)
    }

    /// Feedback is not worth failing for.
    async fn feedback(&self, id: Uuid, feedback: impl Fn(&[u8]) + Send + Sync + 'static) -> Option<Subscription> {
        let graph = self.bus.graph().ok()?;
        let endpoint = graph.publishers.into_iter().find(|endpoint| endpoint.name == self.names.feedback)?;
        let sink: Sink = Arc::new(move |bytes| {
            // Feedback begins with the goal's id, as a question for its result does.
            if decode::<GetResultRequest>(bytes).is_ok_and(|message| message.goal_id == id) {
                feedback(bytes);
            }
        });
        self.bus.subscribe(&endpoint.name, &endpoint.ros_type, Qos::STREAM, sink).await.ok()
    }

    fn failed(&self, part: &str, error: &CallError) -> ActionError {
        match error {
            CallError::Unavailable => ActionError::Unavailable { action: self.action.clone() },
            error => ActionError::Lost { reason: format!("{}/_action/{part}: {error}", self.action) },
        }
    }

    fn garbled(&self, part: &str, error: &crate::msg::CdrError) -> ActionError {
        ActionError::Garbled { reason: format!("{}/_action/{part}: {error}", self.action) }
    }
}

impl Goal {
    /// Waits for what the goal comes to, as long as its server lives.
    pub async fn result<R: DeserializeOwned>(&self) -> Result<Ended<R>, ActionError> {
        let request = encode(&GetResultRequest { goal_id: self.asked.id });
        let asking = async {
            loop {
                let (name, ros_type) = (&self.asked.get_result.name, &self.asked.get_result.ros_type);
                match self.asked.bus.call(name, ros_type, request.clone(), RESULT_PATIENCE).await {
                    Ok(response) => return Ok(response),
                    // Too early an end without an answer: the server may be on its way out, which the other branch sees.
                    Err(CallError::TimedOut { .. } | CallError::Unavailable) => tokio::time::sleep(LOOK_EVERY).await,
                    Err(error @ (CallError::Down { .. } | CallError::Failed { .. })) => {
                        return Err(ActionError::Lost { reason: format!("{name}: {error}") });
                    }
                }
            }
        };
        let response = tokio::select! {
            response = asking => response?,
            reason = self.until_gone() => return Err(ActionError::Lost { reason }),
        };
        let garbled = |error| ActionError::Garbled { reason: format!("{}: {error}", self.asked.get_result.name) };
        let response: GetResultResponse<R> = decode(&response).map_err(garbled)?;
        let status = Status::of(response.status);
        self.is_over.store(status.is_over(), Ordering::Relaxed);
        Ok(Ended { status, result: response.result })
    }

    /// Cancels the goal. It is over when [`Self::result`] says so.
    pub async fn cancel(&self) -> Result<(), ActionError> {
        self.asked.cancel().await.map(|_| ())
    }

    async fn until_gone(&self) -> String {
        let mut seen = Instant::now();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let reason = match self.asked.bus.graph() {
                Err(error) => error.to_string(),
                Ok(graph) if graph.services.iter().any(|endpoint| endpoint.name == self.asked.get_result.name) => {
                    seen = Instant::now();
                    continue;
                }
                Ok(_) => format!("the server of {} left the bus in the middle of a goal", self.asked.action),
            };
            if seen.elapsed() >= AWAY_MAX {
                return reason;
            }
        }
    }
}

impl Drop for Goal {
    fn drop(&mut self) {
        if !self.is_over.load(Ordering::Relaxed) {
            self.tasks.spawn_on(Arc::clone(&self.asked).see_to_its_end(), &self.runtime);
        }
    }
}

impl Asked {
    /// Answers whether the server knows the goal.
    async fn cancel(&self) -> Result<bool, ActionError> {
        let request = encode(&CancelRequest { goal_info: GoalInfo { goal_id: self.id, ..GoalInfo::default() } });
        let response = self.bus.call(&self.cancel_name, &self.cancel_type, request, ANSWER_DEADLINE).await;
        let lost = |error| ActionError::Lost { reason: format!("{}: {error}", self.cancel_name) };
        let response = response.map_err(lost)?;
        let garbled = |error| ActionError::Garbled { reason: format!("{}: {error}", self.cancel_name) };
        let response: CancelResponse = decode(&response).map_err(garbled)?;
        Ok(response.return_code != UNKNOWN_GOAL)
    }

    /// Cancels until the server has heard it. A goal that it does not know may be on its way to it.
    async fn see_to_its_end(self: Arc<Self>) {
        for _ in 0..CANCELS {
            match self.cancel().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(action = self.action, %error, "a goal is not cancelled yet"),
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}
