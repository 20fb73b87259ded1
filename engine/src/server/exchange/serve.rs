//! The interface between a connection and its source of responses: a tower service
//! ([`tower`](crate::server::tower)) or the callback API ([`callbacks`](crate::server::callbacks)).

use super::context::ConnectionContext;
use super::control::PeerEvent;
use super::info_policy::InfoPolicy;
use super::turn::Turn;
use crate::connection_info::{Addresses, ConnectionInfo};
use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use crate::driver::transport::drain::TunnelStall;
use crate::server::observe::handshake_failure::HandshakeFailure;
use crate::server::registry::OpenEntry;
use crate::tunnel::upgrade::Upgraded;
use bytes::Bytes;
use http::StatusCode;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::Closed;
use trunkline_core::http::{Fields, Refused, RequestHead, Reset, StreamId, Version};

/// Completes when the embedder can take more.
pub type Pause = Pin<Box<dyn Future<Output = ()>>>;

/// The source of exchanges for a worker's connections.
pub(in crate::server) trait Serve: Clone + 'static {
    type Exchanges: Exchanging;
    /// The exchanges of a new connection; `secure`: it is under TLS.
    fn exchanges(&self, signals: &Arc<Signals>, secure: bool) -> Self::Exchanges;
    /// `Some`: no connection is accepted until it completes.
    fn pause(&self) -> Option<Pause> {
        None
    }
    /// Whether another worker of the server is to serve the connection that was accepted now.
    fn leaves_connection(&self) -> bool {
        false
    }
    /// How far what answers is behind, as of `now`.
    fn lag(&self, now: Instant) -> Duration {
        let _ = now;
        Duration::ZERO
    }
    /// A TLS handshake failed. Only the callback API uses it.
    fn handshake_failed(&self, addresses: Option<Addresses>, failure: &HandshakeFailure) {
        let _ = (addresses, failure);
    }
    /// A client under TLS said nothing of what it speaks, and HTTP/1.1 is not served: callbacks may
    /// take its bytes, others close the connection.
    fn take_upgraded(
        &self,
        left: RawConnection,
        info: Option<ConnectionInfo>,
        signals: &Arc<Signals>,
    ) {
        let _ = (left, info, signals);
    }
}

/// A connection that left HTTP.
pub(in crate::server) struct RawConnection {
    /// The stream of the exchange that it left with.
    pub(in crate::server) stream: StreamId,
    pub(in crate::server) bytes: Upgraded,
    /// Its place among the open connections, for as long as the server is to count and stop it.
    pub(in crate::server) entry: OpenEntry,
    /// How long the peer may take nothing of what waits for it.
    pub(in crate::server) stall: Option<TunnelStall>,
}

/// The exchanges of one connection: takes the machine's events, and answers.
pub(in crate::server) trait Exchanging: 'static {
    /// A time in which nothing is read.
    type Pause: Future<Output = ()> + Unpin;
    /// Handlers answer requests of HTTP/1.1 whose bodies are malformed or not whole
    /// ([`lose_body`](Self::lose_body)).
    const ANSWERS_LOST_BODIES: bool = false;
    /// How many are open.
    fn len(&self) -> usize;
    /// `Some`: nothing is to be read until it is over.
    fn pause(&self) -> Option<Self::Pause>;
    /// The target of a request that is open, where it is kept: for the access log.
    fn target_of(&self, stream: StreamId) -> Option<Box<str>> {
        let _ = stream;
        None
    }
    /// Whether requests that come from now on are early data.
    fn set_early(&mut self, early: bool);
    /// The connection was accepted, and its version is not known yet; [`connected`](Self::connected)
    /// follows, unless it ends before. Callbacks alone receive it.
    fn accepted(&mut self, info: Option<&ConnectionInfo>, info_policy: &InfoPolicy) {
        let _ = (info, info_policy);
    }
    /// The connection's handshake is done; called once, before its first request. `info` is present
    /// if any reader needs it ([`InfoPolicy::is_nothing`]).
    fn connected(&mut self, info: Option<ConnectionInfo>, version: Version, policy: &InfoPolicy);
    /// A request came.
    fn start(&mut self, turn: &mut Turn<'_>, stream: StreamId, head: RequestHead, end: bool);
    /// The connection's context for handlers and logs; the callback API has its own.
    fn connection_context(&self) -> Option<&ConnectionContext> {
        None
    }
    /// Answers a request with `status`; no handler sees it.
    fn reject(&self, turn: &mut Turn<'_>, stream: StreamId, head: RequestHead, status: StatusCode) {
        if let Some(connection_context) = self.connection_context() {
            connection_context.report_rejected(&mut turn.scratch.requests, &head, status, turn.now);
        }
        turn.machine.recycle_head(head);
        turn.answer_status(stream, status, turn.now);
        turn.count_end(turn.now);
        turn.machine.handler_done(turn.now, stream);
    }
    /// The connection sleeps: timelines of its exchanges have the reasons why they wait.
    fn note_waits(&mut self, machine: &Machine, now: Instant) {
        let _ = (machine, now);
    }
    /// A note to `slot`: something can go on.
    fn resume(&mut self, turn: &mut Turn<'_>, slot: u32);
    /// The machine has room for the body of `stream` again.
    fn resume_stream(&mut self, turn: &mut Turn<'_>, stream: StreamId);
    /// Body bytes came.
    fn receive(&mut self, turn: &mut Turn<'_>, stream: StreamId, data: Bytes, end: bool);
    /// The request's trailers came.
    fn receive_trailers(&mut self, turn: &mut Turn<'_>, stream: StreamId, trailers: &Fields);
    /// The reader of a request's body went away before its end. Callbacks have none.
    fn lose_reader(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        let _ = (turn, stream);
    }
    /// A reader waits for a body that its client holds back until it has a 100. Callbacks have none.
    fn invite_body(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        let _ = (turn, stream);
    }
    /// A datagram came. Callbacks get none.
    fn receive_datagram(&mut self, stream: StreamId, datagram: Bytes) {
        let _ = (stream, datagram);
    }
    /// The handler of `stream` has datagrams to send.
    fn send_datagrams(&mut self, machine: &mut Machine, stream: StreamId) {
        let _ = (machine, stream);
    }
    /// From now on a packet holds a datagram of `size_max` bytes; `None`: none is taken.
    fn resize_datagrams(&mut self, size_max: Option<usize>) {
        let _ = size_max;
    }
    /// The exchange ended early.
    fn cancel(&mut self, turn: &mut Turn<'_>, stream: StreamId, reset: Reset);
    /// No more of the request's body comes, and the exchange goes on. Callbacks get a
    /// [`cancel`](Self::cancel) instead.
    fn lose_body(&mut self, turn: &mut Turn<'_>, stream: StreamId, reset: Reset) {
        let _ = (turn, stream, reset);
    }
    /// The client has closed its side and waits for responses, or is gone. Only the callback API
    /// uses it: a handler is cancelled by dropping its response.
    fn half_close(&mut self) {}
    /// A control message of the peer. Only the callback API uses it.
    fn take_control(&mut self, received: PeerEvent) {
        let _ = received;
    }
    /// The transport has failed. Only the callback API reports it apart: a handler is cancelled.
    fn fail(&mut self, error: &io::Error) {
        let _ = error;
    }
    /// The machine is done; every exchange has ended before.
    fn close(&mut self, closed: Closed, now: Instant);
    /// A request broke HTTP/1.1, and its connection leaves HTTP with it.
    fn refuse(&mut self, stream: StreamId, refused: Refused) {
        let _ = (stream, refused);
    }
    /// The connection left HTTP: the rest of it belongs to the answerer of that exchange.
    fn leave(&mut self, left: RawConnection);
    /// Gives memory back while the connection idles.
    fn release(&mut self);
}
