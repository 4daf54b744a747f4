use std::sync::Arc;

use cerebellum_core::{Body, Frame, Grasp, Mask, Reach, Side};
use cerebellum_geometry::grasp::{Candidate, GraspError, MeasureError, Measured};
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::locate::{GraspAnswer, GraspArguments, GraspWords};
use cerebellum_wire::{ToolOutcome, text};

use super::seek::{not_in_view, rivals, score};
use super::{Ended, Server};

/// The most ways to take a thing that the robot is asked about.
const TRIED_MAX: usize = 10;

impl Server {
    pub(super) async fn grasp_pose(&self, given: GraspArguments, context: &CallContext) -> Result<ToolOutcome, Ended> {
        let seen = self.find(&given.target, context).await?;
        let age_s = Some(seen.sight.age_s);
        let mut answer = GraspAnswer { age_s, notes: seen.notes.clone(), ..Default::default() };
        let Some(best) = seen.look.detections.first() else {
            answer.reason = Some(format!("{:?} is not in view", text::cut(&given.target)));
            return Err(not_in_view(&given.target, &answer));
        };
        answer.candidates = rivals(&seen);
        if !answer.candidates.is_empty() {
            let message = format!("{} things match {:?}", answer.candidates.len(), text::cut(&given.target));
            answer.reason = Some(message.clone());
            return Err(Ended::no("ambiguous", message, "Ask which one is meant, and name it more closely.", &answer));
        }
        answer.label = Some(text::cut(&best.detection.label));
        answer.score = Some(score(best));
        let mask = best.mask.clone().unwrap_or_else(|| {
            let bounds = best.detection.bounds;
            Mask { bounds, data: vec![255; bounds.area() as usize] }
        });
        self.take(&seen.sight.frame, mask, given.side.map(Side::from), answer).await
    }

    /// Measures how to take what the mask shows, and asks the robot whether it can.
    pub(super) async fn take(
        &self,
        frame: &Arc<Frame>,
        mask: Mask,
        side: Option<Side>,
        mut answer: GraspAnswer,
    ) -> Result<ToolOutcome, Ended> {
        let gripper = self.config.gripper;
        let seen = Arc::clone(frame);
        let measured = tokio::task::spawn_blocking(move || {
            let measured = Measured::of(&seen, &mask).map_err(|error| no_measure(&error))?;
            let grasps = measured.grasps(&gripper).map_err(|error| no_grasp(&error))?;
            Ok::<_, (&'static str, String, &'static str)>((measured, grasps))
        });
        let (measured, grasps) = match measured.await {
            Ok(Ok(found)) => found,
            Ok(Err((code, reason, next))) => {
                answer.reason = Some(reason.clone());
                return Err(Ended::no(code, reason, next, &answer));
            }
            Err(error) => return Err(Ended::failed("engine_failed", error.to_string(), "Call again.")),
        };
        let told = |candidate: &Candidate, frame_id: &str| {
            GraspWords::of(&Grasp { tip: candidate.tip, width_m: candidate.width_m, stamp: frame.stamp }, frame_id)
        };
        if !measured.localised {
            let tip = measured.level_from_camera.inverse().then(&grasps[0].tip);
            answer.grasp = Some(told(&Candidate { tip, ..grasps[0].clone() }, &frame.frame_id));
            let reason = "the robot does not know where it is, so its reach cannot be told";
            answer.reason = Some(reason.to_owned());
            return Err(Ended::no("not_localised", reason, "Tell the operator to localise the robot.", &answer));
        }
        answer.grasp = Some(told(&grasps[0], "map"));
        let Some(body) = &self.ports.body else {
            let reason = "no robot is attached, so its reach cannot be told";
            answer.reason = Some(reason.to_owned());
            return Err(Ended::no("no_robot", reason, "Attach the robot to the locate server.", &answer));
        };
        match reachable(body.as_ref(), side, &grasps).await {
            Ok((candidate, reach)) => {
                answer.reachable = reach.is_reachable;
                answer.side = Some(reach.side.into());
                answer.grasp = Some(told(candidate, "map"));
                if reach.is_reachable {
                    return Ok(ToolOutcome::done(&answer));
                }
                let reason = reach.reason.unwrap_or_else(|| "no arm reaches it from here".to_owned());
                answer.reason = Some(text::cut_to(&reason, 300));
                let next = "Call go_to_stance with its point, then this again.";
                Err(Ended::no("unreachable", text::cut_to(&reason, 300), next, &answer))
            }
            Err(reason) => {
                let message = format!("whether an arm reaches it is not known: {}", text::cut_to(&reason, 300));
                answer.reason = Some(message.clone());
                Err(Ended::no("robot_unavailable", message, "Check the robot, then call again.", &answer))
            }
        }
    }
}

/// The first way that an arm can do, else the first way of all with the reason.
async fn reachable<'a>(
    body: &dyn Body,
    side: Option<Side>,
    grasps: &'a [Candidate],
) -> Result<(&'a Candidate, Reach), String> {
    let mut first: Option<(&Candidate, Reach)> = None;
    for candidate in grasps.iter().take(TRIED_MAX).chain(grasps.iter().skip(TRIED_MAX).last()) {
        let reach = body.reach(side, &candidate.tip).await.map_err(|error| error.to_string())?;
        if reach.is_reachable {
            return Ok((candidate, reach));
        }
        first.get_or_insert((candidate, reach));
    }
    first.ok_or_else(|| "there is no way to take it".to_owned())
}

fn no_measure(error: &MeasureError) -> (&'static str, String, &'static str) {
    ("no_depth", error.to_string(), "Look at it from nearer or from another side.")
}

fn no_grasp(error: &GraspError) -> (&'static str, String, &'static str) {
    let (code, next) = match error {
        GraspError::TooWide { .. } => ("too_wide", "Take something narrower; this gripper cannot."),
        GraspError::TooLow { .. } => ("too_low", "Take something higher; this gripper cannot."),
        GraspError::NoRoom => ("no_room", "Take away what stands beside it first."),
    };
    (code, error.to_string(), next)
}
