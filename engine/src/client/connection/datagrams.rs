//! HTTP datagrams of the connection's exchanges. Only an extended CONNECT over HTTP/3 has them.

use super::ConnectionTask;
use crate::tunnel::datagrams::{DatagramInlet, Datagrams};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::h3;
use trunkline_core::http::{RequestHead, StreamId};

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// Both sides of a new exchange's datagrams, if it may have any.
    pub(super) fn open_datagrams(
        &mut self,
        head: &RequestHead,
        stream: StreamId,
    ) -> Option<(DatagramInlet, Option<Datagrams>)> {
        let size_max = self.io.datagram_size();
        if size_max.is_none() || head.protocol().is_none() {
            return None;
        }
        self.datagram_size = size_max;
        let (inlet, datagrams) = DatagramInlet::new(&self.handle.signals, stream, size_max);
        Some((inlet, Some(datagrams)))
    }

    /// The datagram handle that a response of this status gives to its user.
    pub(super) fn datagrams_of_answer(&mut self, slot: u32, status: u16) -> Option<Datagrams> {
        let entry = self.slots.get_mut(slot)?;
        let (_, datagrams) = entry.datagrams.as_mut()?;
        datagrams.take().filter(|_| (200..300).contains(&status))
    }

    /// Hands over what came, and says how much a packet holds now.
    pub(super) fn hand_over_datagrams(&mut self) {
        if !self.settings.config.datagrams {
            return;
        }
        let size_max = self.io.datagram_size();
        if self.datagram_size != size_max {
            self.datagram_size = size_max;
            for slot in 0..self.slots.slots() {
                if let Some((inlet, _)) = self.datagrams_in(slot) {
                    inlet.resize(size_max);
                }
            }
        }
        while let Some((stream, datagram)) = self.io.machine.h3().and_then(h3::Conn::poll_datagram)
        {
            let slot = self.slots.of_stream(stream);
            if let Some((inlet, _)) = slot.and_then(|slot| self.datagrams_in(slot)) {
                inlet.push(datagram);
            }
        }
    }

    /// The user of `stream` has datagrams to send.
    pub(super) fn send_datagrams(&mut self, stream: StreamId) {
        let slot = self.slots.of_stream(stream);
        let entry = slot.and_then(|slot| self.slots.get(slot));
        let inlet = entry.and_then(|entry| entry.datagrams.as_ref());
        if let (Some((inlet, _)), Some(h3)) = (inlet, self.io.machine.h3()) {
            for datagram in inlet.take() {
                // Our side of the stream may be closed by now: then it is lost.
                let _ = h3.send_datagram(stream, &datagram);
            }
        }
    }

    fn datagrams_in(&self, slot: u32) -> Option<&(DatagramInlet, Option<Datagrams>)> {
        self.slots.get(slot)?.datagrams.as_ref()
    }
}
