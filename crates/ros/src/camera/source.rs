use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{BusError, Clock, Frame, FrameError, FrameSource, Pose, Stamp, Subscription};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::pairing::{Expected, Pair, Pairing, Raw};
use super::picture;
use crate::bus::{Qos, RosBus, Sink};
use crate::msg::common::{CameraInfo, Header, Image};
use crate::msg::{Message, decode};
use crate::tf::Transforms;

/// Where a camera's pictures are on the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTopics {
    /// `sensor_msgs/Image` as `rgb8`, `bgr8`, `rgba8`, `bgra8` or `mono8`.
    pub image: String,
    /// `sensor_msgs/Image` as `32FC1` or `16UC1`, registered to the picture; `None` when there is none.
    pub depth: Option<String>,
    /// `sensor_msgs/CameraInfo` of the picture.
    pub info: String,
}

impl Default for SourceTopics {
    fn default() -> Self {
        Self {
            image: "/camera/image_raw".into(),
            depth: Some("/camera/depth/image_raw".into()),
            info: "/camera/camera_info".into(),
        }
    }
}

/// How it is known where the camera is.
#[derive(Clone)]
pub enum CameraPose {
    /// It stands there: `map` from its optical frame.
    Fixed(Pose),
    /// The robot says so on `/tf`: a frame's pose is that of its own stamp. Where the robot does not say, a frame has none.
    Told(Arc<Transforms>),
}

/// How long after the last picture was asked for the topics are left.
const IDLE_AFTER: Duration = Duration::from_secs(5);
/// How soon a bus that is away is tried again.
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(200);
/// How long transforms as new as the picture are waited for.
const POSE_PATIENCE: Duration = Duration::from_millis(300);
/// The largest message that is kept, in bytes.
const MESSAGE_MAX: usize = 256 << 20;

/// The camera of a robot on the bus. Its topics are subscribed to while pictures are asked for, and left five seconds later.
/// The newest picture is kept and no other; it is decoded when somebody takes it.
pub struct Source {
    bus: Arc<dyn RosBus>,
    topics: SourceTopics,
    pose: CameraPose,
    clock: Arc<dyn Clock>,
    arrived: Arc<Arrived>,
    attached: tokio::sync::Mutex<Option<[Subscription; 3]>>,
    asked: watch::Sender<()>,
    decoded: tokio::sync::Mutex<Option<Decoded>>,
    told_of_depth: AtomicBool,
}

/// A decoded pair; or its number, and why it is no picture.
type Decoded = Result<Arc<Frame>, (u64, String)>;

/// What the sinks of the bus fill.
struct Arrived {
    pairing: Mutex<Pairing>,
    pairs: watch::Sender<u64>,
}

impl Source {
    /// A camera that need not be there yet. `clock` is the robot's.
    pub fn open(
        bus: Arc<dyn RosBus>,
        topics: SourceTopics,
        pose: CameraPose,
        clock: Arc<dyn Clock>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let arrived = Arc::new(Arrived { pairing: Mutex::default(), pairs: watch::Sender::new(0) });
        let source = Arc::new(Self {
            bus,
            topics,
            pose,
            clock,
            arrived,
            attached: tokio::sync::Mutex::new(None),
            asked: watch::Sender::new(()),
            decoded: tokio::sync::Mutex::new(None),
            told_of_depth: AtomicBool::new(false),
        });
        let leaving = Arc::clone(&source);
        tasks.spawn(async move {
            stop.run_until_cancelled(leaving.leave_when_idle()).await;
            *leaving.attached.lock().await = None;
        });
        source
    }

    async fn leave_when_idle(&self) {
        let mut asked = self.asked.subscribe();
        while asked.changed().await.is_ok() {
            while let Ok(Ok(())) = tokio::time::timeout(IDLE_AFTER, asked.changed()).await {}
            *self.attached.lock().await = None;
        }
    }

    async fn attach(&self) -> Result<(), BusError> {
        self.asked.send_replace(());
        let mut attached = self.attached.lock().await;
        if attached.is_some() {
            return Ok(());
        }
        let graph = self.bus.graph()?;
        let is_published = |topic: &str| graph.publishers.iter().any(|endpoint| endpoint.name == topic);
        let depth = self.topics.depth.as_deref().filter(|topic| is_published(topic));
        let expected = Expected { depth: depth.is_some(), model: is_published(&self.topics.info) };
        *self.decoded.lock().await = None;
        self.arrived.lock().begin(expected);
        // The model first: a picture is of little use without.
        let info = self.subscribe(&self.topics.info, Arrived::model).await?;
        let depth = match &self.topics.depth {
            Some(topic) => self.subscribe(topic, Arrived::depth).await?,
            None => Box::new(()),
        };
        let image = self.subscribe(&self.topics.image, Arrived::picture).await?;
        *attached = Some([info, depth, image]);
        Ok(())
    }

    async fn subscribe(&self, topic: &str, take: fn(&Arrived, Stamp, &[u8])) -> Result<Subscription, BusError> {
        let (arrived, clock) = (Arc::clone(&self.arrived), Arc::clone(&self.clock));
        let sink: Sink = Arc::new(move |bytes| {
            if bytes.len() > MESSAGE_MAX {
                return;
            }
            let Ok(header) = decode::<Header<'_>>(bytes) else { return };
            // A camera that does not stamp its pictures: they are as old as their arrival.
            let stamp = Some(Stamp::from(header.stamp)).filter(|stamp| !stamp.is_zero());
            take(&arrived, stamp.unwrap_or_else(|| clock.now()), bytes);
        });
        let (ros_type, qos) =
            if topic == self.topics.info { (CameraInfo::TYPE, Qos::STREAM) } else { (Image::TYPE, Qos::PICTURE) };
        self.bus.subscribe(topic, &ros_type, qos, sink).await
    }

    /// Decodes the pair, or answers what was decoded when somebody else was faster.
    async fn decode(&self, pair: Pair) -> Result<Arc<Frame>, FrameError> {
        let garbled = |reason: &String| FrameError::Garbled { reason: reason.clone() };
        let mut decoded = self.decoded.lock().await;
        match decoded.as_ref() {
            Some(Ok(frame)) if frame.seq >= pair.seq => return Ok(Arc::clone(frame)),
            Some(Err((seq, reason))) if *seq >= pair.seq => return Err(garbled(reason)),
            _ => {}
        }
        let model = self.arrived.lock().model;
        let seq = pair.seq;
        let read = tokio::task::spawn_blocking(move || read(&pair, model)).await;
        let read = read.unwrap_or_else(|error| Err(error.to_string()));
        let answer = match read {
            Ok((mut frame, fault_of_depth)) => {
                if let Some(fault) = fault_of_depth
                    && !self.told_of_depth.swap(true, Ordering::Relaxed)
                {
                    tracing::warn!(topic = self.topics.depth, "pictures are used without depth: {fault}");
                }
                frame.map_from_camera = match &self.pose {
                    CameraPose::Fixed(pose) => Some(*pose),
                    CameraPose::Told(told) => told.pose("map", &frame.frame_id, frame.stamp, POSE_PATIENCE).await,
                };
                Ok(Arc::new(frame))
            }
            Err(fault) => Err((seq, format!("{}: {fault}", self.topics.image))),
        };
        let answer = decoded.insert(answer);
        answer.as_ref().map(Arc::clone).map_err(|(_, reason)| garbled(reason))
    }

    /// Why no picture came.
    fn missing(&self, waited: Duration) -> FrameError {
        let reason = match self.bus.graph() {
            Err(BusError::Down { reason } | BusError::Refused { reason }) => reason,
            Ok(graph) => match graph.publishers.iter().find(|endpoint| endpoint.name == self.topics.image) {
                None => format!(
                    "nobody publishes {} on the bus; start the robot's camera, or name its topic in the setting camera.ros.image",
                    self.topics.image
                ),
                Some(endpoint) if endpoint.ros_type != Image::TYPE => format!(
                    "{} is {} ({}), not {} ({})",
                    self.topics.image,
                    endpoint.ros_type.name,
                    endpoint.ros_type.hash,
                    Image::TYPE.name,
                    Image::TYPE.hash
                ),
                Some(_) => return FrameError::TimedOut { waited },
            },
        };
        FrameError::Unavailable { reason }
    }
}

#[async_trait]
impl FrameSource for Source {
    async fn next(&self, after: Option<u64>, deadline: Duration) -> Result<Arc<Frame>, FrameError> {
        let until = self.clock.monotonic().saturating_add(deadline);
        let mut pairs = self.arrived.pairs.subscribe();
        loop {
            let pause = match self.attach().await {
                Ok(()) => Duration::MAX,
                Err(error) => {
                    tracing::debug!(%error, "the camera waits for the bus");
                    TRY_AGAIN_AFTER
                }
            };
            pairs.mark_unchanged();
            let newest = self.arrived.lock().newest.clone();
            if let Some(pair) = newest.filter(|pair| after.is_none_or(|after| pair.seq > after)) {
                return self.decode(pair).await;
            }
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(self.missing(deadline));
            }
            tokio::select! {
                changed = pairs.changed() => drop(changed),
                () = self.clock.sleep(left.min(pause)) => {}
            }
        }
    }
}

impl Arrived {
    fn lock(&self) -> MutexGuard<'_, Pairing> {
        self.pairing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn model(&self, _stamp: Stamp, bytes: &[u8]) {
        if let Ok(info) = decode::<CameraInfo<'_>>(bytes) {
            self.lock().model = picture::intrinsics(&info);
        }
    }

    fn picture(&self, stamp: Stamp, bytes: &[u8]) {
        let is_pair = self.lock().picture(Raw { stamp, bytes: bytes.into() });
        self.tell(is_pair);
    }

    fn depth(&self, stamp: Stamp, bytes: &[u8]) {
        let is_pair = self.lock().depth(Raw { stamp, bytes: bytes.into() });
        self.tell(is_pair);
    }

    fn tell(&self, is_pair: bool) {
        if is_pair {
            self.pairs.send_modify(|count| *count += 1);
        }
    }
}

/// The frame without a pose, and what is wrong with its depth.
fn read(pair: &Pair, model: Option<cerebellum_core::Intrinsics>) -> Result<(Frame, Option<String>), String> {
    let image: Image<'_> = decode(&pair.rgb.bytes).map_err(|error| error.to_string())?;
    let rgb = picture::colour(&image)?;
    let of_size = |width: u32, height: u32| (width, height) == (rgb.width, rgb.height);
    let depth = pair.depth.as_ref().map(|raw| {
        let image: Image<'_> = decode(&raw.bytes).map_err(|error| error.to_string())?;
        if !of_size(image.width, image.height) {
            return Err(format!(
                "it is {}x{}, the picture {}x{}; publish depth that is registered to the picture, and name its topic in the setting camera.ros.depth",
                image.width, image.height, rgb.width, rgb.height
            ));
        }
        picture::depth(&image)
    });
    let (depth, fault) = match depth.transpose() {
        Ok(depth) => (depth, None),
        Err(fault) => (None, Some(fault)),
    };
    let frame_id = if image.header.frame_id.is_empty() { "camera_optical" } else { image.header.frame_id };
    let frame = Frame {
        stamp: pair.rgb.stamp,
        seq: pair.seq,
        frame_id: frame_id.trim_start_matches('/').to_owned(),
        intrinsics: model.filter(|model| of_size(model.width, model.height)),
        depth: depth.map(Arc::new),
        rgb: Arc::new(rgb),
        map_from_camera: None,
    };
    Ok((frame, fault))
}

#[cfg(test)]
mod tests;
