use clap::{Args, ValueEnum};

/// Arguments of `vision-node`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum vision-node\n  cerebellum vision-node --robot sim\n  cerebellum vision-node --robot sim --engine ground-truth"
)]
pub struct VisionNodeArgs {
    /// Embed a simulated robot of its own
    #[arg(long, value_name = "ROBOT")]
    pub robot: Option<RobotArg>,
    /// The engine that looks; the configuration's unless given
    #[arg(long, value_name = "ENGINE")]
    pub engine: Option<EngineArg>,
}

/// The words of `--robot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RobotArg {
    /// The simulated one.
    Sim,
}

/// The words of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// Picture and depth alone.
    Geometry,
    /// The simulator's own knowledge: for tests.
    #[value(alias = "ground_truth")]
    GroundTruth,
}
