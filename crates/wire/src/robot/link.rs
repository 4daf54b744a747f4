use cerebellum_core::{
    FloorMap, Limits, Motion, MotionDone, MotionFailure, Parts, PlanarPose, Pose, Reach, RobotError, RobotState, Side,
    Stamp, StopReport,
};

use super::words::{object, variants};

/// What is asked of a robot in another process.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Which parts it has.
    Parts,
    /// How it is now.
    State,
    /// The floor.
    Map,
    /// Whether the fingers can be brought somewhere.
    Reach {
        /// Which arm.
        side: Option<Side>,
        /// In `map`.
        tip: Pose,
    },
    /// The goal that a person marked.
    MarkedGoal,
    /// The limits that hold.
    Limits,
    /// Starts a motion. It stops when it is not refreshed under this id.
    Start {
        /// The caller's choice, never used twice.
        id: String,
        /// What to do.
        motion: Motion,
    },
    /// Ends a motion, or keeps one from starting whose start is still on its way.
    Cancel {
        /// The id of the start.
        id: String,
    },
    /// Stops everything and latches.
    Stop {
        /// Who stops it.
        by: String,
    },
    /// Forgets obstacles.
    ClearObstacles,
    /// What the gripper may touch.
    AllowTouch {
        /// Anything, when `None`.
        target: Option<String>,
        /// Or forbid it again.
        allow: bool,
    },
}

/// What a robot answers to a [`Request`].
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// To `parts`.
    Parts {
        /// Its parts.
        parts: Parts,
    },
    /// To `state`.
    State {
        /// How it is.
        state: RobotState,
    },
    /// To `map`.
    Map {
        /// The floor.
        map: FloorMap,
    },
    /// To `reach`.
    Reach {
        /// Whether it can.
        reach: Reach,
    },
    /// To `marked_goal`.
    MarkedGoal {
        /// Where, and when it was marked.
        goal: Option<(PlanarPose, Stamp)>,
    },
    /// To `limits`.
    Limits {
        /// What holds.
        limits: Limits,
    },
    /// To `stop`.
    Stopped {
        /// What came of it.
        report: StopReport,
    },
    /// It is done: to `cancel`, `clear_obstacles` and `allow_touch`; to `start`, that the motion was begun.
    Done,
    /// The robot cannot say or do it.
    Error {
        /// Why.
        error: RobotError,
    },
    /// The motion does not start.
    Failure {
        /// Why.
        failure: MotionFailure,
    },
    /// The request is not one; nothing was done.
    BadRequest {
        /// What is wrong with it.
        reason: String,
    },
}

/// A motion that a caller started and that runs now.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionNow {
    /// The caller's id.
    pub id: String,
    /// From 0 to 1, when known.
    pub fraction: Option<f64>,
    /// How it goes, in a few words.
    pub message: String,
}

/// What a robot tells again and again of the motions that callers started.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Different after each start of the robot's process.
    pub life: String,
    /// The motions that run.
    pub running: Vec<MotionNow>,
    /// The last motions and what they came to, the oldest first.
    pub outcomes: Vec<(String, Result<MotionDone, MotionFailure>)>,
}

/// What a caller tells again and again of its motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Refresh {
    /// The id of the start.
    pub id: String,
    /// Whether the motion is to go on; it ends at once when not.
    pub is_wanted: bool,
}

object!(MotionNow { id, fraction, message });
object!(Told { life, running, outcomes });
object!(Refresh { id, is_wanted });

variants!(Request {
    "parts" => Parts {},
    "state" => State {},
    "map" => Map {},
    "reach" => Reach { side, tip },
    "marked_goal" => MarkedGoal {},
    "limits" => Limits {},
    "start" => Start { id, motion },
    "cancel" => Cancel { id },
    "stop" => Stop { by },
    "clear_obstacles" => ClearObstacles {},
    "allow_touch" => AllowTouch { target, allow },
});
variants!(Reply {
    "parts" => Parts { parts },
    "state" => State { state },
    "map" => Map { map },
    "reach" => Reach { reach },
    "marked_goal" => MarkedGoal { goal },
    "limits" => Limits { limits },
    "stopped" => Stopped { report },
    "done" => Done {},
    "error" => Error { error },
    "failure" => Failure { failure },
    "bad_request" => BadRequest { reason },
});
