//! Every bound that a peer can push against: a constant with its unit and its reason, and the user's
//! [`Limits`]; [`Timeouts`] and [`Windows`] beside it. docs/attacks.md maps each attack to a name here
//! and to its test.

mod config;
mod timeouts;
mod windows;

pub use config::{Config, WriteDate};
pub use timeouts::Timeouts;
pub use windows::Windows;

use crate::budget::Rate;
use std::time::Duration;

/// Fields in one section, cookie crumbs counted one by one: more than 16 KiB can have, which is what hyper and tonic
/// take over HTTP/2 (496 fields of one byte, each counted with 32 beside its own), so that metadata of gRPC that arrive
/// there arrive here. Byte caps alone do not stop the HTTP/2 Bomb (CVE-2026-49975): tiny indexed fields decode to many,
/// each of which costs some 100 bytes in a map of fields beside its value.
pub const FIELD_COUNT_MAX: usize = 512;
/// Decoded size of a field section by RFC 9113 section 10.5.1, advertised as
/// SETTINGS_MAX_HEADER_LIST_SIZE.
pub const FIELD_SECTION_BYTES_MAX: usize = 64 * 1024;
/// A header block on the wire, HEADERS and CONTINUATION together (CVE-2024-27983 and others). A larger
/// one costs its stream.
pub const HEADER_BLOCK_BYTES_MAX: usize = 64 * 1024;
/// HTTP/2: a larger header block is read up to this all the same, and decoded for the table alone, so
/// that its request is answered with 431 and the connection lives: what HEADERS and
/// [`CONTINUATIONS_MAX`] frames carry. Beyond it the connection ends.
pub const HEADER_BLOCK_READ_BYTES_MAX: usize = 9 * 16 * 1024;
/// Glitch points of a GOAWAY: a peer needs two in its life.
pub const GOAWAY_POINTS: u32 = 100;
/// CONTINUATION frames of one header block (CVE-2024-27983, CVE-2024-27919, CVE-2024-28182).
pub const CONTINUATIONS_MAX: u32 = 8;
/// Bytes of the head of a proxy's answer to CONNECT: a tunnel needs a status line.
pub const PROXY_HEAD_BYTES_MAX: usize = 16 * 1024;
/// 1xx responses of a proxy before its answer to CONNECT.
pub const PROXY_INTERIM_RESPONSES_MAX: u32 = 4;
/// Bytes of the line of a PROXY header of version 1, its end included: the longest that its specification allows
/// (section 2.1).
pub const PROXY_HEADER_V1_BYTES_MAX: usize = 107;
/// Bytes of TLVs in a PROXY header of version 2, beside 16 fixed ones and at most 216 of addresses. Senders keep the
/// whole to 536 (section 2.2), which every path carries in one packet; a client certificate's names and the
/// numbers that clouds add may need more.
pub const PROXY_HEADER_TLV_BYTES_MAX: usize = 4096;
/// Elements of `Forwarded` and addresses of `X-Forwarded-For` that are looked at, from the last one: a request passes few proxies, and
/// the walk is a part of each request.
pub const FORWARDED_ELEMENTS_MAX: usize = 32;
/// Parameters of one element of `Forwarded`; one with more is malformed. RFC 7239 defines four, and each is compared with all before it.
pub const FORWARDED_PARAMETERS_MAX: usize = 16;
/// Our decoder's HPACK table, and the cap of our encoder's whatever the peer offers
/// (CVE-2016-6581).
pub const HPACK_TABLE_BYTES_MAX: usize = 4096;
/// Our decoder's QPACK table (advertised as SETTINGS_QPACK_MAX_TABLE_CAPACITY), and the cap of our
/// encoder's whatever the peer offers.
pub const QPACK_TABLE_BYTES_MAX: usize = 4096;
/// Streams that may wait for the QPACK table at once (advertised as SETTINGS_QPACK_BLOCKED_STREAMS,
/// RFC 9204 section 2.1.2), and the most that our encoder risks whatever the peer offers.
pub const QPACK_BLOCKED_STREAMS_MAX: usize = 16;
/// Bytes of the sections that such streams hold, all together: without it they would be the
/// streams times [`HEADER_BLOCK_BYTES_MAX`].
pub const QPACK_BLOCKED_BYTES_MAX: usize = 256 * 1024;
/// Streams a client may have open at once (advertised).
pub const CONCURRENT_STREAMS_MAX: u32 = 100;
/// Handlers that may run at once per connection, those of reset streams included: a reset frees
/// the stream but not its handler (CVE-2023-44487).
pub const RUNNING_HANDLERS_MAX: u32 = 200;
/// Resets a peer may cause, its own of streams below [`RESET_AGE`] and those it provokes (CVE-2023-44487, CVE-2025-8671):
/// as many as node:http2 takes. A page that is left, a map that is zoomed or calls that share a deadline reset all that
/// a connection has open at once, and may do so a few times in a row.
pub const RESETS: Rate = Rate {
    burst: 1_000,
    per_second: 33,
};
/// A connection ends above this many bursts of [`RESETS`] at once, and this many times its refill, whatever the share of
/// its streams that are not reset, and however long they were open (CVE-2023-44487, CVE-2025-8671): a flood that lets
/// every second stream complete starts fresh work with each of the others. 2,000 at once and 330 per second are out of
/// reach for a browser, and ten times the steady rate that node:http2 takes.
pub const RESETS_CEILING_BURSTS: u32 = 2;
/// See [`RESETS_CEILING_BURSTS`].
pub const RESETS_CEILING_REFILLS: u32 = 10;
/// A stream that was open for so long had its place among [`CONCURRENT_STREAMS_MAX`] for that time: the number that a peer
/// may have open bounds how many of those it begins. Envoy counts younger ones alone, too.
pub const RESET_AGE: Duration = Duration::from_secs(1);
/// Stream errors that a peer provokes with frames that need no request of their own: a zero or
/// overflowing WINDOW_UPDATE, a PRIORITY of the wrong length or on itself, HEADERS or DATA after
/// END_STREAM (CVE-2025-8671).
pub const PROVOKED_RESETS: Rate = Rate {
    burst: 10,
    per_second: 1,
};
/// Points for tolerated oddities (docs/attacks.md); drain at 75 %, close at 100 %.
pub const GLITCHES: Rate = Rate {
    burst: 10_000,
    per_second: 330,
};
/// PING and SETTINGS frames of a peer (CVE-2019-9512, CVE-2019-9515).
pub const PINGS: Rate = Rate {
    burst: 100,
    per_second: 10,
};
/// Empty DATA frames of a peer without END_STREAM, beyond the first of each body (CVE-2019-9518, RUSTSEC-2026-0258). A rate alone:
/// a body that is kept alive by one frame a minute may have any number of them in a row. The burst is the 1,000 that node:http2
/// takes of a session in its life.
pub const EMPTY_FRAMES: Rate = Rate {
    burst: 1_000,
    per_second: 10,
};
/// WINDOW_UPDATE frames a peer may send before any DATA, and per DATA frame sent to it.
pub const WINDOW_UPDATES_FREE: u32 = 20;
/// See [`WINDOW_UPDATES_FREE`].
pub const WINDOW_UPDATES_PER_DATA_FRAME_MAX: u32 = 10;
/// WINDOW_UPDATE frames a peer may send beside that per stream: many clients widen each of theirs.
pub const WINDOW_UPDATES_PER_STREAM_MAX: u32 = 2;
/// The cost of one DATA frame beside its bytes: an event and an allocation. A shorter frame is
/// charged the difference until the reader has taken it (RUSTSEC-2026-0258).
pub const DATA_OVERHEAD_BYTES: u32 = 256;
/// Unread overhead per connection above which every further short DATA frame is a glitch.
pub const DATA_OVERHEAD_BYTES_MAX: u64 = 1024 * 1024;
/// Settings of extensions (RFC 9113 section 5.5) in one SETTINGS frame that are reported to the owner, or sent: as many settings as
/// nghttp2 takes in a frame by default. Further ones are ignored.
pub const EXTENSION_SETTINGS_MAX: usize = 32;
/// PRIORITY_UPDATE frames kept for streams not yet open (RFC 9218 section 7.1).
pub const PRIORITY_UPDATES_PENDING_MAX: usize = 100;
/// Refused requests whose reasons are kept between two looks of a server's metrics.
pub const REFUSED_NOTES_MAX: usize = 1024;
/// Interim (1xx) responses before the final one. A server says 102 every few seconds while it works (RFC 2518 section 10.1), or reports
/// progress: a long task is not to lose its response.
pub const INTERIM_RESPONSES_MAX: u32 = 1024;
/// Bytes waiting to be written before we stop reading the connection (CVE-2019-9517).
pub const OUTBOX_BYTES_MAX: usize = 256 * 1024;
/// A stream's response bytes buffered in core before `send_room` says 0.
pub const SEND_BUFFER_BYTES_MAX: usize = 256 * 1024;
/// Bytes that all connections of one server hold for peers that do not take them, beyond
/// [`SEND_FREE_BYTES`] of each: the default of [`Windows::send_budget`] (CVE-2019-9511,
/// CVE-2019-9517). What one peer holds of it is bounded by what the others hold
/// ([`SendAccount`](crate::send_account::SendAccount)).
pub const SEND_BUDGET_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes that wait on a connection and cost the budget nothing: the kernel's buffer lies below
/// them, so a peer that reads has its full speed with these alone.
pub const SEND_FREE_BYTES: u64 = 64 * 1024;
/// Streams of a connection without room that still may get a piece of a body, one piece
/// each, when no bytes wait on them, while half of the budget or more is lent: streams that the peer reads continue, in turn, beside those
/// that it does not. While more of it is free each stream may, out of the budget.
pub const SEND_TURNS_MAX: u32 = 4;
/// HTTP/2: body bytes that wait on one stream beyond what its window lets out. A window of 0 makes
/// us hold no more of an answer than this and one piece of its body.
pub const SEND_SHUT_BYTES: usize = 16 * 1024;
/// Bytes beyond a connection's room before its next request waits; while half of the budget is free it waits for
/// [`SEND_TURNS_MAX`] further answers too. Only answers that are given whole go beyond the room: there, the memory is the handler's already.
pub const SEND_AHEAD_BYTES_MAX: u64 = 1024 * 1024;
/// Requests on one connection before it drains: as many as HTTP/2 has stream ids. hyper, Go and Envoy
/// have no bound either; nginx drains after 1,000 (`keepalive_requests`) to free what a connection
/// has allocated, and here a connection that rests holds nothing but its tables. gRPC clients fail
/// what they are about to send when their connection drains.
pub const REQUESTS_PER_CONNECTION_MAX: u64 = 1 << 30;
/// The head of an HTTP/1.1 message, start line included.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The head of an HTTP/1.1 response that a client takes: as long as hyper's, for servers that set many or large
/// cookies. A connection of a client has one head at a time, and its server was chosen.
pub const RESPONSE_HEAD_BYTES_MAX: usize = 408 * 1024;
/// An HTTP/1.1 request target.
pub const TARGET_BYTES_MAX: usize = 16 * 1024;
/// Chunk extensions of one body (CVE-2023-39326).
pub const CHUNK_EXTENSION_BYTES_MAX: usize = 16 * 1024;
/// Pipelined HTTP/1.1 requests a server parses ahead, the one that is being answered among them: as many as the
/// streams of a connection of HTTP/2, and for the same cost. The answer to one may wait for another.
pub const PIPELINED_REQUESTS_MAX: usize = CONCURRENT_STREAMS_MAX as usize;
/// HTTP/1.1 body bytes that wait for the reader before we stop reading the connection, and bytes of
/// a connection that left HTTP.
pub const UNREAD_BODY_BYTES_MAX: usize = 256 * 1024;

/// Bytes that a client under TLS may send behind its first message, while it is chosen what its
/// handshake goes on with: more than a compatible change_cipher_spec (RFC 8446 appendix D.4), and early
/// data that is refused, come only by mistake. The rest stays in the kernel.
pub const HELLO_AHEAD_BYTES_MAX: usize = 16 * 1024;

/// Connections that one request is given to, and that end before they answered anything and before
/// anything of it was written: a peer that closes each connection at once costs a request no more
/// than these. As many as a request that is refused is sent times, with the same pauses: a connection
/// that was opened early and closed for idleness, or a server that is replaced, costs one or two. The
/// tunnel of a proxy that ends so is the only one: each is a request of the proxy.
/// Connections that have answered something do not count: each of them costs the peer an answer.
pub const UNUSED_CONNECTIONS_MAX: u32 = 4;

/// Request streams that a client may have open at once over QUIC. 100 stalls a client that runs
/// 100 at once, because credit comes back one acknowledgement after our end of a stream; what
/// runs is bounded apart, by [`REQUEST_HANDLERS_MAX`].
pub const QUIC_BIDI_STREAMS_MAX: u32 = 256;
/// Unidirectional streams of a peer: the three of RFC 9114 section 6.2 and RFC 9204 section 4.2,
/// and two of kinds that we do not know and stop.
pub const QUIC_UNI_STREAMS_MAX: u32 = 5;
/// Bytes that a peer may send on all streams of a connection beyond those read, before any was
/// read: slow start has used less than half of it when it begins to grow. It bounds the memory of a
/// peer with unread streams (the library's default is no bound; RUSTSEC-2026-0185 for data behind
/// gaps); more is borrowed from [`Windows::memory_budget`].
pub const QUIC_RECEIVE_WINDOW_BYTES: u32 = 1024 * 1024;
/// The least receive window of a QUIC stream, bytes: a path of 1 Gbit/s at 3 ms. A hundred unread
/// bodies and one that is read fit together into the window that a connection reaches (48 MiB by
/// default).
pub const QUIC_STREAM_WINDOW_BYTES_MIN: u32 = 384 * 1024;
/// Receive window of a QUIC stream per second of the path's round trip, bytes: a path of 1 Gbit/s,
/// and a quarter more for the bytes that arrive while an update is in flight.
pub const QUIC_STREAM_BYTES_PER_SECOND: u32 = 160_000_000;
/// Bytes that a client may send on one stream of a server's QUIC connection beyond those that its
/// handler has read, where windows tune themselves: a stream's window has one size for all of a connection's life, so
/// that a lone upload that is not read holds so much. A line of 1 Gbit/s at 33 ms, of 340 Mbit/s at
/// 100 ms.
pub const QUIC_UPLOAD_WINDOW_BYTES: u32 = 4 * 1024 * 1024;
/// The longest that bytes of a tunnel wait for its peer when the user who wrote them has left it: as long as the default of
/// [`Timeouts::write_stall`], but from first to last, so that a peer which takes a byte now and then gains nothing.
pub const LEFT_TUNNEL_TIME_MAX: Duration = Duration::from_secs(300);
/// The part of [`Windows::memory_budget`] that unread uploads of one QUIC connection of a server may
/// fill, as its divisor: 16 MiB of 64 by default, which is four uploads of
/// [`QUIC_UPLOAD_WINDOW_BYTES`]. Three more such connections leave the others what they begin with.
pub const QUIC_UNREAD_UPLOADS_DIVISOR: u64 = 4;
/// Bytes that we hold for a peer that has not acknowledged them, sent or not, on a path that has
/// shown nothing yet: twice what slow start has under way when it reaches 5 MB/s at 100 ms.
pub const QUIC_SEND_WINDOW_BYTES: u64 = 1024 * 1024;
/// The send window on a path whose congestion window has grown, bytes: twice that window, up to
/// this, the rest borrowed from [`Windows::send_budget`], on a client from
/// [`Windows::memory_budget`]. Only a peer that acknowledges as much gets there.
pub const QUIC_SEND_WINDOW_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Connections whose first packet has come and that are not yet accepted or refused.
pub const QUIC_INCOMING_MAX: usize = 1024;
/// Bytes of early packets kept for one of these.
pub const QUIC_INCOMING_BYTES_MAX: u64 = 64 * 1024;
/// As `QUIC_INCOMING_BYTES_MAX`, for all of them together.
pub const QUIC_INCOMING_BYTES_TOTAL_MAX: u64 = 4 * 1024 * 1024;
/// Handshakes in progress per worker above which a new peer must prove its address by Retry
/// (RFC 9000 section 8.1.2) before we keep anything of it.
pub const QUIC_HALF_OPEN_MAX: usize = 500;
/// Answers per worker to QUIC packets that belong to no connection (Version Negotiation, stateless
/// reset): each is smaller than its packet, and this bounds how many reach the packet's source
/// address, which may be forged.
pub const QUIC_ANSWERS: Rate = Rate {
    burst: 500,
    per_second: 500,
};
/// The least time between two stateless resets of a worker, among these answers (RFC 9000 section
/// 10.3.3: two endpoints must not keep each other busy with them).
pub const QUIC_RESET_INTERVAL_MIN: Duration = Duration::from_millis(20);
/// Glitch points of a QUIC frame that costs an answer and brings nothing: NEW_CONNECTION_ID,
/// RETIRE_CONNECTION_ID and PATH_CHALLENGE. A client needs some ten in its life, and as many for
/// each move.
pub const QUIC_FRAME_POINTS: u32 = 10;
/// Glitch points of a peer's move to another address: the new path is validated, and its congestion
/// window begins anew.
pub const QUIC_MOVE_POINTS: u32 = 100;
/// Bytes of QUIC datagrams kept in each direction, per connection.
pub const QUIC_DATAGRAM_BYTES_MAX: usize = 64 * 1024;
/// Silence after which a client drops a QUIC connection: as long as it waits for a head by default,
/// because its own questions (`HealthTimes`) find a server that is gone sooner. The shorter of both
/// sides' times counts (RFC 9000 section 10.1). A server's connection without exchanges ends by
/// [`Timeouts::idle`].
pub const QUIC_SILENCE_MAX: Duration = Duration::from_secs(300);
/// [`QUIC_SILENCE_MAX`] of a server: a client that is gone costs it no more than this and
/// [`QUIC_SERVER_PING_INTERVAL`], handlers included, whatever they wait for. h2o takes 30 s, nginx 60 s
/// to 75 s; clients that say less are asked for less.
pub const QUIC_SERVER_SILENCE_MAX: Duration = Duration::from_secs(45);
/// Silence after which a server's connection is sent a PING, which the client's transport
/// acknowledges: a client that waits for a slow handler, or for the next event of a stream, sends
/// nothing by itself and lives.
pub const QUIC_SERVER_PING_INTERVAL: Duration = Duration::from_secs(15);
/// HTTP/3 request streams that a client may have open at once: what QUIC grants.
pub const REQUEST_STREAMS_MAX: u32 = QUIC_BIDI_STREAMS_MAX;
/// As [`RUNNING_HANDLERS_MAX`], for HTTP/3.
pub const REQUEST_HANDLERS_MAX: u32 = 512;
/// A frame on the HTTP/3 control stream; all but SETTINGS are a few bytes.
pub const CONTROL_FRAME_BYTES_MAX: usize = 4096;
/// Bytes that may wait on one of our control and QPACK streams for a peer that takes none.
pub const CRITICAL_STREAM_BYTES_MAX: usize = 64 * 1024;
/// HTTP datagrams of one exchange kept for their reader, and as many for the wire; beyond them the
/// oldest is dropped and counted, as any may be lost on the path (RFC 9297 section 2.1). Each fits
/// a packet, so an exchange without a reader holds less than 100 KiB.
pub const DATAGRAMS_MAX: usize = 64;
/// Bytes of a capsule that is handed on whole (RFC 9297 section 3); other types are skipped, whatever
/// length they say. An HTTP datagram has no more in most protocols: those of UDP and IP.
pub const CAPSULE_BYTES_MAX: usize = 64 * 1024;
/// HTTP datagrams of a connection between two turns of its owner, who hands them to their exchanges.
pub const DATAGRAMS_PER_TURN_MAX: usize = 1024;

/// Bytes that a stream is granted with its head where SETTINGS_INITIAL_WINDOW_SIZE is 0: no byte of a body comes
/// before its head was accepted, and none waits for ever for a window that nothing opens. One frame.
pub const WINDOW_BEHIND_HEAD_BYTES: u32 = 16 * 1024;
/// How long an HTTP/1.1 server that drains waits for the first request of a connection. A client sends it
/// at once when it has connected, a round trip later under TLS; without the wait a request that crosses the
/// drain is lost, and HTTP/1.1 has no frame that says so. A connection that was opened ahead of its requests
/// holds the drain up for this long at most; so does one under TLS whose client has not said its ClientHello.
pub const DRAIN_FIRST_REQUEST_WAIT: Duration = Duration::from_secs(1);
/// How long a connection without a request keeps its place in a full server where another peer connects: of several
/// connections that are accepted in one turn the earlier ones have not been read from yet. Connections that
/// send nothing hold a new one up for this long at most.
pub const NEW_CONNECTION_GRACE: Duration = Duration::from_millis(100);

crate::options! {
    /// Bounds on what a peer may make one connection hold or do. The reason of each default is at the constant that
    /// it names.
    pub struct Limits {
        /// Fields in one section (a head or trailers), cookie crumbs counted one by one: one more is refused with
        /// 431, or resets the stream. Range: any, of a client up to 24,576: more than those find no room in a
        /// header map, and a server of requests with such maps answers them with 431. Default 512.
        pub field_count_max: usize = FIELD_COUNT_MAX, with_field_count_max;
        /// Bytes of our HPACK decoder's table, as SETTINGS_HEADER_TABLE_SIZE says it. Range: any; 0: no table.
        /// Default 4,096.
        pub header_table_bytes_max: usize = HPACK_TABLE_BYTES_MAX, with_header_table_bytes_max;
        /// HTTP/2: bytes of our HPACK encoder's table, as far as the peer allows them. Range: any; 0: no table, more than 4,096
        /// are 4,096. Default 4,096.
        pub encoder_table_bytes_max: usize = HPACK_TABLE_BYTES_MAX, with_encoder_table_bytes_max;
        /// Decoded bytes of one field section by RFC 9113 section 10.5.1: names, values and 32 for each field,
        /// announced as SETTINGS_MAX_HEADER_LIST_SIZE. Range: any. Default 65,536.
        pub field_section_bytes_max: usize = FIELD_SECTION_BYTES_MAX, with_field_section_bytes_max;
        /// Bytes of a header block on the wire, HEADERS and CONTINUATION together. A larger one costs its stream.
        /// Range: any. Default 65,536.
        pub header_block_bytes_max: usize = HEADER_BLOCK_BYTES_MAX, with_header_block_bytes_max;
        /// CONTINUATION frames of one header block; one more ends the connection. Range: any. Default 8.
        pub continuations_max: u32 = CONTINUATIONS_MAX, with_continuations_max;
        /// HTTP/2: streams that a client may have open at once (SETTINGS_MAX_CONCURRENT_STREAMS); on a client, the
        /// ceiling of its own requests. Range: any; 0 takes no request. Default 100.
        pub concurrent_streams_max: u32 = CONCURRENT_STREAMS_MAX, with_concurrent_streams_max;
        /// HTTP/2 client: requests that may be open before the server's SETTINGS have said how many it
        /// takes. Range: any. Default 1. RFC 9113 section 6.5.2 recommends servers to take 100.
        pub early_streams_max: u32 = 1, with_early_streams_max;
        /// HTTP/2 server: handlers that may run at once for one connection, those of reset streams included: a
        /// further request is refused unprocessed. Range: any. Default 200.
        pub running_handlers_max: u32 = RUNNING_HANDLERS_MAX, with_running_handlers_max;
        /// HTTP/3: request streams that a client may have open at once; on a client, the ceiling of its own
        /// requests. Range: any; 0 takes no request. Default 256.
        pub request_streams_max: u32 = REQUEST_STREAMS_MAX, with_request_streams_max;
        /// As `running_handlers_max`, for HTTP/3. Range: any. Default 512.
        pub request_handlers_max: u32 = REQUEST_HANDLERS_MAX, with_request_handlers_max;
        /// Streams that a peer may reset before they were open for a second, or make us reset: a burst and a rate per
        /// second. Beyond it the connection ends where they are more than half of its streams. Whatever their share and
        /// their age, it ends beyond twice the burst and ten times the rate. Range: any. Default 1,000 at once and 33 a
        /// second.
        pub resets: Rate = RESETS, with_resets;
        /// Points for oddities that are tolerated (docs/attacks.md names them): a burst and a rate per second. The
        /// connection drains at three quarters and ends at all of it. Range: any. Default 10,000 at once and 330 a second.
        pub glitches: Rate = GLITCHES, with_glitches;
        /// Frames of a peer that break a rule of their stream, and empty DATA frames that end none, on one connection; beyond it the
        /// connection ends, whatever `resets` says. Range: any. Default 4,294,967,295: `resets` and `glitches` bound them.
        pub stream_errors_max: u32 = u32::MAX, with_stream_errors_max;
        /// Bytes of responses that wait on one connection; while more do, the streams of further requests are refused with
        /// ENHANCE_YOUR_CALM. Range: any. Default 18,446,744,073,709,551,615: `send_buffer_bytes_max` and
        /// [`Windows::send_budget`] bound them.
        pub queued_bytes_max: u64 = u64::MAX, with_queued_bytes_max;
        /// Streams of a peer that are refused one after the other, because it has too many open or too many bytes wait for it; beyond it
        /// the connection ends, whatever `resets` says. Range: any. Default 4,294,967,295: `resets` bounds them.
        pub refused_streams_max: u32 = u32::MAX, with_refused_streams_max;
        /// HTTP/2: settings in one SETTINGS frame; more end the connection. Range: any. Default 4,294,967,295: the size of a frame
        /// bounds them.
        pub settings_per_frame_max: u32 = u32::MAX, with_settings_per_frame_max;
        /// PING and SETTINGS frames of a peer: a burst and a rate per second; beyond it the connection ends. Range: any.
        /// Default 100 at once and 10 a second.
        pub pings: Rate = PINGS, with_pings;
        /// Bytes that wait to be written to a connection before no more is read from it. Range: any.
        /// Default 262,144.
        pub outbox_bytes_max: usize = OUTBOX_BYTES_MAX, with_outbox_bytes_max;
        /// Bytes of one stream's body that wait in the machine before its source is asked for no more. Range: any.
        /// Default 262,144.
        pub send_buffer_bytes_max: usize = SEND_BUFFER_BYTES_MAX, with_send_buffer_bytes_max;
        /// Requests on one connection before it drains. Range: from 1. Default 1,073,741,824, as many as HTTP/2 has
        /// stream ids.
        pub requests_per_connection_max: u64 = REQUESTS_PER_CONNECTION_MAX, with_requests_per_connection_max;
        /// HTTP/1.1: bytes of a head, its start line included; beyond it 431. Range: any. Default 65,536; of a
        /// client's own settings 417,792.
        pub head_bytes_max: usize = HEAD_BYTES_MAX, with_head_bytes_max;
        /// HTTP/1.1: bytes of a request target; beyond it 414. Range: any. Default 16,384.
        pub target_bytes_max: usize = TARGET_BYTES_MAX, with_target_bytes_max;
        /// HTTP/1.1: bytes of the chunk extensions of one body; beyond it the connection ends. Range: any.
        /// Default 16,384.
        pub chunk_extension_bytes_max: usize = CHUNK_EXTENSION_BYTES_MAX, with_chunk_extension_bytes_max;
        /// Client: interim (1xx) responses before the final one; one more resets the exchange. Range: any.
        /// Default 1,024.
        pub interim_responses_max: u32 = INTERIM_RESPONSES_MAX, with_interim_responses_max;
        /// HTTP/1.1: requests that a client has in flight on one connection. An HTTP/2 setting never moves it.
        /// Range: from 1. Default 1.
        pub pipelining: u32 = 1, with_pipelining;
    }
}

#[cfg(test)]
#[path = "limits_test.rs"]
mod limits_test;
