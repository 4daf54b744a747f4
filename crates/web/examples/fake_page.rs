//! The page over made-up data, to look at it without a robot: `cargo run -p cerebellum-web --example fake_page [PORT]`.
#![allow(clippy::print_stdout, reason = "an example talks to a person on stdout")]

use std::error::Error;
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use cerebellum_core::Stamp;
use cerebellum_web::view::{
    CameraView, CommandView, EndpointView, EventView, HealthView, ObjectView, OutputView, PageState, ParamView,
    PushView, SceneView, SeenView, SkillView, TemplateView,
};
use cerebellum_web::{Jpeg, PageData, PageError, SceneChange, StartSkill};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 = std::env::args().nth(1).map(|text| text.parse()).transpose()?.unwrap_or(8001);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/", listener.local_addr()?);
    Ok(axum::serve(listener, cerebellum_web::router(Arc::new(FakePage::new()))).await?)
}

struct FakePage {
    begun: Instant,
    world: Mutex<World>,
}

struct World {
    person: bool,
    covered: bool,
    place: String,
    skills: Vec<SkillView>,
}

impl FakePage {
    fn new() -> Self {
        let skills = vec![find_object("red can"), scene_description(), watch(), broken()];
        let world = World { person: false, covered: false, place: "kitchen table".into(), skills };
        Self { begun: Instant::now(), world: Mutex::new(world) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut World) -> T) -> T {
        work(&mut self.world.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn draw(&self, with_box: bool) -> Result<Jpeg, PageError> {
        let (person, covered) = self.with(|world| (world.person, world.covered));
        if covered {
            return Err(PageError::Unavailable { reason: "the camera is covered".into() });
        }
        let shift = (self.begun.elapsed().as_secs_f32() * 0.7).sin() * 40.0;
        let can = (300.0 + shift) as u32;
        let picture = RgbImage::from_fn(640, 480, |x, y| {
            let edge = with_box
                && (x.abs_diff(can) == 34 || y == 206 || y == 304)
                && x.abs_diff(can) <= 34
                && (206..=304).contains(&y);
            let in_can = x.abs_diff(can) < 28 && (212..300).contains(&y);
            let in_person = person
                && (x.abs_diff(520).pow(2) + y.abs_diff(90).pow(2) < 1600
                    || (x.abs_diff(520) < 60 && (135..330).contains(&y)));
            match (edge, in_can, in_person, y) {
                (true, ..) => Rgb([20, 210, 190]),
                (_, true, ..) => Rgb([190, 40 + (x.abs_diff(can) / 2) as u8, 45]),
                (_, _, true, _) => Rgb([90, 105, 150]),
                (.., 0..290) => Rgb([214 - (y / 8) as u8, 208 - (y / 8) as u8, 198 - (y / 8) as u8]),
                _ => Rgb([158, 118 - (y / 16) as u8, 84]),
            }
        });
        let mut bytes = Cursor::new(Vec::new());
        let written = picture.write_to(&mut bytes, ImageFormat::Jpeg);
        written.map_err(|error| PageError::Unavailable { reason: error.to_string() })?;
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let stamp = Stamp::from_nanos(i64::try_from(since.as_nanos()).unwrap_or_default());
        Ok(Jpeg { bytes: bytes.into_inner().into(), stamp, age_ms: 40 })
    }
}

#[async_trait]
impl PageData for FakePage {
    async fn state(&self) -> Result<PageState, PageError> {
        let elapsed = self.begun.elapsed().as_secs_f64();
        Ok(self.with(|world| PageState {
            version: env!("CARGO_PKG_VERSION").into(),
            robot: HealthView { name: "simulated robot".into(), ok: true, detail: "realtime".into() },
            camera: CameraView {
                topic: "/camera/image_raw".into(),
                alive: !world.covered,
                last_frame_age_s: Some(if world.covered { elapsed } else { 0.1 }),
                problem: world.covered.then(|| "covered".into()),
            },
            bus: HealthView { name: "ROS bus".into(), ok: true, detail: "zenoh 127.0.0.1:7557".into() },
            skills: world.skills.clone(),
            templates: templates(),
            seen: SeenView { text: SEEN.into(), stale: world.covered },
            events: vec![
                event("evt_2", "a person is in view: person 0.91", elapsed),
                event("evt_1", "a <script>alert(1)</script> is in view", elapsed + 95.0),
            ],
            push: PushView {
                on: true,
                detail: "http://127.0.0.1:8001/api/agent/events".into(),
                delivered: 2,
                ..PushView::default()
            },
            scene: Some(SceneView {
                person_present: world.person,
                camera_covered: world.covered,
                objects: [("coke", "red can"), ("mug", "blue mug")]
                    .map(|(name, label)| ObjectView {
                        name: name.into(),
                        label: label.into(),
                        place: Some(world.place.clone()),
                    })
                    .into(),
                places: ["kitchen table", "other table", "shelf"].map(String::from).into(),
            }),
            endpoints: endpoints(),
            commands: commands(),
        }))
    }

    async fn picture(&self) -> Result<Jpeg, PageError> {
        self.draw(false)
    }

    async fn overlay(&self, skill: &str) -> Result<Jpeg, PageError> {
        if self.with(|world| world.skills.iter().any(|running| running.skill_id == skill)) {
            return self.draw(true);
        }
        Err(PageError::NotFound { what: format!("no skill {skill:?} runs") })
    }

    async fn start_skill(&self, start: StartSkill) -> Result<String, PageError> {
        let query = start.params.get("query").and_then(Value::as_str).unwrap_or("red can");
        let count = self.with(|world| world.skills.len());
        let skill = SkillView { skill_id: format!("{}_{count}", start.template), ..find_object(query) };
        let skill_id = skill.skill_id.clone();
        self.with(|world| world.skills.push(skill));
        Ok(skill_id)
    }

    async fn stop_skill(&self, skill: &str) -> Result<(), PageError> {
        self.with(|world| world.skills.retain(|running| running.skill_id != skill));
        Ok(())
    }

    async fn change_scene(&self, change: SceneChange) -> Result<String, PageError> {
        Ok(self.with(|world| match change {
            SceneChange::PersonEnters | SceneChange::PersonLeaves => {
                world.person = change == SceneChange::PersonEnters;
                "the person is on the way".into()
            }
            SceneChange::MoveObject { object, place } => {
                world.place.clone_from(&place);
                format!("{object} is on the {place}")
            }
            SceneChange::CoverCamera | SceneChange::UncoverCamera => {
                world.covered = change == SceneChange::CoverCamera;
                "done".into()
            }
            SceneChange::Reset => {
                (world.person, world.covered) = (false, false);
                "everything stands as at the start".into()
            }
        }))
    }
}

const SEEN: &str = "find_object (0.2 s): red can 0.94 at 1.21 m, box [272,212,56,88], mask on /vision/find_object/detections\n\
                    describe_scene (0.4 s): A red can and a blue mug stand on a table; a door is open on the left.\n\
                    watch_for (stale, 8.3 s): triggered false\n\
                    camera /camera/image_raw: alive, last picture 0.1 s ago";

fn find_object(query: &str) -> SkillView {
    SkillView {
        skill_id: "find_object".into(),
        purpose: format!("finds: the {query}"),
        topic: "/vision/find_object/detections".into(),
        enabled: true,
        age_s: Some(0.2),
        summary: format!("{query} 0.94, 1.21 m away"),
        outputs: vec![OutputView { name: "found".into(), value: json!(true), age_s: Some(0.2), stale: false }],
        has_overlay: true,
        ..SkillView::default()
    }
}

fn scene_description() -> SkillView {
    let text = json!("A red can and a blue mug stand on a table; a door is open on the left.");
    let list = json!(["red can", "blue mug", "table", "door"]);
    SkillView {
        skill_id: "describe_scene".into(),
        purpose: "describes the picture".into(),
        enabled: true,
        age_s: Some(0.4),
        outputs: vec![
            OutputView { name: "scene_description".into(), value: text, age_s: Some(0.4), stale: false },
            OutputView { name: "scene_objects".into(), value: list, age_s: Some(0.4), stale: false },
        ],
        has_overlay: true,
        ..SkillView::default()
    }
}

fn watch() -> SkillView {
    SkillView {
        skill_id: "watch_for".into(),
        purpose: "tells when: a person is in view".into(),
        enabled: true,
        age_s: Some(8.3),
        stale: true,
        outputs: vec![OutputView { name: "triggered".into(), value: json!(false), age_s: Some(8.3), stale: true }],
        ..SkillView::default()
    }
}

fn broken() -> SkillView {
    SkillView {
        skill_id: "watch_for_2".into(),
        purpose: "tells when: <img src=x onerror=alert(1)> is happy".into(),
        enabled: true,
        problem: Some("unsupported_condition: this engine cannot judge moods".into()),
        notes: vec!["word not understood: happy".into()],
        ..SkillView::default()
    }
}

fn event(id: &str, summary: &str, age_s: f64) -> EventView {
    EventView {
        id: id.into(),
        event_type: "watch_event".into(),
        task_id: "watch_for".into(),
        summary: summary.into(),
        age_s,
    }
}

fn templates() -> Vec<TemplateView> {
    let template = |name: &str, description: &str, param: Option<(&str, &str)>| TemplateView {
        name: name.into(),
        description: description.into(),
        params: param
            .map(|(name, example)| ParamView { name: name.into(), example: example.into() })
            .into_iter()
            .collect(),
    };
    vec![
        template("find_object", "Locate and segment a specific object.", Some(("query", "red can"))),
        template("describe_scene", "Describe what the camera sees.", None),
        template(
            "watch_for",
            "Watch until a condition becomes true, then notify.",
            Some(("condition", "a person is in view")),
        ),
    ]
}

fn endpoints() -> Vec<EndpointView> {
    let endpoint = |name: &str, purpose: &str, port: u16| EndpointView {
        name: name.into(),
        purpose: purpose.into(),
        url: format!("http://127.0.0.1:{port}/mcp"),
    };
    vec![
        endpoint("skill_control", "chooses what the robot looks for", 9201),
        endpoint("perception", "tells what it sees", 9202),
    ]
}

fn commands() -> Vec<CommandView> {
    let command = |title: &str, command: &str| CommandView { title: title.into(), command: command.into() };
    vec![
        command("Claude Code: configure", "claude mcp add --transport http skill_control http://127.0.0.1:9201/mcp"),
        command("Claude Code: look", "claude mcp add --transport http perception http://127.0.0.1:9202/mcp"),
        command("From a shell", "cerebellum call http://127.0.0.1:9202/mcp what_do_you_see"),
    ]
}
