use std::time::Duration;

use async_trait::async_trait;
use glam::DVec3;

use crate::pose::Pose;
use crate::safety::{KeepOut, Limits, StopState};
use crate::time::Stamp;

/// One of the robot's arms, as the robot itself would say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The arm at positive `y` of the base.
    Left,
    /// The arm at negative `y` of the base.
    Right,
}

impl Side {
    /// Both arms.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// The word of tools and configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

/// A place on the floor: metres in `map` and radians about `z`, counter-clockwise from `x`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlanarPose {
    /// Metres along `x` of the map.
    pub x: f64,
    /// Metres along `y` of the map.
    pub y: f64,
    /// Radians about `z`.
    pub yaw: f64,
}

impl PlanarPose {
    /// From metres and radians.
    pub const fn new(x: f64, y: f64, yaw: f64) -> Self {
        Self { x, y, yaw }
    }

    /// As a transform from the base to the map.
    pub fn to_pose(self) -> Pose {
        Pose::planar(self.x, self.y, self.yaw)
    }

    /// The floor part of a transform from the base to the map.
    pub fn of(pose: &Pose) -> Self {
        Self { x: pose.translation.x, y: pose.translation.y, yaw: pose.yaw() }
    }

    /// Metres between the two places.
    pub fn distance(&self, other: &Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }
}

/// Where the base is and how fast it moves, as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaseState {
    /// In the frame that [`RobotState::frame`] names.
    pub pose: PlanarPose,
    /// Metres a second along `x` and `y` of the base.
    pub velocity: [f64; 2],
    /// Radians a second about `z`.
    pub turn_rate: f64,
    /// Whether anything of it moves: more than 5 mm/s or 0.5 degrees/s.
    pub is_moving: bool,
}

/// An arm and its gripper, as measured.
#[derive(Clone, Debug, PartialEq)]
pub struct HandState {
    /// Which arm.
    pub side: Side,
    /// Whether the gripper measures something between its fingers; `None` when it cannot measure that.
    pub holds: Option<bool>,
    /// Metres between the fingers, if measured.
    pub opening_m: Option<f64>,
    /// The named posture it is in, if it is in one.
    pub posture: Option<String>,
    /// Where the fingertips are: `map` from the tip frame of [`Grasp::tip`].
    pub tip: Option<Pose>,
}

/// A motion that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningMotion {
    /// What it is, in the words of [`Motion::name`].
    pub name: String,
    /// Since when, on the robot's clock.
    pub since: Stamp,
}

/// What the robot says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct RobotState {
    /// When it was measured.
    pub stamp: Stamp,
    /// The frame of the base's pose: `map` when localised, else `odom`.
    pub frame: String,
    /// The base, if the robot has one that moves.
    pub base: Option<BaseState>,
    /// The arms it has.
    pub hands: Vec<HandState>,
    /// Whether it is stopped until a person resumes it.
    pub stop: StopState,
    /// What runs.
    pub running: Option<RunningMotion>,
    /// The rest of the path that the base follows, in `map`; empty when it follows none.
    pub path: Vec<[f64; 2]>,
    /// Grows when the map, its rooms or its keep-out zones change.
    pub map_version: u64,
    /// What is wrong with the robot itself (a joint overloaded, a sensor lost), for a person; `None` when all is well.
    pub issue: Option<String>,
}

/// Where the fingers go to take a thing.
///
/// The tip frame lies between the fingertips: `x` points the way the fingers point (the approach), `y` the way they
/// close, `z` completes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grasp {
    /// `map` from the tip frame when the fingers close.
    pub tip: Pose,
    /// Width of the thing along the closing direction, in metres.
    pub width_m: f64,
    /// Stamp of the picture it was measured in.
    pub stamp: Stamp,
}

/// Something the robot can be asked to do with its body. Each is atomic and verifies itself: it ends when it is done and
/// measured, or with the reason why it is not.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Drives the base there, round what is in the way.
    Navigate {
        /// In `map`.
        goal: PlanarPose,
    },
    /// Turns on the spot; positive is to the left.
    Turn {
        /// How far.
        radians: f64,
    },
    /// Drives straight; positive is forward.
    Drive {
        /// How far.
        metres: f64,
    },
    /// Moves sideways; positive is to the left. Only for bases that can.
    Strafe {
        /// How far.
        metres: f64,
    },
    /// Drives the base to where an arm can work at the point.
    Stance {
        /// In `map`.
        target: DVec3,
        /// Which arm shall reach it; the better one when `None`.
        side: Option<Side>,
    },
    /// Brings the fingertips to a point.
    Reach {
        /// Which arm; the better one when `None`.
        side: Option<Side>,
        /// In `map`.
        point: DVec3,
    },
    /// Moves the open fingers close before the point, slowly, and stops at contact.
    FineApproach {
        /// Which arm; the better one when `None`.
        side: Option<Side>,
        /// In `map`.
        point: DVec3,
    },
    /// One approach, one closing of the fingers, one lift, and the gripper's own measurement.
    Pick {
        /// Which arm.
        side: Side,
        /// Where the fingers close.
        grasp: Grasp,
    },
    /// Sets down what the arm holds, opens and withdraws.
    Place {
        /// Which arm.
        side: Side,
        /// Where the foot of the thing comes to stand, in `map`, and how it is turned about `z`.
        foot: Pose,
    },
    /// Moves an arm or a gripper to a named posture.
    Posture {
        /// Such as `left_arm` or `right_gripper`.
        group: String,
        /// Such as `open`, `closed`, `stowed`, `carry`.
        state: String,
    },
}

impl Motion {
    /// The name of the tool that asks for it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Navigate { .. } => "navigate_to",
            Self::Turn { .. } => "turn_by",
            Self::Drive { .. } => "drive_by",
            Self::Strafe { .. } => "strafe_by",
            Self::Stance { .. } => "go_to_stance",
            Self::Reach { .. } => "reach",
            Self::FineApproach { .. } => "fine_approach",
            Self::Pick { .. } => "pick",
            Self::Place { .. } => "place",
            Self::Posture { .. } => "goto_named",
        }
    }
}

/// What a motion came to. Only what was measured is filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionDone {
    /// Which arm did it.
    pub side: Option<Side>,
    /// How far the base came: metres, or radians for a turn; signed as asked.
    pub moved: Option<f64>,
    /// Whether the gripper holds something now.
    pub held: Option<bool>,
    /// Where the fingertips are, or where the thing was set down, in `map`.
    pub point: Option<DVec3>,
    /// Metres from the fingertips to the target.
    pub distance_m: Option<f64>,
    /// What a planner should know of how it went, such as why nothing is held.
    pub reason: Option<String>,
}

/// Why a motion is not done. Whatever it is, the robot no longer moves for it when this is answered, except for
/// [`MotionFailure::Lost`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MotionFailure {
    /// This robot has no part that could do it.
    #[error("this robot cannot {what}")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// A limit or a rule forbids it; nothing moved.
    #[error("{reason}")]
    Refused {
        /// The name of the limit or rule, such as `max_drive_m` or `keep_out`.
        rule: String,
        /// What is wrong and what would be accepted.
        reason: String,
    },
    /// Another motion runs; nothing moved.
    #[error("{} runs already", .running.name)]
    Busy {
        /// What runs.
        running: RunningMotion,
    },
    /// The robot is stopped until a person resumes it.
    #[error("the robot is stopped until a person resumes it{}", .by.as_ref().map(|by| format!(" (stopped by {by})")).unwrap_or_default())]
    Stopped {
        /// Who stopped it.
        by: Option<String>,
    },
    /// Nobody refreshed the motion any more, so the robot stopped by itself.
    #[error("the motion was not refreshed in time and the robot stopped by itself")]
    Expired,
    /// Something is in the way.
    #[error("blocked by {by}")]
    Blocked {
        /// What is in the way, as the robot tells it: `a person`, `an obstacle`, `kitchen table`.
        by: String,
    },
    /// It cannot be reached from here, or at all.
    #[error("{reason}")]
    Unreachable {
        /// Why, and what may help.
        reason: String,
    },
    /// It was tried and did not come out.
    #[error("{reason}")]
    Failed {
        /// What happened, for a planner.
        reason: String,
    },
    /// The link to the robot broke. Whether it moves is not known; it stops by itself within [`COMMAND_EXPIRY`].
    #[error("the robot does not answer: {reason}")]
    Lost {
        /// What broke, and which setting or process to look at.
        reason: String,
    },
}

/// Why the robot did not tell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RobotError {
    /// It has no such part or cannot tell.
    #[error("this robot has no {what}")]
    Unsupported {
        /// What was asked for.
        what: String,
    },
    /// It does not answer.
    #[error("the robot does not answer: {reason}")]
    Unavailable {
        /// What is wrong and what to look at.
        reason: String,
    },
}

/// Whether an arm can bring its fingers somewhere from where the base stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// The arm that was asked for, else the better one.
    pub side: Side,
    /// Whether it can.
    pub is_reachable: bool,
    /// Why not, and what may help; `None` when it can.
    pub reason: Option<String>,
}

/// Which parts the robot has: a tool exists only if its part does.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a part that a robot has or has not, on its own")]
pub struct Parts {
    /// A base that drives.
    pub base: bool,
    /// A base that also moves sideways.
    pub holonomic: bool,
    /// Whether it can find its way round obstacles by itself.
    pub navigation: bool,
    /// Whether it has a map that [`Body::map`] answers.
    pub map: bool,
    /// The arms with grippers.
    pub arms: Vec<Side>,
    /// Motions by the names of [`Motion::name`] that it cannot do although it has the part.
    pub without: Vec<String>,
    /// Group and states that [`Motion::Posture`] takes.
    pub postures: Vec<(String, Vec<String>)>,
    /// Whether it keeps a picture of obstacles that [`Robot::clear_obstacles`] clears.
    pub obstacle_memory: bool,
    /// What this robot is, in a sentence or two for a planner.
    pub description: String,
}

/// A named area of the map: a room, or a piece of furniture.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// What people call it.
    pub name: String,
    /// Corners in `map`, counter-clockwise, metres.
    pub outline: Vec<[f64; 2]>,
    /// Height of the surface that things can stand on, in metres; `None` when nothing stands on it.
    pub surface_height: Option<f64>,
}

/// The floor as the robot knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct FloorMap {
    /// Which map this is: a place saved on another one is never driven to.
    pub id: String,
    /// The frame of everything in it.
    pub frame: String,
    /// Metres a cell.
    pub resolution_m: f64,
    /// Where the lower left corner of cell 0 lies.
    pub origin: PlanarPose,
    /// Cells along `x` of the origin.
    pub width: u32,
    /// Cells along `y` of the origin.
    pub height: u32,
    /// Row by row from the origin, as `nav_msgs/OccupancyGrid`: 0 free to 100 occupied, -1 unknown.
    pub cells: Vec<i8>,
    /// Rooms, if known.
    pub rooms: Vec<Region>,
    /// Furniture, if known.
    pub furniture: Vec<Region>,
    /// Where the base must not go.
    pub keep_outs: Vec<KeepOut>,
    /// Grows with every change.
    pub version: u64,
}

/// What came of a stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopReport {
    /// Whether the robot was measured to stand still, base and arms. Never true by assumption.
    pub is_stopped: bool,
    /// The last measured speed of the base, metres a second.
    pub speed_mps: f64,
}

/// How long a velocity or arm command stays valid without a refresh. The robot stops by itself after that.
pub const COMMAND_EXPIRY: Duration = Duration::from_millis(300);

/// Hears how far a motion is. Never waits.
pub trait MotionProgress: Send + Sync {
    /// `fraction` from 0 to 1 when known, and a few words.
    fn report(&self, fraction: Option<f64>, message: &str);
}

impl<F: Fn(Option<f64>, &str) + Send + Sync> MotionProgress for F {
    fn report(&self, fraction: Option<f64>, message: &str) {
        self(fraction, message);
    }
}

/// What can be asked of the robot's body without moving it.
#[async_trait]
pub trait Body: Send + Sync {
    /// Which parts it has. The same for the whole life of the adapter.
    fn parts(&self) -> Parts;
    /// The newest state. The stamp tells its age; an adapter that has heard nothing yet answers `Unavailable`.
    async fn state(&self) -> Result<RobotState, RobotError>;
    /// The map, rooms, furniture and keep-out zones.
    async fn map(&self) -> Result<FloorMap, RobotError>;
    /// Whether the fingers can be brought to that tip pose in `map` from where the base stands now, by one arm (or the
    /// better one).
    async fn reach(&self, side: Option<Side>, tip: &Pose) -> Result<Reach, RobotError>;
    /// The newest goal that a person marked on a map (such as `/goal_pose`), and when.
    async fn marked_goal(&self) -> Result<Option<(PlanarPose, Stamp)>, RobotError>;
    /// The limits that hold.
    async fn limits(&self) -> Result<Limits, RobotError>;
}

/// The robot. One motion at a time; a second one is refused and names the first.
#[async_trait]
pub trait Robot: Body {
    /// Does one motion and returns when it is done and measured, or why it is not. Dropping the future cancels it: the
    /// commanded speed is zero at once, and the robot brakes at no less than [`Limits::stop_deceleration`]. The adapter
    /// refreshes the motion while the future lives, so that a process that dies or freezes stops the robot within
    /// [`COMMAND_EXPIRY`].
    async fn run(&self, motion: Motion, progress: &dyn MotionProgress) -> Result<MotionDone, MotionFailure>;
    /// Stops everything and latches: no motion starts until a person resumes at the control port. Returns when the
    /// robot is measured to stand still, or after two seconds of its clock.
    async fn stop(&self, by: &str) -> Result<StopReport, RobotError>;
    /// Forgets the obstacles that were seen and are not in the map.
    async fn clear_obstacles(&self) -> Result<(), RobotError>;
    /// Allows the gripper to touch a thing (or anything, when `None`) while it moves, or forbids it again.
    async fn allow_touch(&self, target: Option<&str>, allow: bool) -> Result<(), RobotError>;
}
