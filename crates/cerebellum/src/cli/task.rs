use std::path::PathBuf;

use cerebellum_mcp::attach::Endpoint;
use clap::Args;

use super::ServingArgs;
use super::target::{self, TargetArgs};
use crate::config::Environment;
use crate::exit::Failure;

pub(super) const EXAMPLES: &str = "\
Examples:
  cerebellum task                                       over the servers at 9206 and 9207 of this machine
  cerebellum task --server http://robot:9206/sse --server http://robot:9207/sse --transport http";

/// Arguments of `task`.
#[derive(Args, Clone, Debug)]
pub struct TaskArgs {
    /// A server of the robot whose tools are used: http://HOST:PORT/mcp or /sse; the motion and locate servers of this machine unless given
    #[arg(long = "server", value_name = "URL")]
    pub servers: Vec<String>,
    /// A file with the bearer token that those servers want
    #[arg(long, value_name = "FILE")]
    pub server_token_file: Option<PathBuf>,
    /// How this server is reached.
    #[command(flatten)]
    pub serving: ServingArgs,
}

impl TaskArgs {
    /// The robot's servers.
    pub fn endpoints(&self, environment: &Environment) -> Result<Vec<Endpoint>, Failure> {
        let port = |key, default: u16| environment.get(key).map_or_else(|| default.to_string(), str::to_owned);
        let usual = || vec![("CAP_PORT", 9206), ("LOCATE_PORT", 9207)];
        let urls = if self.servers.is_empty() {
            usual().into_iter().map(|(key, default)| format!("http://127.0.0.1:{}/mcp", port(key, default))).collect()
        } else {
            self.servers.clone()
        };
        urls.into_iter()
            .map(|url| target::endpoint(&TargetArgs { url, token_file: self.server_token_file.clone() }))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_robot_of_this_machine_is_meant_unless_servers_are_named() {
        let args = TaskArgs { servers: Vec::new(), server_token_file: None, serving: ServingArgs::default() };
        let urls = |args: &TaskArgs, environment: &Environment| -> Vec<String> {
            let endpoints = args.endpoints(environment).unwrap().into_iter();
            endpoints
                .map(|endpoint| match endpoint {
                    Endpoint::Http(address) | Endpoint::Sse(address) => address.url,
                    Endpoint::Stdio(command) => format!("{command:?}"),
                })
                .collect()
        };
        let environment = Environment::of([("CAP_PORT", "9306")]);
        assert_eq!(urls(&args, &environment), ["http://127.0.0.1:9306/mcp", "http://127.0.0.1:9207/mcp"]);
        let named = TaskArgs { servers: vec!["http://robot:1/sse".into()], ..args };
        assert_eq!(urls(&named, &environment), ["http://robot:1/sse"]);
    }
}
