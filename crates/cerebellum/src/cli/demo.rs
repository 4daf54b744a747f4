use std::path::PathBuf;

use clap::Args;

/// Arguments of `demo`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum demo\n  cerebellum demo --port-offset 10\n  cerebellum demo --ports 0 --ready-file ready.json"
)]
pub struct DemoArgs {
    /// 0 takes free ports for everything
    #[arg(long, value_name = "0", value_parser = clap::value_parser!(u16).range(0..=0), conflicts_with = "port_offset")]
    pub ports: Option<u16>,
    /// Moves all ports by this much
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=50_000))]
    pub port_offset: u16,
    /// Where to write one JSON object with all endpoints, once everything serves
    #[arg(long, value_name = "FILE")]
    pub ready_file: Option<PathBuf>,
    /// Join the Zenoh router of the configuration instead of opening one of the demo's own
    #[arg(long)]
    pub join: bool,
    /// Fixes everything that is random in the simulated home
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Serve no page
    #[arg(long)]
    pub no_page: bool,
}
