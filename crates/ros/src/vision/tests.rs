use std::sync::{Arc, Mutex};
use std::time::Duration;

use cerebellum_core::{
    BusError, CameraBeat, Stamp, StreamKind, StreamMessage, StreamTopic, Subscription, TaskError, VisionStreams,
    VisionTasks,
};
use cerebellum_testkit::contract;
use cerebellum_testkit::tasks::Script;
use cerebellum_testkit::{FakeClock, FakeVisionTasks};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::*;
use crate::bus::contract::eventually;
use crate::bus::{Handler, Qos, RosBus};
use crate::mem::MemBus;
use crate::msg::common::{
    CameraInfo, CompressedImage, Header, Image, Point, PointStamped, RegionOfInterest, Text, Time,
};
use crate::msg::vision::{
    CREATE_VISION_TASK, CreateRequest, CreateResponse, LIST_VISION_TASKS, ListResponse, StampedString, VisionDetection,
    VisionDetectionArray,
};
use crate::msg::vision_msgs::{self, BoundingBox2D, Detection2D, Detection2DArray, Hypothesis, New};
use crate::msg::{Bytes, Message, RosType, decode, encode};
use crate::zenoh::{RouterRole, ZenohBus, ZenohConfig};

const PATIENCE: Duration = contract::PATIENCE;

fn fake_node() -> Arc<FakeVisionTasks> {
    Arc::new(FakeVisionTasks::new(Arc::new(FakeClock::at(Stamp::from_nanos(1_750_000_000_000_000_000)))))
}

async fn served(bus: &Arc<dyn RosBus>) -> (Arc<FakeVisionTasks>, Subscription, Tasks) {
    let node = fake_node();
    let serving = serve_tasks(bus, "vision_node", node.clone()).await.unwrap();
    (node, serving, Tasks::new(bus.clone(), "vision_node"))
}

fn mem() -> Arc<dyn RosBus> {
    MemBus::new()
}

/// Two programs on one Zenoh bus.
async fn zenoh_pair() -> (Arc<dyn RosBus>, Arc<dyn RosBus>, TaskTracker, CancellationToken) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let open = |router, name| {
        let config = ZenohConfig::new(&format!("tcp/{port}"), router, 0, name).unwrap();
        ZenohBus::open(config, tasks.clone(), stop.clone())
    };
    let (ours, theirs) = (open(RouterRole::Auto, "ours"), open(RouterRole::Never, "theirs"));
    ours.connected(PATIENCE).await.unwrap();
    theirs.connected(PATIENCE).await.unwrap();
    (ours, theirs, tasks, stop)
}

#[tokio::test]
async fn tasks_and_streams_over_memory_keep_their_contracts() {
    let bus = mem();
    contract::vision_tasks::check(&*fake_node()).await;
    let (_node, _serving, tasks) = served(&bus).await;
    contract::vision_tasks::check(&tasks).await;
    let publishers = Publishers::new(bus.clone(), TaskTracker::new());
    contract::vision_streams::check(&publishers, &Streams::new(bus)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_and_streams_over_zenoh_keep_their_contracts() {
    let (ours, theirs, tracker, stop) = zenoh_pair().await;
    let (_node, _serving, _) = served(&ours).await;
    contract::vision_tasks::check(&Tasks::new(theirs.clone(), "/vision_node/")).await;
    let publishers = Publishers::new(ours, tracker.clone());
    contract::vision_streams::check(&publishers, &Streams::new(theirs)).await;
    stop.cancel();
    tracker.close();
    tokio::time::timeout(PATIENCE, tracker.wait()).await.unwrap();
}

type Fits = fn(&TaskError) -> bool;

#[tokio::test]
async fn faults_of_a_service_are_told_apart() {
    let bus = mem();
    let tasks = Tasks::new(bus.clone(), "vision_node");
    let service = "/vision_node/list_vision_tasks".to_owned();
    assert_eq!(tasks.list(PATIENCE).await, Err(TaskError::Unavailable { service: service.clone() }));

    let answers: [(Handler, Fits); 4] = [
        (Arc::new(|_| std::future::pending().boxed()), |error| matches!(error, TaskError::TimedOut { .. })),
        (Arc::new(|_| async { Ok(vec![1, 2]) }.boxed()), |error| matches!(error, TaskError::Garbled { .. })),
        (
            Arc::new(|_| async { Ok(encode(&ListResponse { tasks_json: "[{\"name\":3}]" })) }.boxed()),
            |error| matches!(error, TaskError::Garbled { reason, .. } if reason.contains("tasks_json[0].name")),
        ),
        (
            Arc::new(|_| async { Err("the disk is full".to_owned()) }.boxed()),
            |error| matches!(error, TaskError::Refused { message } if message.contains("the disk is full")),
        ),
    ];
    for (handler, fits) in answers {
        let _serving = bus.serve(&service, &LIST_VISION_TASKS, handler).await.unwrap();
        let error = tasks.list(Duration::from_millis(300)).await.unwrap_err();
        assert!(fits(&error), "{error:?}");
    }
}

#[tokio::test]
async fn a_bus_that_is_down_is_told_with_its_reason() {
    let bus = MemBus::new();
    let tasks = Tasks::new(bus.clone(), "vision_node");
    bus.set_down(Some("no router"));
    assert_eq!(tasks.list(PATIENCE).await, Err(TaskError::BusDown { reason: "no router".into() }));
    let streams = Streams::new(bus);
    let down = Err(BusError::Down { reason: "no router".into() });
    assert_eq!(streams.topics(&["/vision/".to_owned()]).await, down);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_has_just_come_is_asked_once_more() {
    let bus = mem();
    let tasks = Tasks::new(bus.clone(), "vision_node");
    let late = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        serve_tasks(&bus, "vision_node", fake_node()).await.unwrap()
    };
    let (listed, _serving) = tokio::join!(tasks.list(PATIENCE), late);
    assert_eq!(listed, Ok(Vec::new()));
}

#[tokio::test]
async fn a_late_answer_is_a_time_out_and_the_next_call_is_answered() {
    let bus = mem();
    let clock = Arc::new(FakeClock::at(Stamp::from_nanos(1)));
    let node = Arc::new(FakeVisionTasks::new(clock.clone()));
    let _serving = serve_tasks(&bus, "vision_node", node.clone()).await.unwrap();
    let tasks = Tasks::new(bus, "vision_node");
    node.script(Script::Late(Duration::from_secs(30)));
    let answer = tasks.list(Duration::from_millis(200)).await;
    assert!(matches!(answer, Err(TaskError::TimedOut { .. })), "{answer:?}");
    clock.advance(Duration::from_secs(30));
    assert_eq!(tasks.list(PATIENCE).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_bad_request_is_answered_with_the_path_of_its_fault() {
    let bus = mem();
    let (_node, _serving, _) = served(&bus).await;
    for (request, expected) in [
        (
            encode(&CreateRequest { skill_json: r#"{"name":"a","mode":"describe","outputs":[{"name":"b"}]}"# }),
            "outputs[0]",
        ),
        (encode(&CreateRequest { skill_json: r#"{"name":"a/b","mode":"describe"}"# }), "skill_json: name"),
        (encode(&CreateRequest { skill_json: "no json" }), "skill_json"),
        (vec![0, 1, 0, 0, 255, 255, 255, 255], "cannot be read"),
        (Vec::new(), "cannot be read"),
    ] {
        let response =
            bus.call("/vision_node/create_vision_task", &CREATE_VISION_TASK, request, PATIENCE).await.unwrap();
        let response: CreateResponse<'_> = decode(&response).unwrap();
        assert!(!response.success && response.message.contains(expected), "{expected}: {}", response.message);
    }
}

fn prefixes() -> Vec<String> {
    vec!["/vision/".to_owned(), "/yolo/".to_owned()]
}

type Taken = Arc<Mutex<Vec<StreamMessage>>>;

async fn read(streams: &Streams, topic: &StreamTopic) -> (Taken, Subscription) {
    let taken = Taken::default();
    let into = taken.clone();
    let subscription = streams.subscribe(topic, Arc::new(move |message| into.lock().unwrap().push(message))).await;
    (taken, subscription.unwrap())
}

/// What a message of that type on that topic is read as.
async fn read_one(topic: &str, ros_type: &RosType, message: Vec<u8>) -> (StreamTopic, StreamMessage) {
    let bus = mem();
    let publisher = bus.advertise(topic, ros_type, Qos::STREAM).await.unwrap();
    let streams = Streams::new(bus);
    let topic = streams.topics(&prefixes()).await.unwrap().remove(0);
    let (taken, _subscription) = read(&streams, &topic).await;
    publisher.put(message);
    let message = taken.lock().unwrap().remove(0);
    (topic, message)
}

#[tokio::test]
async fn a_foreign_detector_and_a_bare_string_are_read() {
    let header = Header { stamp: Time { sec: 5, nanosec: 0 }, frame_id: "camera" };
    let detection = Detection2D {
        header,
        results: vec![
            Hypothesis { class_id: "cup", score: 0.25, ..Hypothesis::default() },
            Hypothesis { class_id: "can", score: 0.75, ..Hypothesis::default() },
        ],
        bbox: BoundingBox2D { center_x: 10.0, center_y: 20.0, theta: 0.0, size_x: 4.0, size_y: 6.0 },
    };
    let array = Detection2DArray { header, detections: vec![New { detection, id: "9" }] };
    let ros_type = RosType::known(vision_msgs::DETECTION_2D_ARRAY, "RIHS01_of_some_release");
    let (topic, message) = read_one("/yolo/detections", &ros_type, encode(&array)).await;
    assert_eq!((topic.skill.as_str(), topic.kind, topic.unreadable), ("yolo", StreamKind::Detections, None));
    let StreamMessage::Detections(frame) = message else { panic!("{message:?}") };
    let found = &frame.detections[0];
    assert_eq!((found.label.as_str(), found.score, found.id.as_deref()), ("can", 0.75, Some("9")));
    assert_eq!(found.bounds, cerebellum_core::PixelBox { x: 8, y: 17, width: 4, height: 6 });

    let (topic, message) = read_one("/vision/mood/word", &Text::TYPE, encode(&Text { data: "calm" })).await;
    assert_eq!((topic.skill.as_str(), topic.kind), ("mood", StreamKind::Output));
    assert_eq!(message, StreamMessage::Output { stamp: Stamp::ZERO, text: "calm".into() });
}

#[tokio::test]
async fn strange_values_are_read_as_what_they_can_mean() {
    let detection = VisionDetection {
        label: "can",
        score: f32::NAN,
        bounds: RegionOfInterest { x_offset: u32::MAX, y_offset: 3, height: 9, width: 9, do_rectify: false },
        has_point: true,
        point: PointStamped { header: Header::default(), point: Point { x: f64::INFINITY, y: 0.0, z: f64::NAN } },
        ..VisionDetection::default()
    };
    let array = VisionDetectionArray { detections: vec![detection], ..VisionDetectionArray::default() };
    let (_, message) = read_one("/vision/a/detections", &VisionDetectionArray::TYPE, encode(&array)).await;
    let StreamMessage::Detections(frame) = message else { panic!("{message:?}") };
    let found = &frame.detections[0];
    assert!(found.score.is_nan(), "who shows it says what is wrong with it");
    assert_eq!((found.bounds.width, found.point.clone()), (0, None));
    assert_eq!((frame.image_width, frame.image_height), (0, 0), "an empty picture is one");
}

#[tokio::test]
async fn a_huge_mask_is_not_taken_into_the_message() {
    let mask = vec![255; 4096 * 4096];
    let detection = VisionDetection {
        has_mask: true,
        mask: CompressedImage { format: "png", data: Bytes(&mask), ..CompressedImage::default() },
        ..VisionDetection::default()
    };
    let array = VisionDetectionArray { detections: vec![detection; 3], ..VisionDetectionArray::default() };
    let (_, message) = read_one("/vision/a/detections", &VisionDetectionArray::TYPE, encode(&array)).await;
    let StreamMessage::Detections(frame) = message else { panic!("{message:?}") };
    assert!(frame.detections.iter().all(|found| found.has_mask) && frame.detections.len() == 3);
}

#[tokio::test]
async fn garbage_on_a_topic_is_told_and_the_next_message_read() {
    let (_, message) = read_one("/vision/a/found", &StampedString::TYPE, vec![0, 1, 0, 0, 1]).await;
    assert!(matches!(message, StreamMessage::Garbled { .. }), "{message:?}");
    let (_, message) = read_one("/vision/a/overlay", &CompressedImage::TYPE, Vec::new()).await;
    assert!(matches!(message, StreamMessage::Garbled { .. }), "{message:?}");
}

#[tokio::test]
async fn a_wrong_hash_and_an_unknown_type_are_unreadable_with_the_reason() {
    let bus = mem();
    let old = RosType { hash: Text::TYPE.hash, ..VisionDetectionArray::TYPE };
    let _old = bus.advertise("/vision/a/detections", &old, Qos::STREAM).await.unwrap();
    let unknown = RosType::known("nav_msgs/msg/Path", "RIHS01_x");
    let _unknown = bus.advertise("/vision/b/path", &unknown, Qos::STREAM).await.unwrap();
    let _nameless = bus.advertise("/vision/status", &Text::TYPE, Qos::STREAM).await.unwrap();
    let streams = Streams::new(bus);
    let topics = streams.topics(&prefixes()).await.unwrap();
    let reasons: Vec<_> = topics.iter().map(|topic| topic.unreadable.clone().unwrap()).collect();
    assert!(reasons[0].contains("type hash RIHS01_df66") && reasons[0].contains("ours is RIHS01_9586"), "{reasons:?}");
    assert!(reasons[1].contains("nav_msgs/msg/Path"), "{reasons:?}");
    assert_eq!(topics.len(), 2, "a topic without a skill in its name is none");
    let refused = streams.subscribe(&topics[0], Arc::new(|_| ())).await.map(|_| ());
    assert!(matches!(refused, Err(BusError::Refused { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_publisher_that_can_be_read_speaks_for_its_topic() {
    let bus = mem();
    let old = RosType { hash: Text::TYPE.hash, ..StampedString::TYPE };
    let _old = bus.advertise("/vision/a/found", &old, Qos::STREAM).await.unwrap();
    let good = bus.advertise("/vision/a/found", &StampedString::TYPE, Qos::STREAM).await.unwrap();
    let streams = Streams::new(bus);
    let topics = streams.topics(&prefixes()).await.unwrap();
    assert_eq!((topics.len(), topics[0].unreadable.clone()), (1, None));
    let (taken, _subscription) = read(&streams, &topics[0]).await;
    good.put(encode(&StampedString::default()));
    assert_eq!(taken.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_camera_lives_by_its_info_and_else_by_its_pictures() {
    let bus = mem();
    let beats: Arc<Mutex<Vec<CameraBeat>>> = Arc::default();
    let into = beats.clone();
    let streams = Streams::new(bus.clone());
    let sink = Arc::new(move |beat| into.lock().unwrap().push(beat));
    let subscription = streams.subscribe_camera("/camera/image_raw", sink).await.unwrap();

    let picture = bus.advertise("/camera/image_raw", &Image::TYPE, Qos::PICTURE).await.unwrap();
    eventually("the pictures are followed", || picture.is_wanted()).await;
    let header = Header { stamp: Time { sec: 3, nanosec: 0 }, frame_id: "camera" };
    picture.put(encode(&Image { header, data: Bytes(&[0; 1000]), ..Image::default() }));
    assert_eq!(*beats.lock().unwrap(), [CameraBeat { stamp: Stamp::from_ros(3, 0) }]);

    let info = bus.advertise("/camera/camera_info", &CameraInfo::TYPE, Qos::STREAM).await.unwrap();
    eventually("the info is followed instead", || info.is_wanted() && !picture.is_wanted()).await;
    info.put(encode(&CameraInfo::default()));
    assert_eq!(beats.lock().unwrap().last(), Some(&CameraBeat { stamp: Stamp::ZERO }));
    drop(info);
    eventually("the pictures are followed again", || picture.is_wanted()).await;
    drop(subscription);
    eventually("nothing is followed", || !picture.is_wanted()).await;
}

#[tokio::test(start_paused = true)]
async fn an_overlay_is_subscribed_only_while_it_is_asked_for() {
    let bus = mem();
    let tracker = TaskTracker::new();
    let stop = CancellationToken::new();
    let pictures = OverlayPictures::new(bus.clone(), &tracker, stop.clone());
    let publisher = bus.advertise("/vision/a/overlay", &CompressedImage::TYPE, Qos::PICTURE).await.unwrap();
    assert!(!publisher.is_wanted());
    assert_eq!(pictures.latest("a").await, None);
    assert!(publisher.is_wanted());
    publisher.put(encode(&CompressedImage { format: "jpeg", data: Bytes(&[1, 2, 3]), ..CompressedImage::default() }));
    assert_eq!(pictures.latest("a").await.unwrap().jpeg.as_ref(), [1, 2, 3]);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(pictures.latest("a").await.is_some() && publisher.is_wanted());
    tokio::time::sleep(Duration::from_secs(7)).await;
    assert!(!publisher.is_wanted(), "nobody asked for a while");
    stop.cancel();
    tracker.close();
    tracker.wait().await;
}

#[tokio::test]
async fn topics_of_a_skill_appear_when_the_bus_comes_up() {
    let bus = MemBus::new();
    bus.set_down(Some("starting"));
    let publishers = Publishers::new(bus.clone(), TaskTracker::new());
    let skill = cerebellum_wire::skill::from_str(r#"{"name":"a","mode":"segment_all"}"#).unwrap();
    let _publisher = cerebellum_core::SkillStreams::advertise(&publishers, &skill).await.unwrap();
    bus.set_down(None);
    eventually("both topics are there", || bus.graph().unwrap().publishers.len() == 2).await;
}
