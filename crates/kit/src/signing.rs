use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cerebellum_core::Stamp;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretSlice};
use sha2::Sha256;
use subtle::ConstantTimeEq;

#[cfg(test)]
mod tests;

/// The header that carries the id; the same for each attempt to deliver an event.
pub const ID_HEADER: &str = "webhook-id";
/// The header that carries the Unix seconds of the attempt.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
/// The header that carries the signatures, separated by spaces.
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// How far a timestamp may be from now, in seconds, on either side.
pub const TOLERANCE_SECS: i64 = 300;
/// The shortest secret that is accepted, in bytes.
pub const SECRET_BYTES_MIN: usize = 16;

const SECRET_PREFIX: &str = "whsec_";
const VERSION_PREFIX: &str = "v1,";
/// A request with more signatures than a rotation can need is not looked through to its end.
const SIGNATURES_MAX: usize = 16;

/// A key of a sender. Prints as redacted, and is wiped when dropped.
#[derive(Clone)]
pub struct Secret(Arc<SecretSlice<u8>>);

/// Why a text is no usable secret. Never shows the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// What follows `whsec_` is not base64.
    #[error("the part after \"whsec_\" is not base64")]
    NotBase64,
    /// The key is too short to be safe.
    #[error(
        "the secret has {bytes} bytes, at least {SECRET_BYTES_MIN} are needed; make one with: openssl rand -base64 32"
    )]
    TooShort {
        /// Its length in bytes, after decoding.
        bytes: usize,
    },
}

impl FromStr for Secret {
    type Err = SecretError;

    /// `whsec_` and base64, or any other text, which then is the key by its UTF-8 bytes.
    fn from_str(text: &str) -> Result<Self, SecretError> {
        let key = match text.strip_prefix(SECRET_PREFIX) {
            Some(encoded) => decode(encoded).ok_or(SecretError::NotBase64)?,
            None => text.as_bytes().to_vec(),
        };
        if key.len() < SECRET_BYTES_MIN {
            return Err(SecretError::TooShort { bytes: key.len() });
        }
        Ok(Self(Arc::new(SecretSlice::from(key))))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([REDACTED])")
    }
}

impl PartialEq for Secret {
    /// Compares in constant time: two servers with one secret must be told apart from two with different ones.
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret().ct_eq(other.0.expose_secret()).into()
    }
}

impl Eq for Secret {}

/// The value of [`SIGNATURE_HEADER`] for exactly these bytes: one signature for each secret, so that a receiver that knows
/// the old or the new one accepts it while they are exchanged. `timestamp` is in Unix seconds.
pub fn sign<'a>(secrets: impl IntoIterator<Item = &'a Secret>, id: &str, timestamp: i64, body: &[u8]) -> String {
    let timestamp = timestamp.to_string();
    let signatures: Vec<String> = secrets
        .into_iter()
        .map(|secret| format!("{VERSION_PREFIX}{}", STANDARD.encode(digest(secret, id, &timestamp, body))))
        .collect();
    signatures.join(" ")
}

/// Why a message is not believed. The sender is told none of it; it is for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The id is missing.
    #[error("{ID_HEADER} is missing or empty")]
    NoId,
    /// The timestamp is missing or no number of seconds.
    #[error("{TIMESTAMP_HEADER} is missing or not whole Unix seconds")]
    BadTimestamp,
    /// The timestamp is too far from now.
    #[error("{TIMESTAMP_HEADER} is {skew_secs} s from now, more than {TOLERANCE_SECS}; compare the two clocks")]
    OutOfTolerance {
        /// Seconds from now; positive when the message comes from the future.
        skew_secs: i64,
    },
    /// No signature fits one of the secrets.
    #[error("no signature in {SIGNATURE_HEADER} fits; compare the two secrets")]
    Mismatch,
}

/// Checks a message as it came in: the three headers, and the raw bytes of its body. One signature that fits one of
/// `secrets` is enough. `now` is the host's time.
pub fn verify(secrets: &[Secret], headers: Signed<'_>, body: &[u8], now: Stamp) -> Result<(), VerifyError> {
    if headers.id.is_empty() {
        return Err(VerifyError::NoId);
    }
    let timestamp = read_timestamp(headers.timestamp).ok_or(VerifyError::BadTimestamp)?;
    let skew_secs = timestamp.saturating_sub(now.nanos().div_euclid(1_000_000_000));
    if skew_secs.saturating_abs() > TOLERANCE_SECS {
        return Err(VerifyError::OutOfTolerance { skew_secs });
    }
    let claimed: Vec<Vec<u8>> = headers.signatures.split(' ').take(SIGNATURES_MAX).filter_map(read_signature).collect();
    let mut fits = subtle::Choice::from(0);
    for secret in secrets {
        let ours = digest(secret, headers.id, headers.timestamp, body);
        for theirs in &claimed {
            fits |= ours.as_slice().ct_eq(theirs.as_slice());
        }
    }
    if bool::from(fits) { Ok(()) } else { Err(VerifyError::Mismatch) }
}

/// The three headers of a message, as text; a missing one is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signed<'a> {
    /// [`ID_HEADER`].
    pub id: &'a str,
    /// [`TIMESTAMP_HEADER`].
    pub timestamp: &'a str,
    /// [`SIGNATURE_HEADER`].
    pub signatures: &'a str,
}

fn digest(secret: &Secret, id: &str, timestamp: &str, body: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.0.expose_secret()).expect("HMAC takes keys of every length");
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// Whole seconds in their one spelling: the signature covers the text, and `+1` or `01` would be a second text of one time.
fn read_timestamp(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|seconds| seconds.to_string() == text)
}

/// Signatures of other versions are passed over, as the standard asks.
fn read_signature(text: &str) -> Option<Vec<u8>> {
    text.strip_prefix(VERSION_PREFIX).and_then(decode)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
