//! Bytes to and from the server, and what became of a connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is open.
    Lives,
    /// It ended without a word of HTTP/2.
    Closed,
    /// GOAWAY with this code.
    Goaway(u32),
}

/// How long an attacker waits for an end that is due.
const PATIENCE: Duration = Duration::from_secs(45);

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("the server listens");
    let _ = socket.set_nodelay(true);
    let _ = socket.set_write_timeout(Some(Duration::from_millis(200)));
    let _ = socket.set_read_timeout(Some(Duration::from_millis(200)));
    socket
}

/// Writes as far as the server takes it; false when it does not any more.
pub(crate) fn say(socket: &mut TcpStream, bytes: &[u8]) -> bool {
    socket.write_all(bytes).is_ok()
}

/// Reads until the connection ends, or for so long; what it said last.
pub(crate) fn fate_of(socket: &mut TcpStream, time: Duration) -> Fate {
    let until = Instant::now() + time.min(PATIENCE);
    let mut heard = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match socket.read(&mut piece) {
            Ok(0) => return goaway_in(&heard).unwrap_or(Fate::Closed),
            Ok(read) => heard.extend_from_slice(&piece[..read]),
            Err(error) if is_timeout(&error) => {}
            Err(_) => return goaway_in(&heard).unwrap_or(Fate::Closed),
        }
        if let Some(fate) = goaway_in(&heard) {
            return fate;
        }
        if Instant::now() >= until {
            return Fate::Lives;
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The code of a GOAWAY among frames.
fn goaway_in(mut bytes: &[u8]) -> Option<Fate> {
    const GOAWAY: u8 = 7;
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let payload = rest.get(..length)?;
        if *kind == GOAWAY {
            let code = payload.get(4..8)?.try_into().ok()?;
            return Some(Fate::Goaway(u32::from_be_bytes(code)));
        }
        bytes = &rest[length..];
    }
    None
}
