use serde::Serialize;
use serde_json::Value;

/// All the page shows, apart from pictures. Texts may come from a camera or an event: the page shows them as text, always.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PageState {
    /// The version of the program.
    pub version: String,
    /// The robot.
    pub robot: HealthView,
    /// The camera.
    pub camera: CameraView,
    /// The ROS bus.
    pub bus: HealthView,
    /// Running skills, in order of creation.
    pub skills: Vec<SkillView>,
    /// What can be started.
    pub templates: Vec<TemplateView>,
    /// What is seen, as a planner reads it.
    pub seen: SeenView,
    /// The last events, newest first; pushed when pushing is on.
    pub events: Vec<EventView>,
    /// How pushing goes.
    pub push: PushView,
    /// The simulated scene; `None` on a real robot.
    pub scene: Option<SceneView>,
    /// Where agents attach.
    pub endpoints: Vec<EndpointView>,
    /// Commands to copy.
    pub commands: Vec<CommandView>,
}

/// Whether a part works.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HealthView {
    /// Its name, such as `simulated robot`.
    pub name: String,
    /// Whether it works.
    pub ok: bool,
    /// A few words about it.
    pub detail: String,
}

/// The camera's health.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CameraView {
    /// Its topic.
    pub topic: String,
    /// Whether pictures come. They do when something covers the lens, too: `problem` says that.
    pub alive: bool,
    /// Age of the last picture in seconds.
    pub last_frame_age_s: Option<f64>,
    /// What is wrong, if anything.
    pub problem: Option<String>,
}

/// A running skill.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SkillView {
    /// Its unique id.
    pub skill_id: String,
    /// What it does, such as `looks for the red can`.
    pub purpose: String,
    /// Its detections topic.
    pub topic: String,
    /// Whether it looks.
    pub enabled: bool,
    /// Age of its newest value in seconds; `None` before the first one.
    pub age_s: Option<f64>,
    /// Whether that is too old to act on.
    pub stale: bool,
    /// What it found, in one line.
    pub summary: String,
    /// Its semantic outputs.
    pub outputs: Vec<OutputView>,
    /// Whether it publishes an annotated picture.
    pub has_overlay: bool,
    /// What is wrong with it, if anything.
    pub problem: Option<String>,
    /// What its engine said about its words.
    pub notes: Vec<String>,
}

/// A semantic output.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OutputView {
    /// Its name.
    pub name: String,
    /// Its value; null before the first one.
    pub value: Value,
    /// Its age in seconds.
    pub age_s: Option<f64>,
    /// Whether it is too old to act on.
    pub stale: bool,
}

/// A template of the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TemplateView {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Its parameters.
    pub params: Vec<ParamView>,
}

/// A parameter of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ParamView {
    /// Its name.
    pub name: String,
    /// A value that works, shown as a proposal.
    pub example: String,
}

/// What is seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SeenView {
    /// The text of `what_do_you_see`.
    pub text: String,
    /// Whether all of it is too old to act on.
    pub stale: bool,
}

/// An event. It was pushed when pushing is on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EventView {
    /// Its id.
    pub id: String,
    /// Its type, such as `watch_event`.
    #[serde(rename = "type")]
    pub event_type: String,
    /// What it is about.
    pub task_id: String,
    /// What happened, in one line.
    pub summary: String,
    /// How long ago, in seconds.
    pub age_s: f64,
}

/// How pushing goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PushView {
    /// Whether events are posted.
    pub on: bool,
    /// Where to, without credentials; why not, when it is off.
    pub detail: String,
    /// Events the receiver took.
    pub delivered: u64,
    /// Events that wait.
    pub waiting: u64,
    /// Events that were lost or refused.
    pub lost: u64,
    /// Why the last try failed, if it did.
    pub problem: Option<String>,
}

/// The simulated scene.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SceneView {
    /// Whether the person is there, or on the way in.
    pub person_present: bool,
    /// Whether the camera is covered.
    pub camera_covered: bool,
    /// Things that can be put elsewhere.
    pub objects: Vec<ObjectView>,
    /// Places they can be put on.
    pub places: Vec<String>,
}

/// A thing of the scene.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObjectView {
    /// Its unique name.
    pub name: String,
    /// What a person calls it.
    pub label: String,
    /// The place it is on, if it is on one.
    pub place: Option<String>,
}

/// Where agents attach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndpointView {
    /// The server's name, such as `perception`.
    pub name: String,
    /// What it is for.
    pub purpose: String,
    /// Its address.
    pub url: String,
}

/// A command to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// What it does.
    pub title: String,
    /// The command.
    pub command: String,
}
