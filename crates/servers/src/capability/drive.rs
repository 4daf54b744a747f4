use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cerebellum_core::{Motion, MotionDone, MotionFailure, RobotError, RobotState, RunningMotion, Stamp, StopReport};
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::motion as words;
use cerebellum_wire::{ToolError, ToolOutcome};
use serde_json::{Map, Value, json};

use super::stands::Stands;
use super::{Failure, Ports};

/// The key in a call's `_meta` under which a mission, a jog or a bind names itself. It keeps the lease between its calls.
pub(super) const HOLDER: &str = "cerebellum/holder";
/// How long a lease lasts after its last renewal.
pub(super) const KEEP: Duration = Duration::from_secs(15);
/// How often the caller hears of a motion, at least, and the lease is renewed.
const TELL_EVERY: Duration = Duration::from_secs(2);
/// Reports of the robot that come faster than this are not passed on.
const TELL_AT_MOST: Duration = Duration::from_millis(200);
/// The longest a motion may take.
const MOTION_MAX: Duration = Duration::from_secs(1_800);
/// How long the robot may take to answer a question.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// How long a stop may take to be measured: the robot's own two seconds, and its link.
const STOP_MAX: Duration = Duration::from_secs(5);
/// How long a cancelled call waits until the robot is measured to stand still. Below the second that the protocol's side
/// gives it.
const STILL_MAX: Duration = Duration::from_millis(800);
/// How long a state newer than a motion's end is waited for.
const FRESH_MAX: Duration = Duration::from_millis(500);
/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The one motion that may run, and what surrounds it.
pub(super) struct Drives {
    ports: Ports,
    slot: Arc<Mutex<Option<Busy>>>,
}

#[derive(Clone, Debug)]
struct Busy {
    tool: &'static str,
    since: Stamp,
    holder: String,
}

/// The right to run one motion. Dropping it gives the right back, and the lease unless its holder keeps it.
pub(super) struct Claim<'a> {
    drives: &'a Drives,
    tool: &'static str,
    holder: String,
    is_named: bool,
}

enum Ending {
    Answered(Result<MotionDone, MotionFailure>),
    Cancelled,
    Overdue,
}

impl Drives {
    pub(super) fn new(ports: Ports) -> Self {
        Self { ports, slot: Arc::default() }
    }

    /// Takes the right to move the robot, or says who has it.
    pub(super) fn claim(&self, tool: &'static str, context: &CallContext) -> Result<Claim<'_>, Failure> {
        let named = context.caller.text(HOLDER).map(super::plain).filter(|name| !name.is_empty());
        let is_named = named.is_some();
        let holder = named.unwrap_or_else(|| match super::plain(&context.caller.name) {
            name if name.is_empty() => "a caller without a name".to_owned(),
            name => name,
        });
        let mut slot = self.slot();
        if let Some(busy) = slot.as_ref() {
            return Err(occupied(busy.tool, busy.since, Some(&busy.holder)));
        }
        if let Err(held) = self.ports.lease.take(&holder, Some(tool), KEEP) {
            let held = held.held;
            let data = json!({
                "held_by": held.holder,
                "since": held.since.as_secs_micros(),
                "running": held.running.as_ref().map(|tool| json!({"tool": tool})),
            });
            let message = match &held.running {
                Some(running) => format!("the robot is held by {}, which runs {running}", held.holder),
                None => format!("the robot is held by {}", held.holder),
            };
            return Err(Failure::no("busy", message, "Wait until it is free; stop works at any time.", &data));
        }
        *slot = Some(Busy { tool, since: self.ports.clock.now(), holder: holder.clone() });
        Ok(Claim { drives: self, tool, holder, is_named })
    }

    /// Asks the robot, and waits only so long for it.
    pub(super) async fn within<T>(
        &self,
        what: &str,
        asking: impl Future<Output = Result<T, RobotError>>,
    ) -> Result<T, RobotError> {
        tokio::select! {
            biased;
            answer = asking => answer,
            () = self.ports.wall.sleep(ANSWER_MAX) => Err(RobotError::Unavailable {
                reason: format!("no {what} within {} s", ANSWER_MAX.as_secs()),
            }),
        }
    }

    /// Stops the robot and waits until that is measured.
    pub(super) async fn stop(&self, by: &str) -> Result<StopReport, RobotError> {
        tokio::select! {
            biased;
            report = self.ports.robot.stop(by) => report,
            () = self.ports.wall.sleep(STOP_MAX) => Err(RobotError::Unavailable {
                reason: format!("no answer to stop within {} s", STOP_MAX.as_secs()),
            }),
        }
    }

    /// What the robot measures now.
    pub(super) async fn state(&self) -> Result<RobotState, RobotError> {
        self.within("state", self.ports.robot.state()).await
    }

    /// What the robot measures after this moment: a state on its way may be older than what was just done. The newest
    /// there is, and whether it is that new.
    pub(super) async fn state_after_now(&self) -> Result<(RobotState, bool), RobotError> {
        let now = self.ports.clock.now();
        match self.seen(|state| state.stamp >= now, FRESH_MAX).await {
            (Some(state), is_new) => Ok((state, is_new)),
            (None, _) => self.state().await.map(|state| (state, false)),
        }
    }

    /// A state measured after `after` in which nothing moves; the newest there is when that does not come in time.
    async fn still(&self, after: Stamp) -> (Option<RobotState>, bool) {
        let stands = |state: &RobotState| {
            let is_still = state.base.as_ref().is_none_or(|base| !base.is_moving) && state.running.is_none();
            is_still && state.stamp >= after
        };
        self.seen(stands, STILL_MAX).await
    }

    /// The first state that is wanted, else the newest of that time, and whether it was wanted.
    async fn seen(&self, wanted: impl Fn(&RobotState) -> bool, within: Duration) -> (Option<RobotState>, bool) {
        let mut newest = None;
        let looking = async {
            loop {
                if let Ok(state) = self.ports.robot.state().await {
                    let is_wanted = wanted(&state);
                    newest = Some(state);
                    if is_wanted {
                        return;
                    }
                }
                self.ports.wall.sleep(LOOK_EVERY).await;
            }
        };
        let is_wanted = tokio::select! {
            biased;
            () = looking => true,
            () = self.ports.wall.sleep(within) => false,
        };
        (newest, is_wanted)
    }

    fn slot(&self) -> MutexGuard<'_, Option<Busy>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        *self.drives.slot() = None;
        let lease = &self.drives.ports.lease;
        if self.is_named {
            // A lease that another took meanwhile is theirs.
            drop(lease.take(&self.holder, None, KEEP));
        } else {
            lease.release(&self.holder);
        }
    }
}

impl Claim<'_> {
    /// Runs the motion: the caller hears of it at once and every two seconds; when the caller cancels or goes away, the
    /// motion is dropped at once and the answer waits until the robot stands still.
    pub(super) async fn run(
        &self,
        motion: Motion,
        context: &CallContext,
        stands: &Stands,
    ) -> Result<MotionDone, Failure> {
        let Ports { robot, clock, wall, .. } = &self.drives.ports;
        if context.cancelled.is_cancelled() {
            return Err(self.cancelled(clock.now(), stands).await);
        }
        let moves_base = matches!(
            motion,
            Motion::Navigate { .. }
                | Motion::Turn { .. }
                | Motion::Drive { .. }
                | Motion::Strafe { .. }
                | Motion::Stance { .. }
        );
        if moves_base {
            if let Ok(state) = self.drives.state().await {
                self.note_stand(&state, stands);
            }
            stands.leaves(clock.now());
        }
        let started = wall.monotonic();
        let last = Mutex::new((Duration::ZERO, String::new()));
        let tell = |message: &str| {
            let elapsed = wall.monotonic().saturating_sub(started).as_secs_f64();
            context.progress.report(elapsed, None, message);
        };
        tell(&format!("{} begins", self.tool));
        let report = |fraction: Option<f64>, message: &str| {
            let now = wall.monotonic().saturating_sub(started);
            let message = match fraction {
                Some(fraction) => format!("{} {:.0} %: {message}", self.tool, fraction.clamp(0.0, 1.0) * 100.0),
                None => format!("{}: {message}", self.tool),
            };
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if now.saturating_sub(last.0) >= TELL_AT_MOST {
                last.0 = now;
                tell(&message);
            }
            last.1 = message;
        };
        let ticking = async {
            loop {
                wall.sleep(TELL_EVERY).await;
                // The holder keeps what it has as long as its motion runs.
                drop(self.drives.ports.lease.take(&self.holder, Some(self.tool), KEEP));
                let message = last.lock().unwrap_or_else(PoisonError::into_inner).1.clone();
                tell(if message.is_empty() { self.tool } else { &message });
            }
        };
        let ending = tokio::select! {
            biased;
            () = context.cancelled.cancelled() => Ending::Cancelled,
            answer = robot.run(motion, &report) => Ending::Answered(answer),
            () = ticking => Ending::Overdue,
            () = wall.sleep(MOTION_MAX) => Ending::Overdue,
        };
        let ended = clock.now();
        let outcome = match ending {
            Ending::Answered(Ok(done)) => Ok(done),
            Ending::Answered(Err(failure)) => Err(self.failed(&failure).await),
            Ending::Cancelled => return Err(self.cancelled(ended, stands).await),
            Ending::Overdue => {
                let message = format!("{} took longer than {} minutes", self.tool, MOTION_MAX.as_secs() / 60);
                let error = ToolError::new("timed_out", message, "Look what holds the robot up, then call again.");
                Err(Failure(ToolOutcome::failed(&error, &self.place().await)))
            }
        };
        if moves_base && let Ok((state, true)) = self.drives.state_after_now().await {
            self.note_stand(&state, stands);
        }
        outcome
    }

    fn note_stand(&self, state: &RobotState, stands: &Stands) {
        if let Some(base) = state.base.as_ref().filter(|base| !base.is_moving) {
            stands.stands_at(base.pose, self.drives.ports.clock.now());
        }
    }

    async fn cancelled(&self, since: Stamp, stands: &Stands) -> Failure {
        let (state, is_still) = self.drives.still(since).await;
        if let Some(state) = state.as_ref().filter(|_| is_still) {
            self.note_stand(state, stands);
        }
        let mut data = state.as_ref().map(place_of).unwrap_or_default();
        data.insert("stood_still".to_owned(), Value::Bool(is_still));
        let message = if is_still {
            format!("{} was cancelled; the robot stands still", self.tool)
        } else {
            format!("{} was cancelled; the robot was told to stop and is not yet measured to stand still", self.tool)
        };
        Failure::no("cancelled", message, "Call get_state to see what was done before going on.", &data)
    }

    /// Where the base is, for an answer that says no; nothing when the robot does not tell.
    async fn place(&self) -> Map<String, Value> {
        self.drives.state().await.as_ref().map(place_of).unwrap_or_default()
    }

    async fn failed(&self, failure: &MotionFailure) -> Failure {
        let message = failure.to_string();
        let mut data = Map::new();
        let (code, next) = match failure {
            MotionFailure::Unsupported { .. } => ("unsupported", "Do it another way; this robot has no such part."),
            MotionFailure::Refused { rule, .. } => {
                data.insert("limit".to_owned(), Value::String(rule.clone()));
                ("refused", "Change what the reason names; nothing moved.")
            }
            MotionFailure::Busy { running: RunningMotion { name, since } } => {
                let holder = self.drives.ports.lease.holder().map(|lease| lease.holder);
                return occupied(name, *since, holder.filter(|holder| *holder != self.holder).as_deref());
            }
            MotionFailure::Stopped { by } => {
                data.insert("by".to_owned(), json!(by));
                ("stopped", "A person must resume the robot at its control port; no tool can.")
            }
            MotionFailure::Blocked { by } => {
                data.insert("blocked_by".to_owned(), Value::String(by.clone()));
                ("blocked", "Wait and try again, or take another way.")
            }
            MotionFailure::Unreachable { .. } => ("unreachable", "Call go_to_stance, or choose another goal."),
            MotionFailure::Failed { .. } => ("not_done", "Look again, then try once more or another way."),
            MotionFailure::Expired | MotionFailure::Lost { .. } => {
                data.extend(self.place().await);
                let code = if *failure == MotionFailure::Expired { "expired" } else { "robot_unavailable" };
                let next = "Call get_state to see whether the robot answers and what was done.";
                return Failure(ToolOutcome::failed(&ToolError::new(code, message, next), &data));
            }
        };
        data.extend(self.place().await);
        Failure::no(code, message, next, &data)
    }
}

fn place_of(state: &RobotState) -> Map<String, Value> {
    let Some(base) = &state.base else { return Map::new() };
    let pose = words::Place::of(&base.pose);
    Map::from_iter([
        ("x".to_owned(), json!(pose.x)),
        ("y".to_owned(), json!(pose.y)),
        ("yaw_deg".to_owned(), json!(pose.yaw_deg)),
    ])
}

fn occupied(tool: &str, since: Stamp, holder: Option<&str>) -> Failure {
    let running = words::get_state::Running { tool: tool.to_owned(), since: since.as_secs_micros() };
    let mut data = json!({"running": running});
    let by = match holder {
        Some(holder) => {
            data["held_by"] = json!(holder);
            format!(", called by {holder}")
        }
        None => String::new(),
    };
    Failure::no(
        "busy",
        format!("{tool} runs already{by}"),
        "Wait until it has ended, or cancel it; stop works at any time.",
        &data,
    )
}
