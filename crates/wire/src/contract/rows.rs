use super::{Argument, ContractTool, Field, Kind, Level, When};

const fn needs(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, is_required: true }
}

const fn takes(name: &'static str, kind: Kind) -> Argument {
    Argument { name, kind, is_required: false }
}

const fn field(name: &'static str, kind: Kind, when: When) -> Field {
    Field { name, kind, when }
}

const fn done(name: &'static str, kind: Kind) -> Field {
    field(name, kind, When::Done)
}

const fn may(name: &'static str, kind: Kind) -> Field {
    field(name, kind, When::Optional)
}

const fn read(
    server: &'static str,
    name: &'static str,
    level: Level,
    arguments: &'static [Argument],
    fields: &'static [Field],
) -> ContractTool {
    ContractTool { server, name, level, is_motion: false, either: None, only_if: None, arguments, fields }
}

const fn motion(
    name: &'static str,
    level: Level,
    arguments: &'static [Argument],
    fields: &'static [Field],
) -> ContractTool {
    ContractTool { is_motion: true, ..read("motion", name, level, arguments, fields) }
}

const PLACE: [Argument; 3] = [needs("x", Kind::Number), needs("y", Kind::Number), needs("yaw_deg", Kind::Number)];
const SIDE: Argument = takes("side", Kind::Text);
const X: Field = done("x", Kind::Number);
const Y: Field = done("y", Kind::Number);
const YAW: Field = done("yaw_deg", Kind::Number);
const Z: Field = done("z", Kind::Number);
const BLOCKED_BY: Field = may("blocked_by", Kind::Text);
const GRASP: &[Field] = &[
    field("reachable", Kind::Boolean, When::Always),
    field("grasp", Kind::Object, When::True("reachable")),
    field("side", Kind::Text, When::True("reachable")),
    may("reason", Kind::Text),
];
const SPOT: &[Field] = &[done("pose", Kind::Object), may("clearance_m", Kind::Number)];
const JUDGED: &[Field] = &[field("issue", Kind::Text, When::Always), field("reasoning", Kind::Text, When::Always)];

/// Every tool of the contract, in the order of its documents.
pub const TOOLS: &[ContractTool] = &[
    motion(
        "navigate_to_named",
        Level::Minimum,
        &[needs("name", Kind::Text)],
        &[field("name", Kind::Text, When::Done), X, Y, YAW, field("known", Kind::List, When::Unknown), BLOCKED_BY],
    ),
    motion("navigate_to", Level::Full, &PLACE, &[X, Y, YAW, BLOCKED_BY]),
    read("motion", "list_waypoints", Level::Minimum, &[], &[done("waypoints", Kind::Object)]),
    read("motion", "save_waypoint", Level::Full, &[needs("name", Kind::Text)], &[done("name", Kind::Text), X, Y, YAW]),
    read(
        "motion",
        "save_waypoint_from_goal",
        Level::Full,
        &[needs("name", Kind::Text)],
        &[done("name", Kind::Text), X, Y, YAW, done("age_s", Kind::Number)],
    ),
    read("motion", "set_goal", Level::Extra, &PLACE, &[X, Y, YAW]),
    ContractTool {
        either: Some("get_state"),
        ..read(
            "motion",
            "get_pose",
            Level::Full,
            &[],
            &[X, Y, YAW, may("frame", Kind::Text), may("age_s", Kind::Number)],
        )
    },
    ContractTool {
        either: Some("get_pose"),
        ..read(
            "motion",
            "get_state",
            Level::Full,
            &[],
            &[
                may("base", Kind::Object),
                may("arms", Kind::Object),
                may("stop", Kind::Object),
                may("motion", Kind::Any),
                may("path", Kind::List),
                may("map_version", Kind::Number),
                may("age_s", Kind::Number),
            ],
        )
    },
    read("motion", "robot_state", Level::Full, &[], JUDGED),
    read(
        "motion",
        "get_map",
        Level::Extra,
        &[],
        &[
            done("map_id", Kind::Text),
            done("frame", Kind::Text),
            done("resolution_m", Kind::Number),
            done("origin", Kind::Object),
            done("width", Kind::Number),
            done("height", Kind::Number),
            done("grid_png_b64", Kind::Text),
            may("rooms", Kind::List),
            may("furniture", Kind::List),
            done("keepouts", Kind::List),
            done("version", Kind::Number),
        ],
    ),
    motion(
        "pick",
        Level::Minimum,
        &[takes("target", Kind::Text), takes("grasp", Kind::Object), SIDE],
        &[done("held", Kind::Boolean), done("side", Kind::Text), may("label", Kind::Text), may("reason", Kind::Text)],
    ),
    motion(
        "place",
        Level::Minimum,
        &[takes("surface", Kind::Text), takes("pose", Kind::Object), SIDE],
        &[may("side", Kind::Text), may("x", Kind::Number), may("y", Kind::Number), may("z", Kind::Number)],
    ),
    motion(
        "go_to_stance",
        Level::Full,
        &[needs("target", Kind::TextOrObject), SIDE],
        &[may("x", Kind::Number), may("y", Kind::Number), may("yaw_deg", Kind::Number)],
    ),
    motion(
        "reach",
        Level::Full,
        &[
            needs("x", Kind::Number),
            needs("y", Kind::Number),
            needs("z", Kind::Number),
            takes("frame", Kind::Text),
            SIDE,
        ],
        &[may("side", Kind::Text), may("x", Kind::Number), may("y", Kind::Number), may("z", Kind::Number)],
    ),
    motion(
        "fine_approach",
        Level::Full,
        &[needs("target", Kind::TextOrObject), SIDE],
        &[may("distance_m", Kind::Number)],
    ),
    motion(
        "turn_by",
        Level::Full,
        &[needs("degrees", Kind::Number)],
        &[may("moved", Kind::Number), may("x", Kind::Number), may("y", Kind::Number), may("yaw_deg", Kind::Number)],
    ),
    motion(
        "drive_by",
        Level::Full,
        &[needs("distance_m", Kind::Number)],
        &[may("moved", Kind::Number), may("x", Kind::Number), may("y", Kind::Number), may("yaw_deg", Kind::Number)],
    ),
    ContractTool {
        only_if: Some("the base moves sideways"),
        ..motion(
            "strafe_by",
            Level::Full,
            &[needs("distance_m", Kind::Number)],
            &[may("moved", Kind::Number), may("x", Kind::Number), may("y", Kind::Number), may("yaw_deg", Kind::Number)],
        )
    },
    motion(
        "goto_named",
        Level::Extra,
        &[needs("group", Kind::Text), needs("state", Kind::Text)],
        &[done("group", Kind::Text), done("state", Kind::Text)],
    ),
    ContractTool {
        only_if: Some("the robot remembers obstacles"),
        ..read("motion", "clear_octomap", Level::Full, &[], &[])
    },
    read(
        "motion",
        "allow_gripper_touch",
        Level::Full,
        &[takes("target", Kind::Text), takes("allow", Kind::Boolean)],
        &[],
    ),
    read(
        "motion",
        "stop",
        Level::Extra,
        &[],
        &[done("stopped", Kind::Boolean), done("speed_mps", Kind::Number), done("latched", Kind::Boolean)],
    ),
    read(
        "locate",
        "locate_3d",
        Level::Minimum,
        &[needs("query", Kind::Text)],
        &[
            field("found", Kind::Boolean, When::Always),
            field("label", Kind::Text, When::True("found")),
            field("x", Kind::Number, When::True("found")),
            field("y", Kind::Number, When::True("found")),
            field("z", Kind::Number, When::True("found")),
            field("frame", Kind::Text, When::True("found")),
            may("score", Kind::Number),
            may("age_s", Kind::Number),
            may("candidates", Kind::List),
        ],
    ),
    ContractTool {
        either: Some("model_object"),
        ..read("locate", "grasp_pose", Level::Full, &[needs("target", Kind::Text), SIDE], GRASP)
    },
    ContractTool {
        either: Some("grasp_pose"),
        ..read("locate", "model_object", Level::Full, &[needs("target", Kind::Text), SIDE], GRASP)
    },
    ContractTool {
        either: Some("locate_surface"),
        ..read("locate", "place_pose", Level::Full, &[needs("surface", Kind::Text)], SPOT)
    },
    ContractTool {
        either: Some("place_pose"),
        ..read("locate", "locate_surface", Level::Full, &[needs("surface", Kind::Text)], SPOT)
    },
    read(
        "locate",
        "observe_task",
        Level::Full,
        &[needs("context", Kind::Text)],
        &[
            field("issue", Kind::Text, When::Always),
            field("reasoning", Kind::Text, When::Always),
            may("judged", Kind::Boolean),
        ],
    ),
    read(
        "locate",
        "get_frame",
        Level::Full,
        &[],
        &[
            done("image_jpeg_b64", Kind::Text),
            done("width", Kind::Number),
            done("height", Kind::Number),
            done("stamp", Kind::Number),
        ],
    ),
    read(
        "locate",
        "capture_scene",
        Level::Full,
        &[],
        &[
            done("image_jpeg_b64", Kind::Text),
            done("width", Kind::Number),
            done("height", Kind::Number),
            done("segmenter", Kind::Text),
            done("objects", Kind::List),
            may("fidelity", Kind::Text),
            may("stamp", Kind::Number),
        ],
    ),
    read(
        "locate",
        "pixel_to_3d",
        Level::Full,
        &[needs("u", Kind::Number), needs("v", Kind::Number), takes("frame_stamp", Kind::Number)],
        &[X, Y, Z, done("frame", Kind::Text)],
    ),
    read(
        "locate",
        "grasp_from_pixel",
        Level::Full,
        &[needs("u", Kind::Number), needs("v", Kind::Number), SIDE, takes("frame_stamp", Kind::Number)],
        GRASP,
    ),
    read(
        "memory",
        "find_processes",
        Level::Full,
        &[needs("query", Kind::Text), takes("limit", Kind::Number)],
        &[done("processes", Kind::List)],
    ),
    read(
        "memory",
        "save_process",
        Level::Full,
        &[
            needs("name", Kind::Text),
            needs("description", Kind::Text),
            takes("steps", Kind::List),
            takes("plan", Kind::TextOrObject),
            takes("when", Kind::Text),
            takes("tags", Kind::List),
        ],
        &[may("id", Kind::Text), may("version", Kind::Number)],
    ),
    read(
        "memory",
        "record_outcome",
        Level::Extra,
        &[needs("id", Kind::Text), needs("ok", Kind::Boolean), takes("note", Kind::Text)],
        &[],
    ),
    read(
        "memory",
        "list_processes",
        Level::Extra,
        &[takes("skip", Kind::Number), takes("limit", Kind::Number)],
        &[done("processes", Kind::List), done("total", Kind::Number)],
    ),
    read("memory", "forget_process", Level::Extra, &[needs("id", Kind::Text)], &[]),
    ContractTool {
        is_motion: true,
        ..read(
            "task",
            "grasp",
            Level::Extra,
            &[needs("object", Kind::Text), SIDE],
            &[done("held", Kind::Boolean), may("side", Kind::Text), may("attempts", Kind::Any)],
        )
    },
];
