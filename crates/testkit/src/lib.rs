//! Fakes, fake clocks and a contract suite for each port. Only for tests.

/// A clock that moves when it is told to.
pub mod clock;
/// What every adapter of a port keeps.
pub mod contract;
/// An engine that answers as it is told to.
pub mod engine;
/// What was posted to an event sink.
pub mod events;
/// A camera that shows what it is told to, and the contract of every source of frames.
pub mod frames;
/// Learned processes in memory.
pub mod processes;
/// A bus that remembers what was published.
pub mod publisher;
/// A robot that does what it is told to do, without a body.
pub mod robot;
/// The graph of vision topics in memory.
pub mod streams;
/// A vision node's task list in memory, which fails when told to.
pub mod tasks;

pub use clock::FakeClock;
pub use engine::FakeEngine;
pub use events::RecordedEvents;
pub use frames::FakeFrames;
pub use processes::FakeProcesses;
pub use publisher::{Published, RecordingStreams};
pub use robot::FakeRobot;
pub use streams::FakeVisionStreams;
pub use tasks::FakeVisionTasks;
