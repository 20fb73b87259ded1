//! The client's side of SOCKS version 5 (RFC 1928) with user and password (RFC 1929).
//!
//! ```text
//! Method --0--------------> Reply -> ReplyRest -> Done
//!        --2--> Password --^
//! ```

use std::fmt;
use std::net::{IpAddr, SocketAddr};

const VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const USER_AND_PASSWORD: u8 = 2;
/// RFC 1929 section 2: the version of the sub-negotiation.
const PASSWORD_VERSION: u8 = 1;

/// The destination that the proxy is to connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    /// By its address.
    Address(SocketAddr),
    /// By its name and port. The proxy resolves it; at most 255 bytes.
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

/// Why a SOCKS5 proxy gives no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocksRefusal {
    /// It does not speak SOCKS5: this byte stands where its version should.
    Version(u8),
    /// It accepts none of the methods we offered (0xff), or chose another.
    Method(u8),
    /// It does not accept user and password.
    Password,
    /// The code of its reply (RFC 1928 section 6).
    Reply(u8),
    /// The reply's address is of a kind that does not exist.
    AddressKind(u8),
}

/// User and password (RFC 1929), of 1 to 255 bytes each; longer ones are cut.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// The user's name.
    pub user: &'a [u8],
    /// The password.
    pub password: &'a [u8],
}

impl fmt::Debug for Login<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Login")
    }
}

/// One handshake: bytes in and out. It asks for no byte beyond its own, so that those of the
/// origin stay in the socket.
#[derive(Debug)]
pub struct Socks {
    awaits: SocksStep,
    /// Bytes of the answer that is awaited.
    answer: Vec<u8>,
    out: Vec<u8>,
    /// Goes out when the proxy lets us in.
    request: Vec<u8>,
    /// Goes out when the proxy wants it.
    password: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SocksStep {
    Method,
    Password,
    Reply,
    /// The rest of a reply that is so long in all.
    ReplyRest(usize),
    Nothing,
}

impl Socks {
    /// Asks for `destination`, with user and password if the proxy wants them.
    pub fn new(destination: Destination<'_>, login: Option<Login<'_>>) -> Self {
        let out = match login {
            None => vec![VERSION, 1, NO_AUTHENTICATION],
            Some(_) => vec![VERSION, 2, NO_AUTHENTICATION, USER_AND_PASSWORD],
        };
        Self {
            awaits: SocksStep::Method,
            answer: Vec::new(),
            out,
            request: connect_request(destination),
            password: login.map(password_request),
        }
    }
    /// Takes the bytes that are to go out.
    pub fn poll_write(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }
    /// How many bytes of the proxy to read next; 0: the connection stands.
    pub fn wants(&self) -> usize {
        let whole = match self.awaits {
            SocksStep::Method | SocksStep::Password => 2,
            // With the first byte of the address, which is a name's length.
            SocksStep::Reply => 5,
            SocksStep::ReplyRest(whole) => whole,
            SocksStep::Nothing => return 0,
        };
        whole - self.answer.len()
    }
    /// Bytes of the proxy, at most as many as it [`wants`](Self::wants).
    ///
    /// # Errors
    /// The proxy gives no connection, or does not speak SOCKS5.
    pub fn handle_bytes(&mut self, bytes: &[u8]) -> Result<(), SocksRefusal> {
        self.answer.extend_from_slice(bytes);
        self.check_start()?;
        if self.wants() > 0 {
            return Ok(());
        }
        match self.awaits {
            SocksStep::Method => {
                self.answer_method()?;
                self.answer.clear();
            }
            SocksStep::Password => {
                self.out.append(&mut self.request);
                self.awaits = SocksStep::Reply;
                self.answer.clear();
            }
            SocksStep::Reply => {
                let address = match self.answer[3] {
                    1 => 4,
                    3 => 1 + usize::from(self.answer[4]),
                    4 => 16,
                    kind => return Err(SocksRefusal::AddressKind(kind)),
                };
                // Version, code, reserved, kind; the port.
                self.awaits = SocksStep::ReplyRest(4 + address + 2);
            }
            SocksStep::ReplyRest(_) => self.awaits = SocksStep::Nothing,
            SocksStep::Nothing => {}
        }
        Ok(())
    }
    /// The first two bytes identify a refusal; many proxies send no more.
    fn check_start(&self) -> Result<(), SocksRefusal> {
        let version = match self.awaits {
            SocksStep::Password => PASSWORD_VERSION,
            _ => VERSION,
        };
        if let Some(&first) = self.answer.first()
            && first != version
        {
            return Err(SocksRefusal::Version(first));
        }
        match (self.awaits, self.answer.get(1)) {
            (SocksStep::Password, Some(1..)) => Err(SocksRefusal::Password),
            (SocksStep::Reply, Some(&code @ 1..)) => Err(SocksRefusal::Reply(code)),
            _ => Ok(()),
        }
    }
    fn answer_method(&mut self) -> Result<(), SocksRefusal> {
        match (self.answer[1], self.password.take()) {
            (NO_AUTHENTICATION, _) => {
                self.out.append(&mut self.request);
                self.awaits = SocksStep::Reply;
            }
            (USER_AND_PASSWORD, Some(mut password)) => {
                self.out.append(&mut password);
                self.awaits = SocksStep::Password;
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
fn password_request(login: Login<'_>) -> Vec<u8> {
    let mut request = vec![PASSWORD_VERSION];
    push_counted(&mut request, login.user);
    push_counted(&mut request, login.password);
    request
}

/// A byte that counts, then as many bytes: names and credentials are at most 255 long.
fn push_counted(request: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(255)];
    request.push(bytes.len() as u8);
    request.extend_from_slice(bytes);
}

#[cfg(test)]
#[path = "socks_test.rs"]
mod socks_test;
