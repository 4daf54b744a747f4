use std::fmt;

use reqwest::Url;

use crate::signing::{Secret, SecretError};

/// The variable that holds the receiver's address, as messages name it.
const URL_VARIABLE: &str = "RVC_CALLBACK_URL";
/// The variable that holds the secret, as messages name it.
const SECRET_VARIABLE: &str = "RVC_EVENT_SECRET";

/// Whether events are posted.
#[derive(Clone, Debug)]
pub enum Push {
    /// They are.
    On(Target),
    /// They are not, for this reason.
    Off {
        /// What is missing, for the log.
        reason: &'static str,
    },
}

/// Why events cannot be posted although it was asked for. Never shows the secret.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// The address is unusable.
    #[error("{URL_VARIABLE} is no usable address: {reason}; write it like http://127.0.0.1:8001/api/agent/events")]
    Url {
        /// What is wrong with it.
        reason: String,
    },
    /// The secret is unusable.
    #[error("{SECRET_VARIABLE}: {0}")]
    Secret(#[from] SecretError),
    /// No secret was given where one is needed.
    #[error("a receiver needs at least one secret")]
    NoSecret,
    /// The HTTP client could not be made; with https this is mostly a host without root certificates.
    #[error(
        "the HTTP client for {URL_VARIABLE} cannot be made: {reason}; are root certificates (ca-certificates) installed?"
    )]
    Client {
        /// What the client says.
        reason: String,
    },
}

impl Push {
    /// From the two settings of a server that posts events. An empty one counts as unset, and either one unset turns push
    /// off; a value that is there and unusable is an error, so that the program refuses to start.
    pub fn from_settings(url: Option<&str>, secret: Option<&str>) -> Result<Self, PushError> {
        let url = url.map(str::trim).filter(|url| !url.is_empty());
        let secret = secret.filter(|secret| !secret.is_empty());
        match (url, secret) {
            (Some(url), Some(secret)) => Target::new(url, vec![secret.parse()?]).map(Self::On),
            (None, Some(_)) => Ok(Self::Off { reason: "RVC_CALLBACK_URL is not set" }),
            (Some(_), None) => Ok(Self::Off { reason: "RVC_EVENT_SECRET is not set" }),
            (None, None) => Ok(Self::Off { reason: "RVC_CALLBACK_URL and RVC_EVENT_SECRET are not set" }),
        }
    }
}

/// One receiver: its address, and the keys its events are signed with.
#[derive(Clone)]
pub struct Target {
    url: Url,
    shown: String,
    secrets: Vec<Secret>,
}

impl Target {
    /// A receiver at `url` (http or https). Each event carries one signature for each of `secrets`, so that they can be
    /// exchanged without a gap.
    pub fn new(url: &str, secrets: Vec<Secret>) -> Result<Self, PushError> {
        let url = Url::parse(url).map_err(|error| PushError::Url { reason: error.to_string() })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PushError::Url { reason: format!("{}: is neither http nor https", url.scheme()) });
        }
        if secrets.is_empty() {
            return Err(PushError::NoSecret);
        }
        // Credentials and tokens in an address are not for the log.
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let shown = format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path());
        Ok(Self { url, shown, secrets })
    }

    /// The address without user, password and query, for logs and pages.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    pub(super) fn secrets(&self) -> &[Secret] {
        &self.secrets
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("url", &self.shown).field("secrets", &self.secrets.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "test-event-secret-0123456789abcdef";

    #[test]
    fn push_is_off_without_both_settings_and_an_empty_one_counts_as_unset() {
        let url = "http://127.0.0.1:8001/api/agent/events";
        for (url, secret) in [(None, None), (Some(url), None), (Some(url), Some("")), (Some(" "), Some(SECRET))] {
            assert!(matches!(Push::from_settings(url, secret), Ok(Push::Off { .. })), "{url:?} {secret:?}");
        }
        assert!(matches!(Push::from_settings(Some(url), Some(SECRET)), Ok(Push::On(_))));
    }

    #[test]
    fn an_unusable_setting_is_refused_by_its_variable_and_the_secret_stays_hidden() {
        let bad_secret = Push::from_settings(Some("http://h/"), Some("short")).unwrap_err().to_string();
        assert!(bad_secret.starts_with("RVC_EVENT_SECRET: ") && !bad_secret.contains("short"), "{bad_secret}");
        for url in ["brain", "ftp://brain/x", "http://"] {
            let error = Push::from_settings(Some(url), Some(SECRET)).unwrap_err().to_string();
            assert!(error.starts_with("RVC_CALLBACK_URL"), "{error}");
        }
    }

    #[test]
    fn what_is_shown_of_a_receiver_holds_no_credentials() {
        let target = Target::new("https://me:pass@brain:8443/events?key=abc", vec![SECRET.parse().unwrap()]).unwrap();
        assert_eq!(target.shown(), "https://brain:8443/events");
        let shown = format!("{target:?}");
        assert!(!shown.contains("pass") && !shown.contains("abc") && !shown.contains(SECRET), "{shown}");
    }
}
