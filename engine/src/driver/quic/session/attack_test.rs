//! A hostile client: it replaces its library's frames before encryption, so that a server receives
//! packets that no honest client sends.

use super::*;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::crypto::{self, CryptoError, ExportKeyingMaterialError, KeyPair, Keys, PacketKey};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{ClientConfig, ConnectError, ConnectionId, TransportError, TransportErrorCode};
use std::any::Any;
use std::sync::Mutex;
use trunkline_core::limits::QUIC_RECEIVE_WINDOW_BYTES;
use trunkline_core::wire::varint;

/// RFC 9000 sections 19.3 and 19.8: STREAM with an offset and a length.
const ACK: u64 = 0x02;
const STREAM: u64 = 0x0e;

/// The frames of packets to come, in place of those that the library wrote.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<VecDeque<Vec<u8>>>>);

struct ForgingConfig {
    real: Arc<QuicClientConfig>,
    script: Script,
}

struct ForgingSession {
    real: Box<dyn crypto::Session>,
    script: Script,
}

struct ForgingKey {
    real: Box<dyn PacketKey>,
    script: Script,
}

impl crypto::ClientConfig for ForgingConfig {
    fn start_session(
        self: Arc<Self>,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn crypto::Session>, ConnectError> {
        let script = self.script.clone();
        let real = Arc::clone(&self.real).start_session(version, server_name, params)?;
        Ok(Box::new(ForgingSession { real, script }))
    }
}

impl crypto::Session for ForgingSession {
    fn initial_keys(&self, id: &ConnectionId, side: quinn_proto::Side) -> Keys {
        self.real.initial_keys(id, side)
    }
    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.real.handshake_data()
    }
    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.real.peer_identity()
    }
    fn early_crypto(&self) -> Option<(Box<dyn crypto::HeaderKey>, Box<dyn PacketKey>)> {
        self.real.early_crypto()
    }
    fn early_data_accepted(&self) -> Option<bool> {
        self.real.early_data_accepted()
    }
    fn is_handshaking(&self) -> bool {
        self.real.is_handshaking()
    }
    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.real.read_handshake(bytes)
    }
    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.real.transport_parameters()
    }
    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        let mut keys = self.real.write_handshake(out)?;
        let script = self.script.clone();
        let real = keys.packet.local;
        keys.packet.local = Box::new(ForgingKey { real, script });
        Some(keys)
    }
    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        self.real.next_1rtt_keys()
    }
    fn is_valid_retry(&self, id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.real.is_valid_retry(id, header, payload)
    }
    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.real.export_keying_material(output, label, context)
    }
}

impl PacketKey for ForgingKey {
    fn encrypt(&self, packet: u64, bytes: &mut [u8], header_len: usize) {
        let end = bytes.len() - self.real.tag_len();
        let payload = &mut bytes[header_len..end];
        let mut script = self.script.0.lock().unwrap();
        if let Some(frames) = script.pop_front_if(|frames| frames.len() <= payload.len()) {
            // The rest of it is PADDING.
            payload.fill(0);
            payload[..frames.len()].copy_from_slice(&frames);
        }
        self.real.encrypt(packet, bytes, header_len);
    }
    fn decrypt(
        &self,
        packet: u64,
        header: &[u8],
        payload: &mut BytesMut,
    ) -> Result<(), CryptoError> {
        self.real.decrypt(packet, header, payload)
    }
    fn tag_len(&self) -> usize {
        self.real.tag_len()
    }
    fn confidentiality_limit(&self) -> u64 {
        self.real.confidentiality_limit()
    }
    fn integrity_limit(&self) -> u64 {
        self.real.integrity_limit()
    }
}

/// A server, and a client that sends forged frames.
struct Forger {
    scene: Scene,
    script: Script,
}

impl Forger {
    fn connected() -> Self {
        let script = Script::default();
        let (server_tls, client_tls) = tls();
        let config = ForgingConfig {
            real: Arc::new(QuicClientConfig::try_from(client_tls).unwrap()),
            script: script.clone(),
        };
        let client = ClientConfig::new(Arc::new(config));
        let mut scene = Scene::of(server_tls, client, Windows::default());
        scene.connect();
        scene.run_for(Duration::from_secs(1));
        Self { scene, script }
    }
    /// Sends these frames in a packet of their own.
    fn sends(&mut self, frames: Vec<u8>) {
        self.script.0.lock().unwrap().push_back(frames);
        // Something large that the library writes, to be replaced.
        self.scene.client.machine.pad();
        self.scene.run_for(Duration::from_millis(200));
        assert!(self.script.0.lock().unwrap().is_empty(), "it was sent");
    }
    /// The code that the server closed the connection with.
    fn closed_for(&self) -> Option<TransportErrorCode> {
        let (_, session) = self.scene.server.connection.as_ref().unwrap();
        match session.lost()? {
            ConnectionError::TransportError(error) => Some(error.code),
            other => panic!("{other:?}"),
        }
    }
}

fn frame(fields: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &field in fields {
        varint::put(field, &mut bytes);
    }
    bytes
}

/// One byte of the first request stream.
fn piece(offset: u64) -> Vec<u8> {
    let mut bytes = frame(&[STREAM, 0, offset, 1]);
    bytes.push(b'x');
    bytes
}

#[test]
fn what_is_forged_arrives_as_it_was_written() {
    let mut forger = Forger::connected();
    forger.sends(piece(0));
    assert_eq!(forger.closed_for(), None);
    // A byte of a frame header is the start of a request.
    assert_eq!(forger.scene.server.machine.active(), 1);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_ends_the_connection() {
    let mut forger = Forger::connected();
    // The largest, the delay, no further ranges, one packet.
    forger.sends(frame(&[ACK, 1_000_000, 0, 0, 0]));
    let expected = TransportErrorCode::PROTOCOL_VIOLATION;
    assert_eq!(forger.closed_for(), Some(expected));
}

#[test]
fn data_beyond_the_connections_window_ends_it_even_behind_a_gap() {
    let mut forger = Forger::connected();
    forger.sends(piece(u64::from(QUIC_RECEIVE_WINDOW_BYTES) - 64 * 1024));
    assert_eq!(forger.closed_for(), None, "within the window");
    forger.sends(piece(u64::from(QUIC_RECEIVE_WINDOW_BYTES) + 1));
    let expected = TransportErrorCode::FLOW_CONTROL_ERROR;
    assert_eq!(forger.closed_for(), Some(expected));
}

#[test]
fn a_stream_of_pieces_with_gaps_between_is_kept_up_to_a_number_of_them() {
    /// Bytes that quinn-proto keeps per stream.
    const KEPT: u64 = 1_024;
    const PER_PACKET: u64 = 64;
    let mut forger = Forger::connected();
    let mut sent = 0;
    while forger.closed_for().is_none() && sent < 4 * KEPT {
        let pieces = (sent..sent + PER_PACKET).map(|number| piece(100 + 2 * number));
        forger.sends(pieces.flatten().collect());
        sent += PER_PACKET;
    }
    let expected = TransportErrorCode::INTERNAL_ERROR;
    assert_eq!(forger.closed_for(), Some(expected));
    assert!((KEPT..=KEPT + PER_PACKET).contains(&sent), "after {sent}");
}
