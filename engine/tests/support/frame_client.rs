//! A scripted HTTP/2 peer: frames over a blocking socket. It settles SETTINGS by itself.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// `GET http://a/`, in names and values that need no table.
pub(crate) const GET: &[u8] = &[0x82, 0x86, 0x84, 0x41, 0x01, b'a'];

/// Frame types (RFC 9113 section 6).
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const ORIGIN: u8 = 12;
}

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn new(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        Self {
            kind,
            flags,
            stream,
            payload: payload.to_vec(),
        }
    }
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = (self.payload.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([self.kind, self.flags]);
        bytes.extend(self.stream.to_be_bytes());
        bytes.extend(&self.payload);
        bytes
    }
}

/// The client's preface with empty SETTINGS.
pub(crate) fn preface() -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend(Frame::new(kind::SETTINGS, 0, 0, &[]).bytes());
    bytes
}

pub(crate) struct FramePeer {
    socket: TcpStream,
}

impl FramePeer {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let mut peer = Self::connect_silently(address);
        peer.sends_bytes(&preface());
        peer
    }
    pub(crate) fn connect_silently(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        // A test whose wait has no end fails instead of hanging.
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        Self { socket }
    }
    pub(crate) fn sends(&mut self, frame: &Frame) {
        self.sends_bytes(&frame.bytes());
    }
    pub(crate) fn sends_bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }
    /// The next frame of this kind; SETTINGS are answered, others passed over.
    pub(crate) fn receives(&mut self, kind: u8) -> Frame {
        loop {
            let mut head = [0; 9];
            self.socket.read_exact(&mut head).unwrap();
            let length =
                usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            let mut payload = vec![0; length];
            self.socket.read_exact(&mut payload).unwrap();
            let frame = Frame {
                kind: head[3],
                flags: head[4],
                stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]),
                payload,
            };
            if frame.kind == kind::SETTINGS && frame.flags & 0x1 == 0 {
                self.sends(&Frame::new(kind::SETTINGS, 0x1, 0, &[]));
            }
            if frame.kind == kind {
                return frame;
            }
        }
    }
    /// The server ends the connection, whatever it still says.
    pub(crate) fn receives_the_end(&mut self) {
        let mut rest = Vec::new();
        if let Err(error) = self.socket.read_to_end(&mut rest) {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        }
    }
}
