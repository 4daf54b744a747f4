//! How `rmw_zenoh` names things: the key of a topic or service, and the liveliness token that tells the graph of it.
//!
//! Key: `<domain>/<topic>/<type>/<hash>`. Token: `@ros2_lv/<domain>/<session>/<node>/<entity>/<kind>/<enclave>/<namespace>/<node
//! name>/<topic>/<type>/<hash>/<qos>`, where `%` stands for a slash and for nothing.

use crate::bus::{Durability, Endpoint, Qos, Reliability};
use crate::msg::RosType;

/// What a token tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Publisher,
    Subscription,
    Service,
    Client,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Publisher => "MP",
            Self::Subscription => "MS",
            Self::Service => "SS",
            Self::Client => "SC",
        }
    }

    fn from_str(text: &str) -> Option<Self> {
        [Self::Publisher, Self::Subscription, Self::Service, Self::Client]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// The node that owns our endpoints.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) domain_id: u32,
    pub(super) session: String,
    pub(super) name: String,
}

const NODE_ID: u64 = 0;
const ADMIN_SPACE: &str = "@ros2_lv";
/// What a peer means that leaves the depth out.
const DEFAULT_DEPTH: u32 = 42;

/// The key messages and requests go under.
pub(super) fn topic_key(domain_id: u32, name: &str, ros_type: &RosType) -> String {
    format!("{domain_id}/{}/{}/{}", name.trim_matches('/'), dds_name(&ros_type.name), ros_type.hash)
}

/// The pattern of all tokens of a domain.
pub(super) fn all_tokens(domain_id: u32) -> String {
    format!("{ADMIN_SPACE}/{domain_id}/**")
}

impl Node {
    /// The token of the node itself.
    pub(super) fn token(&self) -> String {
        let Self { domain_id, session, name } = self;
        format!("{ADMIN_SPACE}/{domain_id}/{session}/{NODE_ID}/{NODE_ID}/NN/%/%/{name}")
    }

    /// The token of one of its endpoints; `entity` is unique in the session.
    pub(super) fn endpoint_token(&self, entity: u64, kind: Kind, topic: &str, ros_type: &RosType, qos: Qos) -> String {
        let Self { domain_id, session, name } = self;
        let (topic, ros_type_name) = (topic.trim_end_matches('/').replace('/', "%"), dds_name(&ros_type.name));
        format!(
            "{ADMIN_SPACE}/{domain_id}/{session}/{NODE_ID}/{entity}/{}/%/%/{name}/{topic}/{ros_type_name}/{}/{}",
            kind.as_str(),
            ros_type.hash,
            encode_qos(qos),
        )
    }
}

/// Reads a token; `None` for nodes and for what is no token of ours.
pub(super) fn parse(token: &str) -> Option<(Kind, Endpoint)> {
    let parts: Vec<&str> = token.split('/').collect();
    let [ADMIN_SPACE, _, _, _, _, kind, _, namespace, node, topic, type_name, hash, qos] = parts[..] else {
        return None;
    };
    let kind = Kind::from_str(kind)?;
    let node = format!("{}/{}", namespace.replace('%', "/").trim_end_matches('/'), node.replace('%', "/"));
    let ros_type = RosType { name: ros_name(type_name).into(), hash: hash.to_owned().into() };
    let name = topic.replace('%', "/");
    Some((kind, Endpoint { name, ros_type, node, qos: decode_qos(qos) }))
}

/// `std_msgs/msg/String` is `std_msgs::msg::dds_::String_` on the wire.
fn dds_name(ros_name: &str) -> String {
    match ros_name.rsplit_once('/') {
        Some((package, name)) => format!("{}::dds_::{name}_", package.replace('/', "::")),
        None => ros_name.to_owned(),
    }
}

fn ros_name(dds_name: &str) -> String {
    match dds_name.split_once("::dds_::").and_then(|(package, name)| Some((package, name.strip_suffix('_')?))) {
        Some((package, name)) => format!("{}/{name}", package.replace("::", "/")),
        None => dds_name.replace('%', "/"),
    }
}

/// `reliability:durability:history,depth:deadline:lifespan:liveliness`; what is the default is left out.
fn encode_qos(qos: Qos) -> String {
    let reliability = match qos.reliability {
        Reliability::Reliable => "",
        Reliability::BestEffort => "2",
    };
    let durability = match qos.durability {
        Durability::Volatile => "",
        Durability::TransientLocal => "1",
    };
    let depth = if qos.depth == DEFAULT_DEPTH { String::new() } else { qos.depth.to_string() };
    format!("{reliability}:{durability}:,{depth}:,:,:,,")
}

fn decode_qos(text: &str) -> Qos {
    let mut fields = text.split(':');
    let reliability = if fields.next() == Some("2") { Reliability::BestEffort } else { Reliability::Reliable };
    let durability = if fields.next() == Some("1") { Durability::TransientLocal } else { Durability::Volatile };
    let depth = fields.next().and_then(|history| history.split_once(',')?.1.parse().ok()).filter(|&depth| depth > 0);
    Qos { reliability, durability, depth: depth.unwrap_or(DEFAULT_DEPTH) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msg::Message;
    use crate::msg::common::Text;

    #[test]
    fn keys_are_those_of_rmw_zenoh() {
        let string = RosType::known("std_msgs/msg/String", "RIHS01_ab");
        assert_eq!(topic_key(7, "/ns/chatter", &string), "7/ns/chatter/std_msgs::msg::dds_::String_/RIHS01_ab");
        let node = Node { domain_id: 0, session: "aa".into(), name: "talker".into() };
        assert_eq!(node.token(), "@ros2_lv/0/aa/0/0/NN/%/%/talker");
        assert_eq!(
            node.endpoint_token(9, Kind::Publisher, "/ns/chatter", &string, Qos::LATCHED),
            "@ros2_lv/0/aa/0/9/MP/%/%/talker/%ns%chatter/std_msgs::msg::dds_::String_/RIHS01_ab/:1:,5:,:,:,,"
        );
    }

    #[test]
    fn tokens_survive_the_graph() {
        let node = Node { domain_id: 0, session: "aa".into(), name: "talker".into() };
        for (kind, qos) in [
            (Kind::Publisher, Qos::PICTURE),
            (Kind::Service, Qos::SERVICE),
            (Kind::Subscription, Qos::LATCHED),
            (Kind::Client, Qos { depth: DEFAULT_DEPTH, ..Qos::STREAM }),
        ] {
            let token = node.endpoint_token(3, kind, "/vision/a/found", &Text::TYPE, qos);
            let endpoint =
                Endpoint { name: "/vision/a/found".into(), ros_type: Text::TYPE, node: "/talker".into(), qos };
            assert_eq!(parse(&token), Some((kind, endpoint)));
        }
    }

    #[test]
    fn foreign_tokens_are_read_or_left_out() {
        let namespaced = "@ros2_lv/0/aa/0/9/MP/%/%robot%arm/talker/%chatter/std_msgs::msg::dds_::String_/TypeHashNotSupported/::,:,:,:,,";
        let (_, endpoint) = parse(namespaced).unwrap();
        assert_eq!((endpoint.node.as_str(), endpoint.qos.depth), ("/robot/arm/talker", DEFAULT_DEPTH));
        assert_eq!(endpoint.ros_type.hash, "TypeHashNotSupported");
        for other in ["@ros2_lv/0/aa/0/0/NN/%/%/talker", "@ros2_lv/0/aa/0/9/XX/%/%/t/%c/a/b/c", "", "a/b", "@ros2_lv/0"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
