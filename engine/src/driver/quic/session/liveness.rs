//! A client's side of finding out whether its peer is there.

use super::Session;
use std::time::{Duration, Instant};
use trunkline_core::h3;

/// Three probe timeouts are many seconds where the path was slow lately, and the close of a client waits for
/// them. One that gives its socket back may stop sooner, because what comes later makes it send nothing
/// (RFC 9000 section 10.2).
pub(super) const CLOSING_TIME_MAX: Duration = Duration::from_secs(1);

impl Session {
    /// Client: how long an answer takes where it is slow: the smoothed round trip, and four times
    /// what samples exceed it by, as a probe timeout has (RFC 9002 section 6.2.1).
    pub(crate) fn slow_round_trip(&self) -> Duration {
        self.quic.rtt() + self.lateness.mean() * 4
    }
    /// Client: whether nothing is left to do on a connection that is closed: the peer has closed too, or had
    /// time to ask for our close again (RFC 9000 section 10.2).
    pub(crate) fn is_done(&self, now: Instant) -> bool {
        let had_time = self.closed_until.is_some_and(|until| until <= now);
        had_time || self.lost.is_some() || self.quic.is_drained()
    }
    /// Client: when it is.
    pub(crate) fn closed_until(&self) -> Option<Instant> {
        self.closed_until
    }
    /// Client: makes the peer acknowledge something.
    pub(crate) fn ask(&mut self, machine: &mut h3::Conn) {
        self.quic.ping();
        if self.moved {
            // A server that has not seen us prove our new address sends three times as much as it
            // got (RFC 9000 section 8.2), and starts with 1,200 bytes: a PING alone earns nothing.
            machine.pad();
        }
    }
    /// Client: goes on from another address, which the owner has seen to (RFC 9000 section 9.2).
    pub(crate) fn change_path(&mut self, machine: &mut h3::Conn) {
        self.moved = true;
        self.quic.local_address_changed();
        self.ask(machine);
    }
}
