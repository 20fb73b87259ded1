//! The client's side of SOCKS version 5 (RFC 1928) with user and password (RFC 1929).
//!
//! ```text
//! Method --0--------------> Reply -> ReplyRest -> Done
//!        --2--> Password --^
//! ```

use super::{Credentials, Proxy};
use crate::error::{Error, Fault, ProxyRefusal, Retry, SocksRefusal};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
const NONE_ACCEPTABLE: u8 = 0xff;
/// RFC 1929 section 2: the version of the sub-negotiation.
const PASSWORD_VERSION: u8 = 1;

/// The destination that the proxy is to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Destination<'a> {
    Address(SocketAddr),
    /// The proxy resolves it; at most 255 bytes.
    Name(&'a str, u16),
}

impl fmt::Display for Destination<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name, port) => write!(f, "{name}:{port}"),
        }
    }
}

/// One handshake: bytes in and out. It asks for no byte beyond its own, so that those of the
/// origin stay in the socket.
pub(super) struct Socks {
    awaits: Awaits,
    /// Bytes of the answer that is awaited.
    answer: Vec<u8>,
    out: Vec<u8>,
    /// Goes out when the proxy lets us in.
    request: Vec<u8>,
    /// Goes out when the proxy wants it.
    password: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Method,
    Password,
    Reply,
    /// The rest of a reply that is so long in all.
    ReplyRest(usize),
    Nothing,
}

impl Socks {
    pub(super) fn new(destination: Destination<'_>, credentials: Option<&Credentials>) -> Self {
        let out = match credentials {
            None => vec![VERSION, 1, NO_AUTHENTICATION],
            Some(_) => vec![VERSION, 2, NO_AUTHENTICATION, USER_AND_PASSWORD],
        };
        Self {
            awaits: Awaits::Method,
            answer: Vec::new(),
            out,
            request: connect_request(destination),
            password: credentials.map(password_request),
        }
    }
    /// Takes the bytes that are to go out.
    pub(super) fn poll_write(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
    /// How many bytes of the proxy to read next; 0: the connection stands.
    pub(super) fn wants(&self) -> usize {
        let whole = match self.awaits {
            Awaits::Method | Awaits::Password => 2,
            // With the first byte of the address, which is a name's length.
            Awaits::Reply => 5,
            Awaits::ReplyRest(whole) => whole,
            Awaits::Nothing => return 0,
        };
        whole - self.answer.len()
    }
    /// Bytes of the proxy, at most as many as it [`wants`](Self::wants).
    pub(super) fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), SocksRefusal> {
        self.answer.extend_from_slice(bytes);
        self.check_start()?;
        if self.wants() > 0 {
            return Ok(());
        }
        match self.awaits {
            Awaits::Method => {
                self.answer_method()?;
                self.answer.clear();
            }
            Awaits::Password => {
                self.out.append(&mut self.request);
                self.awaits = Awaits::Reply;
                self.answer.clear();
            }
            Awaits::Reply => {
                let address = match self.answer[3] {
                    1 => 4,
                    3 => 1 + usize::from(self.answer[4]),
                    4 => 16,
                    kind => return Err(SocksRefusal::AddressKind(kind)),
                };
                // Version, code, reserved, kind; the port.
                self.awaits = Awaits::ReplyRest(4 + address + 2);
            }
            Awaits::ReplyRest(_) => self.awaits = Awaits::Nothing,
            Awaits::Nothing => {}
        }
        Ok(())
    }
    /// The first two bytes identify a refusal; many proxies send no more.
    fn check_start(&self) -> Result<(), SocksRefusal> {
        let version = match self.awaits {
            Awaits::Password => PASSWORD_VERSION,
            _ => VERSION,
        };
        if let Some(&first) = self.answer.first()
            && first != version
        {
            return Err(SocksRefusal::Version(first));
        }
        match (self.awaits, self.answer.get(1)) {
            (Awaits::Password, Some(1..)) => Err(SocksRefusal::Password),
            (Awaits::Reply, Some(&code @ 1..)) => Err(SocksRefusal::Reply(code)),
            _ => Ok(()),
        }
    }
    fn answer_method(&mut self) -> Result<(), SocksRefusal> {
        match (self.answer[1], self.password.take()) {
            (NO_AUTHENTICATION, _) => {
                self.out.append(&mut self.request);
                self.awaits = Awaits::Reply;
            }
            (USER_AND_PASSWORD, Some(mut password)) => {
                self.out.append(&mut password);
                self.awaits = Awaits::Password;
            }
            (method, _) => return Err(SocksRefusal::Method(method)),
        }
        Ok(())
    }
}

/// RFC 1928 section 4.
fn connect_request(destination: Destination<'_>) -> Vec<u8> {
    const CONNECT: u8 = 1;
    let mut request = vec![VERSION, CONNECT, 0];
    let port = match destination {
        Destination::Address(address) => {
            match address.ip() {
                IpAddr::V4(ip) => {
                    request.push(1);
                    request.extend_from_slice(&ip.octets());
                }
                IpAddr::V6(ip) => {
                    request.push(4);
                    request.extend_from_slice(&ip.octets());
                }
            }
            address.port()
        }
        Destination::Name(name, port) => {
            request.push(3);
            push_counted(&mut request, name.as_bytes());
            port
        }
    };
    request.extend_from_slice(&port.to_be_bytes());
    request
}

/// RFC 1929 section 2.
fn password_request(credentials: &Credentials) -> Vec<u8> {
    let mut request = vec![PASSWORD_VERSION];
    push_counted(&mut request, &credentials.user);
    push_counted(&mut request, &credentials.password);
    request
}

/// A byte that counts, then as many bytes: names and credentials are at most 255 long.
fn push_counted(request: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(255)];
    request.push(bytes.len() as u8);
    request.extend_from_slice(bytes);
}

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
    let mut socks = Socks::new(destination, proxy.credentials.as_ref());
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
