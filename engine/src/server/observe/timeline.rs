//! The timeline of a request that failed or was slow, as its server saw it: when it was answered and every wait with its reason. The facts
//! are noted while it runs, where timelines are kept; the text is made at its end.

use crate::connection_info::ConnectionInfo;
use crate::error::timelines::Timelines;
use http::StatusCode;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::inspect::StreamWait;

/// Changes that a timeline has, the first ones: a response that stalls and goes on without end has no more.
const CHANGES_MAX: usize = 32;
/// Characters of a target in a timeline.
const TARGET_CHARACTERS_MAX: usize = 256;

/// Where the timelines of one server go.
#[derive(Clone, Debug)]
pub(in crate::server) struct TimelineKeeper {
    pub(in crate::server) kept: Arc<Timelines>,
    /// Requests that take as long have one.
    slow: Duration,
}

impl TimelineKeeper {
    /// `keeps`: from the start on, in place of the moment that they are asked for.
    pub(in crate::server) fn new(slow: Duration, keeps: bool) -> Self {
        let kept = Arc::<Timelines>::default();
        if keeps {
            kept.keep();
        }
        Self { kept, slow }
    }
    /// Whether requests that begin now have timelines.
    pub(in crate::server) fn is_on(&self) -> bool {
        self.kept.are_kept()
    }
    /// A request is over; `error`: it failed. The number of its timeline, if it has one.
    pub(in crate::server) fn note(
        &self,
        changes: &Changes,
        connection: &ConnectionInfo,
        end: &TimelineEnd<'_>,
    ) -> Option<u64> {
        let is_failed = end.error.is_some() || end.status.is_none_or(|it| it.is_server_error());
        if !is_failed && end.took < self.slow {
            return None;
        }
        let id = self.kept.push(|id| {
            let mut text = String::new();
            // Writing to a String cannot fail.
            let _ = changes.write(&mut text, id, connection, end, is_failed);
            text
        });
        Some(id)
    }
}

/// The facts of a request when it is over.
pub(in crate::server) struct TimelineEnd<'a> {
    pub(in crate::server) method: &'a str,
    pub(in crate::server) target: &'a str,
    pub(in crate::server) version: http::Version,
    pub(in crate::server) status: Option<StatusCode>,
    pub(in crate::server) body_bytes: u64,
    pub(in crate::server) took: Duration,
    pub(in crate::server) error: Option<&'a crate::Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Answered(StatusCode),
    Waits(StreamWait),
}

/// The changes of a request so far.
#[derive(Debug, Default)]
pub(in crate::server) struct Changes {
    all: Vec<(Duration, Change)>,
    /// Changes that found no room.
    more: u64,
}

impl Changes {
    /// The head of its response was given, `after` its beginning.
    pub(in crate::server) fn answered(&mut self, after: Duration, status: StatusCode) {
        self.add(after, Change::Answered(status));
    }
    /// Notes why the request does not go on.
    pub(in crate::server) fn waits(&mut self, after: Duration, wait: StreamWait) {
        self.add(after, Change::Waits(wait));
    }
    fn add(&mut self, after: Duration, change: Change) {
        if self.all.last().is_some_and(|(_, last)| *last == change) {
            return;
        }
        match self.all.len() < CHANGES_MAX {
            true => self.all.push((after, change)),
            false => self.more += 1,
        }
    }
    fn write(
        &self,
        text: &mut String,
        id: u64,
        connection: &ConnectionInfo,
        end: &TimelineEnd<'_>,
        is_failed: bool,
    ) -> fmt::Result {
        let target: String = end.target.chars().take(TARGET_CHARACTERS_MAX).collect();
        let (method, version, took) = (end.method, end.version, end.took.as_secs_f64());
        let how = if is_failed { "failed after" } else { "took" };
        write!(text, "{method} {target} over {version:?}")?;
        if let Some(peer) = connection.peer_addr() {
            write!(text, " from {peer}")?;
        }
        write!(text, " {how} {took:.3} s")?;
        match (end.error, end.status) {
            (Some(error), _) => write!(text, ": {error}")?,
            (None, Some(status)) => write!(text, ": it was answered with {}", status.as_u16())?,
            (None, None) => write!(text, ": it had no answer")?,
        }
        writeln!(text, " (timeline {id})")?;
        line(text, Duration::ZERO, "the head of the request came")?;
        for (after, change) in &self.all {
            match change {
                Change::Answered(status) => {
                    line(text, *after, &format!("answered with {}", status.as_u16()))?;
                }
                Change::Waits(wait) => line(text, *after, &format!("waits: {}", wait.text()))?,
            }
        }
        if self.more > 0 {
            writeln!(text, "              {} further changes", self.more)?;
        }
        let bytes = end.body_bytes;
        let ended = format!("ends: {bytes} bytes of the response's body had been handed on");
        line(text, end.took, &ended)
    }
}

fn line(text: &mut String, at: Duration, what: &str) -> fmt::Result {
    writeln!(text, "{:>8.3} s  {what}", at.as_secs_f64())
}

/// The time since `began`.
pub(in crate::server) fn since(began: Instant, now: Instant) -> Duration {
    now.saturating_duration_since(began)
}
