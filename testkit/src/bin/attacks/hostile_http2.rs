//! Hostile servers of HTTP/2, in cleartext.

use super::frames::*;
use super::hostile::{drip, flood, hold, read_until, send};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const SEND_MAX: Duration = Duration::from_secs(20);
/// REFUSED_STREAM, INTERNAL_ERROR and CANCEL (RFC 9113 section 7).
const REFUSED: u32 = 7;
const INTERNAL: u32 = 2;
const CANCEL: u32 = 8;

/// The streams of the HEADERS among what a client sent.
fn requests(bytes: &[u8]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut left = bytes.strip_prefix(PREFACE).unwrap_or_default();
    while let [a, b, c, kind, _, s0, s1, s2, s3, rest @ ..] = left {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        if *kind == HEADERS {
            found.push(u32::from_be_bytes([*s0, *s1, *s2, *s3]));
        }
        left = rest.get(length..).unwrap_or_default();
    }
    found
}
/// Greets with these settings and waits for the first request, which is stream 1.
fn handshake_with(socket: &mut TcpStream, values: &[(u16, u32)]) -> bool {
    let until = Instant::now() + SEND_MAX;
    let first = [settings(values), settings_ack()].concat();
    send(socket, &first, until) && read_until(socket, |bytes| !requests(bytes).is_empty())
}
/// Greets, and sends `first` behind the first request, and then `piece` without end.
fn floods(mut socket: TcpStream, first: &[u8], mut piece: impl FnMut() -> Vec<u8>) {
    if handshake_with(&mut socket, &[]) && send(&mut socket, first, Instant::now() + SEND_MAX) {
        flood(&mut socket, &mut piece);
    }
}
/// Greets, and sends `bytes` behind the first request.
fn answers(mut socket: TcpStream, bytes: &[u8]) {
    if handshake_with(&mut socket, &[]) && send(&mut socket, bytes, Instant::now() + SEND_MAX) {
        hold(&mut socket);
    }
}
/// Greets, and meets every request with what `answer` makes of its stream.
fn answer_each(mut socket: TcpStream, values: &[(u16, u32)], answer: impl Fn(u32) -> Vec<u8>) {
    let until = Instant::now() + SEND_MAX;
    let first = [settings(values), settings_ack()].concat();
    let mut met = 0;
    let mut write = socket.try_clone();
    send(&mut socket, &first, until);
    read_until(&mut socket, |bytes| {
        let (found, already) = (requests(bytes), met);
        for stream in found.into_iter().filter(|stream| *stream > already) {
            if let Ok(write) = &mut write {
                send(write, &answer(stream), until);
            }
            met = stream;
        }
        false
    });
}

pub(crate) fn continuations(socket: TcpStream) {
    floods(socket, &frame(HEADERS, 0, 1, OK), || continuation(1, &[]));
}
pub(crate) fn large_continuations(socket: TcpStream) {
    let block = field(b"x", &[b'y'; 100]).repeat(150);
    floods(socket, &frame(HEADERS, 0, 1, OK), || {
        continuation(1, &block)
    });
}
pub(crate) fn interims(socket: TcpStream) {
    let block = field(b":status", b"103");
    floods(socket, &[], || headers(1, &block, false));
}
pub(crate) fn settings_flood(socket: TcpStream) {
    floods(socket, &[], || settings(&[]));
}
pub(crate) fn pings(socket: TcpStream) {
    floods(socket, &[], ping);
}
pub(crate) fn empty_data(socket: TcpStream) {
    floods(socket, &headers(1, OK, false), || data(1, &[]));
}
/// DATA of padding alone.
pub(crate) fn padding(socket: TcpStream) {
    let payload = [&[255][..], &[0; 255]].concat();
    floods(socket, &headers(1, OK, false), || {
        frame(DATA, PADDED, 1, &payload)
    });
}
pub(crate) fn window_updates(socket: TcpStream) {
    floods(socket, &[], || window_update(0, 1));
}
pub(crate) fn unknown_frames(socket: TcpStream) {
    floods(socket, &[], || frame(0xfa, 0, 0, &[]));
}
pub(crate) fn goaways(socket: TcpStream) {
    floods(socket, &[], || goaway(1, 0));
}
pub(crate) fn reset_flood(socket: TcpStream) {
    floods(socket, &[], || reset(1, CANCEL));
}
pub(crate) fn window_overflow(socket: TcpStream) {
    floods(socket, &[], || window_update(0, 0x7fff_ffff));
}
pub(crate) fn zero_window_update(socket: TcpStream) {
    floods(socket, &[], || window_update(0, 0));
}
pub(crate) fn zero_stream_updates(socket: TcpStream) {
    floods(socket, &[], || window_update(1, 0));
}
pub(crate) fn trailers(socket: TcpStream) {
    let first = [
        headers(1, OK, false),
        data(1, b"x"),
        frame(HEADERS, END_STREAM, 1, &field(b"a", b"b")),
    ];
    floods(socket, &first.concat(), || {
        continuation(1, &field(b"a", b"b").repeat(500))
    });
}
pub(crate) fn slow_body(mut socket: TcpStream) {
    let head = headers(1, OK, false);
    if handshake_with(&mut socket, &[]) && send(&mut socket, &head, Instant::now() + SEND_MAX) {
        drip(&mut socket, &data(1, b"x"));
    }
}
pub(crate) fn no_answer(socket: TcpStream) {
    let largest = 0x7fff_ffff - 65_535;
    answers(
        socket,
        &[window_update(0, largest), window_update(1, largest)].concat(),
    );
}
pub(crate) fn no_streams(mut socket: TcpStream) {
    let first = settings(&[(MAX_CONCURRENT_STREAMS, 0)]);
    send(&mut socket, &first, Instant::now() + SEND_MAX);
    hold(&mut socket);
}
pub(crate) fn no_preface(mut socket: TcpStream) {
    hold(&mut socket);
}
pub(crate) fn refused(socket: TcpStream) {
    answer_each(socket, &[], |stream| reset(stream, REFUSED));
}
pub(crate) fn resets(socket: TcpStream) {
    answer_each(socket, &[], |stream| reset(stream, INTERNAL));
}
pub(crate) fn gone_away(socket: TcpStream) {
    answers(socket, &goaway(0, 0));
}
pub(crate) fn pushes(socket: TcpStream) {
    let mut stream = 0u32;
    floods(socket, &headers(1, OK, false), || {
        stream += 2;
        let payload = [&stream.to_be_bytes()[..], GET].concat();
        frame(PUSH_PROMISE, END_HEADERS, 1, &payload)
    });
}
pub(crate) fn hpack_bomb(socket: TcpStream) {
    answers(socket, &headers(1, &[OK, &bomb(12_000)].concat(), true));
}
/// A table of 4 GiB for what the client encodes; good answers.
pub(crate) fn large_tables(socket: TcpStream) {
    let block = [OK, &field(b"x", b"y")].concat();
    answer_each(socket, &[(HEADER_TABLE_SIZE, u32::MAX)], |stream| {
        headers(stream, &block, true)
    });
}
pub(crate) fn alternatives(socket: TcpStream) {
    let value = b"h3=\":443\"; ma=99999999999999999999, h3=\"\xff:0\";;;,".repeat(300);
    let origin = b"http://a.example";
    floods(socket, &headers(1, OK, false), || {
        let payload = [&(origin.len() as u16).to_be_bytes()[..], origin, &value].concat();
        frame(ALTSVC, 0, 0, &payload)
    });
}
/// 1 GiB within the windows that the client gives.
pub(crate) fn endless(mut socket: TcpStream) {
    let until = Instant::now() + SEND_MAX;
    let piece = data(1, &[b'x'; 16 * 1024]);
    if !handshake_with(&mut socket, &[]) || !send(&mut socket, &headers(1, OK, false), until) {
        return;
    }
    let mut window = 65_535;
    let mut came = Vec::new();
    while Instant::now() < until {
        while window >= 16 * 1024 {
            if !send(&mut socket, &piece, until) {
                return;
            }
            window -= 16 * 1024;
        }
        if super::wire::read_to_end(&mut socket, Duration::ZERO, &mut came) {
            return;
        }
        window += take_window(&mut came);
    }
}
/// The sum of the WINDOW_UPDATEs of stream 1; whole frames are taken.
fn take_window(bytes: &mut Vec<u8>) -> usize {
    let mut given = 0;
    let mut taken = 0;
    while let [a, b, c, kind, _, _, _, _, stream, rest @ ..] = &bytes[taken..] {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let Some(payload) = rest.get(..length) else {
            break;
        };
        if let (&WINDOW_UPDATE, 1, [p0, p1, p2, p3]) = (kind, stream, payload) {
            given += u32::from_be_bytes([*p0, *p1, *p2, *p3]) as usize;
        }
        taken += 9 + length;
    }
    bytes.drain(..taken);
    given
}
/// DATA without a look at any window.
pub(crate) fn window_exceeded(socket: TcpStream) {
    let piece = data(1, &[b'x'; 16 * 1024]);
    floods(socket, &headers(1, OK, false), || piece.clone());
}
/// Lets nothing of an upload in.
pub(crate) fn shut_window(mut socket: TcpStream) {
    handshake_with(&mut socket, &[(INITIAL_WINDOW_SIZE, 0)]);
    hold(&mut socket);
}
