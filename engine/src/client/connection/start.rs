//! Starts the exchanges that the pool dispatched to this connection.

mod held_heads;

pub(super) use held_heads::HeldHeads;

use super::ConnectionTask;
use super::entry::{ExchangeEntry, Incoming, Upload};
use super::health::HEALTH;
use super::send::UNFLUSHED;
use crate::client::dispatch::INBOX;
use crate::client::exchange::{Early, Outgoing};
use crate::driver::machine::Machine;
use crate::error::{Error, ErrorKind, Fault, Retry};
use http_body::Body as _;
use std::task::Context;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::{Misuse, Violation};
use trunkline_core::h1::OpenOptions;
use trunkline_core::http::{StreamId, Token};

/// The slot number that stands for the requests that wait for the peer's settings, among the
/// connection's deadlines.
pub(super) const SETTINGS_WAIT: u32 = HEALTH - 1;
const _: () = assert!(UNFLUSHED < SETTINGS_WAIT);

/// A request that waits for the peer's settings.
pub(super) struct Unsettled {
    request: Box<Outgoing>,
    /// Its time is up then.
    until: Option<Instant>,
}

impl Unsettled {
    /// Ends the wait. `None`: the user has dropped the request.
    pub(super) fn go(self) -> Option<Box<Outgoing>> {
        self.request.exchange.detach().then_some(self.request)
    }
    fn is_late(&self, now: Instant) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

/// The error of a request that the machine does not take.
fn refusal(misuse: Misuse) -> Error {
    let error = Error::misuse(misuse);
    match misuse {
        Misuse::Invalid(Violation::FieldSectionTooLarge) => {
            error.with_text("the head is larger than the server says it takes, and was not sent")
        }
        _ => error,
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// Reads ahead of the first request of an HTTP/1.1 connection. A server may answer before it has read
    /// anything: the requests for which the connection was opened start before their machine sees such bytes, which
    /// would be an answer to none. Where it ends instead, nothing of them is touched, and they go elsewhere.
    pub(super) fn read_first(&mut self, cx: &mut Context<'_>, now: Instant) {
        if self.taken > 0 || !matches!(self.io.machine, Machine::H1(_)) {
            return;
        }
        let ahead = self.io.read_ahead(cx, now);
        if !ahead.is_empty() {
            self.take_arrivals(now);
            self.io.machine.handle_bytes(now, &ahead);
            self.take_events(now);
        }
    }

    /// Starts what the pool dispatched.
    pub(super) fn take_arrivals(&mut self, now: Instant) {
        self.start_held(now);
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.handle.take(&mut arrivals);
        self.taken += arrivals.len() as u64;
        let is_limit_known = self.io.machine.is_limit_known();
        let is_early = self.io.is_early();
        for request in arrivals.drain(..) {
            // RFC 8441 section 3: an extended CONNECT only after the server has said that it takes
            // it. SETTINGS come after the handshake, with which not everything may go out.
            // Metadata that the server does not take are for nothing, and may end the connection: it says what it takes.
            let waits = request.head.protocol().is_some()
                || is_early && !request.may_be_early()
                || request.is_large_call();
            match waits && !is_limit_known {
                true => self.hold(now, request),
                false => self.start_with_body(now, request),
            }
        }
        self.arrivals = arrivals;
        if is_limit_known {
            for unsettled in std::mem::take(&mut self.unsettled) {
                if let Some(request) = unsettled.go() {
                    self.start(now, request);
                }
            }
        }
    }

    /// Keeps a request until the peer's settings arrive. It counts as on the connection, which
    /// alone watches its deadline and its cancellation.
    fn hold(&mut self, now: Instant, request: Box<Outgoing>) {
        if !request.exchange.attach(&self.handle.signals, INBOX) {
            return;
        }
        let headers = request.patience.headers.map(|patience| now + patience);
        let until = headers.into_iter().chain(request.total_until).min();
        if let Some(until) = until {
            self.deadlines.push(until, SETTINGS_WAIT, 0);
        }
        self.unsettled.push(Unsettled { request, until });
    }

    /// Returns the requests whose wait for the peer's settings has timed out.
    pub(super) fn sweep_unsettled(&mut self, now: Instant) {
        let is_over = |it: &mut Unsettled| it.request.exchange.is_abandoned() || it.is_late(now);
        for unsettled in self.unsettled.extract_if(.., is_over) {
            let is_total = unsettled.request.total_until.is_some_and(|at| at <= now);
            if let Some(request) = unsettled.go() {
                let late = Error::new(ErrorKind::Timeout, Fault::Peer, Retry::Safe);
                request.fail(
                    &self.settings.counts,
                    late.with_text(match is_total {
                        true => "the request took longer than its total timeout",
                        false => "the peer did not say its settings within the headers timeout",
                    }),
                );
            }
        }
    }

    /// Sets the options of an exchange that the machine needs before it is opened.
    fn set_open_options(&mut self, request: &Outgoing) {
        let has_body = !request.body.is_end_stream();
        let is_last = request.ends_connection || request.is_last;
        self.io.machine.set_open_options(OpenOptions {
            closes: is_last || request.body_ends_connection && has_body,
            ends_pipeline: request.blocks,
            absolute_form: request.absolute_form,
        });
    }

    /// Opens the exchange of a request. A call of gRPC with more metadata than its server takes is refused.
    fn open(&mut self, now: Instant, request: &Outgoing, end: bool) -> Result<StreamId, Misuse> {
        self.set_open_options(request);
        if request.is_large_call() {
            self.io.machine.check_size(request.head.section())?;
        }
        self.io.machine.open(now, &request.head, end)
    }

    pub(super) fn start(&mut self, now: Instant, mut request: Box<Outgoing>) {
        let slot = self.slots.vacant();
        if !request.exchange.attach(&self.handle.signals, slot) {
            return;
        }
        self.check_health(now);
        let (mut upload, mut at_once) = match request.leaves_http {
            // Its body is what is written behind the answer.
            true => (Upload::Done, None),
            false => Upload::of(&request.body),
        };
        let end = matches!(upload, Upload::Done) && at_once.is_none();
        if !end
            && let Some(wait) = self.settings.timeouts.expect
            && request.head.get(Token::EXPECT).is_some()
        {
            (upload, at_once) = (Upload::Deferred(now + wait), None);
        }
        let stream = match self.open(now, &request, end) {
            Ok(stream) => stream,
            Err(Misuse::NoCapacity | Misuse::ConnectionClosed) => {
                return self.send_elsewhere(now, request);
            }
            Err(misuse) => return request.fail(&self.settings.counts, refusal(misuse)),
        };
        self.handle.counts.started(request.age(now));
        request.tries += 1;
        request.started = Some((self.io.machine.version(), now));
        request.traffic = self.io.traffic().cloned();
        if self.io.is_early() {
            request.early = Early::Sent;
            self.count(|counts| &counts.sent);
        }
        request.wanted.announce(&mut self.io.machine, now, stream);
        let has_listener = request.listener.is_some();
        if has_listener {
            request.exchange.open_as(stream);
            request.announce_start(self.id);
        }
        let datagrams = self.open_datagrams(&request.head, stream);
        let entry = ExchangeEntry {
            request,
            has_listener,
            stream,
            serial: self.taken,
            upload,
            body_read: false,
            interim_seen: false,
            incoming: Incoming::Awaited,
            datagrams,
            progress_at: now,
            unsent: None,
        };
        let due = entry.due();
        let serial = self.slots.insert(slot, entry);
        self.watch_silence();
        if let Some(due) = due {
            self.deadlines.push(due, slot, serial);
            let slots = &self.slots;
            self.deadlines.tidy(slots.len(), |slot, serial| {
                slot >= UNFLUSHED || slots.get(slot).is_some_and(|entry| entry.serial == serial)
            });
        }
        match at_once {
            Some(bytes) => self.send_whole(now, slot, bytes),
            None => self.pump(now, slot),
        }
    }

    /// A request of which the peer provably processed nothing goes back to the pool.
    pub(super) fn send_elsewhere(&mut self, now: Instant, request: Box<Outgoing>) {
        if !request.exchange.detach() {
            return;
        }
        match self.dispatch.upgrade() {
            Some(dispatch) => dispatch.resubmit(now, request, self.id, self.ended_unused()),
            None => {
                let error = Error::cancelled("the client was dropped");
                request.fail(&self.settings.counts, error);
            }
        }
    }
}
