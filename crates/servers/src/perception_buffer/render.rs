use std::fmt::{Arguments, Write as _};

use cerebellum_core::{Detection, DetectionFrame};
use cerebellum_wire::tools::perception::what_do_you_see::{CameraAnswer, SkillAnswer};
use serde_json::Value;

/// The longest rendering, in bytes.
const TEXT_BYTES_MAX: usize = 3_000;
/// The longest value shown in the rendering, in characters.
const VALUE_CHARS_MAX: usize = 200;
/// How many detections a line names.
const NAMED_MAX: usize = 5;
/// The longest label shown in a line, in characters.
const LABEL_CHARS_MAX: usize = 60;

/// What was found, in one line: labels, scores and boxes, masks by reference.
pub(super) fn summary(topic: &str, frame: &DetectionFrame) -> String {
    let mut line = join(&frame.detections, |detection| {
        let bounds = detection.bounds;
        format!(" [{},{},{},{}]", bounds.x, bounds.y, bounds.width, bounds.height)
    });
    if frame.detections.iter().any(|detection| detection.has_mask) {
        append(&mut line, format_args!("; masks on {topic} at {}", frame.stamp.as_secs_micros()));
    }
    line
}

/// What was found, in one line for an event: labels and scores.
pub(super) fn brief(frame: &DetectionFrame) -> String {
    if frame.detections.is_empty() { String::new() } else { join(&frame.detections, |_| String::new()) }
}

/// The whole in a few lines, ready for a prompt. Texts of the camera stand in quotes, on one line.
pub(super) fn scene(
    skills: &[SkillAnswer],
    omitted_skills: usize,
    camera: Option<&CameraAnswer>,
    problems: &[String],
) -> String {
    let mut text = String::new();
    for problem in problems {
        append(&mut text, format_args!("! {problem}\n"));
    }
    if skills.is_empty() {
        text.push_str("No skill is running; nothing is looked for.\n");
    }
    let mut hidden = omitted_skills;
    for skill in skills {
        let line = skill_line(skill);
        if text.len() + line.len() > TEXT_BYTES_MAX {
            hidden += 1;
        } else {
            text.push_str(&line);
        }
    }
    if hidden > 0 {
        append(&mut text, format_args!("and {hidden} more; see list_streams and get_latest\n"));
    }
    if let Some(camera) = camera {
        text.push_str(&camera_line(camera));
    }
    text.truncate(text.trim_end().len());
    text
}

fn skill_line(skill: &SkillAnswer) -> String {
    let mut line = format!("- {}", skill.skill);
    match (skill.age_s, skill.enabled) {
        (Some(age_s), _) if skill.stale => {
            append(
                &mut line,
                format_args!(" (STALE, {age_s:.1} s old{})", if skill.enabled { "" } else { ", paused" }),
            );
        }
        (Some(age_s), true) => {
            append(&mut line, format_args!(" ({age_s:.1} s ago)"));
        }
        (Some(age_s), false) => {
            append(&mut line, format_args!(" (paused, {age_s:.1} s ago)"));
        }
        (None, true) => line.push_str(" (no result yet)"),
        (None, false) => line.push_str(" (paused, no result)"),
    }
    let outputs: Vec<String> =
        skill.outputs.iter().map(|(name, output)| format!("{name}={}", shown(&output.value))).collect();
    let parts = [
        outputs.join(", "),
        skill.summary.clone(),
        skill.problem.as_ref().map(|text| format!("problem: {text}")).unwrap_or_default(),
    ];
    let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    if !said.is_empty() {
        append(&mut line, format_args!(": {}", said.join("; ")));
    }
    line = line.replace(['\n', '\r'], " ");
    line.push('\n');
    line
}

fn camera_line(camera: &CameraAnswer) -> String {
    match (camera.alive, camera.last_frame_age_s) {
        (true, Some(age_s)) => format!("Camera {}: alive, last picture {age_s:.1} s ago\n", camera.topic),
        (_, Some(age_s)) => format!("Camera {}: NOT ALIVE, last picture {age_s:.1} s ago\n", camera.topic),
        (_, None) => format!("Camera {}: no picture yet\n", camera.topic),
    }
}

/// The first detections, each with `more` behind it.
fn join(detections: &[Detection], more: impl Fn(&Detection) -> String) -> String {
    if detections.is_empty() {
        return "nothing detected".to_owned();
    }
    let mut line = String::new();
    for (index, detection) in detections.iter().take(NAMED_MAX).enumerate() {
        if index > 0 {
            line.push_str(", ");
        }
        let label = plain(&detection.label, LABEL_CHARS_MAX);
        append(&mut line, format_args!("{label} {:.2}{}", detection.score, more(detection)));
    }
    if detections.len() > NAMED_MAX {
        append(&mut line, format_args!(" and {} more", detections.len() - NAMED_MAX));
    }
    line
}

/// Text cut to so many characters, without control characters.
pub(super) fn plain(text: &str, chars_max: usize) -> String {
    let mut shown: String = text.chars().take(chars_max).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(chars_max).is_some() {
        shown.push('…');
    }
    shown
}

fn append(text: &mut String, more: Arguments<'_>) {
    text.write_fmt(more).expect("a String takes every text");
}

fn shown(value: &Value) -> String {
    plain(&value.to_string(), VALUE_CHARS_MAX)
}
