use cerebellum_core::{
    BaseState, FloorMap, Grasp, HandState, KeepOut, Limits, Motion, MotionDone, MotionFailure, Parts, PlanarPose, Pose,
    Reach, Region, RobotError, RobotState, RunningMotion, Side, StopReport, StopState,
};
use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};

use crate::fault::Fault;

mod link;
mod words;

pub use link::{MotionNow, Refresh, Reply, Request, Told};
pub use words::Words;

use words::{expected, object, variants};

/// The most cells of a map: 4,000 by 4,000.
const CELLS_MAX: u64 = 16_000_000;

/// A word of the robot as JSON text.
pub fn to_string<T: Words>(word: &T) -> String {
    word.to_value().to_string()
}

/// Reads a word of the robot. Unknown keys are ignored.
pub fn from_str<T: Words>(text: &str) -> Result<T, Fault> {
    let value: Value = serde_json::from_str(text).map_err(|error| Fault::at("", format!("not JSON: {error}")))?;
    T::from_value(&value)
}

object!(PlanarPose { x, y, yaw });
object!(Pose { translation, rotation });
object!(BaseState { pose, velocity, turn_rate, is_moving });
object!(HandState { side, holds, opening_m, posture, tip });
object!(RunningMotion { name, since });
object!(StopState { is_latched, by, since, resumed });
object!(RobotState { stamp, frame, base, hands, stop, running, path, map_version, issue });
object!(Grasp { tip, width_m, stamp });
object!(MotionDone { side, moved, held, point, distance_m, reason });
object!(Reach { side, is_reachable, reason });
object!(Region { name, outline, surface_height });
object!(KeepOut { name, outline });
object!(StopReport { is_stopped, speed_mps });
object!(Limits { max_speed_mps, max_turn_rate, max_acceleration, stop_deceleration, max_drive_m, max_turn, workspace });
object!(Parts { base, holonomic, navigation, map, arms, without, postures, obstacle_memory, description });

variants!(Motion {
    "navigate_to" => Navigate { goal },
    "turn_by" => Turn { radians },
    "drive_by" => Drive { metres },
    "strafe_by" => Strafe { metres },
    "go_to_stance" => Stance { target, side },
    "reach" => Reach { side, point },
    "fine_approach" => FineApproach { side, point },
    "pick" => Pick { side, grasp },
    "place" => Place { side, foot },
    "goto_named" => Posture { group, state },
});
variants!(MotionFailure {
    "unsupported" => Unsupported { what },
    "refused" => Refused { rule, reason },
    "busy" => Busy { running },
    "stopped" => Stopped { by },
    "expired" => Expired {},
    "blocked" => Blocked { by },
    "unreachable" => Unreachable { reason },
    "failed" => Failed { reason },
    "lost" => Lost { reason },
});
variants!(RobotError {
    "unsupported" => Unsupported { what },
    "unavailable" => Unavailable { reason },
});

impl Words for Side {
    fn to_value(&self) -> Value {
        json!(self.as_str())
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let named = Self::BOTH.into_iter().find(|side| value.as_str() == Some(side.as_str()));
        named.ok_or_else(|| expected("left or right"))
    }
}

impl Words for DVec3 {
    fn to_value(&self) -> Value {
        self.to_array().to_value()
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        <[f64; 3]>::from_value(value).map(Self::from_array)
    }
}

impl Words for DQuat {
    fn to_value(&self) -> Value {
        self.to_array().to_value()
    }
    fn from_value(value: &Value) -> Result<Self, Fault> {
        let read = Self::from_array(<[f64; 4]>::from_value(value)?);
        if (read.length() - 1.0).abs() < 1e-3 { Ok(read) } else { Err(expected("a unit quaternion x, y, z, w")) }
    }
}

/// Cells are told as runs: how many, and of what value.
impl Words for FloorMap {
    fn to_value(&self) -> Value {
        let runs: Vec<Value> =
            self.cells.chunk_by(|one, next| one == next).map(|run| json!([run.len(), run[0]])).collect();
        json!({
            "id": self.id,
            "frame": self.frame,
            "resolution_m": self.resolution_m.to_value(),
            "origin": self.origin.to_value(),
            "width": self.width,
            "height": self.height,
            "runs": runs,
            "rooms": self.rooms.to_value(),
            "furniture": self.furniture.to_value(),
            "keep_outs": self.keep_outs.to_value(),
            "version": self.version,
        })
    }

    fn from_value(value: &Value) -> Result<Self, Fault> {
        let fields = words::fields(value)?;
        let (width, height): (u32, u32) = (words::read(fields, "width")?, words::read(fields, "height")?);
        Ok(Self {
            id: words::read(fields, "id")?,
            frame: words::read(fields, "frame")?,
            resolution_m: words::read(fields, "resolution_m")?,
            origin: words::read(fields, "origin")?,
            width,
            height,
            cells: cells(fields, u64::from(width) * u64::from(height)).map_err(|fault| fault.within("runs"))?,
            rooms: words::read(fields, "rooms")?,
            furniture: words::read(fields, "furniture")?,
            keep_outs: words::read(fields, "keep_outs")?,
            version: words::read(fields, "version")?,
        })
    }
}

fn cells(fields: &Map<String, Value>, count: u64) -> Result<Vec<i8>, Fault> {
    if count > CELLS_MAX {
        return Err(expected(&format!("at most {CELLS_MAX} cells, not {count}")));
    }
    let runs = fields.get("runs").and_then(Value::as_array).ok_or_else(|| expected("a list of runs"))?;
    let mut cells = Vec::new();
    for run in runs {
        let (length, value) = <(u64, i64)>::from_value(run)?;
        let value = i8::try_from(value).ok().filter(|value| (-1..=100).contains(value));
        let value = value.ok_or_else(|| expected("values from -1 to 100"))?;
        if length > count - cells.len() as u64 {
            return Err(expected(&format!("{count} cells, and there are more")));
        }
        cells.resize(cells.len() + length as usize, value);
    }
    if cells.len() as u64 == count { Ok(cells) } else { Err(expected(&format!("{count} cells, not {}", cells.len()))) }
}

#[cfg(test)]
mod tests;
