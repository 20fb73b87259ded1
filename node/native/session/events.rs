//! Writes the events of a machine into memory that JavaScript reads: a record of eight words each, and
//! behind all records the bytes that they name.

use super::settings::SECTION_BYTES_MAX;
use crate::channel::area::Area;
use crate::failure::nghttp2_error;
use crate::server::control::{describe, micros};
use bytes::{Buf, Bytes};
use trunkline::core::error::{Closed, H2Code};
use trunkline::core::h2::Conn;
use trunkline::core::http::{Event, Fields, Reset, ResetBy, StreamId};
use trunkline::core::limits::EXTENSION_SETTINGS_MAX;

/// Words of a record: its kind, its stream, two numbers, and where its bytes lie and how many.
const RECORD_WORDS: usize = 8;
/// Bytes in front of the first number of a record, and of the length of its text.
const FIRST_AT: usize = 2 * 4;
const LENGTH_AT: usize = 5 * 4;
/// Bytes of pieces of a body that become one: as many as the largest frame that we allow, which comes as one piece too.
const JOINED_BYTES_MAX: usize = 16 * 1024;
/// Records of one batch.
const RECORDS_MAX: usize = 256;
/// Bytes in front of the text.
const RECORDS_BYTES: usize = RECORDS_MAX * RECORD_WORDS * 4;
/// Bytes of the area: a batch holds a largest section, with a zero behind each name and value, and
/// more.
pub(super) const AREA_BYTES: usize = RECORDS_BYTES + 2 * SECTION_BYTES_MAX;

/// The kinds of records; `node/src/http2/client/machines.ts` has the same.
mod kind {
    pub(super) const HEAD: u32 = 1;
    pub(super) const BODY: u32 = 2;
    pub(super) const TRAILERS: u32 = 3;
    pub(super) const RESET: u32 = 4;
    pub(super) const SEND_READY: u32 = 5;
    pub(super) const GOAWAY: u32 = 6;
    pub(super) const PONG: u32 = 7;
    pub(super) const PING: u32 = 8;
    pub(super) const SETTINGS: u32 = 9;
    pub(super) const SETTINGS_ACKNOWLEDGED: u32 = 10;
    pub(super) const ORIGINS: u32 = 11;
    pub(super) const ALT_SVC: u32 = 12;
    pub(super) const CLOSED: u32 = 13;
    pub(super) const CAPACITY: u32 = 14;
}

/// Flags of a head.
const END: u32 = 1;
const INTERIM: u32 = 2;
/// Flag of a section: behind its text stand the names of fields that no compressor may keep, and a line feed.
const SENSITIVE: u32 = 4;
/// How a connection ended, or which side ended a stream.
const BY_TRANSPORT: u32 = 0;
const BY_US: u32 = 1;
const BY_PEER: u32 = 2;
const DRAINED: u32 = 3;

/// One batch that is being written.
pub(super) struct Batch<'a> {
    area: &'a Area,
    records: usize,
    at: usize,
    /// The last record, where it is a piece of a body that does not end its stream: the stream and the bytes.
    piece: Option<(StreamId, usize)>,
    /// Some of the records are bytes of a body.
    has_body: bool,
}

/// The contents of a batch.
pub(super) struct Filled {
    pub(super) records: u32,
    /// The next event is an end that cuts bodies short, and bytes of a body are in this batch: their readers get a turn
    /// of the event loop first, as with node:http2, which calls back once per frame.
    pub(super) waits_for_readers: bool,
}

impl<'a> Batch<'a> {
    /// JavaScript has read the last one.
    pub(super) fn new(area: &'a Area) -> Self {
        Self {
            area,
            records: 0,
            at: RECORDS_BYTES,
            piece: None,
            has_body: false,
        }
    }

    /// Writes events until there are none, the batch is full, or readers are to read first; `waiting` keeps one that was
    /// not written.
    pub(super) fn fill(mut self, conn: &mut Conn, waiting: &mut Option<Event>) -> Filled {
        let mut waits_for_readers = false;
        while self.records < RECORDS_MAX {
            let Some(event) = waiting.take().or_else(|| conn.poll_event()) else {
                break;
            };
            waits_for_readers = self.has_body && cuts_bodies(&event);
            if waits_for_readers {
                *waiting = Some(event);
                break;
            }
            if let Some(rest) = self.write(conn, event) {
                *waiting = Some(rest);
                break;
            }
        }
        Filled {
            records: self.records as u32,
            waits_for_readers,
        }
    }

    fn left(&self) -> usize {
        self.area.len() - self.at
    }

    fn record(&mut self, words: [u32; 4], text: &[u8]) {
        let all = [
            words[0],
            words[1],
            words[2],
            words[3],
            self.at as u32,
            text.len() as u32,
            0,
            0,
        ];
        let mut bytes = [0; RECORD_WORDS * 4];
        for (to, word) in bytes.chunks_exact_mut(4).zip(all) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        // SAFETY: the records lie in front of the text, whose room was looked at; JavaScript reads only
        // between two batches, on this thread.
        unsafe {
            self.area.write(self.records * RECORD_WORDS * 4, &bytes);
            self.area.write(self.at, text);
        }
        self.at += text.len();
        self.records += 1;
        self.piece = None;
    }

    /// Adds a small piece of a body to the record of the piece before it, so that a stream of short frames is not one buffer
    /// and one call each. False: it needs a record of its own.
    fn join(&mut self, stream: StreamId, data: &[u8], end: bool) -> bool {
        let Some((before, length)) = self.piece else {
            return false;
        };
        let joined = length + data.len();
        if before != stream || joined > JOINED_BYTES_MAX || self.left() < data.len() {
            return false;
        }
        let record = (self.records - 1) * RECORD_WORDS * 4;
        // SAFETY: as in `record`; the bytes of the last record end at `at`.
        unsafe {
            self.area.write(self.at, data);
            self.area
                .write(record + LENGTH_AT, &(joined as u32).to_ne_bytes());
            self.area
                .write(record + FIRST_AT, &u32::from(end).to_ne_bytes());
        }
        self.at += data.len();
        self.piece = (!end).then_some((stream, joined));
        true
    }

    fn section(&mut self, mut words: [u32; 4], section: &Fields) {
        let hidden: Vec<&[u8]> = section
            .iter()
            .filter(|field| field.sensitive)
            .map(|field| field.name)
            .collect();
        if hidden.is_empty() {
            return self.record(words, &text_of(section));
        }
        words[3] |= SENSITIVE;
        self.record(words, &text_of(section));
        let mut names = hidden.join(&0);
        names.push(b'\n');
        // SAFETY: as in `record`; the names are a part of the room that the section has.
        unsafe { self.area.write(self.at, &names) };
        self.at += names.len();
    }

    /// An event without room comes back, and is first in the next batch.
    fn write(&mut self, conn: &mut Conn, event: Event) -> Option<Event> {
        match event {
            Event::ResponseReceived { stream, head, end } => {
                if self.left() < room_of(head.section()) {
                    return Some(Event::ResponseReceived { stream, head, end });
                }
                let words = [
                    kind::HEAD,
                    id(stream),
                    u32::from(head.status),
                    u32::from(end) * END,
                ];
                self.section(words, head.section());
                conn.recycle(head.into_fields());
            }
            Event::InterimReceived { stream, head } => {
                if self.left() < room_of(head.section()) {
                    return Some(Event::InterimReceived { stream, head });
                }
                self.section(
                    [kind::HEAD, id(stream), u32::from(head.status), INTERIM],
                    head.section(),
                );
                conn.recycle(head.into_fields());
            }
            Event::TrailersReceived { stream, trailers } => {
                if self.left() < room_of(&trailers) {
                    return Some(Event::TrailersReceived { stream, trailers });
                }
                self.section([kind::TRAILERS, id(stream), 0, 0], &trailers);
                conn.recycle(trailers);
            }
            Event::BodyReceived { stream, data, end } => return self.body(stream, data, end),
            Event::GoingAway { code, last, debug } => {
                if self.left() < debug.len() {
                    return Some(Event::GoingAway { code, last, debug });
                }
                self.record([kind::GOAWAY, 0, code.0, last.0 as u32], &debug);
            }
            Event::OriginsReceived { origins } => {
                let text = origins.join(&b"\0"[..]);
                if self.left() < text.len() {
                    return Some(Event::OriginsReceived { origins });
                }
                self.record([kind::ORIGINS, 0, origins.len() as u32, 0], &text);
            }
            Event::AltSvcReceived {
                stream,
                origin,
                value,
            } => {
                let text = [&origin[..], &value[..]].join(&b"\0"[..]);
                if self.left() < text.len() {
                    return Some(Event::AltSvcReceived {
                        stream,
                        origin,
                        value,
                    });
                }
                self.record([kind::ALT_SVC, id(stream), 0, 0], &text);
            }
            short if self.left() < SHORT_BYTES_MAX => return Some(short),
            short => self.short(conn, short),
        }
        None
    }

    /// As much of a body as there is room for.
    fn body(&mut self, stream: StreamId, mut data: Bytes, end: bool) -> Option<Event> {
        if self.join(stream, &data, end) {
            return None;
        }
        let length = data.len().min(self.left());
        let is_whole = length == data.len();
        self.has_body |= length > 0;
        if length > 0 || is_whole {
            let words = [kind::BODY, id(stream), u32::from(end && is_whole), 0];
            self.record(words, &data[..length]);
            self.piece = (is_whole && !end).then_some((stream, length));
        }
        data.advance(length);
        (!is_whole).then_some(Event::BodyReceived { stream, data, end })
    }

    /// Events of a few bytes.
    fn short(&mut self, conn: &mut Conn, event: Event) {
        match event {
            // With the connection: the session's end has the reason, and ends each of its streams with it.
            Event::StreamReset {
                reset:
                    Reset {
                        by: ResetBy::Connection(_) | ResetBy::EarlyDataRejected,
                        ..
                    },
                ..
            } => {}
            Event::StreamReset { stream, reset } => self.reset(stream, reset),
            Event::SendReady { stream } => {
                let room = conn.send_room(stream) as u32;
                self.record([kind::SEND_READY, id(stream), room, 0], &[]);
            }
            Event::PongReceived { opaque, round_trip } => {
                self.record([kind::PONG, 0, micros(round_trip), 0], &opaque);
            }
            Event::PingReceived { opaque } => self.record([kind::PING, 0, 0, 0], &opaque),
            Event::SettingsReceived { extensions } => {
                let text = describe(&conn.reported_settings(), &extensions);
                self.record([kind::SETTINGS, 0, 0, 0], text.as_bytes());
            }
            Event::SettingsAcknowledged { round_trip } => {
                self.record([kind::SETTINGS_ACKNOWLEDGED, 0, micros(round_trip), 0], &[]);
            }
            Event::Closed(closed) => {
                let (by, number) = closed_by(closed);
                self.record([kind::CLOSED, 0, by, number], &[]);
            }
            Event::CapacityChanged => self.record([kind::CAPACITY, 0, conn.capacity(), 0], &[]),
            // A server's, or other versions'.
            _ => {}
        }
    }

    fn reset(&mut self, stream: StreamId, reset: Reset) {
        let (code, by) = match reset.by {
            ResetBy::Us(violation) => (violation.h2_code(), BY_US),
            // RFC 9113 section 8.7: above the last stream of a GOAWAY.
            ResetBy::Peer(_) if reset.unprocessed => (H2Code::REFUSED_STREAM, BY_PEER),
            ResetBy::Peer(code) => (code, BY_PEER),
            ResetBy::Connection(_) | ResetBy::EarlyDataRejected => (H2Code::CANCEL, BY_TRANSPORT),
        };
        self.record([kind::RESET, id(stream), code.0, by], &[]);
    }
}

/// Whether bodies end with it before their time, with what their readers have not read yet.
fn cuts_bodies(event: &Event) -> bool {
    match event {
        Event::StreamReset { .. } | Event::Closed(_) => true,
        Event::GoingAway { code, .. } => *code != H2Code::NO_ERROR,
        _ => false,
    }
}

/// Bytes that every short event has room in: seven numbers of settings, and identifier and value of each extension's, at most ten digits
/// and a space each.
const SHORT_BYTES_MAX: usize = 11 * (7 + 2 * EXTENSION_SETTINGS_MAX);

/// Streams of HTTP/2 are below 2^31.
fn id(stream: StreamId) -> u32 {
    stream.0 as u32
}

fn closed_by(closed: Closed) -> (u32, u32) {
    match closed {
        Closed::ByUs(violation) => (BY_US, nghttp2_error(violation)),
        Closed::ByPeer(code) => (BY_PEER, code.0),
        Closed::Transport(_) | Closed::Idle => (BY_TRANSPORT, 0),
        Closed::Drained => (DRAINED, 0),
    }
}

/// Bytes of a section's text at most, and of the names behind it: each field counts for 32 beside its name
/// and value.
fn room_of(section: &Fields) -> usize {
    2 * section.size()
}

/// Names and values by turns, pseudo-fields included, with a zero between two. No valid field holds a
/// zero.
fn text_of(section: &Fields) -> Vec<u8> {
    let mut text = Vec::with_capacity(section.size());
    for field in section.iter() {
        if !text.is_empty() {
            text.push(0);
        }
        text.extend_from_slice(field.name);
        text.push(0);
        text.extend_from_slice(field.value);
    }
    text
}
