//! The program as its users run it: processes, ports, the bus between them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

/// What a program that cannot start says, and its exit code.
mod bad_start;
/// Looking through the camera of another process.
mod camera;
/// The motion server, and the latch of its robot.
mod capability;
/// The demo from outside.
mod demo;
/// Where things are, in metres.
mod locate;
/// What was taught, over restarts.
mod memory;
/// Processes, and sessions with them.
mod program;
/// What a server does when what it depends on comes and goes.
mod restart;
/// Two vision nodes on one bus.
mod twins;
