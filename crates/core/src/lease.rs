use std::time::Duration;

use crate::time::Stamp;

/// Who may move the robot now.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseState {
    /// The holder's name: a session, a mission, a bind.
    pub holder: String,
    /// Since when, on the robot's clock.
    pub since: Stamp,
    /// What it runs now, if anything.
    pub running: Option<String>,
}

/// Somebody else holds the lease.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the robot is held by {}{}", .held.holder, .held.running.as_ref().map(|runs| format!(", which runs {runs}")).unwrap_or_default())]
pub struct LeaseHeld {
    /// Who.
    pub held: LeaseState,
}

/// One holder at a time may move the robot. Owned by the process that owns the [`crate::Robot`] adapter. Stopping needs
/// no lease.
pub trait MotionLease: Send + Sync {
    /// Takes the lease, or renews it for its holder, and notes what runs. It lapses `keep` after the last call that
    /// renewed it.
    fn take(&self, holder: &str, running: Option<&str>, keep: Duration) -> Result<LeaseState, LeaseHeld>;
    /// Gives it back; nothing happens when somebody else holds it.
    fn release(&self, holder: &str);
    /// Who holds it.
    fn holder(&self) -> Option<LeaseState>;
}
