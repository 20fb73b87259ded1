//! An HTTP/2 server by hand, frame by frame, without TLS.
#![allow(clippy::unwrap_used, reason = "a peer that fails fails its test")]

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

/// A listener and its URL.
pub(crate) fn listen() -> (String, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    (url, listener)
}

/// A peer that does with its first connection what `script` says, behind its SETTINGS; and its URL.
pub(crate) fn scripted<T: Send + 'static>(
    script: impl FnOnce(FramePeer) -> T + Send + 'static,
) -> (String, JoinHandle<T>) {
    let (url, listener) = listen();
    let peer = std::thread::spawn(move || {
        let mut peer = FramePeer::accept(&listener);
        peer.settings(&[]);
        script(peer)
    });
    (url, peer)
}

/// The client's frames, as far as a test needs them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// HEADERS on this stream.
    Request(u32),
    /// DATA.
    Data(Vec<u8>),
    /// RST_STREAM with this code.
    Reset(u32, u32),
    /// PING that asks for an answer.
    Ping,
    /// An acknowledgement of our SETTINGS.
    Ack,
    /// The end of the connection.
    End,
}

pub(crate) struct FramePeer {
    socket: TcpStream,
    /// SETTINGS that wait for their acknowledgement.
    unacknowledged: u32,
    ping: [u8; 8],
}

/// The next connection. A peer that goes with bytes unread resets its connection, and what Nagle's algorithm
/// holds back would be lost.
pub(crate) fn accepted(listener: &TcpListener) -> TcpStream {
    let (socket, _) = listener.accept().unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

impl FramePeer {
    /// Takes a connection and its preface.
    pub(crate) fn accept(listener: &TcpListener) -> Self {
        let socket = accepted(listener);
        let patience = Some(Duration::from_secs(60));
        socket.set_read_timeout(patience).unwrap();
        let mut peer = Self {
            socket,
            unacknowledged: 0,
            ping: [0; 8],
        };
        let mut preface = [0; 24];
        peer.socket.read_exact(&mut preface).unwrap();
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        peer
    }
    pub(crate) fn settings(&mut self, settings: &[(u16, u32)]) {
        let mut payload = Vec::new();
        for (id, value) in settings {
            payload.extend_from_slice(&id.to_be_bytes());
            payload.extend_from_slice(&value.to_be_bytes());
        }
        self.unacknowledged += 1;
        self.sends(4, 0, 0, &payload);
    }
    pub(crate) fn refuses(&mut self, stream: u32) {
        self.sends(3, 0, stream, &7u32.to_be_bytes());
    }
    pub(crate) fn resets(&mut self, stream: u32, code: u32) {
        self.sends(3, 0, stream, &code.to_be_bytes());
    }
    /// HEADERS with this block, and RST_STREAM in the same write.
    pub(crate) fn resets_behind(&mut self, block: &[u8], ends: bool, stream: u32, code: u32) {
        let head = frame(1, 0x4 | u8::from(ends), stream, block);
        let reset = frame(3, 0, stream, &code.to_be_bytes());
        self.socket.write_all(&[head, reset].concat()).unwrap();
    }
    /// 100, as a literal (RFC 7541 section 6.2.2): ":status" is index 8.
    pub(crate) fn invites(&mut self, stream: u32) {
        self.sends(1, 0x4, stream, b"\x08\x03100");
    }
    /// 413 without a body, likewise.
    pub(crate) fn declines(&mut self, stream: u32) {
        self.sends(1, 0x5, stream, b"\x08\x03413");
    }
    /// 417 without a body, likewise.
    pub(crate) fn expects_nothing(&mut self, stream: u32) {
        self.sends(1, 0x5, stream, b"\x08\x03417");
    }
    /// 421 without a body, as a literal (RFC 7541 section 6.2.2): ":status" is index 8.
    pub(crate) fn misdirects(&mut self, stream: u32) {
        self.sends(1, 0x5, stream, b"\x08\x03421");
    }
    /// Answers the PING heard last.
    pub(crate) fn pongs(&mut self) {
        let opaque = self.ping;
        self.sends(6, 1, 0, &opaque);
    }
    pub(crate) fn goes_away(&mut self, last: u32) {
        let mut payload = last.to_be_bytes().to_vec();
        payload.extend_from_slice(&0u32.to_be_bytes());
        self.sends(7, 0, 0, &payload);
    }
    /// 200 without a body: index 8 of the static table (RFC 7541 appendix A).
    pub(crate) fn answers(&mut self, stream: u32) {
        self.sends(1, 0x5, stream, &[0x88]);
    }
    /// 200 with the start of a body.
    pub(crate) fn answers_in_part(&mut self, stream: u32) {
        self.sends(1, 0x4, stream, &[0x88]);
        self.sends(0, 0, stream, b"a part");
    }
    /// A head, or trailers: fields as literals whose lengths are below 127 (RFC 7541 section 6.2.2).
    pub(crate) fn sends_fields(&mut self, stream: u32, ends: bool, fields: &[(&str, &str)]) {
        let mut block = Vec::new();
        for (name, value) in fields {
            block.push(0);
            for text in [name, value] {
                block.push(u8::try_from(text.len()).unwrap());
                block.extend_from_slice(text.as_bytes());
            }
        }
        self.sends(1, 0x4 | u8::from(ends), stream, &block);
    }
    pub(crate) fn sends_data(&mut self, stream: u32, ends: bool, data: &[u8]) {
        self.sends(0, u8::from(ends), stream, data);
    }
    pub(crate) fn receives_request(&mut self) -> u32 {
        match self.receives_more() {
            Received::Request(stream) => stream,
            other => panic!("{other:?} instead of a request"),
        }
    }
    /// The next thing that is neither an acknowledgement nor a body's.
    pub(crate) fn receives_more(&mut self) -> Received {
        loop {
            let received = self.receives();
            if !matches!(received, Received::Ack | Received::Data(_)) {
                return received;
            }
        }
    }
    /// The next thing that is not an acknowledgement.
    pub(crate) fn receives_next(&mut self) -> Received {
        loop {
            let received = self.receives();
            if received != Received::Ack {
                return received;
            }
        }
    }
    pub(crate) fn receives_data(&mut self) -> Vec<u8> {
        match self.receives_next() {
            Received::Data(data) => data,
            other => panic!("{other:?} instead of a body"),
        }
    }
    /// Ends the body of a response.
    pub(crate) fn ends(&mut self, stream: u32) {
        self.sends(0, 0x1, stream, b"");
    }
    pub(crate) fn receives_every_ack(&mut self) {
        while self.unacknowledged > 0 {
            assert_eq!(self.receives(), Received::Ack);
        }
    }
    /// The next frame that a test may ask for.
    pub(crate) fn receives(&mut self) -> Received {
        loop {
            let mut header = [0; 9];
            if let Err(error) = self.socket.read_exact(&mut header) {
                let ends = [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset];
                assert!(ends.contains(&error.kind()), "{error}");
                return Received::End;
            }
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
            let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
            let mut payload = vec![0; length];
            self.socket.read_exact(&mut payload).unwrap();
            match (header[3], header[4]) {
                (1, _) => return Received::Request(stream),
                (0, _) => return Received::Data(payload),
                (3, _) => {
                    let code = payload.try_into().map(u32::from_be_bytes).unwrap();
                    return Received::Reset(stream, code);
                }
                (4, 1) => {
                    self.unacknowledged -= 1;
                    return Received::Ack;
                }
                (4, _) => self.sends(4, 1, 0, &[]),
                (6, 0) => {
                    self.ping = payload.try_into().unwrap();
                    return Received::Ping;
                }
                _ => {}
            }
        }
    }
    /// Whether no request comes for a moment.
    pub(crate) fn is_quiet(&mut self) -> bool {
        self.keeps_from(&[1])
    }
    /// Whether neither a request nor a part of a body comes for a moment.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.keeps_from(&[0, 1])
    }
    fn keeps_from(&mut self, kinds: &[u8]) -> bool {
        // A PING is answered in order: what the client had to say before is here before it.
        self.sends(6, 0, 0, &[7; 8]);
        let mut header = [0; 9];
        loop {
            self.socket.read_exact(&mut header).unwrap();
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
            let mut payload = vec![0; length];
            self.socket.read_exact(&mut payload).unwrap();
            match header[3] {
                6 => return true,
                kind if kinds.contains(&kind) => return false,
                _ => {}
            }
        }
    }
    fn sends(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        // A client that has left already says so when it is listened to.
        let _ = self.socket.write_all(&frame(kind, flags, stream, payload));
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

/// Waits for a scripted peer without stopping the client's tasks.
pub(crate) async fn finished<T: Send + 'static>(peer: JoinHandle<T>) -> T {
    tokio::task::spawn_blocking(|| peer.join().unwrap())
        .await
        .unwrap()
}
