//! Frames as they pass on the wire, described for a log. Readers of a version's frames
//! ([`h2::frame::trace`](crate::h2::frame::trace), [`h3::stream_kind::trace`](crate::h3::stream_kind::trace)) look at the bytes beside the machine: what a
//! machine refuses is described too, and a machine without a log does no more for it.

use super::Fields;

/// The direction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// We wrote it.
    Sent,
    /// The peer did.
    Received,
}

/// A frame.
#[derive(Clone, Copy, Debug)]
pub struct TracedFrame<'a> {
    /// Its direction.
    pub direction: Direction,
    /// Its stream; 0 is HTTP/2's connection.
    pub stream: u64,
    /// Bytes of its payload.
    pub bytes: u64,
    /// It ends its stream; over HTTP/3 the transport says that.
    pub ends: bool,
    /// Its type and contents.
    pub contents: Contents<'a>,
}

/// The contents of a frame by its type.
#[derive(Clone, Copy, Debug)]
#[allow(
    missing_docs,
    reason = "the names are those of RFC 9113 section 6 and RFC 9114 section 7.2"
)]
pub enum Contents<'a> {
    Data,
    /// `None`: the block goes on in the next frame, or cannot be read.
    Headers(Option<&'a Fields>),
    /// As `Headers`.
    Continuation(Option<&'a Fields>),
    Priority,
    ResetStream {
        code: u64,
    },
    /// Identifiers and values; empty with `ack`.
    Settings {
        ack: bool,
        values: &'a [(u64, u64)],
    },
    PushPromise,
    Ping {
        ack: bool,
    },
    /// `code`: HTTP/2's.
    Goaway {
        id: u64,
        code: Option<u64>,
    },
    WindowUpdate {
        increment: u32,
    },
    CancelPush {
        id: u64,
    },
    MaxPushId {
        id: u64,
    },
    PriorityUpdate {
        id: u64,
        value: &'a [u8],
    },
    /// HTTP/3's, which mean nothing (RFC 9114 section 7.2.8).
    Reserved,
    /// A frame of another type, which is skipped.
    Unknown {
        kind: u64,
    },
}

/// An event of a connection's log.
#[derive(Clone, Copy, Debug)]
pub enum TraceEvent<'a> {
    /// A frame passed.
    Frame(TracedFrame<'a>),
    /// HTTP/3: the type of a unidirectional stream became known.
    StreamType {
        /// Whose stream it is.
        direction: Direction,
        /// Its id.
        stream: u64,
        /// Its type (RFC 9114 section 6.2).
        kind: u64,
    },
}

/// The most bytes of a frame, or of a field section in several frames, that are kept to be described: 128 KiB, twice
/// the section that we accept by default. A longer one is described without its contents.
pub const TRACED_BYTES_MAX: usize = 128 * 1024;

/// An event as text, for the tests of the readers.
#[cfg(test)]
pub(crate) fn text_of(event: TraceEvent<'_>) -> String {
    let frame = match event {
        TraceEvent::Frame(frame) => frame,
        TraceEvent::StreamType {
            direction,
            stream,
            kind,
        } => return format!("{direction:?} {stream} is of type {kind}"),
    };
    let end = if frame.ends { " end" } else { "" };
    let text = match frame.contents {
        Contents::Headers(Some(fields)) => format!("HEADERS {}", shown(fields)),
        Contents::Continuation(Some(fields)) => format!("CONTINUATION {}", shown(fields)),
        other => format!("{other:?}"),
    };
    format!(
        "{:?} {} {}: {text}{end}",
        frame.direction, frame.stream, frame.bytes
    )
}

#[cfg(test)]
fn shown(fields: &Fields) -> String {
    let field = |field: super::Field<'_>| {
        let (name, value) = (
            String::from_utf8_lossy(field.name),
            String::from_utf8_lossy(field.value),
        );
        format!("{name}={value}")
    };
    fields.iter().map(field).collect::<Vec<_>>().join(",")
}
