//! Peers that take nothing more of what waits for them, and transports that fail.

use super::{ConnectionIo, IoKind, LAST_READ_MAX};
use crate::driver::transport::drain::{CallSocket, Drain, SocketCall};
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::TransportEnd;
use trunkline_core::http::Side;
use trunkline_core::limits::Config;

/// Reads in one turn behind a write that failed. 128 of up to 80 KiB are 10 MiB, more than a socket's receive buffer
/// has by default (6 MiB in Linux); a peer that closed only the half it reads from may go on sending for ever.
const LAST_READS_MAX: usize = 128;

/// A look is one system call, for a connection whose client has ended its side within an exchange.
pub(super) const LOOK_FOR_LOSS_EVERY: Duration = Duration::from_secs(1);

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionIo<S> {
    /// Gives up a peer that reads nothing for `Timeouts::write_stall`, and takes what leaves the socket
    /// as progress. The machine sees only the bytes that the transport has not taken; sealed records
    /// wait here.
    pub(crate) fn with_stalls(mut self, config: Arc<Config>, call: CallSocket<S>) -> Self {
        self.config = Some(config);
        self.call_socket = call;
        self
    }
    /// The peer is given up: the socket is closed without another byte.
    pub(crate) fn give_up(&mut self) {
        self.broken = true;
        if let IoKind::Bytes(transport) = &self.carrier {
            (self.call_socket)(transport.socket(), SocketCall::GiveUp);
        }
    }
    /// Reads the bytes that the peer sent before its transport took no more: requests and the ends of their
    /// bodies, answers, and which requests a server left unprocessed. The end of the transport, or
    /// [`LAST_READ_MAX`] later, ends the connection: behind a reset there is an end to read, but where the last
    /// read found nothing the runtime reads again only when the system has reported it.
    pub(super) fn handle_write_failure(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        error: io::Error,
    ) {
        self.broken = true;
        self.failure.get_or_insert_with(|| Arc::new(error));
        if self.machine.side() == Side::Client {
            self.machine.shut_down(now);
        }
        self.blocked_since = Some(now);
        let mut read = Poll::Ready(true);
        let mut reads = 0;
        while reads < LAST_READS_MAX && matches!(read, Poll::Ready(true)) {
            read = self.poll_read(cx, now);
            reads += 1;
        }
        // A server's machine that reads nothing now has an answer to end first, which nothing would take. So has one
        // whose client ended its side before: that client is gone, and nothing more can come of it.
        let is_server = self.machine.side() == Side::Server;
        if is_server && matches!(read, Poll::Ready(false)) {
            self.end_reading(now, TransportEnd::Failed);
        } else if read.is_ready() {
            cx.waker().wake_by_ref();
        }
    }
    /// A server whose client has ended its side, and may still read answers: no read gives the error of a reset that comes
    /// behind that end, and the runtime wakes no task for it. So the socket is asked from time to time.
    pub(super) fn look_for_loss_at(&self) -> Option<Instant> {
        let may_answer = self.read_closed
            && matches!(self.carrier, IoKind::Bytes(_))
            && self.machine.side() == Side::Server
            && !self.machine.is_closed();
        let asked_at = self.read_at.filter(|_| may_answer)?;
        Some(asked_at + LOOK_FOR_LOSS_EVERY)
    }
    /// Ends the connection if the system has lost it.
    pub(super) fn look_for_loss(&mut self, now: Instant) {
        let IoKind::Bytes(transport) = &self.carrier else {
            return;
        };
        if self.look_for_loss_at().is_none_or(|at| now < at) {
            return;
        }
        // Bytes that came before the reset are delivered before it.
        let is_due = self.machine.has_concluded_input();
        let lost = is_due.then(|| (self.call_socket)(transport.socket(), SocketCall::Lost));
        match lost.flatten() {
            None => self.read_at = Some(now),
            Some(code) => {
                let error = io::Error::from_raw_os_error(i32::try_from(code).unwrap_or_default());
                self.failure.get_or_insert_with(|| Arc::new(error));
                self.broken = true;
                self.end_reading(now, TransportEnd::Failed);
            }
        }
    }
    /// How long the transport may take nothing, or bring nothing once it takes no more.
    pub(super) fn stall_max(&self) -> Option<Duration> {
        match self.broken {
            true => Some(LAST_READ_MAX),
            false => self.write_stall(),
        }
    }
    /// The socket takes nothing.
    pub(super) fn note_blocked(&mut self, now: Instant) {
        if self.drain.is_none()
            && let Some(config) = &self.config
        {
            self.drain = Drain::of(&config.timeouts).map(Box::new);
        }
        if let Some(drain) = &mut self.drain {
            drain.note_blocked(now);
        }
    }
    /// The peer may read though the socket takes nothing more yet.
    pub(super) fn look_at_socket(&mut self, now: Instant) {
        let call = self.call_socket;
        let (Some(drain), IoKind::Bytes(transport)) = (&mut self.drain, &self.carrier) else {
            return;
        };
        if let Some(drained) = drain.look(now, || call(transport.socket(), SocketCall::Held)) {
            self.machine.poll_write(now).note_drained(drained);
            if let Some(log) = &mut self.log {
                log.note_drained(drained);
            }
            if !self.broken && self.blocked_since.is_some() {
                self.blocked_since = Some(now);
            }
        }
    }
}
