use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::VisionTasks;
use cerebellum_ros::bus::RosBus;
use cerebellum_ros::vision::{Publishers, Tasks, nodes_named, serve_tasks};
use cerebellum_vision::node::{Node, NodeConfig};
use tracing::{error, info, warn};

use super::{Eye, Life, Robot, engine};
use crate::config::{self, Settings};
use crate::exit::Failure;

/// How soon the services of a vision node are offered again after the bus refused.
const SERVE_AGAIN: Duration = Duration::from_millis(500);

/// The vision node on the bus: it publishes there, and its services are offered as soon as the bus is up.
pub async fn vision_node(
    settings: &Settings,
    bus: &Arc<dyn RosBus>,
    robot: &Robot,
    life: &Life,
) -> Result<Arc<Node>, Failure> {
    let state_file = settings.state_folder.join(format!("{}.skills.json", settings.vision_node.name));
    life.hold(&state_file).await?;
    if !has_own_router(settings) {
        refuse_twin(&settings.vision_node.name, bus).await?;
    }
    let config =
        NodeConfig { state_file: Some(state_file), noisy_camera: robot.eye == Eye::Simulated, ..NodeConfig::default() };
    let streams = Arc::new(Publishers::new(Arc::clone(bus), life.tasks.clone()));
    let node = Node::start(
        config,
        engine(settings, robot)?,
        Arc::clone(&robot.camera),
        streams,
        Arc::clone(&robot.clock),
        life.tasks.clone(),
        life.stop.clone(),
    )
    .map_err(|error| Failure::usage(format!("vision node: {error}")))?;
    offer(Arc::clone(bus), settings.vision_node.name.clone(), Arc::clone(&node) as Arc<dyn VisionTasks>, life);
    Ok(node)
}

/// Whether the bus begins with this program, so that nobody can have been on it before.
fn has_own_router(settings: &Settings) -> bool {
    match &settings.ros {
        config::Ros::Mem => true,
        config::Ros::Zenoh(zenoh) => zenoh.router == Some(config::RouterRole::Always),
    }
}

/// How long the bus may take to come up before the node starts without knowing who else is there.
const BUS_PATIENCE: Duration = Duration::from_secs(2);
/// How long a node of the same name may take to come into sight on a bus that others were on before.
const GRAPH_PATIENCE: Duration = Duration::from_millis(1500);
/// How long a node of the same name may take to answer; one that is gone does not.
const TWIN_PATIENCE: Duration = Duration::from_millis(1500);

/// Two nodes of one name would both run every skill, and answer every call by turns.
async fn refuse_twin(name: &str, bus: &Arc<dyn RosBus>) -> Result<(), Failure> {
    let mut changes = bus.graph_changes();
    let coming_up = async { while bus.graph().is_err() && changes.changed().await.is_ok() {} };
    // A bus that does not come up has nobody on it; later the services are offered only when nobody else does.
    drop(tokio::time::timeout(BUS_PATIENCE, coming_up).await);
    // Who is there becomes known one by one after the bus has come up.
    let twin_in_sight =
        async { while nodes_named(bus.as_ref(), name).unwrap_or(0) == 0 && changes.changed().await.is_ok() {} };
    if tokio::time::timeout(GRAPH_PATIENCE, twin_in_sight).await.is_err() {
        return Ok(());
    }
    match Tasks::new(Arc::clone(bus), name).list(TWIN_PATIENCE).await {
        Ok(skills) => Err(Failure::usage(twin(name, &format!("it runs {} skills", skills.len())))),
        Err(error) => {
            warn!(node = name, %error, "a vision node of this name is on the bus and does not answer");
            Ok(())
        }
    }
}

fn twin(name: &str, what: &str) -> String {
    format!(
        "another vision node /{name} is on this bus ({what}). Stop it, or give this one another name with \
         VISION_NODE_NAME, and skill-control and perception-buffer the name they shall use"
    )
}

/// Offers the services until the program stops, trying again while the bus is away, and not while another node of the same
/// name does.
fn offer(bus: Arc<dyn RosBus>, name: String, tasks: Arc<dyn VisionTasks>, life: &Life) {
    let stop = life.stop.clone();
    life.tasks.spawn(async move {
        let offering = async {
            let mut has_told = false;
            loop {
                if nodes_named(bus.as_ref(), &name).is_ok_and(|nodes| nodes > 0) {
                    if !std::mem::replace(&mut has_told, true) {
                        error!("{}; nothing is served until then", twin(&name, "it was there first"));
                    }
                } else {
                    match serve_tasks(&bus, &name, Arc::clone(&tasks)).await {
                        Ok(serving) => break serving,
                        Err(error) => tracing::debug!(%error, "services wait for the bus"),
                    }
                }
                tokio::time::sleep(SERVE_AGAIN).await;
            }
        };
        let Some(serving) = stop.run_until_cancelled(offering).await else { return };
        info!(node = name, "vision services are offered");
        stop.run_until_cancelled(watch_for_twin(&bus, &name)).await;
        drop(serving);
    });
}

/// Says so when another node of our name comes. Never ends.
async fn watch_for_twin(bus: &Arc<dyn RosBus>, name: &str) {
    let mut changes = bus.graph_changes();
    let mut has_twin = false;
    while changes.changed().await.is_ok() {
        let is_twin = nodes_named(bus.as_ref(), name).is_ok_and(|nodes| nodes > 1);
        if is_twin && !has_twin {
            error!("{}", twin(name, "it came after this one, and both run skills"));
        }
        has_twin = is_twin;
    }
    std::future::pending::<()>().await;
}
