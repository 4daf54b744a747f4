use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{Clock, DepthImage, Frame, FrameError, FrameSource, Intrinsics, RgbImage, Stamp};
use tokio::sync::watch;

pub use contract::check;

mod contract;

/// A camera that shows what it is told to, on the clock it is given.
pub struct FakeFrames {
    clock: Arc<dyn Clock>,
    state: watch::Sender<State>,
    answered: AtomicU64,
}

#[derive(Clone)]
struct State {
    show: Show,
    error: Option<FrameError>,
    frozen_at: Option<Stamp>,
    silent: bool,
}

#[derive(Clone)]
enum Show {
    /// A new picture each period.
    Live(Duration),
    /// The last picture that was pushed.
    Pushed(Option<Arc<Frame>>),
}

impl FakeFrames {
    /// Takes a picture each `period` of the clock.
    pub fn live(clock: Arc<dyn Clock>, period: Duration) -> Self {
        Self::new(clock, Show::Live(period))
    }

    /// Shows what [`Self::push`] gave last, and nothing before.
    pub fn scripted(clock: Arc<dyn Clock>) -> Self {
        Self::new(clock, Show::Pushed(None))
    }

    fn new(clock: Arc<dyn Clock>, show: Show) -> Self {
        let state = State { show, error: None, frozen_at: None, silent: false };
        Self { clock, state: watch::Sender::new(state), answered: AtomicU64::new(0) }
    }

    /// Shows this frame from now on, and no longer pictures of its own.
    pub fn push(&self, frame: Frame) {
        self.state.send_modify(|state| state.show = Show::Pushed(Some(Arc::new(frame))));
    }

    /// Answers with this error until told otherwise.
    pub fn fail(&self, error: Option<FrameError>) {
        self.state.send_modify(|state| state.error = error);
    }

    /// Goes on sending pictures, all with the stamp of now.
    pub fn freeze(&self) {
        let now = self.clock.now();
        self.state.send_modify(|state| state.frozen_at = Some(now));
    }

    /// Stamps pictures with the time they are taken again.
    pub fn thaw(&self) {
        self.state.send_modify(|state| state.frozen_at = None);
    }

    /// Sends no picture while `silent`.
    pub fn silence(&self, silent: bool) {
        self.state.send_modify(|state| state.silent = silent);
    }

    /// How many pictures were taken from it.
    pub fn taken(&self) -> u64 {
        self.answered.load(Ordering::SeqCst)
    }

    /// The newest frame of now, or when there may be a newer one.
    fn newest(&self, state: &State, after: Option<u64>) -> Result<Arc<Frame>, Option<Duration>> {
        if state.silent {
            return Err(None);
        }
        match &state.show {
            Show::Live(period) => {
                let now = self.clock.monotonic();
                let passed = (now.as_nanos() / period.as_nanos()) as u64;
                if after.is_some_and(|after| passed < after) {
                    return Err(Some((*period * (passed + 1) as u32).saturating_sub(now)));
                }
                let age = now.saturating_sub(*period * passed as u32);
                let taken_at = Stamp::from_nanos(self.clock.now().nanos() - age.as_nanos() as i64);
                Ok(Arc::new(frame(passed + 1, state.frozen_at.unwrap_or(taken_at))))
            }
            Show::Pushed(frame) => {
                frame.clone().filter(|frame| after.is_none_or(|after| frame.seq > after)).ok_or(None)
            }
        }
    }
}

/// A small grey picture with depth and intrinsics.
pub fn frame(seq: u64, stamp: Stamp) -> Frame {
    sized_frame(seq, stamp, 32, 24)
}

/// A grey picture with depth and intrinsics.
pub fn sized_frame(seq: u64, stamp: Stamp, width: u32, height: u32) -> Frame {
    let pixels = width as usize * height as usize;
    Frame {
        stamp,
        seq,
        frame_id: "camera_optical".to_owned(),
        rgb: Arc::new(RgbImage { width, height, data: vec![128; pixels * 3] }),
        depth: Some(Arc::new(DepthImage { width, height, metres: vec![1.0; pixels] })),
        intrinsics: Some(Intrinsics {
            width,
            height,
            fx: 30.0,
            fy: 30.0,
            cx: f64::from(width) / 2.0,
            cy: f64::from(height) / 2.0,
        }),
        map_from_camera: None,
    }
}

#[async_trait]
impl FrameSource for FakeFrames {
    async fn next(&self, after: Option<u64>, deadline: Duration) -> Result<Arc<Frame>, FrameError> {
        let until = self.clock.monotonic().saturating_add(deadline);
        let mut changes = self.state.subscribe();
        loop {
            let state = changes.borrow_and_update().clone();
            if let Some(error) = state.error {
                return Err(error);
            }
            let newer_in = match self.newest(&state, after) {
                Ok(frame) => {
                    self.answered.fetch_add(1, Ordering::SeqCst);
                    return Ok(frame);
                }
                Err(newer_in) => newer_in,
            };
            let left = until.saturating_sub(self.clock.monotonic());
            if left.is_zero() {
                return Err(FrameError::TimedOut { waited: deadline });
            }
            let pause = newer_in.map_or(left, |newer_in| newer_in.min(left));
            tokio::select! {
                changed = changes.changed() => changed.expect("the camera holds the sender"),
                () = self.clock.sleep(pause) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FakeClock;

    #[tokio::test]
    async fn the_fake_camera_keeps_the_contract() {
        let clock = Arc::new(FakeClock::at(Stamp::from_nanos(1_000_000_000)));
        let period = Duration::from_millis(100);
        let camera = FakeFrames::live(clock.clone(), period);
        check(&camera, &*clock, period, async |span| clock.advance(span)).await;
    }

    #[tokio::test]
    async fn a_scripted_camera_shows_the_last_frame_only() {
        let clock = Arc::new(FakeClock::at(Stamp::ZERO));
        let camera = FakeFrames::scripted(clock.clone());
        assert!(matches!(camera.next(None, Duration::ZERO).await, Err(FrameError::TimedOut { .. })));
        camera.push(frame(4, Stamp::from_nanos(4)));
        camera.push(frame(5, Stamp::from_nanos(5)));
        assert_eq!(camera.next(Some(3), Duration::ZERO).await.unwrap().seq, 5);
        assert!(camera.next(Some(5), Duration::ZERO).await.is_err());
        assert_eq!(camera.taken(), 1);
    }
}
