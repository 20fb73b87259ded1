//! The failure of a command: one line for people, one exit code for scripts.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// Writes a line to standard error, if that is open: what is said there is beside the work, which goes on.
macro_rules! report {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
pub(crate) use report;

/// A failure, split by whose fault it was.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Flags, URLs, files or ports given to us: exit code 2.
    Usage(String),
    /// A checked file cannot be used: exit code 1.
    Unusable(String),
    /// The network, the peer, or the server's answer: exit code 1.
    Remote(String),
    /// The response could not be written: exit code 23, as curl's.
    Output(String),
    /// The reader of our output has closed it, as `head` does: nothing is said, exit code 141, which
    /// is what a shell sees of `cat` (128 and the number of SIGPIPE).
    Closed,
    /// Any of these, with `--silent`: its exit code alone.
    Silent(Box<Failure>),
}

impl Failure {
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::Usage(text.to_string())
    }
    /// A failure that was looked for: the answer of a check.
    pub(crate) fn unusable(self) -> Self {
        match self {
            Self::Usage(text) => Self::Unusable(text),
            other => other,
        }
    }
    pub(crate) fn remote(text: impl fmt::Display) -> Self {
        Self::Remote(text.to_string())
    }
    /// `place` cannot be written.
    pub(crate) fn output(place: impl fmt::Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Output(format!("{place} cannot be written: {error}")),
        }
    }
    /// Writes the line of a failure after which the command goes on.
    pub(crate) fn report(&self, is_silent: bool) {
        if let Some(text) = self.text().filter(|_| !is_silent) {
            report!("trunkline: {text}");
        }
    }
    /// This failure without its line.
    pub(crate) fn silenced(self) -> Self {
        Self::Silent(Box::new(self))
    }
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Unusable(_) | Self::Remote(_) => ExitCode::from(1),
            Self::Usage(_) => ExitCode::from(2),
            Self::Output(_) => ExitCode::from(23),
            Self::Closed => ExitCode::from(141),
            Self::Silent(failure) => failure.exit_code(),
        }
    }
    /// The line for people; `None`: its reader is gone, or wants none.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Usage(text) | Self::Unusable(text) | Self::Remote(text) | Self::Output(text) => {
                Some(text)
            }
            Self::Closed | Self::Silent(_) => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text().unwrap_or("the output was closed"))
    }
}
