//! What is asked of this environment's servers: connections and requests become completions, and
//! JavaScript's submissions become the engine's orders. All of it on the engine's thread.
//!
//! An exchange goes by a number that is used again, and a serial that tells the exchanges of one
//! number apart: a submission for an exchange that is over finds another serial and is forgotten.

use crate::broken;
use crate::environment::Shared;
use crate::exchange::{BY_REFERENCE, LAST, with_text};
use crate::failure;
use crate::files::{self, Asked, FileAnswer, Way};
use crate::ring::{BY_REFERENCE_BYTES_MIN, Entry};
use crate::said;
use crate::told::{described, digits, kind_of, lengths, places, write_head};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Instant;
use trunkline::ConnectionInfo;
use trunkline::core::error::{H2Code, Violation};
use trunkline::core::h2::Accounts;
use trunkline::core::http::{Fields, Refused, RequestHead, Version};
use trunkline::server::{
    Answer, Attendant, Ended, Given, HandshakeFailure, Heard, Line, Pause, Place,
};

/// What happened: the first word of a completion. `node/src/server/border.ts` has the same
/// numbers; the client's are below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// A request: words 2 its serial, 5 the connection, 6 the lengths of the first
    /// three parts (see [`lengths`]), 7 the stream. The text is
    /// method, path, authority, scheme and protocol with a zero between two, then a line feed, the
    /// name, a zero and the value of each field; last, behind an empty name and a zero, the names as
    /// HTTP/1.1 spelled them, with a comma between two.
    Request = 16,
    /// A piece of a request's body.
    Data = 17,
    /// The trailers of a request, which end it.
    Trailers = 18,
    /// Word 2: bytes of the answer's body that the connection took.
    Room = 19,
    /// The exchange is over: words 2 the code, 5 whether it was the peer who ended it.
    Closed = 20,
    /// A connection: words 2 its server, 6 the version, 7 the stream of JavaScript's that it is over (0: none).
    Connected = 21,
    /// It is closed.
    Disconnected = 22,
    /// A server has ended.
    Ended = 23,
    /// The peer of a connection answered a ping with these eight bytes; word 5: microseconds.
    Pong = 24,
    /// The file of an answer cannot be sent, and nothing was: its code, a zero, and why.
    FileFailed = 25,
    /// The settings of a connection's peer, with a space between two.
    SettingsReceived = 26,
    /// It has applied the oldest of ours that it had not; word 5: microseconds.
    SettingsAcknowledged = 27,
    /// It asked whether we live, with these eight bytes.
    Pinged = 28,
    /// It opens no more exchanges: words 2 the code, 5 the last stream; the text is its own.
    Goaway = 29,
    /// A connection whose client did not say what it speaks: words 2 the serial, 5 the connection. Its
    /// bytes are the bodies of the exchange.
    Stranger = 30,
    /// A handshake failed, word 1 is the server: where from, then a zero and why; word 2: which kind
    /// of failure, word 5: the alert.
    HandshakeFailed = 31,
    /// A secret of a TLS session, word 1 is the server: where from, then a zero and the line.
    Secret = 32,
    /// The client of an exchange has ended its side of its connection (HTTP/1.1): it waits for the
    /// answer, or is gone.
    HalfClosed = 33,
    /// A client has said whom it asks for, and JavaScript chooses what its handshake goes on with: words 1
    /// the server, 2 the ticket; the text is JSON (see `choices.rs`).
    Hello = 34,
    /// A client broke HTTP/1.1 with a request, and its answer is written in bytes: words 1 the number, 2
    /// the serial, 5 the connection, 6 the status that says what was wrong (0: none), 7 the bytes of
    /// whole messages at the front of the packet; the text is the code of llhttp, a zero and the packet.
    Refused = 35,
    /// A connection ends because its peer broke a rule: words 1 the connection, 2 the error's number of
    /// nghttp2; the text is the code of llhttp.
    Broken = 36,
}

/// The request's body is to come, or was not the last piece.
const MORE: u32 = 1 << 10;
/// The request is one of HTTP/1.0.
const HTTP10: u32 = 1 << 11;

/// What is submitted; the client's are below them. Words 1 and 2 are the exchange's number and
/// serial.
/// Word 7: so many bytes at the front of the text are the reason phrase.
pub(crate) const ANSWER: u32 = 16;
/// A 1xx; word 6 its status.
const INFORM: u32 = 17;
/// A piece of an answer's body.
const SEND: u32 = 18;
/// The end of an answer's body: a text of trailers.
const FINISH: u32 = 19;
/// Word 6: the code.
const RESET: u32 = 20;
/// Word 6: bytes of the request's body that were taken.
const TAKE: u32 = 21;
/// Word 1: a connection that is to end when its exchanges have.
const SHUT_DOWN: u32 = 22;
/// Words 1 and 6: a connection that is to end at once, and the code.
const ABORT: u32 = 23;
/// Words 1 and 2: a connection whose peer is told something of it, and what; see [`said`].
const SAY: u32 = 24;

/// Nobody reads the rest of the request.
const DECLINE: u32 = 25;

/// How a body comes: the second byte, as the client's.
const BODY_INLINE: u32 = 1;
const BODY_PUT: u32 = 2;
const BODY_STREAMING: u32 = 3;
/// A file: behind the head stands which ([`Asked::read`]), word 5 how long that text is.
const BODY_FILE: u32 = 4;

/// The last piece.
const END: u32 = 1 << 16;
/// Nobody waits for the exchange's end.
const QUIET: u32 = 1 << 17;
/// No date is added.
const NO_DATE: u32 = 1 << 18;
/// No content-length is added.
const NO_LENGTH: u32 = 1 << 19;

/// The bytes of the arena that belong to a submission: the text's, then the body's.
pub(crate) fn range(entry: &Entry) -> Option<(u32, u32)> {
    let inline = matches!(entry[0] >> 8 & 0xff, BODY_INLINE | BODY_FILE);
    match entry[0] & 0xff {
        ANSWER if inline => Some((entry[3], entry[4].saturating_add(entry[5]))),
        SEND if inline => Some((entry[3], entry[4])),
        ANSWER | INFORM | FINISH | SAY if entry[4] > 0 => Some((entry[3], entry[4])),
        _ => None,
    }
}

/// Everything that is open on this environment's servers.
pub(crate) struct Desk {
    shared: Arc<Shared>,
    exchanges: RefCell<Exchanges>,
    lines: RefCell<HashMap<u32, Line>>,
    connections: Cell<u32>,
}

#[derive(Default)]
struct Exchanges {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Where the texts of heads are made.
    text: Vec<u8>,
}

impl Exchanges {
    /// The number and the serial of a new one.
    fn begin(&mut self, line: &Line, place: Place) -> (u32, u32) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                serial: 0,
                open: None,
                way: None,
            });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[number as usize];
        slot.serial = slot.serial.wrapping_add(1);
        slot.open = Some((line.clone(), place));
        (number, slot.serial)
    }
}

struct Slot {
    serial: u32,
    open: Option<(Line, Place)>,
    /// Of an answer whose body is a file.
    way: Option<Rc<Way>>,
}

impl Desk {
    pub(crate) fn new(shared: &Arc<Shared>) -> Rc<Self> {
        Rc::new(Self {
            shared: Arc::clone(shared),
            exchanges: RefCell::default(),
            lines: RefCell::default(),
            connections: Cell::new(0),
        })
    }
    /// The number and the serial of a new exchange.
    fn begin(&self, line: &Line, place: Place) -> (u32, u32) {
        self.exchanges.borrow_mut().begin(line, place)
    }
    /// Carries out a submission.
    pub(crate) fn carry_out(&self, now: Instant, entry: &Entry, bytes: &[u8]) {
        let verb = entry[0] & 0xff;
        debug_assert!((ANSWER..=DECLINE).contains(&verb), "no verb is {verb}");
        match verb {
            SHUT_DOWN => return self.with_line(entry[1], Line::shut_down),
            SAY => {
                return self.with_line(entry[1], |line| {
                    if let Some(what) = said::read(entry, bytes) {
                        line.say(what);
                    }
                });
            }
            ABORT => return self.with_line(entry[1], |line| line.abort(H2Code(entry[6]))),
            _ => {}
        }
        let exchanges = self.exchanges.borrow();
        let slot = exchanges.slots.get(entry[1] as usize);
        let Some((line, place)) = slot
            .filter(|slot| slot.serial == entry[2])
            .and_then(|slot| slot.open.as_ref())
        else {
            return self.forget(entry);
        };
        let place = *place;
        match verb {
            ANSWER if entry[0] >> 8 & 0xff == BODY_FILE => {
                let line = line.clone();
                drop(exchanges);
                self.answer_file(line, place, entry, bytes);
            }
            ANSWER => self.answer(now, line, place, entry, bytes),
            INFORM => {
                // JavaScript looks at heads itself; what it let through and is refused here is
                // not sent, and the answer still comes.
                let _ = line.inform(now, place, entry[6] as u16, bytes);
            }
            SEND => {
                let data = match entry[0] >> 8 & 0xff {
                    BODY_PUT => self.shared.take_put(entry[5]),
                    _ => Bytes::copy_from_slice(bytes),
                };
                line.send(place, data, entry[0] & END != 0);
            }
            FINISH => line.finish(place, bytes),
            RESET => line.reset(place, H2Code(entry[6])),
            TAKE => line.take(place, entry[6] as usize),
            DECLINE => line.decline(place),
            _ => {}
        }
    }
    fn answer(&self, now: Instant, line: &Line, place: Place, entry: &Entry, bytes: &[u8]) {
        let (head, inline) = bytes.split_at((entry[4] as usize).min(bytes.len()));
        let (reason, fields) = head.split_at((entry[7] as usize).min(head.len()));
        let body = match entry[0] >> 8 & 0xff {
            BODY_INLINE => Given::Whole(Bytes::copy_from_slice(inline)),
            BODY_PUT => Given::Whole(self.shared.take_put(entry[5])),
            BODY_STREAMING => Given::Streaming,
            _ => Given::Nothing,
        };
        let answer = Answer {
            status: entry[6] as u16,
            reason,
            fields,
            body,
            date: entry[0] & NO_DATE == 0,
            length: entry[0] & NO_LENGTH == 0,
            quiet: entry[0] & QUIET != 0,
        };
        line.answer(now, place, answer);
    }
    fn answer_file(&self, line: Line, place: Place, entry: &Entry, bytes: &[u8]) {
        let (fields, asked) = bytes.split_at((entry[4] as usize).min(bytes.len()));
        let Some(asked) = Asked::read(asked) else {
            debug_assert!(false, "the text does not say which file");
            return;
        };
        let way = Rc::<Way>::default();
        if let Some(slot) = self.exchanges.borrow_mut().slots.get_mut(entry[1] as usize) {
            slot.way = Some(Rc::clone(&way));
        }
        let answer = FileAnswer {
            line,
            place,
            status: entry[6] as u16,
            fields: fields.to_vec(),
            date: entry[0] & NO_DATE == 0,
            asked,
            way: Rc::clone(&way),
        };
        let (shared, number, serial) = (Arc::clone(&self.shared), entry[1], entry[2]);
        let failed = move |error: &io::Error| {
            let code = failure::code_of(error.kind()).unwrap_or("EIO");
            let entry = [Kind::FileFailed as u32, number, serial, 0, 0, 0, 0, 0];
            shared.complete(entry, format!("{code}\0{error}").as_bytes(), &[]);
        };
        tokio::task::spawn_local(files::send(answer, failed));
    }
    /// Nobody gets it: bytes that were put somewhere are given back.
    fn forget(&self, entry: &Entry) {
        if matches!(entry[0] & 0xff, ANSWER | SEND) && entry[0] >> 8 & 0xff == BODY_PUT {
            drop(self.shared.take_put(entry[5]));
        }
    }
    /// Shows the accounts of a connection; `seen` is dropped where there are none.
    pub(crate) fn glance(&self, connection: u32, seen: SyncSender<Accounts>) {
        self.with_line(connection, |line| {
            line.glance(move |accounts| {
                // Nobody may wait any more.
                let _ = seen.try_send(accounts);
            });
        });
    }
    fn with_line(&self, connection: u32, order: impl FnOnce(&Line)) {
        if let Some(line) = self.lines.borrow().get(&connection) {
            order(line);
        }
    }
}

/// One server of the environment, as the engine sees whoever answers.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) desk: Rc<Desk>,
    pub(crate) number: u32,
}

/// A connection by its number.
pub(crate) struct Connection {
    number: u32,
    line: Line,
}

impl Attendant for Server {
    type Connection = Connection;
    type Exchange = u32;

    fn pause(&self) -> Option<Pause> {
        Shared::pause(&self.desk.shared)
    }
    fn connected(&self, line: Line, version: Version, info: Option<&ConnectionInfo>) -> Connection {
        self.meet(line, digits(version), info)
    }
    fn stranger(
        &self,
        line: Line,
        place: Place,
        info: Option<&ConnectionInfo>,
    ) -> Option<(Connection, u32)> {
        let connection = self.meet(line, 0, info);
        let (number, serial) = self.desk.begin(&connection.line, place);
        let kind = Kind::Stranger as u32;
        let entry = [kind, number, serial, 0, 0, connection.number, 0, 0];
        self.desk.shared.complete(entry, &[], &[]);
        Some((connection, number))
    }
    fn handshake_failed(
        &self,
        addresses: Option<(SocketAddr, SocketAddr)>,
        why: &HandshakeFailure,
    ) {
        let (which, alert) = kind_of(why);
        let (kind, server) = (Kind::HandshakeFailed as u32, self.number);
        let entry = [kind, server, which, 0, 0, alert, 0, 0];
        let text = format!("{}\0{why}", places(addresses));
        self.desk.shared.complete(entry, text.as_bytes(), &[]);
    }
    fn requested(
        &self,
        connection: &Connection,
        place: Place,
        head: &RequestHead,
        end: bool,
    ) -> u32 {
        let exchanges = &mut *self.desk.exchanges.borrow_mut();
        let (number, serial) = exchanges.begin(&connection.line, place);
        write_head(&mut exchanges.text, head);
        let more = if end { 0 } else { MORE };
        let entry = [
            Kind::Request as u32 | more | if place.is_http10() { HTTP10 } else { 0 },
            number,
            serial,
            0,
            0,
            connection.number,
            lengths(head),
            // A connection's streams never get as far as 2^32.
            place.stream().0 as u32,
        ];
        self.desk.shared.complete(entry, &exchanges.text, &[]);
        number
    }
    fn body(&self, exchange: &u32, data: Bytes, end: bool) {
        let more = if end { 0 } else { MORE };
        let mut entry = [Kind::Data as u32 | more, *exchange, 0, 0, 0, 0, 0, 0];
        if data.len() >= BY_REFERENCE_BYTES_MIN {
            entry[0] |= BY_REFERENCE;
            entry[5] = self.desk.shared.put(data);
            self.desk.shared.complete(entry, &[], &[]);
        } else {
            self.desk.shared.complete(entry, &data, &[]);
        }
    }
    fn trailers(&self, exchange: &u32, trailers: &Fields) {
        let entry = [Kind::Trailers as u32, *exchange, 0, 0, 0, 0, 0, 0];
        with_text(trailers.iter(), |text| {
            self.desk.shared.complete(entry, text, &[]);
        });
    }
    fn half_closed(&self, exchange: &u32) {
        let entry = [Kind::HalfClosed as u32, *exchange, 0, 0, 0, 0, 0, 0];
        self.desk.shared.complete(entry, &[], &[]);
    }
    fn room(&self, exchange: &u32, bytes: usize) {
        let exchanges = self.desk.exchanges.borrow();
        let way = &exchanges.slots[*exchange as usize].way;
        if way.as_ref().is_some_and(|way| way.took(bytes)) {
            return;
        }
        let entry = [Kind::Room as u32, *exchange, bytes as u32, 0, 0, 0, 0, 0];
        self.desk.shared.complete(entry, &[], &[]);
    }
    fn ended(&self, exchange: u32, how: Ended) {
        let exchanges = &mut *self.desk.exchanges.borrow_mut();
        let slot = &mut exchanges.slots[exchange as usize];
        slot.open = None;
        if let Some(way) = slot.way.take() {
            way.end();
        }
        exchanges.free.push(exchange);
        let (code, by_peer) = match how {
            Ended::Quiet => return,
            Ended::Whole => (H2Code(0), false),
            Ended::Reset { code, by_peer } => (code, by_peer),
        };
        let kind = Kind::Closed as u32 | LAST;
        let entry = [kind, exchange, code.0, 0, 0, u32::from(by_peer), 0, 0];
        self.desk.shared.complete(entry, &[], &[]);
    }
    fn refused(&self, connection: &Connection, place: Place, refused: &Refused) -> Option<u32> {
        let (number, serial) = self.desk.begin(&connection.line, place);
        let status = u32::from(refused.violation.h1_status());
        // A packet is a read and the rest of a head, far below 2^32.
        let (kind, parsed) = (Kind::Refused as u32, refused.parsed as u32);
        let entry = [
            kind,
            number,
            serial,
            0,
            0,
            connection.number,
            status,
            parsed,
        ];
        let code = broken::llhttp_code(refused);
        let text = [code.as_bytes(), &[0], &refused.packet].concat();
        self.desk.shared.complete(entry, &text, &[]);
        Some(number)
    }
    fn broken(&self, connection: &Connection, violation: Violation) {
        let (kind, number) = (Kind::Broken as u32, connection.number);
        let error = broken::nghttp2_error(violation).unsigned_abs();
        let entry = [kind, number, error, 0, 0, 0, 0, 0];
        let code = broken::llhttp_code_of(violation).as_bytes();
        self.desk.shared.complete(entry, code, &[]);
    }
    fn heard(&self, connection: &Connection, heard: Heard) {
        said::tell(&self.desk.shared, connection.number, &heard);
    }
    fn disconnected(&self, connection: Connection) {
        self.desk.lines.borrow_mut().remove(&connection.number);
        let kind = Kind::Disconnected as u32;
        let entry = [kind, connection.number, self.number, 0, 0, 0, 0, 0];
        self.desk.shared.complete(entry, &[], &[]);
    }
}

impl Server {
    /// Tells of a connection; `version` 0: of none that is known.
    fn meet(&self, line: Line, version: u32, info: Option<&ConnectionInfo>) -> Connection {
        let desk = &self.desk;
        let number = desk.connections.get().wrapping_add(1);
        desk.connections.set(number);
        desk.lines.borrow_mut().insert(number, line.clone());
        let kind = Kind::Connected as u32;
        // Numbers of streams are JavaScript's, and fit.
        let stream = info.map_or(0, ConnectionInfo::tag) as u32;
        let entry = [kind, number, self.number, 0, 0, 0, version, stream];
        let text = info.map(described).unwrap_or_default();
        desk.shared.complete(entry, text.as_bytes(), &[]);
        Connection { number, line }
    }
}
