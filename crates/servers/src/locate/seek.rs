use std::sync::Arc;

use cerebellum_core::{
    EngineError, Found, Frame, Look, OutputSpec, OutputType, OutputValue, Point, Skill, SkillMode, Unjudged,
};
use cerebellum_geometry::click;
use cerebellum_mcp::CallContext;
use cerebellum_wire::skill::TEXT_LENGTH_MAX;
use cerebellum_wire::tools::locate::{Candidate, locate_3d, metres, observe_task};
use cerebellum_wire::tools::perception::PointAnswer;
use cerebellum_wire::{Fault, ToolOutcome, arguments, text};

use super::eyes::Sight;
use super::{Ended, Server};

/// A match that scores this share of the best may be what was meant.
const RIVAL: f32 = 0.85;
/// The most candidates of an answer.
const CANDIDATES_MAX: usize = 10;
/// The most notes, and the longest, in characters.
const NOTES_MAX: usize = 8;
const NOTE_CHARS_MAX: usize = 300;
/// The frame of points when the robot is localised.
const MAP: &str = "map";

/// What a look came to.
pub(super) struct Seen {
    pub(super) sight: Sight,
    pub(super) look: Look,
    pub(super) notes: Vec<String>,
    pub(super) unjudged: Vec<Unjudged>,
}

impl Server {
    pub(super) async fn locate_3d(&self, query: &str, context: &CallContext) -> Result<ToolOutcome, Ended> {
        let seen = self.find(query, context).await?;
        let age_s = Some(seen.sight.age_s);
        let Some(best) = seen.look.detections.first() else {
            let answer = locate_3d::Answer { age_s, notes: seen.notes, ..Default::default() };
            return Err(not_in_view(query, &answer));
        };
        let point = point_of(best, &seen.sight.frame);
        let answer = locate_3d::Answer {
            found: true,
            label: Some(text::cut(&best.detection.label)),
            score: Some(score(best)),
            x: point.as_ref().map(|point| point.x),
            y: point.as_ref().map(|point| point.y),
            z: point.as_ref().map(|point| point.z),
            frame: point.map(|point| point.frame),
            age_s,
            candidates: rivals(&seen),
            notes: seen.notes,
        };
        Ok(ToolOutcome::done(&answer))
    }

    pub(super) async fn observe_task(&self, words: &str, context: &CallContext) -> Result<ToolOutcome, Ended> {
        let words = checked("context", words)?;
        let name = "condition".parse().expect("it is a name");
        let output = OutputSpec { name, output_type: OutputType::Boolean, description: words.clone() };
        let seen = self.look(skill(SkillMode::Describe, None, vec![output]), context).await?;
        let age_s = Some(seen.sight.age_s);
        let engine = self.ports.engine.name();
        let said = seen.look.outputs.first().map(|(_, value)| value);
        let Some(OutputValue::Boolean(holds)) = said else {
            let reason = seen.unjudged.first().map_or("the engine said nothing of it", |unjudged| &unjudged.reason);
            let reasoning = format!("not judged: {}", text::cut_to(reason, NOTE_CHARS_MAX));
            return Ok(ToolOutcome::done(&observe_task::Answer { reasoning, age_s, ..Default::default() }));
        };
        let shown = text::cut(&words);
        let reasoning = format!("engine {engine} looked at one picture and judged {shown:?} {holds}");
        if *holds {
            let answer = observe_task::Answer { issue: String::new(), reasoning, judged: true, age_s };
            return Ok(ToolOutcome::done(&answer));
        }
        let issue = format!("it does not look so: {shown}");
        let answer = observe_task::Answer { issue: issue.clone(), reasoning, judged: true, age_s };
        Err(Ended::no("issue", issue, "Look again; if it stays so, stop and plan anew.", &answer))
    }

    /// Looks at a fresh picture for what the words name.
    pub(super) async fn find(&self, query: &str, context: &CallContext) -> Result<Seen, Ended> {
        let query = checked("query", query)?;
        self.look(skill(SkillMode::GroundAndSegment, Some(query), Vec::new()), context).await
    }

    /// Looks at a fresh picture.
    pub(super) async fn look(&self, skill: Skill, context: &CallContext) -> Result<Seen, Ended> {
        let sight = tokio::select! {
            biased;
            () = context.cancelled.cancelled() => return Err(cancelled()),
            sight = self.eyes.fresh() => sight?,
        };
        self.look_at(sight, skill, context).await
    }

    pub(super) async fn look_at(&self, sight: Sight, skill: Skill, context: &CallContext) -> Result<Seen, Ended> {
        let mut prepared = self.ports.engine.prepare(&skill);
        let look = tokio::select! {
            biased;
            () = context.cancelled.cancelled() => return Err(cancelled()),
            look = prepared.looker.look(Arc::clone(&sight.frame)) => look.map_err(|error| engine_failed(&error))?,
            () = self.ports.clock.sleep(self.config.look_deadline) => {
                return Err(Ended::failed(
                    "engine_timeout",
                    format!("the engine gave no answer within {} s", self.config.look_deadline.as_secs_f64()),
                    "Call again; if it stays so, tell the operator to check the vision engine.",
                ));
            }
        };
        let notes = prepared.notes.iter().chain(&look.notes);
        let notes = notes.take(NOTES_MAX).map(|note| text::cut_to(note, NOTE_CHARS_MAX)).collect();
        let age_s = self.eyes.age_s(&sight.frame);
        Ok(Seen { sight: Sight { age_s, ..sight }, look, notes, unjudged: prepared.unjudged })
    }
}

/// A skill that lives for one look.
pub(super) fn skill(mode: SkillMode, grounding: Option<String>, outputs: Vec<OutputSpec>) -> Skill {
    let name = "locate".parse().expect("it is a name");
    Skill {
        name,
        mode,
        grounding,
        segment: mode != SkillMode::Describe,
        once: true,
        rate_hz: None,
        outputs,
        watch: None,
    }
}

/// The caller's words, without space around them; empty ones and endless ones are refused.
pub(super) fn checked(argument: &str, words: &str) -> Result<String, Ended> {
    let words = words.trim();
    let fault = if words.is_empty() {
        "must say something, not be empty".to_owned()
    } else if words.chars().count() > TEXT_LENGTH_MAX {
        format!("must have at most {TEXT_LENGTH_MAX} characters")
    } else {
        return Ok(words.to_owned());
    };
    Err(arguments::bad(&Fault::at(argument, fault)).into())
}

pub(super) fn not_in_view(query: &str, data: &impl serde::Serialize) -> Ended {
    let message = format!("{:?} is not in view", text::cut(query));
    Ended::no("not_found", message, "Drive or turn to where it should be and look again.", data)
}

/// All that may be meant, when more than one may.
pub(super) fn rivals(seen: &Seen) -> Vec<Candidate> {
    let Some(best) = seen.look.detections.first() else { return Vec::new() };
    let close = |found: &&Found| found.detection.score >= RIVAL * best.detection.score;
    let rivals: Vec<Candidate> = seen
        .look
        .detections
        .iter()
        .filter(close)
        .take(CANDIDATES_MAX)
        .map(|found| Candidate {
            label: text::cut(&found.detection.label),
            score: score(found),
            bbox: bbox(found),
            point: point_of(found, &seen.sight.frame),
        })
        .collect();
    if rivals.len() > 1 { rivals } else { Vec::new() }
}

pub(super) fn score(found: &Found) -> f64 {
    (f64::from(found.detection.score) * 1e3).round() / 1e3
}

pub(super) fn bbox(found: &Found) -> [u32; 4] {
    let bounds = found.detection.bounds;
    [bounds.x, bounds.y, bounds.width, bounds.height]
}

/// The engine's point, else what depth says of the middle of its pixels; in `map` whenever the frame knows its place.
pub(super) fn point_of(found: &Found, frame: &Frame) -> Option<PointAnswer> {
    if let Some(Point { frame: name, position }) = &found.detection.point {
        if name == MAP {
            return Some(point_answer(*position, MAP));
        }
        return Some(in_map(frame, *position));
    }
    let middle = found.mask.as_ref().and_then(cerebellum_geometry::contour::centroid);
    let bounds = found.detection.bounds;
    let [u, v] = middle.unwrap_or([bounds.x + bounds.width / 2, bounds.y + bounds.height / 2]);
    click::point(frame, f64::from(u), f64::from(v)).ok().map(|point| in_map(frame, point))
}

/// A point of the camera's frame in `map`, or as it is when the robot is not localised.
pub(super) fn in_map(frame: &Frame, point: glam::DVec3) -> PointAnswer {
    match &frame.map_from_camera {
        Some(map_from_camera) => point_answer(map_from_camera.transform_point(point), MAP),
        None => point_answer(point, &frame.frame_id),
    }
}

fn point_answer(point: glam::DVec3, frame: &str) -> PointAnswer {
    PointAnswer { x: metres(point.x), y: metres(point.y), z: metres(point.z), frame: frame.to_owned() }
}

fn cancelled() -> Ended {
    Ended::failed("cancelled", "the call was cancelled", "Call again if it is still wanted.")
}

fn engine_failed(error: &EngineError) -> Ended {
    let message = text::cut_to(&error.to_string(), NOTE_CHARS_MAX);
    match error {
        EngineError::Missing { .. } => Ended::no("no_depth", message, "Use a camera that gives it.", &()),
        EngineError::Failed { .. } => {
            Ended::failed("engine_failed", message, "Call again, or look from another place.")
        }
        EngineError::Busy { .. } => Ended::failed("engine_busy", message, "Wait as long as it says and call again."),
    }
}
