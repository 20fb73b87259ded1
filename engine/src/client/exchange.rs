//! The shared state of one request and the slot for its outcome. The connection's task stores the
//! outcome, the user's future takes it; either may come first, and either may be dropped.

pub(super) mod compose;
pub(super) mod reason_phrase;

use super::connect::route::displayed;
use super::listener::ExchangeListener;
use crate::body::Body;
use crate::body::window::Wanted;
use crate::connection_info::traffic::Traffic;
use crate::driver::signals::Signals;
use crate::error::timeline::History;
use crate::error::{Attempted, Error, ErrorKind, Progress};
use crate::metrics::client::counters::ClientCounts;
use http::Response;
use http_body::Body as _;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::Id;
use trunkline_core::error::H2Code;
use trunkline_core::http::idempotence::{is_idempotent, may_be_early, may_be_pipelined};
use trunkline_core::http::{RequestHead, StreamId, Token, Version};
use trunkline_core::inspect::StreamWait;
use trunkline_core::pool::{ConnectionId, Origin, Rank, Ticket, WaitLimit, WaitReason};

/// A callback for 1xx responses.
pub(super) type OnInterim = Arc<dyn Fn(Response<()>) + Send + Sync>;

/// Metadata that servers of gRPC take without saying so: 8 KiB, by its specification over HTTP/2 and by the defaults of its libraries.
const METADATA_BYTES_SURE: usize = 8 * 1024;

/// A request between the user and the wire. Dropping it settles its exchange: none is ever lost.
pub(super) struct Outgoing {
    pub(super) exchange: Arc<Exchange>,
    pub(super) origin: Arc<Origin>,
    pub(super) head: RequestHead,
    pub(super) body: Body,
    pub(super) on_interim: Option<OnInterim>,
    /// The listener of the outcome, where no future waits for it. Taken when the response is
    /// delivered.
    pub(super) listener: Option<Box<dyn ExchangeListener>>,
    /// Its exchange has its outcome.
    pub(super) is_settled: bool,
    /// The runtime that it was sent in.
    pub(super) runtime: Option<Id>,
    /// Its place in line.
    pub(super) rank: Rank,
    pub(super) wanted: Wanted,
    /// The connection whose number its listener has.
    pub(super) announced_on: Option<ConnectionId>,
    /// Times it was put on a connection.
    pub(super) tries: u32,
    /// Connections that ended before they answered anything and before it was written to them.
    pub(super) unused: u32,
    /// The bytes of the connection that it was put on last.
    pub(super) traffic: Option<Traffic>,
    /// How it ended there.
    pub(super) attempts: Vec<Attempted>,
    /// A peer may have processed it: it was lost with a connection and is sent again (class B).
    pub(super) perhaps_processed: bool,
    pub(super) patience: Patience,
    /// It asks for the connection itself: an upgrade, or CONNECT.
    pub(super) leaves_http: bool,
    /// An HTTP/1.1 connection ends behind it.
    pub(super) ends_connection: bool,
    /// The connection that it is on gets no other behind it.
    pub(super) is_last: bool,
    /// The user's statement that repeating the request is safe; `None`: its method decides.
    pub(super) idempotent: Option<bool>,
    /// HTTP/1.1: nothing is pipelined behind it before it is answered.
    pub(super) blocks: bool,
    /// HTTP/1.1: its head waits for the first piece of its body, or for the body's end.
    pub(super) head_with_body: bool,
    /// An HTTP/1.1 connection ends behind it if it has a body.
    pub(super) body_ends_connection: bool,
    /// HTTP/1.1: its target is written in absolute form.
    pub(super) absolute_form: bool,
    pub(super) early: Early,
    pub(super) wait_until: Option<Instant>,
    /// The longest time without a start of a request of its origin while it waits.
    pub(super) wait_stall: Option<Duration>,
    pub(super) total_until: Option<Instant>,
    /// When its user sent it.
    pub(super) submitted_at: Instant,
    /// Why it waited before the connection that it was put on last.
    pub(super) waited_for: Option<WaitReason>,
    /// Why it did not move on that connection when its deadline passed.
    pub(super) held_by: Option<StreamWait>,
    /// The version of that connection and when it started there.
    pub(super) started: Option<(Version, Instant)>,
}

impl Outgoing {
    /// A request that goes out as its head says, in no hurry, with no deadline; its exchange receives
    /// the outcome.
    pub(super) fn new(
        now: Instant,
        origin: Arc<Origin>,
        head: RequestHead,
        body: Body,
    ) -> Box<Self> {
        Box::new(Self {
            exchange: Arc::default(),
            origin,
            head,
            body,
            on_interim: None,
            listener: None,
            is_settled: false,
            runtime: None,
            rank: Rank::default(),
            wanted: Wanted::default(),
            announced_on: None,
            tries: 0,
            unused: 0,
            traffic: None,
            attempts: Vec::new(),
            perhaps_processed: false,
            patience: Patience {
                headers: None,
                body: None,
            },
            leaves_http: false,
            ends_connection: false,
            is_last: false,
            idempotent: None,
            blocks: false,
            head_with_body: false,
            body_ends_connection: false,
            absolute_form: false,
            early: Early::default(),
            wait_until: None,
            wait_stall: None,
            total_until: None,
            submitted_at: now,
            waited_for: None,
            held_by: None,
            started: None,
        })
    }
    /// Its user waits for it from now on, perhaps some time after it was made: its time in line begins.
    pub(super) fn begin(&mut self, now: Instant) {
        let late = self.age(now);
        self.wait_until = self.wait_until.map(|until| until + late);
        self.submitted_at = now;
    }
    /// How long ago its user sent it.
    pub(super) fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.submitted_at)
    }
    /// How long it may wait in line.
    pub(super) fn wait_limit(&self) -> WaitLimit {
        WaitLimit {
            deadline: self.wait_until.into_iter().chain(self.total_until).min(),
            stall: self.wait_stall,
        }
    }
    /// Whether the request may be sent as early data, which an attacker may record and replay.
    pub(super) fn may_be_early(&self) -> bool {
        self.early != Early::Never
            && self.idempotent != Some(false)
            && may_be_early(self.head.method())
            && self.body.is_end_stream()
            && !self.leaves_http
    }
    /// Whether it is a call of gRPC whose metadata may be more than its server takes.
    pub(super) fn is_large_call(&self) -> bool {
        self.head.section().size() > METADATA_BYTES_SURE
            && self
                .head
                .get(Token::CONTENT_TYPE)
                .is_some_and(|media_type| media_type.starts_with(b"application/grpc"))
    }
    /// Whether sending it twice intends the same as sending it once.
    pub(super) fn is_idempotent(&self) -> bool {
        let by_method = || is_idempotent(self.head.method());
        self.idempotent.unwrap_or_else(by_method)
    }
    /// Whether the request is not pipelined behind others that are not answered yet: it changes something, so that it is not sent again where
    /// the connection ends (RFC 9112 section 9.3.2), it takes the connection, or its body comes from a source, whose failure ends
    /// the connection and with it those in front.
    pub(super) fn stands_alone(&self) -> bool {
        let is_whole = || self.body.is_end_stream() || self.body.whole().is_some();
        let by_method = || may_be_pipelined(self.head.method());
        !self.idempotent.unwrap_or_else(by_method) || self.leaves_http || !is_whole()
    }
    /// Gives its listener the number of the connection on which it starts, once.
    pub(super) fn announce_start(&mut self, on: ConnectionId) {
        if self.announced_on != Some(on)
            && let Some(listener) = &mut self.listener
        {
            listener.started(on.number());
            self.announced_on = Some(on);
        }
    }
    /// Fails the request, which `counts` gets.
    pub(super) fn fail(mut self: Box<Self>, counts: &ClientCounts, error: Error) {
        counts.failures.count(error.kind());
        let error = counts.timelines.note(self.annotate(error));
        self.complete_failed(error);
    }
    /// Fails the user's wait for the response with `error`.
    pub(super) fn complete_failed(&mut self, error: Error) {
        match self.listener.take() {
            None => self.exchange.complete(Err(error)),
            Some(mut listener) if !self.exchange.is_abandoned() => listener.fail(error),
            Some(_) => {}
        }
    }
    /// Adds to `error` what happened to the request before.
    pub(super) fn annotate(&mut self, error: Error) -> Error {
        let error = match self.perhaps_processed {
            true => error.with_processing_possible(),
            false => error,
        };
        error
            .with_was_sent(self.tries > 0)
            .with_tries(self.tries)
            .with_history(History {
                target: self.target(),
                took: self.age(Instant::now()),
            })
            .with_attempts(std::mem::take(&mut self.attempts))
    }
    /// The request's method and origin, for people.
    fn target(&self) -> String {
        let method = String::from_utf8_lossy(self.head.method());
        format!("{method} {}", displayed(&self.origin))
    }
    /// Notes that the exchange ended on `connection` with `ended`. `progress`: how far it had come there, and when it last moved.
    pub(super) fn note_end(
        &mut self,
        connection: ConnectionId,
        ended: ErrorKind,
        progress: Option<(Progress, Instant)>,
    ) {
        let traffic = self.traffic.as_ref();
        let started = self.started.take();
        let (progress, moved_at) = progress.unwrap_or((Progress::Unsent, self.submitted_at));
        self.attempts.push(Attempted {
            connection: connection.number(),
            ended,
            bytes_read: traffic.map_or(0, Traffic::bytes_read),
            bytes_written: traffic.map_or(0, Traffic::bytes_written),
            version: started.map(|(version, _)| version),
            waited_for: self.waited_for.take(),
            started_after: started.map(|(_, at)| self.age(at)),
            ended_after: self.age(Instant::now()),
            progress,
            moved_after: self.age(moved_at),
            held_by: self.held_by.take(),
        });
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        // Only the first outcome counts.
        if self.listener.is_some() {
            self.complete_failed(lost(self.tries > 0));
        } else if !self.is_settled {
            self.exchange.complete_lost(self.tries > 0);
        }
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("origin", &self.origin)
            .field("tries", &self.tries)
            .finish_non_exhaustive()
    }
}

/// Whether a request may go out with its connection's handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Early {
    #[default]
    Perhaps,
    /// It did.
    Sent,
    /// It did, and that was too early.
    Never,
}

/// How long an exchange may stand still on its connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Until the response's head.
    pub(super) headers: Option<Duration>,
    /// Between two pieces of its body.
    pub(super) body: Option<Duration>,
}

/// The error of a request whose task is dropped. `was_sent`: it was on a connection.
fn lost(was_sent: bool) -> Error {
    let error = Error::cancelled("the request was given up: its task or its runtime is gone");
    match was_sent {
        true => error.with_processing_possible().with_was_sent(true),
        false => error,
    }
}

/// Where a response arrives.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    outcome: Option<Result<Response<Body>, Error>>,
    completed: bool,
    /// The user's future was dropped.
    abandoned: bool,
    /// Bytes that were written to the tunnel that it is leave all the same.
    left: bool,
    /// The source of the request's body has failed, and the user has dropped the request for it.
    source_failed: bool,
    waker: Option<Waker>,
    ticket: Option<Ticket>,
    /// The connection it is on, with its slot there.
    on: Option<(Arc<Signals>, u32)>,
    /// Its stream there.
    stream: Option<StreamId>,
}

impl Exchange {
    /// Records the place in the queue. False: the user has dropped the request.
    pub(super) fn wait_with(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        state.ticket = Some(ticket);
        !state.abandoned
    }
    /// Attaches the request to a connection. False: the user has dropped it.
    pub(super) fn attach(&self, signals: &Arc<Signals>, slot: u32) -> bool {
        let mut state = self.lock();
        if state.abandoned {
            return false;
        }
        state.ticket = None;
        state.on = Some((Arc::clone(signals), slot));
        true
    }
    /// Reports the stream that carries the request; only a listener's exchange uses it.
    pub(super) fn open_as(&self, stream: StreamId) {
        self.lock().stream = Some(stream);
    }
    /// Bytes of the response's body were taken.
    pub(super) fn take(&self, bytes: usize) {
        let state = self.lock();
        if let (Some((signals, _)), Some(stream)) = (&state.on, state.stream) {
            signals.taken(stream, bytes);
        }
    }
    /// Cancels the request on its connection, after its user has dropped it. `Some`: it waits in the
    /// queue, and leaves it with this ticket.
    pub(super) fn abandon(&self) -> Option<Ticket> {
        let mut state = self.lock();
        state.abandoned = true;
        let (ticket, on) = (state.ticket.take(), state.on.take());
        let unread = state.outcome.take();
        drop(state);
        drop(unread);
        match on {
            Some((signals, slot)) => {
                signals.ready(slot);
                None
            }
            None => ticket,
        }
    }
    /// As [`abandon`](Self::abandon), of a tunnel: what was written to it leaves.
    pub(super) fn leave(&self) -> Option<Ticket> {
        self.lock().left = true;
        self.abandon()
    }
    /// As [`abandon`](Self::abandon), because the source of the request's body has failed.
    pub(super) fn fail_source(&self) -> Option<Ticket> {
        self.lock().source_failed = true;
        self.abandon()
    }
    /// The code that a request which its user has dropped is reset with.
    pub(super) fn reset_code(&self) -> H2Code {
        match self.lock().source_failed {
            true => H2Code::INTERNAL_ERROR,
            // RFC 9113 section 7: it says that nothing is wrong.
            false => H2Code::CANCEL,
        }
    }
    /// Whether the user has dropped a tunnel, whose bytes still leave.
    pub(super) fn is_left(&self) -> bool {
        self.lock().left
    }
    /// Its ticket in the queue; `None`: it is on a connection, or has ended.
    pub(super) fn ticket(&self) -> Option<Ticket> {
        self.lock().ticket
    }
    /// Takes the outcome, or wakes the task of `cx` when it is there.
    pub(super) fn poll_outcome(&self, cx: &Context<'_>) -> Poll<Result<Response<Body>, Error>> {
        let mut state = self.lock();
        if let Some(outcome) = state.outcome.take() {
            return Poll::Ready(outcome);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
    /// Detaches an unanswered request from its connection. False: the user has dropped it.
    pub(super) fn detach(&self) -> bool {
        let mut state = self.lock();
        state.on = None;
        !state.abandoned
    }
    /// Whether the user's future was dropped before the response.
    pub(super) fn is_abandoned(&self) -> bool {
        self.lock().abandoned
    }
    /// Stores the first outcome and drops later ones. Discards it when the user has dropped the
    /// request.
    pub(super) fn complete(&self, outcome: Result<Response<Body>, Error>) {
        let mut state = self.lock();
        if state.completed {
            return;
        }
        state.completed = true;
        state.on = None;
        let (unwanted, waker) = match state.abandoned {
            true => (Some(outcome), None),
            false => {
                state.outcome = Some(outcome);
                (None, state.waker.take())
            }
        };
        drop(state);
        // A body dropped here leaves notes of its own: not under our lock.
        drop(unwanted);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    fn complete_lost(&self, was_sent: bool) {
        if !self.lock().completed {
            self.complete(Err(lost(was_sent)));
        }
    }
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
