use std::fmt::{Arguments, Write as _};

use cerebellum_core::{Detection, DetectionFrame};
use cerebellum_wire::text::is_hidden;
use cerebellum_wire::tools::perception::OutputAnswer;
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
    let mut line = join(frame.detections.iter(), |detection| {
        let bounds = detection.bounds;
        format!(" [{},{},{},{}]", bounds.x, bounds.y, bounds.width, bounds.height)
    });
    if frame.detections.iter().any(|detection| detection.has_mask) {
        append(&mut line, format_args!("; masks on {topic} at {}", frame.stamp.as_secs_micros()));
    }
    line
}

/// What was found, in one line for an event: labels and scores, first those that the condition speaks of.
pub(super) fn brief(frame: &DetectionFrame, condition: &str) -> String {
    if frame.detections.is_empty() {
        return String::new();
    }
    let condition = words(condition);
    let mut detections: Vec<&Detection> = frame.detections.iter().collect();
    detections.sort_by_key(|detection| distance(&words(&detection.label), &condition));
    join(detections.into_iter(), |_| String::new())
}

/// 0 when the condition has every word of the label, 1 when it has the last one, which names the thing, else 2.
fn distance(label: &[String], condition: &[String]) -> u8 {
    let is_said = |word: &String| condition.iter().any(|said| said == word || is_plural(said, word));
    match label.last() {
        Some(_) if label.iter().all(is_said) => 0,
        Some(thing) if is_said(thing) => 1,
        Some(_) | None => 2,
    }
}

fn is_plural(said: &str, word: &str) -> bool {
    said.strip_prefix(word).is_some_and(|ending| matches!(ending, "s" | "es"))
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// The whole in a few lines, ready for a prompt: a line each skill, as [`skill_line`] makes them.
pub(super) fn scene(
    lines: &[String],
    is_idle: bool,
    omitted_skills: usize,
    camera: Option<&CameraAnswer>,
    problems: &[String],
) -> String {
    let mut text = String::new();
    for problem in problems {
        append(&mut text, format_args!("! {problem}\n"));
    }
    if is_idle {
        text.push_str("No skill is running; nothing is looked for.\n");
    }
    let mut hidden = omitted_skills;
    for line in lines {
        if text.len() + line.len() > TEXT_BYTES_MAX {
            hidden += 1;
        } else {
            text.push_str(line);
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

/// What one skill says, on one line; one that was stopped says only that. Texts of the camera stand in quotes.
pub(super) fn skill_line(skill: &SkillAnswer, is_stopped: bool) -> String {
    let mut line = format!("- {}", skill.skill);
    if is_stopped {
        line.push_str(" (stopped");
        if let Some(age_s) = skill.age_s {
            append(&mut line, format_args!(", last result {age_s:.1} s ago"));
        }
        line.push_str(")\n");
        return line;
    }
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
    let outputs: Vec<String> = skill
        .outputs
        .iter()
        .map(|(name, output)| format!("{name}={}{}", shown(&output.value), age_of(output, skill)))
        .collect();
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

/// The age of an output that is stale in a skill that is not.
fn age_of(output: &OutputAnswer, skill: &SkillAnswer) -> String {
    if output.stale && !skill.stale { format!(" (STALE, {:.1} s old)", output.age_s) } else { String::new() }
}

fn camera_line(camera: &CameraAnswer) -> String {
    match (camera.alive, camera.last_frame_age_s) {
        (true, Some(age_s)) => format!("Camera {}: alive, last picture {age_s:.1} s ago\n", camera.topic),
        (_, Some(age_s)) => format!("Camera {}: NOT ALIVE, last picture {age_s:.1} s ago\n", camera.topic),
        (_, None) => format!("Camera {}: no picture yet\n", camera.topic),
    }
}

/// The first detections, each with `more` behind it.
fn join<'a>(detections: impl ExactSizeIterator<Item = &'a Detection>, more: impl Fn(&Detection) -> String) -> String {
    let total = detections.len();
    if total == 0 {
        return "nothing detected".to_owned();
    }
    let mut line = String::new();
    for (index, detection) in detections.take(NAMED_MAX).enumerate() {
        if index > 0 {
            line.push_str(", ");
        }
        let label = plain(&detection.label, LABEL_CHARS_MAX);
        append(&mut line, format_args!("{label} {:.2}{}", detection.score, more(detection)));
    }
    if total > NAMED_MAX {
        append(&mut line, format_args!(" and {} more", total - NAMED_MAX));
    }
    line
}

/// Text cut to so many characters, without characters that nobody sees.
pub(super) fn plain(text: &str, chars_max: usize) -> String {
    let mut shown: String = text.chars().take(chars_max).map(|c| if is_hidden(c) { ' ' } else { c }).collect();
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
