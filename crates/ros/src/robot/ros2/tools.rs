use std::collections::BTreeMap;
use std::time::Duration;

use cerebellum_core::{Motion, MotionDone, MotionFailure, MotionProgress, Pose, RobotError, Side};
use glam::{DVec3, EulerRot};
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::Ros2;
use super::navigate::failure;
use crate::action::{ActionError, Client, Status};
use crate::bus::{CallError, call_again};
use crate::msg::action::{FeedbackMessage, JsonText};
use crate::msg::robot::{JSON_CALL, JsonReply, JsonRequest};
use crate::msg::std_srvs::{EMPTY, Nothing, SET_BOOL, SetBoolRequest, Success, TRIGGER};
use crate::msg::{RosType, decode, encode};

const TASK_TYPE: &str = "cerebellum_robot_interfaces/action/JsonTask";
/// How long a tool's own cancel may take.
const CANCEL_DEADLINE: Duration = Duration::from_secs(2);

/// What one tool of an owner's robot does.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The service or action behind it.
    pub call: Call,
    /// Where the answer's fields stand in the reply, as JSON pointers: `ok`, `held`, `side`, `x`, `y`, `z`, `distance_m`,
    /// `reason`. `ok` is found as `/ok` or `/success` and `reason` as `/reason` or `/message` by itself, the others under
    /// their names. `Trigger` and `SetBool` reply `{success, message}`.
    pub result: BTreeMap<String, String>,
    /// How long it may take.
    pub deadline: Duration,
    /// A `std_srvs/Trigger` that ends the tool's work, called when it is cancelled. An action is cancelled without it; a
    /// service without it goes on to its end.
    pub cancel: Option<String>,
}

/// A service or an action of a robot.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `std_srvs/Empty`: that it answers means that it is done.
    Empty {
        /// Its name.
        service: String,
    },
    /// `std_srvs/Trigger`.
    Trigger {
        /// Its name.
        service: String,
    },
    /// `std_srvs/SetBool`.
    SetBool {
        /// Its name.
        service: String,
        /// What is set; `None` for the argument `allow`.
        data: Option<bool>,
    },
    /// `cerebellum_robot_interfaces/JsonCall`.
    Json {
        /// Its name.
        service: String,
        /// What is sent: a text that is just `{name}` becomes that argument, `{name}` within a text its words; `None` sends
        /// all arguments under their names.
        arguments: Option<Value>,
    },
    /// `cerebellum_robot_interfaces/action/JsonTask`.
    Task {
        /// Its name.
        action: String,
        /// As in [`Self::Json`].
        arguments: Option<Value>,
    },
}

/// The arguments of a motion by the names and in the units of its tool: metres and degrees.
fn arguments(motion: &Motion) -> Map<String, Value> {
    let point = |point: &DVec3| vec![("x", json!(point.x)), ("y", json!(point.y)), ("z", json!(point.z))];
    let turned = |pose: &Pose| {
        let (yaw, pitch, roll) = pose.rotation.to_euler(EulerRot::ZYX);
        let mut fields = point(&pose.translation);
        fields.extend(
            [("roll_deg", roll), ("pitch_deg", pitch), ("yaw_deg", yaw)]
                .map(|(name, angle)| (name, json!(angle.to_degrees()))),
        );
        fields
    };
    let side = |side: Option<Side>| ("side", json!(side.map(Side::as_str)));
    let mut fields = match motion {
        Motion::Navigate { goal } => turned(&goal.to_pose()),
        Motion::Turn { radians } => vec![("degrees", json!(radians.to_degrees()))],
        Motion::Drive { metres } | Motion::Strafe { metres } => vec![("distance_m", json!(metres))],
        Motion::Stance { target, side: arm } => [point(target), vec![side(*arm)]].concat(),
        Motion::Reach { side: arm, point: at } | Motion::FineApproach { side: arm, point: at } => {
            [point(at), vec![side(*arm)]].concat()
        }
        Motion::Pick { side: arm, grasp } => {
            [turned(&grasp.tip), vec![side(Some(*arm)), ("width_m", json!(grasp.width_m))]].concat()
        }
        Motion::Place { side: arm, foot } => [turned(foot), vec![side(Some(*arm))]].concat(),
        Motion::Posture { group, state } => vec![("group", json!(group)), ("state", json!(state))],
    };
    fields.push(("tool", json!(motion.name())));
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A template with the arguments put in.
fn fill(template: &Value, arguments: &Map<String, Value>) -> Value {
    match template {
        Value::String(text) => {
            let whole = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            if let Some(value) = whole.and_then(|name| arguments.get(name)) {
                return value.clone();
            }
            let with = arguments.iter().fold(text.clone(), |text, (name, value)| {
                let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                text.replace(&format!("{{{name}}}"), &words)
            });
            Value::String(with)
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, arguments)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), fill(value, arguments))).collect())
        }
        plain => plain.clone(),
    }
}

impl Tool {
    fn field<'a>(&self, reply: &'a Value, name: &str, usual: &[&str]) -> Option<&'a Value> {
        match self.result.get(name) {
            Some(pointer) => reply.pointer(pointer),
            None => usual.iter().find_map(|key| reply.get(*key)),
        }
    }

    /// What a reply says; only what stands in it is filled in.
    fn read(&self, tool: &str, reply: &Value) -> Result<MotionDone, MotionFailure> {
        let number = |name: &str| self.field(reply, name, &[name]).and_then(Value::as_f64);
        let reason = self.field(reply, "reason", &["reason", "message"]).and_then(Value::as_str);
        let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
        match self.field(reply, "ok", &["ok", "success"]).and_then(Value::as_bool) {
            Some(true) => {}
            Some(false) => {
                let reason = reason.unwrap_or_else(|| format!("the robot's {tool} says no and not why"));
                return Err(MotionFailure::Failed { reason });
            }
            None => {
                let reason = format!(
                    "the reply of the robot's {tool} does not say whether it is done: map `ok` in its \
                                      result template"
                );
                return Err(MotionFailure::Failed { reason });
            }
        }
        let side = self.field(reply, "side", &["side"]).and_then(Value::as_str);
        let point = number("x").zip(number("y")).zip(number("z")).map(|((x, y), z)| DVec3::new(x, y, z));
        Ok(MotionDone {
            side: side.and_then(|side| Side::BOTH.into_iter().find(|known| known.as_str() == side)),
            moved: None,
            held: self.field(reply, "held", &["held"]).and_then(Value::as_bool),
            point,
            distance_m: number("distance_m"),
            reason,
        })
    }
}

impl Ros2 {
    pub(super) async fn use_tool(
        &self,
        motion: &Motion,
        progress: &dyn MotionProgress,
    ) -> Result<MotionDone, MotionFailure> {
        let arguments = arguments(motion);
        let name = motion.name();
        let specific = match motion {
            Motion::Posture { group, state } => self.config.tools.get(&format!("{name}/{group}/{state}")),
            _ => None,
        };
        let Some(tool) = specific.or_else(|| self.config.tools.get(name)) else {
            let what = format!("do {name}: map it to a service or action in the setting robot.tools");
            return Err(MotionFailure::Unsupported { what });
        };
        let ending = OnDrop::new(self, tool);
        let reply = self.call(name, tool, &arguments, progress).await?;
        ending.is_over();
        let mut done = tool.read(name, &reply)?;
        if let (None, Some(side)) = (done.side, arguments.get("side").and_then(Value::as_str)) {
            done.side = Side::BOTH.into_iter().find(|known| known.as_str() == side);
        }
        Ok(done)
    }

    /// Uses a tool that moves nothing.
    pub(super) async fn use_plain_tool(&self, name: &str, arguments: Map<String, Value>) -> Result<(), RobotError> {
        let Some(tool) = self.config.tools.get(name) else {
            return Err(RobotError::Unsupported { what: format!("service behind {name} in the setting robot.tools") });
        };
        let reply = self.call(name, tool, &arguments, &|_: Option<f64>, _: &str| {}).await;
        match reply.and_then(|reply| tool.read(name, &reply)) {
            Ok(_) => Ok(()),
            Err(failure) => Err(RobotError::Unavailable { reason: failure.to_string() }),
        }
    }

    async fn call(
        &self,
        name: &str,
        tool: &Tool,
        arguments: &Map<String, Value>,
        progress: &dyn MotionProgress,
    ) -> Result<Value, MotionFailure> {
        let json = |template: &Option<Value>| match template {
            Some(template) => fill(template, arguments).to_string(),
            None => Value::Object(arguments.clone()).to_string(),
        };
        let unreadable = |error: String| MotionFailure::Failed { reason: format!("the reply of {name}: {error}") };
        let success = |reply: &[u8]| {
            let read: Success<'_> = decode(reply).map_err(|error| unreadable(error.to_string()))?;
            Ok(json!({"success": read.success, "message": read.message}))
        };
        match &tool.call {
            Call::Empty { service } => {
                self.ask(service, &EMPTY, encode(&Nothing::default()), tool.deadline).await?;
                Ok(json!({"ok": true}))
            }
            Call::Trigger { service } => {
                success(&self.ask(service, &TRIGGER, encode(&Nothing::default()), tool.deadline).await?)
            }
            Call::SetBool { service, data } => {
                let data = data.or_else(|| arguments.get("allow").and_then(Value::as_bool)).unwrap_or(true);
                success(&self.ask(service, &SET_BOOL, encode(&SetBoolRequest { data }), tool.deadline).await?)
            }
            Call::Json { service, arguments } => {
                let request = encode(&JsonRequest { request_json: &json(arguments) });
                let reply = self.ask(service, &JSON_CALL, request, tool.deadline).await?;
                let reply: JsonReply<'_> = decode(&reply).map_err(|error| unreadable(error.to_string()))?;
                serde_json::from_str(reply.reply_json).map_err(|error| unreadable(error.to_string()))
            }
            Call::Task { action, arguments } => {
                let task = self.task(action, json(arguments), progress);
                let late =
                    || MotionFailure::Failed { reason: format!("{name} took longer than it may and was cancelled") };
                let reply = tokio::time::timeout(tool.deadline, task).await.map_err(|_elapsed| late())??;
                serde_json::from_str(&reply).map_err(|error| unreadable(error.to_string()))
            }
        }
    }

    async fn ask(
        &self,
        service: &str,
        ros_type: &RosType,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, MotionFailure> {
        let reply = call_again(&self.bus, service, ros_type, request, deadline).await;
        reply.map_err(|error| match error {
            CallError::Failed { reason } => MotionFailure::Failed { reason: format!("{service}: {reason}") },
            error => MotionFailure::Lost { reason: format!("{service} ({}): {error}", ros_type.name) },
        })
    }

    async fn task(&self, action: &str, json: String, progress: &dyn MotionProgress) -> Result<String, MotionFailure> {
        let client = Client::new(std::sync::Arc::clone(&self.bus), action);
        let (said, mut news) = watch::channel(String::new());
        let goal = JsonText { json };
        let sending = client.send(TASK_TYPE, &goal, &self.tasks, move |bytes| {
            if let Ok(message) = decode::<FeedbackMessage<JsonText>>(bytes) {
                said.send_replace(message.feedback.json);
            }
        });
        let goal = sending.await.map_err(|error| failure(&error))?;
        let mut ending = std::pin::pin!(goal.result::<JsonText>());
        let mut is_told = true;
        let ended = loop {
            tokio::select! {
                ended = &mut ending => break ended,
                changed = news.changed(), if is_told => match changed {
                    Ok(()) => progress.report(None, &news.borrow_and_update().clone()),
                    Err(_) => is_told = false,
                },
            }
        };
        let ended = ended.map_err(|error: ActionError| failure(&error))?;
        match ended.status {
            Status::Succeeded | Status::Aborted if !ended.result.json.is_empty() => Ok(ended.result.json),
            Status::Succeeded => Ok(json!({"ok": true}).to_string()),
            status @ (Status::Unknown
            | Status::Accepted
            | Status::Executing
            | Status::Canceling
            | Status::Canceled
            | Status::Aborted) => {
                Err(MotionFailure::Failed { reason: format!("{action} ended as {status:?} and says nothing more") })
            }
        }
    }
}

/// Calls the tool's own cancel when dropped before its end.
struct OnDrop<'a> {
    robot: &'a Ros2,
    cancel: std::sync::Mutex<Option<String>>,
}

impl<'a> OnDrop<'a> {
    fn new(robot: &'a Ros2, tool: &Tool) -> Self {
        Self { robot, cancel: std::sync::Mutex::new(tool.cancel.clone()) }
    }

    fn is_over(&self) {
        self.cancel.lock().expect("no holder of this lock panics").take();
    }
}

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        let Some(service) = self.cancel.lock().expect("no holder of this lock panics").take() else { return };
        let bus = std::sync::Arc::clone(&self.robot.bus);
        self.robot.tasks.spawn(async move {
            let request = encode(&Nothing::default());
            if let Err(error) = bus.call(&service, &TRIGGER, request, CANCEL_DEADLINE).await {
                tracing::error!(service, %error, "a tool was not cancelled");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_core::{Grasp, Stamp};

    use super::*;

    fn tool(result: &[(&str, &str)]) -> Tool {
        let result = result.iter().map(|&(name, pointer)| (name.to_owned(), pointer.to_owned())).collect();
        let call = Call::Trigger { service: "/x".into() };
        Tool { call, result, deadline: Duration::from_secs(1), cancel: None }
    }

    #[test]
    fn templates_take_arguments_whole_and_within_texts() {
        let tip = Pose::planar(1.0, 2.0, std::f64::consts::FRAC_PI_2);
        let pick = Motion::Pick { side: Side::Left, grasp: Grasp { tip, width_m: 0.06, stamp: Stamp::ZERO } };
        let arguments = arguments(&pick);
        let template = json!({"at": ["{x}", "{y}", "{z}"], "arm": "arm_{side}", "speed": 0.1, "odd": "{nothing}"});
        let filled = fill(&template, &arguments);
        assert_eq!(filled, json!({"at": [1.0, 2.0, 0.0], "arm": "arm_left", "speed": 0.1, "odd": "{nothing}"}));
        assert!((arguments["yaw_deg"].as_f64().unwrap() - 90.0).abs() < 1e-9);
    }

    #[test]
    fn only_what_the_reply_says_is_filled_in() {
        let plain = tool(&[]).read("pick", &json!({"success": true, "message": ""})).unwrap();
        assert_eq!(plain, MotionDone::default(), "held is not assumed");
        let mapped = tool(&[("held", "/gripper/has"), ("ok", "/code/fine")]);
        let done = mapped.read("pick", &json!({"code": {"fine": true}, "gripper": {"has": false}, "side": "right"}));
        let done = done.unwrap();
        assert_eq!((done.held, done.side), (Some(false), Some(Side::Right)));
        let no = tool(&[]).read("pick", &json!({"success": false, "message": "the arm is hot"}));
        assert_eq!(no, Err(MotionFailure::Failed { reason: "the arm is hot".into() }));
        let unclear = tool(&[]).read("pick", &json!({"held": true}));
        assert!(matches!(unclear, Err(MotionFailure::Failed { reason }) if reason.contains("does not say")));
    }
}
