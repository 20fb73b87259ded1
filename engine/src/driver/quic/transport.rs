//! A client's QUIC connection with a socket of its own, in place of a TCP transport behind a
//! [`ConnectionIo`](super::super::io). Connections are separate tasks, which would contend for a shared
//! socket.

use super::session::Session;
use super::socket::ReceivedDatagram;
use super::socket::path::PathSockets;
use super::unanswered::Answers;
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::Machine;
use crate::driver::machine::qlog::FrameLog;
use crate::driver::timer::Alarm;
use crate::tls::early_data::{EarlySlot, Remembered};
use quinn_proto::{
    ClientConfig, ConnectionError, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig,
    Transmit,
};
use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use trunkline_core::error::{H3Code, TransportEnd};
use trunkline_core::h3;
use trunkline_core::h3::settings::Settings;
use trunkline_core::pool::Unanswered;

/// Ids and reset tokens of all QUIC connections of the process.
static ENDPOINT: LazyLock<Arc<EndpointConfig>> = LazyLock::new(Arc::default);

/// Batches that are read in one go before a silence is judged: any packet ends it, so a few suffice.
const UNNOTIFIED_BATCHES_MAX: usize = 8;

/// One connection and its socket.
pub(crate) struct QuicTransport {
    sockets: PathSockets,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    session: Session,
    /// Bytes that the peer may send on each stream beyond those read.
    stream_window: u32,
    /// The socket is new and has no waker registered yet.
    moved: bool,
    /// The peer sent a packet since the flag was last taken.
    received: bool,
    /// Counts what the peer has not acknowledged.
    answers: Answers,
    /// The packets that the socket did not take, in `packets`.
    unsent: Option<Transmit>,
    /// Without a capacity while the socket has taken everything: see [`PACKETS`].
    packets: Vec<u8>,
    /// Stores the server's SETTINGS for early data, until done.
    slot: Option<EarlySlot>,
    /// The server's earlier SETTINGS, under which early data is sent.
    remembered: Option<Remembered>,
    /// When a handshake that has early data must be done.
    early_until: Option<Instant>,
    /// A send failed because no process listens at the peer's port.
    sent_in_vain: bool,
    /// Resolves when the peer's host reports that no process listens at the port.
    refused: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// The alarm of the handshake; later the link has one.
    alarm: Alarm,
}

impl QuicTransport {
    /// Describes the connection once the handshake is done. `asked`: the requested host.
    pub(crate) fn info(&self, asked: Option<&str>) -> Option<ConnectionInfo> {
        let bound = self.sockets.current().local_addr().ok()?;
        Some(ConnectionInfo::of_quic(
            &self.session.quic,
            bound,
            asked,
            None,
        ))
    }
    /// Begins a connection. `ahead`: the most exchanges that it will have at once; `stream_window`:
    /// what `config` lets the peer send on each stream beyond what was read. Must be called within a
    /// runtime.
    ///
    /// # Errors
    /// When no socket can be had, or the name or address cannot be connected to.
    pub(crate) fn connect(
        config: ClientConfig,
        remote: SocketAddr,
        server_name: &str,
        ahead: u32,
        stream_window: u32,
        log: Option<Box<FrameLog>>,
    ) -> io::Result<Self> {
        let sockets = PathSockets::to(remote)?;
        let finds_mtu = !sockets.current().may_fragment();
        let mut endpoint = Endpoint::new(Arc::clone(&ENDPOINT), None, finds_mtu, None);
        let (handle, quic) = endpoint
            .connect(Instant::now(), config, remote, server_name)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        Ok(Self {
            sockets,
            endpoint,
            handle,
            session: Session::new(quic, ahead).with_log(log),
            stream_window,
            moved: false,
            received: false,
            answers: Answers::default(),
            unsent: None,
            packets: Vec::new(),
            slot: None,
            remembered: None,
            early_until: None,
            sent_in_vain: false,
            refused: None,
            alarm: Alarm::default(),
        })
    }
    /// Lets requests go out with the handshake, where a session with the server is remembered, and
    /// notes in `slot` what the server says for the next time. The handshake then has what `limit`
    /// says of the round trip to it.
    pub(crate) fn with_early_data(
        mut self,
        slot: EarlySlot,
        limit: impl Fn(Duration) -> Option<Duration>,
    ) -> Self {
        // A connection without early data is not bound by the server's earlier settings (RFC 9114
        // section 7.2.4.2).
        self.remembered = slot.take().filter(|_| self.session.begin_early());
        if let Some(remembered) = self.remembered {
            let limit = limit(remembered.round_trip);
            self.early_until = limit.map(|limit| Instant::now() + limit);
            self.refused = Some(Box::pin(self.sockets.current().refused()));
        }
        self.slot = Some(slot);
        self
    }
    /// The server's earlier SETTINGS, if early data is sent under them.
    pub(crate) fn remembered(&self) -> Option<Settings> {
        self.remembered.map(|remembered| remembered.settings)
    }
    /// Bytes that the peer may send on each stream beyond those read.
    pub(crate) fn stream_window(&self) -> u32 {
        self.stream_window
    }
    /// Why the connection ended, unless we closed it.
    pub(crate) fn lost(&self) -> Option<&ConnectionError> {
        self.session.lost()
    }
    /// Whether requests go out as early data now.
    pub(crate) fn is_early(&self) -> bool {
        self.session.is_early()
    }
    /// Drives the handshake to its end.
    ///
    /// # Errors
    /// When the peer refuses, is not trusted, or does not answer.
    pub(crate) async fn handshake(&mut self) -> Result<(), HandshakeError> {
        let refused = self.sockets.current().refused();
        tokio::select! {
            done = poll_fn(|cx| self.poll_handshake(cx)) => done,
            () = refused => Err(HandshakeError::NobodyListens),
        }
    }
    fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HandshakeError>> {
        loop {
            let now = Instant::now();
            let received = self.receive(cx, now, None);
            if let Poll::Ready(Err(error)) = &received
                && is_refusal(error)
            {
                return Poll::Ready(Err(HandshakeError::NobodyListens));
            }
            let deadline = self.session.quic.poll_timeout();
            if deadline.is_some_and(|deadline| deadline <= now) {
                self.session.quic.handle_timeout(now);
                continue;
            }
            self.exchange_events();
            let done = self.session.poll_handshake();
            let _ = self.flush(cx, now);
            if let Some(done) = done {
                return Poll::Ready(done.map_err(HandshakeError::Quic));
            }
            if received.is_ready() {
                continue;
            }
            let Some(deadline) = self.session.quic.poll_timeout() else {
                return Poll::Pending;
            };
            ready!(self.alarm.poll_until(cx, deadline));
        }
    }
    /// Receives one batch and passes it to the machine; as a link's `poll_read`.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        machine: &mut Machine,
    ) -> Poll<bool> {
        let received = self.receive(cx, now, machine.h3());
        self.exchange_events();
        let reported = self.report(now, machine);
        if matches!(&received, Poll::Ready(Err(error)) if is_refusal(error)) {
            self.answers.note_refused();
        }
        if self.is_early() {
            // The call that comes first after the answer gets it.
            let failed = matches!(&received, Poll::Ready(Err(error)) if is_refusal(error));
            let failed = failed || mem::take(&mut self.sent_in_vain);
            let refused = self.refused.as_mut();
            if failed || refused.is_some_and(|refused| refused.as_mut().poll(cx).is_ready()) {
                self.give_up_early(now, machine);
            }
        }
        match received {
            // An error here is of a packet that was lost: QUIC's timers see to it.
            Poll::Ready(_) => Poll::Ready(true),
            Poll::Pending if reported => Poll::Ready(true),
            Poll::Pending => Poll::Pending,
        }
    }
    /// Receives what the system has and passes it to the machine, even where the runtime has not been
    /// notified of it yet.
    pub(crate) fn read_unnotified(&mut self, now: Instant, machine: &mut Machine) {
        for _ in 0..UNNOTIFIED_BATCHES_MAX {
            let received = self.receive_with(now, machine.h3(), PathSockets::receive_unnotified);
            self.exchange_events();
            self.report(now, machine);
            // An error is of a packet that was lost.
            if !received.unwrap_or(false) {
                return;
            }
        }
    }
    /// Carries out the machine's actions and sends. `Ready`: the socket took everything.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        machine: &mut Machine,
    ) -> Poll<()> {
        if let Some(h3) = machine.h3() {
            self.session.carry_out_actions(h3, now);
        }
        let flushed = self.flush(cx, now);
        self.exchange_events();
        if mem::take(&mut self.moved) || self.sent_in_vain && self.is_early() {
            cx.waker().wake_by_ref();
        }
        flushed
    }
    /// When [`expire`](Self::expire) is due.
    pub(crate) fn next_deadline(&mut self) -> Option<Instant> {
        let early = self.early_until.filter(|_| self.is_early());
        early
            .into_iter()
            .chain(self.session.quic.poll_timeout())
            .chain(self.session.closed_until())
            .min()
    }
    /// Carries out the deadlines that have passed.
    pub(crate) fn expire(&mut self, now: Instant, machine: &mut Machine) {
        let deadline = self.session.quic.poll_timeout();
        if deadline.is_some_and(|deadline| deadline <= now) {
            self.session.quic.handle_timeout(now);
            self.answers.note_timeout();
            self.exchange_events();
            self.report(now, machine);
        }
        if self.early_until.is_some_and(|until| until <= now) {
            self.give_up_early(now, machine);
        }
    }
    /// Gives up an unanswered handshake: the requests sent with it return to the pool.
    fn give_up_early(&mut self, now: Instant, machine: &mut Machine) {
        self.refused = None;
        if self.is_early() && !self.session.quic.is_closed() {
            self.session
                .close(now, H3Code::NO_ERROR, "the handshake took too long");
            machine.handle_close(now, TransportEnd::Failed);
        }
    }
    /// Whether the peer sent a packet since the last call.
    pub(crate) fn take_received(&mut self) -> bool {
        mem::take(&mut self.received)
    }
    /// Packets that the peer has not acknowledged.
    pub(crate) fn unanswered(&self) -> Option<Unanswered> {
        self.answers.unanswered()
    }
    /// The largest HTTP datagram that a packet holds now; `None`: not both sides take them.
    pub(crate) fn datagram_size(&mut self, machine: &mut Machine) -> Option<usize> {
        self.session.datagram_size(machine.h3()?)
    }
    /// Makes the peer acknowledge something.
    pub(crate) fn ask(&mut self, machine: &mut Machine) {
        if let Some(h3) = machine.h3() {
            self.session.ask(h3);
        }
    }
    /// The round trip of a slow answer.
    pub(crate) fn slow_round_trip(&self) -> Duration {
        self.session.slow_round_trip()
    }
    /// Goes on from another local address under another connection id (RFC 9000 section 9.2,
    /// 9.5). Where no socket can be had the old one stays: there is no network now, and the next
    /// silence asks again.
    pub(crate) fn change_path(&mut self, machine: &mut Machine) {
        let remote = self.session.quic.remote_address();
        if let Some(h3) = machine.h3()
            && self.sockets.change(remote).is_ok()
        {
            self.moved = true;
            self.session.change_path(h3);
        }
    }
    /// Whether no work is left once the machine is closed.
    pub(crate) fn is_done(&self, now: Instant) -> bool {
        self.session.is_done(now)
    }
    fn report(&mut self, now: Instant, machine: &mut Machine) -> bool {
        let Some(h3) = machine.h3() else {
            return false;
        };
        let reported = self.session.report(h3, now);
        if let Some(settings) = h3.peer_settings()
            && let Some(slot) = self.slot.take()
        {
            slot.note(settings, self.session.quic.rtt());
        }
        reported
    }
    /// Receives one batch. `machine`: takes the events of each packet before the next.
    fn receive(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        machine: Option<&mut h3::Conn>,
    ) -> Poll<io::Result<()>> {
        self.receive_with(now, machine, |sockets, sink| sockets.poll_receive(cx, sink))
    }
    fn receive_with<T>(
        &mut self,
        now: Instant,
        mut machine: Option<&mut h3::Conn>,
        receive: impl FnOnce(&mut PathSockets, &mut dyn FnMut(ReceivedDatagram)) -> T,
    ) -> T {
        let Self {
            sockets,
            endpoint,
            handle,
            session,
            received,
            answers,
            ..
        } = self;
        let mut answer = Vec::new();
        receive(sockets, &mut |arrival| {
            let event = endpoint.handle(
                now,
                arrival.from,
                arrival.to,
                arrival.ecn,
                arrival.bytes,
                &mut answer,
            );
            // An endpoint without a server configuration answers and accepts no connection.
            if let Some(DatagramEvent::ConnectionEvent(to, event)) = event
                && to == *handle
            {
                *received = true;
                answers.note_received();
                session.handle_packet(machine.as_deref_mut(), now, event);
            }
        })
    }
    fn exchange_events(&mut self) {
        while let Some(event) = self.session.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.session.quic.handle_event(event);
            }
        }
    }
    fn flush(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        let mut any = false;
        let flushed = self.send_all(cx, now, &mut any);
        if any {
            let frames = self.session.quic.stats().frame_tx;
            self.answers.note_sent(now, &frames);
        }
        flushed
    }
    /// Sends until there is nothing more or the socket takes no more. `any`: a packet was made.
    fn send_all(&mut self, cx: &mut Context<'_>, now: Instant, any: &mut bool) -> Poll<()> {
        let segments = self.sockets.current().segments_max();
        if self.unsent.is_none() {
            self.packets = PACKETS.take();
        }
        loop {
            if let Some(transmit) = &self.unsent {
                let socket = self.sockets.current();
                let sent = ready!(socket.poll_send(cx, transmit, &self.packets));
                if sent.is_err_and(|error| is_refusal(&error)) {
                    self.sent_in_vain = true;
                    self.answers.note_refused();
                }
                self.unsent = None;
            }
            self.packets.clear();
            self.unsent = self.session.poll_transmit(now, segments, &mut self.packets);
            if self.unsent.is_none() {
                PACKETS.set(mem::take(&mut self.packets));
                return Poll::Ready(());
            }
            *any = true;
        }
    }
}

thread_local! {
    /// Where packets are made; all connections of a thread share it, because what is made is sent at
    /// once. A connection keeps it only while its socket is full: 64 KB would be more than an idle
    /// connection holds otherwise.
    static PACKETS: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The peer's host reports that no process listens at the port.
fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}

impl Drop for QuicTransport {
    fn drop(&mut self) {
        // A dropped owner sends one close packet; it cannot wait for more.
        if self.session.quic.is_closed() || !self.session.is_connected() {
            return;
        }
        let now = Instant::now();
        self.session.close(now, H3Code::NO_ERROR, "");
        self.packets.clear();
        let last = self.session.quic.poll_transmit(now, 1, &mut self.packets);
        if let Some(transmit) = last {
            let _ = self.sockets.current().try_send(&transmit, &self.packets);
        }
    }
}

impl fmt::Debug for QuicTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("remote", &self.session.quic.remote_address())
            .finish_non_exhaustive()
    }
}

/// Why a connection could not be opened.
#[derive(Debug)]
pub(crate) enum HandshakeError {
    /// The peer's host reports that no process listens.
    NobodyListens,
    /// Everything else.
    Quic(ConnectionError),
}

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NobodyListens => f.write_str("no process listens on its UDP port"),
            Self::Quic(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for HandshakeError {}
