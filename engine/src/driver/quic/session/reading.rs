//! Reads streams of QUIC into the machine.

use super::Session;
use crate::driver::quic::numbers::varint;
use bytes::Bytes;
use quinn_proto::ReadError;
use std::time::Instant;
use trunkline_core::error::H3Code;
use trunkline_core::h3;
use trunkline_core::http::StreamId;

impl Session {
    /// Gives the machine what has come of every stream, at most its receive window, before the close of its peer: a server that
    /// drains closes when all is acknowledged (RFC 9114 section 5.2), as does a client that is done, which users may be slower
    /// to read.
    pub(super) fn read_all(&mut self, machine: &mut h3::Conn, now: Instant) {
        for stream in machine.open_streams() {
            // Ids of streams are variable-length integers.
            let id = quinn_proto::StreamId::from(varint(stream.0));
            self.read_within(machine, now, id, |_| usize::MAX);
        }
    }
    /// Gives the machine as much of a stream as it takes.
    pub(super) fn read(&mut self, machine: &mut h3::Conn, now: Instant, id: quinn_proto::StreamId) {
        let stream = StreamId(id.into());
        self.read_within(machine, now, id, |machine| machine.read_room(stream));
    }
    fn read_within(
        &mut self,
        machine: &mut h3::Conn,
        now: Instant,
        id: quinn_proto::StreamId,
        room_of: impl Fn(&h3::Conn) -> usize,
    ) {
        let stream = StreamId(id.into());
        let log = &mut self.log;
        // Every byte that the machine gets, in its order.
        let mut handle = |machine: &mut h3::Conn, bytes: &[u8], fin: bool| {
            if let Some(log) = log {
                log.received_on(now, stream, bytes, fin);
            }
            machine.handle_stream(now, stream, bytes, fin);
        };
        let mut receive = self.quic.recv_stream(id);
        let mut room = room_of(machine);
        if room == 0 {
            // The machine takes no bytes now, but a reset must be reported at once: the exchange,
            // or sections blocked on the table, may wait for it.
            if let Ok(Some(code)) = receive.received_reset() {
                machine.handle_stream_reset(now, stream, H3Code(code.into_inner()));
            }
            return;
        }
        let mut bytes = 0;
        // Stopped or read to its end already.
        let Ok(mut chunks) = receive.read(true) else {
            return;
        };
        // A piece waits for what follows it, so that the end comes with the last bytes.
        let mut held = Bytes::new();
        loop {
            if room == 0 && !held.is_empty() {
                handle(machine, &std::mem::take(&mut held), false);
                room = room_of(machine);
                continue;
            }
            if room == 0 {
                break;
            }
            match chunks.next(room) {
                Ok(Some(chunk)) => {
                    bytes += chunk.bytes.len();
                    if !held.is_empty() {
                        handle(machine, &held, false);
                        room = room_of(machine);
                    }
                    held = chunk.bytes;
                    room = room.saturating_sub(held.len());
                }
                Ok(None) => {
                    handle(machine, &held, true);
                    machine.handle_drained(now, stream);
                    break;
                }
                Err(ReadError::Blocked) => {
                    if !held.is_empty() {
                        handle(machine, &held, false);
                    }
                    machine.handle_drained(now, stream);
                    break;
                }
                Err(ReadError::Reset(code)) => {
                    machine.handle_stream_reset(now, stream, H3Code(code.into_inner()));
                    break;
                }
            }
        }
        // `poll_transmit` knows its result by itself.
        let _ = chunks.finalize();
        if let Some(window) = self.window.narrow(bytes) {
            self.quic.set_receive_window(window.into());
        }
    }
}
