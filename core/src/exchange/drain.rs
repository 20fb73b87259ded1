//! An orderly end of a connection by GOAWAY, ours and the peer's (RFC 9113 section 6.8, RFC 9114
//! section 5.2). A GOAWAY names the first exchange that its sender does not process.
//!
//! Invariants: neither side takes back what it has given up; a connection that drains takes no new
//! exchange.

use crate::error::{Closed, H2Code, Violation};
use crate::http::Side;

#[cfg(test)]
#[path = "drain_test.rs"]
mod drain_test;

/// How far our own drain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OurDrain {
    /// New exchanges are welcome.
    No,
    /// Server: the user has sent GOAWAY, and the connection goes on; streams from `first` on are
    /// ignored.
    Warned,
    /// Server: the first GOAWAY is out; requests that crossed it are served.
    Announced,
    /// Streams from `first` on are ignored, and earlier ones may come.
    Final,
    /// Streams from `first` on are ignored, and the earlier ones have come.
    Settled,
}

/// The next action of a drain that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrainStep {
    /// Client: GOAWAY, which is final: a server opens no streams.
    Stop,
    /// Server: GOAWAY with the highest id, and the second when the peer has received it.
    Announce,
    /// Server: the final GOAWAY now; the user has announced it.
    Conclude,
}

/// The drain of a connection, from both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drain {
    /// The first exchange that we do not process, where `ours` says so.
    first: u64,
    /// The first exchange that the peer does not process; [`ALL`]: it processes each.
    peer_first: u64,
    /// The code of the peer's last GOAWAY.
    peer_code: H2Code,
    ours: OurDrain,
}

/// Above every stream: ids have at most 62 bits.
const ALL: u64 = u64::MAX;

impl Drain {
    pub(super) fn new() -> Self {
        Self {
            first: ALL,
            peer_first: ALL,
            peer_code: H2Code::NO_ERROR,
            ours: OurDrain::No,
        }
    }

    // Ours.

    /// Begins our drain; `None`: it has begun before.
    pub(crate) fn begin(&mut self, side: Side) -> Option<DrainStep> {
        match (self.ours, side) {
            (OurDrain::No, Side::Client) => {
                self.first = 0;
                self.ours = OurDrain::Settled;
                Some(DrainStep::Stop)
            }
            (OurDrain::No, Side::Server) => {
                self.ours = OurDrain::Announced;
                Some(DrainStep::Announce)
            }
            (OurDrain::Warned, _) => Some(DrainStep::Conclude),
            (OurDrain::Announced | OurDrain::Final | OurDrain::Settled, _) => None,
        }
    }
    /// Server: the user sends GOAWAY in its own words, which gives up the streams from `first` on.
    /// The first one to name: never above one that was named before.
    pub(crate) fn warn(&mut self, first: u64) -> u64 {
        let first = first.min(self.first);
        if matches!(self.ours, OurDrain::No | OurDrain::Warned) {
            self.first = first;
            self.ours = OurDrain::Warned;
        }
        first
    }
    /// Server: the final GOAWAY goes out; `next` is the first stream that has not come. The stream
    /// to name.
    pub(crate) fn conclude(&mut self, next: u64) -> u64 {
        self.first = next.min(self.first);
        self.ours = OurDrain::Final;
        self.first
    }
    /// The streams before the final GOAWAY have come. False: they had before.
    pub(crate) fn settle(&mut self) -> bool {
        let is_news = self.ours == OurDrain::Final;
        if is_news {
            self.ours = OurDrain::Settled;
        }
        is_news
    }
    /// Whether a stream that the peer opens now is ignored: it knows that it may send it again.
    #[inline]
    pub(crate) fn ignores(&self, id: u64) -> bool {
        id >= self.first
    }
    /// Whether the first of a server's two GOAWAYs is out, and the second is not.
    pub(crate) fn is_announced(&self) -> bool {
        self.ours == OurDrain::Announced
    }
    pub(crate) fn is_final(&self) -> bool {
        matches!(self.ours, OurDrain::Final | OurDrain::Settled)
    }

    // The peer's.

    /// The peer's GOAWAY. True: it is its first.
    ///
    /// # Errors
    /// [`Violation::GoawayIdIncreased`]: the peer takes back what it has given up.
    pub(crate) fn take_goaway(&mut self, first: u64, code: H2Code) -> Result<bool, Violation> {
        if first > self.peer_first {
            return Err(Violation::GoawayIdIncreased);
        }
        let is_first = !self.has_peer_goaway();
        (self.peer_first, self.peer_code) = (first, code);
        Ok(is_first)
    }
    fn has_peer_goaway(&self) -> bool {
        self.peer_first != ALL
    }
    /// Whether the peer never processes our exchange `id`, so that it may be sent again (RFC 9113
    /// section 8.7).
    pub(crate) fn is_unprocessed(&self, id: u64, side: Side) -> bool {
        side == Side::Client && id >= self.peer_first
    }
    /// The code of the peer's last GOAWAY.
    pub(crate) fn peer_code(&self) -> Option<H2Code> {
        self.has_peer_goaway().then_some(self.peer_code)
    }

    // Both.

    /// Whether a client may still start exchanges.
    #[inline]
    pub(crate) fn takes_exchanges(&self) -> bool {
        self.ours == OurDrain::No && !self.has_peer_goaway()
    }
    /// Server: whether the client has left and our own drain has not begun. Its requests that are open are served, and
    /// so are those that it still sends before the last of them ends.
    pub(crate) fn is_left(&self, side: Side) -> bool {
        let goes_on = matches!(self.ours, OurDrain::No | OurDrain::Warned);
        side == Side::Server && goes_on && self.has_peer_goaway()
    }
    /// The end of a connection without open exchanges, if it is to end.
    pub(crate) fn end(&self, side: Side) -> Option<Closed> {
        match (self.ours, side) {
            (OurDrain::Settled, _) => Some(Closed::Drained),
            (OurDrain::No, Side::Client) => self.peer_code().map(Closed::ByPeer),
            _ => None,
        }
    }
}
