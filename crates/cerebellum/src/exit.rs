use std::fmt;
use std::io::Write;
use std::process::ExitCode;

use crate::config::ConfigFaults;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Ok,
    /// It worked, and the outcome is a no.
    Failed,
    /// Bad usage or configuration: starting again without a change is useless (`EX_USAGE`).
    Usage,
    /// Nobody answers at the other end (`EX_UNAVAILABLE`).
    Unavailable,
    /// A fault of the program itself (`EX_SOFTWARE`).
    Software,
}

impl Exit {
    /// The number the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 64,
            Self::Unavailable => 69,
            Self::Software => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why the program ends, in words for a person, and how.
#[derive(Debug)]
pub struct Failure {
    /// How it ends.
    pub exit: Exit,
    /// What is wrong and what to do; may have several lines.
    pub message: String,
}

impl Failure {
    /// A failure in these words.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into() }
    }

    /// Bad usage or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The outcome is a no.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Says it on stderr and answers the exit code.
    pub fn report(&self) -> ExitCode {
        // When stderr itself is gone there is nobody left to tell.
        drop(writeln!(std::io::stderr().lock(), "cerebellum: {self}"));
        self.exit.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<ConfigFaults> for Failure {
    fn from(faults: ConfigFaults) -> Self {
        let count = match faults.0.len() {
            1 => "the configuration has a fault".to_owned(),
            count => format!("the configuration has {count} faults"),
        };
        Self::usage(format!("{count}, nothing was started:\n{faults}"))
    }
}
