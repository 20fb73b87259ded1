//! Codes and layouts of the channel between JavaScript and the engine. Generated from
//! `node/channel.toml` by `xtask generate`.

/// Words of an entry.
pub(crate) const ENTRY_WORDS: usize = 8;
/// An entry as it lies in a ring.
pub(crate) type Entry = [u32; ENTRY_WORDS];
/// The word with the serial that tells the exchanges of one number apart.
pub(crate) const SERIAL: usize = 2;
/// The word with the number of what an entry belongs to.
pub(crate) const NUMBER: usize = 1;
/// The word with the position of an entry's text in the arena.
pub(crate) const POSITION: usize = 3;
/// The word with the bytes of an entry's text.
pub(crate) const LENGTH: usize = 4;
/// Bytes of a body from which they cross by reference and not through the arena.
pub(crate) const BY_REFERENCE_BYTES_MIN: usize = 16384;
/// Bytes of a stream of JavaScript's that the engine has not read, from which the stream is read no
/// further; one chunk may go beyond. As many as an HTTP/2 client grants before it knows anything of
/// the path.
pub(crate) const STREAM_UNREAD_BYTES_MAX: usize = 262144;
/// Words of control, by their index.
pub(crate) mod control {
    /// Entries that JavaScript has written.
    pub(crate) const SUBMITTED: usize = 0;
    /// Entries of JavaScript's that the engine has read.
    pub(crate) const READ: usize = 16;
    /// How far the engine has read their arena.
    pub(crate) const READ_ARENA: usize = 32;
    /// 1: the engine is to be woken for new entries.
    pub(crate) const ENGINE_SLEEPS: usize = 48;
    /// Entries that the engine has written.
    pub(crate) const COMPLETED: usize = 64;
    /// Entries of the engine's that JavaScript has read.
    pub(crate) const DRAINED: usize = 80;
    /// How far JavaScript has read their arena.
    pub(crate) const DRAINED_ARENA: usize = 96;
    /// 1: JavaScript is to be woken for new entries.
    pub(crate) const SCRIPT_SLEEPS: usize = 112;
    /// 1: completions wait outside of the ring for room.
    pub(crate) const OVERFLOWS: usize = 128;
    /// 1: the engine has ended before its environment and reads nothing more.
    pub(crate) const ENGINE_ENDED: usize = 144;
    /// 1: JavaScript runs within a call of native code, behind which an engine on the same thread
    /// reads what was submitted.
    pub(crate) const SCRIPT_CALLED: usize = 160;
    /// 1: nothing is under way any more, and native code lets the environment end behind the call
    /// that it makes.
    pub(crate) const IDLE: usize = 161;
}
/// How a body comes: the second byte of an entry's first word.
pub(crate) mod body {
    /// Behind the text in the arena; its length is the word `body`.
    pub(crate) const INLINE: u32 = 1;
    /// Outside of the arena; the word `body` is where (`Native.put`).
    pub(crate) const BY_REFERENCE: u32 = 2;
    /// In pieces.
    pub(crate) const STREAMING: u32 = 3;
    /// A file: behind the text stands which, and the word `body` is how long that is.
    pub(crate) const FILE: u32 = 4;
}
/// Flags in the first word of a client's request.
pub(crate) mod submission_flag {
    /// The request asks for the connection itself.
    pub(crate) const LEAVES_HTTP: u32 = 1 << 16;
    /// The number of the connection on which the request starts is wanted.
    pub(crate) const WATCHED: u32 = 1 << 17;
    /// An HTTP/1.1 connection ends behind the request.
    pub(crate) const ENDS_CONNECTION: u32 = 1 << 18;
    /// The user says that the request may be sent twice.
    pub(crate) const IDEMPOTENT: u32 = 1 << 19;
    /// The user says that the request may not be sent twice.
    pub(crate) const NOT_IDEMPOTENT: u32 = 1 << 20;
    /// Nothing is pipelined behind the request before it is answered.
    pub(crate) const BLOCKS: u32 = 1 << 21;
    /// The request's path is an absolute URL, which HTTP/1.1 carries as it is.
    pub(crate) const ABSOLUTE_FORM: u32 = 1 << 22;
    /// HTTP/1.1: the request's head goes with the first piece of its body.
    pub(crate) const HEAD_WITH_BODY: u32 = 1 << 23;
    /// An HTTP/1.1 connection ends behind the request, unless its body is empty.
    pub(crate) const BODY_ENDS_CONNECTION: u32 = 1 << 24;
}
/// Flags in the first word of a server's response and of its pieces.
pub(crate) mod response_flag {
    /// No body follows the head, or this is its last piece.
    pub(crate) const END: u32 = 1 << 16;
    /// No completion follows for the end of the exchange.
    pub(crate) const QUIET: u32 = 1 << 17;
    /// No date is added.
    pub(crate) const NO_DATE: u32 = 1 << 18;
    /// No content-length is added; HTTP/1.1 then sends the body in chunks.
    pub(crate) const NO_LENGTH: u32 = 1 << 19;
    /// HTTP/1.1: no words stand behind the status where none are given, in place of the usual ones.
    pub(crate) const NO_REASON: u32 = 1 << 20;
}
/// Flags in the first word of a completion.
pub(crate) mod completion_flag {
    /// The number is free again: the last completion of its exchange.
    pub(crate) const LAST: u32 = 1 << 8;
    /// The body lies outside of the arena, where the word `body` says.
    pub(crate) const BY_REFERENCE: u32 = 1 << 9;
    /// The request's body is to come, or this is not its last piece.
    pub(crate) const MORE: u32 = 1 << 10;
    /// The request is one of HTTP/1.0.
    pub(crate) const HTTP10: u32 = 1 << 11;
    /// The text lies outside of the arena, where word 3 says.
    pub(crate) const TEXT_BY_REFERENCE: u32 = 1 << 12;
}
/// Which control frame a submission is.
pub(crate) mod control_frame {
    /// Eight bytes.
    pub(crate) const PING: u32 = 1;
    /// The payload of a SETTINGS frame.
    pub(crate) const SETTINGS: u32 = 2;
    /// Debug data; the numbers are the error code and the last stream (0: the newest).
    pub(crate) const GOAWAY: u32 = 3;
    /// The origin, a zero, and the value; the number is the stream.
    pub(crate) const ALT_SVC: u32 = 4;
    /// Origins with a zero between two.
    pub(crate) const ORIGINS: u32 = 5;
    /// The number is the bytes of the connection's receive window.
    pub(crate) const WINDOW: u32 = 6;
}
/// The version of HTTP of a connection or a head; newer ones have greater codes.
pub(crate) mod http_version {
    /// No version: the client left ALPN out.
    pub(crate) const NONE: u32 = 0;
    /// Not known yet: `connected` with the one follows.
    pub(crate) const UNIDENTIFIED: u32 = 1;
    /// HTTP/1.0.
    pub(crate) const HTTP10: u32 = 10;
    /// HTTP/1.1.
    pub(crate) const HTTP11: u32 = 11;
    /// HTTP/2.
    pub(crate) const HTTP2: u32 = 20;
    /// HTTP/3.
    pub(crate) const HTTP3: u32 = 30;
}
/// Why a handshake failed.
pub(crate) mod handshake_failure {
    /// For another reason.
    pub(crate) const OTHER: u32 = 0;
    /// It took too long.
    pub(crate) const TIMEOUT: u32 = 1;
    /// The client closed the connection.
    pub(crate) const GONE: u32 = 2;
    /// The client's bytes are no TLS.
    pub(crate) const NOT_TLS: u32 = 3;
    /// No version of TLS in common.
    pub(crate) const VERSION: u32 = 4;
    /// No cipher suite in common.
    pub(crate) const CIPHER: u32 = 5;
    /// No protocol of ALPN in common.
    pub(crate) const PROTOCOL: u32 = 6;
    /// The client sent an alert.
    pub(crate) const ALERT: u32 = 7;
    /// The client's certificate is not accepted.
    pub(crate) const CERTIFICATE: u32 = 8;
    /// JavaScript refused it.
    pub(crate) const REFUSED: u32 = 9;
    /// The client's bytes are a request of HTTP in cleartext.
    pub(crate) const CLEARTEXT_REQUEST: u32 = 10;
    /// The client's bytes are a CONNECT in cleartext.
    pub(crate) const CLEARTEXT_CONNECT: u32 = 11;
    /// The client sent no certificate.
    pub(crate) const NO_CERTIFICATE: u32 = 12;
    /// No group for the exchange of keys in common.
    pub(crate) const KEY_EXCHANGE: u32 = 13;
    /// No signature that the client verifies.
    pub(crate) const SIGNATURE: u32 = 14;
    /// A message that is not due.
    pub(crate) const UNEXPECTED: u32 = 15;
    /// A message that cannot be read.
    pub(crate) const MALFORMED: u32 = 16;
    /// A record or a message that is too long.
    pub(crate) const TOO_LONG: u32 = 17;
    /// A record that cannot be decrypted.
    pub(crate) const UNDECRYPTABLE: u32 = 18;
}
/// Codes of submissions, and the words of their entries.
pub(crate) mod submission {
    /// A request of a client. The text is its head: method, path and authority with a zero between
    /// two, then a zero, the name, a zero and the value of each field.
    pub(crate) const REQUEST: u32 = 1;
    /// A piece of a request's body: the text, or outside of the arena.
    pub(crate) const PIECE: u32 = 2;
    /// A request's body is complete.
    pub(crate) const END: u32 = 3;
    /// A request's body failed.
    pub(crate) const FAIL: u32 = 4;
    /// The exchange is cancelled.
    pub(crate) const CANCEL: u32 = 5;
    /// Bytes of a response's body were taken.
    pub(crate) const TAKE: u32 = 6;
    /// A server's response: its head is the text, its body whole, streaming, a file or none.
    pub(crate) const RESPOND: u32 = 16;
    /// A 1xx response; the text is its fields.
    pub(crate) const INFORM: u32 = 17;
    /// A piece of a response's body: the text, or outside of the arena.
    pub(crate) const SEND: u32 = 18;
    /// The end of a response's body; the text is its trailers.
    pub(crate) const FINISH: u32 = 19;
    /// The exchange ends at once.
    pub(crate) const RESET: u32 = 20;
    /// Bytes of a request's body were taken.
    pub(crate) const TAKE_UPLOAD: u32 = 21;
    /// The connection with this number ends when its exchanges have.
    pub(crate) const SHUT_DOWN: u32 = 22;
    /// The connection with this number ends at once.
    pub(crate) const ABORT: u32 = 23;
    /// A control frame for the peer of the connection with this number; the text is its payload.
    pub(crate) const CONTROL: u32 = 24;
    /// The rest of a request's body is not read.
    pub(crate) const DECLINE: u32 = 25;
    /// Bytes of a stream of JavaScript's that carries a connection: the text, or outside of the
    /// arena.
    pub(crate) const STREAM_PIECE: u32 = 64;
    /// The stream's bytes have ended in order.
    pub(crate) const STREAM_END: u32 = 65;
    /// The stream failed; JavaScript has the error.
    pub(crate) const STREAM_FAIL: u32 = 66;
    /// The stream has taken bytes.
    pub(crate) const STREAM_TAKE: u32 = 67;
    /// JavaScript holds its process until the engine has done what is before this.
    pub(crate) const MARK: u32 = 68;
    /// Words of [`REQUEST`].
    pub(crate) mod request {
        /// The origin's number.
        pub(crate) const ORIGIN: usize = 2;
        /// The body's length or place; see `body`.
        pub(crate) const BODY: usize = 5;
        /// Milliseconds; 0: none.
        pub(crate) const HEADERS_TIMEOUT: usize = 6;
        /// Milliseconds; 0: none.
        pub(crate) const BODY_TIMEOUT: usize = 7;
    }
    /// Words of [`PIECE`].
    pub(crate) mod piece {
        /// Where it lies outside of the arena.
        pub(crate) const BODY: usize = 5;
    }
    /// Words of [`TAKE`].
    pub(crate) mod take {
        /// How many.
        pub(crate) const BYTES: usize = 2;
    }
    /// Words of [`RESPOND`].
    pub(crate) mod respond {
        /// The body's length or place; see `body`.
        pub(crate) const BODY: usize = 5;
        /// The status code.
        pub(crate) const STATUS: usize = 6;
        /// Bytes at the front of the text that are the reason phrase.
        pub(crate) const REASON_LENGTH: usize = 7;
    }
    /// Words of [`INFORM`].
    pub(crate) mod inform {
        /// The status code.
        pub(crate) const STATUS: usize = 6;
    }
    /// Words of [`SEND`].
    pub(crate) mod send {
        /// Where it lies outside of the arena.
        pub(crate) const BODY: usize = 5;
    }
    /// Words of [`RESET`].
    pub(crate) mod reset {
        /// RFC 9113 section 7.
        pub(crate) const ERROR_CODE: usize = 6;
    }
    /// Words of [`TAKE_UPLOAD`].
    pub(crate) mod take_upload {
        /// How many.
        pub(crate) const BYTES: usize = 6;
    }
    /// Words of [`ABORT`].
    pub(crate) mod abort {
        /// 1: by a reset of TCP, which drops what has not gone.
        pub(crate) const RESETS: usize = 5;
        /// RFC 9113 section 7.
        pub(crate) const ERROR_CODE: usize = 6;
    }
    /// Words of [`CONTROL`].
    pub(crate) mod control {
        /// Which; see `control_frame`.
        pub(crate) const FRAME: usize = 2;
        /// The frame's first number.
        pub(crate) const FIRST: usize = 6;
        /// The frame's second number.
        pub(crate) const SECOND: usize = 7;
    }
    /// Words of [`STREAM_PIECE`].
    pub(crate) mod stream_piece {
        /// Where they lie outside of the arena.
        pub(crate) const BODY: usize = 5;
    }
    /// Words of [`STREAM_TAKE`].
    pub(crate) mod stream_take {
        /// How many.
        pub(crate) const BYTES: usize = 2;
    }
}
/// Entries of completions; a flag is added to the first word.
pub(crate) mod completion {
    use super::Entry;

    /// The final head of a response, and with `last` all that follows it; the text is the reason
    /// phrase and the fields, names and values by turns with a zero between two.
    /// - `status`: The status code.
    /// - `body`: The length of a body behind the text, or where it lies.
    /// - `version`: One of `http_version`.
    /// - `reason`: One more than the length of the reason phrase in front of the fields; 0: the
    ///   usual one.
    pub(crate) fn response(
        number: u32,
        status: u32,
        body: u32,
        version: u32,
        reason: u32,
    ) -> Entry {
        [1, number, status, 0, 0, body, version, reason]
    }
    /// A 1xx head; the text is as of a response.
    /// - `status`: The status code.
    /// - `version`: As of a response.
    /// - `reason`: As of a response.
    pub(crate) fn interim(number: u32, status: u32, version: u32, reason: u32) -> Entry {
        [2, number, status, 0, 0, 0, version, reason]
    }
    /// A piece of a response's body: the text, or outside of the arena.
    /// - `body`: Where it lies outside of the arena.
    pub(crate) fn data(number: u32, body: u32) -> Entry {
        [3, number, 0, 0, 0, body, 0, 0]
    }
    /// The end of a response; the text is its trailers. Without `last` its request's body goes on.
    pub(crate) fn ended(number: u32) -> Entry {
        [4, number, 0, 0, 0, 0, 0, 0]
    }
    /// An exchange failed; the text is JSON.
    pub(crate) fn failed(number: u32) -> Entry {
        [5, number, 0, 0, 0, 0, 0, 0]
    }
    /// An exchange was cancelled; nothing more comes for its number.
    pub(crate) fn cancelled(number: u32) -> Entry {
        [6, number, 0, 0, 0, 0, 0, 0]
    }
    /// The connection took bytes of a request's body.
    /// - `bytes`: How many.
    pub(crate) fn room(number: u32, bytes: u32) -> Entry {
        [7, number, bytes, 0, 0, 0, 0, 0]
    }
    /// The answer to a cold call with this ticket; the text is JSON.
    pub(crate) fn answer(number: u32) -> Entry {
        [8, number, 0, 0, 0, 0, 0, 0]
    }
    /// Something happened to a connection of the client with this number; the text is JSON.
    pub(crate) fn connection_event(number: u32) -> Entry {
        [9, number, 0, 0, 0, 0, 0, 0]
    }
    /// A watched exchange starts on a connection.
    /// - `connection_low`: The lower half of the connection's number.
    /// - `connection_high`: The upper half.
    pub(crate) fn started(number: u32, connection_low: u32, connection_high: u32) -> Entry {
        [10, number, 0, 0, 0, connection_low, connection_high, 0]
    }
    /// A host name is to be resolved; the number is the question's, the text is JSON.
    /// - `client`: The client's number.
    pub(crate) fn lookup(number: u32, client: u32) -> Entry {
        [11, number, client, 0, 0, 0, 0, 0]
    }
    /// A connection is to be made by a function of the user's; the number is the question's, the
    /// text is JSON.
    /// - `client`: The client's number.
    pub(crate) fn dial(number: u32, client: u32) -> Entry {
        [12, number, client, 0, 0, 0, 0, 0]
    }
    /// The last of a request's body that went on behind its response: it has gone, or nothing takes
    /// it.
    pub(crate) fn released(number: u32) -> Entry {
        [13, number, 0, 0, 0, 0, 0, 0]
    }
    /// The process stays, or no longer stays, for the last bytes of a request's body, of which
    /// JavaScript has no more, behind its response.
    /// - `holds`: 1: it stays; 0: it may end as far as this body is concerned.
    pub(crate) fn hold(number: u32, holds: u32) -> Entry {
        [14, number, 0, 0, 0, holds, 0, 0]
    }
    /// A request at a server. The text is method, path, authority, scheme and protocol with a zero
    /// between two, where they are not all that the client sent, or in another order than method,
    /// authority, scheme and path, a zero and a letter for each pseudo-header field, then a line
    /// feed, the name, a zero and the value of each field; last, behind an empty name and a zero,
    /// the names as HTTP/1.1 spelled them, with a comma between two.
    /// - `serial`: The number of the exchange.
    /// - `connection`: The connection's number.
    /// - `lengths`: The lengths of method, path and authority in 6, 16 and 10 bits; 0 where they do
    ///   not fit.
    /// - `stream`: The stream's id.
    pub(crate) fn request(
        number: u32,
        serial: u32,
        connection: u32,
        lengths: u32,
        stream: u32,
    ) -> Entry {
        [16, number, serial, 0, 0, connection, lengths, stream]
    }
    /// A piece of a request's body: the text, or outside of the arena.
    /// - `body`: Where it lies outside of the arena.
    pub(crate) fn upload(number: u32, body: u32) -> Entry {
        [17, number, 0, 0, 0, body, 0, 0]
    }
    /// The trailers of a request, which end it.
    pub(crate) fn trailers(number: u32) -> Entry {
        [18, number, 0, 0, 0, 0, 0, 0]
    }
    /// The connection took bytes of a response's body.
    /// - `bytes`: How many.
    pub(crate) fn response_room(number: u32, bytes: u32) -> Entry {
        [19, number, bytes, 0, 0, 0, 0, 0]
    }
    /// A server's exchange is over.
    /// - `error_code`: RFC 9113 section 7; 0: in order.
    /// - `by_peer`: 1: the peer ended it.
    /// - `timeline`: The number of its timeline; 0: it has none.
    pub(crate) fn closed(number: u32, error_code: u32, by_peer: u32, timeline: u32) -> Entry {
        [20, number, error_code, 0, 0, by_peer, timeline, 0]
    }
    /// A server has a connection; the text is its addresses and what TLS agreed on.
    /// - `server`: The server's number.
    /// - `version`: One of `http_version`.
    /// - `stream`: The stream of JavaScript's that carries it; 0: none.
    pub(crate) fn connected(number: u32, server: u32, version: u32, stream: u32) -> Entry {
        [21, number, server, 0, 0, 0, version, stream]
    }
    /// A server's connection is closed.
    /// - `server`: The server's number.
    pub(crate) fn disconnected(number: u32, server: u32) -> Entry {
        [22, number, server, 0, 0, 0, 0, 0]
    }
    /// The server with this number has ended.
    pub(crate) fn server_ended(number: u32) -> Entry {
        [23, number, 0, 0, 0, 0, 0, 0]
    }
    /// The peer of a connection answered a PING; the text is its eight bytes.
    /// - `micros`: Microseconds from the PING to its answer.
    pub(crate) fn pong(number: u32, micros: u32) -> Entry {
        [24, number, 0, 0, 0, micros, 0, 0]
    }
    /// The file of a response cannot be sent and nothing was; the text is the error's code, a zero,
    /// and why.
    /// - `serial`: The number of the exchange.
    pub(crate) fn file_failed(number: u32, serial: u32) -> Entry {
        [25, number, serial, 0, 0, 0, 0, 0]
    }
    /// SETTINGS of the peer of a connection; the text is its values with a space between two.
    pub(crate) fn settings_received(number: u32) -> Entry {
        [26, number, 0, 0, 0, 0, 0, 0]
    }
    /// The peer of a connection has applied the oldest of our SETTINGS that it had not.
    /// - `micros`: Microseconds from the SETTINGS to their acknowledgement.
    pub(crate) fn settings_acknowledged(number: u32, micros: u32) -> Entry {
        [27, number, 0, 0, 0, micros, 0, 0]
    }
    /// PING of the peer of a connection; the text is its eight bytes.
    pub(crate) fn ping(number: u32) -> Entry {
        [28, number, 0, 0, 0, 0, 0, 0]
    }
    /// GOAWAY of the peer of a connection; the text is its debug data.
    /// - `error_code`: RFC 9113 section 7.
    /// - `last_stream`: The last stream that the peer serves.
    pub(crate) fn goaway(number: u32, error_code: u32, last_stream: u32) -> Entry {
        [29, number, error_code, 0, 0, last_stream, 0, 0]
    }
    /// A connection whose client named no protocol in its TLS handshake; its bytes are the bodies
    /// of an exchange.
    /// - `serial`: The number of the exchange.
    /// - `connection`: The connection's number.
    pub(crate) fn unnegotiated(number: u32, serial: u32, connection: u32) -> Entry {
        [30, number, serial, 0, 0, connection, 0, 0]
    }
    /// A handshake with the server of this number failed; the text is the addresses, a zero, why, a
    /// zero, and the fault of a certificate that is not accepted, as a connection has it.
    /// - `failure`: Which; see `handshake_failure`.
    /// - `alert`: The alert, or the ticket of a refusal of JavaScript's.
    pub(crate) fn handshake_failed(number: u32, failure: u32, alert: u32) -> Entry {
        [31, number, failure, 0, 0, alert, 0, 0]
    }
    /// A secret of a TLS session of the server with this number; the text is the addresses, a zero,
    /// and the line.
    pub(crate) fn secret(number: u32) -> Entry {
        [32, number, 0, 0, 0, 0, 0, 0]
    }
    /// The client of an exchange has ended its side of its HTTP/1.1 connection.
    pub(crate) fn half_closed(number: u32) -> Entry {
        [33, number, 0, 0, 0, 0, 0, 0]
    }
    /// A ClientHello has come to the server of this number, and JavaScript chooses what its
    /// handshake goes on with; the text is JSON.
    /// - `ticket`: The number of the choice.
    pub(crate) fn client_hello(number: u32, ticket: u32) -> Entry {
        [34, number, ticket, 0, 0, 0, 0, 0]
    }
    /// A client sent a request that HTTP/1.1 does not allow, and its answer is written in bytes;
    /// the text is the code of llhttp, a zero, and the packet.
    /// - `serial`: The number of the exchange.
    /// - `connection`: The connection's number.
    /// - `status`: The status that says what is wrong; 0: none.
    /// - `parsed`: Bytes of whole messages at the front of the packet.
    pub(crate) fn malformed(
        number: u32,
        serial: u32,
        connection: u32,
        status: u32,
        parsed: u32,
    ) -> Entry {
        [35, number, serial, 0, 0, connection, status, parsed]
    }
    /// A connection ends because its peer broke a rule; the text is the code of llhttp.
    /// - `error`: The error's number in nghttp2, without its sign.
    pub(crate) fn violation(number: u32, error: u32) -> Entry {
        [36, number, error, 0, 0, 0, 0, 0]
    }
    /// Another process serves on the sockets of the server with this number, which accepts no more.
    pub(crate) fn handed_over(number: u32) -> Entry {
        [37, number, 0, 0, 0, 0, 0, 0]
    }
    /// A process that was to take the place of the server with this number does not serve; the text
    /// is why.
    pub(crate) fn successor_failed(number: u32) -> Entry {
        [38, number, 0, 0, 0, 0, 0, 0]
    }
    /// The text came behind the next request of this connection, which asks to leave HTTP/1.1; it
    /// comes again as the first bytes of the connection that left.
    pub(crate) fn upgrade_head(number: u32) -> Entry {
        [39, number, 0, 0, 0, 0, 0, 0]
    }
    /// Connections that begin are to be served by a second worker of the server with this number,
    /// on the thread of an engine.
    pub(crate) fn overloaded(number: u32) -> Entry {
        [40, number, 0, 0, 0, 0, 0, 0]
    }
    /// The transport of a server's connection failed; the text is the code of node:net.
    pub(crate) fn transport_failed(number: u32) -> Entry {
        [41, number, 0, 0, 0, 0, 0, 0]
    }
    /// Bytes for a stream of JavaScript's: the text, or outside of the arena.
    /// - `body`: Where they lie outside of the arena.
    pub(crate) fn stream_write(number: u32, body: u32) -> Entry {
        [64, number, 0, 0, 0, body, 0, 0]
    }
    /// The engine has read bytes of a stream.
    /// - `bytes`: How many.
    pub(crate) fn stream_taken(number: u32, bytes: u32) -> Entry {
        [65, number, bytes, 0, 0, 0, 0, 0]
    }
    /// The engine writes nothing more to a stream.
    pub(crate) fn stream_finish(number: u32) -> Entry {
        [66, number, 0, 0, 0, 0, 0, 0]
    }
    /// The engine has let go of a stream.
    pub(crate) fn stream_dropped(number: u32) -> Entry {
        [67, number, 0, 0, 0, 0, 0, 0]
    }
    /// The engine has done everything before a `mark`.
    pub(crate) fn rested(number: u32) -> Entry {
        [68, number, 0, 0, 0, 0, 0, 0]
    }
}
