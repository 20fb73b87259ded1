//! Opens a connection that carries bytes in order: the way there, then TLS and the version that ALPN selects.

use super::{NegotiatedConnection, OpenedBytes};
use crate::client::connect::lookup::OriginAddresses;
use crate::client::connect::route::{Reached, displayed};
use crate::client::connect::socket::Socket;
use crate::client::settings::Settings;
use crate::driver::transport::Transport;
use crate::error::{Error, ErrorKind, Fault, Retry};
use crate::tls::{HelloRefusal, KeyRefusal, hello_refusal, refuses_certificate, retry_after};
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection, InvalidMessage};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::pool::{Multiplexing, Origin, Protocols, Scheme};

/// Opens the connection. `place`: where the origin is known to be.
pub(super) async fn establish(
    settings: &Settings,
    origin: &Origin,
    place: Option<&OriginAddresses>,
) -> Result<NegotiatedConnection, Error> {
    let keys = settings.hello_keys(place);
    let reliant = keys.is_some();
    let addresses = || place.map(|place| place.over_tcp(reliant));
    let reached = settings.route.reach(origin, addresses()).await?;
    if origin.scheme == Scheme::Http {
        return in_the_clear(origin, reached);
    }
    let config = settings.tls.config(origin.protocols)?;
    if let Some(keys) = keys
        && let Some(encrypting) = settings.tls.config_with_keys(origin.protocols, keys)?
    {
        match handshake(origin, reached, encrypting).await? {
            Err(error) if hello_refusal(&error) == Some(HelloRefusal::NoKeys) => {
                // RFC 9849 section 6.1.6: the server, proved by its public name, has no keys; the connection is
                // made again without them.
                let reached = settings.route.reach(origin, addresses()).await?;
                let outcome = handshake(origin, reached, config).await?;
                return outcome.map_err(|error| handshake_error(origin, error));
            }
            outcome => return outcome.map_err(|error| handshake_error(origin, error)),
        }
    }
    let outcome = handshake(origin, reached, config).await?;
    outcome.map_err(|error| handshake_error(origin, error))
}

fn in_the_clear(origin: &Origin, reached: Reached) -> Result<NegotiatedConnection, Error> {
    let multiplexing = match origin.protocols {
        Protocols::H2Only => Multiplexing::Yes,
        Protocols::H3Only => {
            return Err(Error::config(
                "the URL is http and only HTTP/3 is allowed; HTTP/3 is always under TLS",
            ));
        }
        Protocols::H1Only | Protocols::H2AndH1 | Protocols::All => Multiplexing::No,
    };
    let Reached {
        socket,
        early,
        forwards,
        round_trip,
    } = reached;
    Ok(NegotiatedConnection::Bytes(Box::new(OpenedBytes {
        // Behind the requests that wait: an answer that is there before its request is taken on any connection.
        transport: Transport::plain(socket).with_first(early.into()),
        multiplexing,
        forwards,
        round_trip,
        reached: Some(Instant::now()),
    })))
}

/// TLS and ALPN over what was reached. The inner error is the handshake's.
async fn handshake(
    origin: &Origin,
    reached: Reached,
    config: Arc<ClientConfig>,
) -> Result<Result<NegotiatedConnection, io::Error>, Error> {
    let name = origin.server_name.as_deref().unwrap_or(&origin.host);
    let server_name = ServerName::try_from(name.to_owned()).map_err(|error| {
        Error::config(format!(
            "{name:?} is neither a host name nor an address that a certificate can have"
        ))
        .with_source(error)
    })?;
    let tls = ClientConnection::new(config, server_name).map_err(Error::tls)?;
    let began = Instant::now();
    let mut transport: Transport<Socket> = Transport::tls(reached.socket, tls.into());
    if let Err(error) = poll_fn(|cx| transport.poll_handshake(cx)).await {
        return Ok(Err(error));
    }
    let multiplexing = match transport.alpn() {
        Some(b"h2") => Multiplexing::Yes,
        _ if origin.protocols == Protocols::H2Only => {
            let text = format!(
                "{} does not speak h2, the only one offered",
                displayed(origin)
            );
            let error = Error::new(ErrorKind::Tls, Fault::Peer, Retry::Never);
            return Err(error.with_text(text));
        }
        // RFC 7301 section 3.2: a server without ALPN says nothing; it speaks HTTP/1.1.
        _ => Multiplexing::No,
    };
    Ok(Ok(NegotiatedConnection::Bytes(Box::new(OpenedBytes {
        transport,
        multiplexing,
        forwards: reached.forwards,
        round_trip: reached.round_trip,
        reached: Some(began),
    }))))
}

/// The usual cause of a handshake that fails so, and what to do.
fn advice(error: &io::Error) -> &'static str {
    let source = error.get_ref().and_then(|error| error.downcast_ref());
    match source {
        Some(rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            ": what came is not TLS; a port that speaks http is reached by an http:// URL"
        }
        Some(rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            ": its certificate is of no root that is trusted; ClientTls::root trusts another"
        }
        _ => "",
    }
}

fn handshake_error(origin: &Origin, error: io::Error) -> Error {
    let origin = displayed(origin);
    let text = match hello_refusal(&error) {
        Some(HelloRefusal::OtherKeys) => format!(
            "{origin} has other keys for encrypted ClientHellos than its HTTPS record, \
             which may be out of date"
        ),
        _ => format!("the TLS handshake with {origin} failed{}", advice(&error)),
    };
    let failure = Error::new(ErrorKind::Tls, Fault::Peer, retry_after(&error))
        .with_refused_certificate(refuses_certificate(&error))
        .with_text(text);
    match KeyRefusal::of(&error) {
        Some(refusal) => failure.with_source(refusal),
        None => failure.with_source(error),
    }
}
