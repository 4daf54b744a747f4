//! Each system in a process of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use cerebellum_core::Body;
use cerebellum_kit::clock::HostClock;
use cerebellum_mcp::ToolServer;
use cerebellum_mcp::attach::Endpoint;
use cerebellum_mcp::serve::{ServeConfig, ServeError, Transport, serve};
use cerebellum_ros::zenoh::RouterRole;
use cerebellum_servers::{memory, perception_buffer, task};
use serde_json::{Value, json};
use tracing::info;

use crate::compose::{self, Life, OnBus};
use crate::config::{self, Environment, Settings};
use crate::exit::Failure;
use crate::http;
use crate::robot_tools::AttachedTools;
use crate::secrets;

/// `cerebellum skill-control`.
pub async fn skill_control(
    settings: &Settings,
    environment: &Environment,
    serving: ServeConfig,
) -> Result<(), Failure> {
    let life = Life::until_asked();
    let who = OnBus { node: "skill_control", router: RouterRole::Never, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    let server = compose::skill_control(settings, &bus)?;
    run(server, serving, life).await
}

/// `cerebellum perception-buffer`.
pub async fn perception_buffer(
    settings: &Settings,
    environment: &Environment,
    serving: ServeConfig,
) -> Result<(), Failure> {
    let life = Life::until_asked();
    let who = OnBus { node: "perception_buffer", router: RouterRole::Never, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    let perception = compose::perception(settings, &bus, Arc::new(HostClock::new()), &life).await?;
    let server = Arc::new(perception_buffer::Server::new(Arc::clone(&perception.buffer)));
    run(server, serving, life).await
}

/// `cerebellum memory`.
pub async fn memory(settings: &Settings, serving: ServeConfig) -> Result<(), Failure> {
    let life = Life::until_asked();
    let store = compose::memory_store(settings).await?;
    let server = Arc::new(memory::Server::new(store.clone(), Arc::new(HostClock::new())));
    let served = run(server, serving, life).await;
    store.close().await;
    served
}

/// `cerebellum capability`: the motion server, and the control port of a robot that this process owns.
pub async fn capability(
    settings: &Settings,
    environment: &Environment,
    serving: ServeConfig,
    restrictions: compose::Restrictions,
) -> Result<(), Failure> {
    let life = Life::until_asked();
    let who = OnBus { node: "capability", router: RouterRole::Never, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    let clock = compose::host_clock();
    let body = compose::body(settings, &bus, &clock, &life).await?;
    if let Some(safety) = body.safety {
        let token =
            secrets::operator_token(&settings.state_folder).map_err(|error| Failure::usage(error.to_string()))?;
        let router = crate::control::router(Arc::clone(&body.robot), safety, token);
        serve_control(body.control_port, router, &life).await?;
    }
    let server = compose::capability(settings, body.robot, &clock, restrictions, &life).await?;
    run(server, serving, life).await
}

/// `cerebellum locate`: a camera and an engine of its own.
pub async fn locate(settings: &Settings, environment: &Environment, serving: ServeConfig) -> Result<(), Failure> {
    let life = Life::until_asked();
    let who = OnBus { node: "locate", router: RouterRole::Never, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    let robot = compose::robot(settings, &bus, &life)?;
    let body: Option<Arc<dyn Body>> = match &settings.robot {
        config::Robot::Ros2(_) => Some(compose::body(settings, &bus, &robot.clock, &life).await?.robot),
        config::Robot::Sim(_) | config::Robot::None => None,
    };
    let server = compose::locate(settings, &robot, body)?;
    run(server, serving, life).await
}

/// `cerebellum capability-watchdog`: stops a robot whose motion server died or froze.
pub async fn capability_watchdog(settings: &Settings, environment: &Environment) -> Result<(), Failure> {
    let config::Robot::Ros2(robot) = &settings.robot else {
        return Err(Failure::usage(
            "only a robot that runs ROS 2 needs the watchdog; write robot: !include robot/ros2.yaml",
        ));
    };
    let life = Life::until_asked();
    let who = OnBus { node: "capability_watchdog", router: RouterRole::Never, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    info!("watching over the robot's motions");
    cerebellum_ros::robot::watch_over(bus, robot.config.clone(), compose::host_clock(), life.stop.clone()).await;
    life.end().await;
    Ok(())
}

/// `cerebellum task`, over the tools of a robot's servers.
pub async fn task(servers: Vec<Endpoint>, serving: ServeConfig) -> Result<(), Failure> {
    let tools = Arc::new(AttachedTools::new(servers));
    run(Arc::new(task::Server::new(tools)), serving, Life::until_asked()).await
}

async fn run(server: Arc<dyn ToolServer>, serving: ServeConfig, life: Life) -> Result<(), Failure> {
    let name = server.identity().name;
    let transport = serving.transport;
    let scheme = if serving.tls.is_some() { "https" } else { "http" };
    let running = serve(server, serving, life.stop.clone()).await.map_err(|error| cannot_serve(&error))?;
    if let Some(address) = running.address {
        let path = if transport == Transport::Sse { "sse" } else { "mcp" };
        info!(server = name, url = format!("{scheme}://{address}/{path}"), "serving");
    }
    running.finished().await;
    life.end().await;
    Ok(())
}

/// A server that cannot start, for a person.
pub fn cannot_serve(error: &ServeError) -> Failure {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    Failure::usage(message)
}

/// `cerebellum vision-node`: the node with its camera and, where the configuration says so, the simulated robot behind it.
pub async fn vision_node(settings: &Settings, environment: &Environment) -> Result<(), Failure> {
    let life = Life::until_asked();
    let who = OnBus { node: &settings.vision_node.name, router: RouterRole::Auto, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    let robot = compose::robot(settings, &bus, &life)?;
    let _node = compose::vision_node(settings, &bus, &robot, &life).await?;
    robot.serve(&bus, &life);
    let _control = control(settings, &robot, &life).await?;
    life.stop.cancelled().await;
    life.end().await;
    Ok(())
}

/// `cerebellum sim`: the simulated robot alone, its camera, transforms and odometry on the bus. `ready_file` gets one JSON object when it serves.
pub async fn sim(settings: &Settings, environment: &Environment, ready_file: Option<&Path>) -> Result<(), Failure> {
    let life = Life::until_asked();
    let who = OnBus { node: "sim", router: RouterRole::Auto, join: &[] };
    let bus = compose::bus(settings, environment, who, &life)?;
    let robot = compose::robot(settings, &bus, &life)?;
    robot.serve(&bus, &life);
    let control = control(settings, &robot, &life).await?;
    if let Some(file) = ready_file {
        let token = secrets::operator_token_file(&settings.state_folder);
        let ready = json!({"control": control.map(|at| format!("http://{at}")), "operator_token_file": token});
        write_ready(file, &ready)?;
    }
    life.stop.cancelled().await;
    life.end().await;
    Ok(())
}

/// Writes a ready file aside and moves it, so that nobody reads half of it.
pub fn write_ready(file: &Path, ready: &Value) -> Result<(), Failure> {
    let aside = file.with_extension("part");
    let written = std::fs::write(&aside, format!("{ready}\n")).and_then(|()| std::fs::rename(&aside, file));
    written.map_err(|error| Failure::usage(format!("cannot write --ready-file {}: {error}", file.display())))
}

/// Scene control of the simulated robot; nothing where there is none. A port that is taken is no reason to stop: the robot
/// works without, and the log says so.
async fn control(settings: &Settings, robot: &compose::Robot, life: &Life) -> Result<Option<SocketAddr>, Failure> {
    let (Some(simulator), config::Robot::Sim(settings_of_robot)) = (&robot.simulator, &settings.robot) else {
        return Ok(None);
    };
    let token = secrets::operator_token(&settings.state_folder).map_err(|error| Failure::usage(error.to_string()))?;
    let router = cerebellum_sim::control::router(Arc::clone(simulator), token);
    serve_control(settings_of_robot.control_port, router, life).await
}

/// A control port that is taken is no reason to stop: the robot works without, and the log says so.
async fn serve_control(port: u16, router: axum::Router, life: &Life) -> Result<Option<SocketAddr>, Failure> {
    match tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
        Ok(listener) => {
            let address = listener.local_addr().ok();
            info!(address = address.map(tracing::field::display), "the control port is served");
            http::serve(listener, router, life);
            Ok(address)
        }
        Err(error) => {
            tracing::warn!(port, %error, "no control port; choose another control_port");
            Ok(None)
        }
    }
}
