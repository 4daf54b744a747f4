use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{MotionDone, MotionFailure, MotionProgress, PlanarPose};
use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::{Ros2, floor};
use crate::action::{ActionError, Client, Ended, Goal, Status};
use crate::msg::action::FeedbackMessage;
use crate::msg::common::Header;
use crate::msg::decode;
use crate::msg::nav::{NavigateFeedback, NavigateGoal, NavigateLayout, NavigateResult, PoseStamped};

const ACTION_TYPE: &str = "nav2_msgs/action/NavigateToPose";
/// How long a base may take to stand still after its goal is over.
const SETTLING: Duration = Duration::from_secs(2);

impl Ros2 {
    pub(super) async fn navigate(
        &self,
        goal: PlanarPose,
        progress: &dyn MotionProgress,
    ) -> Result<MotionDone, MotionFailure> {
        let Some(action) = &self.config.navigate else {
            return Err(MotionFailure::Unsupported { what: "find its way by itself".into() });
        };
        if ![goal.x, goal.y, goal.yaw].into_iter().all(f64::is_finite) {
            let reason = "x, y and yaw must be numbers that are finite".into();
            return Err(MotionFailure::Refused { rule: "finite".into(), reason });
        }
        {
            let rules = self.rules();
            floor::allows(&rules.0, &rules.1, &goal, &goal)?;
        }
        let client = Client::new(Arc::clone(&self.bus), action);
        let announced = client.result_type().map_err(|error| failure(&error))?;
        let Some(layout) = NavigateLayout::of(&announced) else {
            let reason = format!(
                "{action} is {} ({}), a layout that this program does not know",
                announced.name, announced.hash
            );
            return Err(MotionFailure::Unsupported { what: format!("be driven by that action: {reason}") });
        };
        let left = Arc::new(watch::Sender::new(None::<f32>));
        let told = Arc::clone(&left);
        let header = Header::new(self.clock.now(), &self.config.frames[0]);
        let pose = PoseStamped { header, pose: (&goal.to_pose()).into() };
        let goal = NavigateGoal { pose, behavior_tree: "" };
        let sending = client.send(ACTION_TYPE, &goal, &self.tasks, move |bytes| {
            if let Ok(message) = decode::<FeedbackMessage<NavigateFeedback<'_>>>(bytes) {
                told.send_replace(Some(message.feedback.distance_remaining));
            }
        });
        let goal = sending.await.map_err(|error| failure(&error))?;
        let ended = match layout {
            NavigateLayout::Plain => follow::<u8>(&goal, &left, progress).await.map(|ended| (ended.status, None)),
            NavigateLayout::Coded => follow::<u16>(&goal, &left, progress)
                .await
                .map(|ended| (ended.status, Some(format!("code {}", ended.result)))),
            NavigateLayout::Worded => follow::<NavigateResult>(&goal, &left, progress).await.map(|ended| {
                let NavigateResult { error_code, error_msg } = ended.result;
                (ended.status, Some(format!("{error_msg} (code {error_code})")))
            }),
        };
        let (status, said) = ended.map_err(|error| failure(&error))?;
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        let outcome = match status {
            Status::Succeeded => Ok(MotionDone::default()),
            Status::Canceled => Err(format!("somebody else cancelled the goal of {action}{said}")),
            Status::Aborted => Err(format!("{action} gave the goal up, or another goal took its place{said}")),
            Status::Unknown | Status::Accepted | Status::Executing | Status::Canceling => {
                Err(format!("{action} ended the goal as {status:?}{said}"))
            }
        };
        // Done is what was measured: the goal is over, and the base stands.
        let report = self.settle(SETTLING).await;
        match outcome {
            Ok(done) if report => Ok(done),
            Ok(_) => Err(MotionFailure::Failed {
                reason: format!("{action} says it is there, but the base is not measured standing still"),
            }),
            Err(reason) => Err(MotionFailure::Failed { reason }),
        }
    }

    /// Whether the base is measured standing still within that time.
    pub(super) async fn settle(&self, patience: Duration) -> bool {
        let until = self.clock.monotonic() + patience;
        loop {
            let now = self.clock.monotonic();
            if self.senses.fresh(now).is_some_and(|base| !base.is_moving) {
                return true;
            }
            if now >= until {
                return false;
            }
            self.clock.sleep(super::ZERO_EVERY).await;
        }
    }
}

async fn follow<R: DeserializeOwned>(
    goal: &Goal,
    left: &watch::Sender<Option<f32>>,
    progress: &dyn MotionProgress,
) -> Result<Ended<R>, ActionError> {
    let mut news = left.subscribe();
    let mut ending = std::pin::pin!(goal.result::<R>());
    let mut whole: Option<f32> = None;
    loop {
        tokio::select! {
            ended = &mut ending => return ended,
            changed = news.changed() => {
                changed.expect("the sender lives as long as the motion");
                let Some(left) = *news.borrow_and_update() else { continue };
                let whole = *whole.get_or_insert(left);
                let fraction = (whole > 0.0).then(|| f64::from(1.0 - left / whole).clamp(0.0, 1.0));
                progress.report(fraction, &format!("{left:.1} m to go"));
            }
        }
    }
}

pub(super) fn failure(error: &ActionError) -> MotionFailure {
    match error {
        ActionError::Rejected { action } => {
            MotionFailure::Failed { reason: format!("{action} does not take the goal") }
        }
        ActionError::OtherType { .. } => MotionFailure::Unsupported { what: format!("do it: {error}") },
        ActionError::Unavailable { .. } | ActionError::Lost { .. } | ActionError::Garbled { .. } => {
            MotionFailure::Lost { reason: error.to_string() }
        }
    }
}
