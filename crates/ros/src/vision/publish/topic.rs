use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use cerebellum_core::BusError;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::bus::{Publisher, Qos, RosBus};
use crate::msg::RosType;

/// How often a topic is tried again while the bus is down, beside each change of the graph.
const ADVERTISE_AGAIN: Duration = Duration::from_secs(2);

/// A topic with a slot for the newest value and a task that sends it: publishing never waits, and a value that is overtaken
/// before it was sent is dropped. The topic leaves the graph soon after this is dropped.
pub(super) struct Topic<T> {
    shared: Arc<Shared<T>>,
    publisher: Arc<OnceLock<Box<dyn Publisher>>>,
    /// Ends the task, which lets go of the publisher once a message under way is sent.
    _stop: DropGuard,
}

struct Shared<T> {
    slot: Mutex<Option<T>>,
    is_filled: Notify,
}

impl<T: Send + Sync + 'static> Topic<T> {
    /// Advertises now if the bus is up, else as soon as it is.
    pub(super) async fn open(
        bus: &Arc<dyn RosBus>,
        name: &str,
        ros_type: RosType,
        qos: Qos,
        tasks: &TaskTracker,
        encode: fn(&T) -> Vec<u8>,
    ) -> Result<Self, BusError> {
        let publisher: Arc<OnceLock<Box<dyn Publisher>>> = Arc::default();
        match bus.advertise(name, &ros_type, qos).await {
            Ok(opened) => drop(publisher.set(opened)),
            Err(BusError::Down { reason }) => tracing::debug!(topic = name, reason, "topic waits for the bus"),
            Err(refused @ BusError::Refused { .. }) => return Err(refused),
        }
        let shared = Arc::new(Shared { slot: Mutex::new(None), is_filled: Notify::new() });
        let stop = CancellationToken::new();
        let send = send(shared.clone(), publisher.clone(), bus.clone(), (name.to_owned(), ros_type, qos), encode);
        let stopped = stop.clone();
        tasks.spawn(async move { stopped.run_until_cancelled(send).await });
        Ok(Self { shared, publisher, _stop: stop.drop_guard() })
    }

    pub(super) fn publish(&self, value: T) {
        let overtaken = self.shared.slot.lock().unwrap_or_else(PoisonError::into_inner).replace(value);
        self.shared.is_filled.notify_one();
        drop(overtaken);
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.publisher.get().is_some_and(|publisher| publisher.is_wanted())
    }
}

async fn send<T: Send + Sync + 'static>(
    shared: Arc<Shared<T>>,
    publisher: Arc<OnceLock<Box<dyn Publisher>>>,
    bus: Arc<dyn RosBus>,
    (name, ros_type, qos): (String, RosType, Qos),
    encode: fn(&T) -> Vec<u8>,
) {
    let mut changes = bus.graph_changes();
    while publisher.get().is_none() {
        match bus.advertise(&name, &ros_type, qos).await {
            Ok(opened) => drop(publisher.set(opened)),
            Err(_) => drop(tokio::time::timeout(ADVERTISE_AGAIN, changes.changed()).await),
        }
    }
    loop {
        shared.is_filled.notified().await;
        let Some(value) = shared.slot.lock().unwrap_or_else(PoisonError::into_inner).take() else { continue };
        // Masks become PNG here, and a put may wait a moment for room: neither belongs on the threads of the runtime.
        let publisher = publisher.clone();
        let sent = tokio::task::spawn_blocking(move || {
            if let Some(publisher) = publisher.get() {
                publisher.put(encode(&value));
            }
        });
        if let Err(error) = sent.await {
            tracing::error!(topic = name, %error, "a message could not be written");
        }
    }
}
