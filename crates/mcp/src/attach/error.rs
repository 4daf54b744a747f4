use std::error::Error;
use std::io;
use std::time::Duration;

use http::{StatusCode, header};
use rmcp::service::ServiceError;
use secrecy::ExposeSecret;

use super::Address;

/// How long the look at a server that failed may take.
const DIAGNOSIS: Duration = Duration::from_secs(3);

/// Why no session could be opened.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// Nothing listens there.
    #[error(
        "nothing answers at {url}; is the server running, and does it listen on this address and not on loopback only (MCP_HOST, --host)?"
    )]
    Refused {
        /// Where.
        url: String,
    },
    /// The machine cannot be reached.
    #[error("{url} cannot be reached ({reason}); check the address and the network")]
    Unreachable {
        /// Where.
        url: String,
        /// What the system said.
        reason: String,
    },
    /// The server does not answer to this name.
    #[error(
        "the server at {url} does not answer to the name {host} (421); start it with --allowed-host {host} or set MCP_ALLOWED_HOSTS={host}"
    )]
    HostNotAllowed {
        /// Where.
        url: String,
        /// The name that was used.
        host: String,
    },
    /// The server wants a token, or another one.
    #[error("the server at {url} wants {} token", if *.sent { "another" } else { "a" })]
    Unauthorized {
        /// Where.
        url: String,
        /// Whether a token was sent.
        sent: bool,
    },
    /// The server speaks the other transport, or none, at this path.
    #[error("{url} does not speak {tried}; {hint}")]
    WrongTransport {
        /// Where.
        url: String,
        /// What was tried.
        tried: &'static str,
        /// What to try instead.
        hint: String,
    },
    /// The program could not be started.
    #[error("cannot start {program}")]
    Program {
        /// Which.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Something answered, but not as a server of MCP should.
    #[error("{target} does not speak MCP as expected: {reason}")]
    NoMcp {
        /// Who.
        target: String,
        /// What was wrong.
        reason: String,
    },
    /// The URL or the certificates to trust are unusable.
    #[error("{url} cannot be used: {reason}")]
    BadAddress {
        /// Which.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// It took too long.
    #[error("{target} opened no session within {within:?}")]
    TimedOut {
        /// Who.
        target: String,
        /// How long was waited.
        within: Duration,
    },
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The server refused the request itself, such as a tool it does not have.
    #[error("{message}")]
    Refused {
        /// The code of JSON-RPC.
        code: i32,
        /// What the server says.
        message: String,
    },
    /// No answer in time; the server was told to stop. What was begun may have happened.
    #[error("no answer within {after:?}; the server was told to stop")]
    TimedOut {
        /// The limit that was passed.
        after: Duration,
    },
    /// Cancelled from here; the server was told to stop. What was begun may have happened.
    #[error("cancelled; the server was told to stop")]
    Cancelled,
    /// The connection was lost. What was begun may have happened.
    #[error("the connection to the server was lost; what the call had begun may have happened")]
    Lost,
    /// The tool wants to ask its caller something, which this client does not do.
    #[error("the tool asks for input in the middle of a call, which is not supported")]
    AsksForInput,
    /// The server answered something that makes no sense.
    #[error("the server's answer makes no sense: {0}")]
    Unexpected(String),
}

impl From<ServiceError> for CallError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Refused { code: error.code.0, message: error.message.into_owned() },
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => Self::Lost,
            ServiceError::Cancelled { .. } => Self::Cancelled,
            ServiceError::Timeout { timeout } => Self::TimedOut { after: timeout },
            ServiceError::InputRequiredRoundsExceeded { .. } => Self::AsksForInput,
            other => Self::Unexpected(other.to_string()),
        }
    }
}

/// The transport that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Streamable,
    LegacySse,
}

/// Looks at a server that opened no session and says why. Only asked after a failure.
pub(super) async fn diagnose(http: &reqwest::Client, address: &Address, kind: Kind, reason: &str) -> AttachError {
    let mut request = http.get(&address.url).header(header::ACCEPT, "text/event-stream").timeout(DIAGNOSIS);
    if let Some(token) = &address.token {
        request = request.bearer_auth(token.expose_secret());
    }
    match request.send().await {
        Err(error) => of_failure(address, &error),
        Ok(response) => of_answer(address, kind, &response)
            .unwrap_or_else(|| AttachError::NoMcp { target: address.url.clone(), reason: reason.to_owned() }),
    }
}

/// A request that got no answer.
pub(super) fn of_failure(address: &Address, error: &reqwest::Error) -> AttachError {
    let url = address.url.clone();
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    let mut reason = error.to_string();
    while let Some(current) = cause {
        if current.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
            return AttachError::Refused { url };
        }
        reason = current.to_string();
        cause = current.source();
    }
    AttachError::Unreachable { url, reason }
}

/// What the answer to a GET for an event stream says about the server; `None` when it tells nothing.
pub(super) fn of_answer(address: &Address, kind: Kind, response: &reqwest::Response) -> Option<AttachError> {
    let url = address.url.clone();
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_stream = content_type.is_some_and(|kind| kind.starts_with("text/event-stream"));
    match response.status() {
        StatusCode::MISDIRECTED_REQUEST => {
            let host = response.url().host_str().unwrap_or_default().to_owned();
            Some(AttachError::HostNotAllowed { url, host })
        }
        StatusCode::UNAUTHORIZED => Some(AttachError::Unauthorized { url, sent: address.token.is_some() }),
        status => wrong_transport(url, kind, status, is_stream),
    }
}

fn wrong_transport(url: String, kind: Kind, status: StatusCode, is_stream: bool) -> Option<AttachError> {
    let (tried, hint) = match kind {
        Kind::Streamable if status == StatusCode::NOT_FOUND => {
            ("streamable HTTP", "there is nothing at this path; try /mcp, or /sse for an old server".to_owned())
        }
        Kind::Streamable if status.is_success() && is_stream => {
            ("streamable HTTP", "it is a legacy SSE server; use a URL that ends in /sse, or say so".to_owned())
        }
        Kind::LegacySse if !(status.is_success() && is_stream) => {
            ("legacy SSE", format!("it answered {status}; try the same server's /mcp"))
        }
        Kind::Streamable | Kind::LegacySse => return None,
    };
    Some(AttachError::WrongTransport { url, tried, hint })
}
