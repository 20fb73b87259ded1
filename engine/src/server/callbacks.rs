//! The callback API of a server, for embedders that answer from one place, such as the Node.js
//! addon. Events arrive on the worker thread with parsed heads; responses are queued as commands.
//! No future, waker or `HeaderMap` per request.

mod exchange;
mod exchange_timeline;
mod exchanges;
mod heads;
mod held;
mod refused;
pub(super) mod serve;
mod tunnel;

use super::exchange::control::{ControlCommand, PeerEvent};
use super::exchange::serve::Pause;
use super::observe::handshake_failure::HandshakeFailure;
use super::response::{AnswerOptions, RequestFacts, length_of};
use crate::connection_info::ConnectionInfo;
use crate::driver::signals::{Signals, Stop};
use bytes::Bytes;
use heads::{HeadSpec, trailers};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::{H2Code, Violation};
use trunkline_core::h2::Accounts;
use trunkline_core::http::{Fields, Refused, RequestHead, ResponseHead, StreamId, Version};

/// Receives the connections of one server and their requests, on the worker thread. It must not
/// block.
///
/// Each connection whose handshake is done is reported with [`connected`](Self::connected) and
/// [`disconnected`](Self::disconnected), and each exchange between them with
/// [`requested`](Self::requested) and [`ended`](Self::ended).
pub trait Callbacks: Clone + 'static {
    /// The embedder's state of a connection.
    type Connection: 'static;
    /// The embedder's state of an exchange.
    type Exchange: 'static;

    /// Polled before each read, and before a connection is accepted: `Some` while the embedder
    /// cannot take more events. Until the pause completes no input is read, the peers' windows and
    /// the kernel's buffers fill, and no deadline of theirs passes; responses are still sent.
    /// Default: never.
    fn pause(&self) -> Option<Pause> {
        None
    }
    /// Asked for each connection that a server with a [second worker](crate::server::BoundServer::second_worker) accepts, on the thread of the first:
    /// whether the second is to serve it, once it has started. Default: no.
    fn leaves_connection(&self) -> bool {
        false
    }
    /// How far the embedder is behind as of `now`: how long its oldest event has waited for it. Asked every 50 ms where
    /// [`Shedding::lag_max`](crate::Shedding::lag_max) is set, which bounds it too. Default: not at all.
    fn lag(&self, now: Instant) -> Duration {
        let _ = now;
        Duration::ZERO
    }
    /// A connection's handshake is done, or, without TLS, its first bytes gave its version. A
    /// connection with early data ([`Server::early_data`](crate::Server::early_data)) is reported
    /// before that. `commands` takes commands for it. `info` is present if
    /// [`ServerConfig::connection_info`](crate::ServerConfig::connection_info) is set.
    fn connected(
        &self,
        commands: ConnectionHandle,
        version: Version,
        info: Option<&ConnectionInfo>,
    ) -> Self::Connection;
    /// A cleartext connection was accepted 10 ms ago and its first bytes, which say its version, have not come, or it ended before
    /// them. Only where
    /// [`ServerConfig::accept_events`](crate::ServerConfig::accept_events) is set. A callback that returns the connection gets
    /// [`identified`](Self::identified) in place of [`connected`](Self::connected), or
    /// [`disconnected`](Self::disconnected). Until then `commands` does nothing but end the connection.
    fn accepted(
        &self,
        commands: ConnectionHandle,
        info: Option<&ConnectionInfo>,
    ) -> Option<Self::Connection> {
        let _ = (commands, info);
        None
    }
    /// The first bytes of a connection from [`accepted`](Self::accepted) said its version.
    fn identified(&self, connection: &Self::Connection, version: Version) {
        let _ = (connection, version);
    }
    /// The next request of this connection asks to leave HTTP/1.1 (an upgrade, or CONNECT), and these bytes came with it, behind
    /// it. They come again: where the exchange leaves HTTP as the first of its bodies, otherwise as a request.
    fn upgrade_head(&self, connection: &Self::Connection, bytes: &[u8]) {
        let _ = (connection, bytes);
    }
    /// A request arrived. `end`: it has no body. Early data may be a replay ([`StreamHandle::is_early`]).
    fn requested(
        &self,
        connection: &Self::Connection,
        handle: StreamHandle,
        head: &RequestHead,
        end: bool,
    ) -> Self::Exchange;
    /// Bytes of the request's body came; `end`: the last. They count as unread until
    /// [`ConnectionHandle::take`], and unread bytes hold the peer back.
    fn body(&self, exchange: &Self::Exchange, data: Bytes, end: bool);
    /// The request ended with trailers.
    fn trailers(&self, exchange: &Self::Exchange, trailers: &Fields);
    /// The client of an open exchange has ended its side of an HTTP/1.1 connection: it waits for its
    /// answer or is gone, which look the same. It may be answered, for as long as
    /// `Timeouts::half_closed` says.
    fn half_closed(&self, exchange: &Self::Exchange) {
        let _ = exchange;
    }
    /// The connection took `bytes` of a body that is sent piece by piece.
    fn room(&self, exchange: &Self::Exchange, bytes: usize);
    /// The exchange has failed or was slow, and its timeline is kept under this number: before [`ended`](Self::ended), where timelines are kept
    /// ([`Server::keep_timelines`](crate::Server::keep_timelines)).
    fn timeline(&self, exchange: &Self::Exchange, id: u64) {
        let _ = (exchange, id);
    }
    /// The exchange is over.
    fn ended(&self, exchange: Self::Exchange, how: Ended);
    /// The peer said something of the connection itself.
    fn received(&self, connection: &Self::Connection, received: PeerEvent) {
        let _ = (connection, received);
    }
    /// A client broke HTTP/1.1 with a request, where
    /// [`ServerConfig::hands_over_refusals`](crate::ServerConfig::hands_over_refusals) is set. Who
    /// takes it writes the answer: its bodies are the connection's bytes, as those of an exchange
    /// that left HTTP. Otherwise the connection closes.
    fn refused(
        &self,
        connection: &Self::Connection,
        handle: StreamHandle,
        refused: &Refused,
    ) -> Option<Self::Exchange> {
        let _ = (connection, handle, refused);
        None
    }
    /// The connection ends because the peer broke this rule: before its exchanges end.
    fn broken(&self, connection: &Self::Connection, violation: Violation) {
        let _ = (connection, violation);
    }
    /// The connection's transport failed with this error of the system, mostly because the peer reset it: before its
    /// exchanges end, and once. Not over QUIC, whose peers close with a code.
    fn failed(&self, connection: &Self::Connection, error: &io::Error) {
        let _ = (connection, error);
    }
    /// A TLS handshake failed; nothing of HTTP was said. The addresses are the peer's and ours,
    /// which a Unix socket does not have.
    fn handshake_failed(
        &self,
        addresses: Option<(SocketAddr, SocketAddr)>,
        why: &HandshakeFailure,
    ) {
        let _ = (addresses, why);
    }
    /// A client under TLS did not say what it speaks (ALPN), and HTTP/1.1 is not offered; or what was
    /// agreed on is no HTTP ([`Tls::offer`](crate::Tls::offer)). A callback that takes the connection gets its
    /// bytes as those of an exchange that left HTTP; otherwise it closes.
    fn unnegotiated(
        &self,
        commands: ConnectionHandle,
        handle: StreamHandle,
        info: Option<&ConnectionInfo>,
    ) -> Option<(Self::Connection, Self::Exchange)> {
        let _ = (commands, handle, info);
        None
    }
    /// The connection is closed.
    fn disconnected(&self, connection: Self::Connection);
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Request and answer are whole, and the request's body was taken ([`ConnectionHandle::take`]) or the
    /// connection is over.
    Whole,
    /// The answer was a [`quiet`](Answer::quiet) one.
    Quiet,
    /// Early.
    Reset {
        /// Why, as HTTP/2 says it.
        code: H2Code,
        /// The peer did, or the connection ended.
        by_peer: bool,
    },
}

/// An exchange on its connection. A place is never given to another exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamHandle {
    pub(super) slot: u32,
    pub(super) facts: RequestFacts,
    pub(super) early: bool,
    pub(super) http10: bool,
}

impl StreamHandle {
    /// The stream of HTTP/2 or HTTP/3; on HTTP/1.1 the exchanges count from 1.
    pub fn stream(self) -> StreamId {
        self.facts.stream
    }
    /// Whether the request is one of HTTP/1.0, on a connection of HTTP/1.1.
    pub fn is_http10(self) -> bool {
        self.http10
    }
    /// Whether the request arrived before its connection's handshake was done
    /// ([`Server::early_data`](crate::Server::early_data)), so that an attacker may have recorded
    /// and replayed it. To refuse it, answer with 425 (RFC 8470 section 5.2); the client sends it
    /// again after the handshake.
    pub fn is_early(self) -> bool {
        self.early
    }
}

/// A final head, and what becomes of the body.
#[derive(Debug)]
pub struct Answer<'a> {
    /// From 200 to 599, and 101 on HTTP/1.1.
    pub status: u16,
    /// HTTP/1.1's words behind the status, which may be empty; `None`: the usual ones.
    pub reason: Option<&'a [u8]>,
    /// Names and values in turn, separated by a zero byte; a one before a name marks its value as
    /// sensitive. Connection fields are left out where the version has none, and only HTTP/1.1
    /// keeps the case of names.
    pub fields: &'a [u8],
    /// The body of the response.
    pub body: ResponseBody,
    /// The date is added where the fields do not say it, if the server says dates.
    pub date: bool,
    /// The length of a [`ResponseBody::Whole`] body is added where the fields do not say it.
    pub length: bool,
    /// Suppresses the events after the response: the request's remaining body, and `ended` for a
    /// whole exchange.
    pub quiet: bool,
}

/// How an answer's body is given.
#[derive(Debug)]
pub enum ResponseBody {
    /// There is none.
    Nothing,
    /// All of it.
    Whole(Bytes),
    /// By [`ConnectionHandle::send`] and [`ConnectionHandle::finish`].
    Streaming,
}

/// The target of commands: one connection. A command for an exchange or a connection that is over is
/// forgotten. On the thread that serves.
#[derive(Clone)]
pub struct ConnectionHandle(pub(super) Rc<CommandQueue>);

/// Commands for a connection's next turn.
pub(super) struct CommandQueue {
    pub(super) list: RefCell<Vec<Command>>,
    pub(super) version: Cell<Version>,
    /// Its version is not known: commands are not carried out yet.
    pub(super) is_starting: Cell<bool>,
    /// The connection is closed and carries out no more commands.
    closed: Cell<bool>,
    signals: Arc<Signals>,
    extra: Arc<AnswerOptions>,
}

/// One thing to do.
pub(super) enum Command {
    Answer {
        handle: StreamHandle,
        head: Result<ResponseHead, Violation>,
        body: ResponseBody,
        quiet: bool,
    },
    Informational(StreamHandle, ResponseHead),
    Send(StreamHandle, Bytes, bool),
    Finish(StreamHandle, Fields),
    Reset(StreamHandle, H2Code),
    Take(StreamHandle, usize),
    Decline(StreamHandle),
    ShutDown,
    Abort(H2Code),
    Control(ControlCommand),
    Snapshot(Box<dyn FnOnce(Accounts)>),
}

impl ConnectionHandle {
    pub(super) fn new(signals: &Arc<Signals>, extra: &Arc<AnswerOptions>) -> Self {
        Self(Rc::new(CommandQueue {
            list: RefCell::default(),
            version: Cell::new(Version::Http11),
            is_starting: Cell::new(false),
            closed: Cell::new(false),
            signals: Arc::clone(signals),
            extra: Arc::clone(extra),
        }))
    }
    /// The version of the connection.
    pub fn version(&self) -> Version {
        self.0.version.get()
    }
    /// Answers a request. A head that the validator refuses becomes a 500.
    pub fn answer(&self, now: Instant, handle: StreamHandle, answer: Answer<'_>) {
        let length = match &answer.body {
            ResponseBody::Whole(body) if answer.length => Some(body.len() as u64),
            _ => None,
        };
        let length = length_of(answer.status, handle.facts, length);
        let head_spec = self.head_spec(answer.status, length, answer.date);
        let head = self
            .0
            .extra
            .make_head(now, answer.reason, answer.fields, head_spec);
        let (body, quiet) = (answer.body, answer.quiet);
        self.push(Command::Answer {
            handle,
            head,
            body,
            quiet,
        });
    }
    /// Sends a 1xx before the answer.
    ///
    /// # Errors
    /// Those of the validator.
    pub fn send_informational(
        &self,
        now: Instant,
        handle: StreamHandle,
        status: u16,
        fields: &[u8],
    ) -> Result<(), Violation> {
        let head_spec = self.head_spec(status, None, false);
        let head = self.0.extra.make_head(now, None, fields, head_spec)?;
        self.push(Command::Informational(handle, head));
        Ok(())
    }
    /// Bytes of a streaming body; `end`: the last.
    pub fn send(&self, handle: StreamHandle, data: Bytes, end: bool) {
        self.push(Command::Send(handle, data, end));
    }
    /// The end of a streaming body, with trailers in the form of [`Answer::fields`].
    pub fn finish(&self, handle: StreamHandle, fields: &[u8]) {
        self.push(Command::Finish(handle, trailers(fields)));
    }
    /// Ends an exchange early.
    pub fn reset(&self, handle: StreamHandle, code: H2Code) {
        self.push(Command::Reset(handle, code));
    }
    /// Bytes of the request's body were taken: the peer may send as many more.
    pub fn take(&self, handle: StreamHandle, bytes: usize) {
        self.push(Command::Take(handle, bytes));
    }
    /// Discards the rest of the request: the exchange is [`Ended::Whole`] once its response is with
    /// the connection, and a peer that has not sent all gets a stop request behind it (RFC 9113 section 8.1), but on HTTP/1.1.
    pub fn decline(&self, handle: StreamHandle) {
        self.push(Command::Decline(handle));
    }
    /// Lets the connection end when its exchanges have.
    pub fn shut_down(&self) {
        if self.0.is_starting.get() {
            return self.0.signals.stop(Stop::Abort);
        }
        self.push(Command::ShutDown);
    }
    /// Ends the connection at once.
    pub fn abort(&self, code: H2Code) {
        if self.0.is_starting.get() {
            return self.0.signals.stop(Stop::Abort);
        }
        self.push(Command::Abort(code));
    }
    /// Ends the connection at once: over TCP by a reset, and what has not gone is dropped.
    pub fn reset_connection(&self) {
        self.0.signals.stop(Stop::Reset);
    }
    /// Says something of the connection itself, where the version has words for it.
    pub fn send_control(&self, control: ControlCommand) {
        self.push(Command::Control(control));
    }
    /// Has `callback` see the accounts of an HTTP/2 connection, once what was ordered before is carried
    /// out. Dropped unseen where there are none.
    pub fn snapshot(&self, callback: impl FnOnce(Accounts) + 'static) {
        self.push(Command::Snapshot(Box::new(callback)));
    }
    fn head_spec(&self, status: u16, length: Option<u64>, date: bool) -> HeadSpec {
        HeadSpec {
            status,
            version: self.0.version.get(),
            length,
            date,
        }
    }
    /// Marks the connection closed: later commands are dropped.
    pub(super) fn close(&self) {
        self.0.closed.set(true);
        // Dropping a command may run a callback that adds another.
        drop(self.0.list.take());
    }
    fn push(&self, cmd: Command) {
        if self.0.closed.get() {
            return;
        }
        let mut list = self.0.list.borrow_mut();
        let is_first = list.is_empty();
        list.push(cmd);
        drop(list);
        if is_first {
            self.0.signals.ready(COMMANDS);
        }
    }
}

/// The note that there are commands: a connection with callbacks has no other slots to wake.
const COMMANDS: u32 = 0;

impl fmt::Debug for ConnectionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionHandle").finish_non_exhaustive()
    }
}
