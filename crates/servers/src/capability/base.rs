use cerebellum_core::{Motion, MotionDone, PlanarPose, Pose, RobotState};
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::motion::{
    self as words, PointArgument, TargetArgument, drive_by, fine_approach, go_to_stance, goto_named, navigate_to,
    navigate_to_named, reach, strafe_by, turn_by,
};
use cerebellum_wire::{ToolOutcome, arguments, text};
use glam::DVec3;
use serde_json::{Map, Value, json};

use super::locate::LocateError;
use super::numbers::{self, Bound, Frame};
use super::{Failure, Server};

/// A base that is measured further from its goal than this did not get there.
const ARRIVED_WITHIN_M: f64 = 0.3;

impl Server {
    pub(super) async fn navigate_to(
        &self,
        given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        check_place(&given)?;
        let navigate_to::Arguments { x, y, yaw_deg } = arguments::parse(given)?;
        let claim = self.drives.claim(navigate_to::NAME, context)?;
        let goal = numbers::goal(&self.limits().await?, x, y, yaw_deg)?;
        claim.run(Motion::Navigate { goal }, context, &self.stands).await?;
        let pose = self.arrived(goal).await?;
        Ok(ToolOutcome::done(&navigate_to::Answer { place: words::Place::of(&pose), blocked_by: None }))
    }

    pub(super) async fn navigate_to_named(
        &self,
        given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        let navigate_to_named::Arguments { name } = arguments::parse(given)?;
        let (known, warning) = self.waypoints.read().await.map_err(|error| super::waypoints::unusable(&error))?;
        let map_id = self.map_id().await?;
        let Some(saved) = known.iter().find(|saved| super::folded(&saved.name) == super::folded(&name)) else {
            let names: Vec<&str> =
                known.iter().filter(|saved| saved.map_id == map_id).map(|saved| saved.name.as_str()).collect();
            return Err(Failure::no(
                "unknown_place",
                format!("no place named {:?} is saved", text::cut(&name)),
                "Take a name from `known`, or ask the person where that is.",
                &json!({"name": text::cut(&name), "known": super::waypoints::shown(&names)}),
            ));
        };
        if saved.map_id != map_id {
            let of = |id: &Option<String>| id.clone().unwrap_or_else(|| "no map".to_owned());
            return Err(Failure::no(
                "other_map",
                format!("{:?} was saved on map {:?}; the robot uses {:?}", saved.name, of(&saved.map_id), of(&map_id)),
                "Save the place anew on this map; the robot does not drive to places of another one.",
                &json!({"name": saved.name}),
            ));
        }
        let claim = self.drives.claim(navigate_to_named::NAME, context)?;
        let goal = numbers::goal(&self.limits().await?, saved.x, saved.y, saved.yaw_deg)?;
        claim.run(Motion::Navigate { goal }, context, &self.stands).await?;
        let place = words::Place::of(&self.arrived(goal).await?);
        Ok(super::with_warning(
            ToolOutcome::done(&navigate_to_named::Answer {
                name: saved.name.clone(),
                place,
                blocked_by: None,
                known: None,
            }),
            warning,
        ))
    }

    pub(super) async fn turn_by(
        &self,
        given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        let limits = self.limits().await?;
        let most = limits.max_turn.to_degrees();
        // 180 degrees as radians and back may come out a hair below 180.
        let most = (most * 1e6).round() / 1e6;
        Bound { argument: "degrees", limit: "max_turn_deg", most, unit: "degrees" }.check(&given)?;
        let turn_by::Arguments { degrees } = arguments::parse(given)?;
        let radians = degrees.to_radians().clamp(-limits.max_turn, limits.max_turn);
        let (done, place) = self.step(turn_by::NAME, Motion::Turn { radians }, context).await?;
        Ok(stepped(words::degrees(measured(done.moved)?), place))
    }

    pub(super) async fn drive_by(
        &self,
        given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        let metres = self.distance(given).await?;
        let (done, place) = self.step(drive_by::NAME, Motion::Drive { metres }, context).await?;
        Ok(stepped(words::metres(measured(done.moved)?), place))
    }

    pub(super) async fn strafe_by(
        &self,
        given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        let metres = self.distance(given).await?;
        let (done, place) = self.step(strafe_by::NAME, Motion::Strafe { metres }, context).await?;
        Ok(stepped(words::metres(measured(done.moved)?), place))
    }

    pub(super) async fn go_to_stance(
        &self,
        mut given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        unwrap_target(&mut given);
        check_point(&given, "target")?;
        let go_to_stance::Arguments { target, side } = arguments::parse(given)?;
        let side = numbers::side(&self.parts, side.as_deref())?;
        let claim = self.drives.claim(go_to_stance::NAME, context)?;
        let target = self.target(&target).await?;
        let done = claim.run(Motion::Stance { target, side }, context, &self.stands).await?;
        let place = words::Place::of(&self.standing().await?);
        Ok(ToolOutcome::done(&go_to_stance::Answer {
            place,
            side: done.side.or(side).map(|side| side.as_str().to_owned()),
            blocked_by: None,
        }))
    }

    pub(super) async fn reach(&self, given: Map<String, Value>, context: &CallContext) -> Result<ToolOutcome, Failure> {
        ["x", "y", "z"].iter().try_for_each(|name| numbers::coordinate(name).check(&given))?;
        let reach::Arguments { point, side } = arguments::parse(given)?;
        let side = numbers::side(&self.parts, side.as_deref())?;
        let claim = self.drives.claim(reach::NAME, context)?;
        let point = self.in_map(&point).await?;
        let done = claim.run(Motion::Reach { side, point }, context, &self.stands).await?;
        let (Some(side), Some(at)) = (done.side.or(side), done.point) else {
            return Err(unmeasured("where the fingertips are"));
        };
        Ok(ToolOutcome::done(&words::At::of(side, at)))
    }

    pub(super) async fn fine_approach(
        &self,
        mut given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        unwrap_target(&mut given);
        check_point(&given, "target")?;
        let fine_approach::Arguments { target, side } = arguments::parse(given)?;
        let side = numbers::side(&self.parts, side.as_deref())?;
        let claim = self.drives.claim(fine_approach::NAME, context)?;
        let point = self.target(&target).await?;
        let done = claim.run(Motion::FineApproach { side, point }, context, &self.stands).await?;
        let Some(distance_m) = done.distance_m else { return Err(unmeasured("how far the fingertips are")) };
        Ok(ToolOutcome::done(&fine_approach::Answer {
            distance_m: words::metres(distance_m),
            side: done.side.or(side).map(|side| side.as_str().to_owned()),
            reason: done.reason,
        }))
    }

    pub(super) async fn goto_named(
        &self,
        given: Map<String, Value>,
        context: &CallContext,
    ) -> Result<ToolOutcome, Failure> {
        let goto_named::Arguments { group, state } = arguments::parse(given)?;
        let groups: Vec<&str> = self.parts.postures.iter().map(|(name, _)| name.as_str()).collect();
        let found = self.parts.postures.iter().find(|(name, _)| super::folded(name) == super::folded(&group));
        let Some((group, states)) = found else {
            return Err(Failure::no(
                "unknown_group",
                format!("this robot has no group {:?}", text::cut(&group)),
                "Take a group from `known`.",
                &json!({"known": groups}),
            ));
        };
        let Some(state) = states.iter().find(|name| super::folded(name) == super::folded(&state)) else {
            return Err(Failure::no(
                "unknown_state",
                format!("{group} has no posture {:?}", text::cut(&state)),
                "Take a state from `known`.",
                &json!({"known": states}),
            ));
        };
        let claim = self.drives.claim(goto_named::NAME, context)?;
        claim.run(Motion::Posture { group: group.clone(), state: state.clone() }, context, &self.stands).await?;
        self.forget_what_was_let_go().await;
        Ok(ToolOutcome::done(&goto_named::Answer { group: group.clone(), state: state.clone(), known: None }))
    }

    /// How far to drive straight or sideways, in metres.
    async fn distance(&self, given: Map<String, Value>) -> Result<f64, Failure> {
        let most = self.limits().await?.max_drive_m;
        Bound { argument: "distance_m", limit: "max_drive_m", most, unit: "m" }.check(&given)?;
        let drive_by::Arguments { distance_m } = arguments::parse(given)?;
        Ok(distance_m)
    }

    async fn step(
        &self,
        tool: &'static str,
        motion: Motion,
        context: &CallContext,
    ) -> Result<(MotionDone, words::Place), Failure> {
        let claim = self.drives.claim(tool, context)?;
        let done = claim.run(motion, context, &self.stands).await?;
        Ok((done, words::Place::of(&self.standing().await?)))
    }

    /// Where the base is measured to stand.
    pub(super) async fn measured_base(&self) -> Result<PlanarPose, Failure> {
        let state = self.drives.state().await?;
        base_of(&state)
    }

    /// Where the base stands after a motion.
    async fn standing(&self) -> Result<PlanarPose, Failure> {
        base_of(&self.drives.state_after_now().await?.0)
    }

    async fn arrived(&self, goal: PlanarPose) -> Result<PlanarPose, Failure> {
        let pose = self.standing().await?;
        let off = pose.distance(&goal);
        if off <= ARRIVED_WITHIN_M {
            return Ok(pose);
        }
        let answer = words::Place::of(&pose);
        Err(Failure::no(
            "not_there",
            format!("the base was measured to stand {off:.2} m from the goal"),
            "Call it again, or look what is in the way.",
            &answer,
        ))
    }

    /// The point of a target, in `map`.
    async fn target(&self, target: &TargetArgument) -> Result<DVec3, Failure> {
        match target {
            TargetArgument::Point(point) => self.in_map(point).await,
            TargetArgument::Name(name) => {
                let Some(locate) = &self.ports.locate else {
                    return Err(Failure::no(
                        "no_locate",
                        format!(
                            "this robot cannot look for {:?} itself: no locate server is attached",
                            text::cut(name)
                        ),
                        "Call locate_3d and give its answer as target.",
                        &(),
                    ));
                };
                Ok(locate.thing(name).await.map_err(Failure::from)?.point)
            }
        }
    }

    /// The point in `map`, from where the base stands now.
    pub(super) async fn in_map(&self, point: &PointArgument) -> Result<DVec3, Failure> {
        let given = DVec3::new(point.x, point.y, point.z);
        match numbers::frame(point.frame.as_deref())? {
            Frame::Map => Ok(given),
            Frame::Base => Ok(self.measured_base().await?.to_pose().transform_point(given)),
        }
    }

    /// The transform from a frame into `map`, from where the base stands now.
    pub(super) async fn map_from(&self, frame: Frame) -> Result<Pose, Failure> {
        match frame {
            Frame::Map => Ok(Pose::IDENTITY),
            Frame::Base => Ok(self.measured_base().await?.to_pose()),
        }
    }
}

impl From<LocateError> for Failure {
    fn from(error: LocateError) -> Self {
        let message = error.to_string();
        match error {
            LocateError::NotFound { .. } => {
                Self::no("not_found", message, "Go where it can be seen and look again, or ask the person.", &())
            }
            LocateError::Unreachable { .. } => {
                Self::no("unreachable", message, "Call go_to_stance, or turn and look again.", &())
            }
            LocateError::Unavailable { .. } => {
                cerebellum_wire::ToolError::new("locate_unavailable", message, "Call again in a few seconds.").into()
            }
        }
    }
}

fn base_of(state: &RobotState) -> Result<PlanarPose, Failure> {
    state.base.as_ref().map(|base| base.pose).ok_or_else(|| unmeasured("where the base is"))
}

pub(super) fn check_place(given: &Map<String, Value>) -> Result<(), Failure> {
    numbers::coordinate("x").check(given)?;
    numbers::coordinate("y").check(given)?;
    numbers::heading("yaw_deg").check(given)
}

/// A point that came as JSON text, as some planners send it.
fn unwrap_target(given: &mut Map<String, Value>) {
    let Some(Value::String(text)) = given.get("target") else { return };
    if let Ok(point @ Value::Object(_)) = serde_json::from_str(text) {
        given.insert("target".to_owned(), point);
    }
}

fn check_point(given: &Map<String, Value>, object: &str) -> Result<(), Failure> {
    numbers::check_inside(given, object, &["x", "y", "z"].map(numbers::coordinate))
}

fn stepped(moved: f64, place: words::Place) -> ToolOutcome {
    ToolOutcome::done(&words::Stepped { moved, place, blocked_by: None })
}

fn measured(moved: Option<f64>) -> Result<f64, Failure> {
    moved.ok_or_else(|| unmeasured("how far the base came"))
}

/// What the robot did not measure is never made up.
fn unmeasured(what: &str) -> Failure {
    Failure::no(
        "not_measured",
        format!("the motion ended and the robot did not measure {what}"),
        "Call get_state before going on.",
        &(),
    )
}
