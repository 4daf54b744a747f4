use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Clock, Frame, FrameError, FrameSource, RgbImage, Stamp};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::NodeConfig;

/// The camera as skills share it: one picture is fetched for all who want one at the same time, and none when nobody does.
pub(super) struct Camera {
    /// The latest moment from which a picture is wanted.
    wanted: watch::Sender<Option<Duration>>,
    taken: watch::Sender<Option<Taken>>,
}

/// A picture that came in, or what was wrong instead.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    /// When it came in, on the robot's monotonic time.
    pub(super) at: Duration,
    /// The picture, or the problem in words.
    pub(super) frame: Result<Arc<Frame>, String>,
}

impl Camera {
    pub(super) fn start(
        source: Arc<dyn FrameSource>,
        clock: Arc<dyn Clock>,
        config: &NodeConfig,
        tracker: &TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let (wanted, taken) = (watch::Sender::new(None), watch::Sender::new(None));
        let fetcher = Fetcher {
            source,
            clock,
            deadline: config.frame_deadline,
            life: Life::new(config.frozen_after, config.noisy_camera),
            tracker: tracker.clone(),
        };
        let fetching = fetcher.run(wanted.subscribe(), taken.clone());
        tracker.spawn(async move {
            stop.run_until_cancelled(fetching).await;
        });
        Self { wanted, taken }
    }

    /// The first picture that came in at `from` or later, on the robot's monotonic time; waits for it. A picture that others
    /// fetched counts. Pends for ever once the node stops.
    pub(super) async fn frame(&self, from: Duration) -> Taken {
        let mut taken = self.taken.subscribe();
        self.wanted.send_if_modified(|wanted| {
            let later = *wanted < Some(from);
            if later {
                *wanted = Some(from);
            }
            later
        });
        let fresh = |taken: &Option<Taken>| taken.as_ref().is_some_and(|taken| taken.at >= from);
        let found = taken.wait_for(fresh).await.ok().and_then(|taken| taken.clone());
        match found {
            Some(taken) => taken,
            None => std::future::pending().await,
        }
    }

    /// The picture that came in last, without waiting.
    pub(super) fn newest(&self) -> Option<Taken> {
        self.taken.borrow().clone()
    }
}

struct Fetcher {
    source: Arc<dyn FrameSource>,
    clock: Arc<dyn Clock>,
    deadline: Duration,
    life: Life,
    tracker: TaskTracker,
}

impl Fetcher {
    async fn run(mut self, mut wanted: watch::Receiver<Option<Duration>>, taken: watch::Sender<Option<Taken>>) {
        let (mut last_at, mut last_seq) = (None, None);
        while wanted.wait_for(|wanted| *wanted > last_at).await.is_ok() {
            let answer = self.fetch(last_seq).await;
            let at = self.clock.monotonic();
            last_at = Some(at);
            last_seq = answer.as_ref().map_or(last_seq, |frame| Some(frame.seq));
            let frame = answer.and_then(|frame| self.life.check(frame, at));
            taken.send_replace(Some(Taken { at, frame }));
        }
    }

    /// On a task of its own, so that a source that panics is a problem in words.
    async fn fetch(&self, after: Option<u64>) -> Result<Arc<Frame>, String> {
        let (source, deadline) = (Arc::clone(&self.source), self.deadline);
        let fetching = AbortOnDropHandle::new(self.tracker.spawn(async move { source.next(after, deadline).await }));
        match fetching.await {
            Ok(Ok(frame)) => Ok(frame),
            Ok(Err(error @ FrameError::TimedOut { .. })) => {
                Err(format!("camera: {error}; is it running and connected?"))
            }
            Ok(Err(error)) => Err(format!("camera: {error}")),
            Err(error) => Err(format!("camera: the frame source failed: {error}")),
        }
    }
}

/// Whether pictures are whole, and whether the camera still lives.
struct Life {
    frozen_after: Duration,
    noisy: bool,
    last: Option<Seen>,
}

struct Seen {
    stamp: Stamp,
    stamp_since: Duration,
    rgb: Arc<RgbImage>,
    rgb_since: Duration,
}

impl Life {
    fn new(frozen_after: Duration, noisy: bool) -> Self {
        Self { frozen_after, noisy, last: None }
    }

    fn check(&mut self, frame: Arc<Frame>, at: Duration) -> Result<Arc<Frame>, String> {
        if let Some(fault) = fault(&frame) {
            return Err(format!("camera: {}", FrameError::Garbled { reason: fault }));
        }
        let (mut stamp_since, mut rgb_since) = (at, at);
        if let Some(last) = &self.last {
            if last.stamp == frame.stamp && !frame.stamp.is_zero() {
                stamp_since = last.stamp_since;
            }
            if self.noisy && last.rgb == frame.rgb {
                rgb_since = last.rgb_since;
            }
        }
        self.last = Some(Seen { stamp: frame.stamp, stamp_since, rgb: Arc::clone(&frame.rgb), rgb_since });
        for (what, since) in [("its stamp has stood still", stamp_since), ("its pictures have been equal", rgb_since)] {
            let still = at.saturating_sub(since);
            if still >= self.frozen_after {
                return Err(format!("camera: frozen: {what} for {:.1} s; restart the camera", still.as_secs_f64()));
            }
        }
        Ok(frame)
    }
}

/// What makes a frame unusable.
fn fault(frame: &Frame) -> Option<String> {
    let rgb = &frame.rgb;
    let pixels = rgb.width as usize * rgb.height as usize;
    if pixels == 0 {
        return Some(format!("it is empty ({}x{})", rgb.width, rgb.height));
    }
    if rgb.data.len() != pixels * 3 {
        return Some(format!(
            "{}x{} pixels take {} bytes, it has {}",
            rgb.width,
            rgb.height,
            pixels * 3,
            rgb.data.len()
        ));
    }
    let depth = frame.depth.as_ref();
    if let Some(depth) = depth.filter(|depth| (depth.width, depth.height) != (rgb.width, rgb.height)) {
        let (width, height) = (depth.width, depth.height);
        return Some(format!("depth is {width}x{height}, the picture {}x{}", rgb.width, rgb.height));
    }
    if depth.is_some_and(|depth| depth.metres.len() != pixels) {
        return Some("depth has not one value a pixel".to_owned());
    }
    let model = frame.intrinsics.as_ref()?;
    if (model.width, model.height) != (rgb.width, rgb.height) {
        let (width, height) = (model.width, model.height);
        return Some(format!("the camera model is for {width}x{height}, the picture {}x{}", rgb.width, rgb.height));
    }
    let usable = [model.fx, model.fy].iter().all(|focal| focal.is_finite() && *focal > 0.0)
        && [model.cx, model.cy].iter().all(|centre| centre.is_finite());
    (!usable).then(|| "the camera model has no usable focal length or centre".to_owned())
}

#[cfg(test)]
mod tests {
    use cerebellum_testkit::frames::{frame, sized_frame};

    use super::*;

    fn at(life: &mut Life, secs: u64, stamp: i64, grey: u8) -> Result<(), String> {
        let mut shown = frame(secs, Stamp::from_nanos(stamp));
        let data = vec![grey; shown.rgb.data.len()];
        shown.rgb = Arc::new(RgbImage { data, ..*shown.rgb });
        life.check(Arc::new(shown), Duration::from_secs(secs)).map(|_| ())
    }

    #[test]
    fn a_stamp_that_stands_still_is_a_frozen_camera_until_it_moves() {
        let mut life = Life::new(Duration::from_secs(3), false);
        assert!(at(&mut life, 0, 5, 0).is_ok() && at(&mut life, 2, 5, 0).is_ok());
        let fault = at(&mut life, 4, 5, 0).unwrap_err();
        assert!(fault.contains("frozen") && fault.contains("4.0 s"), "{fault}");
        assert!(at(&mut life, 5, 6, 0).is_ok());
    }

    #[test]
    fn a_stamp_that_jumps_back_or_is_missing_is_not_frozen() {
        let mut life = Life::new(Duration::from_secs(3), false);
        for (secs, stamp) in [(0, 9), (10, 4), (20, 3), (30, 0), (40, 0), (50, 0)] {
            assert_eq!(at(&mut life, secs, stamp, 0), Ok(()), "{secs}");
        }
    }

    #[test]
    fn equal_pictures_count_only_where_the_sensor_has_noise() {
        let mut noisy = Life::new(Duration::from_secs(3), true);
        assert!(at(&mut noisy, 0, 1, 7).is_ok() && at(&mut noisy, 2, 2, 7).is_ok());
        assert!(at(&mut noisy, 4, 3, 7).unwrap_err().contains("equal"));
        assert!(at(&mut noisy, 5, 4, 8).is_ok());
        let mut clean = Life::new(Duration::from_secs(3), false);
        assert!(at(&mut clean, 0, 1, 7).is_ok() && at(&mut clean, 9, 2, 7).is_ok());
    }

    #[test]
    fn an_unusable_frame_is_named() {
        let check = |change: fn(&mut Frame), word: &str| {
            let mut frame = frame(1, Stamp::from_nanos(1));
            change(&mut frame);
            let found = fault(&frame).unwrap();
            assert!(found.contains(word), "{found}");
        };
        check(|frame| *frame = sized_frame(1, Stamp::ZERO, 0, 0), "empty");
        check(|frame| frame.rgb = Arc::new(RgbImage { width: 3, height: 3, data: vec![0; 5] }), "27 bytes");
        check(|frame| frame.depth = sized_frame(1, Stamp::ZERO, 2, 2).depth, "depth is 2x2");
        check(|frame| frame.intrinsics.as_mut().unwrap().width = 7, "7x24");
        check(|frame| frame.intrinsics.as_mut().unwrap().fx = f64::NAN, "focal");
    }
}
