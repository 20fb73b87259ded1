//! Sends the datagrams of many connections together: on Linux, datagrams that differ only in their
//! destination take one system call (sendmmsg). quinn-udp batches per connection only, so a server
//! of many clients with one small request each would make one call per response.

#[cfg(target_os = "linux")]
mod many;

use super::QuicSocket;
#[cfg(target_os = "linux")]
use many::Many;
use quinn_proto::Transmit;
use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};

/// Transmits that wait before the socket is asked to take them. Each may have as many segments as
/// [`QuicSocket::segments_max`] says.
pub(super) const TRANSMITS_MAX: usize = 32;

/// Bytes of memory that are kept for the next transmits: a worker's batch would hold 4 MB for as long
/// as it lives after one burst of large responses. Thousands of small transmits fit, or eight large ones.
const SPARE_BYTES_MAX: usize = 512 * 1024;

/// Datagrams that wait for the socket, in order.
#[derive(Default)]
pub(crate) struct Batch {
    waiting: VecDeque<Packet>,
    /// Memory of packets that left.
    spare: Vec<Vec<u8>>,
    /// The sum of their capacities.
    spare_bytes: usize,
    #[cfg(target_os = "linux")]
    many: Many,
}

/// One transmit and its bytes.
pub(in crate::driver::quic) struct Packet {
    pub(in crate::driver::quic) transmit: Transmit,
    pub(super) contents: Vec<u8>,
}

impl Batch {
    /// The socket is to be asked before more is gathered.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() >= TRANSMITS_MAX
    }
    /// Lets `write` write one transmit; false when it had none.
    pub(crate) fn gather(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Option<Transmit>) -> bool {
        let mut contents = self.spare.pop().unwrap_or_default();
        self.spare_bytes -= contents.capacity();
        let transmit = write(&mut contents);
        let any = transmit.is_some();
        match transmit {
            Some(transmit) => self.waiting.push_back(Packet { transmit, contents }),
            None => self.recycle(contents),
        }
        any
    }
    /// Sends what waits. `Pending`: the socket is full and wakes the task when it is not. What
    /// cannot be sent is lost, as packets are.
    pub(crate) fn poll_send(&mut self, cx: &mut Context<'_>, socket: &QuicSocket) -> Poll<()> {
        while !self.waiting.is_empty() {
            let sent = ready!(socket.poll_send_ready(cx)).and_then(|()| self.send(socket));
            let sent = match sent {
                Ok(sent) => sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                // The error belongs to the first one, or to an earlier send.
                Err(_) => 1,
            };
            for _ in 0..sent {
                if let Some(packet) = self.waiting.pop_front() {
                    self.recycle(packet.contents);
                }
            }
        }
        Poll::Ready(())
    }
    /// How many it took from the front.
    fn send(&mut self, socket: &QuicSocket) -> io::Result<usize> {
        #[cfg(target_os = "linux")]
        if let Some(sent) = self.many.send(socket, &self.waiting) {
            return sent;
        }
        match self.waiting.front() {
            Some(packet) => socket
                .try_send(&packet.transmit, &packet.contents)
                .map(|()| 1),
            None => Ok(0),
        }
    }
    fn recycle(&mut self, mut contents: Vec<u8>) {
        let bytes = self.spare_bytes + contents.capacity();
        if self.spare.len() < TRANSMITS_MAX && bytes <= SPARE_BYTES_MAX {
            self.spare_bytes = bytes;
            contents.clear();
            self.spare.push(contents);
        }
    }
}

#[cfg(test)]
#[path = "batch_test.rs"]
mod batch_test;
