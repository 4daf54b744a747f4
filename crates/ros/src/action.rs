mod client;
mod server;

pub use client::{ActionError, Client, Ended, Goal};
pub use server::{Finish, Work, serve};

/// How far a goal is, as `action_msgs/GoalStatus` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nobody knows.
    Unknown,
    /// The server will do it.
    Accepted,
    /// It does it.
    Executing,
    /// It is asked to stop.
    Canceling,
    /// It is done.
    Succeeded,
    /// It was stopped on request.
    Canceled,
    /// The server gave up.
    Aborted,
}

impl Status {
    const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Accepted,
        Self::Executing,
        Self::Canceling,
        Self::Succeeded,
        Self::Canceled,
        Self::Aborted,
    ];

    /// The number on the bus.
    pub const fn code(self) -> i8 {
        self as i8
    }

    /// From the number on the bus.
    pub fn of(code: i8) -> Self {
        Self::ALL.into_iter().find(|status| status.code() == code).unwrap_or(Self::Unknown)
    }

    /// Whether nothing follows.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Succeeded | Self::Canceled | Self::Aborted)
    }
}

/// The names of an action's services and topics.
struct Names {
    send_goal: String,
    get_result: String,
    cancel_goal: String,
    feedback: String,
    status: String,
}

impl Names {
    fn of(action: &str) -> Self {
        let name = |part| format!("/{}/_action/{part}", action.trim_matches('/'));
        Self {
            send_goal: name("send_goal"),
            get_result: name("get_result"),
            cancel_goal: name("cancel_goal"),
            feedback: name("feedback"),
            status: name("status"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
