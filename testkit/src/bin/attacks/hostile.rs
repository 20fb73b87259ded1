//! Hostile servers, by the rows "S" of docs/attacks.md.

use super::clients::Face;
use super::{hostile_http1 as http1, hostile_http2 as http2};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use Serve::{Http1, Http2, Http3};

/// How a server meets its clients.
pub(crate) enum Serve {
    /// HTTP/1.1 in cleartext: what it does with each connection.
    Http1(fn(TcpStream)),
    /// HTTP/2 in cleartext, by prior knowledge.
    Http2(fn(TcpStream)),
    /// HTTP/3: a function of `conformance/h3/hostile.py`.
    Http3(&'static str),
}

/// One server, and what is due of the clients that meet it.
pub(crate) struct Hostile {
    pub(crate) row: u32,
    pub(crate) name: &'static str,
    pub(crate) serve: Serve,
    /// The client's behaviour: `get` reads a response to its end, `unread` leaves its body unread
    /// until the bound of the exchange, `decode` decodes it, `post` sends 8 MiB, `idle_connections` is 100 of the first at once.
    pub(crate) kind: &'static str,
    /// How the outcome begins that a user of each face sees; empty: the face is left out.
    pub(crate) rust: &'static str,
    pub(crate) node: &'static str,
    pub(crate) get: &'static str,
    pub(crate) session: &'static str,
}

impl Hostile {
    pub(crate) fn due(&self, face: Face) -> &'static str {
        match face {
            Face::Rust => self.rust,
            // No stream made in JavaScript carries QUIC.
            Face::Streams if matches!(self.serve, Http3(_)) => "",
            Face::Node | Face::Inline | Face::Streams => self.node,
            Face::Session => self.session,
            Face::Get => self.get,
        }
    }
    pub(crate) fn is_for(&self, face: Face) -> bool {
        !self.due(face).is_empty()
    }
    pub(crate) fn version(&self) -> &'static str {
        match self.serve {
            Http1(_) => "h1",
            Http2(_) => "h2",
            Http3(_) => "h3",
        }
    }
}

/// The bounds of what a flood sends: bytes and time.
const FLOOD_BYTES_MAX: usize = 256 << 20;
const FLOOD_TIME_MAX: Duration = Duration::from_secs(8);

macro_rules! hostile {
    ($row:literal $name:literal $kind:literal $serve:expr, $rust:literal, $node:literal, $get:literal) => {
        hostile!($row $name $kind $serve, $rust, $node, $get, "")
    };
    ($row:literal $name:literal $kind:literal $serve:expr, $rust:literal, $node:literal, $get:literal, $session:literal) => {
        Hostile {
            row: $row,
            name: $name,
            serve: $serve,
            kind: $kind,
            rust: $rust,
            node: $node,
            get: $get,
            session: $session,
        }
    };
}

#[rustfmt::skip]
pub(crate) const HOSTILE: &[Hostile] = &[
    hostile!(1 "h1 field without end" "get" Http1(http1::field_without_end), "HeadTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 8"),
    hostile!(1 "h1 fields without end" "get" Http1(http1::fields_without_end), "HeadTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 8"),
    hostile!(1 "h2 continuation flood" "get" Http2(http2::continuations), "ContinuationsTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(1 "h2 continuation flood of 16 KiB each" "get" Http2(http2::large_continuations), "ContinuationsTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(1 "h3 field section of 1 GiB" "get" Http3("endless_section"), "FieldSectionTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 8"),
    hostile!(2 "h1 interim answers without end" "get" Http1(http1::interims), "InterimTooMany", "HPE_INVALID", "exit 8"),
    hostile!(2 "h2 interim answers without end" "get" Http2(http2::interims), "InterimTooMany", "ERR_HTTP2_STREAM_ERROR", "exit 8", "ERR_HTTP2_STREAM_ERROR"),
    hostile!(2 "h3 interim answers without end" "get" Http3("interims"), "InterimTooMany", "ERR_HTTP2_STREAM_ERROR", "exit 8"),
    hostile!(3 "h2 settings flood" "get" Http2(http2::settings_flood), "PingsTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 ping flood" "get" Http2(http2::pings), "PingsTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 empty frames" "get" Http2(http2::empty_data), "EmptyFramesTooMany", "ERR_HTTP2_TOO_MANY_INVALID_FRAMES", "exit 18", "ERR_HTTP2_TOO_MANY_INVALID_FRAMES"),
    hostile!(3 "h2 frames of padding" "get" Http2(http2::padding), "EmptyFramesTooMany", "ERR_HTTP2_TOO_MANY_INVALID_FRAMES", "exit 18", "ERR_HTTP2_TOO_MANY_INVALID_FRAMES"),
    hostile!(3 "h2 window update flood" "get" Http2(http2::window_updates), "WindowUpdatesTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 unknown frames" "get" Http2(http2::unknown_frames), "GlitchesTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 goaway flood" "get" Http2(http2::goaways), "GlitchesTooMany", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 reset flood" "get" Http2(http2::reset_flood), "StreamReset(H2Code(8))", "UND_ERR_INFO", "exit 92", "closed without a response"),
    hostile!(3 "h2 window overflow" "get" Http2(http2::window_overflow), "ConnectionWindowOverflow", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 window update of 0" "get" Http2(http2::zero_window_update), "ConnectionWindowIncrementZero", "ERR_HTTP2_ERROR", "exit 8", "ERR_HTTP2_ERROR"),
    hostile!(3 "h2 window updates of 0 of a stream" "get" Http2(http2::zero_stream_updates), "WindowIncrementZero", "ERR_HTTP2_STREAM_ERROR", "exit 8", "ERR_HTTP2_STREAM_ERROR"),
    hostile!(3 "h3 unknown frames" "get" Http3("unknown_frames"), "GlitchesTooMany", "ERR_HTTP2_ERROR", "exit 8"),
    hostile!(3 "h3 streams of unknown types" "get" Http3("unknown_streams"), "GlitchesTooMany", "ERR_HTTP2_ERROR", "exit 8"),
    hostile!(3 "h3 goaway flood" "get" Http3("goaways"), "GlitchesTooMany", "ERR_HTTP2_ERROR", "exit 8"),
    hostile!(4 "h1 zstd bomb of 4 GiB" "decode" Http1(http1::zstd_bomb), "200, ", "200, ", "exit 0"),
    hostile!(4 "h1 gzip bomb of 256 MiB" "decode" Http1(http1::gzip_bomb), "200, ", "200, 268435", "exit 0"),
    hostile!(5 "h1 chunk extension without end" "get" Http1(http1::chunk_extension), "ChunkExtensionTooLarge", "HPE_INVALID", "exit 56"),
    hostile!(5 "h1 chunk size without end" "get" Http1(http1::chunk_size), "ChunkInvalid", "HPE_INVALID", "exit 56"),
    hostile!(5 "h1 trailers without end" "get" Http1(http1::trailers), "HeadTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 18"),
    hostile!(5 "h2 trailers without end" "get" Http2(http2::trailers), "ContinuationsTooMany", "ERR_HTTP2_ERROR", "exit 18", "ERR_HTTP2_ERROR"),
    hostile!(5 "h3 trailers without end" "get" Http3("trailers"), "FieldSectionTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 18"),
    hostile!(6 "h1 head of a byte in 100 ms" "get" Http1(http1::slow_head), "Timeout", "TimeoutError", "exit 28"),
    hostile!(6 "h1 body of a byte in 100 ms" "get" Http1(http1::slow_body), "Timeout", "TimeoutError", "exit 28"),
    hostile!(6 "h2 body of a byte in 100 ms" "get" Http2(http2::slow_body), "Timeout", "TimeoutError", "exit 28", "TimeoutError"),
    hostile!(6 "h3 body of a byte in 100 ms" "get" Http3("slow_body"), "Timeout", "TimeoutError", "exit 28"),
    hostile!(6 "h1 no answer" "get" Http1(http1::no_answer), "Timeout", "TimeoutError", "exit 28"),
    hostile!(6 "h2 open window and no answer" "get" Http2(http2::no_answer), "Timeout", "TimeoutError", "exit 28", "TimeoutError"),
    hostile!(6 "h2 no stream allowed" "get" Http2(http2::no_streams), "Timeout", "TimeoutError", "exit 28", "TimeoutError"),
    hostile!(6 "h2 no handshake" "get" Http2(http2::no_preface), "Timeout", "TimeoutError", "exit 28", "TimeoutError"),
    hostile!(6 "h3 no answer" "get" Http3("no_answer"), "Timeout", "TimeoutError", "exit 28"),
    hostile!(7 "h1 every connection closed" "crowd" Http1(http1::closed), "TransportClosed", "UND_ERR_SOCKET", "exit 52"),
    hostile!(7 "h2 every stream refused" "crowd" Http2(http2::refused), "StreamReset(H2Code(7))", "ERR_HTTP2_STREAM_ERROR", "exit 92", "ERR_HTTP2_STREAM_ERROR"),
    hostile!(7 "h2 every stream reset" "crowd" Http2(http2::resets), "StreamReset(H2Code(2))", "ERR_HTTP2_STREAM_ERROR", "exit 92", "ERR_HTTP2_STREAM_ERROR"),
    hostile!(7 "h2 every connection gone away" "crowd" Http2(http2::gone_away), "StreamReset(H2Code(0))", "UND_ERR_INFO", "exit 92", "ERR_HTTP2_STREAM_ERROR"),
    hostile!(7 "h3 every stream refused" "crowd" Http3("refused"), "StreamReset(H2Code(7))", "ERR_HTTP2_STREAM_ERROR", "exit 92"),
    hostile!(8 "h2 push promises" "get" Http2(http2::pushes), "PushForbidden", "ERR_HTTP2_ERROR", "exit 18", "ERR_HTTP2_ERROR"),
    hostile!(8 "h3 push promises" "get" Http3("pushes"), "PushIdInvalid", "ERR_HTTP2_ERROR", "exit 8"),
    hostile!(9 "h2 hpack bomb" "get" Http2(http2::hpack_bomb), "FieldSectionTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 8", "ERR_HTTP2_STREAM_ERROR"),
    hostile!(9 "h2 tables of 4 GiB" "crowd" Http2(http2::large_tables), "200, 0 bytes", "200, 0 bytes", "exit 0", "200, 0 bytes"),
    hostile!(9 "h3 qpack bomb" "get" Http3("qpack_bomb"), "FieldSectionTooLarge", "UND_ERR_HEADERS_OVERFLOW", "exit 8"),
    hostile!(9 "h3 endless encoder stream" "get" Http3("endless_encoder_stream"), "QpackEncoderStreamInvalid", "ERR_HTTP2_ERROR", "exit 8"),
    hostile!(10 "h2 alternative services" "get" Http2(http2::alternatives), "GlitchesTooMany", "ERR_HTTP2_ERROR", "exit 18", "ERR_HTTP2_ERROR"),
    hostile!(10 "h3 alternative services" "get" Http3("alternatives"), "200, 2 bytes", "200, 2 bytes", "exit 0"),
    hostile!(11 "h1 answer without end, unread" "unread" Http1(http1::endless), "200, unread", "200, unread", ""),
    hostile!(11 "h2 answer without end, unread" "unread" Http2(http2::endless), "200, unread", "200, unread", "", "200, unread"),
    hostile!(11 "h3 answer without end, unread" "unread" Http3("endless"), "200, unread", "200, unread", ""),
    hostile!(11 "h1 answer without end" "get" Http1(http1::endless), "Timeout", "TimeoutError", "exit 28"),
    hostile!(11 "h2 window exceeded" "unread" Http2(http2::window_exceeded), "200, unread", "200, unread", "", "200, unread"),
    hostile!(12 "h1 answers to no request" "get" Http1(http1::unasked), "200, 2 bytes", "200, 2 bytes", "exit 0"),
    hostile!(13 "h1 upload that is not read" "post" Http1(http1::no_answer), "Timeout", "TimeoutError", "exit 28"),
    hostile!(13 "h2 upload to a shut window" "post" Http2(http2::shut_window), "Timeout", "TimeoutError", "exit 28", "TimeoutError"),
    hostile!(13 "h3 upload that is not read" "post" Http3("no_answer"), "Timeout", "TimeoutError", "exit 28"),
];

/// A server that is listening, until it is dropped.
pub(crate) struct Listening {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicU32>,
    over: Arc<AtomicBool>,
}

impl Listening {
    pub(crate) fn start(serve: fn(TcpStream)) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let connections = Arc::new(AtomicU32::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let (counter, ended) = (Arc::clone(&connections), Arc::clone(&over));
        std::thread::spawn(move || {
            for socket in listener.incoming().map_while(Result::ok) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                counter.fetch_add(1, Ordering::Relaxed);
                super::wire::set_times(&socket);
                std::thread::spawn(move || serve(socket));
            }
        });
        Ok(Self {
            address,
            connections,
            over,
        })
    }
    /// How many connections came.
    pub(crate) fn connections(&self) -> u32 {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The accepting thread wakes, and ends.
        drop(TcpStream::connect(self.address));
    }
}

/// Reads until `is_there` holds of all that came; false: it did not come.
pub(crate) fn read_until(socket: &mut TcpStream, mut is_there: impl FnMut(&[u8]) -> bool) -> bool {
    let until = Instant::now() + FLOOD_TIME_MAX;
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !is_there(&bytes) {
        match socket.read(&mut piece) {
            Ok(0) => return false,
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(_) if Instant::now() < until => {}
            Err(_) => return false,
        }
    }
    true
}

/// Sends pieces until the client ends the connection, or the bounds of a flood.
pub(crate) fn flood(socket: &mut TcpStream, mut piece: impl FnMut() -> Vec<u8>) {
    let until = Instant::now() + FLOOD_TIME_MAX;
    let mut sent = 0;
    while sent < FLOOD_BYTES_MAX {
        let mut bytes = Vec::new();
        while bytes.len() < 16 * 1024 {
            bytes.extend(piece());
        }
        if !send(socket, &bytes, until) {
            return;
        }
        sent += bytes.len();
    }
    hold(socket);
}

/// Sends all of it, waiting for a client that does not read; false: it is gone, or the time is over.
pub(crate) fn send(socket: &mut TcpStream, mut bytes: &[u8], until: Instant) -> bool {
    while !bytes.is_empty() {
        match socket.write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
        if Instant::now() >= until {
            return false;
        }
    }
    true
}

/// Sends `piece` every 100 ms until the client ends the connection.
pub(crate) fn drip(socket: &mut TcpStream, piece: &[u8]) {
    let until = Instant::now() + 2 * FLOOD_TIME_MAX;
    while Instant::now() < until && socket.write_all(piece).is_ok() {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Keeps the connection open until the client ends it.
pub(crate) fn hold(socket: &mut TcpStream) {
    let until = Instant::now() + 2 * FLOOD_TIME_MAX;
    let mut piece = [0; 4096];
    while Instant::now() < until {
        match socket.read(&mut piece) {
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(1..) => {}
            _ => return,
        }
    }
}
