use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use cerebellum_core::{BusError, Subscription};
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::msg::RosType;

/// Whether a lost message is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reliability {
    /// Yes, as far as the bus can.
    Reliable,
    /// No.
    BestEffort,
}

/// Whether a subscriber that comes late gets what was published before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Durability {
    /// No.
    Volatile,
    /// Yes: the publisher keeps its last messages.
    TransientLocal,
}

/// The quality of service of an endpoint, as far as this program uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Qos {
    /// Whether a lost message is sent again.
    pub reliability: Reliability,
    /// Whether late subscribers get old messages.
    pub durability: Durability,
    /// How many messages are kept.
    pub depth: u32,
}

impl Qos {
    /// Detections and outputs of a skill that looks again and again.
    pub const STREAM: Self = Self { reliability: Reliability::Reliable, durability: Durability::Volatile, depth: 5 };
    /// Detections and outputs of a skill that looks once.
    pub const LATCHED: Self = Self { durability: Durability::TransientLocal, ..Self::STREAM };
    /// Pictures: only the newest is of use.
    pub const PICTURE: Self = Self { reliability: Reliability::BestEffort, durability: Durability::Volatile, depth: 1 };
    /// Services, as ROS nodes announce them.
    pub const SERVICE: Self = Self { depth: 10, ..Self::STREAM };
}

/// A publisher or a service that exists now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The full name of the topic or service.
    pub name: String,
    /// What its owner announces.
    pub ros_type: RosType,
    /// The full name of its node.
    pub node: String,
    /// Its quality of service.
    pub qos: Qos,
}

/// What exists on the bus now, our own endpoints too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// All publishers; a topic with two publishers stands here twice.
    pub publishers: Vec<Endpoint>,
    /// All subscribers. That they come and go counts as no change.
    pub subscribers: Vec<Endpoint>,
    /// All services.
    pub services: Vec<Endpoint>,
}

/// Takes the CDR of a message. Runs on a task of the bus and must not block.
pub type Sink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Answers the CDR of a request with the CDR of a response, or with why there is none.
pub type Handler = Arc<dyn Fn(Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// How many requests of one service are worked on at a time.
pub const REQUESTS_AT_A_TIME: usize = 16;
/// How many more may wait; further ones are refused.
pub const REQUESTS_WAITING: usize = 64;

/// Why a call has no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The bus is not connected.
    #[error("{reason}")]
    Down {
        /// What is being waited for.
        reason: String,
    },
    /// Nobody offers the service with this type.
    #[error("nobody offers it")]
    Unavailable,
    /// Somebody was asked and did not answer.
    #[error("no reply within {} s", .waited.as_secs_f64())]
    TimedOut {
        /// How long was waited.
        waited: Duration,
    },
    /// The service could not work on the request; `reason` is its own words.
    #[error("{reason}")]
    Failed {
        /// Why not.
        reason: String,
    },
}

/// A topic one can publish on. It leaves the graph when dropped.
pub trait Publisher: Send + Sync {
    /// Sends the CDR of a message. Never waits for a reader: a reader that is behind loses messages.
    fn put(&self, message: Vec<u8>);
    /// Whether anybody has subscribed.
    fn is_wanted(&self) -> bool;
}

/// Topics, services and the graph of a ROS 2 bus, with CDR bytes. Endpoints with another type name or hash than a peer's do
/// not reach it, as on every ROS 2 bus since Jazzy.
#[async_trait]
pub trait RosBus: Send + Sync {
    /// Advertises a topic.
    async fn advertise(&self, topic: &str, ros_type: &RosType, qos: Qos) -> Result<Box<dyn Publisher>, BusError>;
    /// Calls `sink` for each message until the answer is dropped.
    async fn subscribe(&self, topic: &str, ros_type: &RosType, qos: Qos, sink: Sink) -> Result<Subscription, BusError>;
    /// Answers requests until the answer is dropped: [`REQUESTS_AT_A_TIME`] at a time, [`REQUESTS_WAITING`] more wait.
    async fn serve(&self, service: &str, ros_type: &RosType, handler: Handler) -> Result<Subscription, BusError>;
    /// Calls a service and waits at most `deadline`, which may be minutes.
    async fn call(
        &self,
        service: &str,
        ros_type: &RosType,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, CallError>;
    /// What exists now.
    fn graph(&self) -> Result<Graph, BusError>;
    /// Counts up whenever a publisher or a service comes or goes, and whenever the bus goes down or up.
    fn graph_changes(&self) -> watch::Receiver<u64>;
    /// How many messages of reliable topics did not come so far, told by gaps in what their publishers count.
    fn lost(&self) -> u64 {
        0
    }
}

/// How long to wait before a service that nobody seemed to offer is asked once more: a node that has just come may not be
/// known everywhere yet.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// Calls a service, and once more where nobody seemed to offer it. The service may get the request twice only if it
/// answered neither time.
pub(crate) async fn call_again(
    bus: &Arc<dyn RosBus>,
    service: &str,
    ros_type: &RosType,
    request: Vec<u8>,
    deadline: Duration,
) -> Result<Vec<u8>, CallError> {
    let started = Instant::now();
    let answer = bus.call(service, ros_type, request.clone(), deadline).await;
    let left = deadline.saturating_sub(started.elapsed());
    if answer != Err(CallError::Unavailable) || left <= ASK_AGAIN_AFTER {
        return answer;
    }
    tokio::time::sleep(ASK_AGAIN_AFTER).await;
    bus.call(service, ros_type, request, left.saturating_sub(ASK_AGAIN_AFTER)).await
}

/// How long to wait for a change of the graph before trying anyway.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Tries until it succeeds, again at each change of the graph: for what is wanted as long as the bus lives.
pub(crate) async fn persist<T, A>(bus: &Arc<dyn RosBus>, what: &str, attempt: impl Fn() -> A) -> T
where
    A: Future<Output = Result<T, BusError>>,
{
    let mut changes = bus.graph_changes();
    loop {
        match attempt().await {
            Ok(done) => return done,
            Err(error) => tracing::debug!(%error, "{what} waits for the bus"),
        }
        drop(tokio::time::timeout(TRY_AGAIN_AFTER, changes.changed()).await);
    }
}

#[cfg(test)]
pub(crate) mod contract;
