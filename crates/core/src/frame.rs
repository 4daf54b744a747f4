use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::pose::Pose;
use crate::time::Stamp;

/// A colour picture: rows from the top, three bytes (red, green, blue) a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RgbImage {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height * 3` bytes.
    pub data: Vec<u8>,
}

impl RgbImage {
    /// A picture from its bytes; `None` when their number does not fit the size.
    pub fn new(width: u32, height: u32, data: Vec<u8>) -> Option<Self> {
        (data.len() == width as usize * height as usize * 3).then_some(Self { width, height, data })
    }

    /// The colour at column `x`, row `y`. Panics outside the picture.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let at = (y as usize * self.width as usize + x as usize) * 3;
        [self.data[at], self.data[at + 1], self.data[at + 2]]
    }
}

/// Distance along the optical axis for each pixel, in metres. Zero means "not measured".
#[derive(Clone, Debug, PartialEq)]
pub struct DepthImage {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height` distances.
    pub metres: Vec<f32>,
}

impl DepthImage {
    /// A depth picture; `None` when the number of values does not fit the size. Values that are not finite or negative
    /// count as "not measured".
    pub fn new(width: u32, height: u32, mut metres: Vec<f32>) -> Option<Self> {
        if metres.len() != width as usize * height as usize {
            return None;
        }
        for value in &mut metres {
            if !value.is_finite() || *value < 0.0 {
                *value = 0.0;
            }
        }
        Some(Self { width, height, metres })
    }

    /// The distance at column `x`, row `y`, or `None` where nothing was measured. Panics outside the picture.
    pub fn at(&self, x: u32, y: u32) -> Option<f32> {
        let value = self.metres[y as usize * self.width as usize + x as usize];
        (value > 0.0).then_some(value)
    }
}

/// The pinhole model of a camera without distortion, in pixels (`sensor_msgs/CameraInfo`, matrix `K`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intrinsics {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Focal length along `x`.
    pub fx: f64,
    /// Focal length along `y`.
    pub fy: f64,
    /// Column of the optical axis.
    pub cx: f64,
    /// Row of the optical axis.
    pub cy: f64,
}

/// One look of a camera. Depth is registered to the colour picture when it is there.
#[derive(Clone, Debug)]
pub struct Frame {
    /// When it was taken, on the robot's clock.
    pub stamp: Stamp,
    /// Counts the frames of one source; a source never repeats a number for a new picture.
    pub seq: u64,
    /// The optical frame of the camera.
    pub frame_id: String,
    /// The picture.
    pub rgb: Arc<RgbImage>,
    /// Depth of the same size, if the camera measures it.
    pub depth: Option<Arc<DepthImage>>,
    /// The camera's model, if known.
    pub intrinsics: Option<Intrinsics>,
    /// The camera's optical frame in `map` at the stamp, if the robot is localised.
    pub map_from_camera: Option<Pose>,
}

/// Why there is no frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// No newer frame came before the deadline.
    #[error("no new picture within {} s", .waited.as_secs_f64())]
    TimedOut {
        /// How long was waited.
        waited: Duration,
    },
    /// The source cannot be reached or read; `reason` names it and says what to do.
    #[error("{reason}")]
    Unavailable {
        /// What is wrong, for a person.
        reason: String,
    },
    /// A picture came and is not usable; `reason` says why.
    #[error("the camera sent an unusable picture: {reason}")]
    Garbled {
        /// What is wrong, for a person.
        reason: String,
    },
}

/// Where pictures come from: a simulator, folders, a robot's camera.
#[async_trait]
pub trait FrameSource: Send + Sync {
    /// The newest frame whose `seq` is greater than `after` (any frame when `None`), waiting for it until `deadline` has
    /// passed. Frames that nobody took are skipped, never queued. Dropping the future ends the wait.
    async fn next(&self, after: Option<u64>, deadline: Duration) -> Result<Arc<Frame>, FrameError>;
}
