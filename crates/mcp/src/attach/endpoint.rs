use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::error::AttachError;

/// Where a server is.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A child process that speaks MCP on its standard input and output. Its standard error is ours.
    Stdio(Command),
    /// Streamable HTTP.
    Http(Address),
    /// Legacy SSE.
    Sse(Address),
}

/// A program to start.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program; looked up in `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Variables added to our own environment.
    pub environment: Vec<(OsString, OsString)>,
}

/// A server on the network.
#[derive(Clone, Debug)]
pub struct Address {
    /// The whole URL, such as `http://127.0.0.1:9201/mcp`.
    pub url: String,
    /// What is sent as `Authorization: Bearer`.
    pub token: Option<SecretString>,
    /// A PEM file with the only certificates to trust; `None` trusts those of the system.
    pub trusted_root: Option<PathBuf>,
}

impl Endpoint {
    /// The endpoint of a URL: legacy SSE when its path ends in `/sse`, streamable HTTP otherwise.
    pub fn of_url(url: impl Into<String>, token: Option<SecretString>) -> Self {
        let url = url.into();
        let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let legacy = path.ends_with("/sse");
        let address = Address { url, token, trusted_root: None };
        if legacy { Self::Sse(address) } else { Self::Http(address) }
    }

    /// What it is called in messages.
    pub(super) fn target(&self) -> String {
        match self {
            Self::Stdio(command) => command.program.to_string_lossy().into_owned(),
            Self::Http(address) | Self::Sse(address) => address.url.clone(),
        }
    }
}

/// A client for one server: no redirects, no proxy to loopback, HTTP/1.1.
pub(super) fn http_client(address: &Address) -> Result<reqwest::Client, AttachError> {
    let bad = |reason: String| AttachError::BadAddress { url: address.url.clone(), reason };
    let url = reqwest::Url::parse(&address.url).map_err(|error| bad(error.to_string()))?;
    let host = url.host_str().ok_or_else(|| bad("it has no host".to_owned()))?;
    crate::tls_provider();
    let mut builder = reqwest::Client::builder()
        .connect_timeout(Duration::from_secs(5))
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .http1_only();
    let plain = host.trim_start_matches('[').trim_end_matches(']');
    if plain == "localhost" || plain.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback()) {
        builder = builder.no_proxy();
    }
    if let Some(path) = &address.trusted_root {
        let unusable = |reason: String| bad(format!("cannot trust {}: {reason}", path.display()));
        let pem = std::fs::read(path).map_err(|error| unusable(error.to_string()))?;
        let roots = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| unusable(error.to_string()))?;
        builder = builder.tls_certs_only(roots);
    }
    builder.build().map_err(|error| bad(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_tells_the_transport() {
        for (url, legacy) in [
            ("http://h:1/mcp", false),
            ("http://h:1/sse", true),
            ("http://h:1/sse/", true),
            ("http://h:1/robot/sse?x=1", true),
            ("http://h:1/", false),
            ("http://h:1/passe", false),
        ] {
            assert_eq!(matches!(Endpoint::of_url(url, None), Endpoint::Sse(_)), legacy, "{url}");
        }
    }
}
