//! The servers of this environment: connections and requests become completions, and JavaScript's
//! submissions become the engine's commands, all on the engine's thread.
//!
//! An exchange has a reused number, and a serial that distinguishes the exchanges of one number: a
//! submission for a finished exchange has another serial and is dropped.

#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "an engine on a thread measures nothing")
)]
pub(crate) mod load;

use self::load::Load;
use super::control;
use super::files::{self, FileAnswer, SendRoom};
use super::traffic::Traffics;
use crate::channel::codes::submission::*;
use crate::channel::codes::{NUMBER, SERIAL, body, completion, response_flag};
use crate::channel::records::{self, FileRequest};
use crate::channel::ring::{Entry, body_of, code_of};
use crate::channel::shared::Shared;
use crate::failure;
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::Instant;
use trunkline::core::error::H2Code;
use trunkline::core::h2::Accounts;
use trunkline::server::{Answer, ConnectionHandle, ResponseBody, StreamHandle};

/// Everything that is open on this environment's servers.
pub(crate) struct ServerBridge {
    pub(crate) shared: Arc<Shared>,
    pub(crate) traffics: Arc<Traffics>,
    pub(crate) exchanges: RefCell<Exchanges>,
    pub(crate) connections_open: RefCell<HashMap<u32, ConnectionHandle>>,
    pub(crate) connections: Cell<u32>,
    /// The load of JavaScript's thread, where the engine is there.
    pub(crate) load: Option<Rc<Load>>,
}

#[derive(Default)]
pub(crate) struct Exchanges {
    pub(crate) slots: Vec<Slot>,
    pub(crate) free: Vec<u32>,
    /// The buffer for the text of heads.
    pub(crate) text: Vec<u8>,
    /// The timeline of the exchange that ends next; 0: it has none.
    pub(crate) timeline: u32,
}

impl Exchanges {
    /// The number and the serial of a new one.
    pub(crate) fn begin(
        &mut self,
        commands: &ConnectionHandle,
        handle: StreamHandle,
    ) -> (u32, u32) {
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

pub(crate) struct Slot {
    pub(crate) serial: u32,
    pub(crate) open: Option<(ConnectionHandle, StreamHandle)>,
    /// The room of an answer whose body is a file.
    pub(crate) send_room: Option<Rc<SendRoom>>,
}

impl ServerBridge {
    pub(crate) fn new(
        shared: &Arc<Shared>,
        traffics: &Arc<Traffics>,
        load: Option<Rc<Load>>,
    ) -> Rc<Self> {
        Rc::new(Self {
            shared: Arc::clone(shared),
            traffics: Arc::clone(traffics),
            exchanges: RefCell::default(),
            connections_open: RefCell::default(),
            connections: Cell::new(0),
            load,
        })
    }
    /// The number and the serial of a new exchange.
    pub(crate) fn begin(&self, commands: &ConnectionHandle, handle: StreamHandle) -> (u32, u32) {
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
            ABORT if entry[abort::RESETS] == 1 => {
                return self.with_connection(number, ConnectionHandle::reset_connection);
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
        let (reason, fields, inline) = records::answer_parts(entry, bytes);
        let body = match body_of(entry) {
            body::INLINE => ResponseBody::Whole(Bytes::copy_from_slice(inline)),
            body::BY_REFERENCE => ResponseBody::Whole(self.shared.take_put(entry[respond::BODY])),
            body::STREAMING => ResponseBody::Streaming,
            _ => ResponseBody::Nothing,
        };
        let is_usual = reason.is_empty() && entry[0] & response_flag::NO_REASON == 0;
        let answer = Answer {
            status: entry[respond::STATUS] as u16,
            reason: (!is_usual).then_some(reason),
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
        let (fields, facts) = records::text_and_body(entry, bytes);
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
