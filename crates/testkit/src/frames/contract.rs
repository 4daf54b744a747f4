use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{Clock, Frame, FrameError, FrameSource};

/// How long the suite lets a source wait, in its own periods.
const DEADLINE_PERIODS: u32 = 20;

/// The contract of every [`FrameSource`]: panics where `source` breaks it.
///
/// `period` is the time between two of its pictures, `pass` lets that much of the source's time pass: it moves a fake
/// clock, or waits.
pub async fn check(source: &dyn FrameSource, clock: &dyn Clock, period: Duration, pass: impl AsyncFn(Duration)) {
    let deadline = period * DEADLINE_PERIODS;
    let first = during(source.next(None, deadline), period, &pass).await.expect("the first frame");
    whole(&first);

    let again = source.next(None, deadline).await.expect("without `after`, the newest frame comes without waiting");
    assert!(again.seq >= first.seq, "the newest frame is never older: {} after {}", again.seq, first.seq);

    let second = during(source.next(Some(again.seq), deadline), period, &pass).await.expect("a newer frame");
    whole(&second);
    assert!(second.seq > again.seq, "`after` is kept: got {} after {}", second.seq, again.seq);
    assert!(second.stamp > again.stamp, "a new frame has a new stamp");

    let shared = source.next(Some(second.seq - 1), deadline).await.expect("a frame that is there");
    if shared.seq == second.seq {
        assert_eq!(shared.stamp, second.stamp, "one number, one picture");
        assert_eq!(shared.rgb, second.rgb, "one number, one picture");
    }

    let refused = source.next(Some(u64::MAX), Duration::ZERO).await;
    assert!(matches!(refused, Err(FrameError::TimedOut { .. })), "no newer frame by the deadline: {refused:?}");
    let waited = during(source.next(Some(u64::MAX), period), period, &pass).await;
    assert!(matches!(waited, Err(FrameError::TimedOut { .. })), "the deadline ends the wait: {waited:?}");

    drop(source.next(Some(u64::MAX), deadline));
    let newest = during(source.next(Some(second.seq), deadline), period, &pass).await;
    let newest = newest.expect("a dropped wait harms nothing");

    pass(period * 10).await;
    let late = source.next(Some(newest.seq), deadline).await.expect("after a long pause a frame is there");
    let age = clock.now().secs_since(late.stamp);
    assert!(age <= period.as_secs_f64() * 3.0, "frames that nobody took are skipped, not queued: {age} s old");
}

/// Lets time pass in small steps while the call waits.
async fn during<T>(call: impl Future<Output = T>, period: Duration, pass: &impl AsyncFn(Duration)) -> T {
    let mut call = pin!(call);
    loop {
        tokio::select! {
            biased;
            answer = &mut call => return answer,
            () = step(period, pass) => {}
        }
    }
}

async fn step(period: Duration, pass: &impl AsyncFn(Duration)) {
    // Gives work on other threads, such as decoding, a moment before the source's time moves on.
    tokio::time::sleep(Duration::from_millis(1)).await;
    pass(period / 4).await;
}

/// Sizes, stamps and models that fit together.
fn whole(frame: &Arc<Frame>) {
    let (width, height) = (frame.rgb.width, frame.rgb.height);
    assert!(width > 0 && height > 0, "a frame has pixels");
    assert_eq!(frame.rgb.data.len(), width as usize * height as usize * 3, "three bytes a pixel");
    assert!(!frame.stamp.is_zero() && !frame.frame_id.is_empty(), "a frame says when and where");
    if let Some(depth) = &frame.depth {
        assert_eq!((depth.width, depth.height), (width, height), "depth has the size of the picture");
        assert_eq!(depth.metres.len(), width as usize * height as usize, "one distance a pixel");
        assert!(depth.metres.iter().all(|metres| metres.is_finite() && *metres >= 0.0), "distances are finite");
    }
    if let Some(intrinsics) = &frame.intrinsics {
        assert_eq!((intrinsics.width, intrinsics.height), (width, height), "the model has the size of the picture");
        assert!(intrinsics.fx > 0.0 && intrinsics.fy > 0.0, "focal lengths are positive");
    }
}
