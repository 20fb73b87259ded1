//! Reads from the transport for the machine.

use super::{ConnectionIo, IoKind};
use crate::driver::machine::Machine;
use crate::driver::machine::qlog::FrameLog;
use crate::driver::read_buffer::with_read_buffer;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::TransportEnd;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionIo<S> {
    /// Reads once and hands the bytes to the machine. `Ready(true)`: the machine got something
    /// (bytes, end of file or an error) and there may be more to read; `Ready(false)`: reading is
    /// over or unwanted now.
    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<bool> {
        if let IoKind::Quic(quic) = &mut self.carrier {
            let read = quic.poll_read(cx, now, &mut self.machine);
            if quic.take_received() {
                self.read_at = Some(now);
                self.holds = true;
            }
            return read;
        }
        self.poll_bytes(cx, now, &mut |machine, log, bytes| {
            if let Some(log) = log {
                log.received(now, bytes);
            }
            machine.handle_bytes(now, bytes)
        })
    }
    /// Whether the owner reads on behind a turn in which `read` came back: there may be more, or the machine wants bytes again that
    /// it did not want then, for which no read waits, so that nothing would wake the owner.
    pub(crate) fn reads_on(&self, read: Poll<bool>) -> bool {
        match read {
            Poll::Ready(true) => true,
            Poll::Ready(false) => {
                let has_bytes = matches!(self.carrier, IoKind::Bytes(_)) && !self.read_closed;
                has_bytes && self.machine.wants_read()
            }
            Poll::Pending => false,
        }
    }
    /// Reads what has come over QUIC, even where the runtime has not been notified of it yet. True: the peer
    /// has sent something.
    pub(crate) fn read_unnotified(&mut self, now: Instant) -> bool {
        let IoKind::Quic(quic) = &mut self.carrier else {
            return false;
        };
        quic.read_unnotified(now, &mut self.machine);
        let received = quic.take_received();
        if received {
            self.read_at = Some(now);
            self.holds = true;
        }
        received
    }
    /// Reads once and gives the bytes back, for the machine to handle later; empty: none came. The end of
    /// the transport goes to the machine at once. Not over QUIC.
    pub(crate) fn read_ahead(&mut self, cx: &mut Context<'_>, now: Instant) -> Vec<u8> {
        let mut ahead = Vec::new();
        // A pending read has its waker; an end is with the machine.
        let _ = self.poll_bytes(cx, now, &mut |_, _, bytes| ahead.extend_from_slice(bytes));
        ahead
    }
    fn poll_bytes(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        sink: &mut impl FnMut(&mut Machine, Option<&mut FrameLog>, &[u8]),
    ) -> Poll<bool> {
        let IoKind::Bytes(transport) = &mut self.carrier else {
            return Poll::Ready(false);
        };
        if self.read_closed || !self.machine.wants_read() {
            return Poll::Ready(false);
        }
        let (machine, log) = (&mut self.machine, &mut self.log);
        let read = with_read_buffer(|buffer| {
            transport.poll_read(cx, buffer, &mut |bytes| {
                sink(machine, log.as_deref_mut(), bytes);
            })
        });
        let end = match read {
            Poll::Ready(Ok(None)) => {
                self.read_at = Some(now);
                self.holds = true;
                return Poll::Ready(true);
            }
            // A socket whose write failed reads end of file where it had a reset; close_notify it
            // cannot make up.
            Poll::Ready(Ok(Some(_))) if self.broken && !transport.has_close_notify() => {
                TransportEnd::Failed
            }
            Poll::Ready(Ok(Some(end))) => end,
            Poll::Ready(Err(error)) => {
                self.broken |= !transport.has_alert();
                self.failure.get_or_insert_with(|| Arc::new(error));
                TransportEnd::Failed
            }
            Poll::Pending => return Poll::Pending,
        };
        self.end_reading(now, end);
        Poll::Ready(true)
    }
    pub(super) fn end_reading(&mut self, now: Instant, end: TransportEnd) {
        self.read_closed = true;
        self.blocked_since = None;
        self.machine.handle_close(now, end);
        self.read_at = Some(now);
    }
}
