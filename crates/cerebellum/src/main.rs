//! The program `cerebellum`: reads the command line and the configuration, then does what was asked.

use std::path::Path;
use std::process::ExitCode;

use cerebellum::cli::{
    self, Cli, Command, DemoArgs, EngineArg, GlobalArgs, MemoryArgs, MemoryCommand, SimArgs, SimCommand, VisionNodeArgs,
};
use cerebellum::config::{
    self, Environment, Loaded, Log, LogFormat, Lookup, Resource, Robot, Settings, SimCamera, SimRobot, Vision,
};
use cerebellum::exit::{Exit, Failure};
use cerebellum::telemetry::{self, Look};
use cerebellum::{alone, demo};
use clap::Parser;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // Fails only when a provider is there already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::new(Exit::Software, format!("the runtime cannot start: {error}")).report(),
    };
    let outcome = runtime.block_on(Box::pin(run(cli)));
    // A blocking read of standard input would hold the end of the program for ever.
    runtime.shutdown_background();
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(),
    }
}

/// Help and the version are answers; anything else is bad usage.
fn usage(error: &clap::Error) -> ExitCode {
    // When the terminal itself is gone there is nobody left to tell.
    drop(error.print());
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Ok.into() }
}

async fn run(cli: Cli) -> Result<Exit, Failure> {
    let environment = Environment::of_process(Path::new("")).map_err(|error| Failure::usage(error.to_string()))?;
    let global = &cli.global;
    match cli.command {
        Command::Call(args) => {
            quiet(global, &environment, LogFormat::Pretty)?;
            cli::call::run(&args).await
        }
        Command::Tools(args) => {
            quiet(global, &environment, LogFormat::Pretty)?;
            cli::tools::run(&args).await
        }
        Command::Check(args) => {
            quiet(global, &environment, LogFormat::Pretty)?;
            cli::check::run(args).await
        }
        Command::Config(args) => cli::config::run(&args, global.config.as_deref(), &environment),
        Command::Schema(args) => cli::schema::run(&args),
        Command::Demo(args) => run_demo(args, global, &environment).await,
        Command::SkillControl(args) => {
            let settings = start(global, &environment)?;
            let serving = args.resolve(&environment, 9201)?;
            alone::skill_control(&settings, &environment, serving).await.map(|()| Exit::Ok)
        }
        Command::PerceptionBuffer(args) => {
            let settings = start(global, &environment)?;
            let serving = args.resolve(&environment, 9202)?;
            alone::perception_buffer(&settings, &environment, serving).await.map(|()| Exit::Ok)
        }
        Command::Memory(args) => run_memory(args, global, &environment).await,
        Command::Capability(args) => {
            let settings = start(global, &environment)?;
            let serving = args.serving.resolve_robot(&environment, "CAP_PORT", 9206)?;
            alone::capability(&settings, &environment, serving, args.restrictions()).await.map(|()| Exit::Ok)
        }
        Command::Locate(args) => {
            let settings = with_node(start(global, &environment)?, &args.look)?;
            let serving = args.serving.resolve_robot(&environment, "LOCATE_PORT", 9207)?;
            alone::locate(&settings, &environment, serving).await.map(|()| Exit::Ok)
        }
        Command::CapabilityWatchdog => {
            let settings = start(global, &environment)?;
            alone::capability_watchdog(&settings, &environment).await.map(|()| Exit::Ok)
        }
        Command::Stop(args) => cli::stop::stop(&args).await,
        Command::Resume(args) => cli::stop::resume(&args, &environment).await,
        Command::Task(args) => {
            start(global, &environment)?;
            let serving = args.serving.resolve(&environment, 9208)?;
            alone::task(args.endpoints(&environment)?, serving).await.map(|()| Exit::Ok)
        }
        Command::VisionNode(args) => {
            let settings = with_node(start(global, &environment)?, &args)?;
            alone::vision_node(&settings, &environment).await.map(|()| Exit::Ok)
        }
        Command::Sim(args) => run_sim(args, global, &environment).await,
    }
}

/// Configuration and logs of a subcommand that serves.
fn start(global: &GlobalArgs, environment: &Environment) -> Result<Settings, Failure> {
    let settings = load(global, environment)?.settings;
    log(global, &settings.log)?;
    Ok(settings)
}

fn load(global: &GlobalArgs, environment: &Environment) -> Result<Loaded, Failure> {
    let lookup = Lookup { config: global.config.as_deref(), working_folder: Path::new(""), environment };
    Ok(config::load(&lookup)?)
}

fn log(global: &GlobalArgs, configured: &Log) -> Result<(), Failure> {
    let log = global.log_over(configured)?;
    telemetry::init(&log.level, Look::of(log.format));
    Ok(())
}

/// Logs of a subcommand for people: warnings, unless the command line or `RUST_LOG` asks for more.
fn quiet(global: &GlobalArgs, environment: &Environment, format: LogFormat) -> Result<(), Failure> {
    let level = environment.get("RUST_LOG").unwrap_or("warn").to_owned();
    log(global, &Log { level, format })
}

async fn run_demo(args: DemoArgs, global: &GlobalArgs, environment: &Environment) -> Result<Exit, Failure> {
    let mut settings = load(global, environment)?.settings;
    // The banner is for people; the log speaks up when something is wrong, or when it is asked to.
    quiet(global, environment, settings.log.format)?;
    if let (Some(seed), Robot::Sim(robot)) = (args.seed, &mut settings.robot) {
        robot.seed = seed;
    }
    let ports = if args.ports.is_some() { demo::Ports::Free } else { demo::Ports::Offset(args.port_offset) };
    let options = demo::Options { ports, ready_file: args.ready_file, join: args.join, without_page: args.no_page };
    demo::run(settings, environment, options).await.map(|()| Exit::Ok)
}

async fn run_memory(args: MemoryArgs, global: &GlobalArgs, environment: &Environment) -> Result<Exit, Failure> {
    match args.command {
        Some(MemoryCommand::ExportSkills { folder, successes }) => {
            quiet(global, environment, LogFormat::Pretty)?;
            let settings = load(global, environment)?.settings;
            cli::memory::export_skills(&settings, folder, successes).await
        }
        None => {
            let settings = start(global, environment)?;
            let serving = args.serving.resolve(environment, 9203)?;
            alone::memory(&settings, serving).await.map(|()| Exit::Ok)
        }
    }
}

async fn run_sim(args: SimArgs, global: &GlobalArgs, environment: &Environment) -> Result<Exit, Failure> {
    let serve = match args.command {
        Some(SimCommand::Scene(args)) => return cli::sim::scene(&args, environment).await,
        Some(SimCommand::Snapshot(args)) => return cli::sim::snapshot(&args, environment).await,
        Some(SimCommand::Serve(serve)) => serve,
        None => args.serve,
    };
    let mut settings = start(global, environment)?;
    let mut robot = simulated(&settings);
    robot.seed = serve.seed.unwrap_or(robot.seed);
    robot.control_port = serve.control_port.unwrap_or(robot.control_port);
    settings.robot = Robot::Sim(robot);
    settings.camera = simulated_camera(&settings);
    alone::sim(&settings, environment, serve.ready_file.as_deref()).await.map(|()| Exit::Ok)
}

/// The configured simulated robot, or the one the program ships.
fn simulated(settings: &Settings) -> SimRobot {
    match &settings.robot {
        Robot::Sim(robot) => robot.clone(),
        Robot::None | Robot::Ros2(_) => {
            SimRobot { seed: 1, pace: config::Pace::Realtime, speed: 1.0, control_port: 9200 }
        }
    }
}

/// The camera of the simulated robot, as configured or as the program ships it.
fn simulated_camera(settings: &Settings) -> config::Camera {
    config::Camera::Sim(match settings.camera {
        config::Camera::Sim(camera) => camera,
        config::Camera::Folder(_) | config::Camera::Ros(_) => SimCamera { width: 640, height: 480, rate_hz: 15.0 },
    })
}

fn with_node(mut settings: Settings, args: &VisionNodeArgs) -> Result<Settings, Failure> {
    if args.robot.is_some() {
        settings.robot = Robot::Sim(SimRobot { control_port: 0, ..simulated(&settings) });
        settings.camera = simulated_camera(&settings);
    }
    match args.engine {
        Some(EngineArg::GroundTruth) => settings.vision = Vision::GroundTruth,
        Some(EngineArg::Geometry) if settings.vision == Vision::GroundTruth => {
            let things = config::embedded_file("vision/things.yaml")
                .ok_or_else(|| Failure::new(Exit::Software, "the shipped list of things is missing"))?;
            settings.vision = Vision::Geometry { things: Resource::Embedded(things) };
        }
        Some(EngineArg::Geometry) | None => {}
    }
    Ok(settings)
}
