use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use cerebellum_core::{
    DepthImage, Detection, EngineError, Found, Frame, Look, Looker, Point, Prepared, RgbImage, Skill, SkillMode,
    Unjudged, VisionEngine,
};
use cerebellum_geometry::{Analyser, FreeRegion, Scene, Shape, ViewError};
use glam::Vec3;

pub use things::Things;

use judge::Judge;
use matching::{Item, Match, find};
use phrase::{Head, Phrase, Place};
use tracks::Tracks;

mod blind;
mod condition;
mod describe;
mod judge;
mod matching;
mod phrase;
/// Scores the engine against a simulator.
pub mod score;
mod things;
mod tracks;
mod words;

/// The most detections of one picture.
const DETECTIONS_MAX: usize = 60;
/// Room left around a thing that is to be put down, in metres.
const MARGIN_M: f32 = 0.02;

/// Looks at colour and depth alone: planes, what stands on them, its shape and colour, people, and free space. It needs no
/// model and no network, and knows nothing of a simulator. What things are called it takes from [`Things`].
///
/// Skills that look at the same picture share one analysis of it.
pub struct Engine {
    things: Arc<Things>,
    eye: Arc<Eye>,
}

impl Engine {
    /// An engine with the owner's words.
    pub fn new(things: Things) -> Self {
        Self { things: Arc::new(things), eye: Arc::default() }
    }
}

impl VisionEngine for Engine {
    fn name(&self) -> &'static str {
        "geometry"
    }

    fn prepare(&self, skill: &Skill) -> Prepared {
        let mut notes = Vec::new();
        let task = self.task(skill, &mut notes);
        let mut judges = Vec::new();
        let mut unjudged = Vec::new();
        for output in &skill.outputs {
            match Judge::of(output, skill, &self.things) {
                Ok(judge) => {
                    notes.extend(judge.notes());
                    judges.push((output.name.clone(), judge));
                }
                Err(reason) => unjudged.push(Unjudged { output: output.name.clone(), reason }),
            }
        }
        let mut said = std::collections::HashSet::new();
        notes.retain(|note| said.insert(note.clone()));
        let masks = skill.segment && skill.mode != SkillMode::Describe;
        let looker = GeometryLooker { eye: Arc::clone(&self.eye), task, masks, judges, tracks: Tracks::default() };
        Prepared { looker: Box::new(looker), notes, unjudged }
    }
}

impl Engine {
    fn task(&self, skill: &Skill, notes: &mut Vec<String>) -> Task {
        let grounding = skill.grounding.as_deref().unwrap_or_default();
        match skill.mode {
            SkillMode::SegmentAll | SkillMode::Describe => Task::Everything,
            SkillMode::GroundAndSegment => {
                let phrase = Phrase::read(grounding, &self.things);
                notes.extend(phrase.notes());
                if !phrase.is_understood() {
                    notes.push(format!(
                        "engine geometry does not know what {:?} looks like, so it reports none; it knows colours, the shapes can, \
                         bottle, ball, box, book, mug and bowl, a person, and the words in the list of things",
                        phrase.text
                    ));
                }
                Task::Find(Box::new(phrase))
            }
            SkillMode::Region => self.region_task(grounding, notes),
        }
    }

    fn region_task(&self, grounding: &str, notes: &mut Vec<String>) -> Task {
        let words = words::tokens(grounding);
        let after_for = words.iter().rposition(|word| word == "for").map(|at| &words[at + 1..]);
        let on_floor = words.windows(3).any(|three| three[0] == "on" && three[2] == "floor")
            || words.windows(2).any(|two| two[0] == "on" && two[1] == "floor");
        if let Some(across) = asked_size(&words) {
            return Task::Room { radius: across / 2.0 + MARGIN_M, on_floor };
        }
        let phrase = after_for.map(|words| Phrase::of(words, &self.things));
        let across = phrase.as_ref().and_then(|phrase| {
            notes.extend(phrase.notes());
            footprint(phrase)
        });
        if across.is_none() {
            notes.push(format!(
                "the size of what is to be put down is not known; looking for {:.0} cm across",
                ROOM_M * 100.0
            ));
        }
        let on_floor = on_floor || phrase.is_some_and(|phrase| phrase.place == Some(Place::On(vec![FLOOR])));
        Task::Room { radius: across.unwrap_or(ROOM_M) / 2.0 + MARGIN_M, on_floor }
    }
}

const FLOOR: cerebellum_geometry::SupportKind = cerebellum_geometry::SupportKind::Floor;
/// Room for something of unknown size, in metres.
const ROOM_M: f32 = 0.2;

/// "20 cm", in metres.
fn asked_size(words: &[String]) -> Option<f32> {
    words.windows(2).find_map(|pair| {
        let scale = match pair[1].as_str() {
            "cm" | "centimetres" | "centimeters" => 0.01,
            "mm" => 0.001,
            _ => return None,
        };
        let size = pair[0].parse::<f32>().ok()? * scale;
        (0.01..2.0).contains(&size).then_some(size)
    })
}

/// The diameter of the circle that such a thing needs, in metres.
fn footprint(phrase: &Phrase) -> Option<f32> {
    if phrase.width.is_some() {
        return phrase.width;
    }
    let Head::Shapes { shapes, .. } = &phrase.head else { return None };
    let of = |shape: &Shape| match shape {
        Shape::Can | Shape::Ball | Shape::Bottle => 0.08,
        Shape::Mug => 0.12,
        Shape::Box | Shape::Bowl => 0.2,
        Shape::Book => 0.28,
        Shape::Object => ROOM_M,
    };
    shapes.iter().map(of).max_by(f32::total_cmp)
}

/// What a looker does with each picture.
enum Task {
    Find(Box<Phrase>),
    Everything,
    Room { radius: f32, on_floor: bool },
}

struct GeometryLooker {
    eye: Arc<Eye>,
    task: Task,
    masks: bool,
    judges: Vec<(cerebellum_core::OutputName, Judge)>,
    tracks: Tracks,
}

#[async_trait]
impl Looker for GeometryLooker {
    async fn look(&mut self, frame: Arc<Frame>) -> Result<Look, EngineError> {
        let eye = Arc::clone(&self.eye);
        let seen = Arc::clone(&frame);
        let scene = tokio::task::spawn_blocking(move || eye.look(&seen)).await.map_err(|error| {
            EngineError::Failed { reason: format!("the analysis of the picture broke off: {error}") }
        })??;
        let detections = self.detections(&scene, &frame);
        let outputs = self
            .judges
            .iter()
            .filter_map(|(name, judge)| judge.value(&scene).map(|value| (name.clone(), value)))
            .collect();
        let mut notes = Vec::new();
        if !scene.localised {
            notes.push("the camera's place is not known: the largest flat surface is taken as level".to_owned());
        }
        Ok(Look { detections, outputs, notes })
    }
}

impl GeometryLooker {
    fn detections(&mut self, scene: &Scene, frame: &Frame) -> Vec<Found> {
        let (matches, label) = match &self.task {
            Task::Room { radius, on_floor } => {
                return rooms(scene, frame, scene.free_regions(*radius, *on_floor), *radius, self.masks);
            }
            Task::Find(phrase) => (find(phrase, scene), phrase.label().map(str::to_owned)),
            Task::Everything => {
                let mut all: Vec<Match<'_>> =
                    Item::all(scene).map(|item| Match { item, score: item.confidence() }).collect();
                all.sort_by(|a, b| b.score.total_cmp(&a.score));
                (all, None)
            }
        };
        let matches = &matches[..matches.len().min(DETECTIONS_MAX)];
        let items: Vec<Item<'_>> = matches.iter().map(|found| found.item).collect();
        let ids = self.tracks.follow(&items, frame.stamp);
        matches
            .iter()
            .zip(ids)
            .map(|(found, id)| {
                let detection = Detection {
                    id: Some(id),
                    label: label.clone().unwrap_or_else(|| found.item.label()),
                    score: found.score,
                    bounds: found.item.bounds(),
                    has_mask: self.masks,
                    point: Some(point(scene, frame, found.item.centre())),
                };
                Found { detection, mask: self.masks.then(|| found.item.mask().clone()) }
            })
            .collect()
    }
}

fn rooms(scene: &Scene, frame: &Frame, regions: Vec<FreeRegion>, radius: f32, masks: bool) -> Vec<Found> {
    regions
        .into_iter()
        .take(DETECTIONS_MAX)
        .map(|region| {
            let detection = Detection {
                id: None,
                label: "free space".into(),
                score: (0.5 + 0.5 * (region.clearance - radius) / (region.clearance + radius)).clamp(0.0, 1.0),
                bounds: region.mask.bounds,
                has_mask: masks,
                point: Some(point(scene, frame, region.place)),
            };
            Found { detection, mask: masks.then_some(region.mask) }
        })
        .collect()
}

/// In `map` when the robot is localised, else in the camera's frame.
fn point(scene: &Scene, frame: &Frame, level: Vec3) -> Point {
    if scene.localised {
        return Point { frame: "map".into(), position: level.as_dvec3() };
    }
    Point { frame: frame.frame_id.clone(), position: scene.in_camera(level).as_dvec3() }
}

/// The analysis, shared by all skills: the last picture is looked at once.
#[derive(Default)]
struct Eye {
    state: Mutex<EyeState>,
}

#[derive(Default)]
struct EyeState {
    analyser: Analyser,
    last: Option<LastLook>,
}

struct LastLook {
    rgb: Arc<RgbImage>,
    depth: Option<Arc<DepthImage>>,
    pose: Option<cerebellum_core::Pose>,
    scene: Arc<Scene>,
}

impl Eye {
    fn look(&self, frame: &Frame) -> Result<Arc<Scene>, EngineError> {
        if let Some(depth) = &frame.depth {
            blind::check(&frame.rgb, depth)?;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = state.last.as_ref().filter(|last| last.is_of(frame)) {
            return Ok(Arc::clone(&last.scene));
        }
        let scene = Arc::new(state.analyser.analyse(frame).map_err(|error| refusal(&error))?);
        state.last = Some(LastLook {
            rgb: Arc::clone(&frame.rgb),
            depth: frame.depth.clone(),
            pose: frame.map_from_camera,
            scene: Arc::clone(&scene),
        });
        Ok(scene)
    }
}

impl LastLook {
    fn is_of(&self, frame: &Frame) -> bool {
        let same_depth = match (&self.depth, &frame.depth) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        Arc::ptr_eq(&self.rgb, &frame.rgb) && same_depth && self.pose == frame.map_from_camera
    }
}

fn refusal(error: &ViewError) -> EngineError {
    match error {
        ViewError::NoDepth => EngineError::Missing { what: "depth".into() },
        ViewError::NoIntrinsics => EngineError::Missing { what: "the camera's intrinsics".into() },
        ViewError::Sizes { .. } => EngineError::Failed { reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests;
