use std::path::PathBuf;
use std::time::Duration;

use cerebellum_mcp::attach::{AttachError, Client, Command, Endpoint};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::secrets;

/// Where an MCP server is.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// http://HOST:PORT/mcp, http://HOST:PORT/sse, or 'stdio:PROGRAM ARGUMENT ...'
    pub url: String,
    /// A file with the bearer token
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// How long opening a session may take.
const CONNECT: Duration = Duration::from_secs(10);

const REMEDIES: &str = "\
The three usual causes:
  1. The server is not running. Start it: cerebellum demo, or cerebellum skill-control --transport http
  2. It listens on loopback only and you are on another machine. Start it with --host 0.0.0.0 (MCP_HOST).
  3. It does not know the name you use for it (421 Invalid Host). Start it with --allowed-host NAME (MCP_ALLOWED_HOSTS).";

/// Opens a session with the server that was named.
pub(super) async fn connect(target: &TargetArgs) -> Result<Client, Failure> {
    let endpoint = endpoint(target)?;
    choose_tls();
    Client::connect(&endpoint, CONNECT).await.map_err(|error| failure(&error))
}

/// Chooses how TLS is done. Another part of the program may have chosen the same before.
pub(super) fn choose_tls() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

pub(super) fn endpoint(target: &TargetArgs) -> Result<Endpoint, Failure> {
    if let Some(line) = target.url.strip_prefix("stdio:") {
        let mut words = line.split_whitespace().map(Into::into);
        let program = words
            .next()
            .ok_or_else(|| Failure::usage("stdio: names no program, such as 'stdio:cerebellum skill-control'"))?;
        return Ok(Endpoint::Stdio(Command { program, arguments: words.collect(), environment: Vec::new() }));
    }
    let url = reqwest::Url::parse(&target.url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
    let Some(mut url) = url else {
        return Err(Failure::usage(format!(
            "{:?} is no URL of a server; expected http://HOST:PORT/mcp, http://HOST:PORT/sse or 'stdio:PROGRAM ARGUMENT ...'",
            target.url
        )));
    };
    if url.path() == "/" {
        url.set_path("/mcp");
    }
    let token = target.token_file.as_deref().map(secrets::read_token).transpose();
    let token = token.map_err(|error| Failure::usage(format!("--token-file: {error}")))?;
    Ok(Endpoint::of_url(url, token))
}

fn failure(error: &AttachError) -> Failure {
    let exit = match error {
        AttachError::BadAddress { .. } | AttachError::Program { .. } => Exit::Usage,
        _ => Exit::Unavailable,
    };
    let remedies = match error {
        AttachError::Refused { .. }
        | AttachError::Unreachable { .. }
        | AttachError::TimedOut { .. }
        | AttachError::HostNotAllowed { .. } => format!("\n{REMEDIES}"),
        AttachError::Unauthorized { .. } => "\nGive it with --token-file FILE.".to_owned(),
        _ => String::new(),
    };
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(exit, format!("{error}{cause}{remedies}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str) -> Result<Endpoint, Failure> {
        endpoint(&TargetArgs { url: url.to_owned(), token_file: None })
    }

    #[test]
    fn a_server_is_named_by_url_or_program() {
        assert!(
            matches!(check("http://127.0.0.1:9201").unwrap(), Endpoint::Http(address) if address.url == "http://127.0.0.1:9201/mcp")
        );
        assert!(matches!(check("http://robot:9202/sse").unwrap(), Endpoint::Sse(_)));
        let Endpoint::Stdio(command) = check("stdio:cerebellum skill-control").unwrap() else { panic!("not stdio") };
        assert_eq!((command.program, command.arguments), ("cerebellum".into(), vec!["skill-control".into()]));
    }

    #[test]
    fn what_is_no_server_is_bad_usage() {
        for url in ["127.0.0.1:9201", "ftp://x/mcp", "stdio:", ""] {
            assert_eq!(check(url).unwrap_err().exit, Exit::Usage, "{url}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_unavailable_with_the_three_remedies() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let target = TargetArgs { url: format!("http://{free}/mcp"), token_file: None };
        let Err(failure) = connect(&target).await else { panic!("somebody answered") };
        assert_eq!(failure.exit.code(), 69, "{failure}");
        for remedy in ["cerebellum demo", "--host", "--allowed-host"] {
            assert!(failure.message.contains(remedy), "{failure}");
        }
    }
}
