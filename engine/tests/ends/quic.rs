//! A scripted end of QUIC connections: quinn-proto for the handshake and acknowledgements, and
//! packets whose frames the test writes itself, so that it can send every frame with every code.

use super::wire::Identity;
use bytes::BytesMut;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{self, KeyPair, Keys, PacketKey, Session};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, ConnectionId, DatagramEvent, Dir,
    Endpoint, EndpointConfig, ServerConfig, Side, StreamEvent, StreamId, TransportConfig,
    TransportError,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The frames of the next packet, in place of those that quinn-proto has for it.
type NextPacket = Arc<Mutex<Option<Vec<u8>>>>;

/// The idle timeout that an end asks for whose silence is to end a connection. A machine that stands still for less does not end a
/// handshake.
pub(crate) const IDLE: Duration = Duration::from_secs(6);

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes received on a stream.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_over: bool,
}

/// One end of connections over a socket of its own.
pub(crate) struct Quic {
    socket: UdpSocket,
    endpoint: Endpoint,
    settings: Arc<EndpointConfig>,
    server: Option<Arc<ServerConfig>>,
    next_packet: NextPacket,
    connections: BTreeMap<usize, Connection>,
    received: BTreeMap<(usize, StreamId), Received>,
}

fn transport(idle: Duration) -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Some(idle.try_into().unwrap()))
        // Packets have room for the frames that a test sends in one of them.
        .pad_to_mtu(true)
        .mtu_discovery_config(None);
    Arc::new(transport)
}

impl Quic {
    /// A server that asks for this idle timeout.
    pub(crate) fn server(identity: &Identity, idle: Duration) -> Self {
        let tls = QuicServerConfig::try_from(Arc::clone(&identity.server)).unwrap();
        let next_packet = NextPacket::default();
        let crypto = Rewriting {
            tls: Arc::new(tls),
            next_packet: Arc::clone(&next_packet),
        };
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(transport(idle));
        Self::over(Some(Arc::new(config)), next_packet)
    }
    fn over(server: Option<Arc<ServerConfig>>, next_packet: NextPacket) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let patience = Duration::from_millis(2);
        socket.set_read_timeout(Some(patience)).unwrap();
        let settings = Arc::new(EndpointConfig::default());
        Self {
            socket,
            endpoint: Endpoint::new(Arc::clone(&settings), server.clone(), false, None),
            settings,
            server,
            next_packet,
            connections: BTreeMap::new(),
            received: BTreeMap::new(),
        }
    }
    /// A client with one connection, whose handshake is over, that asks for this idle timeout.
    pub(crate) fn connected(
        tls: &Arc<rustls::ClientConfig>,
        to: SocketAddr,
        idle: Duration,
    ) -> (Self, usize) {
        let tls = QuicClientConfig::try_from(Arc::clone(tls)).unwrap();
        let next_packet = NextPacket::default();
        let crypto = Rewriting {
            tls: Arc::new(tls),
            next_packet: Arc::clone(&next_packet),
        };
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(transport(idle));
        let mut quic = Self::over(None, next_packet);
        let connected = quic
            .endpoint
            .connect(Instant::now(), config, to, "localhost");
        let (ConnectionHandle(handle), connection) = connected.unwrap();
        quic.connections.insert(handle, connection);
        let until = Instant::now() + PATIENCE;
        while quic.connections[&handle].is_handshaking() {
            assert!(Instant::now() < until, "no handshake");
            quic.turn();
        }
        (quic, handle)
    }
    pub(crate) fn port(&self) -> u16 {
        self.socket.local_addr().unwrap().port()
    }
    /// Sends what is due and takes what came, for at most a few milliseconds.
    pub(crate) fn turn(&mut self) {
        self.transmit();
        let mut datagram = vec![0; 65_536];
        let Ok((length, from)) = self.socket.recv_from(&mut datagram) else {
            return;
        };
        let (now, mut answer) = (Instant::now(), Vec::new());
        let bytes = BytesMut::from(&datagram[..length]);
        let came = self
            .endpoint
            .handle(now, from, None, None, bytes, &mut answer);
        match came {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                if let Ok((ConnectionHandle(handle), connection)) = accepted {
                    self.connections.insert(handle, connection);
                }
            }
            Some(DatagramEvent::ConnectionEvent(ConnectionHandle(handle), event)) => {
                if let Some(connection) = self.connections.get_mut(&handle) {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                let answer = &answer[..transmit.size];
                self.socket.send_to(answer, transmit.destination).unwrap();
            }
            None => {}
        }
        self.receive();
        self.transmit();
    }
    fn transmit(&mut self) {
        for (&handle, connection) in &mut self.connections {
            let now = Instant::now();
            if connection.poll_timeout().is_some_and(|at| at <= now) {
                connection.handle_timeout(now);
            }
            while let Some(event) = connection.poll_endpoint_events() {
                let event = self.endpoint.handle_event(ConnectionHandle(handle), event);
                if let Some(event) = event {
                    connection.handle_event(event);
                }
            }
            let mut packet = Vec::new();
            while let Some(transmit) = connection.poll_transmit(now, 1, &mut packet) {
                let bytes = &packet[..transmit.size];
                self.socket.send_to(bytes, transmit.destination).unwrap();
                packet.clear();
            }
        }
    }
    fn receive(&mut self) {
        for (&handle, connection) in &mut self.connections {
            while let Some(event) = connection.poll() {
                if let quinn_proto::Event::Stream(StreamEvent::Opened { dir }) = event {
                    while let Some(stream) = connection.streams().accept(dir) {
                        self.received.entry((handle, stream)).or_default();
                    }
                }
            }
        }
        for (&(handle, stream), received) in &mut self.received {
            let Some(connection) = self.connections.get_mut(&handle) else {
                continue;
            };
            if received.is_over {
                continue;
            }
            let mut recv = connection.recv_stream(stream);
            let Ok(mut chunks) = recv.read(true) else {
                continue;
            };
            loop {
                match chunks.next(usize::MAX) {
                    Ok(Some(chunk)) => received.bytes.extend_from_slice(&chunk.bytes),
                    Ok(None) => {
                        received.is_over = true;
                        break;
                    }
                    Err(_) => break,
                }
            }
            let _ = chunks.finalize();
        }
    }
    /// Opens a stream of this end.
    pub(crate) fn open(&mut self, handle: usize, dir: Dir) -> StreamId {
        let connection = self.connections.get_mut(&handle).unwrap();
        let stream = connection.streams().open(dir).unwrap();
        if dir == Dir::Bi {
            self.received.insert((handle, stream), Received::default());
        }
        stream
    }
    /// Writes on a stream by the rules of QUIC: a lost packet is sent again.
    pub(crate) fn write(&mut self, handle: usize, stream: StreamId, bytes: &[u8], fin: bool) {
        let connection = self.connections.get_mut(&handle).unwrap();
        let written = connection.send_stream(stream).write(bytes).unwrap();
        assert_eq!(written, bytes.len());
        if fin {
            connection.send_stream(stream).finish().unwrap();
        }
        self.transmit();
    }
    /// Sends one packet with these frames of QUIC and nothing else.
    pub(crate) fn send_packet(&mut self, handle: usize, frames: &[u8]) {
        self.transmit();
        *self.next_packet.lock().unwrap() = Some(frames.to_vec());
        while self.next_packet.lock().unwrap().is_some() {
            let connection = self.connections.get_mut(&handle).unwrap();
            connection.ping();
            self.transmit();
        }
    }
    /// From now on nothing of this connection is read or sent.
    pub(crate) fn fall_silent(&mut self, handle: usize) {
        self.connections.remove(&handle);
    }
    /// Loses all connections as a restarted process does, and keeps the key of its resets.
    pub(crate) fn forget_all(&mut self) {
        self.connections.clear();
        let settings = Arc::clone(&self.settings);
        self.endpoint = Endpoint::new(settings, self.server.clone(), false, None);
    }
    pub(crate) fn received(&self, handle: usize, stream: StreamId) -> Option<&Received> {
        self.received.get(&(handle, stream))
    }
    /// The connections whose handshake is over.
    pub(crate) fn connections(&self) -> Vec<usize> {
        let open = self.connections.iter();
        let open = open.filter(|(_, connection)| !connection.is_handshaking());
        open.map(|(&handle, _)| handle).collect()
    }
    pub(crate) fn is_client(&self) -> bool {
        self.server.is_none()
    }
    /// The requests of which these bytes came last.
    pub(crate) fn requests_up_to(&self, last: &[u8]) -> Vec<(usize, StreamId)> {
        let all = self.received.iter();
        let begun = all.filter(|((_, stream), received)| {
            stream.dir() == Dir::Bi
                && stream.initiator() == Side::Client
                && received.bytes.ends_with(last)
        });
        begun.map(|(&key, _)| key).collect()
    }
    /// The requests that came whole.
    pub(crate) fn requests(&self) -> Vec<(usize, StreamId)> {
        let all = self.received.iter();
        let whole = all.filter(|((_, stream), received)| {
            stream.dir() == Dir::Bi && stream.initiator() == Side::Client && received.is_over
        });
        whole.map(|(&key, _)| key).collect()
    }
}

/// TLS whose packet keys take the frames of the test in place of what they are given.
struct Rewriting<T> {
    tls: T,
    next_packet: NextPacket,
}

impl<T> Rewriting<T> {
    fn session(&self, tls: Box<dyn Session>) -> Box<dyn Session> {
        Box::new(Rewriting {
            tls,
            next_packet: Arc::clone(&self.next_packet),
        })
    }
    fn pair(&self, pair: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        KeyPair {
            local: Box::new(Rewriting {
                tls: pair.local,
                next_packet: Arc::clone(&self.next_packet),
            }),
            remote: pair.remote,
        }
    }
}

impl crypto::ClientConfig for Rewriting<Arc<QuicClientConfig>> {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let session = Arc::clone(&self.tls).start_session(version, name, params)?;
        Ok(self.session(session))
    }
}

impl crypto::ServerConfig for Rewriting<Arc<QuicServerConfig>> {
    fn initial_keys(
        &self,
        version: u32,
        id: &ConnectionId,
    ) -> Result<Keys, crypto::UnsupportedVersion> {
        crypto::ServerConfig::initial_keys(&*self.tls, version, id)
    }
    fn retry_tag(&self, version: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.tls.retry_tag(version, id, packet)
    }
    fn start_session(
        self: Arc<Self>,
        version: u32,
        params: &TransportParameters,
    ) -> Box<dyn Session> {
        let session = Arc::clone(&self.tls).start_session(version, params);
        self.session(session)
    }
}

impl Session for Rewriting<Box<dyn Session>> {
    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        self.tls.initial_keys(id, side)
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.tls.handshake_data()
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.tls.peer_identity()
    }
    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn PacketKey>)> {
        None
    }
    fn early_data_accepted(&self) -> Option<bool> {
        self.tls.early_data_accepted()
    }
    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking()
    }
    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.tls.read_handshake(bytes)
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.tls.transport_parameters()
    }
    fn write_handshake(&mut self, bytes: &mut Vec<u8>) -> Option<Keys> {
        let keys = self.tls.write_handshake(bytes)?;
        Some(Keys {
            header: keys.header,
            packet: self.pair(keys.packet),
        })
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.tls.next_1rtt_keys()?;
        Some(self.pair(keys))
    }
    fn is_valid_retry(&self, id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.tls.is_valid_retry(id, header, payload)
    }
    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), crypto::ExportKeyingMaterialError> {
        self.tls.export_keying_material(output, label, context)
    }
}

impl PacketKey for Rewriting<Box<dyn PacketKey>> {
    fn encrypt(&self, number: u64, packet: &mut [u8], header: usize) {
        // A long header carries its own length and no frame of a stream.
        let is_short = packet[0] & 0x80 == 0;
        if is_short && let Some(frames) = self.next_packet.lock().unwrap().take() {
            let end = packet.len() - self.tls.tag_len();
            let payload = &mut packet[header..end];
            assert!(frames.len() <= payload.len(), "{}", payload.len());
            payload.fill(0);
            payload[..frames.len()].copy_from_slice(&frames);
        }
        self.tls.encrypt(number, packet, header);
    }
    fn decrypt(
        &self,
        number: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), crypto::CryptoError> {
        self.tls.decrypt(number, header, payload)
    }
    fn tag_len(&self) -> usize {
        self.tls.tag_len()
    }
    fn confidentiality_limit(&self) -> u64 {
        self.tls.confidentiality_limit()
    }
    fn integrity_limit(&self) -> u64 {
        self.tls.integrity_limit()
    }
}
