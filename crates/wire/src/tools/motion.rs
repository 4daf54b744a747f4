use cerebellum_core::{PlanarPose, Pose, Side};
use glam::{DQuat, DVec3, EulerRot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tool::ToolSpec;

/// The gripper may touch a thing.
pub mod allow_gripper_touch;
/// Seen obstacles are forgotten.
pub mod clear_octomap;
/// Straight ahead.
pub mod drive_by;
/// Close before a thing.
pub mod fine_approach;
/// The floor.
pub mod get_map;
/// Where the base is.
pub mod get_pose;
/// The body.
pub mod get_state;
/// Where an arm can work.
pub mod go_to_stance;
/// Named postures.
pub mod goto_named;
/// Saved places.
pub mod list_waypoints;
/// To a point of the map.
pub mod navigate_to;
/// To a saved place.
pub mod navigate_to_named;
/// Take a thing.
pub mod pick;
/// Put it down.
pub mod place;
/// Fingertips to a point.
pub mod reach;
/// Is the robot well.
pub mod robot_state;
/// Save where the base stands.
pub mod save_waypoint;
/// Save what was marked.
pub mod save_waypoint_from_goal;
/// Mark a goal.
pub mod set_goal;
/// Stop and latch.
pub mod stop;
/// Sideways.
pub mod strafe_by;
/// On the spot.
pub mod turn_by;

/// The server's name in MCP.
pub const SERVER: &str = "motion";

/// What the server is for, in words for a planner.
pub const INSTRUCTIONS: &str = "Moves this robot: base, arms and grippers. Each call does one whole thing and returns when \
it is done and measured, or says why not. Read `ok` first; an answer with ok false has `error` with code, message and next. \
One motion runs at a time: a second one is refused as `busy` and says which tool runs, since when, and who holds the robot. \
Cancelling a call stops the robot. Lengths are metres, angles degrees, counter-clockwise positive; poses are in the frame \
`map` unless they say otherwise. Drive to a named place first (navigate_to_named), look there with the locate server, then \
pick and place; believe `held` alone, never assume it. A number beyond a limit is refused and `limit` names the limit. \
After stop nothing moves until a person resumes the robot.";

/// All tools, in the order people should read them.
pub fn specs() -> Vec<ToolSpec> {
    vec![
        navigate_to_named::spec(),
        navigate_to::spec(),
        list_waypoints::spec(),
        save_waypoint::spec(),
        save_waypoint_from_goal::spec(),
        set_goal::spec(),
        get_pose::spec(),
        get_state::spec(),
        robot_state::spec(),
        get_map::spec(),
        pick::spec(),
        place::spec(),
        go_to_stance::spec(),
        reach::spec(),
        fine_approach::spec(),
        turn_by::spec(),
        drive_by::spec(),
        strafe_by::spec(),
        goto_named::spec(),
        clear_octomap::spec(),
        allow_gripper_touch::spec(),
        stop::spec(),
    ]
}

/// Where the fingers close, as `grasp_pose` answers it.
///
/// The tip frame lies between the fingertips: `x` the way the fingers point, `y` the way they close. The three angles turn
/// it as REP 103 has them: about `x`, then `y`, then `z` of the frame that is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct GraspArgument {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres.
    pub z: f64,
    /// The frame of point and angles: `map` (the default) or `base_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// Degrees about `x`.
    #[serde(default)]
    pub roll_deg: f64,
    /// Degrees about `y`; 90 points the fingers down.
    #[serde(default)]
    pub pitch_deg: f64,
    /// Degrees about `z`.
    #[serde(default)]
    pub yaw_deg: f64,
    /// Width of the thing between the fingers, in metres.
    pub width_m: f64,
    /// When it was measured, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<f64>,
}

/// Where the foot of a thing stands, as `place_pose` answers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PoseArgument {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres.
    pub z: f64,
    /// `map` (the default) or `base_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// How the thing is turned about `z`, in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yaw_deg: Option<f64>,
}

/// A point, as `locate_3d` answers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct PointArgument {
    /// Metres.
    pub x: f64,
    /// Metres.
    pub y: f64,
    /// Metres.
    pub z: f64,
    /// `map` (the default) or `base_link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// A thing by its name, or a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum TargetArgument {
    /// What it is called, for example `red can`.
    Name(String),
    /// Where it is.
    Point(PointArgument),
}

/// What to work at, and with which arm.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TargetArguments {
    /// The target: a point `{x, y, z, frame}` such as `locate_3d` answers, or the name of a thing.
    pub target: TargetArgument,
    /// Which arm: `left` or `right`; the better one when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<String>,
}

/// A place of the base.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Place {
    /// Metres, in `map` unless `frame` says otherwise.
    pub x: f64,
    /// Metres, in `map` unless `frame` says otherwise.
    pub y: f64,
    /// Degrees about `z`, counter-clockwise from `x`.
    pub yaw_deg: f64,
}

impl Place {
    /// In the numbers of answers.
    pub fn of(pose: &PlanarPose) -> Self {
        Self { x: metres(pose.x), y: metres(pose.y), yaw_deg: heading_deg(pose.yaw) }
    }
}

/// How far the base came in one step, and where it stands now.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stepped {
    /// How far it came, in the unit and with the sign of the argument, as measured.
    pub moved: f64,
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// What is in the way, when the path is blocked, such as `a person` or `an obstacle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<String>,
}

/// A point that an arm came to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct At {
    /// The arm.
    pub side: String,
    /// Metres in `map`.
    pub x: f64,
    /// Metres in `map`.
    pub y: f64,
    /// Metres above the floor.
    pub z: f64,
}

impl At {
    /// In the numbers of answers.
    pub fn of(side: Side, point: DVec3) -> Self {
        let [x, y, z] = point.to_array().map(metres);
        Self { side: side.as_str().to_owned(), x, y, z }
    }
}

/// Metres as answers say them: to the millimetre, never `-0`.
pub fn metres(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0 + 0.0
}

/// Radians as degrees in answers: to a hundredth, in `(-180, 180]`, never `-0`.
pub fn heading_deg(radians: f64) -> f64 {
    let rounded = degrees(radians);
    let turned = (180.0 - rounded).rem_euclid(360.0);
    ((180.0 - turned) * 100.0).round() / 100.0 + 0.0
}

/// Radians as degrees in answers: to a hundredth, as many turns as they are, never `-0`.
pub fn degrees(radians: f64) -> f64 {
    (radians.to_degrees() * 100.0).round() / 100.0 + 0.0
}

/// The turn that roll, pitch and yaw in degrees say.
pub fn rotation(roll_deg: f64, pitch_deg: f64, yaw_deg: f64) -> DQuat {
    DQuat::from_euler(EulerRot::ZYX, yaw_deg.to_radians(), pitch_deg.to_radians(), roll_deg.to_radians())
}

impl GraspArgument {
    /// The tip frame in the frame that is named.
    pub fn tip(&self) -> Pose {
        Pose::new(DVec3::new(self.x, self.y, self.z), rotation(self.roll_deg, self.pitch_deg, self.yaw_deg))
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_core::{Grasp, Stamp};

    use super::*;

    #[test]
    fn agent_surface() {
        insta::assert_json_snapshot!(
            crate::tools::motion::specs().iter().map(crate::tool::surface).collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_llm_interface_takes_the_tools() {
        assert_eq!(crate::lint::server(&super::specs()), Vec::<String>::new());
    }

    #[test]
    fn there_are_twenty_two_tools_and_only_motions_are_slow() {
        let specs = specs();
        assert_eq!(specs.len(), 22);
        for spec in specs {
            assert_eq!(spec.blocking, spec.class == crate::ToolClass::Motion, "{}", spec.name);
            assert_eq!(spec.output_schema.is_none(), spec.name == get_map::NAME, "{}", spec.name);
        }
    }

    #[test]
    fn headings_are_told_in_half_a_turn_either_way() {
        for (radians, expected) in
            [(0.0, 0.0), (-0.0, 0.0), (std::f64::consts::PI, 180.0), (-3.5, 159.46), (7.0, 41.07)]
        {
            assert_eq!(heading_deg(radians), expected, "{radians}");
        }
        assert_eq!(heading_deg(-std::f64::consts::PI), 180.0);
        assert_eq!(degrees(-std::f64::consts::PI), -180.0);
    }

    #[test]
    fn pick_takes_a_grasp_as_locate_tells_it() {
        let tip = Pose::new(DVec3::new(1.0, -2.0, 0.75), rotation(10.0, 60.0, -120.0));
        let grasp = Grasp { tip, width_m: 0.066, stamp: Stamp::from_secs_f64(1_750_000_000.5) };
        let told = serde_json::to_value(crate::tools::locate::GraspWords::of(&grasp, "map")).unwrap();
        let taken: GraspArgument = serde_json::from_value(told).unwrap();
        assert_eq!((taken.width_m, taken.stamp, taken.frame.as_deref()), (0.066, Some(1_750_000_000.5), Some("map")));
        assert!(taken.tip().translation.distance(tip.translation) < 1e-3);
        assert!(taken.tip().rotation.angle_between(tip.rotation) < 1e-3);
        let downwards = rotation(0.0, 90.0, 0.0) * DVec3::X;
        assert!(downwards.distance(DVec3::NEG_Z) < 1e-9);
    }

    #[test]
    fn a_target_is_a_name_or_a_point() {
        let read = |value| serde_json::from_value::<TargetArgument>(value).unwrap();
        assert_eq!(read(serde_json::json!("red can")), TargetArgument::Name("red can".to_owned()));
        let located = serde_json::json!({"ok": true, "found": true, "x": 1, "y": 2, "z": 0.5, "frame": "map"});
        assert!(matches!(read(located), TargetArgument::Point(point) if point.z == 0.5));
    }
}
