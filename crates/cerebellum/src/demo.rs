//! `cerebellum demo`: a simulated robot, every server and a page, in one process.

use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::VisionTasks;
use cerebellum_kit::clock::HostClock;
use cerebellum_mcp::ToolServer;
use cerebellum_mcp::serve::{ServeConfig, ServeError, Transport, serve};
use cerebellum_ros::bus::RosBus;
use cerebellum_ros::vision::{OverlayPictures, Tasks};
use cerebellum_ros::zenoh::RouterRole;
use cerebellum_servers::{memory, perception_buffer};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::alone::{cannot_serve, write_ready};
use crate::compose::{self, Life, OnBus};
use crate::config::{self, Environment, Settings};
use crate::exit::Failure;
use crate::page::Page;
use crate::state::DemoFolder;
use crate::{http, secrets};

/// How long the parts of a demo may take to find each other.
const USABLE_WITHIN: Duration = Duration::from_secs(20);

/// What a demo is asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where it listens.
    pub ports: Ports,
    /// A file that gets all endpoints as one JSON object when the demo is ready.
    pub ready_file: Option<PathBuf>,
    /// Whether its router joins the one of the configuration, so that a real ROS 2 system and the demo see each other.
    pub join: bool,
    /// Whether the page is left out.
    pub without_page: bool,
}

/// Where a demo listens, on 127.0.0.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// The ports of the documentation, all moved by so many.
    Offset(u16),
    /// Free ones.
    Free,
}

impl Default for Ports {
    fn default() -> Self {
        Self::Offset(0)
    }
}

impl Ports {
    const PAGE: u16 = 8001;
    const CONTROL: u16 = 9200;
    const SKILL_CONTROL: u16 = 9201;
    const PERCEPTION: u16 = 9202;
    const MEMORY: u16 = 9203;
    const LOCATE: u16 = 9207;
    const ZENOH: u16 = 7557;

    /// The port for a service whose documented port is given; 0 for a free one.
    fn of(self, documented: u16) -> u16 {
        match self {
            Self::Offset(offset) => documented.saturating_add(offset),
            Self::Free => 0,
        }
    }

    /// The largest offset that keeps every port below 65536.
    pub const OFFSET_MAX: u16 = u16::MAX - Self::CONTROL - 10;
}

/// Runs a demo until it is asked to stop.
pub async fn run(mut settings: Settings, environment: &Environment, options: Options) -> Result<(), Failure> {
    if !matches!(settings.robot, config::Robot::Sim(_)) {
        return Err(Failure::usage("the demo shows the simulated robot; write robot: !include robot/sim.yaml"));
    }
    if matches!(settings.camera, config::Camera::Ros(_)) {
        return Err(Failure::usage("the demo has a camera of its own; write camera: !include camera/sim.yaml"));
    }
    let ports = options.ports;
    let common = settings.state_folder.clone();
    let state = DemoFolder::below(&common, ports);
    state.path().clone_into(&mut settings.state_folder);
    let life = Life::until_asked();
    // Ports first: a demo whose port is taken has started nothing.
    let page_listener =
        if options.without_page { None } else { Some(listen(ports.of(Ports::PAGE), "the page").await?) };
    let control_listener = listen(ports.of(Ports::CONTROL), "scene control").await?;
    let (zenoh, join) = take_bus(&mut settings, ports, options.join).await?;

    let who = OnBus { node: &settings.vision_node.name, router: RouterRole::Always, join: &join };
    let bus = compose::bus(&settings, environment, who, &life)?;
    let robot = compose::robot(&settings, &bus, &life)?;
    let node = compose::vision_node(&settings, &bus, &robot, &life).await?;
    robot.serve(&bus, &life);
    let skill_control = compose::skill_control(&settings, &bus)?;
    let perception = compose::perception(&settings, &bus, robot.clock.clone(), &life).await?;
    let perception_server = Arc::new(perception_buffer::Server::new(perception.buffer.clone()));

    let skills_at = open(skill_control.clone(), ports.of(Ports::SKILL_CONTROL), &life).await?;
    let memory_store = compose::memory_store(&settings).await?;
    let memory = Arc::new(memory::Server::new(memory_store.clone(), Arc::new(HostClock::new())));

    let perception_at = open(perception_server.clone(), ports.of(Ports::PERCEPTION), &life).await?;
    let memory_at = open(memory, ports.of(Ports::MEMORY), &life).await?;
    let locate = compose::locate(&settings, &robot, None)?;
    let locate_at = open(locate, ports.of(Ports::LOCATE), &life).await?;
    let page_at = page_listener.as_ref().map(local).transpose()?;
    let control_at = local(&control_listener)?;

    let simulator = robot.simulator.clone().expect("a demo has the simulated robot, checked above");
    let token = secrets::operator_token(&common).map_err(|error| Failure::usage(error.to_string()))?;
    http::serve(control_listener, cerebellum_sim::control::router(simulator.clone(), token), &life);
    let endpoints = Endpoints {
        page: page_at,
        control: control_at,
        skills: skills_at,
        perception: perception_at,
        memory: memory_at,
        locate: locate_at,
        zenoh,
    };
    let ready = ready_json(&endpoints, &settings, &secrets::operator_token_file(&common));
    let page = Page {
        camera: robot.camera.clone(),
        clock: robot.clock.clone(),
        simulator,
        node,
        skills: skill_control,
        perception: perception_server,
        poster: perception.poster,
        events: perception.events,
        overlays: OverlayPictures::new(bus.clone(), &life.tasks, life.stop.clone()),
        endpoints: endpoints.clone(),
    };
    if let Some(listener) = page_listener {
        http::serve(listener, cerebellum_web::router(Arc::new(page)), &life);
    }

    until_usable(&settings, &bus).await?;
    announce(&endpoints, &settings, &options, &ready)?;
    life.stop.cancelled().await;
    if std::io::stdout().is_terminal() {
        say("\nstopping\n");
    }
    life.end().await;
    memory_store.close().await;
    drop(state);
    Ok(())
}

/// Where everything listens.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// The page, unless it was left out.
    pub page: Option<SocketAddr>,
    /// Scene control.
    pub control: SocketAddr,
    /// The MCP server `skill_control`.
    pub skills: SocketAddr,
    /// The MCP server `perception`.
    pub perception: SocketAddr,
    /// The MCP server `memory`.
    pub memory: SocketAddr,
    /// The MCP server `locate`.
    pub locate: SocketAddr,
    /// The Zenoh router, such as `tcp/127.0.0.1:7557`; `None` on a bus without one.
    pub zenoh: Option<String>,
}

async fn listen(port: u16, what: &str) -> Result<TcpListener, Failure> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| taken(port, what, &error.to_string()))
}

fn taken(port: u16, what: &str, why: &str) -> Failure {
    Failure::usage(format!(
        "port {port} for {what} cannot be opened: {why}.\nIs another demo running? Move all ports together with \
         --port-offset 10, or take free ones with --ports 0"
    ))
}

fn local(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener.local_addr().map_err(|error| Failure::usage(format!("a port was lost: {error}")))
}

/// Points the configuration at a router of the demo's own, on the documented port or a free one. Answers its endpoint, and
/// the routers it joins.
async fn take_bus(settings: &mut Settings, ports: Ports, join: bool) -> Result<(Option<String>, Vec<String>), Failure> {
    let config::Ros::Zenoh(zenoh) = &mut settings.ros else { return Ok((None, Vec::new())) };
    let documented = TcpListener::bind((Ipv4Addr::LOCALHOST, ports.of(Ports::ZENOH))).await;
    let listener = match documented {
        Ok(listener) => listener,
        Err(_) => listen(0, "the Zenoh router").await?,
    };
    let endpoint = format!("tcp/{}", local(&listener)?);
    drop(listener);
    let joined = if join { vec![std::mem::take(&mut zenoh.endpoint)] } else { Vec::new() };
    zenoh.endpoint.clone_from(&endpoint);
    zenoh.router = Some(config::RouterRole::Always);
    Ok((Some(endpoint), joined))
}

async fn open(server: Arc<dyn ToolServer>, port: u16, life: &Life) -> Result<SocketAddr, Failure> {
    let name = server.identity().name;
    let config = ServeConfig { transport: Transport::Http, port, ..ServeConfig::default() };
    let running = serve(server, config, life.stop.clone()).await.map_err(|error| match &error {
        ServeError::PortInUse { holder, .. } => {
            let holder = holder.as_ref().map_or_else(|| "it is in use".to_owned(), |holder| format!("{holder} has it"));
            taken(port, name, &holder)
        }
        _ => cannot_serve(&error),
    })?;
    let address = running.address.expect("an HTTP server has an address");
    life.tasks.spawn(running.finished());
    Ok(address)
}

/// Waits until the vision node answers over the bus: who reads the banner or the ready file can call at once.
async fn until_usable(settings: &Settings, bus: &Arc<dyn RosBus>) -> Result<(), Failure> {
    let tasks = Tasks::new(Arc::clone(bus), &settings.vision_node.name);
    let asking = async {
        while let Err(error) = tasks.list(Duration::from_secs(1)).await {
            tracing::debug!(%error, "the vision node is not reachable yet");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(USABLE_WITHIN, asking).await.map_err(|_elapsed| {
        let seconds = USABLE_WITHIN.as_secs();
        Failure::failed(format!(
            "the demo's vision node was not reachable over the bus within {seconds} s; the log says why"
        ))
    })
}

fn announce(endpoints: &Endpoints, settings: &Settings, options: &Options, ready: &Value) -> Result<(), Failure> {
    if let Some(file) = &options.ready_file {
        write_ready(file, ready)?;
    }
    if std::io::stdout().is_terminal() {
        say(&banner(endpoints, settings));
    } else {
        say(&format!("{ready}\n"));
    }
    Ok(())
}

fn ready_json(endpoints: &Endpoints, settings: &Settings, token_file: &Path) -> Value {
    let server =
        |address: SocketAddr| json!({"mcp": format!("http://{address}/mcp"), "sse": format!("http://{address}/sse")});
    let domain_id = match &settings.ros {
        config::Ros::Zenoh(zenoh) => json!(zenoh.domain_id),
        config::Ros::Mem => Value::Null,
    };
    json!({
        "page": endpoints.page.map(|page| format!("http://{page}/")),
        "control": format!("http://{}", endpoints.control),
        "operator_token_file": token_file,
        "servers": {"skill_control": server(endpoints.skills), "perception": server(endpoints.perception), "memory": server(endpoints.memory), "locate": server(endpoints.locate)},
        "zenoh": endpoints.zenoh,
        "domain_id": domain_id,
        "vision_node": settings.vision_node.name,
        "pid": std::process::id(),
    })
}

fn banner(endpoints: &Endpoints, settings: &Settings) -> String {
    let skills = format!("http://{}/mcp", endpoints.skills);
    let seen = format!("http://{}/mcp", endpoints.perception);
    let mut text = String::new();
    let mut line = |words: &str| {
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "{words}");
    };
    line("");
    line("  Cerebellum demo: a robot in a small home, and what stands between it and an agent");
    line("");
    if let Some(page) = endpoints.page {
        line(&format!("    page            http://{page}/"));
    }
    line(&format!("    skill_control   {skills}   (what the robot looks for; /sse too)"));
    line(&format!("    perception      {seen}   (what it sees; /sse too)"));
    line(&format!("    memory          http://{}/mcp   (how things are done, as it was taught)", endpoints.memory));
    line(&format!("    locate          http://{}/mcp   (where things are, in metres)", endpoints.locate));
    line(&format!("    scene control   http://{}       (cerebellum sim scene --help)", endpoints.control));
    if let Some(zenoh) = &endpoints.zenoh {
        line(&format!(
            "    ROS 2           {zenoh}   (rmw_zenoh peers and stdio servers: CEREBELLUM_ZENOH_ENDPOINT={zenoh})"
        ));
    }
    let push =
        if settings.events.callback_url.is_some() { "on" } else { "off; set RVC_CALLBACK_URL and RVC_EVENT_SECRET" };
    line(&format!("    event push      {push}"));
    line("");
    line("  Try, in a second terminal:");
    line("");
    let call = |server: &str, words: &str| format!("cerebellum call {server} {words}");
    let tries = [
        format!("cerebellum tools {skills}"),
        call(&skills, r#"instantiate_skill '{"template":"find_object","params":{"query":"red can"}}'"#),
        call(&seen, "get_latest skill=find_object"),
        call(&skills, "instantiate_skill template=describe_scene params={}"),
        call(&seen, "what_do_you_see"),
        call(&skills, r#"instantiate_skill '{"template":"watch_for","params":{"condition":"a person is in view"}}'"#),
        format!("cerebellum sim scene --control http://{} person enter", endpoints.control),
        call(&seen, "get_latest skill=watch_for"),
        call(&skills, "list_running_skills"),
        call(&skills, "stop_skill skill_id=find_object"),
    ];
    for (index, words) in tries.iter().enumerate() {
        line(&format!("   {:2}. {words}", index + 1));
    }
    line("");
    line("  Attach an agent:");
    line("");
    line(&format!("    Claude Code     claude mcp add --transport http skill_control {skills}"));
    line(&format!("                    claude mcp add --transport http perception {seen}"));
    line("    Claude Desktop  \"skill_control\": {\"command\": \"cerebellum\", \"args\": [\"skill-control\"],");
    let variable = endpoints.zenoh.as_deref().unwrap_or_default();
    line(&format!("                                     \"env\": {{\"CEREBELLUM_ZENOH_ENDPOINT\": \"{variable}\"}}}}"));
    line(&format!("    SSE clients     http://{}/sse and http://{}/sse", endpoints.skills, endpoints.perception));
    line("");
    line("  From a checkout, `cerebellum` is `cargo run --quiet --`. Ctrl-C stops the demo.");
    line("");
    text
}

fn say(text: &str) {
    // A reader that is gone is no reason to stop the robot.
    drop(std::io::stdout().lock().write_all(text.as_bytes()));
    drop(std::io::stdout().lock().flush());
}
