//! Closes the transport of a connection that is done.

use super::{ConnectionIo, IoKind};
use crate::driver::transport::drain::Drain;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::limits::Timeouts;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionIo<S> {
    /// Closes the transport in order (close_notify, then the socket's write side). A peer that takes nothing of what stands in
    /// front of that end is given up after the time in which it must take some of a response.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        if self.broken {
            return Poll::Ready(());
        }
        let IoKind::Bytes(transport) = &mut self.carrier else {
            return Poll::Ready(());
        };
        if transport.poll_shutdown(cx).is_ready() {
            return Poll::Ready(());
        }
        let Some(limit) = self.closing_stall() else {
            return Poll::Pending;
        };
        self.blocked_since.get_or_insert(now);
        self.note_blocked(now);
        self.look_at_socket(now);
        let due = self.blocked_since.unwrap_or(now) + limit;
        if due <= now {
            self.give_up();
            return Poll::Ready(());
        }
        let look_at = self.drain.as_deref().and_then(Drain::next_deadline);
        self.arm(cx, look_at.map_or(due, |at| at.min(due)));
        Poll::Pending
    }
    fn closing_stall(&self) -> Option<Duration> {
        match &self.config {
            Some(_) => self.write_stall(),
            // A client that is done owes its server nothing more.
            None => Timeouts::default().scarce_stall,
        }
    }
}
