//! A QUIC connection joined to an HTTP/3 machine, for both sides: passes stream events to the
//! machine and carries out its actions.
//!
//! Bytes that the machine does not take stay unread in quinn-proto, which then grants no more
//! credit. Stream credit is quinn-proto's: it returns when both halves of a request stream are
//! done, so the machine always finishes or stops the request half.

mod liveness;
mod reading;

use super::config::congestion::{Lateness, open_for_close};
use super::numbers::{QUARTER_ID_BYTES_MAX, quinn_id, varint};
use super::receive_window::QuicReceiveWindow;
use super::rules;
use crate::driver::machine::qlog::FrameLog;
use bytes::Bytes;
use liveness::CLOSING_TIME_MAX;
use quinn_proto::{
    Connection, ConnectionError, ConnectionEvent, Dir, Event, FinishError, Side as QuicSide,
    StreamEvent, Transmit, WriteError,
};
use std::net::SocketAddr;
use std::time::Instant;
use trunkline_core::error::H3Code;
use trunkline_core::h3;
use trunkline_core::http::StreamId;
use trunkline_core::limits::{QUIC_FRAME_POINTS, QUIC_MOVE_POINTS};

/// A QUIC connection whose streams an HTTP/3 machine uses.
pub(crate) struct Session {
    /// Packets in and out.
    pub(crate) quic: Connection,
    /// The peer's last address.
    remote: SocketAddr,
    /// Client: it goes on from another address than it began from.
    moved: bool,
    /// The handshake is done; the next [`report`](Self::report) reports it to the machine.
    connected: bool,
    connected_reported: bool,
    /// The machine took events between the packets of a batch, since the last
    /// [`report`](Self::report).
    reported_between: bool,
    /// Until the handshake is done, requests come or go as early data.
    early: bool,
    /// How often the peer has said that the connection's window holds it up.
    blocked: u64,
    /// How often the peer has gone on from another address.
    moves: u64,
    /// Frames that cost an answer and bring nothing, as far as they are charged.
    idle_frames: u64,
    /// Datagrams that we have dropped for want of room on the path.
    datagrams_dropped: u64,
    /// The connection's receive window.
    window: QuicReceiveWindow,
    /// How late the peer's acknowledgements are.
    lateness: Lateness,
    /// Why it ended below us.
    lost: Option<ConnectionError>,
    /// Client: when it need not answer late packets with its close any more.
    closed_until: Option<Instant>,
    /// Client: request streams opened ahead, and those of them that are in use. quinn-proto does
    /// not say how many may be opened; opening them is the one way to know, and an open stream
    /// without bytes is nothing on the wire.
    reserved: u64,
    used: u64,
    /// Client: how many to keep open ahead.
    ahead: u64,
    /// The log of frames, if there is one.
    log: Option<Box<FrameLog>>,
}

impl Session {
    /// Over a connection just begun. `ahead`: the most exchanges that the client will have at once;
    /// 0 for a server.
    pub(crate) fn new(quic: Connection, ahead: u32) -> Self {
        Self {
            remote: quic.remote_address(),
            lateness: Lateness::of(quic.congestion_state()),
            moved: false,
            quic,
            connected: false,
            connected_reported: false,
            reported_between: false,
            early: false,
            blocked: 0,
            moves: 0,
            idle_frames: 0,
            datagrams_dropped: 0,
            window: QuicReceiveWindow::default(),
            lost: None,
            closed_until: None,
            reserved: 0,
            used: 0,
            ahead: u64::from(ahead),
            log: None,
        }
    }
    /// Writes its frames to a log.
    pub(crate) fn with_log(mut self, log: Option<Box<FrameLog>>) -> Self {
        self.log = log;
        self.note_packets();
        self
    }
    /// The next packets to send, at most `segments`, in `packets`.
    pub(crate) fn poll_transmit(
        &mut self,
        now: Instant,
        segments: usize,
        packets: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let made = self.quic.poll_transmit(now, segments, packets);
        self.note_packets();
        made
    }
    /// quinn-proto may have written about packets of this connection.
    fn note_packets(&self) {
        if let Some(log) = &self.log {
            log.note_packets();
        }
    }
    /// Client: lets requests go out with the handshake; false if no session was remembered that
    /// allows it.
    pub(crate) fn begin_early(&mut self) -> bool {
        self.early = self.quic.has_0rtt();
        self.early
    }
    /// Whether requests come or go as early data now.
    pub(crate) fn is_early(&self) -> bool {
        self.early && !self.connected
    }
    /// Drives the handshake without a machine; `None` while it goes on.
    pub(crate) fn poll_handshake(&mut self) -> Option<Result<(), ConnectionError>> {
        loop {
            // Stream events behind `Connected` stay queued until there is a machine.
            match self.quic.poll()? {
                Event::Connected => {
                    self.connected = true;
                    return Some(Ok(()));
                }
                Event::ConnectionLost { reason } => return Some(Err(reason)),
                _ => {}
            }
        }
    }
    /// Whether the handshake is done.
    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }
    /// Why the connection ended, unless we closed it.
    pub(crate) fn lost(&self) -> Option<&ConnectionError> {
        self.lost.as_ref()
    }
    /// For which of [`rules::NAMES`] QUIC ended the connection, if the peer broke one.
    pub(crate) fn broken_rule(&self) -> Option<usize> {
        match &self.lost {
            Some(ConnectionError::TransportError(error)) => Some(rules::index_of(error.code)),
            _ => None,
        }
    }
    /// Takes a packet. The machine takes the events of the packets before it first: quinn-proto
    /// discards the unread bytes of a stream with its RESET_STREAM (RFC 9000 section 3.2), and an
    /// error of the connection ends every stream, so a head and bytes that came in an earlier packet
    /// of the same batch would be lost. An event comes with each STREAM frame, so the events of a
    /// batch cost the same one packet at a time. `machine`: `None` while it takes no events.
    pub(crate) fn handle_packet(
        &mut self,
        machine: Option<&mut h3::Conn>,
        now: Instant,
        packet: ConnectionEvent,
    ) {
        if let Some(machine) = machine {
            self.reported_between |= self.report_events(machine, now);
        }
        self.quic.handle_event(packet);
        self.note_packets();
    }
    /// Reports the transport's events to the machine; true if there were any.
    pub(crate) fn report(&mut self, machine: &mut h3::Conn, now: Instant) -> bool {
        self.follow_peer(machine, now);
        let mut any = std::mem::take(&mut self.reported_between);
        any |= self.report_events(machine, now);
        if any {
            machine.handle_round_trip(self.quic.rtt());
            machine.handle_congestion_window(self.quic.congestion_state().window());
        } else {
            // Once per turn, at its end. A flood of frames causes no event.
            self.charge_idle_frames(machine, now);
        }
        if machine.holds_back() {
            let blocked = self.quic.stats().frame_rx.data_blocked;
            if std::mem::replace(&mut self.blocked, blocked) < blocked {
                machine.handle_blocked(now);
            }
        }
        any
    }
    /// Gives the machine the events that wait, in their order; true when there was one.
    fn report_events(&mut self, machine: &mut h3::Conn, now: Instant) -> bool {
        self.early |= self.side().is_server() && self.quic.has_0rtt();
        let mut any = self.report_connected(machine, now);
        if self.is_early() && self.reserved == 0 {
            self.reserve(machine, now);
        }
        while let Some(event) = self.quic.poll() {
            any = true;
            match event {
                Event::Connected => {
                    self.connected = true;
                    self.report_connected(machine, now);
                }
                Event::ConnectionLost { reason } => {
                    let code = match &reason {
                        ConnectionError::ApplicationClosed(close) => {
                            Some(H3Code(close.error_code.into_inner()))
                        }
                        _ => None,
                    };
                    if code.is_some() {
                        self.read_all(machine, now);
                    }
                    self.lost = Some(reason);
                    open_for_close(self.quic.congestion_state());
                    machine.handle_close(now, code);
                }
                Event::Stream(event) => self.report_stream(machine, now, event),
                Event::DatagramReceived => {
                    while let Some(bytes) = self.quic.datagrams().recv() {
                        machine.handle_datagram(now, bytes);
                    }
                }
                Event::HandshakeDataReady | Event::DatagramsUnblocked => {}
            }
        }
        any
    }
    fn charge_idle_frames(&mut self, machine: &mut h3::Conn, now: Instant) {
        let seen = self.quic.stats().frame_rx;
        let idle = seen.new_connection_id + seen.retire_connection_id + seen.path_challenge;
        let fresh = idle - std::mem::replace(&mut self.idle_frames, idle);
        if fresh > 0 {
            let fresh = u32::try_from(fresh).unwrap_or(u32::MAX);
            machine.handle_glitches(now, fresh.saturating_mul(QUIC_FRAME_POINTS));
        }
    }
    /// The largest HTTP datagram that a packet holds now; `None`: not both sides take them.
    pub(crate) fn datagram_size(&mut self, machine: &h3::Conn) -> Option<usize> {
        if !machine.has_datagrams() {
            return None;
        }
        let size = self.quic.datagrams().max_size()?;
        size.checked_sub(QUARTER_ID_BYTES_MAX)
    }
    /// Datagrams that were dropped for want of room on the path.
    pub(crate) fn datagrams_dropped(&self) -> u64 {
        self.datagrams_dropped
    }
    /// How often the peer has gone on from another address.
    pub(crate) fn moves(&self) -> u64 {
        self.moves
    }
    /// A peer that has moved is asked at once: quinn-proto counts nothing as in flight on the new
    /// path, so no timer would ever find out that what was sent on the old one is lost. The answer
    /// to the question does.
    fn follow_peer(&mut self, machine: &mut h3::Conn, now: Instant) {
        let remote = self.quic.remote_address();
        if remote != self.remote {
            self.remote = remote;
            self.moves += 1;
            self.quic.ping();
            machine.handle_glitches(now, QUIC_MOVE_POINTS);
        }
    }
    fn report_connected(&mut self, machine: &mut h3::Conn, now: Instant) -> bool {
        if !self.connected || self.connected_reported {
            return false;
        }
        self.connected_reported = true;
        if self.early && self.side().is_client() && !self.quic.accepted_0rtt() {
            // quinn-proto has forgotten the streams, those opened ahead too.
            (self.reserved, self.used) = (0, 0);
            machine.handle_early_data_rejected(now);
        }
        machine.handle_handshake_done(now);
        self.reserve(machine, now);
        true
    }
    fn report_stream(&mut self, machine: &mut h3::Conn, now: Instant, event: StreamEvent) {
        match event {
            StreamEvent::Opened { dir } => {
                while let Some(id) = self.quic.streams().accept(dir) {
                    machine.handle_opened(now, StreamId(id.into()));
                    // The first bytes came with it, without an event of their own.
                    self.read(machine, now, id);
                }
            }
            StreamEvent::Readable { id } => self.read(machine, now, id),
            StreamEvent::Writable { id } => machine.handle_stream_room(now, StreamId(id.into())),
            StreamEvent::Finished { id } => machine.handle_finished(now, StreamId(id.into())),
            StreamEvent::Stopped { id, error_code } => {
                let code = H3Code(error_code.into_inner());
                machine.handle_stop_sending(now, StreamId(id.into()), code);
            }
            StreamEvent::Available { dir: Dir::Bi } => self.reserve(machine, now),
            StreamEvent::Available { dir: Dir::Uni } => {}
        }
    }
    /// Opens request streams ahead and says how many there are since the start.
    fn reserve(&mut self, machine: &mut h3::Conn, now: Instant) {
        let before = self.reserved;
        while self.reserved < self.used + self.ahead && self.quic.streams().open(Dir::Bi).is_some()
        {
            self.reserved += 1;
        }
        if self.reserved > before {
            machine.handle_streams_available(now, self.reserved);
        }
    }
    /// Carries out the machine's actions; true when there was one.
    pub(crate) fn carry_out_actions(&mut self, machine: &mut h3::Conn, now: Instant) -> bool {
        if !self.connected && !self.early {
            // Before the peer's transport parameters no stream can be opened.
            return false;
        }
        let mut any = false;
        while let Some(action) = machine.poll_transport(now) {
            any = true;
            self.carry_out(machine, now, action);
        }
        if self.reserved < self.used + self.ahead.div_ceil(2) {
            self.reserve(machine, now);
        }
        any
    }
    fn carry_out(&mut self, machine: &mut h3::Conn, now: Instant, action: h3::TransportAction) {
        match action {
            h3::TransportAction::OpenUni { stream, .. } => {
                let opened = self.quic.streams().open(Dir::Uni);
                debug_assert!(opened.is_none_or(|id| u64::from(id) == stream.0));
                if opened.is_none() && !self.quic.is_closed() {
                    // RFC 9114 section 6.2: at least three must be allowed.
                    let code = H3Code::GENERAL_PROTOCOL_ERROR;
                    self.close(now, code, "fewer than three unidirectional streams allowed");
                    machine.handle_close(now, None);
                }
            }
            h3::TransportAction::OpenBidi { .. } => self.used += 1,
            h3::TransportAction::Write {
                stream,
                pieces,
                fin,
            } => self.write(machine, now, stream, pieces, fin),
            h3::TransportAction::Reset { stream, code } => {
                if let Some(id) = self.sending(stream) {
                    // Done or reset already: nothing to do.
                    let _ = self.quic.send_stream(id).reset(varint(code.0));
                }
            }
            h3::TransportAction::StopSending { stream, code } => {
                if let Some(id) = self.receiving(stream) {
                    let _ = self.quic.recv_stream(id).stop(varint(code.0));
                }
            }
            h3::TransportAction::Read { stream } => {
                if let Some(id) = self.receiving(stream) {
                    self.read(machine, now, id);
                }
            }
            h3::TransportAction::SetPriority { stream, order } => {
                if let Some(id) = self.sending(stream) {
                    let _ = self.quic.send_stream(id).set_priority(order);
                }
            }
            h3::TransportAction::GrantBytes { window } => {
                let first = machine.first_window();
                if let Some(window) = self.window.set(window, first) {
                    self.quic.set_receive_window(window.into());
                }
            }
            h3::TransportAction::HoldBytes { bytes } => self.quic.set_send_window(bytes),
            // Both stream counts are quinn-proto's: see the top.
            h3::TransportAction::GrantStreams { .. } => {}
            h3::TransportAction::Datagram { bytes } => {
                // Where the path takes fewer than we have, the oldest is dropped (RFC 9221 section
                // 5); and this one, if packets are smaller by now.
                let mut datagrams = self.quic.datagrams();
                let fits = datagrams.send_buffer_space() >= bytes.len();
                let sent = datagrams.send(bytes, true).is_ok();
                self.datagrams_dropped += u64::from(!fits) + u64::from(!sent);
            }
            h3::TransportAction::Close { code, reason } => self.close(now, code, reason),
        }
    }
    /// Closes the connection.
    pub(crate) fn close(&mut self, now: Instant, code: H3Code, reason: &'static str) {
        open_for_close(self.quic.congestion_state());
        self.closed_until.get_or_insert(now + CLOSING_TIME_MAX);
        self.quic
            .close(now, varint(code.0), Bytes::from_static(reason.as_bytes()));
    }
    fn write(
        &mut self,
        machine: &mut h3::Conn,
        now: Instant,
        stream: StreamId,
        mut pieces: [Bytes; 2],
        fin: bool,
    ) {
        let Some(id) = self.sending(stream) else {
            return;
        };
        let mut send = self.quic.send_stream(id);
        let whole = self.log.is_some().then(|| pieces.clone());
        while pieces.iter().any(|piece| !piece.is_empty()) {
            match send.write_chunks(&mut pieces) {
                Ok(_) => {}
                Err(WriteError::Blocked) => {
                    self.log_sent(now, stream, whole, &pieces, false);
                    return machine.handle_stream_blocked(now, stream, pieces, fin);
                }
                // The peer's STOP_SENDING came first. Only a reset ends the stream now (RFC 9000 section
                // 3.5), and the machine may have written its end before it knows.
                Err(WriteError::Stopped(code)) => {
                    let _ = send.reset(code);
                    return;
                }
                // Our reset came first.
                Err(WriteError::ClosedStream) => return,
            }
        }
        if fin && let Err(FinishError::Stopped(code)) = send.finish() {
            let _ = send.reset(code);
            return;
        }
        self.log_sent(now, stream, whole, &pieces, fin);
    }
    /// Logs what the transport has taken: of `whole` what is not `left`.
    fn log_sent(
        &mut self,
        now: Instant,
        stream: StreamId,
        whole: Option<[Bytes; 2]>,
        left: &[Bytes; 2],
        fin: bool,
    ) {
        let (Some(log), Some(whole)) = (&mut self.log, whole) else {
            return;
        };
        for (n, (piece, left)) in whole.iter().zip(left).enumerate() {
            let taken = &piece[..piece.len() - left.len()];
            log.sent_on(now, stream, taken, fin && n + 1 == whole.len());
        }
    }
    /// The id for quinn-proto, if we may send on it: it panics otherwise.
    fn sending(&self, stream: StreamId) -> Option<quinn_proto::StreamId> {
        let id = quinn_id(stream);
        (id.dir() == Dir::Bi || id.initiator() == self.side()).then_some(id)
    }
    fn receiving(&self, stream: StreamId) -> Option<quinn_proto::StreamId> {
        let id = quinn_id(stream);
        (id.dir() == Dir::Bi || id.initiator() != self.side()).then_some(id)
    }
    fn side(&self) -> QuicSide {
        self.quic.side()
    }
}

#[cfg(test)]
#[path = "session_test.rs"]
mod session_test;
