//! Keeps what running skills publish, so that "what do you see?" is a look into memory. Reads only; what it tells by itself
//! are events of watched skills.

pub use self::config::{Config, ConfigError};
pub use self::reconcile::{Buffer, Ports};
pub use self::server::Server;

mod answers;
mod clean;
mod config;
mod edge;
mod moment;
mod reconcile;
mod remembered;
mod render;
mod server;
mod store;
mod stream;
mod watchers;

#[cfg(test)]
mod tests;
