//! Signing, verifying and posting events, and the host's clock.
//!
//! This crate knows Standard Webhooks and HTTP. It does not know what an event means, nor who decides to post one.

/// The host's time as both clocks of the domain.
pub mod clock;
/// Who may move the robot, in one process.
pub mod lease;
/// Posting signed events to one receiver, with retries.
pub mod poster;
/// Standard Webhooks 1.0: secrets, signing and verifying.
pub mod signing;
/// The port through which servers post events.
pub mod sink;

pub use clock::HostClock;
pub use lease::Leases;
pub use poster::{Poster, Push};
pub use sink::EventSink;
