use std::time::Duration;

use cerebellum_wire::ToolClass;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

/// Stops the calls of a server: motion first, then all.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    motion_stop: CancellationToken,
    all_stop: CancellationToken,
    motions: TaskTracker,
}

impl Calls {
    /// Counts a call for as long as the answer lives; only motion is counted.
    pub(crate) fn started(&self, class: ToolClass) -> Option<TaskTrackerToken> {
        (class == ToolClass::Motion).then(|| self.motions.token())
    }

    /// Returns when calls of this class must stop.
    pub(crate) async fn stopped(&self, class: ToolClass) {
        match class {
            ToolClass::Motion => self.motion_stop.cancelled().await,
            ToolClass::Read | ToolClass::Write => self.all_stop.cancelled().await,
        }
    }

    /// Cancels every motion, waits until they have ended or `bound` is over, then cancels every other call.
    pub(crate) async fn stop(&self, bound: Duration) {
        self.motion_stop.cancel();
        self.motions.close();
        if tokio::time::timeout(bound, self.motions.wait()).await.is_err() {
            tracing::error!(still_running = self.motions.len(), "motions did not end when they were told to stop");
        }
        self.all_stop.cancel();
    }
}

/// Whether any stream of a request is attached to its caller. A caller that has gone drops its stream; one that comes back
/// in time attaches again.
#[derive(Clone)]
pub(crate) struct StreamLink(watch::Sender<usize>);

impl Default for StreamLink {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl StreamLink {
    /// Attached for as long as the answer lives.
    pub(crate) fn attach(&self) -> Attached {
        self.0.send_modify(|streams| *streams += 1);
        Attached(self.0.clone())
    }

    /// Whether a call or a stream still needs this link.
    pub(crate) fn is_needed(&self) -> bool {
        self.0.receiver_count() > 0 || *self.0.borrow() > 0
    }

    /// Returns when no stream has been attached for `grace` without a break.
    pub(crate) async fn lost(&self, grace: Duration) {
        let mut streams = self.0.subscribe();
        loop {
            // `self` holds the sender, so neither wait can fail.
            if streams.wait_for(|streams| *streams == 0).await.is_err() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(grace) => return,
                _ = streams.wait_for(|streams| *streams > 0) => {}
            }
        }
    }
}

/// One attached stream.
pub(crate) struct Attached(watch::Sender<usize>);

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.send_modify(|streams| *streams -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(300);

    #[tokio::test(start_paused = true)]
    async fn a_link_is_lost_only_after_the_grace() {
        let link = StreamLink::default();
        let attached = link.attach();
        let lost = link.lost(GRACE);
        tokio::pin!(lost);
        assert!(tokio::time::timeout(GRACE * 10, &mut lost).await.is_err());
        drop(attached);
        assert!(tokio::time::timeout(GRACE / 2, &mut lost).await.is_err());
        assert!(tokio::time::timeout(GRACE, &mut lost).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn attaching_again_within_the_grace_keeps_the_call() {
        let link = StreamLink::default();
        drop(link.attach());
        let lost = link.lost(GRACE);
        tokio::pin!(lost);
        assert!(tokio::time::timeout(GRACE / 2, &mut lost).await.is_err());
        let _again = link.attach();
        assert!(tokio::time::timeout(GRACE * 10, &mut lost).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn motion_stops_before_the_rest() {
        let calls = Calls::default();
        let motion = calls.started(ToolClass::Motion);
        let stopping = tokio::spawn({
            let calls = calls.clone();
            async move { calls.stop(Duration::from_secs(5)).await }
        });
        calls.stopped(ToolClass::Motion).await;
        assert!(tokio::time::timeout(Duration::from_secs(1), calls.stopped(ToolClass::Read)).await.is_err());
        drop(motion);
        stopping.await.unwrap();
        calls.stopped(ToolClass::Read).await;
    }
}
