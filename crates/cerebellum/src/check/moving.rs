use std::time::{Duration, Instant};

use cerebellum_mcp::attach::{CallError, CallOptions, Client};
use cerebellum_wire::contract::{self, Level};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::examinee::{Examinee, READ};
use super::reading::{NOTHING, cut, object};
use super::report::Report;

/// How long a small motion may take.
const SMALL_MOTION: Duration = Duration::from_secs(30);
/// How long a robot may take to begin to move.
const BEGIN: Duration = Duration::from_secs(5);
/// A turn that is long enough to be interrupted, in degrees.
const LONG_TURN_DEG: f64 = 90.0;
/// A cancelled robot commands zero within 0.2 s; braking and the next measurement take the rest.
const STILL_AFTER_CANCEL: Duration = Duration::from_millis(1200);
/// The same after its caller is gone.
const STILL_AFTER_LOSS: Duration = Duration::from_secs(5);
/// Less than this between two looks is noise.
const STILL_DEG: f64 = 0.3;
/// A turn that comes this near to its end was not interrupted.
const DONE_WITHIN_DEG: f64 = 5.0;
const LOOK: Duration = Duration::from_millis(100);

const CHECKS: [&str; 9] = [
    "blocking turn_by",
    "cancel turn_by",
    "dropped connection",
    "limit drive_by",
    "bad number turn_by",
    "unknown place",
    "unreachable place",
    "honest held",
    "empty hand",
];

/// Says what was not looked at because the robot may not move.
pub(super) fn skip(robot: &Examinee, report: &mut Report) {
    let moves = contract::TOOLS.iter().any(|row| row.is_motion && robot.has(row.name));
    for id in CHECKS.into_iter().filter(|_| moves) {
        report.skips(id, Level::Full, "moves the robot: run with --allow-motion and two metres of free floor");
    }
}

/// Moves the robot a little and looks at what its tools say of it.
pub(super) async fn examine(robot: &Examinee, report: &mut Report) {
    refusals(robot, report).await;
    hands(robot, report).await;
    if !robot.has("turn_by") {
        for id in ["blocking turn_by", "cancel turn_by", "dropped connection"] {
            report.skips(id, Level::Full, "the robot has no turn_by to examine it with");
        }
    } else if yaw_deg(robot).await.is_none() {
        for id in ["blocking turn_by", "cancel turn_by", "dropped connection"] {
            report.skips(id, Level::Full, "neither get_pose nor get_state tells the robot's heading");
        }
    } else {
        blocking(robot, report).await;
        cancelled(robot, report).await;
        dropped(robot, report).await;
    }
}

/// The heading, from whichever tool tells it.
async fn yaw_deg(robot: &Examinee) -> Option<f64> {
    let tool = if robot.has("get_pose") { "get_pose" } else { "get_state" };
    let answer = robot.call(tool, json!({}), CallOptions::within(READ)).await;
    let data = object(&answer).ok()?;
    data.get("yaw_deg").or_else(|| data.get("base").and_then(|base| base.get("yaw_deg")))?.as_f64()
}

/// Degrees from one heading to another, the short way round.
fn apart(from: f64, to: f64) -> f64 {
    (to - from + 180.0).rem_euclid(360.0) - 180.0
}

async fn pause(span: Duration) {
    #[allow(clippy::disallowed_methods, reason = "a real robot moves in real time")]
    tokio::time::sleep(span).await;
}

/// The answer of a turn comes when the turn is done, and the turn is the one that was asked for.
async fn blocking(robot: &Examinee, report: &mut Report) {
    let Some(before) = yaw_deg(robot).await else { return };
    let answer = robot.call("turn_by", json!({"degrees": 20.0}), CallOptions::within(SMALL_MOTION)).await;
    let at_answer = yaw_deg(robot).await.unwrap_or(before);
    pause(Duration::from_millis(700)).await;
    let after = yaw_deg(robot).await.unwrap_or(before);
    let mut faults = Vec::new();
    match object(&answer) {
        Ok(data) => {
            faults.extend(contract::tool("turn_by").map(|row| row.faults(data, false)).unwrap_or_default());
            if data.get("ok") == Some(&Value::Bool(false)) {
                faults.push(format!("it would not turn by 20 degrees: {}", cut(&Value::Object(data.clone()))));
            } else if apart(at_answer, after).abs() > 2.0 {
                faults.push(format!("it answered and went on turning by {:.0} degrees", apart(at_answer, after)));
            } else if (apart(before, after) - 20.0).abs() > 5.0 {
                faults.push(format!("asked for 20 degrees to the left it turned by {:.0}", apart(before, after)));
            }
        }
        Err(fault) => faults.push(fault),
    }
    let change = "return when the turn is finished and measured; positive degrees turn left";
    report.judge("blocking turn_by", Level::Full, &faults, "it answered when the turn was done", change);
    turn_back(robot, before).await;
}

/// Brings the robot back to how it stood, in the steps that it takes.
async fn turn_back(robot: &Examinee, before: f64) {
    let Some(now) = yaw_deg(robot).await else { return };
    let back = apart(now, before);
    if back.abs() > 2.0 {
        // Where the robot ends up is of no interest to the report.
        drop(robot.call("turn_by", json!({"degrees": back}), CallOptions::within(SMALL_MOTION)).await);
    }
}

/// Whether the heading has begun to change.
async fn begins_to_turn(robot: &Examinee, before: f64) -> bool {
    let start = Instant::now();
    while start.elapsed() < BEGIN {
        if yaw_deg(robot).await.is_some_and(|now| apart(before, now).abs() > 2.0) {
            return true;
        }
        pause(LOOK).await;
    }
    false
}

/// How long it took until the heading stood still, if it did within `bound`.
async fn comes_to_rest(robot: &Examinee, bound: Duration) -> Option<Duration> {
    let start = Instant::now();
    let mut last = yaw_deg(robot).await?;
    let mut moved_at = Duration::ZERO;
    while start.elapsed() < bound + 5 * LOOK {
        pause(LOOK).await;
        let now = yaw_deg(robot).await?;
        if apart(last, now).abs() > STILL_DEG {
            moved_at = start.elapsed();
        }
        last = now;
    }
    (moved_at <= bound).then_some(moved_at)
}

/// How long it took until it stood still, if it did within `bound` and before the turn was done.
async fn stops_short(robot: &Examinee, before: f64, bound: Duration) -> Option<Duration> {
    let after = comes_to_rest(robot, bound).await?;
    let turned = apart(before, yaw_deg(robot).await?).abs();
    (turned < LONG_TURN_DEG - DONE_WITHIN_DEG).then_some(after)
}

async fn cancelled(robot: &Examinee, report: &mut Report) {
    let Some(before) = yaw_deg(robot).await else { return };
    let cancel = CancellationToken::new();
    let options = CallOptions { total: Some(SMALL_MOTION), cancel: cancel.clone(), ..CallOptions::default() };
    let turning = robot.call("turn_by", json!({"degrees": LONG_TURN_DEG}), options);
    let judging = async {
        let began = begins_to_turn(robot, before).await;
        cancel.cancel();
        if began { Ok(stops_short(robot, before, STILL_AFTER_CANCEL).await) } else { Err(()) }
    };
    let (_, rest) = tokio::join!(turning, judging);
    settle(
        report,
        "cancel turn_by",
        rest,
        STILL_AFTER_CANCEL,
        "stop the base when the call is cancelled (notifications/cancelled), within 200 ms",
    );
    wait_until_still(robot).await;
    turn_back(robot, before).await;
}

async fn dropped(robot: &Examinee, report: &mut Report) {
    let Some(before) = yaw_deg(robot).await else { return };
    let Some((server, _)) = robot.owner("turn_by") else { return };
    let Ok(other) = Client::connect(&server.endpoint, READ).await else {
        return report.skips("dropped connection", Level::Full, format!("{} takes no second session", server.url));
    };
    let arguments: Map<String, Value> = std::iter::once(("degrees".to_owned(), json!(LONG_TURN_DEG))).collect();
    let rest = {
        let turning = other.call("turn_by", arguments, CallOptions::within(SMALL_MOTION));
        let judging = begins_to_turn(robot, before);
        tokio::pin!(turning);
        tokio::select! {
            began = judging => began,
            answer = &mut turning => {
                tracing::debug!(?answer, "the turn ended before it could be interrupted");
                false
            }
        }
    };
    // The session is not closed but lost, as by a crash of its owner.
    drop(other);
    let rest = if rest { Ok(stops_short(robot, before, STILL_AFTER_LOSS).await) } else { Err(()) };
    settle(
        report,
        "dropped connection",
        rest,
        STILL_AFTER_LOSS,
        "stop the base when the caller of a running motion is gone; keep a watchdog on the robot",
    );
    wait_until_still(robot).await;
    turn_back(robot, before).await;
}

fn settle(report: &mut Report, id: &str, rest: Result<Option<Duration>, ()>, bound: Duration, change: &str) {
    match rest {
        Ok(Some(after)) => report.holds(id, Level::Full, format!("at rest after {:.1} s", after.as_secs_f64())),
        Ok(None) => {
            report.fails(
                id,
                Level::Full,
                format!("it turned to the end, or longer than {:.1} s", bound.as_secs_f64()),
                change,
            );
        }
        Err(()) => report.fails(
            id,
            Level::Full,
            format!("a turn by {LONG_TURN_DEG} degrees was not seen to begin and run"),
            "turn by the degrees asked for, and answer when it is done",
        ),
    }
}

/// Lets a turn that nothing could stop run out, so that the next check is not about it.
async fn wait_until_still(robot: &Examinee) {
    let start = Instant::now();
    while start.elapsed() < SMALL_MOTION {
        if comes_to_rest(robot, Duration::ZERO).await.is_some() {
            return;
        }
    }
}

/// What must be refused, and by an answer rather than a crash.
async fn refusals(robot: &Examinee, report: &mut Report) {
    const FAR: f64 = 1_000_000.0;
    if robot.has("drive_by") {
        let change = "refuse more than a small step and name the limit; jog steps are bounded";
        refused(robot, report, "limit drive_by", "drive_by", json!({"distance_m": 1000.0}), change).await;
    }
    if robot.has("turn_by") {
        let change = "refuse a number that is no number";
        refused(robot, report, "bad number turn_by", "turn_by", json!({"degrees": "a lot"}), change).await;
    }
    if robot.has("navigate_to") {
        let change = "answer ok:false when no way leads there";
        refused(robot, report, "unreachable place", "navigate_to", json!({"x": FAR, "y": FAR, "yaw_deg": 0}), change)
            .await;
    }
    if robot.has("navigate_to_named") {
        unknown_place(robot, report).await;
    }
}

/// The call is refused within a moment. Otherwise it is cancelled, since the robot may be on its way.
async fn refused(robot: &Examinee, report: &mut Report, id: &str, tool: &str, arguments: Value, change: &str) {
    let options = CallOptions { total: Some(Duration::from_secs(3)), ..CallOptions::default() };
    let level = contract::tool(tool).map_or(Level::Full, |row| row.level);
    match robot.call(tool, arguments, options).await {
        Ok(answer) if answer.is_ok() => report.fails(id, level, format!("it answered {}", cut(&answer.data)), change),
        Ok(_) | Err(CallError::Refused { .. }) => report.holds(id, level, "refused"),
        Err(error) => report.fails(id, level, format!("not refused: {error}"), change),
    }
}

async fn unknown_place(robot: &Examinee, report: &mut Report) {
    const PLACE: &str = "a place nobody ever saved";
    let options = CallOptions { total: Some(Duration::from_secs(5)), ..CallOptions::default() };
    let answer = robot.call("navigate_to_named", json!({"name": PLACE}), options).await;
    let faults = match object(&answer) {
        Ok(data) if data.get("ok") != Some(&Value::Bool(false)) => {
            vec![format!("it answered {}", cut(&Value::Object(data.clone())))]
        }
        Ok(data) if !data.get("known").is_some_and(Value::is_array) => vec!["known is missing, or no list".to_owned()],
        Ok(_) => Vec::new(),
        Err(fault) => vec![fault],
    };
    let change = "answer {ok:false, known:[...]} as an ordinary result: the brain asks with it which place was meant";
    report.judge("unknown place", Level::Minimum, &faults, "refused with the places that are known", change);
}

/// What the gripper does not hold is not held.
async fn hands(robot: &Examinee, report: &mut Report) {
    let state = robot.call("get_state", json!({}), CallOptions::within(READ)).await;
    let arms = object(&state).ok().and_then(|data| data.get("arms")).and_then(Value::as_object);
    let is_holding = arms.is_some_and(|arms| arms.values().any(|arm| arm["held"] == true));
    if is_holding {
        for id in ["honest held", "empty hand"] {
            report.skips(id, Level::Minimum, "a hand holds something; let it put that down first");
        }
        return;
    }
    if robot.takes("pick", "target") {
        let answer = robot.call("pick", json!({"target": NOTHING}), CallOptions::within(SMALL_MOTION)).await;
        let faults = match object(&answer) {
            Ok(data) if data.get("held") == Some(&Value::Bool(true)) => {
                vec![format!("it says that it holds {NOTHING}")]
            }
            Ok(_) => Vec::new(),
            Err(fault) => vec![fault],
        };
        let change = "answer held:true only when the gripper measures something between its fingers";
        report.judge("honest held", Level::Minimum, &faults, "what is not there is not held", change);
    }
    if robot.takes("place", "surface") {
        let answer = robot.call("place", json!({"surface": "table"}), CallOptions::within(SMALL_MOTION)).await;
        let faults = match object(&answer) {
            Ok(data) if data.get("ok") == Some(&Value::Bool(true)) => {
                vec!["it placed although no hand holds anything".to_owned()]
            }
            Ok(_) => Vec::new(),
            Err(fault) => vec![fault],
        };
        let change = "answer ok:false, as an ordinary result, when there is nothing to place";
        report.judge("empty hand", Level::Minimum, &faults, "refused", change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_compared_the_short_way_round() {
        assert_eq!(apart(170.0, -170.0), 20.0);
        assert_eq!(apart(-170.0, 170.0), -20.0);
        assert_eq!(apart(10.0, 30.0), 20.0);
    }
}
