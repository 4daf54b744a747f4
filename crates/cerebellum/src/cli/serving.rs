use std::path::PathBuf;

use cerebellum_mcp::serve::{ServeConfig, TlsFiles};
use clap::Args;
use secrecy::SecretString;

use crate::config::Environment;
use crate::exit::Failure;
use crate::secrets;

/// How a server started alone is reached: each flag, or its variable.
#[derive(Args, Clone, Debug, Default)]
pub struct ServingArgs {
    /// stdio, sse or http (both serve /mcp and /sse on one port) [variable: MCP_TRANSPORT; default: stdio]
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<String>,
    /// The address to listen on [variable: MCP_HOST; default: 127.0.0.1]
    #[arg(long)]
    pub host: Option<String>,
    /// The port; 0 takes a free one [variable: MCP_PORT]
    #[arg(long)]
    pub port: Option<u16>,
    /// A name callers may use for this server; * takes any [variable: MCP_ALLOWED_HOSTS, separated by commas]
    #[arg(long = "allowed-host", value_name = "HOST")]
    pub allowed_hosts: Vec<String>,
    /// A file with the bearer token callers must send [variable: MCP_TOKEN holds the token itself]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A PEM file with the certificate: serve HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// A PEM file with the certificate's key
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
}

impl ServingArgs {
    /// Flags over variables over defaults. A variable that is set and says nothing readable is bad usage.
    pub fn resolve(&self, environment: &Environment, default_port: u16) -> Result<ServeConfig, Failure> {
        self.resolve_with(environment, "stdio", &["MCP_PORT"], default_port)
    }

    /// [`Self::resolve`] for the servers of a robot, which a brain on another machine attaches to: over the network unless
    /// told, and with a variable of their own for the port.
    pub fn resolve_robot(
        &self,
        environment: &Environment,
        variable: &'static str,
        default_port: u16,
    ) -> Result<ServeConfig, Failure> {
        self.resolve_with(environment, "sse", &[variable, "MCP_PORT"], default_port)
    }

    fn resolve_with(
        &self,
        environment: &Environment,
        default_transport: &str,
        variables: &[&'static str],
        default_port: u16,
    ) -> Result<ServeConfig, Failure> {
        let word = self.transport.as_deref().or_else(|| environment.get("MCP_TRANSPORT"));
        let transport = word
            .unwrap_or(default_transport)
            .parse()
            .map_err(|error| Failure::usage(format!("{error} (--transport, MCP_TRANSPORT)")))?;
        let named = variables.iter().find_map(|variable| environment.get(variable).map(|text| (variable, text)));
        let port = match (self.port, named) {
            (Some(port), _) => port,
            (None, None) => default_port,
            (None, Some((variable, text))) => text.trim().parse().map_err(|_no_number| {
                Failure::usage(format!("{variable}: {text:?} is no port; expected 0 to 65535"))
            })?,
        };
        let named = environment.get("MCP_ALLOWED_HOSTS").unwrap_or_default();
        let named = named.split(',').map(str::trim).filter(|host| !host.is_empty()).map(str::to_owned);
        let allowed_hosts = if self.allowed_hosts.is_empty() { named.collect() } else { self.allowed_hosts.clone() };
        let token = match &self.token_file {
            Some(file) => {
                Some(secrets::read_token(file).map_err(|error| Failure::usage(format!("--token-file: {error}")))?)
            }
            None => environment.get("MCP_TOKEN").map(SecretString::from),
        };
        Ok(ServeConfig {
            transport,
            host: self.host.as_deref().or_else(|| environment.get("MCP_HOST")).unwrap_or("127.0.0.1").to_owned(),
            port,
            allowed_hosts,
            token,
            tls: self.tls_cert.clone().zip(self.tls_key.clone()).map(|(cert, key)| TlsFiles { cert, key }),
            ..ServeConfig::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use cerebellum_mcp::serve::Transport;
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_flag_wins_over_its_variable_and_that_over_the_default() {
        let environment = Environment::of([("MCP_TRANSPORT", "sse"), ("MCP_PORT", "9999"), ("MCP_HOST", "")]);
        let serving = ServingArgs::default().resolve(&environment, 9201).unwrap();
        assert_eq!((serving.transport, serving.port, serving.host.as_str()), (Transport::Sse, 9999, "127.0.0.1"));
        let args = ServingArgs { transport: Some("streamable-http".into()), port: Some(0), ..ServingArgs::default() };
        let serving = args.resolve(&environment, 9201).unwrap();
        assert_eq!((serving.transport, serving.port), (Transport::Http, 0));
        let serving = ServingArgs::default().resolve(&Environment::default(), 9201).unwrap();
        assert_eq!((serving.transport, serving.port), (Transport::Stdio, 9201));
    }

    #[test]
    fn a_server_of_a_robot_is_on_the_network_at_the_port_of_its_own_variable() {
        let robot = |environment: &Environment| {
            let serving = ServingArgs::default().resolve_robot(environment, "CAP_PORT", 9206).unwrap();
            (serving.transport, serving.port)
        };
        assert_eq!(robot(&Environment::default()), (Transport::Sse, 9206));
        assert_eq!(robot(&Environment::of([("CAP_PORT", "1"), ("MCP_PORT", "2")])), (Transport::Sse, 1));
        assert_eq!(robot(&Environment::of([("MCP_PORT", "2"), ("MCP_TRANSPORT", "stdio")])), (Transport::Stdio, 2));
    }

    #[test]
    fn variables_that_say_nothing_readable_are_bad_usage() {
        for (key, value) in [("MCP_PORT", "70000"), ("MCP_PORT", "http"), ("MCP_TRANSPORT", "websocket")] {
            let failure = ServingArgs::default().resolve(&Environment::of([(key, value)]), 9201).unwrap_err();
            assert!(failure.message.contains(key) && failure.exit.code() == 64, "{failure}");
        }
    }

    #[test]
    fn hosts_and_the_token_come_from_variables_too() {
        let environment =
            Environment::of([("MCP_ALLOWED_HOSTS", "robot.local, robot:9201,"), ("MCP_TOKEN", "hunter2-hunter2")]);
        let serving = ServingArgs::default().resolve(&environment, 9201).unwrap();
        assert_eq!(serving.allowed_hosts, ["robot.local", "robot:9201"]);
        assert_eq!(serving.token.as_ref().unwrap().expose_secret(), "hunter2-hunter2");
        assert!(!format!("{serving:?}").contains("hunter2"));
    }
}
