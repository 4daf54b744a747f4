use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use ::zenoh::Session;
use ::zenoh::liveliness::LivelinessToken;
use ::zenoh::qos::CongestionControl;
use ::zenoh::sample::Sample;
use ::zenoh::{Wait, pubsub};
use async_trait::async_trait;
use cerebellum_core::{BusError, Subscription};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zenoh_ext::{
    AdvancedPublisher, AdvancedPublisherBuilderExt, AdvancedSubscriberBuilderExt, CacheConfig, HistoryConfig,
    MissDetectionConfig, RecoveryConfig,
};

use crate::bus::{CallError, Durability, Graph, Handler, Publisher, Qos, Reliability, RosBus, Sink};
use crate::msg::RosType;

mod attachment;
mod config;
mod graph;
mod keys;
mod link;
mod losses;
mod service;

pub use config::{DEFAULT_ENDPOINT, DOMAIN_ID_MAX, RouterRole, ZenohConfig, ZenohConfigError};

use attachment::Attachment;
use graph::LiveGraph;
use keys::{Kind, Node};
use link::Link;
use losses::Losses;

/// How soon a subscriber learns that it missed the last latched value.
const LATCHED_HEARTBEAT: Duration = Duration::from_secs(1);
/// How long after its opening a call waits for the first connection. A program that is started for one call, as stdio servers
/// are, would else never get an answer.
const FIRST_CONNECTION: Duration = Duration::from_secs(1);

/// The bus of ROS 2 nodes that run `rmw_zenoh`. One session that lives as long as the program; it finds back by itself when
/// the router goes and returns, with all that was advertised and subscribed.
pub struct ZenohBus {
    config: ZenohConfig,
    link: watch::Receiver<Link>,
    graph: Arc<LiveGraph>,
    next_entity: AtomicU64,
    lost: Arc<AtomicU64>,
    /// What tells the graph that we call a service: one for each service ever called.
    clients: Mutex<HashMap<String, Client>>,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// Until then calls wait for the first connection.
    patient_until: Instant,
}

#[derive(Clone)]
struct Client {
    gid: [u8; 16],
    seq: Arc<AtomicI64>,
    _token: Arc<LivelinessToken>,
}

impl ZenohBus {
    /// Returns at once and connects in the background, for as long as it takes; until then every use answers
    /// [`BusError::Down`] with the reason, service calls of the first second after they waited that long for it. Ends when `stop` is cancelled; `tasks` then waits for it. Needs a tokio runtime with
    /// several threads.
    pub fn open(config: ZenohConfig, tasks: TaskTracker, stop: CancellationToken) -> Arc<Self> {
        Self::open_patient(config, tasks, stop, FIRST_CONNECTION)
    }

    fn open_patient(config: ZenohConfig, tasks: TaskTracker, stop: CancellationToken, patience: Duration) -> Arc<Self> {
        let graph = Arc::new(LiveGraph::new());
        let (sender, link) = watch::channel(Link::connecting(&config));
        tasks.spawn(link::keep(config.clone(), graph.clone(), sender, stop.clone()));
        Arc::new(Self {
            config,
            link,
            graph,
            next_entity: AtomicU64::new(1),
            lost: Arc::default(),
            clients: Mutex::default(),
            tasks,
            stop,
            patient_until: Instant::now() + patience,
        })
    }

    /// Waits until the bus is connected, or answers why it is not when `deadline` has passed.
    pub async fn connected(&self, deadline: Duration) -> Result<(), BusError> {
        let mut link = self.link.clone();
        let is_up = link.wait_for(|link| matches!(link, Link::Up(_)));
        match tokio::time::timeout(deadline, is_up).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) | Err(_) => self.session().map(|_| ()),
        }
    }

    /// The session, and how long of `deadline` it was waited for.
    async fn session_soon(&self, deadline: Duration) -> Result<(Session, Duration), BusError> {
        if let Ok(session) = self.session() {
            return Ok((session, Duration::ZERO));
        }
        let started = Instant::now();
        let patience = self.patient_until.saturating_duration_since(started).min(deadline);
        if !patience.is_zero() {
            self.connected(patience).await?;
        }
        Ok((self.session()?, started.elapsed()))
    }

    fn session(&self) -> Result<Session, BusError> {
        match &*self.link.borrow() {
            Link::Up(session) => Ok(session.clone()),
            Link::Down { reason } => Err(BusError::Down { reason: reason.clone() }),
        }
    }

    /// A new entity of our node: its number and the token that tells the graph of it.
    fn entity(&self, session: &Session, kind: Kind, name: &str, ros_type: &RosType, qos: Qos) -> (u64, String) {
        let id = self.next_entity.fetch_add(1, Ordering::Relaxed);
        let node = Node {
            domain_id: self.config.domain_id,
            session: session.zid().to_string(),
            name: self.config.node_name.clone(),
        };
        (id, node.endpoint_token(id, kind, name, ros_type, qos))
    }

    fn key(&self, name: &str, ros_type: &RosType) -> String {
        keys::topic_key(self.config.domain_id, name, ros_type)
    }

    async fn client(&self, session: &Session, service: &str, ros_type: &RosType) -> ::zenoh::Result<Client> {
        if let Some(client) = self.clients().get(service) {
            return Ok(client.clone());
        }
        let (id, token) = self.entity(session, Kind::Client, service, ros_type, Qos::SERVICE);
        let token = Arc::new(session.liveliness().declare_token(token).await?);
        let client = Client { gid: attachment::gid(session, id), seq: Arc::default(), _token: token };
        // Whoever was first stays: two calls at once must not count apart.
        Ok(self.clients().entry(service.to_owned()).or_insert(client).clone())
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<String, Client>> {
        self.clients.lock().expect("no holder of this lock panics")
    }
}

fn refused(what: &str, error: &::zenoh::Error) -> BusError {
    BusError::Refused { reason: format!("cannot use {what} on the Zenoh bus: {error}") }
}

enum Putter {
    Plain(pubsub::Publisher<'static>),
    Keeping(AdvancedPublisher<'static>),
}

struct ZenohPublisher {
    /// First, so that the topic leaves the graph before its publisher goes.
    _token: LivelinessToken,
    putter: Putter,
    topic: String,
    gid: [u8; 16],
    seq: AtomicI64,
}

impl Publisher for ZenohPublisher {
    fn put(&self, message: Vec<u8>) {
        let attachment = Attachment::now(self.seq.fetch_add(1, Ordering::Relaxed) + 1, self.gid).to_bytes();
        let sent = match &self.putter {
            Putter::Plain(publisher) => publisher.put(message).attachment(attachment).wait(),
            Putter::Keeping(publisher) => publisher.put(message).attachment(attachment).wait(),
        };
        if let Err(error) = sent {
            tracing::debug!(topic = self.topic, %error, "message not sent");
        }
    }

    fn is_wanted(&self) -> bool {
        let status = match &self.putter {
            Putter::Plain(publisher) => publisher.matching_status().wait(),
            Putter::Keeping(publisher) => publisher.matching_status().wait(),
        };
        status.is_ok_and(|status| status.matching())
    }
}

#[async_trait]
impl RosBus for ZenohBus {
    async fn advertise(&self, topic: &str, ros_type: &RosType, qos: Qos) -> Result<Box<dyn Publisher>, BusError> {
        let session = self.session()?;
        let (id, token) = self.entity(&session, Kind::Publisher, topic, ros_type, qos);
        let publisher = session
            .declare_publisher(self.key(topic, ros_type))
            // A reader that is behind loses messages; nobody ever waits for it.
            .congestion_control(CongestionControl::Drop)
            .reliability(match qos.reliability {
                Reliability::Reliable => ::zenoh::qos::Reliability::Reliable,
                Reliability::BestEffort => ::zenoh::qos::Reliability::BestEffort,
            });
        let declared = async {
            let putter = match qos.durability {
                Durability::Volatile => Putter::Plain(publisher.await?),
                // A latched value that was dropped on the way is noticed by the heartbeat and asked for again.
                Durability::TransientLocal => Putter::Keeping(
                    publisher
                        .cache(CacheConfig::default().max_samples(qos.depth as usize))
                        .sample_miss_detection(MissDetectionConfig::default().sporadic_heartbeat(LATCHED_HEARTBEAT))
                        .publisher_detection()
                        .await?,
                ),
            };
            Ok((putter, session.liveliness().declare_token(token).await?))
        };
        let (putter, token) = declared.await.map_err(|error| refused(topic, &error))?;
        let gid = attachment::gid(&session, id);
        Ok(Box::new(ZenohPublisher { _token: token, putter, topic: topic.to_owned(), gid, seq: AtomicI64::new(0) }))
    }

    async fn subscribe(&self, topic: &str, ros_type: &RosType, qos: Qos, sink: Sink) -> Result<Subscription, BusError> {
        let session = self.session()?;
        let (_, token) = self.entity(&session, Kind::Subscription, topic, ros_type, qos);
        let losses = (qos.reliability == Reliability::Reliable).then(|| Losses::counting(Arc::clone(&self.lost)));
        let callback = move |sample: Sample| {
            if let Some(losses) = &losses {
                losses.came(sample.attachment().and_then(Attachment::read));
            }
            sink(&sample.payload().to_bytes());
        };
        let subscriber = session.declare_subscriber(self.key(topic, ros_type)).callback(callback);
        let declared = async {
            let subscription: Subscription = match qos.durability {
                Durability::Volatile => Box::new(subscriber.await?),
                Durability::TransientLocal => Box::new(
                    subscriber
                        .history(
                            HistoryConfig::default().detect_late_publishers().max_samples(qos.depth.max(1) as usize),
                        )
                        .recovery(RecoveryConfig::default().heartbeat())
                        .await?,
                ),
            };
            let token = session.liveliness().declare_token(token).await?;
            Ok((token, subscription))
        };
        let declared = declared.await.map_err(|error| refused(topic, &error))?;
        Ok(Box::new(declared))
    }

    async fn serve(&self, service: &str, ros_type: &RosType, handler: Handler) -> Result<Subscription, BusError> {
        let session = self.session()?;
        let (_, token) = self.entity(&session, Kind::Service, service, ros_type, Qos::SERVICE);
        let declared = async {
            let serving =
                service::serve(&session, self.key(service, ros_type), handler, &self.tasks, &self.stop).await?;
            let token = session.liveliness().declare_token(token).await?;
            Ok((token, serving))
        };
        let declared = declared.await.map_err(|error| refused(service, &error))?;
        Ok(Box::new(declared))
    }

    async fn call(
        &self,
        service: &str,
        ros_type: &RosType,
        request: Vec<u8>,
        deadline: Duration,
    ) -> Result<Vec<u8>, CallError> {
        let soon = self.session_soon(deadline).await;
        let (session, waited) = soon.map_err(|error| CallError::Down { reason: reason_of(error) })?;
        let client = self
            .client(&session, service, ros_type)
            .await
            .map_err(|error| CallError::Failed { reason: refused(service, &error).to_string() })?;
        let attachment = Attachment::now(client.seq.fetch_add(1, Ordering::Relaxed) + 1, client.gid);
        service::call(&session, self.key(service, ros_type), request, attachment, deadline.saturating_sub(waited)).await
    }

    fn graph(&self) -> Result<Graph, BusError> {
        self.session()?;
        Ok(self.graph.snapshot())
    }

    fn graph_changes(&self) -> watch::Receiver<u64> {
        self.graph.changes()
    }

    fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

fn reason_of(error: BusError) -> String {
    match error {
        BusError::Down { reason } | BusError::Refused { reason } => reason,
    }
}

fn unix_nanos() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
pub(crate) mod tests;
