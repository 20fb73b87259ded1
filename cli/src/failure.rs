//! Why a command ended early: one line for people, one exit code for scripts.

use std::fmt;
use std::process::ExitCode;

/// A failure, split by whose fault it was.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Flags, URLs, files or ports given to us: exit code 2.
    Usage(String),
    /// The network, the peer, or the server's answer: exit code 1.
    Remote(String),
}

impl Failure {
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::Usage(text.to_string())
    }
    pub(crate) fn remote(text: impl fmt::Display) -> Self {
        Self::Remote(text.to_string())
    }
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Remote(_) => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Remote(text) => f.write_str(text),
        }
    }
}
