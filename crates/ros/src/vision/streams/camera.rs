use std::sync::Arc;

use cerebellum_core::{CameraBeat, Subscription};
use tokio_util::sync::CancellationToken;

use super::beat_type;
use crate::bus::{Endpoint, RosBus, Sink};
use crate::msg::common::Header;
use crate::msg::decode;

/// Follows the camera's signs of life as its topics come and go, until `stop`.
pub(super) async fn follow(
    bus: Arc<dyn RosBus>,
    image_topic: String,
    sink: Arc<dyn Fn(CameraBeat) + Send + Sync>,
    stop: CancellationToken,
) {
    let mut changes = bus.graph_changes();
    let sink: Sink = Arc::new(move |message| {
        // The picture behind the header is not looked at.
        if let Ok(header) = decode::<Header<'_>>(message) {
            sink(CameraBeat { stamp: header.stamp.into() });
        }
    });
    let mut following: Option<(Endpoint, Subscription)> = None;
    loop {
        changes.mark_unchanged();
        // While the bus is away the subscription is kept: it goes on when the bus returns.
        if let Ok(graph) = bus.graph() {
            let wanted = sign_of_life(&graph.publishers, &image_topic);
            if following.as_ref().map(|(endpoint, _)| endpoint) != wanted {
                following = None;
                if let Some(endpoint) = wanted {
                    let subscribed =
                        bus.subscribe(&endpoint.name, &endpoint.ros_type, endpoint.qos, sink.clone()).await;
                    following = subscribed.ok().map(|subscription| (endpoint.clone(), subscription));
                }
            }
        }
        if !matches!(stop.run_until_cancelled(changes.changed()).await, Some(Ok(()))) {
            return;
        }
    }
}

/// `camera_info` beside the picture if somebody publishes it, else the picture itself.
fn sign_of_life<'a>(publishers: &'a [Endpoint], image_topic: &str) -> Option<&'a Endpoint> {
    let info_topic = image_topic.rsplit_once('/').map(|(folder, _)| format!("{folder}/camera_info"));
    let readable = |name: &str| publishers.iter().find(|endpoint| endpoint.name == name && beat_type(endpoint));
    info_topic.and_then(|name| readable(&name)).or_else(|| readable(image_topic))
}
