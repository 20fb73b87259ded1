//! The servers of this environment: connections and requests become completions, and JavaScript's
//! submissions become the engine's commands, all on the engine's thread.
//!
//! An exchange has a reused number, and a serial that distinguishes the exchanges of one number: a
//! submission for a finished exchange has another serial and is dropped.

use crate::broken;
use crate::codes::submission::*;
use crate::codes::{LENGTH, NUMBER, SERIAL, body, completion, completion_flag, response_flag};
use crate::control;
use crate::described::{described, digits, kind_of, lengths, places, write_head};
use crate::environment::Shared;
use crate::exchange::with_text;
use crate::failure;
use crate::files::{self, FileAnswer, FileRequest, SendRoom};
use crate::ring::{Entry, body_of, code_of, text_of};
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
    Answer, Callbacks, ConnectionHandle, Ended, HandshakeFailure, Pause, PeerEvent, ResponseBody,
    StreamHandle,
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
pub(crate) struct ServerBridge {
    shared: Arc<Shared>,
    exchanges: RefCell<Exchanges>,
    connections_open: RefCell<HashMap<u32, ConnectionHandle>>,
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
    fn begin(&mut self, commands: &ConnectionHandle, handle: StreamHandle) -> (u32, u32) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                serial: 0,
                open: None,
                send_room: None,
            });
            self.slots.len() as u32 - 1
        });
        let slot = &mut self.slots[number as usize];
        slot.serial = slot.serial.wrapping_add(1);
        slot.open = Some((commands.clone(), handle));
        (number, slot.serial)
    }
}

struct Slot {
    serial: u32,
    open: Option<(ConnectionHandle, StreamHandle)>,
    /// Of an answer whose body is a file.
    send_room: Option<Rc<SendRoom>>,
}

impl ServerBridge {
    pub(crate) fn new(shared: &Arc<Shared>) -> Rc<Self> {
        Rc::new(Self {
            shared: Arc::clone(shared),
            exchanges: RefCell::default(),
            connections_open: RefCell::default(),
            connections: Cell::new(0),
        })
    }
    /// The number and the serial of a new exchange.
    fn begin(&self, commands: &ConnectionHandle, handle: StreamHandle) -> (u32, u32) {
        self.exchanges.borrow_mut().begin(commands, handle)
    }
    /// Carries out a submission.
    pub(crate) fn carry_out(&self, now: Instant, entry: &Entry, bytes: &[u8]) {
        let (code, number) = (code_of(entry), entry[NUMBER]);
        debug_assert!(
            (RESPOND..=DECLINE).contains(&code),
            "no submission has the code {code}"
        );
        match code {
            SHUT_DOWN => return self.with_connection(number, ConnectionHandle::shut_down),
            CONTROL => {
                return self.with_connection(number, |commands| {
                    if let Some(what) = control::read(entry, bytes) {
                        commands.send_control(what);
                    }
                });
            }
            ABORT => {
                let code = H2Code(entry[abort::ERROR_CODE]);
                return self.with_connection(number, |commands| commands.abort(code));
            }
            _ => {}
        }
        let exchanges = self.exchanges.borrow();
        let slot = exchanges.slots.get(number as usize);
        let Some((commands, handle)) = slot
            .filter(|slot| slot.serial == entry[SERIAL])
            .and_then(|slot| slot.open.as_ref())
        else {
            return self.forget(entry);
        };
        let handle = *handle;
        match code {
            RESPOND if body_of(entry) == body::FILE => {
                let commands = commands.clone();
                drop(exchanges);
                self.answer_file(commands, handle, entry, bytes);
            }
            RESPOND => self.answer(now, commands, handle, entry, bytes),
            INFORM => {
                // JavaScript looks at heads itself; what it let through and is refused here is
                // not sent, and the answer still comes.
                let _ =
                    commands.send_informational(now, handle, entry[inform::STATUS] as u16, bytes);
            }
            SEND => {
                let data = match body_of(entry) {
                    body::BY_REFERENCE => self.shared.take_put(entry[send::BODY]),
                    _ => Bytes::copy_from_slice(bytes),
                };
                commands.send(handle, data, entry[0] & response_flag::END != 0);
            }
            FINISH => commands.finish(handle, bytes),
            RESET => commands.reset(handle, H2Code(entry[reset::ERROR_CODE])),
            TAKE_UPLOAD => commands.take(handle, entry[take_upload::BYTES] as usize),
            DECLINE => commands.decline(handle),
            _ => {}
        }
    }
    fn answer(
        &self,
        now: Instant,
        commands: &ConnectionHandle,
        handle: StreamHandle,
        entry: &Entry,
        bytes: &[u8],
    ) {
        let (head, inline) = bytes.split_at((entry[LENGTH] as usize).min(bytes.len()));
        let (reason, fields) =
            head.split_at((entry[respond::REASON_LENGTH] as usize).min(head.len()));
        let body = match body_of(entry) {
            body::INLINE => ResponseBody::Whole(Bytes::copy_from_slice(inline)),
            body::BY_REFERENCE => ResponseBody::Whole(self.shared.take_put(entry[respond::BODY])),
            body::STREAMING => ResponseBody::Streaming,
            _ => ResponseBody::Nothing,
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
        commands.answer(now, handle, answer);
    }
    fn answer_file(
        &self,
        commands: ConnectionHandle,
        handle: StreamHandle,
        entry: &Entry,
        bytes: &[u8],
    ) {
        let (fields, facts) = bytes.split_at((entry[LENGTH] as usize).min(bytes.len()));
        let Some(facts) = FileRequest::read(facts) else {
            debug_assert!(false, "the text does not say which file");
            return;
        };
        let send_room = Rc::<SendRoom>::default();
        if let Some(slot) = self
            .exchanges
            .borrow_mut()
            .slots
            .get_mut(entry[NUMBER] as usize)
        {
            slot.send_room = Some(Rc::clone(&send_room));
        }
        let answer = FileAnswer {
            commands,
            handle,
            status: entry[respond::STATUS] as u16,
            fields: fields.to_vec(),
            date: entry[0] & response_flag::NO_DATE == 0,
            facts,
            send_room: Rc::clone(&send_room),
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
        let handle = match code_of(entry) {
            RESPOND => entry[respond::BODY],
            SEND => entry[send::BODY],
            _ => return,
        };
        if body_of(entry) == body::BY_REFERENCE {
            drop(self.shared.take_put(handle));
        }
    }
    /// Shows the accounts of a connection; `seen` is dropped where there are none.
    pub(crate) fn snapshot(&self, connection: u32, seen: SyncSender<Accounts>) {
        self.with_connection(connection, |commands| {
            commands.snapshot(move |accounts| {
                // The waiting side may be gone.
                let _ = seen.try_send(accounts);
            });
        });
    }
    fn with_connection(&self, connection: u32, cmd: impl FnOnce(&ConnectionHandle)) {
        if let Some(commands) = self.connections_open.borrow().get(&connection) {
            cmd(commands);
        }
    }
}

/// One server of the environment, as the engine's callback API.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) server_bridge: Rc<ServerBridge>,
    pub(crate) number: u32,
}

/// The version of a connection whose first bytes have not come; `connected` follows with the one that they say.
const UNIDENTIFIED: u32 = 1;

/// A connection by its number.
pub(crate) struct Connection {
    number: u32,
    commands: ConnectionHandle,
}

impl Callbacks for Server {
    type Connection = Connection;
    type Exchange = u32;

    fn pause(&self) -> Option<Pause> {
        Shared::pause(&self.server_bridge.shared)
    }
    fn connected(
        &self,
        commands: ConnectionHandle,
        version: Version,
        info: Option<&ConnectionInfo>,
    ) -> Connection {
        self.register(commands, digits(version), info)
    }
    fn accepted(
        &self,
        commands: ConnectionHandle,
        info: Option<&ConnectionInfo>,
    ) -> Option<Connection> {
        Some(self.register(commands, UNIDENTIFIED, info))
    }
    fn identified(&self, connection: &Connection, version: Version) {
        let entry = completion::connected(connection.number, self.number, digits(version), 0);
        self.server_bridge.shared.complete(entry, &[], &[]);
    }
    fn unnegotiated(
        &self,
        commands: ConnectionHandle,
        handle: StreamHandle,
        info: Option<&ConnectionInfo>,
    ) -> Option<(Connection, u32)> {
        let connection = self.register(commands, 0, info);
        let (number, serial) = self.server_bridge.begin(&connection.commands, handle);
        let entry = completion::unnegotiated(number, serial, connection.number);
        self.server_bridge.shared.complete(entry, &[], &[]);
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
        self.server_bridge
            .shared
            .complete(entry, text.as_bytes(), &[]);
    }
    fn requested(
        &self,
        connection: &Connection,
        handle: StreamHandle,
        head: &RequestHead,
        end: bool,
    ) -> u32 {
        let exchanges = &mut *self.server_bridge.exchanges.borrow_mut();
        let (number, serial) = exchanges.begin(&connection.commands, handle);
        write_head(&mut exchanges.text, head);
        // A connection's streams never get as far as 2^32.
        let (connection, stream) = (connection.number, handle.stream().0 as u32);
        let mut entry = completion::request(number, serial, connection, lengths(head), stream);
        entry[0] |= more(end);
        if handle.is_http10() {
            entry[0] |= completion_flag::HTTP10;
        }
        self.server_bridge
            .shared
            .complete(entry, &exchanges.text, &[]);
        number
    }
    fn body(&self, exchange: &u32, data: Bytes, end: bool) {
        let entry = |body| {
            let mut entry = completion::upload(*exchange, body);
            entry[0] |= more(end);
            entry
        };
        self.server_bridge.shared.complete_body(entry, data);
    }
    fn trailers(&self, exchange: &u32, trailers: &Fields) {
        let entry = completion::trailers(*exchange);
        with_text(trailers.iter(), |text| {
            self.server_bridge.shared.complete(entry, text, &[]);
        });
    }
    fn half_closed(&self, exchange: &u32) {
        let entry = completion::half_closed(*exchange);
        self.server_bridge.shared.complete(entry, &[], &[]);
    }
    fn room(&self, exchange: &u32, bytes: usize) {
        let exchanges = self.server_bridge.exchanges.borrow();
        let send_room = &exchanges.slots[*exchange as usize].send_room;
        if send_room
            .as_ref()
            .is_some_and(|send_room| send_room.took(bytes))
        {
            return;
        }
        let entry = completion::response_room(*exchange, bytes as u32);
        self.server_bridge.shared.complete(entry, &[], &[]);
    }
    fn ended(&self, exchange: u32, how: Ended) {
        let exchanges = &mut *self.server_bridge.exchanges.borrow_mut();
        let slot = &mut exchanges.slots[exchange as usize];
        slot.open = None;
        if let Some(send_room) = slot.send_room.take() {
            send_room.end();
        }
        exchanges.free.push(exchange);
        let (code, by_peer) = match how {
            Ended::Quiet => return,
            Ended::Whole => (H2Code(0), false),
            Ended::Reset { code, by_peer } => (code, by_peer),
        };
        let mut entry = completion::closed(exchange, code.0, u32::from(by_peer));
        entry[0] |= completion_flag::LAST;
        self.server_bridge.shared.complete(entry, &[], &[]);
    }
    fn refused(
        &self,
        connection: &Connection,
        handle: StreamHandle,
        refused: &Refused,
    ) -> Option<u32> {
        let (number, serial) = self.server_bridge.begin(&connection.commands, handle);
        let status = u32::from(refused.violation.h1_status());
        // A packet is a read and the rest of a head, far below 2^32.
        let (connection, parsed) = (connection.number, refused.parsed as u32);
        let entry = completion::malformed(number, serial, connection, status, parsed);
        let code = broken::llhttp_code(refused);
        let text = [code.as_bytes(), &[0], &refused.packet].concat();
        self.server_bridge.shared.complete(entry, &text, &[]);
        Some(number)
    }
    fn broken(&self, connection: &Connection, violation: Violation) {
        let error = broken::nghttp2_error(violation).unsigned_abs();
        let entry = completion::violation(connection.number, error);
        let code = broken::llhttp_code_of(violation).as_bytes();
        self.server_bridge.shared.complete(entry, code, &[]);
    }
    fn received(&self, connection: &Connection, received: PeerEvent) {
        control::report(&self.server_bridge.shared, connection.number, &received);
    }
    fn disconnected(&self, connection: Connection) {
        self.server_bridge
            .connections_open
            .borrow_mut()
            .remove(&connection.number);
        let entry = completion::disconnected(connection.number, self.number);
        self.server_bridge.shared.complete(entry, &[], &[]);
    }
}

impl Server {
    /// Reports a connection; `version` 0: unknown.
    fn register(
        &self,
        commands: ConnectionHandle,
        version: u32,
        info: Option<&ConnectionInfo>,
    ) -> Connection {
        let server_bridge = &self.server_bridge;
        let number = server_bridge.connections.get().wrapping_add(1);
        server_bridge.connections.set(number);
        server_bridge
            .connections_open
            .borrow_mut()
            .insert(number, commands.clone());
        if let Some(traffic) = info.and_then(ConnectionInfo::traffic) {
            server_bridge
                .shared
                .traffics
                .insert(number, traffic.clone());
        }
        // Numbers of streams are JavaScript's, and fit.
        let stream = info.map_or(0, ConnectionInfo::tag) as u32;
        let entry = completion::connected(number, self.number, version, stream);
        let text = info.map(described).unwrap_or_default();
        server_bridge.shared.complete(entry, text.as_bytes(), &[]);
        Connection { number, commands }
    }
}
