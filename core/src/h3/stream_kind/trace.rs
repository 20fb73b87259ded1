//! Describes the frames of an HTTP/3 connection from the bytes of its streams in both directions.
//!
//! Field sections are decoded by decoders of its own, one for each direction, which follow the encoder streams. A
//! section that comes before the insertions it needs is described when they have come.

use super::wire;
use crate::h3::frame::kind;
use crate::h3::settings::id;
use crate::http::trace::{Contents, Direction, TRACED_BYTES_MAX, TraceEvent, TracedFrame};
use crate::http::{Fields, StreamId};
use crate::limits::Limits;
use crate::qpack::{DecodedSection, Decoder};
use crate::wire::{TypeLength, varint};
use std::collections::BTreeMap;

/// The most streams that are followed, of each type and direction. Beyond, the oldest is followed no more: it was
/// reset without the log knowing, or stands still while thousands begin.
const STREAMS_MAX: usize = 4096;

/// The reader of all streams.
#[derive(Debug)]
pub struct Http3Trace {
    requests: BTreeMap<(u64, Direction), TracedStream>,
    unis: BTreeMap<(u64, Direction), TracedUni>,
    sent: Sections,
    received: Sections,
    limits: Limits,
    fields: Fields,
}

/// The field sections of one direction.
#[derive(Debug)]
struct Sections {
    /// `None`: one could not be read, and what follows it may not be either.
    decoder: Option<Decoder>,
    /// Streams and lengths of the sections that wait for insertions.
    waiting: Vec<(u64, u64)>,
}

/// One direction of a unidirectional stream.
#[derive(Debug, Default)]
struct TracedUni {
    /// The start of its type.
    head: Vec<u8>,
    kind: Option<u64>,
    frames: TracedStream,
}

/// One direction of a stream of frames.
#[derive(Debug, Default)]
struct TracedStream {
    header: TypeLength,
    /// Type and length of the frame under way.
    frame: Option<(u64, u64)>,
    left: u64,
    /// The payload, of other frames than DATA.
    payload: Vec<u8>,
}

impl Default for Http3Trace {
    fn default() -> Self {
        Self {
            requests: BTreeMap::new(),
            unis: BTreeMap::new(),
            sent: Sections::new(),
            received: Sections::new(),
            limits: Limits::default(),
            fields: Fields::new(),
        }
    }
}

impl Http3Trace {
    /// Describes the frames that end in the next `bytes` of a direction of a stream; those of DATA where they begin.
    /// `fin`: the direction ends with them.
    pub fn read(
        &mut self,
        direction: Direction,
        stream: StreamId,
        bytes: &[u8],
        fin: bool,
        sink: &mut dyn FnMut(TraceEvent<'_>),
    ) {
        let key = (stream.0, direction);
        // RFC 9000 section 2.1.
        if stream.0 & 2 != 0 {
            bounded(&mut self.unis);
            let mut reader = self.unis.remove(&key).unwrap_or_default();
            self.read_uni(&mut reader, key, bytes, sink);
            self.unis.insert(key, reader);
        } else {
            bounded(&mut self.requests);
            let mut reader = self.requests.remove(&key).unwrap_or_default();
            let mut rest = bytes;
            while let Some((kind, bytes)) = reader.next_frame(&mut rest) {
                self.describe(key, kind, bytes, &reader.payload, sink);
                reader.payload.clear();
            }
            if !fin {
                self.requests.insert(key, reader);
            }
        }
    }
    fn read_uni(
        &mut self,
        reader: &mut TracedUni,
        key @ (stream, direction): (u64, Direction),
        mut bytes: &[u8],
        sink: &mut dyn FnMut(TraceEvent<'_>),
    ) {
        while reader.kind.is_none() {
            let Some((&first, rest)) = bytes.split_first() else {
                return;
            };
            bytes = rest;
            reader.head.push(first);
            if let Some((kind, _)) = varint::take(&reader.head) {
                reader.kind = Some(kind);
                sink(TraceEvent::StreamType {
                    direction,
                    stream,
                    kind,
                });
            }
        }
        match reader.kind {
            Some(wire::CONTROL) => {
                while let Some((kind, length)) = reader.frames.next_frame(&mut bytes) {
                    let payload = std::mem::take(&mut reader.frames.payload);
                    self.describe(key, kind, length, &payload, sink);
                }
            }
            Some(wire::QPACK_ENCODER) => {
                let sections = self.sections(direction);
                sections.insert(bytes);
                self.describe_unblocked(direction, sink);
            }
            _ => {}
        }
    }
    fn sections(&mut self, direction: Direction) -> &mut Sections {
        match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        }
    }
    fn describe(
        &mut self,
        (stream, direction): (u64, Direction),
        kind: u64,
        bytes: u64,
        payload: &[u8],
        sink: &mut dyn FnMut(TraceEvent<'_>),
    ) {
        let number = || varint::take(payload).map_or(0, |(number, _)| number);
        let values;
        let contents = match kind {
            kind::DATA => Contents::Data,
            kind::HEADERS => {
                let sections = match direction {
                    Direction::Sent => &mut self.sent,
                    Direction::Received => &mut self.received,
                };
                match sections.decode(stream, bytes, payload, &self.limits, &mut self.fields) {
                    Section::Read => Contents::Headers(Some(&self.fields)),
                    Section::Unreadable => Contents::Headers(None),
                    Section::Waits => return,
                }
            }
            kind::CANCEL_PUSH => Contents::CancelPush { id: number() },
            kind::SETTINGS => {
                values = pairs(payload);
                self.bound_table_of_peer(direction, &values);
                Contents::Settings {
                    ack: false,
                    values: &values,
                }
            }
            kind::PUSH_PROMISE => Contents::PushPromise,
            kind::GOAWAY => Contents::Goaway {
                id: number(),
                code: None,
            },
            kind::MAX_PUSH_ID => Contents::MaxPushId { id: number() },
            kind::PRIORITY_UPDATE_REQUEST | kind::PRIORITY_UPDATE_PUSH => {
                Contents::PriorityUpdate {
                    id: number(),
                    value: varint::take(payload).map_or(&[], |(_, used)| &payload[used..]),
                }
            }
            // RFC 9114 section 7.2.8.
            _ if kind >= kind::RESERVED && (kind - kind::RESERVED).is_multiple_of(0x1f) => {
                Contents::Reserved
            }
            _ => Contents::Unknown { kind },
        };
        sink(TraceEvent::Frame(TracedFrame {
            direction,
            stream,
            bytes,
            ends: false,
            contents,
        }));
    }
    /// The settings of a side bound the table of what the other one sends (RFC 9204 section 5).
    fn bound_table_of_peer(&mut self, from: Direction, values: &[(u64, u64)]) {
        let of = |id| {
            let value = values.iter().find(|(setting, _)| *setting == id);
            value.map_or(0, |&(_, value)| {
                usize::try_from(value).unwrap_or(usize::MAX)
            })
        };
        let table = of(id::QPACK_MAX_TABLE_CAPACITY).min(TRACED_BYTES_MAX);
        // More may wait here than the peer allows: streams are looked at one after another.
        let sections = match from {
            Direction::Sent => &mut self.received,
            Direction::Received => &mut self.sent,
        };
        sections.decoder = Some(Decoder::new(table, STREAMS_MAX));
    }
    fn describe_unblocked(&mut self, direction: Direction, sink: &mut dyn FnMut(TraceEvent<'_>)) {
        let sections = match direction {
            Direction::Sent => &mut self.sent,
            Direction::Received => &mut self.received,
        };
        while let Some((stream, bytes, is_read)) =
            sections.next_unblocked(&self.limits, &mut self.fields)
        {
            sink(TraceEvent::Frame(TracedFrame {
                direction,
                stream,
                bytes,
                ends: false,
                contents: Contents::Headers(is_read.then_some(&self.fields)),
            }));
        }
    }
}

/// Makes room for one more.
fn bounded<T>(streams: &mut BTreeMap<(u64, Direction), T>) {
    if streams.len() >= STREAMS_MAX {
        streams.pop_first();
    }
}

/// Identifiers and values of SETTINGS (RFC 9114 section 7.2.4).
fn pairs(mut payload: &[u8]) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    while let Some((id, used)) = varint::take(payload) {
        let Some((value, more)) = varint::take(&payload[used..]) else {
            break;
        };
        pairs.push((id, value));
        payload = &payload[used + more..];
    }
    pairs
}

/// The outcome of a section.
enum Section {
    Read,
    /// Its insertions are on their way.
    Waits,
    Unreadable,
}

impl Sections {
    fn new() -> Self {
        Self {
            decoder: Some(Decoder::new(0, 0)),
            waiting: Vec::new(),
        }
    }
    fn insert(&mut self, bytes: &[u8]) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        if decoder.handle_encoder_bytes(bytes).is_err() {
            self.decoder = None;
        }
        self.drop_feedback();
    }
    /// Acknowledgements are the machine's to send.
    fn drop_feedback(&mut self) {
        if let Some(decoder) = &mut self.decoder {
            decoder.decoder_stream_bytes(&mut Vec::new());
        }
    }
    fn decode(
        &mut self,
        stream: u64,
        bytes: u64,
        section: &[u8],
        limits: &Limits,
        fields: &mut Fields,
    ) -> Section {
        let Some(decoder) = self
            .decoder
            .as_mut()
            .filter(|_| section.len() as u64 == bytes)
        else {
            return Section::Unreadable;
        };
        let decoded = decoder.decode(StreamId(stream), section, limits, fields);
        self.drop_feedback();
        match decoded {
            Ok(DecodedSection::Complete) => Section::Read,
            Ok(DecodedSection::Refused(_)) => Section::Unreadable,
            Ok(DecodedSection::Blocked) => {
                self.waiting.push((stream, bytes));
                Section::Waits
            }
            Err(_) => {
                self.decoder = None;
                Section::Unreadable
            }
        }
    }
    /// The next section whose insertions have come: its stream and length, and whether `fields` are its fields. Where
    /// the decoder has failed, those that waited, without fields.
    fn next_unblocked(&mut self, limits: &Limits, fields: &mut Fields) -> Option<(u64, u64, bool)> {
        if self.waiting.is_empty() {
            return None;
        }
        let unblocked = match self.decoder.as_mut() {
            Some(decoder) => decoder.poll_unblocked(limits, fields),
            None => Ok(None),
        };
        self.drop_feedback();
        match unblocked {
            Ok(Some((stream, decoded))) => {
                let at = self
                    .waiting
                    .iter()
                    .position(|(waits, _)| *waits == stream.0)?;
                let (stream, bytes) = self.waiting.remove(at);
                Some((stream, bytes, decoded == DecodedSection::Complete))
            }
            Ok(None) if self.decoder.is_some() => None,
            _ => {
                self.decoder = None;
                let (stream, bytes) = self.waiting.remove(0);
                Some((stream, bytes, false))
            }
        }
    }
}

impl TracedStream {
    /// Takes bytes up to the end of a frame, or of the header of DATA, and gives its type and length; `None`: more are
    /// needed.
    fn next_frame(&mut self, bytes: &mut &[u8]) -> Option<(u64, u64)> {
        loop {
            let Some((kind, length)) = self.frame else {
                let frame @ (kind, length) = self.header.next(bytes)?;
                self.frame = Some(frame);
                self.left = length;
                if kind == kind::DATA {
                    return Some(frame);
                }
                continue;
            };
            let count =
                usize::try_from(self.left).map_or(bytes.len(), |left| left.min(bytes.len()));
            let (payload, rest) = bytes.split_at(count);
            let room = TRACED_BYTES_MAX - self.payload.len();
            if kind != kind::DATA {
                self.payload.extend_from_slice(&payload[..count.min(room)]);
            }
            self.left -= count as u64;
            *bytes = rest;
            if self.left > 0 {
                return None;
            }
            self.frame = None;
            if kind != kind::DATA {
                return Some((kind, length));
            }
        }
    }
}

#[cfg(test)]
#[path = "trace_test.rs"]
mod trace_test;
