//! Opens an HTTP/3 connection: resolves the name, then races QUIC handshakes with its addresses.

use super::Start;
use crate::client::connect::lookup::OriginAddresses;
use crate::client::connect::race;
use crate::client::connect::route::displayed;
use crate::client::settings::Settings;
use crate::driver::machine::qlog::FrameLog;
use crate::driver::quic::config;
use crate::driver::quic::transport::{HandshakeError, QuicTransport};
use crate::error::{Error, ErrorKind, Fault, Retry};
use crate::tls::{KeyRefusal, refuses_certificate_over_quic, retry_after_quic};
use std::io;
use std::time::{Duration, Instant};
use trunkline_core::limits::Config;
use trunkline_core::pool::{Origin, QUIC_HEAD_START};

/// Whether requests may go out with a connection's handshake: then it may be given back before that
/// is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// Nothing goes out before.
    Nothing,
    /// Early data is allowed where a session is remembered. The handshake has the time limit of
    /// every connection.
    Early,
    /// As `Early`, while TCP may win: the handshake has TCP's head start and a round trip. After
    /// that its requests are sent again over TCP.
    EarlyInRace,
}

impl Ahead {
    fn of(start: Start, races: bool) -> Self {
        match (start.early, races) {
            (false, _) => Self::Nothing,
            (true, false) => Self::Early,
            (true, true) => Self::EarlyInRace,
        }
    }
    /// The time that a handshake has which carries requests, at `round_trip` from the server.
    fn limit(self, settings: &Settings, round_trip: Duration) -> Option<Duration> {
        let connect = settings.timeouts.connect;
        match self {
            Self::Nothing | Self::Early => connect,
            Self::EarlyInRace => connect
                .into_iter()
                .chain([QUIC_HEAD_START + round_trip])
                .min(),
        }
    }
}

/// Opens a QUIC connection to the first address that answers, as with TCP (RFC 8305). `port`: the origin's, or
/// where else it has said that it serves HTTP/3. `place`: where it is known to be. `races`: TCP is tried
/// beside it.
pub(super) async fn establish(
    settings: &Settings,
    origin: &Origin,
    port: u16,
    place: Option<&OriginAddresses>,
    start: Start,
    races: bool,
) -> Result<Box<QuicTransport>, Error> {
    let ahead = Ahead::of(start, races);
    let stream_window = start.stream_window;
    let displayed = &displayed(origin);
    let addresses = match place {
        Some(place) => place.over_quic(port),
        None => settings.route.addresses_for_quic(origin, port).await?,
    };
    let memory = settings
        .early_data
        .as_ref()
        .filter(|_| ahead != Ahead::Nothing);
    let keys = settings.hello_keys(place);
    let tls = settings.tls.quic_config(memory.is_some(), keys)?;
    let limits = &settings.config.limits;
    let machine = Config::default()
        .with_limits(limits.clone())
        .with_windows(settings.config.windows.clone())
        .with_datagrams(settings.config.datagrams);
    let quic = &config::client(
        tls,
        &machine,
        stream_window,
        &settings.quic,
        settings.qlog.as_ref(),
    )?;
    let name = origin.server_name.as_deref().unwrap_or(&origin.host);
    let open = |address| async move {
        let streams = limits.request_streams_max;
        let log = settings.qlog.as_ref().map(FrameLog::http3);
        let begun =
            QuicTransport::connect(quic.clone(), address, name, streams, stream_window, log);
        let quic = begun.map_err(|error| {
            let text = format!("no QUIC connection to {displayed} can be begun");
            Error::new(ErrorKind::Connect, Fault::Us, Retry::Safe)
                .with_text(text)
                .with_source(error)
        })?;
        let mut quic = Box::new(match memory {
            Some(memory) => {
                let slot = memory.slot(name, port);
                let limit = |round_trip| ahead.limit(settings, round_trip);
                quic.with_early_data(slot, limit)
            }
            None => quic,
        });
        if !quic.is_early() {
            let done = quic.handshake().await;
            done.map_err(|error| handshake_error(displayed, error))?;
        }
        Ok(quic)
    };
    let outcome = race::first(settings.route.options().race(&addresses), open).await;
    outcome.map_err(|mut failures| match failures.pop() {
        Some((_, last)) => last,
        None => Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe)
            .with_text(format!("the host of {displayed} has no address")),
    })
}

/// How long an assumption holds before it is made again.
const ASSUMED_TTL: Duration = Duration::from_secs(3600);

/// The UDP port to try for an origin, where it or its HTTPS record has said so and QUIC did not
/// fail there lately.
pub(super) fn known_port(
    settings: &Settings,
    origin: &Origin,
    place: Option<&OriginAddresses>,
) -> Option<u16> {
    let (now, mut alternatives) = (Instant::now(), settings.alternatives());
    let known = alternatives.http3_port(now, origin);
    if known.is_some() {
        return known;
    }
    let recorded = place.and_then(|place| Some((place.http3_port()?, place.record()?.ttl)));
    let assumed = settings.assumes_http3;
    let (port, ttl) = recorded.or(assumed.then_some((origin.port, ASSUMED_TTL)))?;
    alternatives.learn_record(now, origin, port, ttl);
    alternatives.http3_port(now, origin)
}

fn handshake_error(displayed: &str, source: HandshakeError) -> Error {
    let (kind, fault, text) = match &source {
        HandshakeError::NobodyListens => (
            ErrorKind::Connect,
            Fault::Network,
            format!("no QUIC connection to {displayed}"),
        ),
        HandshakeError::Quic(quinn_proto::ConnectionError::TimedOut) => (
            ErrorKind::Connect,
            Fault::Network,
            format!("no QUIC connection to {displayed}: nothing came back"),
        ),
        HandshakeError::Quic(_) => (
            ErrorKind::Tls,
            Fault::Peer,
            format!("the QUIC handshake with {displayed} failed"),
        ),
    };
    let retry = match &source {
        HandshakeError::Quic(error) => retry_after_quic(error),
        HandshakeError::NobodyListens => Retry::Safe,
    };
    let refuses_certificate = match &source {
        HandshakeError::Quic(error) => refuses_certificate_over_quic(error),
        HandshakeError::NobodyListens => false,
    };
    #[cfg(feature = "openssl-rules")]
    if let HandshakeError::Quic(quinn_proto::ConnectionError::TransportError(error)) = &source
        && let Some(refusal) = crate::tls::CertificateRefusal::in_text(&error.reason)
    {
        return Error::new(kind, fault, retry)
            .with_refused_certificate(true)
            .with_source(refusal)
            .with_text(text);
    }
    if let HandshakeError::Quic(quinn_proto::ConnectionError::TransportError(error)) = &source
        && let Some(refusal) = KeyRefusal::in_text(&error.reason)
    {
        return Error::new(kind, fault, retry)
            .with_refused_certificate(true)
            .with_source(refusal)
            .with_text(text);
    }
    let error = Error::new(kind, fault, retry).with_refused_certificate(refuses_certificate);
    let error = match source {
        // As a TCP port without a listener: programs look for the kind, Node.js's for ECONNREFUSED.
        HandshakeError::NobodyListens => {
            error.with_source(io::Error::new(io::ErrorKind::ConnectionRefused, source))
        }
        HandshakeError::Quic(quinn_proto::ConnectionError::TimedOut) => {
            error.with_source(source).with_timed_out()
        }
        HandshakeError::Quic(_) => error.with_source(source),
    };
    error.with_text(text)
}
