//! Callbacks of the engine about the servers of this environment: connections, requests and their
//! ends become completions.

use super::bridge::ServerBridge;
use super::broken;
use super::control;
use super::described::{described, lengths, places, word, write_head};
use super::secured::choices::kind_of;
use crate::channel::codes::{completion, completion_flag, http_version};
use crate::channel::heads::fields::{spelled, with_text};
use crate::channel::records::version_code;
use crate::channel::shared::Shared;
use crate::failure::{code_of, nghttp2_error};
use bytes::Bytes;
use std::borrow::Cow;
use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};
use trunkline::ConnectionInfo;
use trunkline::core::error::{H2Code, Violation};
use trunkline::core::http::{Fields, Refused, RequestHead, Version};
use trunkline::server::{
    Callbacks, ConnectionHandle, Ended, HandshakeFailure, Pause, PeerEvent, StreamHandle,
};

/// One server of the environment, as the engine's callback API.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) server_bridge: Rc<ServerBridge>,
    pub(crate) number: u32,
    /// It has not asked for its second worker yet.
    pub(crate) is_alone: Rc<Cell<bool>>,
}

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
    fn leaves_connection(&self) -> bool {
        let load = self.server_bridge.load.as_ref();
        let leaves = load.is_some_and(|load| load.leaves());
        if leaves && self.is_alone.replace(false) {
            let entry = completion::overloaded(self.number);
            self.server_bridge.shared.complete(entry, &[], &[]);
        }
        leaves
    }
    fn lag(&self, now: Instant) -> Duration {
        self.server_bridge.shared.lag(now)
    }
    fn connected(
        &self,
        commands: ConnectionHandle,
        version: Version,
        info: Option<&ConnectionInfo>,
    ) -> Connection {
        self.register(commands, version_code(version), info)
    }
    fn accepted(
        &self,
        commands: ConnectionHandle,
        info: Option<&ConnectionInfo>,
    ) -> Option<Connection> {
        Some(self.register(commands, http_version::UNIDENTIFIED, info))
    }
    fn identified(&self, connection: &Connection, version: Version) {
        let entry = completion::connected(connection.number, self.number, version_code(version), 0);
        self.server_bridge.shared.complete(entry, &[], &[]);
    }
    fn unnegotiated(
        &self,
        commands: ConnectionHandle,
        handle: StreamHandle,
        info: Option<&ConnectionInfo>,
    ) -> Option<(Connection, u32)> {
        let connection = self.register(commands, http_version::NONE, info);
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
        let fault = match why {
            HandshakeFailure::Certificate(fault) => word(fault),
            _ => "",
        };
        let text = format!("{}\0{why}\0{fault}", places(addresses));
        self.server_bridge
            .shared
            .complete(entry, text.as_bytes(), &[]);
    }
    fn upgrade_head(&self, connection: &Connection, bytes: &[u8]) {
        let entry = completion::upgrade_head(connection.number);
        self.server_bridge.shared.complete(entry, bytes, &[]);
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
        with_text(spelled(trailers, trailers.iter()), |text| {
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
    fn timeline(&self, _: &u32, id: u64) {
        // Numbers of timelines count failed and slow requests: no process gets to 2^32.
        self.server_bridge.exchanges.borrow_mut().timeline = id as u32;
    }
    fn ended(&self, exchange: u32, how: Ended) {
        let exchanges = &mut *self.server_bridge.exchanges.borrow_mut();
        let timeline = std::mem::take(&mut exchanges.timeline);
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
        let mut entry = completion::closed(exchange, code.0, u32::from(by_peer), timeline);
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
        // A peer that takes nothing has broken no rule that llhttp or nghttp2 know.
        if matches!(violation, Violation::WriteStalled | Violation::RateTooLow) {
            return self.failed(connection, &io::ErrorKind::TimedOut.into());
        }
        let error = nghttp2_error(violation);
        let entry = completion::violation(connection.number, error);
        let code = broken::llhttp_code_of(violation).as_bytes();
        self.server_bridge.shared.complete(entry, code, &[]);
    }
    fn failed(&self, connection: &Connection, error: &io::Error) {
        let code = code_of(error.kind()).map(Cow::Borrowed);
        if let Some(code) = code.or_else(|| broken::openssl_code(error)) {
            let entry = completion::transport_failed(connection.number);
            self.server_bridge
                .shared
                .complete(entry, code.as_bytes(), &[]);
        }
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
            server_bridge.traffics.insert(number, traffic.clone());
        }
        // Numbers of streams are JavaScript's, and fit.
        let stream = info.map_or(0, ConnectionInfo::tag) as u32;
        let entry = completion::connected(number, self.number, version, stream);
        let text = info.map(described).unwrap_or_default();
        server_bridge.shared.complete(entry, text.as_bytes(), &[]);
        Connection { number, commands }
    }
}

/// The flag of a request, or of a piece of its body, behind which more comes.
fn more(end: bool) -> u32 {
    if end { 0 } else { completion_flag::MORE }
}
