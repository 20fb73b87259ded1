//! The socket of a client's path, and that of the path before it.

use super::socket::{QuicSocket, ReceivedDatagram};
use std::io;
use std::task::{Context, Poll};

/// Receives from both, sends from the new one.
#[derive(Debug)]
pub(super) struct PathSockets {
    current: QuicSocket,
    /// Until the peer answers on the new path: one that only stood still has queued what came over the
    /// old one, answers that first, and has to validate the new address before it sends much there (RFC 9000
    /// section 8.2).
    former: Option<QuicSocket>,
}

impl PathSockets {
    pub(super) fn new(current: QuicSocket) -> Self {
        Self {
            current,
            former: None,
        }
    }
    /// The socket to send from.
    pub(super) fn current(&self) -> &QuicSocket {
        &self.current
    }
    /// Goes on from another socket.
    pub(super) fn change(&mut self, current: QuicSocket) {
        self.former = Some(std::mem::replace(&mut self.current, current));
    }
    /// Receives a batch, as [`QuicSocket::poll_receive`] does.
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut dyn FnMut(ReceivedDatagram),
    ) -> Poll<io::Result<()>> {
        // Errors of the path that was left are of no account.
        if let Some(former) = &mut self.former
            && let Poll::Ready(Ok(())) = former.poll_receive(cx, sink)
        {
            return Poll::Ready(Ok(()));
        }
        self.with_current(sink, |current, sink| current.poll_receive(cx, sink))
    }
    /// Receives a batch, as [`QuicSocket::receive_unnotified`] does.
    pub(super) fn receive_unnotified(
        &mut self,
        sink: &mut dyn FnMut(ReceivedDatagram),
    ) -> io::Result<bool> {
        if let Some(former) = &mut self.former
            && former.receive_unnotified(sink).unwrap_or(false)
        {
            return Ok(true);
        }
        self.with_current(sink, |current, sink| current.receive_unnotified(sink))
    }
    fn with_current<T>(
        &mut self,
        sink: &mut dyn FnMut(ReceivedDatagram),
        receive: impl FnOnce(&mut QuicSocket, &mut dyn FnMut(ReceivedDatagram)) -> T,
    ) -> T {
        let mut is_answered = false;
        let received = receive(&mut self.current, &mut |datagram| {
            is_answered = true;
            sink(datagram);
        });
        if is_answered {
            self.former = None;
        }
        received
    }
}

#[cfg(test)]
#[path = "path_sockets_test.rs"]
mod path_sockets_test;
