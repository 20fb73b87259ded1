//! The servers of this environment: connections and requests become completions, and JavaScript's
//! submissions become the engine's commands, all on the engine's thread.
//!
//! An exchange has a reused number, and a serial that distinguishes the exchanges of one number: a
//! submission for a finished exchange has another serial and is dropped.

use crate::broken;
use crate::codes::submission::*;
use crate::codes::{LENGTH, NUMBER, SERIAL, body, completion, completion_flag, response_flag};
use crate::environment::Shared;
use crate::exchange::with_text;
use crate::failure;
use crate::files::{self, Asked, FileAnswer, Way};
use crate::ring::{Entry, body_of, code_of, text_of};
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

/// The flag of a request, or of a piece of its body, behind which more comes.
fn more(end: bool) -> u32 {
    if end { 0 } else { completion_flag::MORE }
}

/// The bytes of the arena that belong to a submission: the text's, then the body's.
pub(crate) fn range(entry: &Entry) -> Option<(u32, u32)> {
    let inline = matches!(body_of(entry), body::INLINE | body::FILE);
    let (position, length) = text_of(entry);
    match code_of(entry) {
        RESPOND if inline => Some((position, length.saturating_add(entry[respond::BODY]))),
        SEND if inline => Some((position, length)),
        RESPOND | INFORM | FINISH | CONTROL if length > 0 => Some((position, length)),
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
    /// The buffer for the text of heads.
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
        let (code, number) = (code_of(entry), entry[NUMBER]);
        debug_assert!(
            (RESPOND..=DECLINE).contains(&code),
            "no submission has the code {code}"
        );
        match code {
            SHUT_DOWN => return self.with_line(number, Line::shut_down),
            CONTROL => {
                return self.with_line(number, |line| {
                    if let Some(what) = said::read(entry, bytes) {
                        line.say(what);
                    }
                });
            }
            ABORT => {
                let code = H2Code(entry[abort::ERROR_CODE]);
                return self.with_line(number, |line| line.abort(code));
            }
            _ => {}
        }
        let exchanges = self.exchanges.borrow();
        let slot = exchanges.slots.get(number as usize);
        let Some((line, place)) = slot
            .filter(|slot| slot.serial == entry[SERIAL])
            .and_then(|slot| slot.open.as_ref())
        else {
            return self.forget(entry);
        };
        let place = *place;
        match code {
            RESPOND if body_of(entry) == body::FILE => {
                let line = line.clone();
                drop(exchanges);
                self.answer_file(line, place, entry, bytes);
            }
            RESPOND => self.answer(now, line, place, entry, bytes),
            INFORM => {
                // JavaScript looks at heads itself; what it let through and is refused here is
                // not sent, and the answer still comes.
                let _ = line.inform(now, place, entry[inform::STATUS] as u16, bytes);
            }
            SEND => {
                let data = match body_of(entry) {
                    body::BY_REFERENCE => self.shared.take_put(entry[send::BODY]),
                    _ => Bytes::copy_from_slice(bytes),
                };
                line.send(place, data, entry[0] & response_flag::END != 0);
            }
            FINISH => line.finish(place, bytes),
            RESET => line.reset(place, H2Code(entry[reset::ERROR_CODE])),
            TAKE_UPLOAD => line.take(place, entry[take_upload::BYTES] as usize),
            DECLINE => line.decline(place),
            _ => {}
        }
    }
    fn answer(&self, now: Instant, line: &Line, place: Place, entry: &Entry, bytes: &[u8]) {
        let (head, inline) = bytes.split_at((entry[LENGTH] as usize).min(bytes.len()));
        let (reason, fields) =
            head.split_at((entry[respond::REASON_LENGTH] as usize).min(head.len()));
        let body = match body_of(entry) {
            body::INLINE => Given::Whole(Bytes::copy_from_slice(inline)),
            body::BY_REFERENCE => Given::Whole(self.shared.take_put(entry[respond::BODY])),
            body::STREAMING => Given::Streaming,
            _ => Given::Nothing,
        };
        let answer = Answer {
            status: entry[respond::STATUS] as u16,
            reason,
            fields,
            body,
            date: entry[0] & response_flag::NO_DATE == 0,
            length: entry[0] & response_flag::NO_LENGTH == 0,
            quiet: entry[0] & response_flag::QUIET != 0,
        };
        line.answer(now, place, answer);
    }
    fn answer_file(&self, line: Line, place: Place, entry: &Entry, bytes: &[u8]) {
        let (fields, asked) = bytes.split_at((entry[LENGTH] as usize).min(bytes.len()));
        let Some(asked) = Asked::read(asked) else {
            debug_assert!(false, "the text does not say which file");
            return;
        };
        let way = Rc::<Way>::default();
        if let Some(slot) = self
            .exchanges
            .borrow_mut()
            .slots
            .get_mut(entry[NUMBER] as usize)
        {
            slot.way = Some(Rc::clone(&way));
        }
        let answer = FileAnswer {
            line,
            place,
            status: entry[respond::STATUS] as u16,
            fields: fields.to_vec(),
            date: entry[0] & response_flag::NO_DATE == 0,
            asked,
            way: Rc::clone(&way),
        };
        let (shared, number, serial) = (Arc::clone(&self.shared), entry[NUMBER], entry[SERIAL]);
        let failed = move |error: &io::Error| {
            let code = failure::code_of(error.kind()).unwrap_or("EIO");
            let entry = completion::file_failed(number, serial);
            shared.complete(entry, format!("{code}\0{error}").as_bytes(), &[]);
        };
        tokio::task::spawn_local(files::send(answer, failed));
    }
    /// Releases the bytes of an entry without a receiver.
    fn forget(&self, entry: &Entry) {
        let place = match code_of(entry) {
            RESPOND => entry[respond::BODY],
            SEND => entry[send::BODY],
            _ => return,
        };
        if body_of(entry) == body::BY_REFERENCE {
            drop(self.shared.take_put(place));
        }
    }
    /// Shows the accounts of a connection; `seen` is dropped where there are none.
    pub(crate) fn glance(&self, connection: u32, seen: SyncSender<Accounts>) {
        self.with_line(connection, |line| {
            line.glance(move |accounts| {
                // The waiting side may be gone.
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

/// One server of the environment, as the engine's callback API.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) desk: Rc<Desk>,
    pub(crate) number: u32,
}

/// The version of a connection whose first bytes have not come; `connected` follows with the one that they say.
const UNIDENTIFIED: u32 = 1;

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
    fn accepted(&self, line: Line, info: Option<&ConnectionInfo>) -> Option<Connection> {
        Some(self.meet(line, UNIDENTIFIED, info))
    }
    fn identified(&self, connection: &Connection, version: Version) {
        let entry = completion::connected(connection.number, self.number, digits(version), 0);
        self.desk.shared.complete(entry, &[], &[]);
    }
    fn stranger(
        &self,
        line: Line,
        place: Place,
        info: Option<&ConnectionInfo>,
    ) -> Option<(Connection, u32)> {
        let connection = self.meet(line, 0, info);
        let (number, serial) = self.desk.begin(&connection.line, place);
        let entry = completion::unnegotiated(number, serial, connection.number);
        self.desk.shared.complete(entry, &[], &[]);
        Some((connection, number))
    }
    fn handshake_failed(
        &self,
        addresses: Option<(SocketAddr, SocketAddr)>,
        why: &HandshakeFailure,
    ) {
        let (which, alert) = kind_of(why);
        let entry = completion::handshake_failed(self.number, which, alert);
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
        // A connection's streams never get as far as 2^32.
        let (connection, stream) = (connection.number, place.stream().0 as u32);
        let mut entry = completion::request(number, serial, connection, lengths(head), stream);
        entry[0] |= more(end);
        if place.is_http10() {
            entry[0] |= completion_flag::HTTP10;
        }
        self.desk.shared.complete(entry, &exchanges.text, &[]);
        number
    }
    fn body(&self, exchange: &u32, data: Bytes, end: bool) {
        let entry = |body| {
            let mut entry = completion::upload(*exchange, body);
            entry[0] |= more(end);
            entry
        };
        self.desk.shared.complete_body(entry, data);
    }
    fn trailers(&self, exchange: &u32, trailers: &Fields) {
        let entry = completion::trailers(*exchange);
        with_text(trailers.iter(), |text| {
            self.desk.shared.complete(entry, text, &[]);
        });
    }
    fn half_closed(&self, exchange: &u32) {
        let entry = completion::half_closed(*exchange);
        self.desk.shared.complete(entry, &[], &[]);
    }
    fn room(&self, exchange: &u32, bytes: usize) {
        let exchanges = self.desk.exchanges.borrow();
        let way = &exchanges.slots[*exchange as usize].way;
        if way.as_ref().is_some_and(|way| way.took(bytes)) {
            return;
        }
        let entry = completion::response_room(*exchange, bytes as u32);
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
        let mut entry = completion::closed(exchange, code.0, u32::from(by_peer));
        entry[0] |= completion_flag::LAST;
        self.desk.shared.complete(entry, &[], &[]);
    }
    fn refused(&self, connection: &Connection, place: Place, refused: &Refused) -> Option<u32> {
        let (number, serial) = self.desk.begin(&connection.line, place);
        let status = u32::from(refused.violation.h1_status());
        // A packet is a read and the rest of a head, far below 2^32.
        let (connection, parsed) = (connection.number, refused.parsed as u32);
        let entry = completion::malformed(number, serial, connection, status, parsed);
        let code = broken::llhttp_code(refused);
        let text = [code.as_bytes(), &[0], &refused.packet].concat();
        self.desk.shared.complete(entry, &text, &[]);
        Some(number)
    }
    fn broken(&self, connection: &Connection, violation: Violation) {
        let error = broken::nghttp2_error(violation).unsigned_abs();
        let entry = completion::violation(connection.number, error);
        let code = broken::llhttp_code_of(violation).as_bytes();
        self.desk.shared.complete(entry, code, &[]);
    }
    fn heard(&self, connection: &Connection, heard: Heard) {
        said::tell(&self.desk.shared, connection.number, &heard);
    }
    fn disconnected(&self, connection: Connection) {
        self.desk.lines.borrow_mut().remove(&connection.number);
        let entry = completion::disconnected(connection.number, self.number);
        self.desk.shared.complete(entry, &[], &[]);
    }
}

impl Server {
    /// Reports a connection; `version` 0: unknown.
    fn meet(&self, line: Line, version: u32, info: Option<&ConnectionInfo>) -> Connection {
        let desk = &self.desk;
        let number = desk.connections.get().wrapping_add(1);
        desk.connections.set(number);
        desk.lines.borrow_mut().insert(number, line.clone());
        if let Some(traffic) = info.and_then(ConnectionInfo::traffic) {
            desk.shared.traffics.insert(number, traffic.clone());
        }
        // Numbers of streams are JavaScript's, and fit.
        let stream = info.map_or(0, ConnectionInfo::tag) as u32;
        let entry = completion::connected(number, self.number, version, stream);
        let text = info.map(described).unwrap_or_default();
        desk.shared.complete(entry, text.as_bytes(), &[]);
        Connection { number, line }
    }
}
