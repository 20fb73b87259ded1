//! The socket of a client's path, and that of the path before it.

use super::{QuicSocket, ReceivedDatagram};
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

/// Receives from both, sends from the new one.
#[derive(Debug)]
pub(in super::super) struct PathSockets {
    current: QuicSocket,
    /// Until the peer answers on the new path: one that only stood still has queued what came over the
    /// old one, answers that first, and has to validate the new address before it sends much there (RFC 9000
    /// section 8.2).
    former: Option<QuicSocket>,
}

impl PathSockets {
    /// Must be called within a runtime.
    pub(in super::super) fn to(remote: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            current: socket_to(remote)?,
            former: None,
        })
    }
    /// The socket to send from.
    pub(in super::super) fn current(&self) -> &QuicSocket {
        &self.current
    }
    /// Goes on from another address.
    pub(in super::super) fn change(&mut self, remote: SocketAddr) -> io::Result<()> {
        let current = socket_to(remote)?;
        self.former = Some(std::mem::replace(&mut self.current, current));
        Ok(())
    }
    /// Receives a batch, as [`QuicSocket::poll_receive`] does.
    pub(in super::super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut dyn FnMut(ReceivedDatagram),
    ) -> Poll<io::Result<()>> {
        // Errors of the path that was left are of no account, but what comes behind them is.
        if let Some(former) = &mut self.former
            && former.poll_receive(cx, sink).is_ready()
        {
            return Poll::Ready(Ok(()));
        }
        self.with_current(sink, |current, sink| current.poll_receive(cx, sink))
    }
    /// Receives a batch, as [`QuicSocket::receive_unnotified`] does.
    pub(in super::super) fn receive_unnotified(
        &mut self,
        sink: &mut dyn FnMut(ReceivedDatagram),
    ) -> io::Result<bool> {
        if let Some(former) = &mut self.former
            && former.receive_unnotified(sink).unwrap_or(true)
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

/// A socket that sends to one peer, from whatever address leads there now.
fn socket_to(remote: SocketAddr) -> io::Result<QuicSocket> {
    let any: SocketAddr = match remote {
        SocketAddr::V4(_) => ([0; 4], 0).into(),
        SocketAddr::V6(_) => ([0; 16], 0).into(),
    };
    let socket = std::net::UdpSocket::bind(any)?;
    if cfg!(target_os = "linux") {
        // Only a connected socket receives ICMP errors. Other platforms cannot pass a destination
        // with each send on one.
        socket.connect(remote)?;
    }
    QuicSocket::new(socket)
}

#[cfg(test)]
#[path = "path_test.rs"]
mod path_test;
