//! Turns an accepted socket into a served connection: TLS handshake and ALPN, or the first bytes of
//! a cleartext connection. One port serves every version; HTTP/2 in cleartext is by prior knowledge
//! only (RFC 9113 section 3.3), never by upgrade.

use super::ServedConnection;
use super::first_bytes::{PREFACE, first_bytes, within};
use super::handshake::Secured;
use super::serving::Serving;
use crate::connection_info::traffic::Traffic;
#[cfg(unix)]
use crate::connection_info::unix::UnixPeer;
use crate::connection_info::{Addresses, ConnectionInfo, TlsInfo};
use crate::driver::connection_io::ConnectionIo;
use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use crate::driver::transport::Transport;
use crate::driver::transport::drain::{self, TunnelStall};
use crate::net::byte_stream::{ByteStream, Io};
use crate::server::exchange::info_policy::InfoPolicy;
use crate::server::exchange::serve::{Exchanging, RawConnection, Serve};
use crate::server::observe::{Counters, HandshakeFailure, handshake_log};
use crate::server::registry::{Activity, OpenEntry};
use crate::server::response::AnswerOptions;
use crate::tls::Tls;
use crate::tunnel::upgrade::Upgraded;
use bytes::Bytes;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use std::{io, mem};
use trunkline_core::credit::BudgetShare;
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::Config;
use trunkline_core::min_rate::Scarcity;
use trunkline_core::{h1, h2};

/// State that all connections of a worker share.
#[derive(Clone)]
pub(in crate::server) struct WorkerContext<S> {
    pub(in crate::server) service: S,
    pub(in crate::server) tls: Option<Tls>,
    pub(in crate::server) config: Arc<Config>,
    /// The settings of connections of HTTP/1.1.
    pub(in crate::server) http1_config: Arc<Config>,
    pub(in crate::server) counters: Arc<Counters>,
    /// The budget that the receive windows of all connections of the server borrow from.
    pub(in crate::server) budget_share: Arc<BudgetShare>,
    /// The budget for bytes that wait for peers which do not read.
    pub(in crate::server) send_budget_share: Arc<BudgetShare>,
    /// Whether this worker's connections are scarce.
    pub(in crate::server) scarcity: Scarcity,
    /// Fields that every response carries beside the handler's.
    pub(in crate::server) extra: Arc<AnswerOptions>,
    pub(in crate::server) info_policy: InfoPolicy,
    pub(in crate::server) cleartext: Cleartext,
}

/// The versions served without TLS.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct Cleartext {
    pub(in crate::server) http1: bool,
    pub(in crate::server) http2: bool,
}

impl WorkerContext<()> {
    /// This state for a worker whose exchanges `service` answers.
    pub(in crate::server) fn serving<S>(self, service: S) -> WorkerContext<S> {
        WorkerContext {
            service,
            tls: self.tls,
            config: self.config,
            http1_config: self.http1_config,
            counters: self.counters,
            budget_share: self.budget_share,
            send_budget_share: self.send_budget_share,
            scarcity: self.scarcity,
            extra: self.extra,
            info_policy: self.info_policy,
            cleartext: self.cleartext,
        }
    }
}

impl<S: Serve> WorkerContext<S> {
    /// Counts a handshake that failed, and calls the log.
    pub(in crate::server) fn handshake_failed(
        &self,
        addresses: Option<Addresses>,
        quic: bool,
        failure: &HandshakeFailure,
    ) {
        let log = self.info_policy.handshake_log.as_ref();
        handshake_log::note(&self.counters, log, addresses, quic, failure);
    }
    /// The exchanges of a new connection; `secure`: it is under TLS.
    pub(in crate::server) fn exchanges(
        &self,
        signals: &Arc<Signals>,
        secure: bool,
    ) -> S::Exchanges {
        self.service.exchanges(signals, secure)
    }
}

/// Facts of a transport before its first byte.
pub(in crate::server) struct TransportFacts {
    /// `None` on a Unix socket, and where no reader needs it.
    pub(in crate::server) addresses: Option<Addresses>,
    /// TLS is below it, in the embedder's hands.
    secured: bool,
    /// Facts of a stream of the embedder's, or of a Unix socket.
    info: Option<ConnectionInfo>,
}

impl TransportFacts {
    pub(in crate::server) fn between(addresses: Option<Addresses>) -> Self {
        Self {
            addresses,
            secured: false,
            info: None,
        }
    }
    /// Facts of a Unix socket; `peer`: `None` where no reader needs it.
    #[cfg(unix)]
    pub(in crate::server) fn of_unix(peer: Option<UnixPeer>) -> Self {
        Self {
            addresses: None,
            secured: false,
            info: peer.map(|peer| ConnectionInfo::new(None, None).with_unix_peer(Some(peer))),
        }
    }
    pub(in crate::server) fn of(stream: &ByteStream) -> Self {
        Self {
            addresses: stream.addresses(),
            secured: stream.tls_info().is_some(),
            info: Some(stream.info()),
        }
    }
    /// The protocol that ALPN chose below.
    fn alpn(&self) -> Option<&[u8]> {
        self.info.as_ref()?.tls()?.alpn()
    }
    /// The connection as handlers see it, with the parameters of our own handshake.
    fn info(self, own: Option<TlsInfo>) -> ConnectionInfo {
        match (self.info, own) {
            (Some(info), Some(tls)) => info.with_tls(tls),
            (Some(info), None) => info,
            (None, tls) => ConnectionInfo::new(self.addresses, tls),
        }
    }
}

/// The task of one accepted socket, to its end.
///
/// Written by hand: an async block keeps a place for each value that it holds or passes on, and
/// its task is as large as the largest of its stages for as long as the connection lives.
///
/// `F`: the future of its start, which is `Send` where the task is to be.
pub(in crate::server) struct Served<S: Serve, T, F> {
    stage: Stage<S, T, F>,
    counters: Arc<Counters>,
    /// Its place among the open connections, until its end.
    entry: Option<OpenEntry>,
}

enum Stage<S: Serve, T, F> {
    /// The handshake, or the first bytes.
    Starting(Pin<Box<F>>, Arc<Signals>),
    Serving(Box<ServedConnection<S, T>>),
    Over,
}

/// The kind of connection that an accepted socket turned out to be.
pub(in crate::server) enum Opening<S: Serve, T> {
    Http(Box<ServedConnection<S, T>>),
    /// It does not say what it speaks: goes, with its place among the open connections, to the callback that takes it.
    Unnegotiated(Box<Unnegotiated<S>>),
    /// It speaks nothing that is served, or was not admitted.
    Nothing,
}

/// The result of a start.
pub(in crate::server) type Started<S, T> = io::Result<Opening<S, T>>;

/// A client under TLS that said nothing of what it speaks.
pub(in crate::server) struct Unnegotiated<S> {
    opener: Opener<S>,
    bytes: Upgraded,
    info: Option<ConnectionInfo>,
}

impl<S: Serve> Unnegotiated<S> {
    /// Hands it over to the service; `entry`: its place among the open connections.
    fn hand_over(self, entry: OpenEntry) {
        let shared = &self.opener.shared;
        let left = RawConnection {
            stream: StreamId(1),
            bytes: self.bytes,
            entry,
            stall: TunnelStall::of(&shared.config.timeouts, shared.scarcity.clone()),
        };
        let signals = &self.opener.signals;
        shared.service.take_upgraded(left, self.info, signals);
    }
}

impl<S: Serve, T, F: Future<Output = Started<S, T>>> Served<S, T, F> {
    /// Serves what [`Opener::start`] gives; `signals` are its.
    pub(in crate::server) fn new(
        start: F,
        signals: Arc<Signals>,
        counters: &Arc<Counters>,
        entry: OpenEntry,
    ) -> Self {
        Self {
            stage: Stage::Starting(Box::pin(start), signals),
            counters: Arc::clone(counters),
            entry: Some(entry),
        }
    }
}

impl<S: Serve, T: Io, F: Future<Output = Started<S, T>>> Future for Served<S, T, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            match &mut self.stage {
                Stage::Starting(starting, signals) => match starting.as_mut().poll(cx) {
                    // A server that is cut does not wait for handshakes.
                    Poll::Pending if signals.is_aborted(cx.waker()) => break,
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Ok(Opening::Http(connection))) => {
                        self.stage = Stage::Serving(connection);
                    }
                    Poll::Ready(Ok(Opening::Unnegotiated(unnegotiated))) => {
                        if let Some(entry) = self.entry.take() {
                            unnegotiated.hand_over(entry);
                        }
                        break;
                    }
                    Poll::Ready(Ok(Opening::Nothing)) => break,
                    Poll::Ready(Err(error)) => {
                        // In cleartext: no bytes gave the version. Such failures are not logged.
                        let failure = HandshakeFailure::of(&error);
                        handshake_log::note(&self.counters, None, None, false, &failure);
                        break;
                    }
                },
                Stage::Serving(connection) => {
                    ready!(Pin::new(&mut **connection).poll(cx));
                    if let Stage::Serving(connection) = mem::replace(&mut self.stage, Stage::Over)
                        && let Some(entry) = self.entry.take()
                    {
                        connection.leave(entry);
                    }
                    break;
                }
                Stage::Over => break,
            }
        }
        self.stage = Stage::Over;
        self.entry = None;
        Poll::Ready(())
    }
}

impl<S: Serve, T, F> Unpin for Served<S, T, F> {}

/// A connection that begins: what it shares with the others of its worker, and its own signals.
pub(in crate::server) struct Opener<S> {
    pub(in crate::server) shared: WorkerContext<S>,
    pub(in crate::server) signals: Arc<Signals>,
    /// Its exchanges and its stage, as the worker's registry reads them.
    pub(in crate::server) activity: Arc<Activity>,
}

impl<S: Serve> Opener<S> {
    /// Opens the connection over `socket`.
    pub(in crate::server) async fn start<T: Io>(
        self,
        socket: T,
        known: TransportFacts,
    ) -> Started<S, T> {
        let shared = &self.shared;
        let own = shared.info_policy.info || self.activity.counts_bytes();
        let traffic = shared.counters.stream_traffic(own);
        self.activity.count_by(&traffic);
        if known.secured && (known.alpn().is_some() || shared.tls.is_some()) {
            // The embedder's TLS: it speaks what ALPN has chosen.
            let http2 = known.alpn() == Some(b"h2");
            let http1 = match &shared.tls {
                Some(tls) => tls.serves_unnamed(),
                None => shared.cleartext.http1,
            };
            let mut opened = self.plain(socket, known, traffic);
            opened.http2 = http2;
            return Ok(self.secured(opened, http1 || http2));
        }
        let Some(tls) = &shared.tls else {
            return self.cleartext(self.plain(socket, known, traffic)).await;
        };
        let addresses = known.addresses;
        let began = Instant::now();
        let secured = Secured::new(socket, tls, addresses, &self.signals);
        let secured = match within(shared.config.timeouts.handshake, secured).await {
            Ok(secured) => secured,
            Err(refused) => {
                let failure = HandshakeFailure::of(&refused.error);
                shared.handshake_failed(addresses, false, &failure);
                shared.service.handshake_failed(addresses, &failure);
                Box::pin(refused.part()).await;
                return Ok(Opening::Nothing);
            }
        };
        shared.counters.tls_handshake_done(began.elapsed());
        let info = self.info(&traffic, || known.info(secured.info(tls)));
        let is_unnegotiated = secured.is_unnegotiated(tls);
        let mut transport = secured.transport;
        transport.count(Some(traffic));
        let opened = Negotiated {
            http2: transport.alpn() == Some(b"h2"),
            transport,
            secure: true,
            info,
        };
        Ok(self.secured(opened, !is_unnegotiated))
    }
    /// A connection without TLS of ours, whose version is not known yet.
    fn plain<T: Io>(&self, socket: T, known: TransportFacts, traffic: Traffic) -> Negotiated<T> {
        let mut transport = Transport::plain(socket);
        transport.count(Some(traffic.clone()));
        Negotiated {
            transport,
            http2: self.shared.cleartext.http2,
            secure: known.secured,
            info: self.info(&traffic, || known.info(None)),
        }
    }
    /// The connection as handlers see it, where they do.
    fn info(
        &self,
        traffic: &Traffic,
        known: impl FnOnce() -> ConnectionInfo,
    ) -> Option<ConnectionInfo> {
        let policy = &self.shared.info_policy;
        let traffic = policy.info.then(|| traffic.clone());
        (!policy.is_nothing()).then(|| known().counted(traffic))
    }
    /// Opens a connection without TLS.
    async fn cleartext<T: Io>(&self, mut opened: Negotiated<T>) -> Started<S, T> {
        let shared = &self.shared;
        let mut exchanges = shared.exchanges(&self.signals, opened.secure);
        let mut first = Vec::new();
        let mut now = Instant::now();
        match shared.cleartext {
            Cleartext {
                http1: false,
                http2: false,
            } => return Ok(Opening::Nothing),
            Cleartext {
                http1: true,
                http2: true,
            } => {
                let silent = || exchanges.accepted(opened.info.as_ref(), &shared.info_policy);
                let mut silent = shared.info_policy.accepts.then_some(silent);
                let first_request = shared.http1_config.timeouts.first_request;
                let limit = first_request.or(shared.config.timeouts.head);
                let signals = &*self.signals;
                let read = first_bytes(&mut opened.transport, &mut first, &mut silent, signals);
                match within(limit, read).await {
                    Ok(true) => {
                        opened.http2 = first.starts_with(PREFACE);
                        now = Instant::now();
                    }
                    Ok(false) => return Ok(Opening::Nothing),
                    // Its time began with the connection, and the machine says that it is over.
                    Err(error) if is_late(&error) && first_request.is_some() => {
                        opened.http2 = false;
                    }
                    Err(error) => {
                        if let Some(mut silent) = silent.take() {
                            silent();
                        }
                        // One that was silent for too long has not failed.
                        if !is_late(&error) {
                            exchanges.fail(&error);
                        }
                        return Err(error);
                    }
                }
            }
            _ => {}
        }
        Ok(self.connection(opened, (&first, now), exchanges))
    }
    /// A connection under TLS; `is_http`: its client has said so, or need not.
    fn secured<T: Io>(self, opened: Negotiated<T>, is_http: bool) -> Opening<S, T> {
        if is_http {
            let exchanges = self.shared.exchanges(&self.signals, true);
            return self.connection(opened, (&[], Instant::now()), exchanges);
        }
        Opening::Unnegotiated(Box::new(Unnegotiated {
            bytes: Upgraded::new(opened.transport, &Bytes::new()),
            info: opened.info,
            opener: self,
        }))
    }
    /// The connection; `first` came already, at `now`.
    fn connection<T: Io>(
        &self,
        opened: Negotiated<T>,
        (first, now): (&[u8], Instant),
        mut exchanges: S::Exchanges,
    ) -> Opening<S, T> {
        let shared = &self.shared;
        let mut machine = self.machine(opened.http2, now);
        self.activity.set_awaits_first(!opened.http2);
        machine.handle_bytes(now, first);
        let version = machine.version();
        let config = Arc::clone(&shared.config);
        let io = ConnectionIo::new(opened.transport, machine)
            .with_stalls(config, drain::call_socket)
            .with_qlog(shared.info_policy.qlog.as_ref(), now, first);
        let targets = &shared.info_policy.targets;
        let targets = targets.rule_of(opened.secure, opened.info.as_ref());
        exchanges.connected(opened.info, version, &shared.info_policy);
        let mut serving = Serving::new(
            exchanges,
            Arc::clone(&self.signals),
            Arc::clone(&shared.extra),
            (Arc::clone(&shared.counters), version),
            Arc::clone(&self.activity),
        );
        serving.set_targets(targets);
        Opening::Http(Box::new(ServedConnection::new(io, serving)))
    }
    fn machine(&self, http2: bool, now: Instant) -> Machine {
        let shared = &self.shared;
        if http2 {
            let config = Arc::clone(&shared.config);
            let conn = h2::Conn::new(Side::Server, config, now);
            let conn = conn.with_receive_budget(&shared.budget_share);
            let conn = conn.with_send_budget(&shared.send_budget_share);
            Machine::H2(Box::new(conn.with_scarcity(&shared.scarcity)))
        } else {
            let config = Arc::clone(&shared.http1_config);
            let conn = h1::Conn::new(Side::Server, config, now);
            let conn = conn.with_send_budget(&shared.send_budget_share);
            Machine::H1(Box::new(conn.with_scarcity(&shared.scarcity)))
        }
    }
}

/// A transport whose version of HTTP is known.
struct Negotiated<T> {
    transport: Transport<T>,
    http2: bool,
    /// TLS protects the connection, in this process or in front of it.
    secure: bool,
    info: Option<ConnectionInfo>,
}

/// Whether a time was over.
fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

#[cfg(test)]
#[path = "accept_test.rs"]
mod accept_test;
