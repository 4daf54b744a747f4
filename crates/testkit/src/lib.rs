//! Fakes, fake clocks and a contract suite for each port. Only for tests.

/// A clock that moves when it is told to.
pub mod clock;

pub use clock::FakeClock;
