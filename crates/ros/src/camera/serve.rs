use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{BusError, DepthImage, Frame, FrameSource, Intrinsics, RgbImage};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::{Publisher, Qos, RosBus, persist};
use crate::msg::common::{CameraInfo, Header, Image};
use crate::msg::{Bytes, Message, encode};

/// How a camera is served.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraTopics {
    /// The folder of the topics, such as `/camera`: `camera_info`, `image_raw` and `depth/image_raw` stand in it.
    pub folder: String,
    /// Pictures a second while somebody has subscribed to them.
    pub rate_hz: f64,
    /// Pictures a second that are looked at for `camera_info` alone, while somebody has subscribed to that.
    pub idle_rate_hz: f64,
}

impl Default for CameraTopics {
    fn default() -> Self {
        Self { folder: "/camera".to_owned(), rate_hz: 10.0, idle_rate_hz: 2.0 }
    }
}

/// How long one picture is waited for.
const FRAME_DEADLINE: Duration = Duration::from_secs(5);
/// How soon a new subscriber is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Serves the pictures of `source` on the bus until `stop`, advertising as soon as the bus is up. Nobody who listens costs
/// nothing: no picture is taken, rendered or sent.
pub fn serve(
    bus: Arc<dyn RosBus>,
    source: Arc<dyn FrameSource>,
    topics: CameraTopics,
    tasks: &TaskTracker,
    stop: CancellationToken,
) {
    tasks.spawn(async move {
        stop.run_until_cancelled(run(bus, source, topics)).await;
    });
}

async fn run(bus: Arc<dyn RosBus>, source: Arc<dyn FrameSource>, topics: CameraTopics) {
    let folder = topics.folder.trim_end_matches('/');
    let publishers = Arc::new(persist(&bus, "camera", || advertise(&bus, folder)).await);
    let mut last = None;
    loop {
        let wanted = publishers.wanted();
        if !wanted.any() {
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        let started = tokio::time::Instant::now();
        match source.next(last, FRAME_DEADLINE).await {
            Ok(frame) => {
                last = Some(frame.seq);
                let publishers = publishers.clone();
                // Copying a picture into a message takes a moment.
                let sent = tokio::task::spawn_blocking(move || publishers.publish(&frame, wanted));
                if let Err(error) = sent.await {
                    tracing::error!(%error, "a picture could not be written");
                }
            }
            Err(error) => tracing::debug!(%error, "no picture to serve"),
        }
        let rate_hz = if wanted.pictures() { topics.rate_hz } else { topics.idle_rate_hz };
        wait(started, rate_hz, &publishers, wanted).await;
    }
}

/// Waits for the time of the next picture, or until more is wanted than before.
async fn wait(started: tokio::time::Instant, rate_hz: f64, publishers: &CameraPublishers, was_wanted: Wanted) {
    let until = started + Duration::from_secs_f64(1.0 / rate_hz.clamp(0.01, 100.0));
    loop {
        let look = tokio::time::Instant::now() + LOOK_EVERY;
        tokio::time::sleep_until(look.min(until)).await;
        if tokio::time::Instant::now() >= until || (publishers.wanted().pictures() && !was_wanted.pictures()) {
            return;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Wanted {
    info: bool,
    rgb: bool,
    depth: bool,
}

impl Wanted {
    const fn any(self) -> bool {
        self.info || self.rgb || self.depth
    }

    const fn pictures(self) -> bool {
        self.rgb || self.depth
    }
}

struct CameraPublishers {
    info: Box<dyn Publisher>,
    rgb: Box<dyn Publisher>,
    depth: Box<dyn Publisher>,
}

async fn advertise(bus: &Arc<dyn RosBus>, folder: &str) -> Result<CameraPublishers, BusError> {
    Ok(CameraPublishers {
        info: bus.advertise(&format!("{folder}/camera_info"), &CameraInfo::TYPE, Qos::STREAM).await?,
        rgb: bus.advertise(&format!("{folder}/image_raw"), &Image::TYPE, Qos::PICTURE).await?,
        depth: bus.advertise(&format!("{folder}/depth/image_raw"), &Image::TYPE, Qos::PICTURE).await?,
    })
}

impl CameraPublishers {
    fn wanted(&self) -> Wanted {
        Wanted { info: self.info.is_wanted(), rgb: self.rgb.is_wanted(), depth: self.depth.is_wanted() }
    }

    fn publish(&self, frame: &Frame, wanted: Wanted) {
        let header = Header::new(frame.stamp, &frame.frame_id);
        if wanted.info {
            self.info.put(info(header, frame.intrinsics, &frame.rgb));
        }
        if wanted.rgb {
            self.rgb.put(rgb(header, &frame.rgb));
        }
        if let Some(depth_image) = frame.depth.as_deref().filter(|_| wanted.depth) {
            self.depth.put(depth(header, depth_image));
        }
    }
}

pub(super) fn info(header: Header<'_>, intrinsics: Option<Intrinsics>, image: &RgbImage) -> Vec<u8> {
    let unknown = CameraInfo { header, height: image.height, width: image.width, ..CameraInfo::default() };
    // An unknown camera has a matrix of zeros, as ROS says "not calibrated".
    let Some(Intrinsics { width, height, fx, fy, cx, cy }) = intrinsics else { return encode(&unknown) };
    encode(&CameraInfo {
        height,
        width,
        distortion_model: "plumb_bob",
        d: vec![0.0; 5],
        k: [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0],
        r: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        p: [fx, 0.0, cx, 0.0, 0.0, fy, cy, 0.0, 0.0, 0.0, 1.0, 0.0],
        ..unknown
    })
}

pub(super) fn rgb(header: Header<'_>, image: &RgbImage) -> Vec<u8> {
    encode(&Image {
        header,
        height: image.height,
        width: image.width,
        encoding: "rgb8",
        is_bigendian: 0,
        step: image.width * 3,
        data: Bytes(&image.data),
    })
}

/// What was not measured is no number in ROS (REP 118).
pub(super) fn depth(header: Header<'_>, image: &DepthImage) -> Vec<u8> {
    let data: Vec<u8> = image.metres.iter().flat_map(|&metres| ros_metres(metres).to_le_bytes()).collect();
    encode(&Image {
        header,
        height: image.height,
        width: image.width,
        encoding: "32FC1",
        is_bigendian: 0,
        step: image.width * 4,
        data: Bytes(&data),
    })
}

fn ros_metres(metres: f32) -> f32 {
    if metres > 0.0 { metres } else { f32::NAN }
}
