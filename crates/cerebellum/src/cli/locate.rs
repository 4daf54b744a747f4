use clap::Args;

use super::{ServingArgs, VisionNodeArgs};

pub(super) const EXAMPLES: &str = "\
Examples:
  cerebellum locate                                     at http://127.0.0.1:9207/sse and /mcp
  cerebellum locate --robot sim                         with a simulated robot of its own
  cerebellum locate --host 0.0.0.0 --allowed-host robot.tailnet.ts.net --token-file token";

/// Arguments of `locate`.
#[derive(Args, Clone, Debug)]
pub struct LocateArgs {
    /// What looks, and through which camera.
    #[command(flatten)]
    pub look: VisionNodeArgs,
    /// How the server is reached.
    #[command(flatten)]
    pub serving: ServingArgs,
}
