use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use async_trait::async_trait;
use cerebellum_core::{BusError, Subscription};
use tokio::sync::{Semaphore, watch};

use crate::bus::{
    CallError, Durability, Endpoint, Graph, Handler, Publisher, Qos, REQUESTS_AT_A_TIME, REQUESTS_WAITING, RosBus, Sink,
};
use crate::msg::RosType;

/// A bus inside one process: for tests, and for a program that runs everything itself. Messages go from `put` straight to
/// the sinks.
pub struct MemBus {
    net: Arc<Net>,
}

struct Net {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    down: Option<String>,
    next_id: u64,
    publishers: BTreeMap<u64, Advertised>,
    subscribers: BTreeMap<u64, Subscribed>,
    services: BTreeMap<u64, Served>,
}

struct Advertised {
    endpoint: Endpoint,
    kept: VecDeque<Arc<[u8]>>,
}

struct Subscribed {
    endpoint: Endpoint,
    sink: Sink,
}

struct Served {
    endpoint: Endpoint,
    handler: Handler,
    working: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl MemBus {
    /// A bus with nothing on it.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { net: Arc::new(Net { state: Mutex::default(), changes: watch::Sender::new(0) }) })
    }

    /// Takes the bus down, or up again with `None`. What was advertised and subscribed stays.
    pub fn set_down(&self, reason: Option<&str>) {
        self.net.lock().down = reason.map(str::to_owned);
        self.net.changed();
    }

    fn up(&self) -> Result<MutexGuard<'_, State>, BusError> {
        let state = self.net.lock();
        match &state.down {
            Some(reason) => Err(BusError::Down { reason: reason.clone() }),
            None => Ok(state),
        }
    }
}

impl Net {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl State {
    fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    fn sinks(&self, topic: &str, ros_type: &RosType) -> Vec<Sink> {
        let fits =
            |subscribed: &&Subscribed| subscribed.endpoint.name == topic && subscribed.endpoint.ros_type == *ros_type;
        self.subscribers.values().filter(fits).map(|subscribed| subscribed.sink.clone()).collect()
    }
}

fn endpoint(name: &str, ros_type: &RosType, qos: Qos) -> Endpoint {
    Endpoint { name: name.to_owned(), ros_type: ros_type.clone(), node: "/mem".to_owned(), qos }
}

/// What is to be taken off the bus when it is dropped.
struct Guard {
    net: Weak<Net>,
    id: u64,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Some(net) = self.net.upgrade() else { return };
        let (publisher, subscriber, service) = {
            let mut state = net.lock();
            (state.publishers.remove(&self.id), state.subscribers.remove(&self.id), state.services.remove(&self.id))
        };
        if publisher.is_some() || service.is_some() {
            net.changed();
        }
        // What a sink or handler owns may use the bus while it is dropped, so the lock is not held here.
        drop((publisher, subscriber, service));
    }
}

struct MemPublisher {
    guard: Guard,
    net: Arc<Net>,
    topic: String,
    ros_type: RosType,
}

impl Publisher for MemPublisher {
    fn put(&self, message: Vec<u8>) {
        let message: Arc<[u8]> = message.into();
        let sinks = {
            let mut state = self.net.lock();
            if state.down.is_some() {
                return;
            }
            let Some(advertised) = state.publishers.get_mut(&self.guard.id) else { return };
            if advertised.endpoint.qos.durability == Durability::TransientLocal {
                advertised.kept.push_back(message.clone());
                while advertised.kept.len() > advertised.endpoint.qos.depth as usize {
                    advertised.kept.pop_front();
                }
            }
            state.sinks(&self.topic, &self.ros_type)
        };
        for sink in sinks {
            sink(&message);
        }
    }

    fn is_wanted(&self) -> bool {
        !self.net.lock().sinks(&self.topic, &self.ros_type).is_empty()
    }
}

#[async_trait]
impl RosBus for MemBus {
    async fn advertise(&self, topic: &str, ros_type: &RosType, qos: Qos) -> Result<Box<dyn Publisher>, BusError> {
        let id = {
            let mut state = self.up()?;
            let id = state.id();
            let endpoint = endpoint(topic, ros_type, qos);
            state.publishers.insert(id, Advertised { endpoint, kept: VecDeque::new() });
            id
        };
        self.net.changed();
        let guard = Guard { net: Arc::downgrade(&self.net), id };
        let (topic, ros_type) = (topic.to_owned(), ros_type.clone());
        Ok(Box::new(MemPublisher { guard, net: self.net.clone(), topic, ros_type }))
    }

    async fn subscribe(&self, topic: &str, ros_type: &RosType, qos: Qos, sink: Sink) -> Result<Subscription, BusError> {
        let (id, kept) = {
            let mut state = self.up()?;
            let id = state.id();
            let subscribed = Subscribed { endpoint: endpoint(topic, ros_type, qos), sink: sink.clone() };
            state.subscribers.insert(id, subscribed);
            let is_late_for = |advertised: &&Advertised| {
                advertised.endpoint.name == topic && advertised.endpoint.ros_type == *ros_type
            };
            let kept: Vec<_> = match qos.durability {
                Durability::Volatile => Vec::new(),
                Durability::TransientLocal => {
                    state.publishers.values().filter(is_late_for).flat_map(|publisher| publisher.kept.clone()).collect()
                }
            };
            (id, kept)
        };
        for message in kept {
            sink(&message);
        }
        Ok(Box::new(Guard { net: Arc::downgrade(&self.net), id }))
    }

    async fn serve(&self, service: &str, ros_type: &RosType, handler: Handler) -> Result<Subscription, BusError> {
        let id = {
            let mut state = self.up()?;
            let id = state.id();
            let working = Arc::new(Semaphore::new(REQUESTS_AT_A_TIME));
            let waiting = Arc::new(Semaphore::new(REQUESTS_AT_A_TIME + REQUESTS_WAITING));
            state
                .services
                .insert(id, Served { endpoint: endpoint(service, ros_type, Qos::SERVICE), handler, working, waiting });
            id
        };
        self.net.changed();
        Ok(Box::new(Guard { net: Arc::downgrade(&self.net), id }))
    }

    async fn call(
        &self,
        service: &str,
        ros_type: &RosType,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, CallError> {
        let (handler, working, waiting) = {
            let state = self.up().map_err(|error| CallError::Down { reason: down_reason(error) })?;
            let served = state
                .services
                .values()
                .find(|served| served.endpoint.name == service && served.endpoint.ros_type == *ros_type)
                .ok_or(CallError::Unavailable)?;
            (served.handler.clone(), served.working.clone(), served.waiting.clone())
        };
        let Ok(place) = waiting.try_acquire_owned() else {
            return Err(CallError::Failed { reason: format!("{service} has too many requests waiting; try again") });
        };
        // The handler goes on when the caller has stopped waiting, as on a bus between processes.
        let work = tokio::spawn(async move {
            let _places = (place, working.acquire_owned().await);
            handler(request).await
        });
        match tokio::time::timeout(deadline, work).await {
            Ok(Ok(Ok(response))) => Ok(response),
            Ok(Ok(Err(reason))) => Err(CallError::Failed { reason }),
            Ok(Err(panicked)) => {
                Err(CallError::Failed { reason: format!("the handler of {service} failed: {panicked}") })
            }
            Err(_) => Err(CallError::TimedOut { waited: deadline }),
        }
    }

    fn graph(&self) -> Result<Graph, BusError> {
        let state = self.up()?;
        Ok(Graph {
            publishers: state.publishers.values().map(|publisher| publisher.endpoint.clone()).collect(),
            subscribers: state.subscribers.values().map(|subscriber| subscriber.endpoint.clone()).collect(),
            services: state.services.values().map(|served| served.endpoint.clone()).collect(),
        })
    }

    fn graph_changes(&self) -> watch::Receiver<u64> {
        self.net.changes.subscribe()
    }
}

fn down_reason(error: BusError) -> String {
    match error {
        BusError::Down { reason } | BusError::Refused { reason } => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::contract;

    #[tokio::test]
    async fn keeps_the_contract_of_a_bus() {
        let bus = MemBus::new();
        contract::check(bus.clone(), bus).await;
    }
}
