use cerebellum_core::{Limits, Parts, PlanarPose, Side};
use cerebellum_wire::text;
use serde_json::{Map, Value, json};

use super::Failure;

/// No map is that large, in metres; a number beyond it is a mistake.
const COORDINATE_MAX: f64 = 10_000.0;

/// A number of a call, and the limit it is held against.
pub(super) struct Bound<'a> {
    /// The argument.
    pub(super) argument: &'a str,
    /// The limit's name.
    pub(super) limit: &'a str,
    /// The largest magnitude that is accepted.
    pub(super) most: f64,
    /// The unit, for messages.
    pub(super) unit: &'a str,
}

impl Bound<'_> {
    /// The number, or why it is refused. A number that is missing is left to the reader of the arguments.
    pub(super) fn check(&self, given: &Map<String, Value>) -> Result<(), Failure> {
        let Self { argument, limit, most, unit } = self;
        let accepted =
            format!("{limit} accepts numbers from {} to {} {unit}", text::number(-most), text::number(*most));
        let Some(value) = given.get(*argument) else { return Ok(()) };
        let Some(number) = value.as_f64().filter(|number| number.is_finite()) else {
            let shown = text::cut(&value.to_string());
            return Err(Failure::bad(
                format!("argument {argument}: {shown} is no finite number; {accepted}"),
                format!("Give {argument} as a number."),
                &json!({"limit": limit}),
            ));
        };
        if number.abs() <= *most {
            return Ok(());
        }
        Err(refused(
            limit,
            format!("{argument} is {}; {accepted}", text::number(number)),
            "Stay within the limit; a longer way takes several calls.",
        ))
    }
}

/// A coordinate of a call.
pub(super) fn coordinate(argument: &str) -> Bound<'_> {
    Bound { argument, limit: "max_coordinate_m", most: COORDINATE_MAX, unit: "m" }
}

/// A heading of a call.
pub(super) fn heading(argument: &str) -> Bound<'_> {
    Bound { argument, limit: "max_heading_deg", most: 360.0, unit: "degrees" }
}

/// Checks the numbers of an object inside the arguments.
pub(super) fn check_inside(given: &Map<String, Value>, object: &str, bounds: &[Bound<'_>]) -> Result<(), Failure> {
    let Some(Value::Object(inside)) = given.get(object) else { return Ok(()) };
    bounds.iter().try_for_each(|bound| bound.check(inside))
}

/// The answer to something that a limit or a rule forbids.
pub(super) fn refused(limit: &str, message: String, next: &str) -> Failure {
    Failure::no("refused", message, next, &json!({"limit": limit}))
}

/// A goal of the base, within the workspace.
pub(super) fn goal(limits: &Limits, x: f64, y: f64, yaw_deg: f64) -> Result<PlanarPose, Failure> {
    if let Some([[left, bottom], [right, top]]) = limits.workspace
        && !((left..=right).contains(&x) && (bottom..=top).contains(&y))
    {
        let message = format!("({x}, {y}) is outside the workspace: x {left} to {right}, y {bottom} to {top} m");
        return Err(refused("workspace", message, "Choose a goal inside the workspace."));
    }
    Ok(PlanarPose::new(x, y, yaw_deg.to_radians()))
}

/// The arm that is named, which must be one that the robot has.
pub(super) fn side(parts: &Parts, named: Option<&str>) -> Result<Option<Side>, Failure> {
    let Some(named) = named else { return Ok(None) };
    let word = super::folded(named);
    if let Some(side) = parts.arms.iter().copied().find(|side| side.as_str() == word) {
        return Ok(Some(side));
    }
    let known: Vec<&str> = parts.arms.iter().map(|side| side.as_str()).collect();
    Err(Failure::bad(
        format!("this robot has no arm {:?}; it has {}", text::cut(named), known.join(" and ")),
        "Take one of `known`, or leave side out.",
        &json!({"known": known}),
    ))
}

/// The frames that points and poses may be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Map,
    Base,
}

/// The frame that is named; `map` when none is.
pub(super) fn frame(named: Option<&str>) -> Result<Frame, Failure> {
    match named {
        None | Some("map" | "") => Ok(Frame::Map),
        Some("base_link" | "base_footprint") => Ok(Frame::Base),
        Some(other) => Err(Failure::bad(
            format!("unknown frame {:?}", text::cut(other)),
            "Give the point in `map` or `base_link`.",
            &json!({"known": ["map", "base_link"]}),
        )),
    }
}
