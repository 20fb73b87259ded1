//! What quinn-proto is told: every budget explicitly, never its unlimited defaults.

use crate::error::Error;
use quinn_proto::congestion::CubicConfig;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, IdleTimeout, ServerConfig, TransportConfig, VarInt};
use std::sync::Arc;
use trunkline_core::limits::{
    Config, QUIC_DATAGRAM_BYTES_MAX, QUIC_INCOMING_BYTES_MAX, QUIC_INCOMING_BYTES_TOTAL_MAX,
    QUIC_INCOMING_MAX, QUIC_SEND_WINDOW_BYTES, QUIC_SILENCE_MAX, QUIC_UNI_STREAMS_MAX,
};

/// A server's: who may come, and what each may make us hold.
///
/// # Errors
/// When the TLS configuration has no TLS 1.3 or no AES-128-GCM, without which QUIC cannot start
/// (RFC 9001 section 5.2).
pub(crate) fn server(
    tls: Arc<rustls::ServerConfig>,
    config: &Config,
) -> Result<ServerConfig, Error> {
    let crypto = QuicServerConfig::try_from(tls).map_err(|error| unusable().with_source(error))?;
    let mut server = ServerConfig::with_crypto(Arc::new(crypto));
    let bidi = config.limits.request_streams_max;
    server
        .transport_config(Arc::new(transport(config, bidi)))
        .max_incoming(QUIC_INCOMING_MAX)
        .incoming_buffer_size(QUIC_INCOMING_BYTES_MAX)
        .incoming_buffer_size_total(QUIC_INCOMING_BYTES_TOTAL_MAX);
    Ok(server)
}

/// A client's. Its peer may open no request stream (RFC 9114 section 6.1).
///
/// # Errors
/// As for [`server`].
pub(crate) fn client(
    tls: Arc<rustls::ClientConfig>,
    config: &Config,
) -> Result<ClientConfig, Error> {
    let crypto = QuicClientConfig::try_from(tls).map_err(|error| unusable().with_source(error))?;
    let mut client = ClientConfig::new(Arc::new(crypto));
    client.transport_config(Arc::new(transport(config, 0)));
    Ok(client)
}

fn transport(config: &Config, bidi: u32) -> TransportConfig {
    let silence = IdleTimeout::try_from(QUIC_SILENCE_MAX).ok();
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(bidi))
        .max_concurrent_uni_streams(VarInt::from_u32(QUIC_UNI_STREAMS_MAX))
        .stream_receive_window(VarInt::from_u32(config.windows.quic_stream()))
        .receive_window(VarInt::from_u32(config.windows.quic_connection()))
        .send_window(QUIC_SEND_WINDOW_BYTES)
        .max_idle_timeout(silence)
        .keep_alive_interval(None)
        .datagram_receive_buffer_size(Some(QUIC_DATAGRAM_BYTES_MAX))
        .datagram_send_buffer_size(QUIC_DATAGRAM_BYTES_MAX)
        .congestion_controller_factory(Arc::new(CubicConfig::default()));
    transport
}

fn unusable() -> Error {
    Error::config(
        "the TLS configuration cannot serve HTTP/3: it needs TLS 1.3 with TLS_AES_128_GCM_SHA256",
    )
}
