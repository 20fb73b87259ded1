//! The failure of a command: one line for people, one exit code for scripts.

use std::fmt;
use std::io;
use std::process::ExitCode;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Writes a line to standard error, if that is open: what is said there is beside the work, which goes on.
macro_rules! report {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(crate::failure::Diagnostics, $($text)*);
    }};
}
pub(crate) use report;

/// The writer of diagnostics in place of standard error (--stderr).
static DIVERTED: OnceLock<Mutex<Box<dyn io::Write + Send>>> = OnceLock::new();

/// Standard error, or the writer in place of it.
pub(crate) struct Diagnostics;

impl Diagnostics {
    /// Writes to `writer` in place of standard error from now on; a second call changes nothing.
    pub(crate) fn divert(writer: impl io::Write + Send + 'static) {
        let _ = DIVERTED.set(Mutex::new(Box::new(writer)));
    }
}

impl io::Write for Diagnostics {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match DIVERTED.get() {
            Some(writer) => writer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .write(bytes),
            None => io::stderr().write(bytes),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        match DIVERTED.get() {
            Some(writer) => writer
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .flush(),
            None => io::stderr().flush(),
        }
    }
}

/// A failure: what is said of it, if anything, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// `None`: its reader is gone, or wants none.
    text: Option<String>,
    code: u8,
}

/// Flags, files or ports given to us; also curl's code of a command line that it cannot read.
const USAGE: u8 = 2;
/// The network, the peer, or the server's answer, where a command has no finer codes; a checked file that cannot be used.
const FAILED: u8 = 1;
/// The output could not be written, as curl's.
const UNWRITTEN: u8 = 23;
/// The reader of our output has closed it, as `head` does: what a shell sees of `cat` (128 and the number of
/// SIGPIPE).
const CLOSED: u8 = 141;

impl Failure {
    /// A failure with a code of its own.
    pub(crate) fn new(code: u8, text: impl fmt::Display) -> Self {
        Self {
            text: Some(text.to_string()),
            code,
        }
    }
    /// Flags, URLs, files or ports given to us are wrong.
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self::new(USAGE, text)
    }
    /// The network, the peer, or the server's answer failed it.
    pub(crate) fn remote(text: impl fmt::Display) -> Self {
        Self::new(FAILED, text)
    }
    /// There is no place to write to.
    pub(crate) fn unwritten(text: impl fmt::Display) -> Self {
        Self::new(UNWRITTEN, text)
    }
    /// `place` cannot be written. Nothing is said to a reader that has closed it.
    pub(crate) fn output(place: impl fmt::Display, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self {
                text: None,
                code: CLOSED,
            },
            _ => Self::new(
                UNWRITTEN,
                format_args!("{place} cannot be written: {error}"),
            ),
        }
    }
    /// A failure that was looked for: the answer of a check.
    pub(crate) fn unusable(mut self) -> Self {
        if self.code == USAGE {
            self.code = FAILED;
        }
        self
    }
    /// The failure with what is said of wrong flags in other words.
    pub(crate) fn map_usage(mut self, words: impl FnOnce(String) -> String) -> Self {
        if self.code == USAGE {
            self.text = self.text.map(words);
        }
        self
    }
    /// With another code.
    pub(crate) fn with_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }
    /// This failure without its line.
    pub(crate) fn silenced(mut self) -> Self {
        self.text = None;
        self
    }
    /// Writes the line of a failure.
    pub(crate) fn report(&self) {
        if let Some(text) = &self.text {
            report!("trunkline: {text}");
        }
    }
    pub(crate) fn code(&self) -> u8 {
        self.code
    }
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_deref().unwrap_or("the output was closed"))
    }
}
