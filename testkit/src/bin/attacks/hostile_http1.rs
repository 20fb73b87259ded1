//! Hostile servers of HTTP/1.1.

use super::hostile::{drip, flood, hold, read_until, send};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\n";
const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
/// A whole answer may be written for so long.
const SEND_MAX: Duration = Duration::from_secs(20);

/// Waits for a request; false: none came.
fn request(socket: &mut TcpStream) -> bool {
    read_until(socket, |bytes| {
        bytes.windows(4).any(|four| four == b"\r\n\r\n")
    })
}
/// Answers a request with `first`, and then with `piece` without end.
fn floods(mut socket: TcpStream, first: &[u8], piece: &[u8]) {
    if request(&mut socket) && send(&mut socket, first, Instant::now() + SEND_MAX) {
        flood(&mut socket, || piece.to_vec());
    }
}
/// Answers a request with `bytes` and keeps the connection.
fn answers(mut socket: TcpStream, bytes: &[u8]) {
    if request(&mut socket) && send(&mut socket, bytes, Instant::now() + SEND_MAX) {
        hold(&mut socket);
    }
}

pub(crate) fn field_without_end(socket: TcpStream) {
    floods(socket, b"HTTP/1.1 200 OK\r\nx: ", b"xxxxxxxxxxxxxxxx");
}
pub(crate) fn fields_without_end(socket: TcpStream) {
    floods(socket, OK, b"a: b\r\n");
}
pub(crate) fn interims(socket: TcpStream) {
    floods(
        socket,
        b"",
        b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n",
    );
}
pub(crate) fn chunk_extension(socket: TcpStream) {
    floods(socket, &[CHUNKED, b"1;a="].concat(), b"xxxxxxxxxxxxxxxx");
}
pub(crate) fn chunk_size(socket: TcpStream) {
    floods(socket, CHUNKED, b"0000000000000000");
}
pub(crate) fn trailers(socket: TcpStream) {
    floods(socket, &[CHUNKED, b"1\r\nx\r\n0\r\n"].concat(), b"a: b\r\n");
}
pub(crate) fn endless(socket: TcpStream) {
    floods(socket, b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 16 * 1024]);
}
pub(crate) fn slow_head(mut socket: TcpStream) {
    if request(&mut socket) {
        drip(&mut socket, b"HTTP/1.1 200 OK\r\nx: ");
    }
}
pub(crate) fn slow_body(mut socket: TcpStream) {
    let until = Instant::now() + SEND_MAX;
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
    if request(&mut socket) && send(&mut socket, head, until) {
        drip(&mut socket, b"x");
    }
}
pub(crate) fn no_answer(socket: TcpStream) {
    // Nothing is read either.
    std::thread::sleep(SEND_MAX);
    drop(socket);
}
pub(crate) fn closed(socket: TcpStream) {
    let _ = socket.shutdown(Shutdown::Both);
}
/// The answer, and fifty to requests that were not made.
pub(crate) fn unasked(socket: TcpStream) {
    let one = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    answers(socket, &one.repeat(51));
}

/// An answer of this coding, to its end.
fn coded(socket: TcpStream, coding: &str, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {length}\r\n\r\n"
    );
    answers(socket, &[head.as_bytes(), body].concat());
}

/// 4 GiB in 128 KiB: blocks of one byte 131,072 times (RFC 8878 section 3.1.1.2).
pub(crate) fn zstd_bomb(socket: TcpStream) {
    const BLOCKS: u32 = 32 * 1024;
    // A frame without a length, of a window of 1 MiB.
    let mut body = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 10 << 3];
    for at in 1..=BLOCKS {
        let head = u32::from(at == BLOCKS) | 1 << 1 | (128 << 10) << 3;
        body.extend(&head.to_le_bytes()[..3]);
        body.push(0);
    }
    coded(socket, "zstd", &body);
}

/// 256 MiB in 1.6 MiB: copies of the byte before, 258 at a time (RFC 1951 section 3.2.5).
pub(crate) fn gzip_bomb(socket: TcpStream) {
    const COPIES: u32 = (256 << 20) / 258;
    let mut body = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut bits = Bits::default();
    // The last block, of fixed codes.
    bits.push(0b011, 3);
    // The byte 0 is the code 00110000.
    bits.push(0b0000_1100, 8);
    for _ in 0..COPIES {
        // Length 258 is the code 11000101, distance 1 the code 00000; codes go highest bit first.
        bits.push(0b1010_0011, 8);
        bits.push(0, 5);
    }
    // The end of the block is the code 0000000.
    bits.push(0, 7);
    body.extend(bits.finish());
    let length = 1 + COPIES * 258;
    body.extend(crc_of_zeros(length).to_le_bytes());
    body.extend(length.to_le_bytes());
    coded(socket, "gzip", &body);
}

/// Bits, the lowest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    waiting: u32,
    count: u32,
}

impl Bits {
    fn push(&mut self, bits: u32, count: u32) {
        self.waiting |= bits << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.waiting as u8);
            self.waiting >>= 8;
            self.count -= 8;
        }
    }
    fn finish(mut self) -> Vec<u8> {
        self.push(0, 7);
        self.bytes
    }
}

/// CRC-32 of `length` zero bytes (RFC 1952 section 8).
fn crc_of_zeros(length: u32) -> u32 {
    let step = |crc: u32| {
        (0..8).fold(crc, |crc, _| match crc & 1 {
            0 => crc >> 1,
            _ => crc >> 1 ^ 0xedb8_8320,
        })
    };
    let table: Vec<u32> = (0..256).map(step).collect();
    let crc = (0..length).fold(u32::MAX, |crc, _| table[(crc & 0xff) as usize] ^ (crc >> 8));
    !crc
}
