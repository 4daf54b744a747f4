use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, Motion, MotionFailure, PlanarPose, Robot, RobotState, Stamp};
use serde::Serialize;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::topics::planar;
use crate::action::{self, Finish, Work};
use crate::bus::RosBus;
use crate::msg::action::SendGoalRequest;
use crate::msg::common::{Header, Pose, Time};
use crate::msg::decode;
use crate::msg::nav::{NavigateGoal, NavigateLayout, NavigateResult};
use crate::msg::std_srvs::Nothing;

/// Serves `nav2_msgs/action/NavigateToPose` as `action` over a robot, as Nav2 does: one goal at a time, a new one takes the
/// place of the one that runs. Ends with `stop`.
pub fn serve_nav2(
    bus: Arc<dyn RosBus>,
    action: &str,
    layout: NavigateLayout,
    robot: Arc<dyn Robot>,
    clock: Arc<dyn Clock>,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    let types = layout.types();
    match layout {
        NavigateLayout::Plain => {
            action::serve(
                bus,
                action,
                types,
                Navigating { robot, answer: |_, _| Nothing::default() },
                clock,
                tasks,
                stop,
            );
        }
        NavigateLayout::Coded => {
            action::serve(bus, action, types, Navigating { robot, answer: |code, _| code }, clock, tasks, stop);
        }
        NavigateLayout::Worded => {
            let answer = |error_code, error_msg| NavigateResult { error_code, error_msg };
            action::serve(bus, action, types, Navigating { robot, answer }, clock, tasks, stop);
        }
    }
}

struct Navigating<R> {
    robot: Arc<dyn Robot>,
    answer: fn(u16, String) -> R,
}

/// The feedback with text of its own.
#[derive(Serialize)]
struct Feedback {
    stamp: Time,
    frame_id: &'static str,
    pose: Pose,
    navigation_time: Time,
    estimated_time_remaining: Time,
    number_of_recoveries: i16,
    distance_remaining: f32,
}

impl Feedback {
    fn of(state: &RobotState, at: PlanarPose, goal: PlanarPose, started: Stamp) -> Self {
        let legs = state.path.windows(2).map(|leg| (leg[0][0] - leg[1][0]).hypot(leg[0][1] - leg[1][1]));
        let along_path = state.path.first().map(|first| at.distance(&PlanarPose::new(first[0], first[1], 0.0)));
        let left = along_path.map_or_else(|| at.distance(&goal), |to_first| to_first + legs.sum::<f64>());
        let driven = Stamp::from_secs_f64(state.stamp.secs_since(started).max(0.0));
        Self {
            stamp: state.stamp.into(),
            frame_id: "map",
            pose: (&at.to_pose()).into(),
            navigation_time: driven.into(),
            estimated_time_remaining: Time::default(),
            number_of_recoveries: 0,
            distance_remaining: left as f32,
        }
    }
}

/// How often is told how far it is.
const FEEDBACK_EVERY: Duration = Duration::from_millis(100);
/// Nav2's codes: not known, and no way found.
const UNKNOWN: u16 = 9_000;
const NO_WAY: u16 = 9_003;

#[async_trait]
impl<R: Serialize + Default + Send + Sync + 'static> Work for Navigating<R> {
    type Goal = PlanarPose;
    type Feedback = Feedback;
    type Result = R;

    fn read(&self, request: &[u8]) -> Result<PlanarPose, String> {
        let request: SendGoalRequest<NavigateGoal<'_>> = decode(request).map_err(|error| error.to_string())?;
        let Header { frame_id, .. } = request.goal.pose.header;
        if frame_id.trim_start_matches('/') != "map" {
            return Err(format!("the goal is in {frame_id}, not in map"));
        }
        planar(&request.goal.pose.pose).ok_or_else(|| "the goal is no pose".to_owned())
    }

    async fn run(&self, goal: PlanarPose, feedback: &(dyn Fn(Feedback) + Send + Sync)) -> Finish<R> {
        let started = self.robot.state().await.map(|state| state.stamp).unwrap_or_default();
        let mut running = self.robot.run(Motion::Navigate { goal }, &|_: Option<f64>, _: &str| {});
        let mut ticks = tokio::time::interval(FEEDBACK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let outcome = loop {
            tokio::select! {
                outcome = &mut running => break outcome,
                _ = ticks.tick() => {
                    if let Ok(state) = self.robot.state().await
                        && let Some(base) = &state.base
                    {
                        feedback(Feedback::of(&state, base.pose, goal, started));
                    }
                }
            }
        };
        match outcome {
            Ok(_) => Finish { is_done: true, result: (self.answer)(0, String::new()) },
            Err(failure) => {
                let is_no_way = matches!(failure, MotionFailure::Unreachable { .. } | MotionFailure::Blocked { .. });
                let code = if is_no_way { NO_WAY } else { UNKNOWN };
                Finish { is_done: false, result: (self.answer)(code, failure.to_string()) }
            }
        }
    }
}
