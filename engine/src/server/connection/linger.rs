//! The wait for the end of the peer, behind our own (RFC 9112 section 9.6): a socket that is closed while its peer still sends
//! is reset, and the peer may lose an answer that it has not read.

use std::time::{Duration, Instant};

/// How long a closed connection waits for the peer to close too: long enough for our last words
/// to arrive, short enough to hold nothing.
pub(super) const LINGER: Duration = Duration::from_secs(2);
/// As `LINGER`, while the server drains.
const LINGER_DRAINING: Duration = Duration::from_millis(250);
/// The longest wait for a client of HTTP/1.1 that goes on with the body of a request which has its answer, as programs do
/// that read an answer behind the last byte of their request. Apache httpd and nginx have the same bound.
pub(super) const LINGER_UPLOAD_MAX: Duration = Duration::from_secs(30);

/// How long the peer's end is waited for.
#[derive(Debug)]
pub(super) struct Linger {
    until: Instant,
    /// The peer has sent bytes since the last look.
    pub(super) came: bool,
    is_draining: bool,
}

impl Linger {
    /// A wait from `now` on. The first look at it is due behind [`first`](Self::first).
    pub(super) fn new(now: Instant, is_draining: bool) -> Self {
        Self {
            until: now + LINGER_UPLOAD_MAX,
            came: false,
            is_draining,
        }
    }
    /// The time to the first look.
    pub(super) fn first(&self) -> Duration {
        match self.is_draining {
            true => LINGER_DRAINING,
            false => LINGER,
        }
    }
    /// The server drains. The time to the next look, if it is another one now.
    pub(super) fn drain(&mut self) -> Option<Duration> {
        let was_draining = std::mem::replace(&mut self.is_draining, true);
        (!was_draining).then_some(LINGER_DRAINING)
    }
    /// A look that is due: the time to the next one, or `None` at the end. `is_upload`: bytes that come are a body, and
    /// connections are not scarce.
    pub(super) fn look(&mut self, now: Instant, is_upload: bool) -> Option<Duration> {
        let goes_on = std::mem::take(&mut self.came) && is_upload && !self.is_draining;
        let left = self.until.saturating_duration_since(now);
        (goes_on && !left.is_zero()).then(|| left.min(LINGER))
    }
}

#[cfg(test)]
#[path = "linger_test.rs"]
mod linger_test;
