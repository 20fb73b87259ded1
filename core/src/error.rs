//! Failures as values: a peer's [`Violation`], a caller's [`Misuse`], and why a connection ended
//! ([`Closed`]). No strings on the hot path.

use std::fmt;

/// How much a violation breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The connection cannot go on: compression or framing state may be lost.
    Connection,
    /// Only this stream is malformed; the others go on (RFC 9113 section 5.4.2).
    Stream,
}

/// Error codes of HTTP/2 (RFC 9113 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct H2Code(pub u32);

#[allow(missing_docs, reason = "the names are those of RFC 9113 section 7")]
impl H2Code {
    pub const NO_ERROR: Self = Self(0x0);
    pub const PROTOCOL_ERROR: Self = Self(0x1);
    pub const INTERNAL_ERROR: Self = Self(0x2);
    pub const FLOW_CONTROL_ERROR: Self = Self(0x3);
    pub const SETTINGS_TIMEOUT: Self = Self(0x4);
    pub const STREAM_CLOSED: Self = Self(0x5);
    pub const FRAME_SIZE_ERROR: Self = Self(0x6);
    pub const REFUSED_STREAM: Self = Self(0x7);
    pub const CANCEL: Self = Self(0x8);
    pub const COMPRESSION_ERROR: Self = Self(0x9);
    pub const CONNECT_ERROR: Self = Self(0xa);
    pub const ENHANCE_YOUR_CALM: Self = Self(0xb);
    pub const INADEQUATE_SECURITY: Self = Self(0xc);
    pub const HTTP_1_1_REQUIRED: Self = Self(0xd);
}

/// Error codes of HTTP/3 (RFC 9114 section 8.1), QPACK (RFC 9204 section 8.3) and HTTP datagrams
/// (RFC 9297 section 5.2). A rule that only HTTP/1.1 or HTTP/2 has carries the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct H3Code(pub u64);

#[allow(
    missing_docs,
    reason = "the names are those of RFC 9114 section 8.1, less their H3 prefix"
)]
impl H3Code {
    pub const DATAGRAM_ERROR: Self = Self(0x33);
    pub const NO_ERROR: Self = Self(0x100);
    pub const GENERAL_PROTOCOL_ERROR: Self = Self(0x101);
    pub const INTERNAL_ERROR: Self = Self(0x102);
    pub const STREAM_CREATION_ERROR: Self = Self(0x103);
    pub const CLOSED_CRITICAL_STREAM: Self = Self(0x104);
    pub const FRAME_UNEXPECTED: Self = Self(0x105);
    pub const FRAME_ERROR: Self = Self(0x106);
    pub const EXCESSIVE_LOAD: Self = Self(0x107);
    pub const ID_ERROR: Self = Self(0x108);
    pub const SETTINGS_ERROR: Self = Self(0x109);
    pub const MISSING_SETTINGS: Self = Self(0x10a);
    pub const REQUEST_REJECTED: Self = Self(0x10b);
    pub const REQUEST_CANCELLED: Self = Self(0x10c);
    pub const REQUEST_INCOMPLETE: Self = Self(0x10d);
    pub const MESSAGE_ERROR: Self = Self(0x10e);
    pub const CONNECT_ERROR: Self = Self(0x10f);
    pub const VERSION_FALLBACK: Self = Self(0x110);
    pub const QPACK_DECOMPRESSION_FAILED: Self = Self(0x200);
    pub const QPACK_ENCODER_STREAM_ERROR: Self = Self(0x201);
    pub const QPACK_DECODER_STREAM_ERROR: Self = Self(0x202);
}

impl H3Code {
    /// The code that HTTP/3 sends for a code of the machine's owner, who uses HTTP/2's for every
    /// version.
    pub fn of_h2(code: H2Code) -> Self {
        match code {
            H2Code::NO_ERROR => Self::NO_ERROR,
            H2Code::INTERNAL_ERROR => Self::INTERNAL_ERROR,
            H2Code::SETTINGS_TIMEOUT => Self::MISSING_SETTINGS,
            H2Code::FRAME_SIZE_ERROR => Self::FRAME_ERROR,
            H2Code::REFUSED_STREAM => Self::REQUEST_REJECTED,
            H2Code::CANCEL => Self::REQUEST_CANCELLED,
            H2Code::COMPRESSION_ERROR => Self::QPACK_DECOMPRESSION_FAILED,
            H2Code::CONNECT_ERROR => Self::CONNECT_ERROR,
            H2Code::ENHANCE_YOUR_CALM => Self::EXCESSIVE_LOAD,
            H2Code::HTTP_1_1_REQUIRED => Self::VERSION_FALLBACK,
            _ => Self::GENERAL_PROTOCOL_ERROR,
        }
    }
    /// The code that the owner of a machine receives for this code of the peer. RFC 9114 section 8:
    /// an unknown code counts as H3_NO_ERROR.
    pub fn as_h2(self) -> H2Code {
        match self {
            Self::INTERNAL_ERROR => H2Code::INTERNAL_ERROR,
            Self::FRAME_ERROR => H2Code::FRAME_SIZE_ERROR,
            Self::EXCESSIVE_LOAD => H2Code::ENHANCE_YOUR_CALM,
            Self::REQUEST_REJECTED => H2Code::REFUSED_STREAM,
            Self::REQUEST_CANCELLED => H2Code::CANCEL,
            Self::CONNECT_ERROR => H2Code::CONNECT_ERROR,
            Self::VERSION_FALLBACK => H2Code::HTTP_1_1_REQUIRED,
            Self::QPACK_DECOMPRESSION_FAILED
            | Self::QPACK_ENCODER_STREAM_ERROR
            | Self::QPACK_DECODER_STREAM_ERROR => H2Code::COMPRESSION_ERROR,
            Self::DATAGRAM_ERROR => H2Code::PROTOCOL_ERROR,
            Self(0x101..=0x10e) => H2Code::PROTOCOL_ERROR,
            _ => H2Code::NO_ERROR,
        }
    }
}

/// One row per rule a peer can break: name, scope, HTTP/2 code, HTTP/3 code, HTTP/1 status (0:
/// close without an answer), and the sentence for people. The whole table is one test.
macro_rules! violations {
    ($($(#[$doc:meta])* $name:ident => $scope:ident, $code:ident, $h3:ident, $status:literal, $text:literal;)*) => {
        /// A rule that the peer broke.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Violation { $($(#[$doc])* #[doc = $text] $name,)* }

        impl Violation {
            /// Every variant, for tables and metrics.
            pub const ALL: &'static [Violation] = &[$(Violation::$name,)*];
            /// Whether the connection or only the stream ends.
            pub fn scope(self) -> Scope { match self { $(Self::$name => Scope::$scope,)* } }
            /// The code that HTTP/2 sends for it.
            pub fn h2_code(self) -> H2Code { match self { $(Self::$name => H2Code::$code,)* } }
            /// The code that HTTP/3 sends for it.
            pub fn h3_code(self) -> H3Code { match self { $(Self::$name => H3Code::$h3,)* } }
            /// The status that an HTTP/1.1 server answers with before it closes; 0 means none.
            pub fn h1_status(self) -> u16 { match self { $(Self::$name => $status,)* } }
            /// A stable name for metrics and logs.
            pub fn name(self) -> &'static str { match self { $(Self::$name => stringify!($name),)* } }
            /// The rule in words.
            pub fn text(self) -> &'static str { match self { $(Self::$name => $text,)* } }
        }
    };
}

violations! {
    // Messages, all versions (RFC 9110; RFC 9113 section 8.1.1: malformed is a stream error).
    FieldNameInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a field name is empty or has a character that is not a lower-case token character";
    FieldValueInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a field value has CR, LF, NUL or another control character, or space at an end";
    FieldsTooMany => Stream, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 431, "more fields than field_count_max, cookie crumbs included";
    FieldSectionTooLarge => Stream, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 431, "the field section is larger than field_section_bytes_max";
    CallMetadataTooLarge => Stream, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "the metadata of a gRPC call are more than field_count_max or field_section_bytes_max";
    PseudoFieldUnknown => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a pseudo-field that this message does not have";
    PseudoFieldRepeated => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a pseudo-field came twice";
    PseudoFieldLate => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a pseudo-field after a regular field";
    PseudoFieldMissing => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a required pseudo-field is missing";
    PseudoFieldInTrailers => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a pseudo-field in a trailer section";
    MethodInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "the method is not a token";
    PathInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "the path is empty or has a character that a path cannot have";
    SchemeInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "the scheme is not a URI scheme";
    AuthorityInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "the authority is not a host with an optional port";
    AuthorityConflict => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "host and :authority differ";
    HostMissing => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "an HTTP/1.1 request without exactly one host field";
    ConnectMalformed => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a CONNECT request with the wrong pseudo-fields";
    StatusInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 0, "the status is not three digits from 100 to 999, or not one that may come here";
    ConnectionFieldForbidden => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a connection-specific field in HTTP/2 or HTTP/3";
    TeForbidden => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "te with another value than trailers";
    ContentLengthInvalid => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "content-length is not one decimal number";
    ContentLengthConflict => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "content-length fields that differ, or content-length beside transfer-encoding";
    ContentLengthMismatch => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "the body is not as long as content-length says";
    TrailerForbidden => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 400, "a field in trailers that frames or routes the message";
    HeadersOnTunnel => Stream, PROTOCOL_ERROR, FRAME_UNEXPECTED, 400, "a header section on a tunnel, which carries bytes only";
    TrailersWithoutEnd => Stream, PROTOCOL_ERROR, FRAME_UNEXPECTED, 400, "a trailer section that does not end the stream";
    SwitchUnexpected => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 0, "101 to a request that has not asked for another protocol, or is not complete, or without the fields of a switch (RFC 9110 sections 7.8 and 15.2.2)";
    InterimWithEnd => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 0, "a 1xx response that ends the stream";
    SwitchingProtocolsForbidden => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 0, "101 does not exist in HTTP/2 (RFC 9113 section 8.6)";
    InterimTooMany => Stream, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more interim responses than interim_responses_max";

    // HTTP/1.1 framing (RFC 9112).
    HeadInvalid => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 400, "the request or status line or a field line cannot be parsed";
    TlsInCleartext => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 400, "TLS came where HTTP in cleartext was expected: such a peer wants an https:// URL";
    HeadTooLarge => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 431, "the head is larger than head_bytes_max";
    TargetTooLong => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 414, "the request target is longer than target_bytes_max";
    VersionUnsupported => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 505, "an HTTP version other than 1.0 and 1.1";
    TransferEncodingUnsupported => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 501, "a transfer coding other than chunked";
    TransferEncodingInvalid => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 400, "transfer-encoding where chunked is not the last coding, or in HTTP/1.0";
    ChunkInvalid => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 400, "a chunk size or chunk end cannot be parsed";
    ChunkExtensionTooLarge => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 400, "chunk extensions are larger than chunk_extension_bytes_max";
    ExpectationUnknown => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 417, "an expectation other than 100-continue";
    ResponseUnexpected => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "response bytes without an outstanding request";
    BodyTruncated => Connection, PROTOCOL_ERROR, REQUEST_INCOMPLETE, 0, "the connection closed before the body was complete";

    // HTTP/2 framing (RFC 9113 sections 4 to 6).
    PrefaceInvalid => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "the connection preface is not the one of RFC 9113 section 3.4";
    FrameTooLarge => Connection, FRAME_SIZE_ERROR, FRAME_ERROR, 0, "a frame larger than SETTINGS_MAX_FRAME_SIZE";
    FrameSizeInvalid => Connection, FRAME_SIZE_ERROR, FRAME_ERROR, 0, "a frame whose length its type does not allow";
    FrameSizeInvalidOnStream => Stream, FRAME_SIZE_ERROR, FRAME_ERROR, 0, "a PRIORITY frame that is not 5 bytes long";
    FrameOnWrongStream => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "a stream frame on stream 0 or a connection frame on a stream";
    PaddingTooLong => Connection, PROTOCOL_ERROR, FRAME_ERROR, 0, "padding as long as the frame or longer";
    StreamIdInvalid => Connection, PROTOCOL_ERROR, ID_ERROR, 0, "a stream id of the wrong side, or one that does not increase";
    DataBeforeHead => Stream, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "DATA before the response head";
    StreamIdle => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a frame on a stream that was never opened";
    StreamClosedByEnd => Connection, STREAM_CLOSED, FRAME_UNEXPECTED, 0, "a frame on a stream that the peer has ended";
    StreamHalfClosed => Stream, STREAM_CLOSED, FRAME_UNEXPECTED, 0, "DATA or HEADERS after END_STREAM";
    StreamClosedByReset => Stream, STREAM_CLOSED, GENERAL_PROTOCOL_ERROR, 0, "a frame on a stream that the peer has reset";
    StreamsTooMany => Stream, REFUSED_STREAM, REQUEST_REJECTED, 0, "more concurrent streams than SETTINGS_MAX_CONCURRENT_STREAMS";
    DependsOnItself => Stream, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a stream that depends on itself";
    ContinuationExpected => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "another frame inside a header block";
    ContinuationUnexpected => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "CONTINUATION without a header block";
    ContinuationsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more CONTINUATION frames than continuations_max";
    HeaderBlockTooLarge => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "a header block far larger than header_block_bytes_max on the wire";
    CompressionInvalid => Connection, COMPRESSION_ERROR, QPACK_DECOMPRESSION_FAILED, 0, "a header block that does not decode";
    SettingInvalid => Connection, PROTOCOL_ERROR, SETTINGS_ERROR, 0, "a setting out of its range";
    InitialWindowInvalid => Connection, FLOW_CONTROL_ERROR, SETTINGS_ERROR, 0, "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1";
    SettingsAckUnexpected => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "a SETTINGS acknowledgement for nothing";
    PingAckUnexpected => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "a PING acknowledgement for nothing, where the owner wants frames";
    SettingsTimeout => Connection, SETTINGS_TIMEOUT, MISSING_SETTINGS, 0, "SETTINGS not acknowledged in time";
    PushForbidden => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "PUSH_PROMISE though push is off, or from a client";
    WindowIncrementZero => Stream, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a WINDOW_UPDATE of zero on a stream";
    ConnectionWindowIncrementZero => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a WINDOW_UPDATE of zero on the connection";
    WindowOverflow => Stream, FLOW_CONTROL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a stream window above 2^31-1";
    ConnectionWindowOverflow => Connection, FLOW_CONTROL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a connection window above 2^31-1";
    CreditExceeded => Stream, FLOW_CONTROL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "more DATA than the stream window allowed";
    ConnectionCreditExceeded => Connection, FLOW_CONTROL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "more DATA than the connection window allowed";
    GoawayIdIncreased => Connection, PROTOCOL_ERROR, ID_ERROR, 0, "a GOAWAY whose last stream id is higher than the one before";
    PriorityUpdateInvalid => Connection, PROTOCOL_ERROR, GENERAL_PROTOCOL_ERROR, 0, "a PRIORITY_UPDATE that RFC 9218 does not allow";

    // QPACK (RFC 9204 section 8.3).
    QpackDecompressionFailed => Connection, COMPRESSION_ERROR, QPACK_DECOMPRESSION_FAILED, 0, "an encoded field section that does not decode, or that blocks one stream too many";
    QpackEncoderStreamInvalid => Connection, COMPRESSION_ERROR, QPACK_ENCODER_STREAM_ERROR, 0, "an instruction on the QPACK encoder stream that does not decode or that breaks the table";
    QpackDecoderStreamInvalid => Connection, COMPRESSION_ERROR, QPACK_DECODER_STREAM_ERROR, 0, "an instruction on the QPACK decoder stream that does not decode or that acknowledges what was not sent";
    QpackBlockedTooLarge => Stream, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 431, "field sections that wait for the QPACK table hold more than QPACK_BLOCKED_BYTES_MAX";

    // HTTP/3 streams and frames (RFC 9114 sections 4, 6 and 7).
    FrameUnexpected => Connection, PROTOCOL_ERROR, FRAME_UNEXPECTED, 0, "a frame that may not come here, or not in this order";
    FrameTruncated => Connection, FRAME_SIZE_ERROR, FRAME_ERROR, 0, "a stream that ended in the middle of a frame";
    FrameMalformed => Connection, FRAME_SIZE_ERROR, FRAME_ERROR, 0, "a frame that is shorter or longer than its fields";
    ControlFrameTooLarge => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "a frame on the control stream that is larger than CONTROL_FRAME_BYTES_MAX";
    StreamTypeRepeated => Connection, PROTOCOL_ERROR, STREAM_CREATION_ERROR, 0, "a second control or QPACK stream";
    StreamTypeForbidden => Connection, PROTOCOL_ERROR, STREAM_CREATION_ERROR, 0, "a stream that this side may not open: a push stream of a client, a request stream of a server";
    CriticalStreamClosed => Connection, PROTOCOL_ERROR, CLOSED_CRITICAL_STREAM, 0, "a control or QPACK stream that ended";
    SettingsMissing => Connection, PROTOCOL_ERROR, MISSING_SETTINGS, 0, "a control stream that does not begin with SETTINGS";
    PushIdInvalid => Connection, PROTOCOL_ERROR, ID_ERROR, 0, "a push id that was never offered, or a limit of them that falls";
    DatagramInvalid => Connection, PROTOCOL_ERROR, DATAGRAM_ERROR, 0, "a datagram without a valid quarter stream id";
    DatagramUnexpected => Stream, PROTOCOL_ERROR, DATAGRAM_ERROR, 0, "a datagram about a request that has none: only an extended CONNECT has";
    CapsuleTruncated => Stream, PROTOCOL_ERROR, DATAGRAM_ERROR, 0, "a tunnel that ended within a capsule";
    CapsuleTooLarge => Stream, ENHANCE_YOUR_CALM, DATAGRAM_ERROR, 0, "a capsule that carries more than the reader takes";
    RequestIncomplete => Stream, PROTOCOL_ERROR, REQUEST_INCOMPLETE, 0, "a stream that ended before its request head";
    ResponseIncomplete => Stream, PROTOCOL_ERROR, MESSAGE_ERROR, 0, "a stream that ended before its final response head";
    StreamCreditExceeded => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more request streams than the stream credit";
    UniStreamsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more unidirectional streams than QUIC_UNI_STREAMS_MAX";
    CriticalStreamStalled => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more than CRITICAL_STREAM_BYTES_MAX wait for the peer to take them from a control or QPACK stream";

    // Floods (one budget each; docs/attacks.md).
    ResetsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "streams reset faster than the reset budget refills";
    GlitchesTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "the glitch budget is used up";
    EmptyFramesTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more empty frames than empty_frames_max";
    PingsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "PING or SETTINGS frames faster than their budget refills";
    WindowUpdatesTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "WINDOW_UPDATE frames out of proportion to the DATA sent";
    QueuedBytesTooMany => Stream, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "a request while more bytes of responses wait than queued_bytes_max";
    StreamErrorsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more frames that break a rule of their stream than stream_errors_max";
    RefusedStreamsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more streams refused one after the other than refused_streams_max";
    SettingsTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more settings in a frame than settings_per_frame_max";
    PriorityUpdatesTooMany => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "more PRIORITY_UPDATE frames pending than priority_updates_pending_max";

    // Timeouts: the peer was too slow (limits.rs, struct Timeouts).
    PrefaceTimeout => Connection, SETTINGS_TIMEOUT, MISSING_SETTINGS, 0, "no preface and SETTINGS in time";
    HeadTimeout => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 408, "the head did not arrive in time";
    HeaderBlockTimeout => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "the header block did not arrive in time";
    BodyTimeout => Stream, CANCEL, REQUEST_CANCELLED, 408, "no body bytes for the idle time";
    BodyTooSlow => Stream, CANCEL, REQUEST_CANCELLED, 408, "the body comes slower than the minimum rate";
    StreamStalled => Stream, CANCEL, REQUEST_CANCELLED, 0, "the peer gave no room to send for the stall time";
    WriteStalled => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "the peer read nothing for the write stall time";
    RateTooLow => Connection, ENHANCE_YOUR_CALM, EXCESSIVE_LOAD, 0, "the peer reads or writes slower than the minimum rate";
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for Violation {}

/// A call that our own side must not make; nothing was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// The stream is not open (any more), or not in a state for this call.
    StreamNotOpen,
    /// [`capacity`](crate::h2::Conn::capacity) is 0: the caller must wait.
    NoCapacity,
    /// The connection is closed or draining.
    ConnectionClosed,
    /// A head or trailers that the validator refuses.
    Invalid(Violation),
    /// The body is longer or shorter than the content-length that was sent.
    BodyLength,
    /// A receive window that would shrink, or out of 1..=2^31-1.
    WindowInvalid(WindowInvalid),
    /// This side or this version has no such command.
    WrongSide,
}

/// A receive window that was asked for and cannot be: it would shrink, or is out of 1..=2^31-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowInvalid {
    /// The requested window, bytes.
    pub asked: u32,
    /// The current window, bytes: the least that may be requested.
    pub window: u32,
}

impl fmt::Display for WindowInvalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, window } = self;
        write!(
            f,
            "receive_window is {asked}; it must be from {window} (its size now: a receive window \
             only grows) to 2147483647"
        )
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StreamNotOpen => f.write_str("the stream is not open for this call"),
            Self::NoCapacity => f.write_str("the connection takes no more exchanges now"),
            Self::ConnectionClosed => f.write_str("the connection is closed or draining"),
            Self::Invalid(violation) => write!(f, "the message is invalid: {violation}"),
            Self::BodyLength => f.write_str("the body does not match the content-length sent"),
            Self::WindowInvalid(refused) => refused.fmt(f),
            Self::WrongSide => f.write_str("this side has no such command"),
        }
    }
}

impl std::error::Error for Misuse {}

/// How the bytes of a peer ended. Only [`InOrder`](Self::InOrder) completes a body that nothing but
/// the end of its connection delimits (RFC 9112 sections 8 and 9.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportEnd {
    /// The peer ended its side: end of file in cleartext, close_notify under TLS, a stream's FIN.
    InOrder,
    /// End of file under TLS without close_notify. Any attacker on the path can cause it, so it
    /// proves nothing about the peer (RFC 8446 section 6.1).
    Ragged,
    /// An error: a reset, a record that does not decrypt, a write that failed, a deadline.
    Failed,
}

/// Which side ended a connection, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// We did, because the peer broke a rule.
    ByUs(Violation),
    /// The peer did, with a code (0: gracefully).
    ByPeer(H2Code),
    /// The transport ended below HTTP, in this way.
    Transport(TransportEnd),
    /// Nothing happened for the idle time.
    Idle,
    /// We drained it: shut down, maximum age, or maximum requests.
    Drained,
}

#[cfg(test)]
#[path = "error_test.rs"]
mod error_test;
