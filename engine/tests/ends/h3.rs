//! Frames of HTTP/3 and of QUIC by hand, and the ends that they make.

use super::quic::{IDLE, PATIENCE, Quic};
use quinn_proto::{Dir, StreamId, VarInt, coding::Codec};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const DATA: u64 = 0;
pub(crate) const HEADERS: u64 = 1;
pub(crate) const SETTINGS: u64 = 4;
pub(crate) const GOAWAY: u64 = 7;
pub(crate) const REQUEST_REJECTED: u64 = 0x10b;
/// `H3_NO_ERROR`.
const NO_ERROR: u64 = 0x100;

/// Every code of RFC 9114 section 8.1 and RFC 9204 section 8.3, one of HTTP/2, and one that no
/// specification has.
pub(crate) fn codes() -> impl Iterator<Item = u64> {
    (0x100..=0x110).chain(0x200..=0x202).chain([7, 0x3fff])
}

/// A code for each kind of rule, where each code of its own costs a connection.
pub(crate) const SOME_CODES: [u64; 6] = [NO_ERROR, 0x102, REQUEST_REJECTED, 0x10c, 0x110, 0x3fff];

/// NO_ERROR, INTERNAL_ERROR, CONNECTION_REFUSED, PROTOCOL_VIOLATION, APPLICATION_ERROR (RFC 9000
/// section 20.1) and an alert of TLS.
pub(crate) const TRANSPORT_CODES: [u64; 6] = [0, 1, 2, 0xa, 0xc, 0x150];

pub(crate) fn varint(value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    VarInt::from_u64(value).unwrap().encode(&mut bytes);
    bytes
}

fn varints(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|&value| varint(value)).collect()
}

/// One frame of HTTP/3.
pub(crate) fn frame(kind: u64, payload: &[u8]) -> Vec<u8> {
    [varints(&[kind, payload.len() as u64]), payload.to_vec()].concat()
}

/// A section of fields in lines that need no dynamic table (RFC 9204 section 4.5).
pub(crate) fn section(lines: &[&[u8]]) -> Vec<u8> {
    [&[0, 0], lines.concat().as_slice()].concat()
}

/// `x-sum: 1`, by a literal name.
pub(crate) const TRAILER: &[u8] = b"\x25x-sum\x011";
/// `content-length: 5`, by the name of the static table.
pub(crate) const LENGTH: &[u8] = b"\x54\x015";

/// The bytes of one side on the stream of a request before the end.
pub(crate) struct Script {
    pub(crate) place: &'static str,
    pub(crate) sent: Vec<u8>,
    /// The part of it that is body.
    pub(crate) body: &'static str,
    /// The message is complete, and its stream ends in order.
    pub(crate) is_whole: bool,
}

/// The places where an end comes: the columns of the tables.
pub(crate) const PLACES: usize = 11;

/// The places of the tables, for a message whose head has these lines.
pub(crate) fn scripts(lines: &[u8]) -> [Script; PLACES] {
    let head = frame(HEADERS, &section(&[lines]));
    let counted = frame(HEADERS, &section(&[lines, LENGTH]));
    let data = |text: &str| frame(DATA, text.as_bytes());
    let trailers = frame(HEADERS, &section(&[TRAILER]));
    let script = |place, parts: &[&[u8]], body| Script {
        place,
        sent: parts.concat(),
        body,
        is_whole: place == "behind the message",
    };
    [
        script("before the head", &[], ""),
        script("inside the head", &[&head[..head.len() - 1]], ""),
        script("behind the head", &[&head], ""),
        script("behind a DATA frame", &[&head, &data("hel")], "hel"),
        script("in a DATA frame", &[&head, &data("hello")[..5]], "hel"),
        script("short of content-length", &[&counted, &data("hel")], "hel"),
        script("at content-length", &[&counted, &data("hello")], "hello"),
        script(
            "in the trailers",
            &[&head, &data("hel"), &trailers[..trailers.len() - 1]],
            "hel",
        ),
        script(
            "behind the trailers",
            &[&head, &data("hel"), &trailers],
            "hel",
        ),
        script(
            "in a frame of an unknown type",
            &[&head, &data("hel"), &[0x21, 5, 1]],
            "hel",
        ),
        script("behind the message", &[&head, &data("hello")], "hello"),
    ]
}

/// How an exchange ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The stream ends in order.
    Fin,
    /// RESET_STREAM with this code.
    Reset(u64),
    /// STOP_SENDING with this code, then a FIN.
    Stop(u64),
    /// STOP_SENDING with this code, and nothing behind it.
    StopAlone(u64),
    /// CONNECTION_CLOSE of HTTP/3.
    Close(u64),
    /// CONNECTION_CLOSE of QUIC.
    TransportClose(u64),
    /// GOAWAY with this id, then CONNECTION_CLOSE with `H3_NO_ERROR`.
    Goaway(u64),
    /// GOAWAY with this id on a connection that stays open; a stream below it ends in order.
    GoawayAlone(u64),
    /// The bytes, then STOP_SENDING with this code, then a FIN.
    StopBehind(u64),
    /// STOP_SENDING and RESET_STREAM with this code.
    Abort(u64),
    /// A second SETTINGS frame, which costs the connection (RFC 9114 section 7.2.4).
    Malformed,
    /// A stateless reset.
    StatelessReset,
    /// No packet any more.
    Silence,
}

impl End {
    /// The idle timeout of a connection that ends so. A peer that is gone without a word is seen by it; for any other it is longer than a
    /// busy machine stands still.
    pub(crate) fn idle(self) -> Duration {
        match self {
            Self::Silence | Self::StatelessReset => IDLE,
            _ => PATIENCE,
        }
    }
}

/// The connections and requests that a scripted server has seen.
#[derive(Default)]
pub(crate) struct Seen {
    /// Our control stream by connection.
    pub(crate) controls: BTreeMap<usize, StreamId>,
    /// The requests that were handled.
    pub(crate) requests: Vec<(usize, StreamId)>,
}

impl Seen {
    /// Moves `quic` on and opens a control stream on each new connection; the requests that are not
    /// among those that were handled.
    pub(crate) fn turn(&mut self, quic: &mut Quic) -> Vec<(usize, StreamId)> {
        quic.turn();
        for connection in quic.connections() {
            self.controls
                .entry(connection)
                .or_insert_with(|| open_control(quic, connection));
        }
        let mut requests = quic.requests();
        requests.retain(|request| !self.requests.contains(request));
        requests
    }
}

/// A control stream with empty SETTINGS, on which more can be written.
pub(crate) fn open_control(quic: &mut Quic, connection: usize) -> StreamId {
    let control = quic.open(connection, Dir::Uni);
    let bytes = [varint(0), frame(SETTINGS, &[])].concat();
    quic.write(connection, control, &bytes, false);
    control
}

/// Sends a script and its end: the bytes of the stream in one packet and the end in the next, or
/// both in one where `is_together`.
pub(crate) fn play(
    quic: &mut Quic,
    connection: usize,
    (stream, control): (StreamId, StreamId),
    script: &Script,
    end: End,
    is_together: bool,
) {
    let (id, length) = (u64::from(VarInt::from(stream)), script.sent.len() as u64);
    let is_fin = script.is_whole || matches!(end, End::Fin | End::Stop(_));
    // STREAM with an offset, a length and FIN: nothing but the end in order.
    let in_order = || varints(&[0x0f, id, length, 0]);
    // STREAM with a length and perhaps FIN (RFC 9000 section 19.8).
    let kind = 0x0a | u64::from(is_fin);
    let stream = [varints(&[kind, id, length]), script.sent.clone()].concat();
    let ending = match end {
        End::Reset(code) => varints(&[0x04, id, code, length]),
        End::Stop(code) | End::StopAlone(code) | End::StopBehind(code) => {
            varints(&[0x05, id, code])
        }
        End::Abort(code) => [
            varints(&[0x05, id, code]),
            varints(&[0x04, id, code, length]),
        ]
        .concat(),
        End::Close(code) => varints(&[0x1d, code, 0]),
        End::TransportClose(code) => varints(&[0x1c, code, 0, 0]),
        End::Goaway(_) => varints(&[0x1d, NO_ERROR, 0]),
        _ => Vec::new(),
    };
    if let End::Stop(_) = end {
        // The answer ends in order behind it.
        quic.send_packet(connection, &[ending, stream].concat());
        return;
    }
    if is_together && !ending.is_empty() && !matches!(end, End::Goaway(_)) {
        quic.send_packet(connection, &[stream, ending].concat());
        return;
    }
    if is_fin || length > 0 {
        quic.send_packet(connection, &stream);
    }
    match end {
        End::GoawayAlone(last) => {
            quic.write(connection, control, &frame(GOAWAY, &varint(last)), false);
            // A server names a stream of the client; a client names a push.
            if quic.is_client() || id < last {
                quic.send_packet(connection, &in_order());
            }
        }
        End::Malformed => quic.write(connection, control, &frame(SETTINGS, &[]), false),
        End::Goaway(last) => {
            let goaway = frame(GOAWAY, &varint(last));
            quic.write(connection, control, &goaway, false);
        }
        End::StatelessReset => quic.forget_all(),
        End::Silence => quic.fall_silent(connection),
        _ => {}
    }
    if !ending.is_empty() {
        quic.send_packet(connection, &ending);
    }
    if let End::StopBehind(_) = end {
        quic.send_packet(connection, &in_order());
    }
}
