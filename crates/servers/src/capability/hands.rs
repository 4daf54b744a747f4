use cerebellum_core::{Grasp, HandState, Motion, MotionDone, Pose, Region, RobotState, Side, Stamp};
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::motion::{self as words, GraspArgument, PoseArgument, pick, place};
use cerebellum_wire::{ToolOutcome, arguments, text};
use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};

use super::numbers::{self, Bound, Frame};
use super::stands::Stood;
use super::surfaces::{lies_on, spots, surfaces};
use super::{Failure, Server};

/// A grasp older than this is transformed and tried, not trusted.
const GRASP_FRESH_S: f64 = 10.0;
/// A stamp further ahead of the robot's clock than this tells nothing.
const AHEAD_MAX_S: f64 = 1.0;
/// How many spots are tried.
const SPOTS_MAX: usize = 24;
/// Height of the fingertips above the spot when reach is tried.
const TIP_ABOVE_M: f64 = 0.15;

impl Server {
    pub(super) async fn pick(&self, given: Map<String, Value>, context: &CallContext) -> Result<ToolOutcome, Failure> {
        check_grasp(&given)?;
        let pick::Arguments { target, grasp, side } = arguments::parse(given)?;
        let side = numbers::side(&self.parts, side.as_deref())?;
        let label = target.as_deref().map(super::plain).filter(|text| !text.is_empty());
        if grasp.is_none() && label.is_none() {
            return Err(Failure::bad(
                "pick needs a grasp, a target, or both",
                "Call grasp_pose and give its grasp.",
                &(),
            ));
        }
        let claim = self.drives.claim(pick::NAME, context)?;
        let state = self.drives.state().await?;
        if let Some(side) = side {
            self.check_empty(&state, side)?;
        }
        let (measured_side, grasp, mut reasons) = match (&grasp, &label) {
            (Some(grasp), _) => {
                let (grasp, reasons) = self.grasp_in_map(grasp, &state)?;
                (None, grasp, reasons)
            }
            (None, Some(label)) => {
                let (side, grasp) = self.look_for_grasp(label, side).await?;
                (Some(side), grasp, Vec::new())
            }
            (None, None) => unreachable!("one of both was there above"),
        };
        let side = match side.or(measured_side) {
            Some(side) => side,
            None => self.free_side(&state, &grasp.tip).await?,
        };
        self.check_empty(&state, side)?;
        let motion = Motion::Pick { side, grasp };
        let done = match claim.run(motion, context, &self.stands).await {
            Ok(done) => done,
            Err(failure) => {
                // Whether the fingers closed is not known then; what they measure decides.
                self.note_hold(side, label).await;
                return Err(failure);
            }
        };
        let is_held = self.is_held(side, &done, &mut reasons).await;
        reasons.extend(done.reason.clone());
        let reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        let named = side.as_str().to_owned();
        if is_held {
            self.set_label(side, Some(label.clone().unwrap_or_else(|| "object".to_owned())));
            return Ok(ToolOutcome::done(&pick::Answer { held: true, side: named, label, reason }));
        }
        self.set_label(side, None);
        let message = reason.clone().unwrap_or_else(|| "the gripper measures nothing between its fingers".to_owned());
        Err(Failure::no(
            "not_held",
            message,
            "Look again with grasp_pose before the next try; the thing may have moved.",
            &pick::Answer { held: false, side: named, label, reason },
        ))
    }

    pub(super) async fn place(&self, given: Map<String, Value>, context: &CallContext) -> Result<ToolOutcome, Failure> {
        let bounds = ["x", "y", "z"].map(numbers::coordinate);
        numbers::check_inside(&given, "pose", &bounds)?;
        numbers::check_inside(&given, "pose", &[numbers::heading("yaw_deg")])?;
        let place::Arguments { surface, pose, side } = arguments::parse(given)?;
        let side = numbers::side(&self.parts, side.as_deref())?;
        if surface.is_none() && pose.is_none() {
            return Err(Failure::bad(
                "place needs a surface, a pose, or both",
                "Call place_pose and give its pose.",
                &(),
            ));
        }
        let claim = self.drives.claim(place::NAME, context)?;
        let state = self.drives.state().await?;
        let side = self.full_side(&state, side)?;
        let region = match &surface {
            Some(name) => self.surface(name).await?,
            None => None,
        };
        let foot = match (&pose, &surface) {
            (Some(pose), _) => self.foot(pose, region.as_ref()).await?,
            (None, Some(name)) => self.spot(name, region.as_ref(), side, &state).await?,
            (None, None) => unreachable!("one of both was there above"),
        };
        let label = self.label(side);
        let done = match claim.run(Motion::Place { side, foot }, context, &self.stands).await {
            Ok(done) => done,
            Err(failure) => {
                self.note_hold(side, label).await;
                return Err(failure);
            }
        };
        if self.still_holds(side, &done).await {
            return Err(Failure::no(
                "still_held",
                "the gripper still measures something between its fingers",
                "Call goto_named to open the gripper, or ask a person.",
                &json!({"side": side.as_str()}),
            ));
        }
        self.set_label(side, None);
        let at = words::At::of(side, done.point.unwrap_or(foot.translation));
        Ok(ToolOutcome::done(&place::Answer { at, label, known: None }))
    }

    /// Forgets what an arm let go.
    pub(super) async fn forget_what_was_let_go(&self) {
        if let Ok((state, true)) = self.drives.state_after_now().await {
            for hand in &state.hands {
                if hand.holds == Some(false) {
                    self.set_label(hand.side, None);
                }
            }
        }
    }

    /// After a motion that did not end as it should: the label stays only while the gripper measures something.
    async fn note_hold(&self, side: Side, label: Option<String>) {
        match self.measured_hold(side).await {
            Some(true) => self.set_label(side, Some(label.unwrap_or_else(|| "object".to_owned()))),
            Some(false) => self.set_label(side, None),
            None => {}
        }
    }

    /// Whether the gripper measures that it holds something: never true by assumption.
    async fn is_held(&self, side: Side, done: &MotionDone, reasons: &mut Vec<String>) -> bool {
        match (done.held, self.measured_hold(side).await) {
            (Some(true) | None, Some(true)) | (Some(true), None) => true,
            (None, None) => {
                reasons.push("this gripper cannot measure whether it holds something".to_owned());
                false
            }
            (Some(true), Some(false)) => {
                reasons.push("it was held and then lost".to_owned());
                false
            }
            (Some(false), _) | (None, Some(false)) => false,
        }
    }

    async fn still_holds(&self, side: Side, done: &MotionDone) -> bool {
        self.measured_hold(side).await.or(done.held).unwrap_or(false)
    }

    /// What the gripper measures after this moment; `None` when nobody tells.
    async fn measured_hold(&self, side: Side) -> Option<bool> {
        match self.drives.state_after_now().await {
            Ok((state, true)) => hand(&state, side).and_then(|hand| hand.holds),
            Ok((_, false)) | Err(_) => None,
        }
    }

    /// What is between the fingers counts; where that is not measured, what was picked up and not put down.
    fn is_full(&self, state: &RobotState, side: Side) -> bool {
        match hand(state, side).and_then(|hand| hand.holds) {
            Some(holds) => holds,
            None => self.label(side).is_some(),
        }
    }

    fn check_empty(&self, state: &RobotState, side: Side) -> Result<(), Failure> {
        if !self.is_full(state, side) {
            return Ok(());
        }
        let object = self.label(side);
        let what = object.as_deref().unwrap_or("something");
        Err(Failure::no(
            "hand_full",
            format!("the {} hand holds {what} already", side.as_str()),
            "Put it down first with place, or use the other arm.",
            &pick::Answer { held: false, side: side.as_str().to_owned(), label: None, reason: None },
        ))
    }

    async fn free_side(&self, state: &RobotState, tip: &Pose) -> Result<Side, Failure> {
        let free: Vec<Side> = self.parts.arms.iter().copied().filter(|&side| !self.is_full(state, side)).collect();
        match free.as_slice() {
            [] => {
                let first = self.parts.arms.first().copied().unwrap_or(Side::Left);
                self.check_empty(state, first)?;
                Ok(first)
            }
            [only] => Ok(*only),
            [first, ..] => {
                let better = self.drives.within("reach", self.ports.robot.reach(None, tip)).await?.side;
                Ok(if free.contains(&better) { better } else { *first })
            }
        }
    }

    fn full_side(&self, state: &RobotState, named: Option<Side>) -> Result<Side, Failure> {
        // A gripper that cannot measure may hold what another program took.
        let may_hold = |side: Side| match hand(state, side).and_then(|hand| hand.holds) {
            Some(holds) => holds,
            None => named == Some(side) || self.label(side).is_some(),
        };
        let full: Vec<Side> = match named {
            Some(side) => vec![side],
            None => self.parts.arms.clone(),
        };
        let full: Vec<Side> = full.into_iter().filter(|&side| may_hold(side)).collect();
        match full.as_slice() {
            [only] => Ok(*only),
            [] => {
                let message = match named {
                    Some(side) => format!("the {} hand is empty", side.as_str()),
                    None => "no hand holds anything".to_owned(),
                };
                Err(Failure::no("hand_empty", message, "Pick something up first, or name the other side.", &()))
            }
            [..] => Err(Failure::no(
                "which_side",
                "both hands hold something",
                "Name the side to put down.",
                &json!({"known": full.iter().map(|side| side.as_str()).collect::<Vec<_>>()}),
            )),
        }
    }

    async fn look_for_grasp(&self, target: &str, side: Option<Side>) -> Result<(Side, Grasp), Failure> {
        let Some(locate) = &self.ports.locate else {
            return Err(Failure::no(
                "no_grasp",
                format!("the grasp is missing, and this robot cannot look for {:?} itself", text::cut(target)),
                "Call grasp_pose and give its grasp to pick.",
                &(),
            ));
        };
        locate.grasp(target, side).await.map_err(Failure::from)
    }

    /// The grasp in `map`, and what a planner should know when it is not fresh.
    fn grasp_in_map(&self, given: &GraspArgument, state: &RobotState) -> Result<(Grasp, Vec<String>), Failure> {
        let now = self.ports.clock.now();
        let frame = numbers::frame(given.frame.as_deref())?;
        let base = state.base.as_ref();
        if let Some(base) = base.filter(|base| !base.is_moving) {
            self.stands.stands_at(base.pose, now);
        }
        let mut reasons = Vec::new();
        let stamp = given.stamp.filter(|stamp| stamp.is_finite() && *stamp > 0.0).map(Stamp::from_secs_f64);
        let stamp = stamp.filter(|stamp| stamp.secs_since(now) <= AHEAD_MAX_S);
        let age = stamp.map(|stamp| now.secs_since(stamp).max(0.0));
        let stood = stamp.map_or(Stood::Here, |stamp| self.stands.at(stamp));
        if let Some(age) = age.filter(|age| *age > GRASP_FRESH_S) {
            reasons.push(format!("the grasp was {age:.0} s old and was tried as it was measured, once"));
        }
        if stamp.is_none() && frame == Frame::Base {
            reasons.push("the grasp says no time and was taken as measured from where the base stands".to_owned());
        }
        let here = base.map_or(Pose::IDENTITY, |base| base.pose.to_pose());
        let map_from_frame = match (frame, stood) {
            (Frame::Map, Stood::Here) => Pose::IDENTITY,
            (Frame::Map, Stood::There(_) | Stood::Unknown) => {
                reasons.push("the grasp was measured before the base moved and was carried over by the map".to_owned());
                Pose::IDENTITY
            }
            (Frame::Base, Stood::Here) => here,
            (Frame::Base, Stood::There(pose)) => {
                reasons.push("the grasp was measured before the base moved and was transformed".to_owned());
                pose.to_pose()
            }
            (Frame::Base, Stood::Unknown) => {
                return Err(Failure::no(
                    "grasp_stale",
                    "the grasp was measured from the base while it moved, or before anybody knew where it stood",
                    "Call grasp_pose again and give the new grasp.",
                    &(),
                ));
            }
        };
        let grasp =
            Grasp { tip: map_from_frame.then(&given.tip()), width_m: given.width_m, stamp: stamp.unwrap_or(now) };
        Ok((grasp, reasons))
    }

    /// The surface of that name on the map; `None` where the map knows no surfaces.
    async fn surface(&self, name: &str) -> Result<Option<Region>, Failure> {
        if !self.parts.map {
            return Ok(None);
        }
        let map = self.map().await?;
        let wanted = super::folded(name);
        if surfaces(&map).next().is_none() {
            return Ok(None);
        }
        if let Some(region) = surfaces(&map).find(|region| super::folded(&region.name) == wanted) {
            return Ok(Some(region.clone()));
        }
        let known: Vec<&str> = surfaces(&map).map(|region| region.name.as_str()).collect();
        Err(Failure::no(
            "unknown_surface",
            format!("no surface named {:?} is on the map", text::cut(name)),
            "Take a surface from `known`, or give a pose alone.",
            &json!({"known": super::waypoints::shown(&known)}),
        ))
    }

    async fn foot(&self, pose: &PoseArgument, region: Option<&Region>) -> Result<Pose, Failure> {
        let map_from_frame = self.map_from(numbers::frame(pose.frame.as_deref())?).await?;
        let turn = DQuat::from_rotation_z(pose.yaw_deg.unwrap_or_default().to_radians());
        let foot = map_from_frame.then(&Pose::new(DVec3::new(pose.x, pose.y, pose.z), turn));
        if let Some(region) = region
            && !lies_on(region, foot.translation)
        {
            let height = region.surface_height.unwrap_or_default();
            return Err(Failure::no(
                "not_on_surface",
                format!("the pose does not lie on {}, whose surface is {height:.2} m high", region.name),
                "Call place_pose with this surface and give the pose it answers.",
                &json!({"surface": region.name}),
            ));
        }
        Ok(foot)
    }

    /// A spot on a surface: a free one that was looked for, else the nearest one on the map that the arm reaches.
    async fn spot(&self, name: &str, region: Option<&Region>, side: Side, state: &RobotState) -> Result<Pose, Failure> {
        if let Some(locate) = &self.ports.locate {
            return locate.spot(name).await.map_err(Failure::from);
        }
        let (Some(region), Some(base)) = (region, &state.base) else {
            return Err(Failure::no(
                "no_pose",
                "this robot cannot look for a free spot itself",
                "Call place_pose and give its pose.",
                &(),
            ));
        };
        let from = DVec3::new(base.pose.x, base.pose.y, 0.0);
        for spot in spots(region, from).into_iter().take(SPOTS_MAX) {
            let down = words::rotation(0.0, 90.0, 0.0);
            let tip = Pose::new(spot + DVec3::Z * TIP_ABOVE_M, down);
            if self.drives.within("reach", self.ports.robot.reach(Some(side), &tip)).await?.is_reachable {
                return Ok(Pose::new(spot, DQuat::IDENTITY));
            }
        }
        Err(Failure::no(
            "unreachable",
            format!("the {} arm reaches no spot on {} from here", side.as_str(), region.name),
            "Call navigate_to_named or go_to_stance to get nearer, then place again.",
            &(),
        ))
    }
}

fn hand(state: &RobotState, side: Side) -> Option<&HandState> {
    state.hands.iter().find(|hand| hand.side == side)
}

fn check_grasp(given: &Map<String, Value>) -> Result<(), Failure> {
    numbers::check_inside(given, "grasp", &["x", "y", "z"].map(numbers::coordinate))?;
    numbers::check_inside(given, "grasp", &["roll_deg", "pitch_deg", "yaw_deg"].map(numbers::heading))?;
    numbers::check_inside(
        given,
        "grasp",
        &[Bound { argument: "width_m", limit: "max_width_m", most: 1.0, unit: "m" }],
    )?;
    let width = given.get("grasp").and_then(|grasp| grasp.get("width_m")).and_then(Value::as_f64);
    if width.is_some_and(|width| width <= 0.0) {
        return Err(numbers::refused(
            "max_width_m",
            "width_m must be more than 0; max_width_m accepts widths up to 1 m".to_owned(),
            "Give the grasp as grasp_pose answered it.",
        ));
    }
    Ok(())
}
