use crate::config::fault::quoted;
use crate::config::node::Node;
use crate::config::table::{Findings, Table};

/// The bus to ROS 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ros {
    /// Zenoh, as `rmw_zenoh` speaks it.
    Zenoh(Zenoh),
    /// Inside this process alone: for tests and for a program that holds everything.
    Mem,
}

/// How Zenoh is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zenoh {
    /// Whether to open the router; `None` leaves it to the subcommand (MCP servers never, vision node and simulator auto).
    pub router: Option<RouterRole>,
    /// Where the router listens, and where it is sought: `tcp/127.0.0.1:7447`.
    pub endpoint: String,
    /// The ROS domain, 0 to 232.
    pub domain_id: u32,
}

/// Whether this process opens the Zenoh router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterRole {
    /// Only ever connects.
    Never,
    /// Opens it when none is reachable.
    Auto,
    /// Opens it, and fails when it cannot.
    Always,
}

const ROLES: &[(&str, RouterRole)] =
    &[("never", RouterRole::Never), ("auto", RouterRole::Auto), ("always", RouterRole::Always)];

pub(super) fn read(node: &Node, findings: &Findings) -> Option<Ros> {
    let (adapter, table) = Table::adapter(node, "ros", &["zenoh", "mem"], findings)?;
    if adapter == "mem" {
        table.finish();
        return Some(Ros::Mem);
    }
    let router = match table.find("router") {
        Some(_) => table.word_or("router", RouterRole::Auto, ROLES).map(Some),
        None => Some(None),
    };
    let endpoint = table.text_or("endpoint", "tcp/127.0.0.1:7447").and_then(|endpoint| {
        if is_endpoint(&endpoint) {
            return Some(endpoint);
        }
        table.refuse_key(
            "endpoint",
            &format!("{} is no Zenoh endpoint; expected tcp/HOST:PORT, such as tcp/127.0.0.1:7447", quoted(&endpoint)),
        )
    });
    let domain_id = table.whole_or("domain_id", 0, 0..=232);
    table.finish();
    Some(Ros::Zenoh(Zenoh { router: router?, endpoint: endpoint?, domain_id: domain_id? as u32 }))
}

fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.strip_prefix("tcp/").and_then(|address| address.rsplit_once(':')) else {
        return false;
    };
    !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok_and(|port| port > 0)
}
