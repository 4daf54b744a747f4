use std::path::PathBuf;

use zenoh::Config;

/// The highest ROS domain id.
pub const DOMAIN_ID_MAX: u32 = 232;
/// The endpoint `rmw_zenohd` listens on.
pub const DEFAULT_ENDPOINT: &str = "tcp/127.0.0.1:7447";

/// Whether this program may be the Zenoh router that everybody meets at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterRole {
    /// Never: connect to one and wait for it as long as it takes.
    Never,
    /// When nobody listens on the endpoint.
    #[default]
    Auto,
    /// Always; a port in use is a fault.
    Always,
}

/// Where the Zenoh bus is and who we are on it. Checked when it is made.
#[derive(Clone, Debug)]
pub struct ZenohConfig {
    pub(super) endpoint: String,
    host_and_port: String,
    pub(super) router: RouterRole,
    pub(super) domain_id: u32,
    pub(super) node_name: String,
    pub(super) join: Vec<String>,
    pub(super) session_file: Option<PathBuf>,
    pub(super) overrides: Vec<(String, String)>,
}

/// Why a configuration of the bus cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZenohConfigError {
    /// The domain id is out of range.
    #[error("domain id {domain_id} is out of range; ROS has 0 to {DOMAIN_ID_MAX}")]
    DomainId {
        /// What was given.
        domain_id: u32,
    },
    /// The endpoint is not one.
    #[error("{endpoint:?} is no endpoint; write tcp/ADDRESS:PORT, such as {DEFAULT_ENDPOINT}")]
    Endpoint {
        /// What was given.
        endpoint: String,
    },
    /// The node's name is not one.
    #[error("{name:?} is no node name; use letters, digits and _, beginning with a letter or _")]
    NodeName {
        /// What was given.
        name: String,
    },
    /// The session file cannot be read, or a value that replaces one of its own does not fit.
    #[error("ZENOH_SESSION_CONFIG_URI ({}) or ZENOH_CONFIG_OVERRIDE: {reason}", file.display())]
    Session {
        /// The session file; empty when none is named.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// `ZENOH_CONFIG_OVERRIDE` cannot be read.
    #[error("ZENOH_CONFIG_OVERRIDE: {part:?} is not KEY=VALUE; separate several with ;")]
    Override {
        /// The part that cannot be read.
        part: String,
    },
}

impl ZenohConfig {
    /// A node called `node_name` in the domain, that meets others at `endpoint` (`tcp/ADDRESS:PORT`).
    pub fn new(endpoint: &str, router: RouterRole, domain_id: u32, node_name: &str) -> Result<Self, ZenohConfigError> {
        let host_and_port = host_and_port(endpoint)?;
        if domain_id > DOMAIN_ID_MAX {
            return Err(ZenohConfigError::DomainId { domain_id });
        }
        let is_name = node_name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && node_name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name {
            return Err(ZenohConfigError::NodeName { name: node_name.to_owned() });
        }
        Ok(Self {
            endpoint: endpoint.to_owned(),
            host_and_port,
            router,
            domain_id,
            node_name: node_name.to_owned(),
            join: Vec::new(),
            session_file: None,
            overrides: Vec::new(),
        })
    }

    /// The same, whose router also connects to other routers.
    pub fn joining(mut self, endpoints: &[String]) -> Result<Self, ZenohConfigError> {
        for endpoint in endpoints {
            host_and_port(endpoint)?;
        }
        self.join = endpoints.to_vec();
        Ok(self)
    }

    /// The same, with the variables of `rmw_zenoh`: `session_file` is the value of `ZENOH_SESSION_CONFIG_URI` and replaces
    /// the configuration of the session, `overrides` that of `ZENOH_CONFIG_OVERRIDE` (`key=value;key=value`).
    pub fn with_variables(
        mut self,
        session_file: Option<PathBuf>,
        overrides: Option<&str>,
    ) -> Result<Self, ZenohConfigError> {
        self.session_file = session_file;
        for part in overrides.unwrap_or_default().split(';').filter(|part| !part.trim().is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(ZenohConfigError::Override { part: part.to_owned() });
            };
            self.overrides.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(self)
    }

    /// Whether a session could be configured so: reads the session file and applies what replaces its values.
    pub fn check(&self) -> Result<(), ZenohConfigError> {
        self.session().map(drop).map_err(|error| ZenohConfigError::Session {
            file: self.session_file.clone().unwrap_or_default(),
            reason: error.to_string(),
        })
    }

    /// The configuration of the session that carries our endpoints.
    pub(super) fn session(&self) -> zenoh::Result<Config> {
        let mut config = match &self.session_file {
            Some(path) => Config::from_file(path)?,
            None => self.client()?,
        };
        for (key, value) in &self.overrides {
            config.insert_json5(key, value)?;
        }
        Ok(config)
    }

    fn client(&self) -> zenoh::Result<Config> {
        let mut config = common()?;
        config.insert_json5("mode", "\"client\"")?;
        config.insert_json5("connect/endpoints", &format!("[{:?}]", self.connect_endpoint()))?;
        config
            .insert_json5("connect/retry", "{ period_init_ms: 200, period_max_ms: 2000, period_increase_factor: 2 }")?;
        // A port held by something that does not speak Zenoh should be told soon.
        config.insert_json5("transport/unicast/open_timeout", "3000")?;
        Ok(config)
    }

    /// The configuration of our router.
    pub(super) fn router(&self) -> zenoh::Result<Config> {
        let mut config = common()?;
        config.insert_json5("mode", "\"router\"")?;
        config.insert_json5("listen/endpoints", &format!("[{:?}]", self.endpoint))?;
        config.insert_json5("connect/endpoints", &format!("{:?}", self.join))?;
        config.insert_json5("scouting/delay", "0")?;
        Ok(config)
    }

    /// Where we connect: a router that listens on every address is reached over loopback.
    pub(super) fn connect_address(&self) -> String {
        match self.host_and_port.rsplit_once(':') {
            Some(("0.0.0.0", port)) => format!("127.0.0.1:{port}"),
            Some(("[::]", port)) => format!("[::1]:{port}"),
            _ => self.host_and_port.clone(),
        }
    }

    fn connect_endpoint(&self) -> String {
        format!("tcp/{}", self.connect_address())
    }
}

fn host_and_port(endpoint: &str) -> Result<String, ZenohConfigError> {
    let is_address = |text: &&str| {
        let Some((host, port)) = text.rsplit_once(':') else { return false };
        !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    let text = endpoint.strip_prefix("tcp/").filter(is_address);
    text.map(str::to_owned).ok_or_else(|| ZenohConfigError::Endpoint { endpoint: endpoint.to_owned() })
}

fn common() -> zenoh::Result<Config> {
    let mut config = Config::default();
    config.insert_json5("scouting/multicast/enabled", "false")?;
    // Latched values are kept with a time, as rmw_zenoh does.
    config.insert_json5("timestamping/enabled", "{ router: true, peer: true, client: true }")?;
    // A burst of all topics fits; a reader that is frozen still costs one short wait and then loses messages.
    config.insert_json5("transport/link/tx/queue/size/data", "16")?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let fault =
            |endpoint, domain_id, name| ZenohConfig::new(endpoint, RouterRole::Auto, domain_id, name).unwrap_err();
        assert_eq!(fault(DEFAULT_ENDPOINT, 233, "a"), ZenohConfigError::DomainId { domain_id: 233 });
        for endpoint in ["", "127.0.0.1:7447", "tcp/127.0.0.1", "tcp/127.0.0.1:99999", "quic/127.0.0.1:1"] {
            assert_eq!(fault(endpoint, 0, "a"), ZenohConfigError::Endpoint { endpoint: endpoint.into() });
        }
        for name in ["", "a/b", "9a", "a-b", "a b"] {
            assert_eq!(fault(DEFAULT_ENDPOINT, 0, name), ZenohConfigError::NodeName { name: name.into() });
        }
    }

    #[test]
    fn a_router_on_every_address_is_reached_over_loopback() {
        let config = ZenohConfig::new("tcp/0.0.0.0:7447", RouterRole::Auto, 232, "a").unwrap();
        assert_eq!(config.connect_endpoint(), DEFAULT_ENDPOINT);
        assert!(config.session().is_ok() && config.router().is_ok());
    }

    #[test]
    fn overrides_reach_the_session() {
        let config = ZenohConfig::new(DEFAULT_ENDPOINT, RouterRole::Never, 0, "a").unwrap();
        let config = config.with_variables(None, Some("mode=\"peer\"; scouting/multicast/enabled=true")).unwrap();
        assert_eq!(config.session().unwrap().get_json("mode").unwrap(), "\"peer\"");
        let faulty = ZenohConfig::new(DEFAULT_ENDPOINT, RouterRole::Never, 0, "a").unwrap();
        assert!(faulty.with_variables(None, Some("mode")).is_err());
    }
}
