use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use zenoh::Session;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;

use super::config::{RouterRole, ZenohConfig};
use super::graph::LiveGraph;
use super::keys::{self, Node};

/// Whether the session is connected.
#[derive(Clone)]
pub(super) enum Link {
    /// Not; `reason` says what is waited for, and which setting changes it.
    Down { reason: String },
    /// Yes.
    Up(Session),
}

/// How often the connection is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// The longest wait between two attempts to connect.
const RETRY_MAX: Duration = Duration::from_secs(2);
/// How long a router that was there gets to come back before we take its place.
const ROUTER_GRACE: Duration = Duration::from_secs(2);

impl Link {
    pub(super) fn connecting(config: &ZenohConfig) -> Self {
        Self::Down { reason: format!("connecting to the Zenoh router at {}", config.endpoint) }
    }
}

/// The session and what it tells of itself; all of it ends with it.
struct Attached {
    session: Session,
    _node: LivelinessToken,
    _tokens: Subscriber<()>,
}

/// Keeps the session connected, and the router running where the role asks for one, until `stop`.
pub(super) async fn keep(
    config: ZenohConfig,
    graph: Arc<LiveGraph>,
    link: watch::Sender<Link>,
    stop: CancellationToken,
) {
    let mut keeper = Keeper { config, graph, link, router: None, attached: None, last_up: None };
    let mut wait = LOOK_EVERY;
    loop {
        let up = stop.run_until_cancelled(keeper.look()).await;
        let Some(up) = up else { break };
        wait = if up || keeper.attached.is_some() { LOOK_EVERY } else { (wait * 2).min(RETRY_MAX) };
        if stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
            break;
        }
    }
    keeper.close().await;
}

struct Keeper {
    config: ZenohConfig,
    graph: Arc<LiveGraph>,
    link: watch::Sender<Link>,
    router: Option<Session>,
    attached: Option<Attached>,
    last_up: Option<Instant>,
}

impl Keeper {
    /// One look at the connection; answers whether it is up.
    async fn look(&mut self) -> bool {
        if let Some(session) = self.connected().await {
            self.last_up = Some(Instant::now());
            self.tell(Link::Up(session));
            return true;
        }
        let router_fault = self.try_router().await;
        // Whoever must be the router does not join somebody else's instead.
        let may_attach = self.attached.is_none() && router_fault.is_none();
        let session_fault = if may_attach { self.try_session().await } else { None };
        if let Some(session) = self.connected().await {
            self.last_up = Some(Instant::now());
            self.tell(Link::Up(session));
            return true;
        }
        let reason = match (router_fault, session_fault) {
            (Some(fault), _) => fault,
            (None, Some(fault)) => self.diagnose(&fault).await,
            (None, None) => self.diagnose("connection lost").await,
        };
        self.tell(Link::Down { reason });
        false
    }

    async fn connected(&self) -> Option<Session> {
        let session = &self.attached.as_ref()?.session;
        let info = session.info();
        let is_connected = info.routers_zid().await.next().is_some()
            // A configuration of the user's own may meet peers without a router.
            || (self.config.session_file.is_some() && info.peers_zid().await.next().is_some());
        is_connected.then(|| session.clone())
    }

    fn tell(&self, news: Link) {
        let is_change = match (&*self.link.borrow(), &news) {
            (Link::Up(_), Link::Up(_)) => false,
            (Link::Down { reason: old }, Link::Down { reason: new }) => {
                if old != new {
                    tracing::warn!(reason = new, "bus down");
                }
                old != new
            }
            (Link::Down { .. }, Link::Up(_)) => {
                tracing::info!(endpoint = self.config.endpoint, is_router = self.router.is_some(), "bus connected");
                true
            }
            (Link::Up(_), Link::Down { reason }) => {
                tracing::warn!(reason, "bus lost, reconnecting");
                true
            }
        };
        if is_change {
            self.link.send_replace(news);
            self.graph.changed();
        }
    }

    /// Opens our router if the role asks for one now; answers a fault that must not be overlooked.
    async fn try_router(&mut self) -> Option<String> {
        let is_wanted = match self.config.router {
            RouterRole::Never => false,
            RouterRole::Auto => self.last_up.is_none_or(|last_up| last_up.elapsed() >= ROUTER_GRACE),
            RouterRole::Always => true,
        };
        if self.router.is_some() || !is_wanted {
            return None;
        }
        let opened = match self.config.router() {
            Ok(config) => zenoh::open(config).await,
            Err(error) => Err(error),
        };
        match opened {
            Ok(router) => {
                tracing::info!(endpoint = self.config.endpoint, "Zenoh router opened");
                self.router = Some(router);
                None
            }
            Err(error) if self.config.router == RouterRole::Always => Some(format!(
                "cannot open the Zenoh router at {}: {error}; free the port or change ros.zenoh.endpoint (CEREBELLUM_ZENOH_ENDPOINT)",
                self.config.endpoint
            )),
            // Somebody else is the router: we connect to it.
            Err(error) => {
                tracing::debug!(%error, "no router of our own");
                None
            }
        }
    }

    async fn try_session(&mut self) -> Option<String> {
        match self.attach().await {
            Ok(attached) => {
                self.attached = Some(attached);
                None
            }
            Err(error) => Some(error.to_string()),
        }
    }

    async fn attach(&self) -> zenoh::Result<Attached> {
        let session = zenoh::open(self.config.session()?).await?;
        let graph = self.graph.clone();
        let tokens = session
            .liveliness()
            .declare_subscriber(keys::all_tokens(self.config.domain_id))
            .history(true)
            .callback(move |sample| graph.heed(&sample))
            .await?;
        let node = Node {
            domain_id: self.config.domain_id,
            session: session.zid().to_string(),
            name: self.config.node_name.clone(),
        };
        let node = session.liveliness().declare_token(node.token()).await?;
        Ok(Attached { session, _node: node, _tokens: tokens })
    }

    /// Why there is no connection, and what to do about it.
    async fn diagnose(&self, fault: &str) -> String {
        let endpoint = &self.config.endpoint;
        let probe = TcpStream::connect(self.config.connect_address());
        match tokio::time::timeout(Duration::from_millis(500), probe).await {
            Ok(Ok(_)) => format!(
                "{endpoint} is held by something that is not a Zenoh router, or by one that refuses us ({fault}); free the port or change ros.zenoh.endpoint (CEREBELLUM_ZENOH_ENDPOINT)"
            ),
            Ok(Err(_)) | Err(_) => format!(
                "no Zenoh router answers at {endpoint}; start `cerebellum demo`, `cerebellum sim` or rmw_zenohd, or change ros.zenoh.endpoint (CEREBELLUM_ZENOH_ENDPOINT)"
            ),
        }
    }

    /// The session first, so that our endpoints leave the graph of others before our router goes.
    async fn close(self) {
        self.link.send_replace(Link::Down { reason: "this program is shutting down".to_owned() });
        let sessions = self.attached.map(|attached| attached.session).into_iter().chain(self.router);
        for session in sessions {
            if let Err(error) = session.close().await {
                tracing::debug!(%error, "session not closed cleanly");
            }
        }
    }
}
