use std::f64::consts::{PI, TAU};
use std::time::Duration;

use cerebellum_core::{BaseState, MotionDone, MotionFailure, MotionProgress, PlanarPose};

use super::cmd_vel::Driving;
use super::{Ros2, Velocity, floor};

/// How often the base is commanded.
const COMMAND_EVERY: Duration = Duration::from_millis(50);
/// How long a base may take to stand still in the end.
const SETTLING: Duration = Duration::from_secs(2);
/// How long a base may make no way.
const STUCK_AFTER: Duration = Duration::from_secs(3);
/// Of the acceleration that is allowed, what is planned with to slow down: the base is a little behind its commands.
const PRUDENCE: f64 = 0.5;

/// Which way the base goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Forward,
    Left,
    Turn,
}

impl Axis {
    /// How near is there: metres or radians.
    const fn tolerance(self) -> f64 {
        match self {
            Self::Forward | Self::Left => 0.01,
            Self::Turn => PI / 180.0,
        }
    }

    /// The slowest that still moves.
    const fn creep(self) -> f64 {
        match self {
            Self::Forward | Self::Left => 0.03,
            Self::Turn => 0.08,
        }
    }

    const fn velocity(self, speed: f64) -> Velocity {
        match self {
            Self::Forward => Velocity { linear: [speed, 0.0], turn_rate: 0.0 },
            Self::Left => Velocity { linear: [0.0, speed], turn_rate: 0.0 },
            Self::Turn => Velocity { linear: [0.0; 2], turn_rate: speed },
        }
    }

    fn end(self, from: &PlanarPose, amount: f64) -> PlanarPose {
        let (sin, cos) = from.yaw.sin_cos();
        match self {
            Self::Forward => PlanarPose::new(from.x + amount * cos, from.y + amount * sin, from.yaw),
            Self::Left => PlanarPose::new(from.x - amount * sin, from.y + amount * cos, from.yaw),
            Self::Turn => *from,
        }
    }
}

/// How far the base came since it was begun.
struct Way {
    axis: Axis,
    start: PlanarPose,
    last_yaw: f64,
    turned: f64,
}

impl Way {
    fn begin(axis: Axis, start: PlanarPose) -> Self {
        Self { axis, start, last_yaw: start.yaw, turned: 0.0 }
    }

    fn moved(&mut self, pose: &PlanarPose) -> f64 {
        let (dx, dy) = (pose.x - self.start.x, pose.y - self.start.y);
        let (sin, cos) = self.start.yaw.sin_cos();
        // Turns are summed up, so that more than half a turn counts.
        self.turned += (pose.yaw - self.last_yaw + PI).rem_euclid(TAU) - PI;
        self.last_yaw = pose.yaw;
        match self.axis {
            Axis::Forward => dx * cos + dy * sin,
            Axis::Left => dy * cos - dx * sin,
            Axis::Turn => self.turned,
        }
    }
}

impl Ros2 {
    /// Moves the base along one axis, by what odometry measures.
    pub(super) async fn steer(
        &self,
        axis: Axis,
        amount: f64,
        progress: &dyn MotionProgress,
    ) -> Result<MotionDone, MotionFailure> {
        let (speed_max, acceleration) = self.check(axis, amount)?;
        let start = self.measured()?;
        if self.cmd_vel.taken().is_none() {
            let reason = format!(
                "nobody takes velocities on {} (geometry_msgs/Twist or TwistStamped); start the base's driver, or \
                 name its topic in the setting robot.cmd_vel",
                self.config.cmd_vel
            );
            return Err(MotionFailure::Lost { reason });
        }
        let commands = self.cmd_vel.ready().await.map_err(|reason| MotionFailure::Lost { reason })?;
        let driving = Driving(commands);
        let mut way = Way::begin(axis, start.pose);
        let (mut speed, mut farthest, mut farthest_at) = (0.0_f64, 0.0_f64, self.clock.monotonic());
        let stuck = loop {
            let moved = way.moved(&self.measured()?.pose) * amount.signum();
            let left = amount.abs() - moved;
            if left <= axis.tolerance() {
                break false;
            }
            let now = self.clock.monotonic();
            if moved > farthest + axis.tolerance() {
                (farthest, farthest_at) = (moved, now);
            } else if now.saturating_sub(farthest_at) >= STUCK_AFTER {
                break true;
            }
            let ramp = speed + acceleration * COMMAND_EVERY.as_secs_f64();
            let braking = (2.0 * PRUDENCE * acceleration * left).sqrt();
            speed = speed_max.min(ramp).min(braking).max(axis.creep().min(speed_max));
            driving.0.put(axis.velocity(speed * amount.signum()));
            progress.report(Some((moved / amount.abs()).clamp(0.0, 1.0)), "moving");
            self.clock.sleep(COMMAND_EVERY).await;
        };
        drop(driving);
        let is_standing = self.settle(SETTLING).await;
        let moved = way.moved(&self.measured()?.pose);
        if stuck {
            let by = "something that odometry cannot tell: the base makes no way".into();
            return Err(MotionFailure::Blocked { by });
        }
        if !is_standing {
            let reason = "the base was told to stop and is not measured standing still; look at its driver".into();
            return Err(MotionFailure::Failed { reason });
        }
        Ok(MotionDone { moved: Some(moved), ..MotionDone::default() })
    }

    fn measured(&self) -> Result<BaseState, MotionFailure> {
        let measured = self.senses.fresh(self.clock.monotonic());
        measured.ok_or_else(|| MotionFailure::Lost { reason: self.senses.silence() })
    }

    /// The speed and the acceleration that are allowed along the axis.
    fn check(&self, axis: Axis, amount: f64) -> Result<(f64, f64), MotionFailure> {
        let at = self.senses.base(self.clock.monotonic()).ok();
        let rules = self.rules();
        let (limits, keep_outs) = (&rules.0, &rules.1);
        let (rule, most) = match axis {
            Axis::Forward | Axis::Left => ("max_drive_m", limits.max_drive_m),
            Axis::Turn => ("max_turn", limits.max_turn),
        };
        let refused = |rule: &str, reason: String| Err(MotionFailure::Refused { rule: rule.into(), reason });
        if !amount.is_finite() {
            return refused("finite", format!("{amount} is not finite"));
        }
        if amount.abs() > most {
            return refused(rule, format!("{:.2} is more than {rule} = {most:.2} allows in one call", amount.abs()));
        }
        if let Some((_, frame, base)) = at
            && frame == self.config.frames[0]
        {
            floor::allows(limits, keep_outs, &base.pose, &axis.end(&base.pose, amount))?;
        }
        Ok(match axis {
            Axis::Forward | Axis::Left => (limits.max_speed_mps, limits.max_acceleration),
            // A turn on the spot: as an arm's length would be accelerated.
            Axis::Turn => (limits.max_turn_rate, limits.max_acceleration / 0.5),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_measured_along_the_axis_and_turns_are_summed_up() {
        let start = PlanarPose::new(1.0, 2.0, PI / 2.0);
        let there = PlanarPose::new(0.5, 4.0, PI / 2.0);
        assert!((Way::begin(Axis::Forward, start).moved(&there) - 2.0).abs() < 1e-12);
        assert!((Way::begin(Axis::Left, start).moved(&there) - 0.5).abs() < 1e-12);
        let mut turn = Way::begin(Axis::Turn, start);
        let turned = (1..=30).map(|step| turn.moved(&PlanarPose::new(0.0, 0.0, PI / 2.0 + f64::from(step) * 0.2)));
        assert!((turned.last().unwrap() - 6.0).abs() < 1e-9, "the yaw of odometry wraps");
        for (axis, x, y) in [(Axis::Forward, 1.0, 3.0), (Axis::Left, 0.0, 2.0), (Axis::Turn, 1.0, 2.0)] {
            let end = axis.end(&start, 1.0);
            assert!((end.x - x).abs() < 1e-12 && (end.y - y).abs() < 1e-12, "{end:?}");
        }
    }
}
