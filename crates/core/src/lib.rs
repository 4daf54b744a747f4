//! The words of the domain and the ports between crates.
//!
//! This crate does no IO, knows no serialisation and no transport: a port here is a trait that speaks in these words, and
//! every adapter of it lives in another crate. Frames and units follow REP 103 and REP 105: metres, radians, seconds,
//! `x` forward, `y` left, `z` up; camera frames are optical (`x` right, `y` down, `z` forward).
#![warn(missing_docs)]

/// Detections: what was found in a picture, and where.
pub mod detection;
/// The port of an engine that looks at pictures.
pub mod engine;
/// Frames of an RGB-D camera, and the port they come from.
pub mod frame;
/// Who may move the robot.
pub mod lease;
/// Names as people say them, and how they are compared.
pub mod name;
/// Poses and points in named frames.
pub mod pose;
/// Ways of doing things that were taught, and the port to where they are kept.
pub mod process;
/// The robot's body: what it is asked to do, what it says of itself, and the ports to it.
pub mod robot;
/// Limits, keep-out zones and the stop latch.
pub mod safety;
/// Skills: declarative configurations of what is perceived.
pub mod skill;
/// The streams that running skills publish, and the ports to read and to write them.
pub mod streams;
/// The vision node's task list, and the port to it.
pub mod tasks;
/// Stamps, and the two clocks.
pub mod time;
/// What only a simulator knows, for engines that are used in tests.
pub mod truth;

pub use detection::{Detection, DetectionFrame, Found, Mask, PixelBox};
pub use engine::{EngineError, Look, Looker, Prepared, Unjudged, VisionEngine};
pub use frame::{DepthImage, Frame, FrameError, FrameSource, Intrinsics, RgbImage};
pub use lease::{LeaseHeld, LeaseState, MotionLease};
pub use pose::{Point, Pose};
pub use process::{Process, ProcessStore, RankedProcess, StoreError, StoredProcess};
pub use robot::{
    BaseState, Body, COMMAND_EXPIRY, FloorMap, Grasp, HandState, Motion, MotionDone, MotionFailure, MotionProgress,
    Parts, PlanarPose, Reach, Region, Robot, RobotError, RobotState, RunningMotion, Side, StopReport,
};
pub use safety::{KeepOut, Limits, Safety, StopState};
pub use skill::{OutputName, OutputSpec, OutputType, OutputValue, Scalar, Skill, SkillMode, SkillName, Watch};
pub use streams::{
    BusError, CameraBeat, SkillPublisher, SkillStreams, StreamKind, StreamMessage, StreamTopic, Subscription,
    VisionStreams,
};
pub use tasks::{CreatedTask, Spend, TaskAction, TaskError, TaskInfo, VisionTasks};
pub use time::{Clock, Stamp, WallClock};
pub use truth::{GroundTruth, TruthFrame, TruthObject};
