//! What the demo's page shows, and what its buttons do.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, FrameSource, RgbImage, SkillMode, Stamp, TaskInfo, VisionTasks};
use cerebellum_kit::poster::Poster;
use cerebellum_kit::sink::EventSink;
use cerebellum_mcp::{CallContext, Progress, ToolServer};
use cerebellum_ros::vision::OverlayPictures;
use cerebellum_servers::{perception_buffer, skill_control};
use cerebellum_sim::simulator::Simulator;
use cerebellum_sim::simulator::command::{
    CameraMode, CameraRequest, PersonAction, PersonRequest, PersonState, PlaceRequest, ResetRequest, SceneCommand,
    SceneState,
};
use cerebellum_vision::node::Node;
use cerebellum_web::view::{
    CameraView, CommandView, EndpointView, EventView, HealthView, ObjectView, OutputView, PageState, ParamView,
    PushView, SceneView, SeenView, SkillView, TemplateView,
};
use cerebellum_web::{Jpeg, PageData, PageError, SceneChange, StartSkill};
use cerebellum_wire::event::Event;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::demo::Endpoints;

/// How long a part of the page may take to answer.
const WITHIN: Duration = Duration::from_secs(3);
/// Events the page remembers.
const EVENTS_MAX: usize = 20;
/// JPEG quality of the live picture.
const QUALITY: u8 = 80;

/// The page's data: the demo's own parts, asked in this process.
pub struct Page {
    /// The live picture.
    pub camera: Arc<dyn FrameSource>,
    /// The robot's time.
    pub clock: Arc<dyn Clock>,
    /// The simulated robot.
    pub simulator: Arc<Simulator>,
    /// The running skills.
    pub node: Arc<Node>,
    /// Starts and stops skills.
    pub skills: Arc<skill_control::Server>,
    /// What is seen.
    pub perception: Arc<perception_buffer::Server>,
    /// How pushing goes.
    pub poster: Arc<Poster>,
    /// What was pushed.
    pub events: Arc<RecentEvents>,
    /// Annotated pictures.
    pub overlays: OverlayPictures,
    /// Where everything listens.
    pub endpoints: Endpoints,
}

/// Remembers the last events on their way to the receiver.
pub struct RecentEvents {
    next: Arc<dyn EventSink>,
    clock: Arc<dyn Clock>,
    recent: Mutex<VecDeque<(Duration, Event)>>,
}

impl RecentEvents {
    /// Remembers what goes to `next`.
    pub fn before(next: Arc<dyn EventSink>, clock: Arc<dyn Clock>) -> Self {
        Self { next, clock, recent: Mutex::default() }
    }

    fn views(&self) -> Vec<EventView> {
        let now = self.clock.monotonic();
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.iter().rev().map(|(at, event)| event_view(event, now.saturating_sub(*at))).collect()
    }
}

impl EventSink for RecentEvents {
    fn post(&self, event: Event) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.len() == EVENTS_MAX {
            recent.pop_front();
        }
        recent.push_back((self.clock.monotonic(), event.clone()));
        drop(recent);
        self.next.post(event);
    }
}

fn event_view(event: &Event, age: Duration) -> EventView {
    let json = serde_json::to_value(event).unwrap_or_default();
    let payload = &json["payload"];
    let summary = payload["condition"].as_str().or(payload["error"].as_str()).unwrap_or_default();
    EventView {
        id: event.id.clone().unwrap_or_default(),
        event_type: text(&json["type"]),
        task_id: text(&json["task_id"]),
        summary: summary.to_owned(),
        age_s: age.as_secs_f64(),
    }
}

struct NoProgress;

impl Progress for NoProgress {
    fn report(&self, _done: f64, _total: Option<f64>, _message: &str) {}
}

async fn ask(server: &dyn ToolServer, tool: &str, arguments: Map<String, Value>) -> Map<String, Value> {
    let context = CallContext {
        caller: cerebellum_mcp::Caller::default(),
        cancelled: CancellationToken::new(),
        progress: Box::new(NoProgress),
    };
    server.call(tool, arguments, &context).await.into_parts().0
}

/// The answer of a tool, or its own words on why there is none.
fn answered(answer: Map<String, Value>) -> Result<Map<String, Value>, PageError> {
    if answer.get("ok") == Some(&Value::Bool(true)) {
        return Ok(answer);
    }
    let error = answer.get("error").cloned().unwrap_or_default();
    let words = [text(&error["message"]), text(&error["next"])].join(" ");
    Err(PageError::Refused { reason: words.trim().to_owned() })
}

#[async_trait]
impl PageData for Page {
    async fn state(&self) -> Result<PageState, PageError> {
        let (scene, tasks, seen, templates) = tokio::join!(
            self.simulator.state(),
            self.node.list(WITHIN),
            ask(self.perception.as_ref(), "what_do_you_see", Map::new()),
            ask(self.skills.as_ref(), "list_skill_templates", Map::new()),
        );
        let unavailable = |reason: String| PageError::Unavailable { reason };
        let scene = scene.map_err(|error| unavailable(error.to_string()))?;
        let tasks = tasks.map_err(|error| unavailable(error.to_string()))?;
        let seen = Value::Object(seen);
        let push = self.poster.stats();
        Ok(PageState {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            robot: HealthView { name: "simulated robot".into(), ok: true, detail: pose_words(&scene) },
            camera: camera_view(&seen["camera"], scene.camera),
            bus: self.bus_view(&seen),
            skills: tasks.iter().map(|task| skill_view(task, &seen)).collect(),
            templates: Value::Object(templates)["templates"]
                .as_array()
                .into_iter()
                .flatten()
                .map(template_view)
                .collect(),
            seen: seen_view(&seen),
            events: self.events.views(),
            push: PushView {
                on: self.poster.is_on(),
                detail: if self.poster.is_on() {
                    String::new()
                } else {
                    "set RVC_CALLBACK_URL and RVC_EVENT_SECRET".into()
                },
                delivered: push.delivered,
                waiting: push.waiting as u64,
                lost: push.refused + push.gave_up + push.dropped,
                problem: push.last_error,
            },
            scene: Some(scene_view(scene)),
            endpoints: self.endpoint_views(),
            commands: self.command_views(),
        })
    }

    async fn picture(&self) -> Result<Jpeg, PageError> {
        let frame = self.camera.next(None, WITHIN).await;
        let frame = frame.map_err(|error| PageError::Unavailable { reason: error.to_string() })?;
        let (stamp, rgb) = (frame.stamp, Arc::clone(&frame.rgb));
        let encoded = tokio::task::spawn_blocking(move || jpeg(&rgb)).await;
        let bytes = encoded.map_err(|error| PageError::Unavailable { reason: error.to_string() })??;
        Ok(Jpeg { bytes: bytes.into(), stamp, age_ms: self.age_ms(stamp) })
    }

    async fn overlay(&self, skill: &str) -> Result<Jpeg, PageError> {
        let running =
            self.node.list(WITHIN).await.map_err(|error| PageError::Unavailable { reason: error.to_string() })?;
        if !running.iter().any(|task| task.name == skill) {
            return Err(PageError::NotFound { what: format!("no skill {skill} is running") });
        }
        let picture = self.overlays.latest(skill).await;
        let Some(picture) = picture else {
            return Err(PageError::Unavailable { reason: format!("{skill} has not drawn a picture yet; ask again") });
        };
        Ok(Jpeg { bytes: picture.jpeg, stamp: picture.stamp, age_ms: self.age_ms(picture.stamp) })
    }

    async fn start_skill(&self, start: StartSkill) -> Result<String, PageError> {
        let mut arguments = Map::new();
        arguments.insert("template".into(), Value::String(start.template));
        arguments.insert("params".into(), Value::Object(start.params));
        let answer = answered(ask(self.skills.as_ref(), "instantiate_skill", arguments).await)?;
        Ok(answer.get("skill_id").map(text).unwrap_or_default())
    }

    async fn stop_skill(&self, skill: &str) -> Result<(), PageError> {
        let mut arguments = Map::new();
        arguments.insert("skill_id".into(), Value::String(skill.to_owned()));
        answered(ask(self.skills.as_ref(), "stop_skill", arguments).await).map(drop)
    }

    async fn change_scene(&self, change: SceneChange) -> Result<String, PageError> {
        let (command, words) = match change {
            SceneChange::PersonEnters => (person(PersonAction::Enter), "the person comes in".to_owned()),
            SceneChange::PersonLeaves => (person(PersonAction::Leave), "the person goes out".to_owned()),
            SceneChange::CoverCamera => (camera(CameraMode::Covered), "the camera is covered".to_owned()),
            SceneChange::UncoverCamera => (camera(CameraMode::Open), "the camera sees".to_owned()),
            SceneChange::Reset => {
                (SceneCommand::Reset(ResetRequest {}), "everything stands as at the start".to_owned())
            }
            SceneChange::MoveObject { object, place } => {
                let words = format!("{object} is on the {place}");
                (SceneCommand::Place(PlaceRequest { object, on: Some(place), ..PlaceRequest::default() }), words)
            }
        };
        match self.simulator.command(command).await {
            Ok(_scene) => Ok(words),
            Err(error) => Err(PageError::Refused { reason: error.to_string() }),
        }
    }
}

impl Page {
    fn age_ms(&self, stamp: Stamp) -> u64 {
        (self.clock.now().secs_since(stamp).max(0.0) * 1000.0) as u64
    }

    fn bus_view(&self, seen: &Value) -> HealthView {
        let problems = seen["problems"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>();
        let name = self.endpoints.zenoh.clone().unwrap_or_else(|| "in this process".into());
        let detail = if problems.is_empty() { name } else { problems.join("; ") };
        HealthView { name: "ROS bus".into(), ok: problems.is_empty(), detail }
    }

    fn endpoint_views(&self) -> Vec<EndpointView> {
        let view =
            |name: &str, purpose: &str, url: String| EndpointView { name: name.into(), purpose: purpose.into(), url };
        vec![
            view("skill_control", "what the robot looks for", format!("http://{}/mcp", self.endpoints.skills)),
            view("perception", "what it sees", format!("http://{}/mcp", self.endpoints.perception)),
        ]
    }

    fn command_views(&self) -> Vec<CommandView> {
        let (skills, perception) = (self.endpoints.skills, self.endpoints.perception);
        let find = json!({"template": "find_object", "params": {"query": "red can"}});
        let view = |title: &str, command: String| CommandView { title: title.into(), command };
        vec![
            view(
                "Claude Code",
                format!(
                    "claude mcp add --transport http skill_control http://{skills}/mcp\nclaude mcp add --transport http perception http://{perception}/mcp"
                ),
            ),
            view("Find the red can", format!("cerebellum call http://{skills}/mcp instantiate_skill '{find}'")),
            view("What do you see?", format!("cerebellum call http://{perception}/mcp what_do_you_see")),
        ]
    }
}

fn person(action: PersonAction) -> SceneCommand {
    SceneCommand::Person(PersonRequest { action })
}

fn camera(mode: CameraMode) -> SceneCommand {
    SceneCommand::Camera(CameraRequest { mode })
}

fn jpeg(picture: &RgbImage) -> Result<Vec<u8>, PageError> {
    let mut bytes = Vec::with_capacity(64 * 1024);
    let size = u16::try_from(picture.width).ok().zip(u16::try_from(picture.height).ok());
    let Some((width, height)) = size else {
        return Err(PageError::Unavailable { reason: "the picture is too large for JPEG".into() });
    };
    jpeg_encoder::Encoder::new(&mut bytes, QUALITY)
        .encode(&picture.data, width, height, jpeg_encoder::ColorType::Rgb)
        .map_err(|error| PageError::Unavailable { reason: format!("the picture cannot be encoded: {error}") })?;
    Ok(bytes)
}

fn pose_words(scene: &SceneState) -> String {
    let robot = &scene.robot;
    format!("at {:.1}, {:.1} m, facing {:.0} degrees", robot.x, robot.y, robot.yaw_deg)
}

fn camera_view(seen: &Value, mode: CameraMode) -> CameraView {
    let problem = match mode {
        CameraMode::Open => None,
        CameraMode::Covered => Some("something covers the lens".to_owned()),
        CameraMode::Frozen => Some("the picture stands still".to_owned()),
    };
    CameraView {
        topic: text(&seen["topic"]),
        alive: seen["alive"].as_bool().unwrap_or(false),
        last_frame_age_s: seen["last_frame_age_s"].as_f64(),
        problem,
    }
}

fn skill_view(task: &TaskInfo, seen: &Value) -> SkillView {
    let answers = seen["skills"].as_array().map(Vec::as_slice).unwrap_or_default();
    let answer = answers.iter().find(|skill| skill["skill"] == json!(task.name)).unwrap_or(&Value::Null);
    let outputs = answer["outputs"].as_object().into_iter().flatten().map(|(name, output)| OutputView {
        name: name.clone(),
        value: output["value"].clone(),
        age_s: output["age_s"].as_f64(),
        stale: output["stale"].as_bool().unwrap_or(true),
    });
    SkillView {
        skill_id: task.name.clone(),
        purpose: purpose(task),
        topic: task.topic.clone(),
        enabled: task.enabled,
        age_s: answer["age_s"].as_f64(),
        stale: answer["stale"].as_bool().unwrap_or(false),
        summary: text(&answer["summary"]),
        outputs: outputs.collect(),
        has_overlay: true,
        problem: task.error.clone().or_else(|| answer["problem"].as_str().map(str::to_owned)),
        notes: task.notes.clone(),
    }
}

fn purpose(task: &TaskInfo) -> String {
    let Some(skill) = &task.skill else { return String::new() };
    if let Some(condition) = skill.watch.as_ref().and_then(|watch| watch.condition.as_ref()) {
        return format!("tells when {condition}");
    }
    let what = skill.grounding.as_deref().unwrap_or_default();
    match skill.mode {
        SkillMode::GroundAndSegment | SkillMode::Region => format!("looks for {what}"),
        SkillMode::SegmentAll => "looks for everything".into(),
        SkillMode::Describe => "says what it sees".into(),
    }
}

fn template_view(template: &Value) -> TemplateView {
    let params = template["params"].as_array().into_iter().flatten().map(|name| {
        let name = text(name);
        let example = match name.as_str() {
            "query" => "red can",
            "what" => "green bottle",
            "condition" => "a person is in view",
            _ => "",
        };
        ParamView { example: example.into(), name }
    });
    TemplateView {
        name: text(&template["name"]),
        description: text(&template["description"]),
        params: params.collect(),
    }
}

fn seen_view(seen: &Value) -> SeenView {
    let skills = seen["skills"].as_array().map(Vec::as_slice).unwrap_or_default();
    let stale = !skills.is_empty() && skills.iter().all(|skill| skill["stale"] == json!(true));
    SeenView { text: text(&seen["text"]), stale }
}

fn scene_view(scene: SceneState) -> SceneView {
    let object = |object: cerebellum_sim::simulator::command::ObjectState| ObjectView {
        name: object.name,
        label: object.label,
        place: object.on,
    };
    SceneView {
        person_present: matches!(scene.person, Some(PersonState::Entering | PersonState::Standing)),
        camera_covered: scene.camera == CameraMode::Covered,
        objects: scene.objects.into_iter().map(object).collect(),
        places: scene.surfaces,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
