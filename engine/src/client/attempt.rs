//! One attempt to open a connection: socket or proxy tunnel, TLS, and the version that ALPN
//! selects. The task that opens a connection also runs it.

mod by_connector;
mod bytes;
#[cfg(feature = "http3")]
mod quic;
mod quic_race;
#[cfg(not(feature = "http3"))]
mod without_quic;

#[cfg(not(feature = "http3"))]
use without_quic as quic;

use super::connect::lookup::OriginAddresses;
use super::connect::route::displayed;
use super::connect::socket::Socket;
use super::connection::ConnectionTask;
use super::dispatch::tasks::Tasks;
use super::dispatch::{Dispatch, TaskHandle};
use super::listener::connection::{EndReport, Hold};
use super::listener::connection_use::ConnectionUse;
use super::settings::Settings;
use crate::connection_info::ConnectionInfo;
use crate::driver::connection_io::ConnectionIo;
use crate::driver::quic::transport::QuicTransport;
use crate::driver::timer;
use crate::driver::transport::Transport;
use crate::error::{Error, ErrorKind, Fault, Retry};
use crate::net::byte_stream::ByteStream;
use quic_race::{Winner, first_of};
use std::error::Error as _;
use std::future::Future;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Id;
use trunkline_core::h1;
use trunkline_core::pool::{
    AttemptId, Capacity, FailureScope, Multiplexing, Origin, Protocols, Scheme,
};

/// Starts the task of an attempt among `tasks`.
pub(in crate::client) fn spawn(
    tasks: &Tasks,
    dispatch: &Arc<Dispatch>,
    origin: Origin,
    attempt: AttemptId,
) {
    tasks.spawn_connection(run(dispatch, origin, attempt, tasks.runtime()));
}

/// Opens a connection and runs it to its end. Holds the client only while it reports to it, so that
/// a dropped client keeps no connection open.
fn run(
    dispatch: &Arc<Dispatch>,
    origin: Origin,
    attempt: AttemptId,
    runtime: Option<Id>,
) -> impl Future<Output = ()> + Send + use<> {
    let settings = Arc::clone(&dispatch.settings);
    let start = Start {
        early: true,
        stream_window: dispatch.quic_stream_window(&origin, Instant::now()),
    };
    if let Some(listener) = &settings.listener {
        listener.opening(&origin);
    }
    let mut answer = AttemptReport {
        owed: Some((Arc::downgrade(dispatch), attempt)),
        origin,
        settings,
        began: Instant::now(),
        runtime,
    };
    async move {
        match establish_in_time(&answer.settings, &answer.origin, start).await {
            Ok(opened) => {
                if let Some((connection, hold)) = answer.succeed(opened) {
                    if let Some(hold) = hold {
                        hold.await;
                    }
                    connection.await;
                }
            }
            Err(error) => answer.fail(error),
        }
    }
}

/// How a connection begins where it is QUIC.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct Start {
    /// It may be given back before its handshake is done, if requests can go out with it.
    pub(in crate::client) early: bool,
    /// Bytes that the peer may send on each stream beyond those read.
    pub(in crate::client) stream_window: u32,
}

/// Reports the end of an attempt to the pool and the connection listener, exactly once, even when
/// its runtime drops the task.
struct AttemptReport {
    owed: Option<(Weak<Dispatch>, AttemptId)>,
    origin: Origin,
    settings: Arc<Settings>,
    began: Instant,
    /// The runtime of the task.
    runtime: Option<Id>,
}

impl AttemptReport {
    /// The task of the connection, and what its first turn waits for.
    fn succeed(
        &mut self,
        opened: NegotiatedConnection,
    ) -> Option<(ConnectionTask<Socket>, Option<Hold>)> {
        let Self {
            owed,
            origin,
            settings,
            began,
            runtime,
        } = self;
        let (dispatch, attempt) = owed.clone()?;
        let client = dispatch.upgrade()?;
        let now = Instant::now();
        let multiplexing = opened.multiplexing();
        let info = match settings.connection_info || settings.listener.is_some() {
            true => opened.info(origin),
            false => None,
        };
        let round_trip = opened.round_trip();
        let reached = opened.reached();
        let io = opened.into_link(&client, origin, now);
        let capacity = Capacity::fresh(io.machine.capacity(), io.machine.is_limit_known());
        let handle = Arc::new(TaskHandle::default());
        handle.counts.speaks(io.machine.version());
        let id = client.connected(attempt, multiplexing, capacity, &handle)?;
        if let Some(round_trip) = round_trip {
            client.note_round_trip(id, round_trip);
        }
        let used = ConnectionUse::new(info, id.number(), reached);
        *owed = None;
        let is_early = io.is_early();
        if !is_early {
            client.alive(now, id, Some(*began));
        }
        let mut hold = None;
        let end_report = settings.listener.as_ref().map(|listener| {
            hold = listener.opened(origin, &used, io.machine.version());
            EndReport {
                listener: Arc::clone(listener),
                origin: origin.clone(),
                used: used.clone(),
            }
        });
        let settings = Arc::clone(settings);
        let is_undecided = is_early && origin.protocols == Protocols::All;
        let raced = is_undecided.then(|| origin.clone());
        let connection = ConnectionTask::new(io, used, id, handle, dispatch, settings, capacity);
        let connection = connection
            .on_runtime(*runtime)
            .asking_system(Socket::unanswered)
            .begun_early(is_early);
        Some((
            connection.with_end_report(end_report).with_race(raced),
            hold,
        ))
    }
    fn fail(&mut self, error: Error) {
        let Some((dispatch, attempt)) = self.owed.take() else {
            return;
        };
        self.settings.counts.connect_failures.count(error.kind());
        if let Some(listener) = &self.settings.listener {
            listener.failed(&self.origin, &error);
        }
        if let Some(dispatch) = dispatch.upgrade() {
            let scope = self.scope(&error);
            dispatch.attempt_failed(attempt, error, scope);
        }
        if let Some(listener) = &self.settings.listener {
            listener.requests_failed(&self.origin);
        }
    }
    /// The waiting requests that fail with `error`: the connector says that of its own errors.
    fn scope(&self, error: &Error) -> FailureScope {
        let cause = error.source().and_then(|cause| cause.downcast_ref());
        let connector = self.settings.route.connector.as_deref();
        let scope = connector
            .zip(cause)
            .map(|(it, cause)| it.failure_scope(cause));
        scope.unwrap_or_default()
    }
}

impl Drop for AttemptReport {
    fn drop(&mut self) {
        let Some((dispatch, attempt)) = self.owed.take() else {
            return;
        };
        let error = Error::cancelled("the runtime that opened the connection is gone");
        if let Some(listener) = &self.settings.listener {
            listener.failed(&self.origin, &error);
        }
        if let Some(dispatch) = dispatch.upgrade() {
            dispatch.attempt_dropped(attempt, error, self.runtime);
        }
        if let Some(listener) = &self.settings.listener {
            listener.requests_failed(&self.origin);
        }
    }
}

/// A connection whose version is known, before its machine.
pub(in crate::client) enum NegotiatedConnection {
    /// TCP and whatever else carries bytes in order, perhaps under TLS.
    Bytes(Box<OpenedBytes>),
    /// QUIC.
    Quic(Box<QuicTransport>),
}

/// A way for bytes.
pub(in crate::client) struct OpenedBytes {
    transport: Transport<Socket>,
    multiplexing: Multiplexing,
    /// The other end is a proxy that forwards requests.
    forwards: Option<h1::Proxy>,
    /// How long the network took to connect, where it is the origin that answered.
    round_trip: Option<Duration>,
    /// When TLS could begin; `None`: it is the connector's.
    reached: Option<Instant>,
}

impl NegotiatedConnection {
    /// A stream that the user's connector gave.
    pub(super) fn from_connector(stream: ByteStream, multiplexing: Multiplexing) -> Self {
        Self::Bytes(Box::new(OpenedBytes {
            transport: Transport::plain(Socket::Custom(Box::new(stream))),
            multiplexing,
            forwards: None,
            round_trip: None,
            reached: None,
        }))
    }
    fn multiplexing(&self) -> Multiplexing {
        match self {
            Self::Bytes(bytes) => bytes.multiplexing,
            Self::Quic(_) => Multiplexing::Yes,
        }
    }
    /// How long the network took to connect: QUIC measures its round trip itself.
    fn round_trip(&self) -> Option<Duration> {
        match self {
            Self::Bytes(bytes) => bytes.round_trip,
            Self::Quic(_) => None,
        }
    }
    fn reached(&self) -> Option<Instant> {
        match self {
            Self::Bytes(bytes) => bytes.reached,
            Self::Quic(_) => None,
        }
    }
    /// Describes the connection; `None`: the socket no longer knows its addresses.
    fn info(&self, origin: &Origin) -> Option<ConnectionInfo> {
        let name = origin.server_name.as_deref().unwrap_or(&origin.host);
        // RFC 6066 section 3: an address is not asked for by SNI.
        let asked = Some(name).filter(|name| name.parse::<IpAddr>().is_err());
        match self {
            Self::Bytes(bytes) => {
                let socket = bytes.transport.socket();
                if let Socket::Custom(stream) = socket {
                    return Some(stream.info());
                }
                let tls = bytes.transport.tls_info(asked);
                Some(ConnectionInfo::new(socket.addresses(), tls))
            }
            Self::Quic(quic) => quic.info(asked),
        }
    }
    /// Joins it with the machine of a new connection to `origin`.
    pub(in crate::client) fn into_link(
        self,
        dispatch: &Dispatch,
        origin: &Origin,
        now: Instant,
    ) -> ConnectionIo<Socket> {
        match self {
            Self::Bytes(bytes) => bytes.into_link(dispatch, origin, now),
            Self::Quic(quic) => {
                let (remembered, window) = (quic.remembered(), quic.stream_window());
                let machine = dispatch.http3_machine(origin, now, remembered, window);
                ConnectionIo::quic(quic, machine)
            }
        }
    }
}

impl OpenedBytes {
    fn into_link(
        mut self,
        dispatch: &Dispatch,
        origin: &Origin,
        now: Instant,
    ) -> ConnectionIo<Socket> {
        let traffic = dispatch.settings.traffic.child();
        self.transport.count(Some(traffic));
        let mut machine = dispatch.machine(origin, self.multiplexing, now);
        if let Some(proxy) = self.forwards {
            machine = machine.through(proxy);
        }
        let qlog = dispatch.settings.qlog.as_ref();
        ConnectionIo::new(self.transport, machine).with_qlog(qlog, now, &[])
    }
}

/// The way there, TLS and ALPN, within the connect timeout.
pub(in crate::client) async fn establish_in_time(
    settings: &Settings,
    origin: &Origin,
    start: Start,
) -> Result<NegotiatedConnection, Error> {
    match settings.timeouts.connect {
        None => establish(settings, origin, start).await,
        Some(limit) => timer::timeout(limit, establish(settings, origin, start))
            .await
            .unwrap_or_else(|_| {
                let text = format!("no connection to {} within {limit:?}", displayed(origin));
                let error = Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe);
                Err(error.with_text(text).with_timed_out())
            }),
    }
}

async fn establish(
    settings: &Settings,
    origin: &Origin,
    start: Start,
) -> Result<NegotiatedConnection, Error> {
    if let Some(connector) = &settings.route.connector {
        return by_connector::establish(&**connector, origin).await;
    }
    if origin.scheme == Scheme::Http {
        return bytes::establish(settings, origin, None).await;
    }
    let place = match settings.asks_for_record(origin.protocols) {
        true => settings.route.origin_addresses(origin).await?,
        false => None,
    };
    let place = place.as_ref();
    let quic = match origin.protocols {
        Protocols::H3Only => {
            let quic = quic::establish(settings, origin, origin.port, place, start, false).await?;
            return Ok(NegotiatedConnection::Quic(quic));
        }
        Protocols::All => quic::known_port(settings, origin, place),
        _ => None,
    };
    match quic {
        Some(port) => race(settings, origin, port, place, start).await,
        None => bytes::establish(settings, origin, place).await,
    }
}

/// QUIC with a head start, TCP beside it; whatever is there first. Where TCP wins, QUIC is left
/// alone for a while: a network that drops UDP costs the head start once.
async fn race(
    settings: &Settings,
    origin: &Origin,
    port: u16,
    place: Option<&OriginAddresses>,
    start: Start,
) -> Result<NegotiatedConnection, Error> {
    let quic = quic::establish(settings, origin, port, place, start, true);
    // A network without any way says nothing about QUIC.
    match first_of(quic, bytes::establish(settings, origin, place)).await? {
        // An unanswered handshake has not won the race yet: the connection reports the outcome
        // later.
        Winner::Quic(quic) if quic.is_early() => Ok(NegotiatedConnection::Quic(quic)),
        Winner::Quic(quic) => {
            settings.alternatives().handle_connected(origin);
            Ok(NegotiatedConnection::Quic(quic))
        }
        Winner::Tcp(opened) => {
            let now = Instant::now();
            settings.alternatives().handle_failed(now, origin);
            Ok(opened)
        }
    }
}
