use cerebellum_core::{Detection, DetectionFrame, OutputType, OutputValue, Stamp, StreamKind};
use cerebellum_wire::output;
use cerebellum_wire::tools::perception::get_latest::Answer as Latest;
use cerebellum_wire::tools::perception::get_overlay_ref::Answer as OverlayRef;
use cerebellum_wire::tools::perception::list_streams::{Answer as Streams, StreamAnswer};
use cerebellum_wire::tools::perception::what_do_you_see::{Answer as Scene, CameraAnswer, SkillAnswer};
use cerebellum_wire::tools::perception::{DetectionAnswer, ImageSize, OutputAnswer, Outputs, PointAnswer, Reference};
use serde::Serialize;
use serde_json::Value;

use super::moment::{Arrival, Moment};
use super::render::{self, plain};
use super::store::{Bus, Store, View};

/// How many detections of a skill `what_do_you_see` shows.
const DETECTIONS_SHOWN_MAX: usize = 20;
/// Bytes of compact JSON; together they leave room for other writers' spaces below 20 kB.
const SKILLS_BYTES_MAX: usize = 7_000;
const DETECTIONS_BYTES_MAX: usize = 6_000;
const LATEST_DETECTIONS_BYTES_MAX: usize = 10_000;
const LATEST_OUTPUTS_BYTES_MAX: usize = 4_000;
const SCENE_OUTPUTS_BYTES_MAX: usize = 1_200;
const STREAMS_BYTES_MAX: usize = 15_000;
/// The longest label, in characters.
const LABEL_CHARS_MAX: usize = 100;
/// The longest note or problem, in characters.
const NOTE_CHARS_MAX: usize = 300;
/// The most notes shown.
const NOTES_MAX: usize = 8;

/// `what_do_you_see`: the fresh skills first.
pub(super) fn scene(store: &Store, now: Moment) -> Scene {
    let mut views: Vec<(bool, View)> = store
        .views(None)
        .into_iter()
        .map(|view| (view.is_stopped || view.age_s(now).is_none_or(|age_s| view.is_stale(age_s)), view))
        .collect();
    // What is stopped comes last: it is no part of what is seen now.
    views.sort_by_key(|(is_stale, view)| (view.is_stopped, *is_stale));
    let total = views.len();
    let mut skills = Vec::new();
    let mut bytes = 0;
    for (_, view) in &views {
        let answer = skill_answer(view, now);
        bytes += size_of_json(&answer);
        if bytes > SKILLS_BYTES_MAX {
            break;
        }
        skills.push(answer);
    }
    let mut omitted = 0;
    let mut budget = DETECTIONS_BYTES_MAX;
    for (at, (_, view)) in views.iter().enumerate() {
        let Some((_, frame)) = &view.detections else { continue };
        let shown = match skills.get_mut(at) {
            Some(skill) => {
                skill.detections = detections(&view.topic, frame, DETECTIONS_SHOWN_MAX, &mut budget);
                skill.detections.len()
            }
            None => 0,
        };
        omitted += frame.detections.len() - shown;
    }
    let camera = store.camera(now).map(|(topic, alive, age_s)| CameraAnswer {
        topic,
        alive,
        last_frame_age_s: age_s.map(millis),
    });
    let omitted_skills = total - skills.len();
    let problems = problems(store);
    let lines: Vec<String> =
        skills.iter().zip(&views).map(|(skill, (_, view))| render::skill_line(skill, view.is_stopped)).collect();
    let is_idle = views.iter().all(|(_, view)| view.is_stopped);
    Scene {
        text: render::scene(&lines, is_idle, omitted_skills, camera.as_ref(), &problems),
        skills,
        camera,
        omitted: (omitted > 0).then_some(omitted),
        omitted_skills: (omitted_skills > 0).then_some(omitted_skills),
        problems,
    }
}

/// `get_latest`.
pub(super) fn latest(view: &View, now: Moment) -> Latest {
    let mut budget = LATEST_DETECTIONS_BYTES_MAX;
    let mut notes: Vec<String> =
        view.task.iter().flat_map(|task| task.notes.iter()).map(|note| plain(note, NOTE_CHARS_MAX)).collect();
    notes.truncate(NOTES_MAX);
    if view.is_paused() {
        notes.push("the skill is paused; set_skill_enabled lets it look again".to_owned());
    } else if view.has_left && !view.is_stopped {
        notes.push("its topic has left the graph: what it said last is not renewed".to_owned());
    }
    let (outputs, bad) = outputs(view, now, LATEST_OUTPUTS_BYTES_MAX);
    let problem = view.problem().or(bad).map(|text| plain(&text, NOTE_CHARS_MAX));
    let mut answer = Latest {
        skill: view.skill.clone(),
        topic: view.topic.clone(),
        stamp: None,
        frame_id: None,
        age_s: None,
        stale: true,
        image: None,
        detections: Vec::new(),
        outputs,
        omitted: None,
        notes,
        problem,
        clock_skew_s: None,
        known: None,
    };
    let Some((arrival, frame)) = &view.detections else {
        answer.notes.push("no detections have come yet".to_owned());
        return answer;
    };
    let age_s = arrival.age_s(now);
    answer.stamp = Some(frame.stamp.as_secs_micros());
    answer.frame_id = Some(plain(&frame.frame_id, LABEL_CHARS_MAX));
    answer.age_s = Some(millis(age_s));
    answer.stale = view.is_stale(age_s);
    answer.image = Some(ImageSize { width: frame.image_width, height: frame.image_height });
    answer.detections = detections(&view.topic, frame, usize::MAX, &mut budget);
    let omitted = frame.detections.len() - answer.detections.len();
    answer.omitted = (omitted > 0).then_some(omitted);
    answer.clock_skew_s = arrival.skew_s.map(millis);
    answer.notes.extend(view.strange.as_deref().map(str::to_owned));
    answer
}

/// `list_streams`.
pub(super) fn streams(store: &Store, prefix: &str, limit: usize, now: Moment) -> Streams {
    let live = store.live(prefix, now);
    let total = live.len();
    let mut bytes = 0;
    let mut streams = Vec::new();
    for view in live.into_iter().take(limit) {
        let age_s = view.arrival.age_s(now);
        let answer = StreamAnswer {
            topic: view.topic.topic,
            skill: view.topic.skill,
            kind: match view.topic.kind {
                StreamKind::Detections => "detections",
                StreamKind::Output => "output",
                StreamKind::Overlay => "overlay",
            },
            last_update_age_s: millis(view.arrival.arrival_age_s(now)),
            stale: age_s > view.window.as_secs_f64(),
            problem: view.problem.map(|text| plain(&text, NOTE_CHARS_MAX)),
        };
        bytes += size_of_json(&answer);
        if bytes > STREAMS_BYTES_MAX {
            break;
        }
        streams.push(answer);
    }
    let unreadable = store.unreadable().into_iter().filter(|(topic, _)| topic.starts_with(prefix)).take(NOTES_MAX);
    let unreadable = unreadable.map(|(topic, reason)| plain(&format!("{topic}: {reason}"), NOTE_CHARS_MAX)).collect();
    Streams { total, streams, unreadable }
}

/// `get_overlay_ref`; `None` when no picture has come yet.
pub(super) fn overlay_ref(view: &View, now: Moment) -> Option<OverlayRef> {
    let (topic, arrival) = view.overlay()?;
    let age_s = arrival.age_s(now);
    Some(OverlayRef {
        topic: topic.to_owned(),
        stamp: arrival.stamp.as_secs_micros(),
        age_s: millis(age_s),
        stale: view.is_stale(age_s),
        known: None,
    })
}

/// What keeps the robot from seeing.
pub(super) fn problems(store: &Store) -> Vec<String> {
    let mut problems = Vec::new();
    match store.bus() {
        Bus::Up => {}
        Bus::NotYet(reason) => {
            problems.push(format!("the ROS bus is not connected yet: {}", plain(&reason, NOTE_CHARS_MAX)));
        }
        Bus::Lost(reason) => problems.push(format!("the ROS bus is lost: {}", plain(&reason, NOTE_CHARS_MAX))),
    }
    if let Some(problem) = store.tasks().problem {
        problems.push(plain(&problem, NOTE_CHARS_MAX));
    }
    problems
}

fn skill_answer(view: &View, now: Moment) -> SkillAnswer {
    let age_s = view.age_s(now);
    let (outputs, bad) = outputs(view, now, SCENE_OUTPUTS_BYTES_MAX);
    SkillAnswer {
        skill: view.skill.clone(),
        enabled: view.is_enabled(),
        age_s: age_s.map(millis),
        stale: age_s.is_none_or(|age_s| view.is_stale(age_s)),
        outputs,
        summary: summary(view, age_s, now),
        detections: Vec::new(),
        overlay_ref: view
            .overlay()
            .map(|(topic, arrival)| Reference { topic: topic.to_owned(), stamp: arrival.stamp.as_secs_micros() }),
        problem: view.problem().or(bad).map(|text| plain(&text, NOTE_CHARS_MAX)),
    }
}

/// What was found, in one line. Detections that are stale say so where a fresh output hides it.
fn summary(view: &View, age_s: Option<f64>, now: Moment) -> String {
    let Some((arrival, frame)) = &view.detections else { return String::new() };
    let own_age_s = arrival.age_s(now);
    let line = render::summary(&view.topic, frame);
    if view.is_stale(own_age_s) && age_s.is_some_and(|age_s| !view.is_stale(age_s)) {
        format!("{line} (STALE, {own_age_s:.1} s old)")
    } else {
        line
    }
}

/// The outputs of a skill, and what could not be read as the type the skill declares.
fn outputs(view: &View, now: Moment, bytes_max: usize) -> (Outputs, Option<String>) {
    let mut outputs = Outputs::new();
    let mut bad = None;
    let share = bytes_max / view.outputs.len().max(1);
    for (name, arrival, text) in &view.outputs {
        match value_of(view, name, text) {
            Ok(value) => {
                outputs.insert(name.clone(), output_answer(view, &value, *arrival, now, share));
            }
            Err(reason) => bad = bad.or(Some(format!("output {name}: {reason}"))),
        }
    }
    (outputs, bad)
}

fn output_answer(view: &View, value: &OutputValue, arrival: Arrival, now: Moment, bytes_max: usize) -> OutputAnswer {
    let age_s = arrival.age_s(now);
    OutputAnswer {
        value: bounded(output::to_json(value), bytes_max),
        output_type: value.output_type().as_str(),
        age_s: millis(age_s),
        stale: view.is_stale(age_s),
    }
}

fn value_of(view: &View, name: &str, text: &str) -> Result<OutputValue, String> {
    let skill = view.task.as_ref().and_then(|task| task.skill.as_ref());
    let declared = skill.and_then(|skill| skill.outputs.iter().find(|output| output.name.as_str() == name));
    match declared {
        Some(spec) => output::from_text(spec.output_type, text).map_err(|fault| fault.to_string()),
        None => Ok(guessed(text)),
    }
}

/// The value of an output whose skill nobody declared.
fn guessed(text: &str) -> OutputValue {
    let kinds = [OutputType::Boolean, OutputType::Number, OutputType::List];
    let value = kinds.into_iter().find_map(|kind| output::from_text(kind, text).ok());
    value.unwrap_or_else(|| OutputValue::Text(text.to_owned()))
}

/// Cuts long texts and lists.
fn bounded(value: Value, bytes_max: usize) -> Value {
    match value {
        Value::String(text) if text.len() > bytes_max => {
            let mut end = bytes_max;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            Value::String(format!("{}…", &text[..end]))
        }
        Value::Array(items) => {
            let mut left = bytes_max;
            let fits = |item: &Value| {
                let bytes = size_of_json(item);
                left = left.saturating_sub(bytes + 1);
                left > 0
            };
            Value::Array(items.into_iter().take_while(fits).collect())
        }
        value => value,
    }
}

/// The first detections, as many as are wanted and fit.
fn detections(topic: &str, frame: &DetectionFrame, most: usize, budget: &mut usize) -> Vec<DetectionAnswer> {
    let mut answers = Vec::new();
    for detection in frame.detections.iter().take(most) {
        let answer = detection_answer(topic, frame.stamp, detection);
        let bytes = size_of_json(&answer) + 1;
        if bytes > *budget {
            break;
        }
        *budget -= bytes;
        answers.push(answer);
    }
    answers
}

fn detection_answer(topic: &str, stamp: Stamp, detection: &Detection) -> DetectionAnswer {
    let bounds = detection.bounds;
    DetectionAnswer {
        id: detection.id.as_ref().map(|id| plain(id, LABEL_CHARS_MAX)),
        label: plain(&detection.label, LABEL_CHARS_MAX),
        score: millis(f64::from(detection.score)),
        bounds: [bounds.x, bounds.y, bounds.width, bounds.height],
        point: detection.point.as_ref().map(|point| PointAnswer {
            x: millis(point.position.x),
            y: millis(point.position.y),
            z: millis(point.position.z),
            frame: plain(&point.frame, LABEL_CHARS_MAX),
        }),
        mask_ref: detection.has_mask.then(|| Reference { topic: topic.to_owned(), stamp: stamp.as_secs_micros() }),
    }
}

/// Rounded to thousandths: seconds to milliseconds, metres to millimetres.
fn millis(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn size_of_json(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}
