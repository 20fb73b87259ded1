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
use crate::net::byte_stream::ByteStream;
use crate::server::exchange::info_policy::InfoPolicy;
use crate::server::exchange::serve::{Exchanging, RawConnection, Serve};
use crate::server::observe::{Counters, HandshakeFailure, handshake_log};
use crate::server::registry::{Activity, OpenEntry};
use crate::server::response::AnswerOptions;
use crate::tls::Tls;
use crate::tunnel::upgrade::Upgraded;
use bytes::Bytes;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use std::{io, mem};
use tokio::io::{AsyncRead, AsyncWrite};
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
    /// Of connections of HTTP/1.1.
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
    /// The counts of one connection, where its users get them.
    fn own(&self, traffic: &Traffic) -> Option<Traffic> {
        self.info_policy.info.then(|| traffic.clone())
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
    /// Of a stream of the embedder's, or a Unix socket.
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
    /// Of a Unix socket; `peer`: `None` where no reader needs it.
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
pub(in crate::server) struct Served<S: Serve, T> {
    stage: Stage<S, T>,
    counters: Arc<Counters>,
    /// Its place among the open connections, until its end.
    entry: Option<OpenEntry>,
}

enum Stage<S: Serve, T> {
    /// The handshake, or the first bytes.
    Starting(Starting<S, T>, Arc<Signals>),
    Serving(Box<ServedConnection<S, T>>),
    Over,
}

/// The kind of connection that an accepted socket turned out to be.
pub(in crate::server) enum Opening<S: Serve, T> {
    Http(Box<ServedConnection<S, T>>),
    /// It does not say what it speaks: goes with its place among the open connections to who takes it.
    Unnegotiated(Box<dyn FnOnce(OpenEntry)>),
    /// It speaks nothing that is served, or was not admitted.
    Nothing,
}

type Started<S, T> = io::Result<Opening<S, T>>;
type Starting<S, T> = Pin<Box<dyn Future<Output = Started<S, T>>>>;

impl<S: Serve, T> Served<S, T> {
    /// Serves what [`start`] gives; `signals` are its.
    pub(in crate::server) fn new(
        start: impl Future<Output = Started<S, T>> + 'static,
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

impl<S, T> Future for Served<S, T>
where
    S: Serve,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
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
                    Poll::Ready(Ok(Opening::Unnegotiated(meet))) => {
                        if let Some(entry) = self.entry.take() {
                            meet(entry);
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

impl<S: Serve, T> Unpin for Served<S, T> {}

/// Opens a connection over `socket`; `activity`: what it is doing.
pub(in crate::server) async fn start<S, T>(
    socket: T,
    known: TransportFacts,
    shared: WorkerContext<S>,
    signals: Arc<Signals>,
    activity: Rc<Activity>,
) -> Started<S, T>
where
    S: Serve,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let timeouts = &shared.config.timeouts;
    let traffic = shared.counters.stream_traffic(shared.info_policy.info);
    let wants_info = !shared.info_policy.is_nothing();
    if known.secured && (known.alpn().is_some() || shared.tls.is_some()) {
        return Ok(secured_below(
            (socket, traffic),
            known,
            shared,
            signals,
            activity,
        ));
    }
    let Some(tls) = &shared.tls else {
        let socket = (socket, traffic);
        return cleartext(socket, known, shared, signals, activity).await;
    };
    let addresses = known.addresses;
    let began = Instant::now();
    let secured = Secured::new(socket, tls, addresses);
    let secured = match within(timeouts.handshake, secured).await {
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
    let info = wants_info.then(|| {
        let info = known.info(secured.info(tls));
        info.counted(shared.own(&traffic))
    });
    let is_unnegotiated = secured.is_unnegotiated(tls);
    let mut transport = secured.transport;
    transport.count(Some(traffic));
    if is_unnegotiated {
        return Ok(unnegotiated(transport, info, shared, signals));
    }
    let http2 = transport.alpn() == Some(b"h2");
    let opened = Negotiated {
        transport,
        http2,
        secure: true,
        info,
    };
    let exchanges = shared.exchanges(&signals, true);
    Ok(Opening::Http(opened.connection(
        &[],
        exchanges,
        shared,
        signals,
        activity,
    )))
}

/// Opens a connection without TLS.
async fn cleartext<S, T>(
    (socket, traffic): (T, Traffic),
    known: TransportFacts,
    shared: WorkerContext<S>,
    signals: Arc<Signals>,
    activity: Rc<Activity>,
) -> Started<S, T>
where
    S: Serve,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let timeouts = &shared.config.timeouts;
    let wants_info = !shared.info_policy.is_nothing();
    let mut transport = Transport::plain(socket);
    transport.count(Some(traffic.clone()));
    let Cleartext { http1, http2 } = shared.cleartext;
    let secure = known.secured;
    let info = wants_info.then(|| known.info(None).counted(shared.own(&traffic)));
    let mut exchanges = shared.exchanges(&signals, secure);
    let (first, http2) = match (http1, http2) {
        (false, false) => return Ok(Opening::Nothing),
        (true, true) => {
            let silent = || exchanges.meet(info.as_ref(), &shared.info_policy);
            let silent = shared.info_policy.accepts.then_some(silent);
            let first = within(timeouts.head, first_bytes(&mut transport, silent)).await?;
            let http2 = first.len() >= PREFACE.len() && first.starts_with(PREFACE);
            (first, http2)
        }
        _ => (Vec::new(), http2),
    };
    let opened = Negotiated {
        transport,
        http2,
        secure,
        info,
    };
    Ok(Opening::Http(
        opened.connection(&first, exchanges, shared, signals, activity),
    ))
}

/// A stream whose TLS is the embedder's: it speaks what ALPN has chosen.
fn secured_below<S, T>(
    (socket, traffic): (T, Traffic),
    known: TransportFacts,
    shared: WorkerContext<S>,
    signals: Arc<Signals>,
    activity: Rc<Activity>,
) -> Opening<S, T>
where
    S: Serve,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let http2 = known.alpn() == Some(b"h2");
    let http1 = match &shared.tls {
        Some(tls) => tls.serves_unnamed(),
        None => shared.cleartext.http1,
    };
    let mut transport = Transport::plain(socket);
    transport.count(Some(traffic.clone()));
    let info =
        (!shared.info_policy.is_nothing()).then(|| known.info(None).counted(shared.own(&traffic)));
    if !http2 && !http1 {
        return unnegotiated(transport, info, shared, signals);
    }
    let opened = Negotiated {
        transport,
        http2,
        secure: true,
        info,
    };
    let exchanges = shared.exchanges(&signals, true);
    Opening::Http(opened.connection(&[], exchanges, shared, signals, activity))
}

/// A client under TLS that does not say what it speaks.
fn unnegotiated<S, T>(
    transport: Transport<T>,
    info: Option<ConnectionInfo>,
    shared: WorkerContext<S>,
    signals: Arc<Signals>,
) -> Opening<S, T>
where
    S: Serve,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let bytes = Upgraded::new(transport, &Bytes::new());
    Opening::Unnegotiated(Box::new(move |entry| {
        let left = RawConnection {
            stream: StreamId(1),
            bytes,
            entry,
            stall: TunnelStall::of(&shared.config.timeouts),
        };
        shared.service.take_upgraded(left, info, &signals);
    }))
}

/// A transport whose version of HTTP is known.
struct Negotiated<T> {
    transport: Transport<T>,
    http2: bool,
    /// TLS protects the connection, in this process or in front of it.
    secure: bool,
    info: Option<ConnectionInfo>,
}

impl<T: AsyncRead + AsyncWrite + Unpin + 'static> Negotiated<T> {
    /// The connection; `first` came already.
    fn connection<S: Serve>(
        self,
        first: &[u8],
        mut exchanges: S::Exchanges,
        shared: WorkerContext<S>,
        signals: Arc<Signals>,
        activity: Rc<Activity>,
    ) -> Box<ServedConnection<S, T>> {
        let now = Instant::now();
        let mut machine = machine(&shared, self.http2, now);
        activity.awaits_first.set(!self.http2);
        machine.handle_bytes(now, first);
        let version = machine.version();
        let secure = self.secure;
        let config = Arc::clone(&shared.config);
        let io = ConnectionIo::new(self.transport, machine).with_stalls(config, drain::call_socket);
        let targets = shared
            .info_policy
            .targets
            .rule_of(secure, self.info.as_ref());
        exchanges.show(self.info, version, &shared.info_policy);
        let counters = (shared.counters, version);
        let mut serving = Serving::new(exchanges, signals, shared.extra, counters, activity);
        serving.set_targets(targets);
        Box::new(ServedConnection::new(io, serving))
    }
}

fn machine<S>(shared: &WorkerContext<S>, http2: bool, now: Instant) -> Machine {
    if http2 {
        let config = Arc::clone(&shared.config);
        let conn = h2::Conn::new(Side::Server, config, now);
        let conn = conn.borrowing_from(&shared.budget_share);
        let conn = conn.sending_from(&shared.send_budget_share);
        Machine::H2(Box::new(conn.heeding(&shared.scarcity)))
    } else {
        let config = Arc::clone(&shared.http1_config);
        let conn = h1::Conn::new(Side::Server, config, now);
        let conn = conn.sending_from(&shared.send_budget_share);
        Machine::H1(Box::new(conn.heeding(&shared.scarcity)))
    }
}

#[cfg(test)]
#[path = "accept_test.rs"]
mod accept_test;
