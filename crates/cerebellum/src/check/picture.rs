use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use cerebellum_mcp::attach::CallOptions;
use cerebellum_wire::contract::{self, Level};
use serde_json::{Map, Value, json};

use super::examinee::{Examinee, READ};
use super::reading::{cut, object};
use super::report::Report;

/// Pictures that are asked for to tell the rate.
const PICTURES: usize = 8;
/// The least rate at which a live view is of use.
const MIN_RATE_HZ: f64 = 2.0;
/// How far the robot's clock may be from ours.
const MAX_SKEW_S: f64 = 1.0;

/// The live picture, its rate and its clock, and the segmented scene.
pub(super) async fn examine(robot: &Examinee, report: &mut Report) {
    if robot.has("get_frame") {
        live(robot, report).await;
    }
    if robot.has("capture_scene") {
        scene(robot, report).await;
    }
}

async fn live(robot: &Examinee, report: &mut Report) {
    let begun = Instant::now();
    let mut stamps = Vec::new();
    let mut faults = Vec::new();
    let mut skew_s = 0.0;
    for _ in 0..PICTURES {
        let answer = robot.call("get_frame", json!({}), CallOptions::within(READ)).await;
        match object(&answer) {
            Ok(data) => {
                faults.extend(picture_faults("get_frame", data));
                if let Some(stamp) = data.get("stamp").and_then(Value::as_f64) {
                    skew_s = now_s() - stamp;
                    stamps.push(stamp);
                }
            }
            Err(fault) => faults.push(fault),
        }
        if !faults.is_empty() {
            break;
        }
    }
    let rate = stamps.len() as f64 / begun.elapsed().as_secs_f64();
    let change = "answer {ok, image_jpeg_b64, width, height, stamp} with a whole JPEG of that size";
    report.judge("answer get_frame", Level::Full, &faults, "a JPEG of the size it says", change);
    if !faults.is_empty() {
        return;
    }
    if rate >= MIN_RATE_HZ {
        report.holds("frame rate", Level::Full, format!("{rate:.0} pictures a second"));
    } else {
        let change = "answer from the newest picture in memory; do not take or segment one for each call";
        report.fails("frame rate", Level::Full, format!("{rate:.1} pictures a second"), change);
    }
    clock(robot, report, stamps.last().copied(), skew_s).await;
}

/// A stamp that moves and is off tells of a clock; one that stands still tells of a camera.
async fn clock(robot: &Examinee, report: &mut Report, last: Option<f64>, skew_s: f64) {
    #[allow(clippy::disallowed_methods, reason = "the robot's own time is what is examined")]
    tokio::time::sleep(Duration::from_millis(600)).await;
    let answer = robot.call("get_frame", json!({}), CallOptions::within(READ)).await;
    let later = object(&answer).ok().and_then(|data| data.get("stamp")).and_then(Value::as_f64);
    if later == last {
        report.fails(
            "clock",
            Level::Full,
            "the stamp stood still for 0.6 s",
            "stamp each picture when it is taken; a stamp that stands still means a frozen camera",
        );
    } else if skew_s.abs() > MAX_SKEW_S {
        report.fails(
            "clock",
            Level::Full,
            format!("stamps are {:.1} s {} our clock", skew_s.abs(), if skew_s > 0.0 { "behind" } else { "ahead of" }),
            "synchronise the robot's clock (chrony or NTP), and stamp in Unix seconds",
        );
    } else {
        report.holds("clock", Level::Full, format!("{:.0} ms old", skew_s * 1e3));
    }
}

async fn scene(robot: &Examinee, report: &mut Report) {
    let answer = robot.call("capture_scene", json!({}), CallOptions::within(READ)).await;
    let data = match object(&answer) {
        Ok(data) => data,
        Err(fault) => {
            return report.fails("answer capture_scene", Level::Full, fault, "answer the scene as JSON");
        }
    };
    let mut faults = picture_faults("capture_scene", data);
    let objects = data.get("objects").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    faults.extend(objects.iter().filter_map(object_fault));
    let change = "answer {ok, image_jpeg_b64, width, height, segmenter, objects: [{id, label, score, bbox, polygon, centroid_uv, point_3d}]}";
    let seen = format!("{} objects, segmenter {}", objects.len(), data.get("segmenter").map(cut).unwrap_or_default());
    report.judge("answer capture_scene", Level::Full, &faults, &seen, change);
    let Some([u, v]) = objects.first().and_then(|first| pair(&first["centroid_uv"])) else {
        for tool in ["pixel_to_3d", "grasp_from_pixel"].into_iter().filter(|tool| robot.has(tool)) {
            report.skips(
                format!("answer {tool}"),
                Level::Full,
                "no object in view to ask about; put one before the camera",
            );
        }
        return;
    };
    for tool in ["pixel_to_3d", "grasp_from_pixel"].into_iter().filter(|tool| robot.has(tool)) {
        let Some(row) = contract::tool(tool) else { continue };
        let mut arguments = json!({"u": u, "v": v});
        if let Some(stamp) = data.get("stamp").filter(|_| robot.takes(tool, "frame_stamp")) {
            arguments["frame_stamp"] = stamp.clone();
        }
        let answer = robot.call(tool, arguments, CallOptions::within(READ)).await;
        let faults = match object(&answer) {
            Ok(data) => row.faults(data, false),
            Err(fault) => vec![fault],
        };
        let change = format!("answer the contract's fields of {tool} for a pixel on an object");
        report.judge(format!("answer {tool}"), row.level, &faults, "the contract's fields, with their types", &change);
    }
}

fn picture_faults(tool: &str, data: &Map<String, Value>) -> Vec<String> {
    let mut faults = contract::tool(tool).map(|row| row.faults(data, false)).unwrap_or_default();
    let Some(text) = data.get("image_jpeg_b64").and_then(Value::as_str) else { return faults };
    let size = base64::engine::general_purpose::STANDARD.decode(text).ok().and_then(|bytes| {
        image::ImageReader::with_format(std::io::Cursor::new(bytes), image::ImageFormat::Jpeg).into_dimensions().ok()
    });
    let said = (data.get("width").and_then(Value::as_u64), data.get("height").and_then(Value::as_u64));
    match size {
        None => faults.push("image_jpeg_b64 is no JPEG in base64".to_owned()),
        Some((width, height)) if said != (Some(u64::from(width)), Some(u64::from(height))) => {
            faults.push(format!("the picture is {width}x{height} and width and height say otherwise"));
        }
        Some(_) => {}
    }
    faults
}

fn object_fault(object: &Value) -> Option<String> {
    let is_right = object.get("id").is_some_and(|id| id.is_string() || id.is_number())
        && object["label"].is_string()
        && object["score"].is_number()
        && object["bbox"].as_array().is_some_and(|bounds| bounds.len() == 4 && bounds.iter().all(Value::is_number))
        && object["polygon"].as_array().is_some_and(|points| points.iter().all(|point| pair(point).is_some()))
        && pair(&object["centroid_uv"]).is_some()
        && object
            .get("point_3d")
            .is_none_or(|point| point.is_null() || ["x", "y", "z"].iter().all(|axis| point[axis].is_number()));
    (!is_right).then(|| format!("an object lacks a field or has one of another type: {}", cut(object)))
}

fn pair(value: &Value) -> Option<[f64; 2]> {
    match value.as_array().map(Vec::as_slice) {
        Some([u, v]) => Some([u.as_f64()?, v.as_f64()?]),
        _ => None,
    }
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
