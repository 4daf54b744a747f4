//! The crate over real sockets and pipes, on loopback and free ports.
#![allow(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    clippy::assigning_clones,
    reason = "helpers of tests may fail loudly, and read better when they take JSON by value"
)]

mod attach;
mod drop_guard;
mod http;
mod legacy_sse;
mod robot;
mod slow_callers;
mod stdio;
mod support;
mod tls;
