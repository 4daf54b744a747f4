use std::collections::VecDeque;
use std::sync::Mutex;

use super::*;
use crate::testing::{call, call_with, context};

/// A robot whose answers are written down beforehand.
struct Script {
    answers: Mutex<VecDeque<(&'static str, Value)>>,
    called: Mutex<Vec<(String, Value)>>,
}

impl Script {
    fn new(answers: impl IntoIterator<Item = (&'static str, Value)>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), called: Mutex::default() })
    }

    fn names(&self) -> Vec<String> {
        self.called.lock().unwrap().iter().map(|(tool, _)| tool.clone()).collect()
    }
}

#[async_trait]
impl RobotTools for Script {
    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        _progress: &dyn Progress,
    ) -> Result<Map<String, Value>, String> {
        self.called.lock().unwrap().push((tool.to_owned(), Value::Object(arguments)));
        let Some((expected, answer)) = self.answers.lock().unwrap().pop_front() else {
            return std::future::pending().await;
        };
        assert_eq!(tool, expected);
        match answer {
            Value::Object(answer) => Ok(answer),
            other => Err(other.to_string()),
        }
    }

    async fn missing(&self, _tools: &[&'static str]) -> Vec<String> {
        Vec::new()
    }
}

fn seen() -> (&'static str, Value) {
    ("locate_3d", json!({"ok": true, "found": true, "x": 1.0, "y": 0.5, "z": 0.8, "frame": "map"}))
}

fn reachable(side: &str) -> (&'static str, Value) {
    ("grasp_pose", json!({"ok": true, "reachable": true, "side": side, "grasp": {"x": 1.0}}))
}

fn out_of_reach() -> (&'static str, Value) {
    ("grasp_pose", json!({"ok": true, "reachable": false, "reason": "0.3 m too far"}))
}

fn picked(held: bool) -> (&'static str, Value) {
    ("pick", json!({"ok": held, "held": held, "side": "left", "reason": "slipped"}))
}

fn stood() -> (&'static str, Value) {
    ("go_to_stance", json!({"ok": true, "x": 0.4, "y": 0.5, "yaw_deg": 0.0}))
}

async fn take(script: &Arc<Script>, given: Value) -> Value {
    call(&Server::new(Arc::clone(script) as Arc<dyn RobotTools>), "grasp", &given).await.0
}

#[tokio::test]
async fn what_is_seen_and_in_reach_is_taken_at_once() {
    let script = Script::new([seen(), reachable("left"), picked(true)]);
    let answer = take(&script, json!({"object": "red can"})).await;
    assert_eq!(
        (&answer["ok"], &answer["held"], &answer["side"], &answer["attempts"]),
        (&json!(true), &json!(true), &json!("left"), &json!(1))
    );
    let called = script.called.lock().unwrap();
    assert_eq!(called[2].1, json!({"target": "red can", "grasp": {"x": 1.0}, "side": "left"}));
}

#[tokio::test]
async fn what_is_out_of_reach_is_approached_once() {
    let script = Script::new([seen(), out_of_reach(), seen(), stood(), seen(), reachable("right"), picked(true)]);
    let answer = take(&script, json!({"object": "red can"})).await;
    assert_eq!(answer["held"], true);
    assert_eq!(script.called.lock().unwrap()[3].1["target"]["x"], 1.0);

    let script = Script::new([seen(), out_of_reach(), seen(), stood(), seen(), out_of_reach()]);
    let answer = take(&script, json!({"object": "red can"})).await;
    assert_eq!((&answer["error"]["code"], &answer["attempts"]), (&json!("unreachable"), &json!(0)));
}

#[tokio::test]
async fn a_grip_that_slips_is_tried_again_and_given_up_honestly() {
    let slips = [seen(), reachable("left"), picked(false), seen(), stood()];
    let script = Script::new(slips.iter().cloned().cycle().take(15));
    let answer = take(&script, json!({"object": "red can"})).await;
    assert_eq!((&answer["ok"], &answer["held"], &answer["attempts"]), (&json!(false), &json!(false), &json!(3)));
    assert_eq!(answer["error"]["code"], "not_held");
    let tries: Vec<_> = script
        .called
        .lock()
        .unwrap()
        .iter()
        .filter(|(tool, _)| tool == "grasp_pose")
        .map(|(_, given)| given["side"].clone())
        .collect();
    assert_eq!(tries, [Value::Null, Value::Null, json!("right")]);
}

#[tokio::test]
async fn what_is_not_in_view_moves_nothing() {
    let script = Script::new([("locate_3d", json!({"ok": true, "found": false}))]);
    let answer = take(&script, json!({"object": "red can"})).await;
    assert_eq!(answer["error"]["code"], "not_found");
    assert_eq!(script.names(), ["locate_3d"]);
}

#[tokio::test]
async fn a_server_that_is_away_is_a_fault_of_the_tool() {
    let script = Script::new([("locate_3d", json!("nothing answers at 9207"))]);
    let server = Server::new(script);
    let (answer, is_error) = call(&server, "grasp", &json!({"object": "red can"})).await;
    assert!(is_error && answer["error"]["code"] == "tools_unavailable", "{answer}");
}

#[tokio::test]
async fn a_cancelled_call_ends_the_call_that_runs() {
    let script = Script::new([seen(), reachable("left")]);
    let server = Server::new(Arc::clone(&script) as Arc<dyn RobotTools>);
    let context = context();
    context.cancelled.cancel();
    let (answer, is_error) = call_with(&server, "grasp", &json!({"object": "red can"}), &context).await;
    assert!(!is_error && answer["error"]["code"] == "cancelled", "{answer}");
}
