use clap::Args;

use super::ServingArgs;
use crate::compose::Restrictions;

pub(super) const EXAMPLES: &str = "\
Examples:
  cerebellum capability                                 at http://127.0.0.1:9206/sse and /mcp
  cerebellum capability --host 0.0.0.0 --allowed-host robot.tailnet.ts.net --token-file token
  cerebellum capability --read-only
  cerebellum capability --allow get_pose --allow turn_by

The robot is the one of the configuration: robot/ros2.yaml, with `cerebellum capability-watchdog` beside it. The simulated
robot cannot be driven.";

/// Arguments of `capability`.
#[derive(Args, Clone, Debug)]
pub struct CapabilityArgs {
    /// Offer only tools that change nothing, and stop
    #[arg(long)]
    pub read_only: bool,
    /// Offer only this tool, and stop; may be given again
    #[arg(long, value_name = "TOOL")]
    pub allow: Vec<String>,
    /// How the server is reached.
    #[command(flatten)]
    pub serving: ServingArgs,
}

impl CapabilityArgs {
    /// What is said over the configuration.
    pub fn restrictions(&self) -> Restrictions {
        Restrictions { read_only: self.read_only, allow: self.allow.clone() }
    }
}
