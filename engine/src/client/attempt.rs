//! A connection being opened: name, TCP, TLS, and the version that ALPN chose. The task that opens
//! it goes on to run it.

use super::connection::Connection;
use super::dispatch::{Dispatch, Door, Settings};
use super::quic;
use crate::driver::link::Link;
use crate::driver::quic::lane::Lane;
use crate::driver::transport::Transport;
use crate::error::{Error, ErrorKind, Origin as Fault, Retry};
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Instant;
use tokio::net::TcpStream;
use trunkline_core::pool::{AttemptId, Capacity, Multiplexing, Origin, Protocols, Scheme};

/// Opens a connection and runs it to its end. Holds the client only at the moments it tells it
/// something: a client that is gone keeps no connection.
pub(super) fn run(
    dispatch: &Arc<Dispatch>,
    origin: Origin,
    attempt: AttemptId,
) -> impl Future<Output = ()> + Send + use<> {
    let settings = Arc::clone(&dispatch.settings);
    let mut answer = Answer(Some((Arc::downgrade(dispatch), attempt)));
    async move {
        match establish_in_time(&settings, &origin).await {
            Ok(opened) => {
                if let Some(connection) = answer.succeed(opened, settings) {
                    connection.await;
                }
            }
            Err(error) => answer.fail(error),
        }
    }
}

/// The pool hears of every attempt's end, that of a task dropped by its runtime too.
struct Answer(Option<(Weak<Dispatch>, AttemptId)>);

impl Answer {
    fn succeed(
        &mut self,
        opened: Opened,
        settings: Arc<Settings>,
    ) -> Option<Connection<TcpStream>> {
        let (dispatch, attempt) = self.0.take()?;
        let client = dispatch.upgrade()?;
        let now = Instant::now();
        let multiplexing = opened.multiplexing();
        let link = opened.into_link(&client, now);
        let capacity = Capacity::fresh(link.machine.capacity(), link.machine.is_settled());
        let door = Arc::new(Door::default());
        let id = client.connected(attempt, multiplexing, capacity, &door)?;
        Some(Connection::new(
            link, id, door, dispatch, settings, capacity,
        ))
    }
    fn fail(&mut self, error: Error) {
        if let Some((dispatch, attempt)) = self.0.take()
            && let Some(dispatch) = dispatch.upgrade()
        {
            dispatch.attempt_failed(attempt, error);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.fail(Error::cancelled(
            "the runtime that opened the connection is gone",
        ));
    }
}

/// A connection whose version is known, before its machine.
pub(super) enum Opened {
    /// TCP, perhaps under TLS.
    Bytes(Transport<TcpStream>, Multiplexing),
    /// QUIC.
    Quic(Box<Lane>),
}

impl Opened {
    fn multiplexing(&self) -> Multiplexing {
        match self {
            Self::Bytes(_, multiplexing) => *multiplexing,
            Self::Quic(_) => Multiplexing::Yes,
        }
    }
    /// Joins it with the machine of a new connection.
    pub(super) fn into_link(self, dispatch: &Dispatch, now: Instant) -> Link<TcpStream> {
        match self {
            Self::Bytes(transport, multiplexing) => {
                Link::new(transport, dispatch.machine(multiplexing, now))
            }
            Self::Quic(lane) => Link::quic(lane, dispatch.http3_machine(now)),
        }
    }
}

/// Name, TCP, TLS and ALPN, within the connect timeout.
pub(super) async fn establish_in_time(
    settings: &Settings,
    origin: &Origin,
) -> Result<Opened, Error> {
    match settings.timeouts.connect {
        None => establish(settings, origin).await,
        Some(limit) => tokio::time::timeout(limit, establish(settings, origin))
            .await
            .unwrap_or_else(|_| {
                let text = format!("no connection to {} within {limit:?}", shown(origin));
                Err(Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe).with_text(text))
            }),
    }
}

async fn establish(settings: &Settings, origin: &Origin) -> Result<Opened, Error> {
    let addresses = resolve(settings, origin).await?;
    if origin.protocols == Protocols::H3Only && origin.scheme == Scheme::Https {
        let lane = quic::establish(settings, origin, &addresses, &shown(origin)).await?;
        return Ok(Opened::Quic(lane));
    }
    let socket = connect(origin, &addresses).await?;
    // Batches are whole when they are written; waiting for more only adds a delay.
    let _ = socket.set_nodelay(true);
    if origin.scheme == Scheme::Http {
        let multiplexing = match origin.protocols {
            Protocols::H2Only => Multiplexing::Yes,
            Protocols::H3Only => {
                return Err(Error::config(
                    "the URL is http and only HTTP/3 is allowed; HTTP/3 is always under TLS",
                ));
            }
            Protocols::H1Only | Protocols::H2AndH1 => Multiplexing::No,
        };
        return Ok(Opened::Bytes(Transport::plain(socket), multiplexing));
    }
    let name = origin.server_name.as_deref().unwrap_or(&origin.host);
    let server_name = ServerName::try_from(name.to_owned()).map_err(|error| {
        Error::config(format!(
            "{name:?} is neither a host name nor an address that a certificate can have"
        ))
        .with_source(error)
    })?;
    let config = settings.tls.config(origin.protocols)?;
    let tls = ClientConnection::new(config, server_name).map_err(Error::tls)?;
    let mut transport = Transport::tls(socket, tls.into());
    poll_fn(|cx| transport.poll_handshake(cx))
        .await
        .map_err(|error| handshake_error(origin, error))?;
    let multiplexing = match transport.alpn() {
        Some(b"h2") => Multiplexing::Yes,
        _ if origin.protocols == Protocols::H2Only => {
            let text = format!("{} does not speak h2, the only one offered", shown(origin));
            let error = Error::new(ErrorKind::Tls, Fault::Peer, Retry::Never);
            return Err(error.with_text(text));
        }
        // RFC 7301 section 3.2: a server without ALPN says nothing; it speaks HTTP/1.1.
        _ => Multiplexing::No,
    };
    Ok(Opened::Bytes(transport, multiplexing))
}

async fn resolve(settings: &Settings, origin: &Origin) -> Result<Vec<SocketAddr>, Error> {
    if let Some(addresses) = settings.resolve.get(&origin.host) {
        let with_port = |address: &SocketAddr| match address.port() {
            0 => SocketAddr::new(address.ip(), origin.port),
            _ => *address,
        };
        return Ok(addresses.iter().map(with_port).collect());
    }
    let unknown =
        |text: String| Error::new(ErrorKind::Resolve, Fault::Network, Retry::Safe).with_text(text);
    let found = tokio::net::lookup_host((&*origin.host, origin.port)).await;
    let addresses: Vec<SocketAddr> = found
        .map_err(|error| {
            unknown(format!("the host {} cannot be resolved", origin.host)).with_source(error)
        })?
        .collect();
    if addresses.is_empty() {
        return Err(unknown(format!("the host {} has no address", origin.host)));
    }
    Ok(addresses)
}

async fn connect(origin: &Origin, addresses: &[SocketAddr]) -> Result<TcpStream, Error> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for &address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    let text = format!("no connection to {}", shown(origin));
    let error = Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe).with_text(text);
    Err(error.with_source(last))
}

fn handshake_error(origin: &Origin, error: io::Error) -> Error {
    let text = format!("the TLS handshake with {} failed", shown(origin));
    Error::new(ErrorKind::Tls, Fault::Peer, Retry::Safe)
        .with_text(text)
        .with_source(error)
}

fn shown(origin: &Origin) -> String {
    let (host, port) = (&origin.host, origin.port);
    match host.contains(':') {
        true => format!("{}://[{host}]:{port}", origin.scheme.as_str()),
        false => format!("{}://{host}:{port}", origin.scheme.as_str()),
    }
}
