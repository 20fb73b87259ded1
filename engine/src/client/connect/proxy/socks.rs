//! The way through a SOCKS5 proxy: the core's machine is the handshake (`trunkline_core::proxy::Socks`),
//! and this part moves its bytes and words its refusals.

use super::Proxy;
use crate::error::{Error, Fault, ProxyRefusal, Retry};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use trunkline_core::proxy::{Destination, Login, Socks, SocksRefusal};

/// The method of a proxy that accepts none of ours (RFC 1928 section 3).
const NONE_ACCEPTABLE: u8 = 0xff;

/// Asks the proxy at the other end of `socket` for a connection to `destination`.
pub(in crate::client) async fn open_connection(
    socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
    proxy: &Proxy,
    destination: Destination<'_>,
) -> Result<(), Error> {
    let lost = |error: io::Error| {
        let text = format!("was lost while it was asked for a connection to {destination}");
        proxy
            .error(Fault::Network, Retry::Safe, &text)
            .with_source(error)
    };
    if let Destination::Name(name, _) = destination
        && name.len() > 255
    {
        let text = format!(
            "cannot be asked for {name}: the name has {} bytes, and SOCKS5 carries at most 255",
            name.len()
        );
        return Err(proxy.error(Fault::Config, Retry::Never, &text));
    }
    let login = proxy.credentials.as_ref().map(|credentials| Login {
        user: &credentials.user,
        password: &credentials.password,
    });
    let mut socks = Socks::new(destination, login);
    let mut buffer = [0; 512];
    loop {
        let out = socks.poll_write();
        if !out.is_empty() {
            socket.write_all(&out).await.map_err(lost)?;
            socket.flush().await.map_err(lost)?;
        }
        let wants = socks.wants().min(buffer.len());
        if wants == 0 {
            return Ok(());
        }
        let read = socket.read(&mut buffer[..wants]).await.map_err(lost)?;
        if read == 0 {
            return Err(lost(io::ErrorKind::UnexpectedEof.into()));
        }
        socks
            .handle_bytes(&buffer[..read])
            .map_err(|refusal| refusal_error(proxy, destination, refusal))?;
    }
}

fn refusal_error(proxy: &Proxy, destination: Destination<'_>, refusal: SocksRefusal) -> Error {
    let (fault, retry, text) = match refusal {
        SocksRefusal::Version(byte) => (
            Fault::Network,
            Retry::Never,
            format!("does not speak SOCKS5: it answered with byte {byte:#04x}"),
        ),
        SocksRefusal::Method(NONE_ACCEPTABLE) if proxy.credentials.is_none() => (
            Fault::Config,
            Retry::Never,
            "wants credentials; give user and password in its URL".to_owned(),
        ),
        SocksRefusal::Method(NONE_ACCEPTABLE) => (
            Fault::Config,
            Retry::Never,
            "accepts neither user and password nor nobody".to_owned(),
        ),
        SocksRefusal::Method(method) => (
            Fault::Config,
            Retry::Never,
            format!("chose authentication {method:#04x}, which was not offered"),
        ),
        SocksRefusal::Password => (
            Fault::Config,
            Retry::Never,
            "does not accept the user and password of its URL".to_owned(),
        ),
        SocksRefusal::Reply(code) => (
            Fault::Network,
            Retry::Safe,
            format!("gave no connection to {destination}: {}", reply_text(code)),
        ),
        SocksRefusal::AddressKind(kind) => (
            Fault::Network,
            Retry::Never,
            format!("answered with an address of the unknown kind {kind:#04x}"),
        ),
    };
    proxy
        .error(fault, retry, &text)
        .with_proxy_refusal(ProxyRefusal::Socks(refusal))
}

/// RFC 1928 section 6.
fn reply_text(code: u8) -> String {
    let text = match code {
        1 => "general failure",
        2 => "not allowed by its rules",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "time to live expired",
        7 => "command not supported",
        8 => "address kind not supported",
        _ => return format!("unknown code {code:#04x}"),
    };
    text.to_owned()
}
