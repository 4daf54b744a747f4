use async_trait::async_trait;

use crate::robot::RobotError;
use crate::time::Stamp;

/// What no motion may exceed. All positive; distances in metres, angles in radians.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Speed of the base, metres a second.
    pub max_speed_mps: f64,
    /// Turning speed of the base, radians a second.
    pub max_turn_rate: f64,
    /// Acceleration of the base, metres a second squared.
    pub max_acceleration: f64,
    /// Deceleration of a stop, metres a second squared; at least 1.5.
    pub stop_deceleration: f64,
    /// Longest `drive_by` and `strafe_by` of one call.
    pub max_drive_m: f64,
    /// Largest `turn_by` of one call.
    pub max_turn: f64,
    /// Where the base may be: lower and upper corner in `map`. `None` allows the whole map.
    pub workspace: Option<[[f64; 2]; 2]>,
}

impl Limits {
    /// The least deceleration of a stop, metres a second squared.
    pub const MIN_STOP_DECELERATION: f64 = 1.5;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_speed_mps: 0.5,
            max_turn_rate: 60_f64.to_radians(),
            max_acceleration: 0.8,
            stop_deceleration: 2.0,
            max_drive_m: 2.0,
            max_turn: std::f64::consts::PI,
            workspace: None,
        }
    }
}

/// An area that the base must not enter.
#[derive(Clone, Debug, PartialEq)]
pub struct KeepOut {
    /// What people call it; it stands in every refusal.
    pub name: String,
    /// Corners in `map`, metres, in order round it.
    pub outline: Vec<[f64; 2]>,
}

/// Whether the robot is stopped until a person resumes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StopState {
    /// No motion starts while this is true.
    pub is_latched: bool,
    /// Who stopped it.
    pub by: Option<String>,
    /// When, on the robot's clock.
    pub since: Option<Stamp>,
    /// Who resumed it last, and when.
    pub resumed: Option<(String, Stamp)>,
}

/// What only a person may change, at the control port. No tool of an agent reaches this.
#[async_trait]
pub trait Safety: Send + Sync {
    /// Ends a stop. `by` is kept as who did it.
    async fn resume(&self, by: &str) -> Result<StopState, RobotError>;
    /// Sets limits; a limit that is not a positive finite number, or a stop deceleration below
    /// [`Limits::MIN_STOP_DECELERATION`], is refused.
    async fn set_limits(&self, limits: Limits) -> Result<(), RobotError>;
    /// Replaces the keep-out zones.
    async fn set_keep_outs(&self, keep_outs: Vec<KeepOut>) -> Result<(), RobotError>;
}
