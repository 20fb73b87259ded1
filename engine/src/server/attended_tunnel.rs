//! A connection that left HTTP, as its attendant sees it: the exchange goes on, and its bodies are
//! the connection's bytes.

use super::attendant::{Attendant, Ended, Line, Order, Place};
use crate::driver::signals::{Notes, Signals};
use crate::upgrade::Upgraded;
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use trunkline_core::error::H2Code;

/// Bytes that may be told and not taken before reading stops.
const UNREAD_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one read.
const READ_BYTES_MAX: usize = 32 * 1024;
/// Reads of one turn, before others on the thread get theirs.
const READS_PER_TURN_MAX: u32 = 8;

/// The task of a connection that left HTTP, to its end.
pub(super) struct Tunnel<A: Attendant> {
    pub(super) attendant: A,
    pub(super) connection: Option<A::Connection>,
    /// `None`: it was told that it is over.
    pub(super) exchange: Option<A::Exchange>,
    pub(super) place: Place,
    pub(super) line: Line,
    pub(super) signals: Arc<Signals>,
    /// Where the bytes are to go through, once the last ones of HTTP are out.
    pub(super) coming: oneshot::Receiver<Upgraded>,
    pub(super) stream: Option<Upgraded>,
    pub(super) notes: Option<Box<Notes>>,
    /// Bytes that were told and not taken.
    pub(super) unread: usize,
    pub(super) waiting: VecDeque<Bytes>,
    /// Our side ends when nothing waits.
    pub(super) finishing: bool,
    pub(super) ends: Ends,
}

/// Which sides have ended.
#[derive(Default)]
pub(super) struct Ends {
    read: bool,
    written: bool,
}

/// It is over, and why.
type Over = Result<(), (H2Code, bool)>;

impl<A: Attendant> Tunnel<A> {
    fn obey(&mut self) -> Over {
        let orders = mem::take(&mut *self.line.0.list.borrow_mut());
        for order in orders {
            match order {
                Order::Send(place, data, end) if place == self.place => {
                    self.waiting.push_back(data);
                    self.finishing |= end;
                }
                Order::Finish(place, _) if place == self.place => self.finishing = true,
                Order::Take(place, bytes) if place == self.place => {
                    self.unread = self.unread.saturating_sub(bytes);
                }
                Order::Reset(place, code) if place == self.place => return Err((code, false)),
                Order::Abort(code) => return Err((code, false)),
                // Of exchanges that are over; and a tunnel ends when its ends want it to.
                _ => {}
            }
        }
        Ok(())
    }
    /// Reads what is there; true when there may be more.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool, (H2Code, bool)> {
        let (Some(stream), Some(exchange)) = (&mut self.stream, &self.exchange) else {
            return Ok(false);
        };
        let mut buffer = Vec::with_capacity(READ_BYTES_MAX);
        for _ in 0..READS_PER_TURN_MAX {
            if self.ends.read || self.unread >= UNREAD_BYTES_MAX {
                return Ok(false);
            }
            let mut unfilled = ReadBuf::uninit(buffer.spare_capacity_mut());
            let length = match Pin::new(&mut *stream).poll_read(cx, &mut unfilled) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Err(_)) => return Err((H2Code::CANCEL, true)),
                Poll::Ready(Ok(())) => unfilled.filled().len(),
            };
            let data = Bytes::copy_from_slice(unfilled.filled());
            self.ends.read = length == 0;
            self.unread += length;
            self.attendant.body(exchange, data, self.ends.read);
            buffer.clear();
        }
        Ok(true)
    }
    fn write(&mut self, cx: &mut Context<'_>) -> Over {
        let (Some(stream), Some(exchange)) = (&mut self.stream, &self.exchange) else {
            return Ok(());
        };
        let mut stream = Pin::new(stream);
        while let Some(data) = self.waiting.front_mut() {
            if data.is_empty() {
                self.waiting.pop_front();
                continue;
            }
            match stream.as_mut().poll_write(cx, data) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Err(_)) => return Err((H2Code::CANCEL, true)),
                Poll::Ready(Ok(length)) => {
                    data.advance(length);
                    self.attendant.room(exchange, length);
                }
            }
        }
        let flushed = stream.as_mut().poll_flush(cx);
        if matches!(flushed, Poll::Ready(Err(_))) {
            return Err((H2Code::CANCEL, true));
        }
        if flushed.is_ready() && self.finishing && !self.ends.written {
            self.ends.written = stream.poll_shutdown(cx).is_ready();
        }
        Ok(())
    }
    fn turn(&mut self, cx: &mut Context<'_>) -> Result<bool, (H2Code, bool)> {
        self.obey()?;
        if self.stream.is_none() {
            match Pin::new(&mut self.coming).poll(cx) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Ok(stream)) => self.stream = Some(stream),
                Poll::Ready(Err(_)) => return Err((H2Code::CANCEL, true)),
            }
        }
        let more = self.read(cx)?;
        self.write(cx)?;
        Ok(more)
    }
    fn end(&mut self, how: Ended) {
        if let Some(exchange) = self.exchange.take() {
            self.attendant.ended(exchange, how);
        }
        if let Some(connection) = self.connection.take() {
            self.attendant.disconnected(connection);
        }
    }
}

impl<A: Attendant> Future for Tunnel<A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        loop {
            this.signals.begin_turn(&mut this.notes);
            if let Some(notes) = &mut this.notes {
                notes.clear();
            }
            match this.turn(cx) {
                Err((code, by_peer)) => this.end(Ended::Reset { code, by_peer }),
                Ok(_) if this.ends.read && this.ends.written => this.end(Ended::Whole),
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

impl<A: Attendant> Unpin for Tunnel<A> {}

impl<A: Attendant> Drop for Tunnel<A> {
    fn drop(&mut self) {
        let (code, by_peer) = (H2Code::CANCEL, true);
        self.end(Ended::Reset { code, by_peer });
    }
}
