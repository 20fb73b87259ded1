//! One connection for its owner: transport, machine and timer, with three steps to poll. In a turn
//! the owner polls the read, handles the events, and polls one write.

use super::machine::Machine;
use super::machine::qlog::{FrameLog, Qlog};
use super::quic::transport::QuicTransport;
use super::transport::Transport;
use super::transport::drain::{CallSocket, Drain, TunnelStall, stall_now};
use crate::connection_info::traffic::Traffic;
use crate::driver::timer::{self, Sleep};
use std::error::Error;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::{H2Code, TransportEnd};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::Config;
use trunkline_core::pool::Unanswered;

mod close;
mod read;
mod stall;

/// The transport under the machine's exchanges.
enum IoKind<S> {
    /// A byte stream: TCP, with TLS or without.
    Bytes(Transport<S>),
    /// QUIC, for HTTP/3.
    Quic(Box<QuicTransport>),
}

/// A transport and the machine that decides what goes over it.
pub(crate) struct ConnectionIo<S> {
    carrier: IoKind<S>,
    /// The decisions. Commands go straight to it; call [`poll_write`](Self::poll_write) after.
    pub(crate) machine: Machine,
    /// The one timer, armed for the machine's deadline or earlier, never later: a deadline that moves
    /// away costs nothing until the old one passes.
    timer: Option<Pin<Box<Sleep>>>,
    is_armed: bool,
    /// The peer sends nothing more.
    read_closed: bool,
    /// The transport failed: nothing more can be written. A client may still read what came before.
    broken: bool,
    /// The first error of the transport.
    failure: Option<Arc<io::Error>>,
    /// The settings of the times that a peer may stall, and the calls to the system about them.
    config: Option<Arc<Config>>,
    call_socket: CallSocket<S>,
    /// The socket took nothing of what waits, and since when.
    blocked_since: Option<Instant>,
    /// How the peer reads meanwhile, where the system says it.
    drain: Option<Box<Drain>>,
    /// When to look whether the buffers can be given back.
    release_at: Option<Instant>,
    /// When bytes or their end were read last; behind that end, when the socket was asked last.
    read_at: Option<Instant>,
    /// A byte stream took bytes since the owner asked.
    wrote: bool,
    /// The machine may hold buffers: bytes came since the last release, or before the first.
    holds: bool,
    /// It has given its buffers back before.
    has_released: bool,
    /// It just did.
    released: bool,
    /// The log of HTTP/2's frames, if there is one; HTTP/3's is the session's.
    log: Option<Box<FrameLog>>,
}

impl<S> ConnectionIo<S> {
    /// The error of the transport, if it had one.
    pub(crate) fn failure(&self) -> Option<Arc<dyn Error + Send + Sync>> {
        match &self.carrier {
            IoKind::Bytes(_) => self.failure.clone().map(|error| error as _),
            IoKind::Quic(quic) => quic.lost().map(|error| Arc::new(error.clone()) as _),
        }
    }
    /// The error of the byte stream, if it had one.
    pub(crate) fn stream_failure(&self) -> Option<&io::Error> {
        self.failure.as_deref()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionIo<S> {
    /// The bytes of HTTP so far, where they are counted: over QUIC they are not.
    pub(crate) fn traffic(&self) -> Option<&Traffic> {
        match &self.carrier {
            IoKind::Bytes(transport) => transport.traffic(),
            IoKind::Quic(_) => None,
        }
    }
    /// Joins a transport whose handshake is done with a fresh machine.
    pub(crate) fn new(transport: Transport<S>, machine: Machine) -> Self {
        Self::over(IoKind::Bytes(transport), machine)
    }
    /// Joins a QUIC connection whose handshake is done with a fresh HTTP/3 machine.
    pub(crate) fn quic(quic: Box<QuicTransport>, machine: Machine) -> Self {
        Self::over(IoKind::Quic(quic), machine)
    }
    fn over(carrier: IoKind<S>, machine: Machine) -> Self {
        Self {
            carrier,
            machine,
            timer: None,
            is_armed: false,
            read_closed: false,
            broken: false,
            failure: None,
            config: None,
            call_socket: |_, _| None,
            blocked_since: None,
            drain: None,
            release_at: None,
            read_at: None,
            wrote: false,
            holds: true,
            has_released: false,
            released: false,
            log: None,
        }
    }
    /// Writes the frames of HTTP/2 to `qlog`, from the first on: `before` was given to the machine already.
    pub(crate) fn with_qlog(mut self, qlog: Option<&Qlog>, now: Instant, before: &[u8]) -> Self {
        if let Some(qlog) = qlog
            && let Machine::H2(_) = self.machine
        {
            let mut log = FrameLog::http2(qlog, self.machine.side());
            log.received(now, before);
            self.log = Some(log);
        }
        self
    }
    /// Seals what fills whole records ahead of the write: what was written last is still near.
    pub(crate) fn seal(&mut self, now: Instant) {
        if let IoKind::Bytes(transport) = &mut self.carrier
            && !self.broken
        {
            if let Some(log) = &mut self.log {
                log.waiting(now, self.machine.written());
            }
            transport.seal_records(self.machine.written(), now);
        }
    }
    /// Writes what the machine has until it has nothing or the socket takes no more. `Ready`:
    /// everything is written.
    pub(crate) fn poll_write(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        let transport = match &mut self.carrier {
            IoKind::Bytes(transport) => transport,
            IoKind::Quic(quic) => return quic.poll_write(cx, now, &mut self.machine),
        };
        loop {
            let outbox = self.machine.poll_write(now);
            if self.broken {
                let left = outbox.len();
                outbox.advance(left);
                if left == 0 {
                    return Poll::Ready(());
                }
                continue;
            }
            if let Some(log) = &mut self.log {
                log.waiting(now, outbox);
            }
            if outbox.is_empty() && transport.is_flushed() {
                return Poll::Ready(());
            }
            if !outbox.is_empty() && transport.gather(outbox, now).is_ok_and(|more| more) {
                continue;
            }
            match transport.poll_write(cx, outbox, now) {
                Poll::Ready(Ok(())) => {
                    self.blocked_since = None;
                    self.wrote = true;
                    if let Some(drain) = &mut self.drain {
                        drain.note_written();
                    }
                }
                Poll::Ready(Err(error)) => {
                    self.handle_write_failure(cx, now, error);
                    return self.poll_write(cx, now);
                }
                Poll::Pending => {
                    if self.blocked_since.is_none() || transport.take_progress() {
                        self.blocked_since = Some(now);
                    }
                    self.note_blocked(now);
                    // It may have waited for the write with its conclusions.
                    let _ = self.machine.poll_write(now);
                    return Poll::Pending;
                }
            }
        }
    }
    /// Client: whether bytes of a request's body are still here behind its response, or may be among those that the transport
    /// has not taken.
    pub(crate) fn is_sending(&mut self, stream: StreamId) -> bool {
        let is_unflushed = match &self.carrier {
            IoKind::Bytes(transport) => {
                !transport.is_flushed() || !self.machine.written().is_empty()
            }
            IoKind::Quic(_) => false,
        };
        !self.broken && (is_unflushed || self.machine.is_sending(stream))
    }
    /// Client: whether bytes of a request's body wait for the peer: in the machine, or because the transport takes no more.
    pub(crate) fn is_held_back(&self, stream: StreamId) -> bool {
        !self.broken && (self.blocked_since.is_some() || self.machine.is_sending(stream))
    }
    /// Carries out the deadlines that have passed; false when none has.
    pub(crate) fn expire_due(&mut self, now: Instant) -> bool {
        let due = self.next_deadline().is_some_and(|deadline| deadline <= now);
        if due {
            self.expire(now);
        }
        due
    }
    /// Carries out the deadlines that have passed. `Ready`: one had, the machine may have events
    /// and bytes; `Pending`: the timer is armed (or none is needed).
    pub(crate) fn poll_timer(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        let Some(deadline) = self.next_deadline() else {
            return Poll::Pending;
        };
        if deadline <= now {
            self.expire(now);
            return Poll::Ready(());
        }
        if self.armed_at().is_none_or(|armed| deadline < armed) {
            self.arm(cx, deadline);
        }
        Poll::Pending
    }
    /// Whether the timer may have fired: then [`poll_alarm`](Self::poll_alarm) is due. A future that
    /// always runs on one task need not look at the timer before.
    pub(crate) fn is_alarm_due(&self, now: Instant) -> bool {
        self.armed_at().is_some_and(|at| at <= now)
    }
    /// When the timer fires.
    fn armed_at(&self) -> Option<Instant> {
        let timer = self.timer.as_ref().filter(|_| self.is_armed);
        timer.map(|timer| timer.deadline().into_std())
    }
    /// The timer may have fired: arm it again for the deadline of now. Called once per turn.
    pub(crate) fn poll_alarm(&mut self, cx: &mut Context<'_>) {
        if self.is_armed
            && let Some(timer) = &mut self.timer
            && timer.as_mut().poll(cx).is_ready()
        {
            self.is_armed = false;
        }
    }
    fn next_deadline(&mut self) -> Option<Instant> {
        let carrier = match &mut self.carrier {
            IoKind::Bytes(_) => None,
            IoKind::Quic(quic) => quic.next_deadline(),
        };
        let stalled = self
            .blocked_since
            .zip(self.stall_max())
            .map(|(since, limit)| since + limit);
        [
            self.machine.next_deadline(),
            carrier,
            stalled,
            self.look_for_loss_at(),
            self.release_at,
            self.drain.as_deref().and_then(Drain::next_deadline),
        ]
        .into_iter()
        .flatten()
        .min()
    }
    fn expire(&mut self, now: Instant) {
        if let IoKind::Quic(quic) = &mut self.carrier {
            quic.expire(now, &mut self.machine);
        }
        self.look_at_socket(now);
        self.look_for_loss(now);
        self.machine.handle_timeout(now);
        // It dropped what the socket did not take.
        if self.blocked_since.is_some()
            && self.machine.is_closed()
            && self.machine.poll_write(now).is_empty()
        {
            self.give_up();
        }
        if let (Some(since), Some(limit)) = (self.blocked_since, self.stall_max())
            && since + limit <= now
        {
            let is_client = self.machine.side() == Side::Client;
            if self.broken && is_client && !self.read_closed && !self.machine.wants_read() {
                // The reader's delay is not the transport's.
                self.blocked_since = Some(now);
            } else {
                self.blocked_since = None;
                self.give_up();
                self.end_reading(now, TransportEnd::Failed);
            }
        }
        if self.release_at.is_some_and(|at| at <= now) {
            // Since it was set, bytes may have come and gone again.
            self.release_at = self.read_at.map(|at| at + self.release_after());
            if self.release_at.is_none_or(|at| at <= now) {
                self.release_at = None;
                if self.is_idle() {
                    self.machine.release();
                    self.drain = None;
                    self.has_released = true;
                    self.holds = false;
                    self.released = true;
                }
            }
        }
    }
    /// How long it idles before it gives its buffers back.
    fn release_after(&self) -> Duration {
        match self.has_released {
            true => RELEASE_AFTER,
            false => RELEASE_FIRST_AFTER,
        }
    }
    fn is_idle(&self) -> bool {
        self.machine.active() == 0
    }
    fn arm(&mut self, cx: &mut Context<'_>, deadline: Instant) {
        self.is_armed = true;
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(deadline.into()),
            none => *none = Some(Box::pin(timer::sleep_until(deadline.into()))),
        }
        self.poll_alarm(cx);
        if !self.is_armed {
            // It passed meanwhile: look again at once.
            cx.waker().wake_by_ref();
        }
    }
    /// Whether the machine is done and everything is written: what is left is
    /// [`poll_shutdown`](Self::poll_shutdown).
    pub(crate) fn is_done(&mut self, now: Instant) -> bool {
        if !self.machine.is_closed() {
            return false;
        }
        match &self.carrier {
            _ if self.broken => true,
            IoKind::Bytes(transport) => {
                self.machine.poll_write(now).is_empty() && transport.is_flushed()
            }
            IoKind::Quic(quic) => quic.is_done(now),
        }
    }
    /// Whether the peer has ended its side.
    pub(crate) fn is_read_closed(&self) -> bool {
        self.read_closed || self.broken
    }
    /// Asks whether the peer lives, over HTTP/2 and QUIC; HTTP/1.1 has no such question.
    pub(crate) fn ask(&mut self, now: Instant) {
        match &mut self.carrier {
            IoKind::Bytes(_) => {
                self.machine.ping(now);
            }
            IoKind::Quic(quic) => quic.ask(&mut self.machine),
        }
    }
    /// Data that a QUIC peer has not acknowledged; for a byte stream the kernel knows.
    pub(crate) fn unanswered(&self) -> Option<Unanswered> {
        match &self.carrier {
            IoKind::Bytes(_) => None,
            IoKind::Quic(quic) => quic.unanswered(),
        }
    }
    /// Whether a byte stream took bytes since this was asked last.
    pub(crate) fn take_wrote(&mut self) -> bool {
        std::mem::take(&mut self.wrote)
    }
    /// The socket of a byte stream.
    pub(crate) fn socket(&self) -> Option<&S> {
        match &self.carrier {
            IoKind::Bytes(transport) => Some(transport.socket()),
            IoKind::Quic(_) => None,
        }
    }
    /// QUIC: goes on from another local address. What has no other path keeps its own.
    pub(crate) fn change_path(&mut self) {
        if let IoKind::Quic(quic) = &mut self.carrier {
            quic.change_path(&mut self.machine);
        }
    }
    /// How long an answer takes, where that is known.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        match &self.carrier {
            IoKind::Bytes(_) => self.machine.round_trip(),
            IoKind::Quic(quic) => Some(quic.slow_round_trip()),
        }
    }
    /// Whether requests go out as early data now, which an attacker may record and replay.
    pub(crate) fn is_early(&self) -> bool {
        match &self.carrier {
            IoKind::Bytes(_) => false,
            IoKind::Quic(quic) => quic.is_early(),
        }
    }
    /// The largest HTTP datagram that a packet holds now; `None`: not both sides take them.
    pub(crate) fn datagram_size(&mut self) -> Option<usize> {
        match &mut self.carrier {
            IoKind::Bytes(_) => None,
            IoKind::Quic(quic) => quic.datagram_size(&mut self.machine),
        }
    }
    /// The time of the peer's last bytes.
    pub(crate) fn read_at(&self) -> Option<Instant> {
        self.read_at
    }
    /// Reads and drops until the peer ends; `came` is set where bytes came.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>, came: &mut bool) -> Poll<()> {
        match &mut self.carrier {
            IoKind::Bytes(transport) => transport.poll_discard(cx, came),
            IoKind::Quic(_) => Poll::Ready(()),
        }
    }
    /// The owner is gone: everything open is reset, nothing more is written.
    #[cfg(feature = "client")]
    pub(crate) fn abandon(&mut self, now: Instant, code: H2Code) {
        self.machine.abort(now, code);
        self.broken = true;
    }
    /// The owner goes to sleep. A connection without an exchange gives its buffers back soon, but
    /// not between two batches of requests. True: it just did, and the owner may do the same.
    pub(crate) fn rest(&mut self, now: Instant) -> bool {
        if self.holds && self.release_at.is_none() && self.is_idle() {
            self.release_at = Some(now + self.release_after());
        }
        std::mem::take(&mut self.released)
    }
    /// The byte stream, for an owner that moves its bytes itself from now on; QUIC has none.
    pub(crate) fn transport(&mut self) -> Option<&mut Transport<S>> {
        match &mut self.carrier {
            IoKind::Bytes(transport) => Some(transport),
            IoKind::Quic(_) => None,
        }
    }
    /// How long the peer may take nothing of what waits, now.
    pub(super) fn write_stall(&self) -> Option<Duration> {
        let timeouts = &self.config.as_ref()?.timeouts;
        stall_now(timeouts, || self.machine.is_scarce_to_send())
    }
    /// As [`write_stall`](Self::write_stall), for the bytes of a tunnel that the connection becomes.
    pub(crate) fn tunnel_stall(&self) -> Option<TunnelStall> {
        TunnelStall::of(&self.config.as_ref()?.timeouts, self.machine.scarcity())
    }
    /// Takes the byte stream out, for an upgrade; QUIC has none.
    pub(crate) fn into_transport(self) -> Option<Transport<S>> {
        match self.carrier {
            IoKind::Bytes(transport) => Some(transport),
            IoKind::Quic(_) => None,
        }
    }
}

/// How long the end of a transport is waited for that takes nothing more. A reset is there already,
/// with all that came before it; it only has to be seen.
const LAST_READ_MAX: Duration = Duration::from_secs(1);
/// How long a connection idles before it gives its buffers back. To get them anew costs about a
/// microsecond, and to look at the clock for it as much.
pub(crate) const RELEASE_AFTER: Duration = Duration::from_millis(100);
/// As `RELEASE_AFTER`, before the first release: at once, which costs a microsecond once in a
/// connection's life. Of many connections that open together for one request each, only the busy
/// ones hold buffers.
const RELEASE_FIRST_AFTER: Duration = Duration::ZERO;

#[cfg(test)]
#[path = "connection_io_test.rs"]
mod connection_io_test;
