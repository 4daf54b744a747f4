use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::mpsc;

/// Reports of one call that wait to be read; more are dropped.
const LANE: usize = 64;
/// Reports that came before their call was known; the oldest are dropped.
const EARLY: usize = 64;

/// What the client says about itself, and where progress goes.
#[derive(Clone, Default)]
pub(super) struct Listener {
    lanes: Arc<Mutex<Lanes>>,
}

#[derive(Default)]
struct Lanes {
    open: HashMap<ProgressToken, mpsc::Sender<ProgressNotificationParam>>,
    early: VecDeque<ProgressNotificationParam>,
}

impl Listener {
    /// The reports of one call.
    pub(super) fn lane(&self, token: &ProgressToken) -> Lane {
        let (sender, receiver) = mpsc::channel(LANE);
        let mut lanes = self.lanes();
        let (ours, others) =
            std::mem::take(&mut lanes.early).into_iter().partition(|early| early.progress_token == *token);
        lanes.early = others;
        for report in Vec::from_iter::<VecDeque<_>>(ours) {
            drop(sender.try_send(report));
        }
        lanes.open.insert(token.clone(), sender);
        drop(lanes);
        Lane { token: token.clone(), receiver, listener: self.clone(), furthest: f64::NEG_INFINITY }
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let who = Implementation::new("cerebellum", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), who)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        let mut lanes = self.lanes();
        if let Some(lane) = lanes.open.get(&report.progress_token) {
            if lane.try_send(report).is_err() {
                tracing::debug!("a report of progress was dropped");
            }
            return;
        }
        if lanes.early.len() >= EARLY {
            lanes.early.pop_front();
        }
        lanes.early.push_back(report);
    }
}

/// The reports of one call, as long as it lives.
pub(super) struct Lane {
    token: ProgressToken,
    receiver: mpsc::Receiver<ProgressNotificationParam>,
    listener: Listener,
    furthest: f64,
}

impl Lane {
    /// The next report that says more than the last; they may arrive out of order. Never ends by itself.
    pub(super) async fn next(&mut self) -> ProgressNotificationParam {
        loop {
            let Some(report) = self.receiver.recv().await else { return std::future::pending().await };
            if report.progress > self.furthest {
                self.furthest = report.progress;
                return report;
            }
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        self.listener.lanes().open.remove(&self.token);
    }
}
