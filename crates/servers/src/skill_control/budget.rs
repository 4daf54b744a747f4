use std::future::Future;
use std::time::Duration;

use cerebellum_core::{TaskError, WallClock};
use cerebellum_wire::{ToolError, text};
use tokio_util::sync::CancellationToken;

/// What a port gets beyond its deadline before it is given up, so that its own time-out is the one that is told.
const GRACE: Duration = Duration::from_millis(500);

/// The longest message of a node that is passed on, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;

/// The time that one tool call may wait for services, all together.
pub(super) struct Budget<'a> {
    wall: &'a dyn WallClock,
    total: Duration,
    until: Duration,
    cancelled: &'a CancellationToken,
}

/// Why a service did not do it.
#[derive(Debug)]
pub(super) enum CallError {
    /// What the port says.
    Task(TaskError),
    /// The caller gave up.
    Cancelled,
}

impl From<TaskError> for CallError {
    fn from(error: TaskError) -> Self {
        Self::Task(error)
    }
}

impl<'a> Budget<'a> {
    pub(super) fn begin(wall: &'a dyn WallClock, total: Duration, cancelled: &'a CancellationToken) -> Self {
        Self { wall, total, until: wall.monotonic() + total, cancelled }
    }

    /// Waits for a service with what is left of the time; gives up even when the port breaks its promise to.
    pub(super) async fn run<T, F>(&self, service: &str, call: impl FnOnce(Duration) -> F) -> Result<T, CallError>
    where
        F: Future<Output = Result<T, TaskError>>,
    {
        let left = self.until.saturating_sub(self.wall.monotonic());
        let timed_out = || TaskError::TimedOut { service: service.to_owned(), waited: self.total };
        if left.is_zero() {
            return Err(timed_out().into());
        }
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Err(CallError::Cancelled),
            answer = call(left) => answer.map_err(CallError::from),
            () = self.wall.sleep(left + GRACE) => Err(timed_out().into()),
        }
    }
}

impl From<CallError> for ToolError {
    fn from(error: CallError) -> Self {
        let error = match error {
            CallError::Task(error) => error,
            CallError::Cancelled => {
                return Self::new(
                    "cancelled",
                    "the call was cancelled; whether the vision node has done it is not known",
                    "Call list_running_skills to see what runs.",
                );
            }
        };
        let (code, next) = match &error {
            TaskError::BusDown { .. } => (
                "bus_down",
                "Wait a few seconds and call again; if it stays so, tell the operator to check the ROS bus.",
            ),
            TaskError::Unavailable { .. } => (
                "vision_node_unavailable",
                "Wait a few seconds and call again; if it stays so, tell the operator to start it.",
            ),
            TaskError::TimedOut { .. } => (
                "service_timeout",
                "Whether it took effect is not known: call list_running_skills before trying again.",
            ),
            TaskError::Refused { .. } => ("refused", "Change what the message names and call again."),
            TaskError::Garbled { .. } => {
                ("service_garbled", "Tell the operator: the vision node and this program may be of different versions.")
            }
        };
        Self::new(code, text::cut_to(&error.to_string(), MESSAGE_CHARS_MAX), next)
    }
}
