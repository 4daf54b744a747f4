use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use tokio::sync::watch;
use zenoh::sample::{Sample, SampleKind};

use super::keys::{self, Kind};
use crate::bus::{Endpoint, Graph};

/// The publishers, subscribers and services that tell of themselves now, kept up by liveliness tokens.
pub(super) struct LiveGraph {
    endpoints: Mutex<BTreeMap<String, (Kind, Endpoint)>>,
    changes: watch::Sender<u64>,
}

impl LiveGraph {
    pub(super) fn new() -> Self {
        Self { endpoints: Mutex::default(), changes: watch::Sender::new(0) }
    }

    /// Takes the news of a token. Subscribers and clients are no change: whoever reacts to a change by subscribing or
    /// calling would otherwise wake itself.
    pub(super) fn heed(&self, sample: &Sample) {
        let token = sample.key_expr().as_str();
        let is_change = match sample.kind() {
            SampleKind::Put => match keys::parse(token) {
                Some(endpoint @ (Kind::Publisher | Kind::Service, _)) => {
                    self.lock().insert(token.to_owned(), endpoint).is_none()
                }
                Some(subscriber @ (Kind::Subscription, _)) => {
                    self.lock().insert(token.to_owned(), subscriber);
                    false
                }
                Some((Kind::Client, _)) | None => false,
            },
            SampleKind::Delete => self.lock().remove(token).is_some_and(|(kind, _)| kind != Kind::Subscription),
        };
        if is_change {
            self.changed();
        }
    }

    pub(super) fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(super) fn snapshot(&self) -> Graph {
        let endpoints = self.lock();
        let of = |wanted: Kind| {
            endpoints.values().filter(move |(kind, _)| *kind == wanted).map(|(_, endpoint)| endpoint.clone()).collect()
        };
        Graph { publishers: of(Kind::Publisher), subscribers: of(Kind::Subscription), services: of(Kind::Service) }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (Kind, Endpoint)>> {
        self.endpoints.lock().expect("no holder of this lock panics")
    }
}
