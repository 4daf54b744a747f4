use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cerebellum_core::{Clock, Frame, FrameError, FrameSource, RgbImage};
use cerebellum_wire::text;

use super::{Config, Ended, Ports};

/// How many captures are kept for clicks.
const CAPTURES_KEPT: usize = 8;
/// How many pictures of `get_frame` are kept for clicks.
const FRAMES_KEPT: usize = 16;
/// A stamp so far ahead of the clock says nothing of the age, in seconds.
const AHEAD_MAX_S: f64 = 1.0;
/// The longest reason of a camera that is passed on, in characters.
const REASON_CHARS_MAX: usize = 400;

/// The camera: its newest picture, its JPEG, and the last pictures that were handed out.
pub(super) struct Eyes {
    frames: Arc<dyn FrameSource>,
    clock: Arc<dyn Clock>,
    deadline: Duration,
    age_max: Duration,
    quality: u8,
    kept: Mutex<Kept>,
    encoded: tokio::sync::Mutex<Option<(u64, Arc<str>)>>,
}

#[derive(Default)]
struct Kept {
    captures: VecDeque<Arc<Frame>>,
    frames: VecDeque<Arc<Frame>>,
    /// The newest frame and when it was first seen, for cameras whose stamps say nothing.
    arrival: Option<(u64, Duration)>,
}

/// A picture and how old it is.
#[derive(Clone)]
pub(super) struct Sight {
    pub(super) frame: Arc<Frame>,
    pub(super) age_s: f64,
}

impl Eyes {
    pub(super) fn new(ports: &Ports, config: &Config) -> Self {
        Self {
            frames: Arc::clone(&ports.frames),
            clock: Arc::clone(&ports.clock),
            deadline: config.frame_deadline,
            age_max: config.frame_age_max,
            quality: config.jpeg_quality.clamp(1, 100),
            kept: Mutex::default(),
            encoded: tokio::sync::Mutex::default(),
        }
    }

    /// The newest picture, if it is new enough; else the next one.
    pub(super) async fn newest(&self) -> Result<Sight, Ended> {
        let sight = self.next(None).await?;
        if sight.age_s <= self.age_max.as_secs_f64() {
            return Ok(sight);
        }
        self.newer_than(&sight).await
    }

    /// A picture that was taken after the call began, if the camera is fast enough; else the newest, if it is new enough.
    pub(super) async fn fresh(&self) -> Result<Sight, Ended> {
        let sight = self.next(None).await?;
        match self.newer_than(&sight).await {
            Ok(newer) => Ok(newer),
            Err(ended) => {
                let age_s = self.age_s(&sight.frame);
                let is_new = age_s <= self.age_max.as_secs_f64();
                if is_new { Ok(Sight { age_s, ..sight }) } else { Err(ended) }
            }
        }
    }

    /// The picture of that stamp, if it is kept.
    pub(super) fn kept(&self, stamp: f64) -> Result<Sight, Ended> {
        let kept = self.lock();
        let found =
            kept.captures.iter().chain(&kept.frames).find(|frame| (frame.stamp.as_secs_micros() - stamp).abs() < 1e-6);
        let Some(frame) = found.cloned() else {
            return Err(Ended::no(
                "frame_gone",
                format!("no picture with the stamp {} is kept any more", text::number(stamp)),
                "Call capture_scene, and give the stamp of its picture.",
                &(),
            ));
        };
        drop(kept);
        let age_s = self.age_s(&frame);
        Ok(Sight { frame, age_s })
    }

    pub(super) fn keep_capture(&self, frame: &Arc<Frame>) {
        keep(&mut self.lock().captures, frame, CAPTURES_KEPT);
    }

    pub(super) fn keep_frame(&self, frame: &Arc<Frame>) {
        keep(&mut self.lock().frames, frame, FRAMES_KEPT);
    }

    /// The picture as JPEG in base64. Callers who ask for the same picture at once share one encoding.
    pub(super) async fn jpeg(&self, frame: &Arc<Frame>) -> Result<Arc<str>, Ended> {
        let mut encoded = self.encoded.lock().await;
        if let Some((seq, text)) = encoded.as_ref()
            && *seq == frame.seq
        {
            return Ok(Arc::clone(text));
        }
        let (rgb, quality) = (Arc::clone(&frame.rgb), self.quality);
        let text = tokio::task::spawn_blocking(move || jpeg_base64(&rgb, quality))
            .await
            .map_err(|error| error.to_string())
            .and_then(|encoded| encoded)
            .map_err(|reason| Ended::failed("not_encoded", reason, "Tell the operator to check the camera's size."))?;
        *encoded = Some((frame.seq, Arc::clone(&text)));
        Ok(text)
    }

    async fn newer_than(&self, old: &Sight) -> Result<Sight, Ended> {
        let sight = self.next(Some(old.frame.seq)).await?;
        if sight.age_s <= self.age_max.as_secs_f64() {
            return Ok(sight);
        }
        Err(Ended::no(
            "camera_lost",
            format!("the camera's newest picture is {:.1} s old", sight.age_s),
            "Tell the operator to check the camera, then call again.",
            &(),
        ))
    }

    async fn next(&self, after: Option<u64>) -> Result<Sight, Ended> {
        let frame = self.frames.next(after, self.deadline).await.map_err(|error| lost(&error))?;
        let age_s = self.age_s(&frame);
        Ok(Sight { frame, age_s })
    }

    /// The larger of the time since the picture was first seen here and the age of its stamp; a stamp that lies ahead or
    /// says nothing does not count.
    pub(super) fn age_s(&self, frame: &Frame) -> f64 {
        let now = self.clock.monotonic();
        let mut kept = self.lock();
        let since_arrival = match kept.arrival {
            Some((seq, at)) if seq == frame.seq => now.saturating_sub(at),
            Some((seq, _)) if seq > frame.seq => Duration::ZERO,
            Some(_) | None => {
                kept.arrival = Some((frame.seq, now));
                Duration::ZERO
            }
        };
        drop(kept);
        let by_stamp = self.clock.now().secs_since(frame.stamp);
        let counts = !frame.stamp.is_zero() && by_stamp > -AHEAD_MAX_S;
        let age = if counts { by_stamp.max(since_arrival.as_secs_f64()) } else { since_arrival.as_secs_f64() };
        (age.max(0.0) * 1e3).round() / 1e3
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep(frames: &mut VecDeque<Arc<Frame>>, frame: &Arc<Frame>, most: usize) {
    if frames.back().is_some_and(|last| last.seq == frame.seq) {
        return;
    }
    frames.push_back(Arc::clone(frame));
    if frames.len() > most {
        frames.pop_front();
    }
}

fn lost(error: &FrameError) -> Ended {
    let code = match error {
        FrameError::TimedOut { .. } | FrameError::Unavailable { .. } => "camera_lost",
        FrameError::Garbled { .. } => "camera_garbled",
    };
    let reason = text::cut_to(&format!("no picture from the camera: {error}"), REASON_CHARS_MAX);
    Ended::no(code, reason, "Tell the operator to check the camera, then call again.", &())
}

fn jpeg_base64(rgb: &RgbImage, quality: u8) -> Result<Arc<str>, String> {
    let size =
        |pixels: u32| u16::try_from(pixels).map_err(|error| format!("a side of {pixels} pixels is no JPEG: {error}"));
    let mut bytes = Vec::with_capacity(rgb.data.len() / 12);
    jpeg_encoder::Encoder::new(&mut bytes, quality)
        .encode(&rgb.data, size(rgb.width)?, size(rgb.height)?, jpeg_encoder::ColorType::Rgb)
        .map_err(|error| format!("the picture cannot be encoded: {error}"))?;
    Ok(STANDARD.encode(bytes).into())
}
