//! A connection that has left HTTP, for the callback API: the exchange continues, and its bodies
//! are the connection's bytes.

use super::exchange::CallbackExchange;
use super::{Callbacks, Command, ConnectionHandle, Ended, StreamHandle};
use crate::driver::signals::{Notes, Signals, Stop};
use crate::driver::timer::{self, Alarm, Sleep};
use crate::driver::transport::drain::{SocketCall, TunnelStall};
use crate::server::exchange::serve::RawConnection;
use crate::server::registry::OpenEntry;
use crate::tunnel::upgrade::Upgraded;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use trunkline_core::error::H2Code;
use trunkline_core::limits::{LEFT_TUNNEL_TIME_MAX, UNREAD_BODY_BYTES_MAX};

/// Bytes of one write. A peer makes progress when it has taken them: the more, the faster it must
/// be.
const WRITE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one read.
const READ_BYTES_MAX: usize = 32 * 1024;
/// Reads of one turn, before others on the thread get theirs.
const READS_PER_TURN_MAX: u32 = 8;

/// The task of a connection that left HTTP, to its end.
pub(in crate::server) struct CallbackTunnel<A: Callbacks> {
    callbacks: A,
    /// `None`, as the exchange: their end was reported.
    connection: Option<A::Connection>,
    exchange: Option<A::Exchange>,
    handle: StreamHandle,
    commands: ConnectionHandle,
    signals: Arc<Signals>,
    bytes: Upgraded,
    notes: Option<Box<Notes>>,
    /// Bytes that were reported and not taken, those of the request's body among them.
    unread: usize,
    waiting: VecDeque<Bytes>,
    /// Our side ends when nothing waits.
    finishing: bool,
    read_ended: bool,
    write_ended: bool,
    /// The transport fails; where it takes nothing more, what came before is read, then the tunnel is reset.
    failure: Option<io::Error>,
    /// The owner of the callbacks has reset it with this code: it is over when what was written before is with the
    /// system, or at the end of this time, of [`LEFT_TUNNEL_TIME_MAX`].
    leaving: Option<Leaving>,
    /// A peer that takes nothing of what waits is given up.
    stall: Option<TunnelStall>,
    /// When to judge that next.
    judge_at: Alarm,
    /// The server counts it as open, and stops it.
    _entry: OpenEntry,
}

/// A reset by the owner of the callbacks, and when it takes place at the latest.
type Leaving = (H2Code, Pin<Box<Sleep>>);

fn leaving(code: H2Code) -> Leaving {
    (code, Box::pin(timer::sleep(LEFT_TUNNEL_TIME_MAX)))
}

/// It is over, and why.
type Over = Result<(), (H2Code, bool)>;

impl<A: Callbacks> CallbackTunnel<A> {
    /// The exchange `entry` goes on as bytes.
    pub(in crate::server) fn new(
        callbacks: A,
        connection: Option<A::Connection>,
        mut entry: CallbackExchange<A>,
        left: RawConnection,
        commands: ConnectionHandle,
        signals: Arc<Signals>,
    ) -> Self {
        let (waiting, finishing, reset) = entry.take_waiting();
        Self {
            callbacks,
            connection,
            handle: entry.handle,
            unread: entry.unread,
            exchange: Some(entry.exchange),
            commands,
            signals,
            bytes: left.bytes,
            notes: None,
            waiting,
            finishing,
            read_ended: false,
            write_ended: false,
            failure: None,
            leaving: reset.map(leaving),
            stall: left.stall,
            judge_at: Alarm::default(),
            _entry: left.entry,
        }
    }
    /// Handles the notes; true: the server cuts open connections. A draining server waits for the
    /// tunnel as for any exchange.
    fn apply_notes(&mut self) -> bool {
        self.signals.begin_turn(&mut self.notes);
        let Some(notes) = &mut self.notes else {
            return false;
        };
        let stop = notes.stop;
        notes.clear();
        if stop == Some(Stop::Reset) {
            self.bytes.call_socket(SocketCall::GiveUp);
        }
        stop >= Some(Stop::Abort)
    }
    fn run(&mut self) -> Over {
        let pending = mem::take(&mut *self.commands.0.list.borrow_mut());
        for cmd in pending {
            match cmd {
                Command::Send(handle, data, end) if handle == self.handle => {
                    self.waiting.push_back(data);
                    self.finishing |= end;
                }
                Command::Finish(handle, _) if handle == self.handle => self.finishing = true,
                Command::Take(handle, bytes) if handle == self.handle => {
                    self.unread = self.unread.saturating_sub(bytes);
                }
                Command::Reset(handle, code) if handle == self.handle => {
                    // Bytes behind its own reset are not of this exchange.
                    self.leaving.get_or_insert_with(|| leaving(code));
                    self.finishing = true;
                }
                Command::Abort(code) => return Err((code, false)),
                // Notes of exchanges that are over; a tunnel has no pings; and a connection that is to end
                // when its exchanges have waits for its tunnel.
                _ => {}
            }
        }
        Ok(())
    }
    /// Reads what is there; true when there may be more.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, (H2Code, bool)> {
        let Some(exchange) = &self.exchange else {
            return Ok(false);
        };
        let mut buffer = Vec::with_capacity(READ_BYTES_MAX);
        for _ in 0..READS_PER_TURN_MAX {
            if self.read_ended || self.unread >= UNREAD_BODY_BYTES_MAX {
                return Ok(false);
            }
            let mut unfilled = ReadBuf::uninit(buffer.spare_capacity_mut());
            let length = match Pin::new(&mut self.bytes).poll_read(cx, &mut unfilled) {
                Poll::Pending if self.failure.is_some() => return Err((H2Code::CANCEL, true)),
                Poll::Pending => return Ok(false),
                Poll::Ready(Err(error)) => {
                    self.failure.get_or_insert(error);
                    return Err((H2Code::CANCEL, true));
                }
                Poll::Ready(Ok(())) => unfilled.filled().len(),
            };
            let data = Bytes::copy_from_slice(unfilled.filled());
            if length == 0 && self.failure.is_some() {
                return Err((H2Code::CANCEL, true));
            }
            self.read_ended = length == 0;
            self.unread += length;
            self.callbacks.body(exchange, data, self.read_ended);
            buffer.clear();
        }
        Ok(true)
    }
    /// Writes what waits; `Pending`: the peer does not take it now.
    fn write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = Pin::new(&mut self.bytes);
        while let Some(data) = self.waiting.front_mut() {
            if data.is_empty() {
                self.waiting.pop_front();
                continue;
            }
            let piece = &data[..data.len().min(WRITE_BYTES_MAX)];
            let length = ready!(bytes.as_mut().poll_write(cx, piece))?;
            data.advance(length);
            if let Some(stall) = &mut self.stall {
                stall.note_written();
            }
            if let Some(exchange) = &self.exchange {
                self.callbacks.room(exchange, length);
            }
        }
        ready!(bytes.as_mut().poll_flush(cx))?;
        if self.finishing && !self.write_ended {
            // A peer that is gone has ended too.
            let _ = ready!(bytes.poll_shutdown(cx));
            self.write_ended = true;
        }
        Poll::Ready(Ok(()))
    }
    /// Sends what was written before the reset, and then the end of the stream. What the peer sends is dropped: bytes
    /// that were never read would have the system send a reset in place of that end, and a peer whose own bytes are not
    /// read may not read ours.
    fn leave(&mut self, cx: &mut Context<'_>) -> Result<bool, (H2Code, bool)> {
        let is_written = self.failure.is_some() || self.write(cx).is_ready();
        let more = self.drop_received(cx);
        let Some((code, until)) = &mut self.leaving else {
            return Ok(more);
        };
        if is_written || until.as_mut().poll(cx).is_ready() {
            return Err((*code, false));
        }
        self.judge_stall(cx)?;
        Ok(more)
    }
    /// Reads and drops what is there, as much as a turn reads; true: there may be more.
    fn drop_received(&mut self, cx: &mut Context<'_>) -> bool {
        let mut dropped = [0; WRITE_BYTES_MAX];
        for _ in 0..READS_PER_TURN_MAX {
            let mut buffer = ReadBuf::new(&mut dropped);
            match Pin::new(&mut self.bytes).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                _ => return false,
            }
        }
        true
    }
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<bool, (H2Code, bool)> {
        self.run()?;
        if self.leaving.is_some() {
            return self.leave(cx);
        }
        let more = self.read(cx)?;
        if self.failure.is_some() {
            return Ok(more);
        }
        match self.write(cx) {
            Poll::Ready(Ok(())) => {
                if let Some(stall) = &mut self.stall {
                    stall.note_written();
                }
                self.judge_at = Alarm::default();
            }
            Poll::Ready(Err(error)) => {
                self.failure = Some(error);
                if self.read_ended {
                    return Err((H2Code::CANCEL, true));
                }
                // Bytes that the peer sent before are still read.
                self.waiting.clear();
                return Ok(true);
            }
            Poll::Pending => self.judge_stall(cx)?,
        }
        Ok(more)
    }
    /// Gives a peer up that takes nothing for too long. What leaves the socket is taken though no
    /// write goes on.
    fn judge_stall(&mut self, cx: &mut Context<'_>) -> Over {
        let Some(stall) = &mut self.stall else {
            return Ok(());
        };
        loop {
            let bytes = &self.bytes;
            let held = || bytes.call_socket(SocketCall::Held);
            let Ok(at) = stall.judge(Instant::now(), held) else {
                bytes.call_socket(SocketCall::GiveUp);
                return Err((H2Code::CANCEL, true));
            };
            if self.judge_at.poll_until(cx, at).is_pending() {
                return Ok(());
            }
        }
    }
    fn end(&mut self, how: Ended) {
        self.commands.close();
        if let (Some(error), Some(connection)) = (&self.failure, &self.connection) {
            self.callbacks.failed(connection, error);
        }
        if let Some(exchange) = self.exchange.take() {
            self.callbacks.ended(exchange, how);
        }
        if let Some(connection) = self.connection.take() {
            self.callbacks.disconnected(connection);
        }
    }
}

impl<A: Callbacks> Future for CallbackTunnel<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            let turned = match this.apply_notes() {
                true => Err((H2Code::CANCEL, false)),
                false => this.turn(cx),
            };
            match turned {
                Err((code, by_peer)) => this.end(Ended::Reset { code, by_peer }),
                Ok(_) if this.read_ended && this.write_ended => this.end(Ended::Whole),
                Ok(true) => {
                    cx.waker().wake_by_ref();
                    let _ = this.signals.end_turn(cx.waker());
                    return Poll::Pending;
                }
                Ok(false) => {
                    if this.signals.end_turn(cx.waker()) {
                        return Poll::Pending;
                    }
                    continue;
                }
            }
            return Poll::Ready(());
        }
    }
}

impl<A: Callbacks> Unpin for CallbackTunnel<A> {}

impl<A: Callbacks> Drop for CallbackTunnel<A> {
    fn drop(&mut self) {
        let (code, by_peer) = (H2Code::CANCEL, true);
        self.end(Ended::Reset { code, by_peer });
    }
}
