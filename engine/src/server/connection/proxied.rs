//! Connections that begin with a header of the PROXY protocol: it is read before anything else, TLS included, and names
//! the addresses that handlers, logs and the bound per address take for the connection's own.

use super::accept::{Opener, Opening, TransportFacts};
use super::first_bytes::within;
use crate::connection_info::Addresses;
use crate::net::byte_stream::Io;
use crate::server::exchange::serve::Serve;
use crate::server::observe::HandshakeFailure;
use crate::server::registry::EntryName;
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use trunkline_core::proxy::{ProxyHeader, ProxyHeaderReader};

/// Bytes that are read at once: most headers are shorter.
const PIECE_BYTES: usize = 256;

/// Opens a connection over `socket` behind its header. `own`: between the proxy and us; `entry`: its place among the open
/// connections, which gets the client's address.
pub(in crate::server) async fn start_proxied<S: Serve, T: Io>(
    mut socket: T,
    own: Option<Addresses>,
    opener: Opener<S>,
    entry: EntryName,
) -> io::Result<Opening<S, T>> {
    let shared = &opener.shared;
    let header = within(shared.config.timeouts.handshake, read(&mut socket)).await;
    let header = match header {
        Ok(header) => header,
        Err(error) => {
            let failure = HandshakeFailure::of(&error);
            shared.handshake_failed(own, false, &failure);
            return Ok(Opening::Nothing);
        }
    };
    let addresses = header.addresses.or(own);
    let client = addresses.map(|(client, _): (SocketAddr, _)| client.ip());
    if client.is_some_and(|client| !entry.set(client)) {
        return Ok(Opening::Nothing);
    }
    drop(entry);
    let known = TransportFacts::between(addresses);
    // Boxed, so that this state does not hold the other twice.
    Box::pin(opener.start(socket, known)).await
}

async fn read<T: AsyncRead + Unpin>(socket: &mut T) -> io::Result<ProxyHeader> {
    let mut reader = ProxyHeaderReader::new();
    loop {
        if let Some(header) = reader.header() {
            return Ok(header);
        }
        let mut piece = [0; PIECE_BYTES];
        let wanted = reader.wants().min(PIECE_BYTES);
        let count = socket.read(&mut piece[..wanted]).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let taken = reader.handle_bytes(&piece[..count]);
        taken.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    }
}
