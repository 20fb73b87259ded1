//! A connection that has left HTTP (RFC 9110 sections 7.8 and 9.3.6): its bytes go to the
//! exchange's listener, and the request's body is sent unframed.

use super::ConnectionTask;
use super::entry::{ExchangeEntry, Incoming};
use super::receiver::Receiver;
use crate::driver::read_buffer::with_read_buffer;
use crate::driver::timer::Alarm;
use crate::driver::transport::Transport;
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::Bytes;
use http_body::Body as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::{H2Code, TransportEnd};
use trunkline_core::http::StreamId;
use trunkline_core::limits::{LEFT_TUNNEL_TIME_MAX, UNREAD_BODY_BYTES_MAX};
use trunkline_core::wire::Outbox;

/// Bytes that may wait for the socket before reading pauses.
const OUTBOX_BYTES_MAX: usize = 256 * 1024;

/// The exchange that has the connection to itself.
pub(super) struct ClientTunnel {
    entry: ExchangeEntry,
    outbox: Outbox,
    read_ended: bool,
    write_ended: bool,
    shut: bool,
    /// Why nothing more can be written; what came before is still read.
    write_failure: Option<std::io::Error>,
    /// Rings when the request's total time has passed, or that of a tunnel whose user is gone.
    alarm: Alarm,
    /// Its user has left it: when it is over at the latest.
    left_until: Option<Instant>,
}

/// How long the peer's end is waited for behind ours when the user is gone.
const LAST_READ_MAX: Duration = Duration::from_secs(1);

impl ClientTunnel {
    /// `None`: no listener takes the connection.
    pub(super) fn new(mut entry: ExchangeEntry, rest: Bytes) -> Option<Self> {
        let Incoming::Streaming(receiver) = &mut entry.incoming else {
            return None;
        };
        let is_taken = matches!(receiver, Receiver::Listener { .. });
        // A listener takes all that it gets.
        let _ = is_taken && receiver.push(rest, false);
        is_taken.then(|| Self {
            entry,
            outbox: Outbox::new(),
            read_ended: false,
            write_ended: false,
            shut: false,
            write_failure: None,
            alarm: Alarm::default(),
            left_until: None,
        })
    }

    /// Moves bytes both ways; `taken` are those that the listener has taken since the last turn. Ready
    /// when the connection is to be closed.
    pub(super) fn poll<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        transport: &mut Transport<S>,
        taken: usize,
    ) -> Poll<()> {
        if let Incoming::Streaming(Receiver::Listener { unread, .. }) = &mut self.entry.incoming {
            *unread = unread.saturating_sub(taken);
        }
        if self.entry.request.exchange.is_abandoned() {
            return match self.entry.request.exchange.is_left() {
                true => self.poll_leave(cx, transport, Instant::now()),
                false => Poll::Ready(()),
            };
        }
        if let Some(until) = self.entry.request.total_until
            && self.alarm.poll_until(cx, until).is_ready()
        {
            let text = self.entry.lateness(until);
            if let Incoming::Streaming(receiver) = self.end_reading() {
                let late = Error::new(ErrorKind::Timeout, Fault::Peer, Retry::Never);
                receiver.fail(late.with_was_sent(true).with_text(text));
            }
            return Poll::Ready(());
        }
        if self.write_failure.is_none() {
            self.write_failure = self.poll_up(cx, transport).err();
        }
        if let Err(error) = self.poll_down(cx, transport) {
            if let Incoming::Streaming(receiver) = self.end_reading() {
                let lost = Error::new(ErrorKind::TransportClosed, Fault::Network, Retry::Never);
                receiver.fail(lost.with_was_sent(true).with_source(error));
            }
            return Poll::Ready(());
        }
        if self.write_failure.is_some() && self.read_ended {
            return Poll::Ready(());
        }
        match self.read_ended && self.shut {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// The user is gone: sends what was written before, then the end. What the peer sends is dropped, because bytes that
    /// were never read would have the system send a reset in place of that end.
    fn poll_leave<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        transport: &mut Transport<S>,
        now: Instant,
    ) -> Poll<()> {
        if self.write_failure.is_some() {
            return Poll::Ready(());
        }
        let limit = now + LEFT_TUNNEL_TIME_MAX;
        // Our end may have gone before the user has.
        let was_shut = self.shut && self.left_until.is_some();
        self.left_until.get_or_insert(limit);
        self.end_reading();
        let is_lost = self.poll_up(cx, transport).is_err();
        let has_ended = transport.poll_discard(cx, &mut false).is_ready();
        if is_lost || self.shut && has_ended {
            return Poll::Ready(());
        }
        if self.shut && !was_shut {
            self.left_until = Some(now + LAST_READ_MAX);
        }
        let until = self.left_until.unwrap_or(limit);
        self.alarm.poll_until(cx, until)
    }

    /// Moves the user's bytes to the peer.
    fn poll_up<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        transport: &mut Transport<S>,
    ) -> std::io::Result<()> {
        loop {
            self.take_body(cx)?;
            let was_full = self.outbox.len() >= OUTBOX_BYTES_MAX;
            let Poll::Ready(written) = transport.poll_write(cx, &mut self.outbox, Instant::now())
            else {
                break;
            };
            written?;
            if !was_full {
                break;
            }
            // The body was not asked for all that it has, and nothing else would wake us for it.
        }
        let is_written = self.outbox.is_empty() && transport.is_flushed();
        if self.write_ended && is_written && !self.shut {
            self.shut = transport.poll_shutdown(cx)?.is_ready();
        }
        Ok(())
    }

    /// Takes bytes of the user's until there are none, or enough wait for the socket.
    fn take_body(&mut self, cx: &mut Context<'_>) -> std::io::Result<()> {
        while !self.write_ended && self.outbox.len() < OUTBOX_BYTES_MAX {
            let body = &mut self.entry.request.body;
            let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) else {
                // Nothing more comes from a user who is gone.
                self.write_ended = self.left_until.is_some();
                break;
            };
            match frame {
                None => self.write_ended = true,
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.outbox.buffer().extend_from_slice(&data);
                    }
                }
                Some(Err(_)) => return Err(std::io::ErrorKind::ConnectionAborted.into()),
            }
        }
        Ok(())
    }

    /// Moves the peer's bytes to the user.
    fn poll_down<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        cx: &mut Context<'_>,
        transport: &mut Transport<S>,
    ) -> std::io::Result<()> {
        while let Incoming::Streaming(Receiver::Listener { listener, unread }) =
            &mut self.entry.incoming
        {
            if *unread >= UNREAD_BODY_BYTES_MAX {
                return Ok(());
            }
            let read = with_read_buffer(|scratch| {
                transport.poll_read(cx, scratch, &mut |bytes| {
                    *unread += bytes.len();
                    listener.data(Bytes::copy_from_slice(bytes));
                })
            });
            let end = match (read, self.write_failure.take()) {
                (Poll::Ready(Ok(None)), failure) => {
                    self.write_failure = failure;
                    continue;
                }
                // Bytes that came before the failure are read.
                (_, Some(failure)) => return Err(failure),
                (Poll::Pending, None) => return Ok(()),
                (Poll::Ready(end), None) => end?,
            };
            if end != Some(TransportEnd::InOrder) {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let ended = self.end_reading();
            if let Incoming::Streaming(Receiver::Listener { mut listener, .. }) = ended {
                listener.end(None);
            }
        }
        Ok(())
    }

    fn end_reading(&mut self) -> Incoming {
        self.read_ended = true;
        std::mem::replace(&mut self.entry.incoming, Incoming::Ended)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// The machine handed the connection over.
    pub(super) fn take_upgrade(&mut self, now: Instant, stream: StreamId, rest: Bytes) {
        let slot = self.slots.of_stream(stream);
        if let Some(slot) = slot {
            self.hand_over_head(slot);
        }
        let entry = slot.and_then(|slot| self.slots.remove(slot));
        self.tunnel = entry.and_then(|entry| ClientTunnel::new(entry, rest));
        match self.tunnel {
            Some(_) => self.leave(),
            None => self.io.machine.abort(now, H2Code::CANCEL),
        }
    }

    /// One turn of a connection that left HTTP.
    pub(super) fn poll_tunnel(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (Some(tunnel), Some(transport)) = (&mut self.tunnel, self.io.transport()) else {
            return Poll::Ready(());
        };
        loop {
            self.handle.signals.begin_turn(&mut self.notes);
            let mut taken = 0;
            if let Some(notes) = &mut self.notes {
                taken = notes.taken.iter().map(|&(_, bytes)| bytes).sum();
                notes.clear();
            }
            let turn = tunnel.poll(cx, transport, taken);
            if turn.is_ready() || self.handle.signals.end_turn(cx.waker()) {
                return turn;
            }
        }
    }
}

#[cfg(test)]
#[path = "tunnel/tunnel_test.rs"]
mod tunnel_test;
