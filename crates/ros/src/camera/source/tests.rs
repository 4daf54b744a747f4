use cerebellum_core::{DepthImage, RgbImage};
use cerebellum_testkit::FakeClock;
use cerebellum_testkit::frames::{check, sized_frame};
use glam::DVec3;

use super::*;
use crate::bus::Publisher;
use crate::bus::contract::eventually;
use crate::camera::serve::{depth, info, rgb};
use crate::mem::MemBus;
use crate::msg::common::Text;
use crate::msg::encode;
use crate::msg::motion::{TfMessage, TransformStamped};

const PERIOD: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(20);

/// A robot's camera as its driver publishes it, and us looking through it.
struct Robot {
    bus: Arc<MemBus>,
    clock: Arc<FakeClock>,
    image: Box<dyn Publisher>,
    depth: Box<dyn Publisher>,
    info: Box<dyn Publisher>,
    tf: Box<dyn Publisher>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Robot {
    async fn start() -> Self {
        let bus = MemBus::new();
        let advertise = async |topic: &str, ros_type| bus.advertise(topic, &ros_type, Qos::PICTURE).await.unwrap();
        Self {
            image: advertise("/camera/image_raw", Image::TYPE).await,
            depth: advertise("/camera/depth/image_raw", Image::TYPE).await,
            info: advertise("/camera/camera_info", CameraInfo::TYPE).await,
            tf: advertise("/tf", TfMessage::TYPE).await,
            clock: Arc::new(FakeClock::at(Stamp::from_ros(100, 0))),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            bus,
        }
    }

    fn look(&self, pose: CameraPose) -> Arc<Source> {
        let (bus, clock) = (self.bus.clone(), self.clock.clone());
        Source::open(bus, SourceTopics::default(), pose, clock, &self.tasks, self.stop.clone())
    }

    fn transforms(&self) -> Arc<Transforms> {
        Transforms::follow(self.bus.clone(), &self.tasks, self.stop.clone())
    }

    fn tell(&self, at: Stamp, x: f64) {
        let header = Header::new(at, "map");
        let transform = (&Pose::planar(x, 0.0, 0.0)).into();
        let transforms = vec![TransformStamped { header, child_frame_id: "camera_optical", transform }];
        self.tf.put(encode(&TfMessage { transforms }));
    }

    fn take_picture(&self) -> Stamp {
        let frame = sized_frame(0, Clock::now(&*self.clock), 8, 6);
        let header = Header::new(frame.stamp, &frame.frame_id);
        self.info.put(info(header, frame.intrinsics, &frame.rgb));
        self.image.put(rgb(header, &frame.rgb));
        self.depth.put(depth(header, frame.depth.as_deref().unwrap()));
        frame.stamp
    }

    /// Takes one picture as soon as somebody looks, and answers what was seen.
    async fn seen(&self, source: &Arc<Source>, take: impl FnOnce()) -> Result<Arc<Frame>, FrameError> {
        let looking = Arc::clone(source);
        let looking = tokio::spawn(async move { looking.next(None, LONG).await });
        eventually("the camera is subscribed to", || self.image.is_wanted()).await;
        take();
        looking.await.unwrap()
    }
}

#[tokio::test]
async fn a_robots_camera_keeps_the_contract_of_frame_sources() {
    let robot = Robot::start().await;
    let source = robot.look(CameraPose::Fixed(Pose::IDENTITY));
    let pass = async |span| {
        robot.clock.advance(span);
        robot.take_picture();
    };
    check(&*source, &*robot.clock, PERIOD, pass).await;
}

#[tokio::test]
async fn a_picture_comes_with_its_depth_its_model_and_the_cameras_place_at_its_stamp() {
    let robot = Robot::start().await;
    let transforms = robot.transforms();
    eventually("transforms are followed", || robot.tf.is_wanted()).await;
    let source = robot.look(CameraPose::Told(transforms));
    robot.tell(Stamp::from_ros(99, 0), 0.0);
    let frame = robot.seen(&source, || {
        robot.take_picture();
        robot.tell(Stamp::from_ros(103, 0), 4.0);
    });
    let frame = frame.await.unwrap();
    assert_eq!((frame.stamp, frame.frame_id.as_str()), (Stamp::from_ros(100, 0), "camera_optical"));
    assert_eq!(frame.depth.as_deref(), DepthImage::new(8, 6, vec![1.0; 48]).as_ref());
    assert_eq!(Some(&*frame.rgb), RgbImage::new(8, 6, vec![128; 144]).as_ref());
    assert_eq!(frame.intrinsics, sized_frame(0, Stamp::ZERO, 8, 6).intrinsics);
    let place = frame.map_from_camera.expect("the robot says where it is").translation;
    assert!((place - DVec3::X).length() < 1e-9, "a quarter of the way: {place}");
}

#[tokio::test]
async fn without_transforms_a_picture_has_no_place() {
    let robot = Robot::start().await;
    let source = robot.look(CameraPose::Told(robot.transforms()));
    let frame = robot
        .seen(&source, || {
            robot.take_picture();
        })
        .await
        .unwrap();
    assert_eq!(frame.map_from_camera, None);
}

#[tokio::test]
async fn depth_of_another_size_and_pictures_that_are_none_do_not_pass() {
    let robot = Robot::start().await;
    let source = robot.look(CameraPose::Fixed(Pose::IDENTITY));
    let small = sized_frame(0, Stamp::from_ros(100, 0), 4, 3);
    let header = Header::new(small.stamp, "camera_optical");
    let large = sized_frame(0, small.stamp, 8, 6);
    let frame = robot.seen(&source, || {
        robot.info.put(info(header, large.intrinsics, &large.rgb));
        robot.image.put(rgb(header, &large.rgb));
        robot.depth.put(depth(header, small.depth.as_deref().unwrap()));
    });
    let frame = frame.await.unwrap();
    assert!(frame.depth.is_none() && frame.rgb.width == 8);
    let broken = Image { header, height: 1, width: 1, encoding: "jpeg", ..Image::default() };
    robot.image.put(encode(&broken));
    robot.depth.put(depth(header, small.depth.as_deref().unwrap()));
    let Err(FrameError::Garbled { reason }) = source.next(Some(frame.seq), LONG).await else { panic!("no picture") };
    assert!(reason.contains("/camera/image_raw") && reason.contains("jpeg"), "{reason}");
}

#[tokio::test]
async fn who_is_missing_is_named_when_no_picture_comes() {
    let robot = Robot::start().await;
    let source = robot.look(CameraPose::Fixed(Pose::IDENTITY));
    let missing = async || source.next(None, Duration::ZERO).await.unwrap_err();
    assert_eq!(missing().await, FrameError::TimedOut { waited: Duration::ZERO });
    let Robot { bus, image, .. } = robot;
    drop(image);
    assert!(missing().await.to_string().contains("nobody publishes /camera/image_raw"));
    let _other = bus.advertise("/camera/image_raw", &Text::TYPE, Qos::PICTURE).await.unwrap();
    assert!(missing().await.to_string().contains("is std_msgs/msg/String"));
    bus.set_down(Some("the router is away"));
    assert!(missing().await.to_string().contains("the router is away"));
}

#[tokio::test(start_paused = true)]
async fn the_topics_are_left_when_nobody_looks_and_old_pictures_are_forgotten() {
    let robot = Robot::start().await;
    let source = robot.look(CameraPose::Fixed(Pose::IDENTITY));
    let first = robot
        .seen(&source, || {
            robot.take_picture();
        })
        .await
        .unwrap();
    tokio::time::sleep(IDLE_AFTER * 2).await;
    assert!(!robot.image.is_wanted(), "nobody looks");
    let none = source.next(None, Duration::ZERO).await;
    assert!(matches!(none, Err(FrameError::TimedOut { .. })), "what was seen long ago is not now: {none:?}");
    assert!(robot.image.is_wanted());
    robot.clock.advance(PERIOD);
    let stamp = robot.take_picture();
    let second = source.next(Some(first.seq), LONG).await.unwrap();
    assert!(second.seq > first.seq && second.stamp == stamp);
}
