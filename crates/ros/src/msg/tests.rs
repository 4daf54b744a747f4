use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hiroz_codegen::resolver::Resolver;
use hiroz_codegen::types::{ArrayType, Field, ParsedMessage};
use hiroz_codegen::{discover_bundled_packages, discovery};
use proptest::prelude::*;

use super::action::{CANCEL_GOAL, CancelRequest, CancelResponse, GoalInfo, GoalStatus, GoalStatusArray, JSON_TASK};
use super::common::{CameraInfo, CompressedImage, Header, Image, Point, PointStamped, RegionOfInterest, Text, Time};
use super::motion::Twist;
use super::motion::{Odometry, TfMessage, TransformStamped};
use super::nav::{NavigateLayout, OccupancyGrid, PoseStamped, TwistStamped};
use super::robot::{JSON_CALL, JsonReply, JsonRequest};
use super::std_srvs::{EMPTY, Nothing, SET_BOOL, SetBoolRequest, Success, TRIGGER};
use super::vision::{
    CREATE_VISION_TASK, CreateRequest, CreateResponse, LIST_VISION_TASKS, ListRequest, ListResponse,
    MANAGE_VISION_TASK, ManageRequest, ManageResponse, StampedString, VisionDetection, VisionDetectionArray,
};
use super::vision_msgs::{self, BoundingBox2D, Detection2D, Detection2DArray, Hypothesis, New, Old, OldTracked};
use super::{Bytes, CdrError, Message, decode, encode};

mod shape;

/// What the interface files say: the fields of each message, and the hash of each type.
struct Interfaces {
    messages: BTreeMap<String, ParsedMessage>,
    hashes: BTreeMap<String, String>,
}

const USED_PACKAGES: [&str; 10] = [
    "action_msgs",
    "builtin_interfaces",
    "geometry_msgs",
    "nav_msgs",
    "sensor_msgs",
    "service_msgs",
    "std_msgs",
    "std_srvs",
    "tf2_msgs",
    "unique_identifier_msgs",
];

const OUR_PACKAGES: [&str; 2] = ["cerebellum_robot_interfaces", "ros2_vision_interfaces"];

fn interfaces() -> Interfaces {
    let ours = OUR_PACKAGES.map(|package| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interfaces").join(package));
    let bundled = discover_bundled_packages(false).unwrap();
    let is_used = |folder: &&Path| USED_PACKAGES.iter().any(|package| folder.ends_with(package));
    let mut folders: Vec<&Path> = bundled.iter().map(AsRef::as_ref).filter(is_used).collect();
    folders.extend(ours.iter().map(PathBuf::as_path));
    let (messages, services, _) = discovery::discover_all(&folders).unwrap();
    let is_known = |package: &str| OUR_PACKAGES.contains(&package) || ["action_msgs", "std_srvs"].contains(&package);
    let services: Vec<_> = services.into_iter().filter(|service| is_known(&service.package)).collect();

    let mut found = Interfaces { messages: BTreeMap::new(), hashes: BTreeMap::new() };
    for message in messages.iter().chain(services.iter().flat_map(|service| [&service.request, &service.response])) {
        found.messages.insert(format!("{}/{}", message.package, message.name), message.clone());
    }
    let mut resolver = Resolver::new(false);
    for message in resolver.resolve_messages(messages).unwrap() {
        let name = format!("{}/msg/{}", message.parsed.package, message.parsed.name);
        found.hashes.insert(name, message.type_hash.to_rihs_string());
    }
    for service in resolver.resolve_services(services).unwrap() {
        let name = format!("{}/srv/{}", service.parsed.package, service.parsed.name);
        found.hashes.insert(name, service.type_hash.to_rihs_string());
    }
    found
}

#[test]
fn hashes_are_those_of_the_interface_files() {
    let found = interfaces();
    let known = [
        Text::TYPE,
        CompressedImage::TYPE,
        Image::TYPE,
        CameraInfo::TYPE,
        TfMessage::TYPE,
        Odometry::TYPE,
        StampedString::TYPE,
        VisionDetectionArray::TYPE,
        CREATE_VISION_TASK,
        MANAGE_VISION_TASK,
        LIST_VISION_TASKS,
        JSON_CALL,
        PoseStamped::TYPE,
        Twist::TYPE,
        TwistStamped::TYPE,
        OccupancyGrid::TYPE,
        GoalStatusArray::TYPE,
        EMPTY,
        TRIGGER,
        SET_BOOL,
    ];
    let ours: Vec<_> = known.iter().map(|known| format!("{} {}", known.name, known.hash)).collect();
    let theirs: Vec<_> =
        known.iter().map(|known| format!("{} {}", known.name, found.hashes[known.name.as_ref()])).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn fields_are_those_of_the_interface_files() {
    let found = interfaces();
    let fields = |name: &str| {
        let mut lines = Vec::new();
        flatten(&found.messages, name, "", &mut lines);
        lines
    };
    let detections = sample_detections(b"png");
    for (name, ours) in [
        ("std_msgs/String", shape::of(&Text { data: "a" })),
        ("sensor_msgs/CompressedImage", shape::of(&CompressedImage::default())),
        ("sensor_msgs/Image", shape::of(&Image::default())),
        ("sensor_msgs/CameraInfo", shape::of(&CameraInfo { d: vec![0.0], ..CameraInfo::default() })),
        ("tf2_msgs/TFMessage", shape::of(&TfMessage { transforms: vec![TransformStamped::default()] })),
        ("nav_msgs/Odometry", shape::of(&Odometry::default())),
        ("geometry_msgs/PointStamped", shape::of(&PointStamped::default())),
        ("ros2_vision_interfaces/StampedString", shape::of(&StampedString::default())),
        ("ros2_vision_interfaces/VisionDetection", shape::of(&VisionDetection::default())),
        ("ros2_vision_interfaces/VisionDetectionArray", shape::of(&detections)),
        ("ros2_vision_interfaces/CreateVisionTaskRequest", shape::of(&CreateRequest::default())),
        (
            "ros2_vision_interfaces/CreateVisionTaskResponse",
            shape::of(&CreateResponse { topics: vec!["a"], ..CreateResponse::default() }),
        ),
        ("ros2_vision_interfaces/ManageVisionTaskRequest", shape::of(&ManageRequest::default())),
        ("ros2_vision_interfaces/ManageVisionTaskResponse", shape::of(&ManageResponse::default())),
        ("ros2_vision_interfaces/ListVisionTasksRequest", shape::of(&ListRequest::default())),
        ("ros2_vision_interfaces/ListVisionTasksResponse", shape::of(&ListResponse::default())),
        ("geometry_msgs/PoseStamped", shape::of(&PoseStamped::default())),
        ("geometry_msgs/TwistStamped", shape::of(&TwistStamped::default())),
        ("nav_msgs/OccupancyGrid", shape::of(&OccupancyGrid { data: vec![0], ..OccupancyGrid::default() })),
        ("action_msgs/GoalStatusArray", shape::of(&GoalStatusArray { status_list: vec![GoalStatus::default()] })),
        ("action_msgs/CancelGoalRequest", shape::of(&CancelRequest::default())),
        (
            "action_msgs/CancelGoalResponse",
            shape::of(&CancelResponse { goals_canceling: vec![GoalInfo::default()], return_code: 0 }),
        ),
        ("std_srvs/TriggerRequest", shape::of(&Nothing::default())),
        ("std_srvs/TriggerResponse", shape::of(&Success::default())),
        ("std_srvs/SetBoolRequest", shape::of(&SetBoolRequest::default())),
        ("std_srvs/SetBoolResponse", shape::of(&Success::default())),
        ("cerebellum_robot_interfaces/JsonCallRequest", shape::of(&JsonRequest::default())),
        ("cerebellum_robot_interfaces/JsonCallResponse", shape::of(&JsonReply::default())),
    ] {
        assert_eq!(ours, fields(name), "{name}");
    }
}

/// `NavigateToPose` as it stands in Nav2: its goal, its results, and its feedback.
fn navigate_to_pose(layout: NavigateLayout) -> String {
    let result = match layout {
        NavigateLayout::Plain => "std_msgs/Empty result",
        NavigateLayout::Coded => "uint16 NONE=0\nuint16 error_code",
        NavigateLayout::Worded => "uint16 NONE=0\nuint16 error_code\nstring error_msg",
    };
    format!(
        "geometry_msgs/PoseStamped pose\nstring behavior_tree\n---\n{result}\n---\ngeometry_msgs/PoseStamped current_pose\n\
         builtin_interfaces/Duration navigation_time\nbuiltin_interfaces/Duration estimated_time_remaining\n\
         int16 number_of_recoveries\nfloat32 distance_remaining\n"
    )
}

#[test]
fn hashes_of_actions_are_those_of_the_interface_files() {
    let bundled = discover_bundled_packages(false).unwrap();
    let is_used = |folder: &&Path| USED_PACKAGES.iter().any(|package| folder.ends_with(package));
    let folders: Vec<&Path> = bundled.iter().map(AsRef::as_ref).filter(is_used).collect();
    let (messages, _, _) = discovery::discover_all(&folders).unwrap();
    let json_task = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../interfaces/cerebellum_robot_interfaces/action/JsonTask.action");
    let layouts =
        NavigateLayout::ALL.map(|layout| (layout.types(), "nav2_msgs", "NavigateToPose", navigate_to_pose(layout)));
    let json_task = (JSON_TASK, "cerebellum_robot_interfaces", "JsonTask", std::fs::read_to_string(json_task).unwrap());
    for (types, package, name, text) in layouts.into_iter().chain([json_task]) {
        let mut resolver = Resolver::new(false);
        resolver.resolve_messages(messages.clone()).unwrap();
        let path = format!("/{package}/action/{name}.action");
        let parsed = hiroz_codegen::parser::action::parse_action(&text, name, package, Path::new(&path)).unwrap();
        let found = resolver.resolve_action(parsed).unwrap();
        assert_eq!(types.send_goal.hash, found.send_goal_hash.to_rihs_string(), "{name} send_goal");
        assert_eq!(types.get_result.hash, found.get_result_hash.to_rihs_string(), "{name} get_result");
        assert_eq!(types.feedback.hash, found.feedback_message_hash.to_rihs_string(), "{name} feedback");
        assert_eq!(types.send_goal.name, format!("{package}/action/{name}_SendGoal"));
    }
    // The resolver takes CancelGoal for a part of an action package, which it is not, so it cannot tell its hash.
    assert_eq!(CANCEL_GOAL.name, "action_msgs/srv/CancelGoal");
}

fn flatten(messages: &BTreeMap<String, ParsedMessage>, name: &str, path: &str, lines: &mut Vec<String>) {
    let message = messages.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", messages.keys()));
    if message.fields.is_empty() {
        lines.push(format!("{path}structure_needs_at_least_one_member uint8"));
    }
    for field in &message.fields {
        let suffix = match field.field_type.array {
            ArrayType::Single => String::new(),
            ArrayType::Fixed(length) => format!("[{length}]"),
            ArrayType::Bounded(_) | ArrayType::Unbounded => "[]".to_owned(),
        };
        let here = format!("{path}{}", field.name);
        match nested_name(field, &message.package) {
            None => lines.push(format!("{here} {}{suffix}", field.field_type.base_type)),
            Some(nested) => flatten(messages, &nested, &format!("{here}{suffix}."), lines),
        }
    }
}

fn nested_name(field: &Field, package: &str) -> Option<String> {
    let base = &field.field_type.base_type;
    if base.starts_with(|c: char| c.is_lowercase()) {
        return None;
    }
    Some(format!("{}/{base}", field.field_type.package.as_deref().unwrap_or(package)))
}

fn sample_detections(mask: &[u8]) -> VisionDetectionArray<'_> {
    let header = Header { stamp: Time { sec: 1_750_000_000, nanosec: 5 }, frame_id: "head_camera" };
    let detection = VisionDetection {
        id: "7",
        label: "red can",
        score: 0.5,
        bounds: RegionOfInterest { x_offset: 1, y_offset: 2, height: 3, width: 4, do_rectify: false },
        has_mask: true,
        mask: CompressedImage { header, format: "png", data: Bytes(mask) },
        has_point: true,
        point: PointStamped { header, point: Point { x: 1.0, y: f64::NAN, z: f64::INFINITY } },
    };
    VisionDetectionArray {
        header,
        skill: "find_object",
        image_width: 640,
        image_height: 480,
        detections: vec![detection; 2],
    }
}

#[test]
fn messages_survive_cdr() {
    let sent = sample_detections(&[1, 2, 3]);
    let bytes = encode(&sent);
    let read: VisionDetectionArray<'_> = decode(&bytes).unwrap();
    // Not a number is not equal to itself; the rest is compared as text.
    assert_eq!(format!("{read:?}"), format!("{sent:?}"));
    let response =
        CreateResponse { success: true, message: "", name: "a", topics: vec!["/vision/a/detections", "", "ä"] };
    assert_eq!(decode::<CreateResponse<'_>>(&encode(&response)).unwrap(), response);
    let mut odometry = Odometry { child_frame_id: "base_link", ..Odometry::default() };
    odometry.pose.covariance.0[5][4] = 7.0;
    odometry.twist.twist.angular.z = 0.5;
    assert_eq!(decode::<Odometry<'_>>(&encode(&odometry)).unwrap(), odometry);
}

#[test]
fn a_mask_is_borrowed_from_the_message() {
    let mask = vec![7; 4096 * 4096];
    let bytes = encode(&sample_detections(&mask));
    let read: VisionDetectionArray<'_> = decode(&bytes).unwrap();
    let borrowed = read.detections[1].mask.data.0;
    assert_eq!(borrowed.len(), mask.len());
    assert!(bytes.as_ptr_range().contains(&borrowed.as_ptr()));
}

#[test]
fn big_endian_messages_are_read() {
    let bytes = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, b'm', 0, 0, 0, 0, 0, 0, 2, b'x', 0];
    let read: StampedString<'_> = decode(&bytes).unwrap();
    assert_eq!((read.header.stamp, read.header.frame_id, read.data), (Time { sec: 1, nanosec: 2 }, "m", "x"));
}

#[test]
fn what_is_no_message_is_a_clean_error() {
    assert!(matches!(decode::<Text<'_>>(&[0, 1]), Err(CdrError::TooShort { length: 2 })));
    assert!(matches!(decode::<Text<'_>>(&[0, 3, 0, 0, 0]), Err(CdrError::UnknownEncoding { encoding: 3 })));
    let claims_four_gigabytes = [0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, b'a'];
    assert!(matches!(decode::<Text<'_>>(&claims_four_gigabytes), Err(CdrError::Malformed(_))));
    let not_utf8 = [0, 1, 0, 0, 2, 0, 0, 0, 0xff, 0];
    assert!(matches!(decode::<Text<'_>>(&not_utf8), Err(CdrError::Malformed(_))));
}

#[test]
fn every_layout_of_detection_2d_is_read() {
    let header = Header { stamp: Time { sec: 1_750_000_000, nanosec: 5 }, frame_id: "camera" };
    let detection = Detection2D {
        header,
        results: vec![Hypothesis { class_id: "cup", score: 0.75, ..Hypothesis::default() }],
        bbox: BoundingBox2D { center_x: 10.0, center_y: 20.0, theta: 0.0, size_x: 4.0, size_y: 6.0 },
    };
    let source_img = Image { header, width: 2, height: 1, encoding: "mono8", data: Bytes(&[1, 2]), ..Image::default() };
    let bytes = [
        (encode(&array(header, New { detection: detection.clone(), id: "7" })), "7"),
        (encode(&array(header, Old { detection: detection.clone(), source_img })), ""),
        (encode(&array(header, Old { detection: detection.clone(), source_img: Image::default() })), ""),
        (
            encode(&array(
                header,
                OldTracked { detection: detection.clone(), source_img, is_tracking: true, tracking_id: "7" },
            )),
            "7",
        ),
    ];
    for (bytes, id) in &bytes {
        let (read_header, read) = vision_msgs::decode_any(bytes).unwrap();
        assert_eq!((read_header, read), (header, vec![(detection.clone(), *id); 2]));
    }
}

fn array<D: Clone>(header: Header<'_>, detection: D) -> Detection2DArray<'_, D> {
    Detection2DArray { header, detections: vec![detection; 2] }
}

proptest! {
    #[test]
    fn random_bytes_never_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), plain in any::<bool>()) {
        if plain && bytes.len() > 4 {
            bytes[..4].copy_from_slice(&[0, 1, 0, 0]);
        }
        drop(decode::<VisionDetectionArray<'_>>(&bytes));
        drop(decode::<StampedString<'_>>(&bytes));
        drop(decode::<CreateResponse<'_>>(&bytes));
        drop(decode::<CameraInfo<'_>>(&bytes));
        drop(decode::<TfMessage<'_>>(&bytes));
        drop(decode::<Odometry<'_>>(&bytes));
        drop(vision_msgs::decode_any(&bytes));
    }

    #[test]
    fn a_cut_or_changed_message_never_panics(cut in 0_usize..600, at in 0_usize..600, value in any::<u8>()) {
        let mut bytes = encode(&sample_detections(&[9; 64]));
        let length = bytes.len();
        bytes[at % length] = value;
        bytes.truncate(cut.min(length));
        drop(decode::<VisionDetectionArray<'_>>(&bytes));
        drop(vision_msgs::decode_any(&bytes));
    }
}
