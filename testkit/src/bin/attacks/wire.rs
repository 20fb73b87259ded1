//! Sends and receives bytes, and reports the fate of a connection.

use socket2::{Domain, Socket, Type};
use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// The fate of an attacker's connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is open.
    Open,
    /// It ended without a GOAWAY.
    Closed,
    /// GOAWAY with this code.
    Goaway(u32),
    /// In words, as an attack finds fit.
    Text(String),
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Closed => f.write_str("closed"),
            Self::Goaway(code) => write!(f, "GOAWAY {code}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// How long an attacker waits for an end that is due.
const PATIENCE: Duration = Duration::from_secs(45);

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("the server listens");
    set_times(&socket);
    socket
}

/// As [`connect`], from an address that is not the neighbour's: all of 127.0.0.0/8 is this machine's.
pub(crate) fn connect_from_elsewhere(address: SocketAddr) -> TcpStream {
    let own = SocketAddr::from(([127, 0, 0, 2], 0));
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&own.into()).expect("an address of loopback");
    socket.connect(&address.into()).expect("the server listens");
    let socket = TcpStream::from(socket);
    set_times(&socket);
    socket
}

/// No read or write blocks for longer than this.
pub(crate) fn set_times(socket: &TcpStream) {
    let _ = socket.set_nodelay(true);
    let _ = socket.set_write_timeout(Some(Duration::from_millis(200)));
    let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
}

/// Writes all of it; false when the peer does not take it.
pub(crate) fn send(socket: &mut TcpStream, bytes: &[u8]) -> bool {
    socket.write_all(bytes).is_ok()
}

/// Reads until the connection ends or the time is over; false: it is open. No time: what is there.
pub(crate) fn read_to_end(socket: &mut TcpStream, time: Duration, bytes: &mut Vec<u8>) -> bool {
    let _ = socket.set_nonblocking(time.is_zero());
    let ended = read_for(socket, time, bytes);
    let _ = socket.set_nonblocking(false);
    ended
}

fn read_for(socket: &mut TcpStream, time: Duration, bytes: &mut Vec<u8>) -> bool {
    let until = Instant::now() + time.min(PATIENCE);
    let mut piece = vec![0; 64 * 1024];
    loop {
        match socket.read(&mut piece) {
            Ok(0) => return true,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(error) if is_timeout(&error) => {}
            Err(_) => return true,
        }
        if goaway_in(bytes).is_some() || Instant::now() >= until {
            return false;
        }
    }
}

/// Reads until the connection ends, a GOAWAY comes or the time is over.
pub(crate) fn fate_of(socket: &mut TcpStream, time: Duration) -> Fate {
    let mut bytes = Vec::new();
    let ended = read_to_end(socket, time, &mut bytes);
    let alive = if ended { Fate::Closed } else { Fate::Open };
    goaway_in(&bytes).map_or(alive, Fate::Goaway)
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The code of a GOAWAY among frames, except for NO_ERROR: a server that drains goes on.
fn goaway_in(mut bytes: &[u8]) -> Option<u32> {
    const GOAWAY: u8 = 7;
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let payload = rest.get(..length)?;
        if *kind == GOAWAY {
            let code = u32::from_be_bytes(payload.get(4..8)?.try_into().ok()?);
            if code != 0 {
                return Some(code);
            }
        }
        bytes = &rest[length..];
    }
    None
}
