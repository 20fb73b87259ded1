//! TLS of a transport: records in and plaintext out, and the other way round.

use super::old_hello::OldHello;
use super::pieces::write_pieces;
use super::refused_bytes::refused_by_tls;
use super::socket::PollWriter;
use super::{
    BATCH_BYTES_MAX, RECORD_BYTES, SLICES_MAX, batch_bytes_max, count_written, poll_flush_socket,
};
use crate::connection_info::traffic::Traffic;
use rustls::Connection;
use std::io::{self, BufRead, IoSlice};
use std::task::Context;
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::AsyncWrite;
use trunkline_core::error::TransportEnd;
use trunkline_core::wire::Outbox;

/// Plaintext of a small record: with header and tag it fits one segment of 1,460 bytes with
/// options, so that a cold path can decrypt each segment as it comes.
pub(super) const SMALL_RECORD_BYTES: usize = 1400;
/// Bytes that go out in small records on a cold connection: about what a congestion window
/// reaches in a few round trips.
pub(super) const COLD_BYTES: usize = 64 * 1024;
/// A connection that wrote nothing for this long is cold again: its congestion window decays.
pub(super) const COLD_AFTER: Duration = Duration::from_secs(1);

pub(in crate::driver) struct TlsState {
    pub(in crate::driver) connection: Connection,
    /// Records read with the last of the handshake, not yet processed; before it, what came first.
    pub(in crate::driver) early: Vec<u8>,
    /// `early`, and plaintext that rustls itself holds since the handshake, are still to be read.
    pub(super) has_early: bool,
    /// rustls refused the peer's bytes: only its alert still goes out.
    pub(in crate::driver) failed: bool,
    /// The peer said close_notify.
    pub(in crate::driver) ended: bool,
    /// Bytes still to go out in small records.
    pub(super) cold_left: usize,
    pub(super) wrote_at: Option<Instant>,
    /// Plaintext in the records that wait.
    pub(in crate::driver) sealed: usize,
    /// The socket may hold records until it is flushed.
    pub(super) is_unflushed: bool,
    pub(super) close_sent: bool,
}

impl TlsState {
    /// Takes bytes of the handshake; keeps what comes behind it for the first read, because
    /// rustls would hold at most 16 KiB of plaintext.
    pub(super) fn handshake_bytes(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() && self.connection.is_handshaking() {
            let given = bytes;
            self.connection.read_tls(&mut bytes)?;
            match self.connection.process_new_packets() {
                Ok(_) => {}
                // The first read returns this error again, behind the plaintext that came before it.
                Err(_) if !self.connection.is_handshaking() => {
                    self.failed = true;
                    return Ok(());
                }
                Err(error) => {
                    self.failed = true;
                    let error = refused_by_tls(given, error);
                    // The alert of rustls is not the one that is due.
                    while OldHello::is_in(&error) && self.connection.wants_write() {
                        self.connection.write_tls(&mut io::sink())?;
                    }
                    return Err(error);
                }
            }
        }
        self.early.extend_from_slice(bytes);
        Ok(())
    }
    /// Decrypts `records` and hands the plaintext on in place, that before a bad record too.
    pub(in crate::driver) fn open(
        &mut self,
        mut records: &[u8],
        sink: &mut impl FnMut(&[u8]),
    ) -> io::Result<Option<TransportEnd>> {
        loop {
            if !records.is_empty() {
                self.connection.read_tls(&mut records)?;
            }
            let state = self.process();
            if !matches!(&state, Ok(state) if state.plaintext_bytes_to_read() == 0) {
                let mut reader = self.connection.reader();
                while let Ok(plaintext) = reader.fill_buf() {
                    let length = plaintext.len();
                    if length == 0 {
                        break;
                    }
                    sink(plaintext);
                    reader.consume(length);
                }
            }
            if state?.peer_has_closed() {
                self.ended = true;
                return Ok(Some(TransportEnd::InOrder));
            }
            if records.is_empty() {
                return Ok(None);
            }
        }
    }
    pub(in crate::driver) fn process(&mut self) -> io::Result<rustls::IoState> {
        self.connection.process_new_packets().map_err(|error| {
            self.failed = true;
            io::Error::new(io::ErrorKind::InvalidData, error)
        })
    }
    pub(in crate::driver) fn seal_records(
        &mut self,
        outbox: &mut Outbox,
        now: Instant,
        traffic: Option<&Traffic>,
    ) -> io::Result<()> {
        self.begin_write(now);
        if self.failed || self.cold_left > 0 {
            return Ok(());
        }
        while self.sealed < BATCH_BYTES_MAX
            && let Some(bytes) = outbox.whole()
            && bytes.len() >= RECORD_BYTES
        {
            let whole = bytes.len().min(BATCH_BYTES_MAX) / RECORD_BYTES * RECORD_BYTES;
            let written = write_pieces(&mut self.connection.writer(), &[&bytes[..whole]])?;
            self.sealed += written;
            count_written(traffic, written);
            outbox.advance(written);
        }
        Ok(())
    }
    /// After a silence records are small again.
    pub(super) fn begin_write(&mut self, now: Instant) {
        let idle = self
            .wrote_at
            .is_some_and(|at| now.saturating_duration_since(at) > COLD_AFTER);
        if idle {
            self.cold_left = COLD_BYTES;
        }
        self.wrote_at = Some(now);
    }
    /// Seals `outbox` into records until a batch is full: a large body is sealed as it is written,
    /// or a second one of its size would wait for the socket.
    pub(in crate::driver) fn seal(
        &mut self,
        outbox: &mut Outbox,
        now: Instant,
        traffic: Option<&Traffic>,
    ) -> io::Result<()> {
        if self.failed {
            let left = outbox.len();
            outbox.advance(left);
            return Ok(());
        }
        self.begin_write(now);
        while !outbox.is_empty() {
            let left = batch_bytes_max(outbox).saturating_sub(self.sealed);
            if left == 0 {
                break;
            }
            let mut writer = self.connection.writer();
            let record_max = match self.cold_left {
                0 => BATCH_BYTES_MAX,
                _ => SMALL_RECORD_BYTES,
            };
            let written = match outbox.whole() {
                Some(bytes) => write_pieces(&mut writer, &[&bytes[..bytes.len().min(record_max)]])?,
                None => {
                    let mut slices = [IoSlice::new(&[]); SLICES_MAX];
                    let room = record_max.min(left);
                    let filled = outbox.slices(&mut slices, room);
                    write_pieces(&mut writer, &slices[..filled])?
                }
            };
            self.cold_left = self.cold_left.saturating_sub(written);
            self.sealed += written;
            count_written(traffic, written);
            outbox.advance(written);
        }
        Ok(())
    }
    /// Writes the sealed records.
    pub(super) fn poll_flush<S: AsyncWrite + Unpin>(
        &mut self,
        socket: &mut S,
        cx: &mut Context<'_>,
        progress: &mut bool,
    ) -> Poll<io::Result<()>> {
        while self.connection.wants_write() {
            let mut writer = PollWriter { socket, cx };
            match self.connection.write_tls(&mut writer) {
                Ok(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Ok(_) => {
                    *progress = true;
                    self.is_unflushed = true;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.sealed = 0;
        poll_flush_socket(socket, cx, &mut self.is_unflushed)
    }
}
