//! The sessions of one environment by number, and the functions that JavaScript drives them with.
//! None of them calls JavaScript, so that no two run at a time.

use super::events::{AREA_BYTES, Batch};
use super::settings::Settings;
use crate::channel::area::Area;
use crate::platform::napi::{Env, Outcome, Refused, Value, call};
use crate::server::control::packed_settings;
use bytes::Bytes;
use std::ffi::c_void;
use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline::core::error::{H2Code, Misuse, TransportEnd, Violation};
use trunkline::core::h2::Conn;
use trunkline::core::http::{
    Event, FieldName, Fields, RequestHead, Side, StreamId, Token, Version,
};

/// Bytes of JavaScript's text: a largest head.
const TEXT_BYTES: usize = 256 * 1024;
/// Words of the facts, which a call leaves beside its result.
const FACTS: usize = 16;
/// Before the name of a field that no compressor may keep (RFC 7541 section 7.1.3).
const SENSITIVE: u8 = 1;
/// Bytes that are written together at most.
const WRITE_BYTES_MAX: usize = 256 * 1024;
/// Slices of an outbox that are copied at a time.
const SLICES_MAX: usize = 16;
/// The result of a call that was refused.
const REFUSED: u32 = u32::MAX;

/// Why a call was refused.
mod refusal {
    pub(super) const NO_CAPACITY: u32 = 1;
    pub(super) const CLOSED: u32 = 2;
    pub(super) const INVALID: u32 = 3;
    pub(super) const BODY_LENGTH: u32 = 4;
    pub(super) const OTHER: u32 = 5;
}

/// Places of the facts.
mod fact {
    /// Milliseconds to the machine's next deadline; `u32::MAX`: it has none.
    pub(super) const DEADLINE: usize = 0;
    /// Why the last call was refused.
    pub(super) const REFUSAL: usize = 1;
    /// Bytes that still wait to be written.
    pub(super) const WAITING: usize = 2;
    /// 1: the next batch comes in a turn of its own.
    pub(super) const LATER: usize = 3;
    /// From here on: numbers of a state.
    pub(super) const STATE: usize = 4;
}

struct Session {
    conn: Conn,
    /// The event for which the last batch had no room.
    waiting: Option<Event>,
}

/// All sessions of an environment.
struct Machines {
    open: Vec<Option<Box<Session>>>,
    free: Vec<u32>,
    text: Arc<Area>,
    events: Arc<Area>,
    facts: Arc<Area>,
}

/// `machines()`: the memory and the functions of sessions.
pub(crate) unsafe extern "C" fn open(
    env: napi_sys::napi_env,
    info: napi_sys::napi_callback_info,
) -> napi_sys::napi_value {
    // SAFETY: these are Node.js's own arguments.
    unsafe { call(env, info, |env, [], _| make(env)) }
}

fn make(env: Env) -> Outcome<Value> {
    let machines = Box::new(Machines {
        open: Vec::new(),
        free: Vec::new(),
        text: Arc::new(Area::new(TEXT_BYTES)),
        events: Arc::new(Area::new(AREA_BYTES)),
        facts: Arc::new(Area::new(FACTS * 4)),
    });
    let made = env.object()?;
    for (name, area) in [
        (c"text", &machines.text),
        (c"events", &machines.events),
        (c"facts", &machines.facts),
    ] {
        let view = env.array_buffer(area.start(), area.len(), Arc::clone(area))?;
        env.set(made, name, view)?;
    }
    let data = Box::into_raw(machines).cast::<c_void>();
    // SAFETY: the environment is live and this is its thread; the hook runs once, when JavaScript of
    // this environment has ended.
    let hooked = unsafe { napi_sys::napi_add_env_cleanup_hook(env.0, Some(clean_up), data) };
    if hooked != napi_sys::Status::napi_ok {
        // SAFETY: from `Box::into_raw` above; nothing else refers to it yet.
        drop(unsafe { Box::from_raw(data.cast::<Machines>()) });
        return Err(Refused(format!(
            "trunkline: Node-API took no cleanup hook (status {hooked})"
        )));
    }
    for (name, function) in FUNCTIONS {
        env.set_function(made, name, *function, data)?;
    }
    Ok(made)
}

unsafe extern "C" fn clean_up(data: *mut c_void) {
    // SAFETY: from `Box::into_raw` in `make`; no function is called any more.
    drop(unsafe { Box::from_raw(data.cast::<Machines>()) });
}

/// Defines native functions by their numbers: each gets the machines of its environment.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($env:ident, $machines:ident, [$($argument:ident),*]) $body:block)*) => {
        $($(#[$doc])*
        unsafe extern "C" fn $name(
            env: napi_sys::napi_env,
            info: napi_sys::napi_callback_info,
        ) -> napi_sys::napi_value {
            // SAFETY: these are Node.js's own arguments, and the data is what `make` gave; it is freed
            // after the last call, and calls never nest.
            unsafe {
                call(env, info, |$env, [$($argument),*], data| {
                    let $machines = &mut *data.cast::<Machines>();
                    $body
                })
            }
        })*
        const FUNCTIONS: &[(&std::ffi::CStr, crate::platform::napi::Function)] = &[$((name_of(concat!(stringify!($name), "\0")), $name)),*];
    };
}

/// A name with its zero behind it.
const fn name_of(name: &'static str) -> &'static std::ffi::CStr {
    match std::ffi::CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"unnamed",
    }
}

functions! {
    /// `begin(settings)`: a new session's number. Its preface waits to be written.
    begin(env, machines, [settings]) {
        let settings: Settings = serde_json::from_str(&env.as_text(settings)?)
            .map_err(|why| Refused(format!("trunkline: {why}")))?;
        let conn = Conn::new(Side::Client, settings.config(), Instant::now());
        env.number(machines.put(Session { conn, waiting: None }))
    }
    /// `forget(session)`.
    forget(env, machines, [session]) {
        let number = env.as_number(session)?;
        if let Some(place) = machines.open.get_mut(number as usize)
            && place.take().is_some()
        {
            machines.free.push(number);
        }
        Ok(env.undefined())
    }
    /// `feed(session, bytes)`: bytes of the peer's; what waits to be written behind them is a fact.
    feed(env, machines, [session, bytes]) {
        let bytes = env.as_bytes(bytes)?;
        let conn = machines.conn(env, session)?;
        conn.handle_bytes(Instant::now(), &bytes);
        let waiting = conn.written().len() as u32;
        machines.set_fact(fact::WAITING, waiting);
        Ok(env.undefined())
    }
    /// `ended(session, failed)`: the peer's bytes have ended.
    ended(env, machines, [session, failed]) {
        let end = match env.as_number(failed)? {
            0 => TransportEnd::InOrder,
            _ => TransportEnd::Failed,
        };
        machines.conn(env, session)?.handle_close(Instant::now(), end);
        Ok(env.undefined())
    }
    /// `drain(session)`: writes events into their memory; how many records. 0: there are none. Whether the next are for
    /// a later turn is a fact.
    drain(env, machines, [session]) {
        let events = Arc::clone(&machines.events);
        let Session { conn, waiting } = machines.session(env, session)?;
        let filled = Batch::new(&events).fill(conn, waiting);
        machines.set_fact(fact::LATER, u32::from(filled.waits_for_readers));
        env.number(filled.records)
    }
    /// `written(session)`: what is to be written now, or undefined; the deadline and what still waits
    /// are facts.
    written(env, machines, [session]) {
        let now = Instant::now();
        let conn = machines.conn(env, session)?;
        if conn.next_deadline().is_some_and(|at| at <= now) {
            conn.handle_timeout(now);
        }
        let bytes = gathered(conn, now);
        let waiting = conn.written().len() as u32;
        let deadline = conn.next_deadline();
        let deadline = deadline.map_or(u32::MAX, |at| milliseconds(at.saturating_duration_since(now)));
        machines.set_fact(fact::DEADLINE, deadline);
        machines.set_fact(fact::WAITING, waiting);
        match bytes {
            Some(bytes) => env.buffer_copy(&bytes),
            None => Ok(env.undefined()),
        }
    }
    /// `request(session, length, end)`: a stream with the head in the text; its id, or 0.
    request(env, machines, [session, length, end]) {
        let (length, end) = (env.as_number(length)?, env.as_number(end)? != 0);
        let head = RequestHead::from_fields(machines.fields(length), Version::Http2);
        let conn = machines.conn(env, session)?;
        let opened = head
            .map_err(Misuse::Invalid)
            .and_then(|head| conn.open(Instant::now(), &head, end));
        let id = machines.settle(opened.map(|stream| stream.0 as u32));
        env.number(if id == REFUSED { 0 } else { id })
    }
    /// `send(session, stream, bytes, end)`: bytes of a body; the room that is left.
    send(env, machines, [session, stream, bytes, end]) {
        let (data, end) = (Bytes::from(env.as_bytes(bytes)?), env.as_number(end)? != 0);
        let stream = id(env, stream)?;
        let conn = machines.conn(env, session)?;
        let sent = conn.send_body(Instant::now(), stream, data, end);
        let sent = sent.map(|()| conn.send_room(stream) as u32);
        env.number(machines.settle(sent))
    }
    /// `finish(session, stream, length)`: ends a body, with trailers in the text unless it is empty.
    finish(env, machines, [session, stream, length]) {
        let length = env.as_number(length)?;
        let stream = id(env, stream)?;
        let trailers = machines.fields(length);
        let conn = machines.conn(env, session)?;
        let now = Instant::now();
        let sent = match length {
            0 => conn.send_body(now, stream, Bytes::new(), true),
            _ => conn.send_trailers(now, stream, &trailers),
        };
        env.number(machines.settle(sent.map(|()| 0)))
    }
    /// `queued(session, stream)`: bytes of a body that are in no frame yet.
    queued(env, machines, [session, stream]) {
        let stream = id(env, stream)?;
        let conn = machines.conn(env, session)?;
        env.number(u32::try_from(conn.send_queued(stream)).unwrap_or(u32::MAX))
    }
    /// `holds(session, stream)`: 1 while the stream is open, in either direction.
    holds(env, machines, [session, stream]) {
        let stream = id(env, stream)?;
        let conn = machines.conn(env, session)?;
        env.number(u32::from(conn.is_open(stream)))
    }
    /// `reset(session, stream, code)`: behind what was given of the body, as far as it may go.
    reset(env, machines, [session, stream, code]) {
        let (stream, code) = (id(env, stream)?, H2Code(env.as_number(code)?));
        machines.conn(env, session)?.reset_behind_body(Instant::now(), stream, code);
        Ok(env.undefined())
    }
    /// `take(session, stream, bytes)`: bytes of a body were read.
    take(env, machines, [session, stream, bytes]) {
        let (stream, bytes) = (id(env, stream)?, env.as_number(bytes)? as usize);
        machines.conn(env, session)?.consume(Instant::now(), stream, bytes);
        Ok(env.undefined())
    }
    /// `ping(session)`: with the first eight bytes of the text.
    ping(env, machines, [session]) {
        let opaque = machines.text_bytes(8).try_into().unwrap_or_default();
        machines.conn(env, session)?.ping(Instant::now(), opaque);
        Ok(env.undefined())
    }
    /// `settings(session, length)`: SETTINGS, packed in the text.
    settings(env, machines, [session, length]) {
        let length = env.as_number(length)?;
        let changes = packed_settings(&machines.text_bytes(length));
        machines.conn(env, session)?.change_settings(Instant::now(), &changes);
        Ok(env.undefined())
    }
    /// `goaway(session, code, last, length)`: with the debug data in the text; `last` 0: none of the
    /// peer's streams.
    goaway(env, machines, [session, code, last, length]) {
        let length = env.as_number(length)?;
        let (code, last) = (H2Code(env.as_number(code)?), env.as_number(last)?);
        let debug = machines.text_bytes(length);
        machines.conn(env, session)?.go_away(Some(last), code, &debug);
        Ok(env.undefined())
    }
    /// `abort(session, code)`: GOAWAY behind what was given of the bodies, and nothing behind it.
    abort(env, machines, [session, code]) {
        let code = H2Code(env.as_number(code)?);
        machines.conn(env, session)?.abort_behind_bodies(Instant::now(), code);
        Ok(env.undefined())
    }
    /// `window(session, bytes)`: the connection's receive window; 1: it cannot be.
    window(env, machines, [session, bytes]) {
        let bytes = env.as_number(bytes)?;
        let conn = machines.conn(env, session)?;
        let moved = conn.move_connection_window(Instant::now(), bytes);
        env.number(u32::from(moved.is_err()))
    }
    /// `skip(session, stream)`: the next stream's id; 1: it cannot be.
    skip(env, machines, [session, stream]) {
        let stream = env.as_number(stream)?;
        let conn = machines.conn(env, session)?;
        env.number(u32::from(!conn.skip_to(stream)))
    }
    /// `state(session)`: the accounts of a session, as facts.
    state(env, machines, [session]) {
        let conn = machines.conn(env, session)?;
        let accounts = conn.accounts();
        let numbers = [
            accounts.receive_window,
            u32::try_from(accounts.unread).unwrap_or(u32::MAX),
            conn.next_stream(),
            u32::try_from(accounts.receivable).unwrap_or(u32::MAX),
            accounts.last_peer_stream,
            accounts.sendable,
            accounts.streams_sending,
            accounts.encoder_table as u32,
            accounts.decoder_table as u32,
        ];
        for (at, number) in numbers.into_iter().enumerate() {
            machines.set_fact(fact::STATE + at, number);
        }
        Ok(env.undefined())
    }
}

impl Machines {
    fn put(&mut self, session: Session) -> u32 {
        let session = Some(Box::new(session));
        match self.free.pop() {
            Some(number) => {
                self.open[number as usize] = session;
                number
            }
            None => {
                self.open.push(session);
                self.open.len() as u32 - 1
            }
        }
    }
    fn session(&mut self, env: Env, number: Value) -> Outcome<&mut Session> {
        let number = env.as_number(number)? as usize;
        let session = self.open.get_mut(number).and_then(Option::as_deref_mut);
        session.ok_or_else(|| Refused(format!("trunkline: no session has the number {number}")))
    }
    fn conn(&mut self, env: Env, number: Value) -> Outcome<&mut Conn> {
        self.session(env, number).map(|session| &mut session.conn)
    }
    /// The first bytes of the text.
    fn text_bytes(&self, length: u32) -> Vec<u8> {
        let length = (length as usize).min(self.text.len());
        // SAFETY: the range lies inside; JavaScript writes between calls, on this thread.
        unsafe { self.text.bytes(0, length) }.to_vec()
    }
    /// The fields of the text: names and values by turns, a zero between two.
    fn fields(&self, length: u32) -> Fields {
        let mut fields = Fields::with_capacity(16, length as usize);
        let length = (length as usize).min(self.text.len());
        if length == 0 {
            return fields;
        }
        // SAFETY: as in `text_bytes`.
        let text = unsafe { self.text.bytes(0, length) };
        let mut pieces = text.split(|&byte| byte == 0);
        while let (Some(name), Some(value)) = (pieces.next(), pieces.next()) {
            let (name, sensitive) = match name.strip_prefix(&[SENSITIVE]) {
                Some(name) => (name, true),
                None => (name, false),
            };
            fields.push_with(FieldName::of(name), sensitive, |bytes| {
                bytes.extend_from_slice(value);
            });
        }
        for token in [Token::AUTHORIZATION, Token::PROXY_AUTHORIZATION] {
            fields.mark_sensitive(token);
        }
        fields
    }
    fn set_fact(&self, at: usize, number: u32) {
        // SAFETY: the places are below `FACTS`; JavaScript reads between calls, on this thread.
        unsafe { self.facts.write(at * 4, &number.to_ne_bytes()) };
    }
    /// The result of a call for JavaScript; of one that was refused the reason is a fact.
    fn settle(&self, result: Result<u32, Misuse>) -> u32 {
        result.unwrap_or_else(|misuse| {
            self.set_fact(fact::REFUSAL, reason(misuse));
            REFUSED
        })
    }
}

/// The reason of a refusal, and for a broken rule which in the bytes above.
fn reason(misuse: Misuse) -> u32 {
    match misuse {
        Misuse::NoCapacity => refusal::NO_CAPACITY,
        Misuse::ConnectionClosed => refusal::CLOSED,
        Misuse::Invalid(violation) => refusal::INVALID | index_of(violation) << 8,
        Misuse::BodyLength => refusal::BODY_LENGTH,
        _ => refusal::OTHER,
    }
}

fn index_of(violation: Violation) -> u32 {
    let index = Violation::ALL.iter().position(|&other| other == violation);
    index.unwrap_or_default() as u32
}

fn id(env: Env, stream: Value) -> Outcome<StreamId> {
    env.as_number(stream).map(|id| StreamId(u64::from(id)))
}

/// A part of a millisecond is one.
fn milliseconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis() + 1).unwrap_or(u32::MAX - 1)
}

/// The bytes that may be written now, in one piece.
fn gathered(conn: &mut Conn, now: Instant) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let outbox = conn.poll_write(now);
        if outbox.is_empty() || bytes.len() >= WRITE_BYTES_MAX {
            break;
        }
        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
        let filled = outbox.slices(&mut slices, WRITE_BYTES_MAX);
        let before = bytes.len();
        for slice in &slices[..filled] {
            bytes.extend_from_slice(slice);
        }
        let length = bytes.len() - before;
        outbox.advance(length);
    }
    (!bytes.is_empty()).then_some(bytes)
}
