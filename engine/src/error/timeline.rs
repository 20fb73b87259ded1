//! The timeline of a failed request: its connections, its waits with their reasons, and their times, as text. The facts are
//! noted where a request fails; the text is made when it is read.

use super::{Error, ErrorKind, Fault, Retry};
use std::error::Error as _;
use std::fmt::{self, Write as _};
use std::time::Duration;
use trunkline_core::http::Version;
use trunkline_core::inspect::StreamWait;
use trunkline_core::pool::WaitReason;

/// One time that a request was on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempted {
    /// The connection's number; no other connection of the client ever has it.
    pub connection: u64,
    /// How it ended there.
    pub ended: ErrorKind,
    /// Bytes that the connection had read by then, as of [`Traffic`](crate::Traffic); 0 over QUIC.
    pub bytes_read: u64,
    /// Bytes that the connection had written by then; 0 over QUIC.
    pub bytes_written: u64,
    /// The connection's version; `None`: it ended before the request could start there.
    pub version: Option<Version>,
    /// Why the request waited before it started there; `None`: it did not wait.
    pub waited_for: Option<WaitReason>,
    /// When it started there, from its submission on; `None`: it did not.
    pub started_after: Option<Duration>,
    /// When it ended there, from its submission on.
    pub ended_after: Duration,
    /// How far the exchange had come there.
    pub progress: Progress,
    /// When a byte of it last moved there, from its submission on, as far as its deadlines know: bytes that wait
    /// for the program, to send or to read, count as moving.
    pub moved_after: Duration,
    /// Why it did not move when its deadline passed; `None`: no deadline of its own ended it.
    pub held_by: Option<StreamWait>,
}

/// How far an exchange had come when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// The request had not started.
    Unsent,
    /// A part of the request's body was still to be sent, and no response had come.
    Sending,
    /// The request was sent, and no response had come.
    AwaitingResponse,
    /// The response's head had come, its body not all.
    ReceivingBody,
    /// The response was whole, and the request's body not all sent.
    Answered,
}

impl Progress {
    fn text(self) -> &'static str {
        match self {
            Self::Unsent => "the request had not started",
            Self::Sending => {
                "a part of the request's body was still to be sent, and no response had come"
            }
            Self::AwaitingResponse => "the request was sent, and no response had come",
            Self::ReceivingBody => "the response's head had come, its body not all",
            Self::Answered => "the response was whole, and the request's body not all sent",
        }
    }
}

/// Facts of a failed request beside its attempts.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The method and the origin. Not the path, which may hold a secret.
    pub(crate) target: String,
    /// From the submission to the failure.
    pub(crate) took: Duration,
}

impl Error {
    /// Client: the timeline of the request that failed, as lines for people: its method and origin, every wait with
    /// its reason, every connection that it was on with its version, its times from the submission on, how it
    /// ended there, and whether the request may be sent again. The text is made by this call, and has neither
    /// the path nor a field of the request, which may be secret. Its form is not stable: programs read
    /// [`attempts`](Self::attempts).
    ///
    /// ```text
    /// GET https://example.org failed after 5.134 s: no response came within the headers timeout
    ///    0.000 s  waits: a connection is being opened
    ///    0.031 s  starts on connection 1, HTTP/2
    ///    0.034 s  last moved: the request was sent, and no response had come
    ///    5.134 s  ends there: a deadline passed; the connection had read 61 bytes and written 158
    /// It may be sent again if sending it twice does no harm. At fault: the peer.
    /// ```
    pub fn timeline(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_timeline(&mut text);
        text
    }

    fn write_timeline(&self, text: &mut String) -> fmt::Result {
        match &self.history {
            Some(history) => {
                let (target, took) = (&history.target, Seconds(history.took));
                writeln!(text, "{target} failed after {took} s: {self}")?;
            }
            None => writeln!(text, "It failed: {self}")?,
        }
        let mut cause = self.source();
        while let Some(why) = cause {
            writeln!(text, "   because: {why}")?;
            cause = why.source();
        }
        let mut since = Duration::ZERO;
        for attempt in &self.attempts {
            attempt.write_timeline(since, text)?;
            since = attempt.ended_after;
        }
        if let Some(reason) = self.wait_reason {
            line(text, since, format_args!("waits: {}", reason.text()))?;
        }
        if let Some(history) = self.history.as_ref().filter(|_| self.attempts.is_empty()) {
            let been = format_args!("ends: it was on no connection");
            line(text, history.took, been)?;
        }
        let again = match self.retry {
            Retry::Safe => "It may be sent again: no peer has processed it.",
            Retry::OnlyIfIdempotent => "It may be sent again if sending it twice does no harm.",
            Retry::Never => "Sent again it would fail again.",
        };
        let fault = match self.fault {
            Fault::Us => "this program or its client",
            Fault::Peer => "the peer",
            Fault::Network => "the network in between",
            Fault::Config => "a setting",
        };
        writeln!(text, "{again} At fault: {fault}.")
    }
}

impl Attempted {
    /// Writes its lines; before it the request was free from `since` on.
    fn write_timeline(&self, since: Duration, text: &mut String) -> fmt::Result {
        if let Some(reason) = self.waited_for {
            line(text, since, format_args!("waits: {}", reason.text()))?;
        }
        let number = self.connection;
        if let Some(after) = self.started_after {
            let version = self.version.map_or("HTTP", Version::text);
            let started = format_args!("starts on connection {number}, {version}");
            line(text, after, started)?;
            let moved = format_args!("last moved: {}", self.progress.text());
            line(text, self.moved_after, moved)?;
            if let Some(wait) = self.held_by {
                line(
                    text,
                    self.ended_after,
                    format_args!("still waits: {}", wait.text()),
                )?;
            }
        }
        let (read, written) = (self.bytes_read, self.bytes_written);
        let ended = ErrorText(self.ended);
        let place = match self.started_after {
            Some(_) => "ends there".to_owned(),
            None => format!("connection {number} ends before it started there"),
        };
        match (read, written) {
            (0, 0) => line(text, self.ended_after, format_args!("{place}: {ended}")),
            _ => line(
                text,
                self.ended_after,
                format_args!(
                    "{place}: {ended}; the connection had read {read} bytes and written {written}"
                ),
            ),
        }
    }
}

fn line(text: &mut String, at: Duration, what: fmt::Arguments<'_>) -> fmt::Result {
    writeln!(text, "{:>8} s  {what}", Seconds(at).to_string())
}

/// A time in seconds, to the millisecond.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0.as_secs_f64())
    }
}

/// A kind of failure in words.
pub(super) struct ErrorText(pub(super) ErrorKind);

impl fmt::Display for ErrorText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ErrorKind::Config => f.write_str("a setting cannot be used"),
            ErrorKind::Resolve => f.write_str("the name could not be resolved"),
            ErrorKind::Connect => f.write_str("the connection could not be opened"),
            ErrorKind::Proxy => f.write_str("the proxy refused"),
            ErrorKind::Tls => f.write_str("TLS failed"),
            ErrorKind::Message(misuse) => misuse.fmt(f),
            ErrorKind::Violation(violation) => write!(f, "the peer broke a rule: {violation}"),
            ErrorKind::StreamReset(code) => {
                write!(f, "the peer reset the stream with code {:#x}", code.0)
            }
            ErrorKind::ConnectionClosed(code) => {
                write!(f, "the peer closed the connection with code {:#x}", code.0)
            }
            ErrorKind::TransportClosed => f.write_str("the transport closed"),
            ErrorKind::Timeout => f.write_str("a deadline passed"),
            ErrorKind::Refused => f.write_str("refused: no room to wait"),
            ErrorKind::Cancelled => f.write_str("cancelled by our side"),
            ErrorKind::Body => f.write_str("the body given to send failed"),
            ErrorKind::Redirect => f.write_str("the redirect is not followed"),
            ErrorKind::Status(status) => write!(f, "the response has the status {status}"),
        }
    }
}

#[cfg(test)]
#[path = "timeline_test.rs"]
mod timeline_test;
