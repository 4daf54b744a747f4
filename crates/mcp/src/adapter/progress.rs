use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::model::ProgressToken;
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;

use crate::tool_server::Progress;

/// Reports waiting to be sent; more are dropped, since the next one says more anyway.
const QUEUE: usize = 64;
/// How long the answer waits for reports that are still queued.
const FLUSH: Duration = Duration::from_millis(100);

/// The two ends of a call's progress: what the tool reports to, and what carries the reports to the caller.
pub(crate) fn of_call(context: &RequestContext<RoleServer>) -> (Box<dyn Progress>, Forward) {
    let Some(token) = context.meta.get_progress_token() else { return (Box::new(Silent), Forward { lane: None }) };
    let (sender, receiver) = mpsc::channel(QUEUE);
    let lane = Lane { receiver, peer: context.peer.clone() };
    (Box::new(Reports { token, sender }), Forward { lane: Some(lane) })
}

struct Silent;

impl Progress for Silent {
    fn report(&self, _done: f64, _total: Option<f64>, _message: &str) {}
}

struct Reports {
    token: ProgressToken,
    sender: mpsc::Sender<ProgressNotificationParam>,
}

impl Progress for Reports {
    fn report(&self, done: f64, total: Option<f64>, message: &str) {
        let mut report = ProgressNotificationParam::new(self.token.clone(), done);
        report.total = total;
        if !message.is_empty() {
            report.message = Some(message.to_owned());
        }
        if self.sender.try_send(report).is_err() {
            tracing::debug!("progress report dropped: the caller reads too slowly");
        }
    }
}

/// Carries reports to the caller while a call runs.
pub(crate) struct Forward {
    lane: Option<Lane>,
}

struct Lane {
    receiver: mpsc::Receiver<ProgressNotificationParam>,
    peer: Peer<RoleServer>,
}

impl Forward {
    /// Sends reports for ever.
    pub(crate) async fn run(&mut self) -> std::convert::Infallible {
        if let Some(lane) = &mut self.lane {
            lane.drain().await;
        }
        std::future::pending().await
    }

    /// Sends what is still queued, for a moment at most.
    pub(crate) async fn flush(mut self) {
        let Some(lane) = &mut self.lane else { return };
        lane.receiver.close();
        if tokio::time::timeout(FLUSH, lane.drain()).await.is_err() {
            tracing::debug!("progress reports dropped: the caller reads too slowly");
        }
    }
}

impl Lane {
    async fn drain(&mut self) {
        while let Some(report) = self.receiver.recv().await {
            if self.peer.notify_progress(report).await.is_err() {
                return;
            }
        }
    }
}
