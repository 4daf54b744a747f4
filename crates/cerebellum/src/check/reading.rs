use cerebellum_mcp::attach::{Answer, CallError, CallOptions};
use cerebellum_wire::contract;
use serde_json::{Map, Value, json};

use super::examinee::{Examinee, READ};
use super::report::Report;

/// A thing that no robot sees.
pub(super) const NOTHING: &str = "a purple unicorn statue with seven horns";

/// Calls every tool that only reads, and looks at what it answers.
pub(super) async fn examine(robot: &Examinee, report: &mut Report) {
    for (tool, arguments) in [
        ("list_waypoints", json!({})),
        ("get_pose", json!({})),
        ("get_state", json!({})),
        ("robot_state", json!({})),
        ("observe_task", json!({"context": "The robot stands still and waits for a command."})),
        ("find_processes", json!({"query": "take a can from the table"})),
    ] {
        if robot.has(tool) {
            answer(robot, report, tool, arguments).await;
        }
    }
    waypoints(robot, report).await;
    nothing_is_found(robot, report).await;
    survives_bad_arguments(robot, report).await;
}

/// The answer's object, or what is wrong with it.
pub(super) fn object(answer: &Result<Answer, CallError>) -> Result<&Map<String, Value>, String> {
    match answer {
        Ok(answer) if answer.is_error => Err(format!("an error: {}", cut(&answer.data))),
        Ok(answer) => answer.data.as_object().ok_or_else(|| format!("{}, which is no JSON object", cut(&answer.data))),
        Err(error) => Err(error.to_string()),
    }
}

/// The start of a value, for a person.
pub(super) fn cut(value: &Value) -> String {
    cerebellum_wire::text::cut(&value.to_string())
}

async fn answer(robot: &Examinee, report: &mut Report, tool: &str, arguments: Value) {
    let Some(row) = contract::tool(tool) else { return };
    let answer = robot.call(tool, arguments, CallOptions::within(READ)).await;
    let faults = match object(&answer) {
        Ok(data) => row.faults(data, false),
        Err(fault) => vec![fault],
    };
    let change = format!("answer the contract's fields of {tool} as JSON");
    report.judge(format!("answer {tool}"), row.level, &faults, "the contract's fields, with their types", &change);
}

/// Each place has a name and a pose.
async fn waypoints(robot: &Examinee, report: &mut Report) {
    let Some(row) = contract::tool("list_waypoints").filter(|row| robot.has(row.name)) else { return };
    let answer = robot.call(row.name, json!({}), CallOptions::within(READ)).await;
    let Some(places) = object(&answer).ok().and_then(|data| data.get("waypoints")).and_then(Value::as_object) else {
        return;
    };
    let faulty =
        |place: &Value| ["x", "y", "yaw_deg"].iter().any(|key| !place[key].is_number()) || !place["name"].is_string();
    let faults: Vec<String> = places
        .iter()
        .filter(|(_, place)| faulty(place))
        .map(|(name, place)| format!("{name:?} is {}", cut(place)))
        .collect();
    let seen = format!("{} places, each with name and pose", places.len());
    report.judge("places", row.level, &faults, &seen, "answer {name: {name, x, y, yaw_deg}} for each place");
}

/// A thing that is not there is not found, in the shape of an ordinary answer.
async fn nothing_is_found(robot: &Examinee, report: &mut Report) {
    let Some(row) = contract::tool("locate_3d").filter(|row| robot.has(row.name)) else { return };
    let answer = robot.call(row.name, json!({"query": NOTHING}), CallOptions::within(READ)).await;
    let faults = match object(&answer) {
        Ok(data) if data.get("found") == Some(&Value::Bool(true)) => {
            vec![format!("it found {NOTHING}: {}", cut(&Value::Object(data.clone())))]
        }
        Ok(data) => row.faults(data, false),
        Err(fault) => vec![fault],
    };
    let change = "answer found:false for what is not seen, as an ordinary result, never the nearest match";
    report.judge("honest locate_3d", row.level, &faults, "what is not there is not found", change);
}

/// A call that lacks its argument is refused, and the server goes on.
async fn survives_bad_arguments(robot: &Examinee, report: &mut Report) {
    let Some(row) = contract::tool("locate_3d").filter(|row| robot.has(row.name)) else { return };
    let answer = robot.call(row.name, json!({}), CallOptions::within(READ)).await;
    let mut faults = Vec::new();
    if matches!(&answer, Ok(answer) if answer.is_ok() && answer.data.get("found") == Some(&Value::Bool(true))) {
        faults.push("a call without a query found something".to_owned());
    }
    let after = robot.call(row.name, json!({"query": NOTHING}), CallOptions::within(READ)).await;
    if let Err(error @ (CallError::Lost | CallError::TimedOut { .. })) = after {
        faults.push(format!("after a call without a query the server does not answer: {error}"));
    }
    let change = "refuse a call without its arguments with an error, and go on serving";
    report.judge("bad arguments", row.level, &faults, "refused, and the server goes on", change);
}
