//! The configuration of quinn-proto: every budget is set, none keeps its unlimited default.

pub(crate) mod cid;
pub(super) mod congestion;
pub(crate) mod quic_lb;
pub(crate) mod secret;

use crate::config::Congestion;
use crate::driver::machine::qlog::Qlog;
use crate::error::Error;
use congestion::UntilClosedFactory;
use quic_lb::QuicLb;
use quinn_proto::congestion::{BbrConfig, CubicConfig};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, IdleTimeout, ServerConfig, TransportConfig, VarInt};
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Suite, Version};
use secret::Secret;
use std::sync::Arc;
use trunkline_core::limits::{
    Config, QUIC_DATAGRAM_BYTES_MAX, QUIC_INCOMING_BYTES_MAX, QUIC_INCOMING_BYTES_TOTAL_MAX,
    QUIC_INCOMING_MAX, QUIC_SEND_WINDOW_BYTES, QUIC_SERVER_PING_INTERVAL, QUIC_SERVER_SILENCE_MAX,
    QUIC_SILENCE_MAX, QUIC_UNI_STREAMS_MAX,
};

/// How much later than the packets around it one may come before it counts as lost, as a share of
/// the round trip (RFC 9002 section 6.1.2). A quarter more, as TCP's RACK gives (RFC 8985 section
/// 6.2): with the recommended eighth, paths that reorder look like paths that lose.
const LATE_PACKET_FACTOR: f32 = 1.25;
/// The reordering threshold in packets (RFC 9002 section 6.1.1: at least 3). A burst may overtake
/// one packet; the time threshold above decides.
const OVERTAKEN_PACKETS: u32 = 64;

/// QUIC settings of the user other than limits and windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicSettings {
    pub(crate) congestion: Congestion,
    /// Requests may come, or go, with the handshake of a resumed session.
    pub(crate) early_data: bool,
    /// How a server's connection ids name it to load balancers; `None`: not at all.
    pub(crate) quic_lb: Option<QuicLb>,
}

/// A server's: who may come, and what each may make us hold.
///
/// # Errors
/// When the TLS configuration has no TLS 1.3, without which there is no QUIC (RFC 9001 section 4.2).
pub(crate) fn server(
    tls: Arc<rustls::ServerConfig>,
    config: &Config,
    secret: &Secret,
    quic: &QuicSettings,
    qlog: Option<&Qlog>,
) -> Result<ServerConfig, Error> {
    // It would be refused with the first packet, where quinn-proto takes that for impossible.
    rustls::quic::ServerConnection::new(Arc::clone(&tls), Version::V1, Vec::new())
        .map_err(|error| unusable().with_source(error))?;
    let crypto = QuicServerConfig::with_initial(tls, initial_suite().ok_or_else(unusable)?)
        .map_err(|error| unusable().with_source(error))?;
    let mut server = ServerConfig::new(Arc::new(crypto), secret.token_key()?);
    let bidi = config.limits.request_streams_max;
    let stream_window = config.windows.quic_upload();
    let mut transport = transport(config, bidi, stream_window, quic, qlog);
    transport
        .max_idle_timeout(IdleTimeout::try_from(QUIC_SERVER_SILENCE_MAX).ok())
        .keep_alive_interval(Some(QUIC_SERVER_PING_INTERVAL));
    server
        .transport_config(Arc::new(transport))
        .max_incoming(QUIC_INCOMING_MAX)
        .incoming_buffer_size(QUIC_INCOMING_BYTES_MAX)
        .incoming_buffer_size_total(QUIC_INCOMING_BYTES_TOTAL_MAX);
    Ok(server)
}

/// A client's. Its peer may open no request stream (RFC 9114 section 6.1). `stream_window`: what it
/// may send on each of ours beyond what was read.
///
/// # Errors
/// When the TLS configuration has no TLS 1.3 or no AES-128-GCM.
pub(crate) fn client(
    tls: Arc<rustls::ClientConfig>,
    config: &Config,
    stream_window: u32,
    quic: &QuicSettings,
    qlog: Option<&Qlog>,
) -> Result<ClientConfig, Error> {
    let crypto = QuicClientConfig::try_from(tls).map_err(|error| unusable().with_source(error))?;
    let mut client = ClientConfig::new(Arc::new(crypto));
    client.transport_config(Arc::new(transport(config, 0, stream_window, quic, qlog)));
    Ok(client)
}

fn transport(
    config: &Config,
    bidi: u32,
    stream_window: u32,
    quic: &QuicSettings,
    qlog: Option<&Qlog>,
) -> TransportConfig {
    let silence = IdleTimeout::try_from(QUIC_SILENCE_MAX).ok();
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(bidi))
        .max_concurrent_uni_streams(VarInt::from_u32(QUIC_UNI_STREAMS_MAX))
        .stream_receive_window(VarInt::from_u32(stream_window))
        .receive_window(VarInt::from_u32(config.windows.quic_connection()))
        .send_window(QUIC_SEND_WINDOW_BYTES)
        .max_idle_timeout(silence)
        .keep_alive_interval(None)
        .datagram_receive_buffer_size(config.datagrams.then_some(QUIC_DATAGRAM_BYTES_MAX))
        .datagram_send_buffer_size(QUIC_DATAGRAM_BYTES_MAX)
        .time_threshold(LATE_PACKET_FACTOR)
        .packet_threshold(OVERTAKEN_PACKETS)
        .congestion_controller_factory(match quic.congestion {
            Congestion::Cubic => Arc::new(UntilClosedFactory(Arc::new(CubicConfig::default()))),
            Congestion::Bbr => Arc::new(UntilClosedFactory(Arc::new(BbrConfig::default()))),
        });
    #[cfg(feature = "qlog")]
    transport.qlog_stream(qlog.and_then(Qlog::packets));
    #[cfg(not(feature = "qlog"))]
    let _ = qlog;
    transport
}

/// The suite that protects Initial packets, independent of the negotiated one (RFC 9001 section
/// 5.2).
fn initial_suite() -> Option<Suite> {
    TLS13_AES_128_GCM_SHA256.tls13()?.quic_suite()
}

fn unusable() -> Error {
    Error::config("the TLS configuration cannot serve HTTP/3: it needs TLS 1.3")
}
