//! The exchanges of one connection: each handler is polled inline where its request was read, and
//! keeps its slot only when it is not ready. No task, no lock and no allocation per exchange: a
//! slot's box, its waker and its place are used again.
//!
//! Invariant: `handler_done` is called once per slot taken, when it is given back.

use super::accept::Shown;
use super::access::{AccessLog, Record};
use super::metrics::{Counters, add};
use super::request::{Requests, trailer_map};
use super::respond::{Asked, Extra, Responses};
use super::service::HttpService;
use crate::body::{Body, Inlet};
use crate::connection_info::{ConnectionInfo, TlsInfo};
use crate::driver::machine::Machine;
use crate::driver::signals::{Signals, SlotWaker};
use crate::error::Error;
use crate::upgrade::{Offer, Upgraded};
use bytes::Bytes;
use http::{Request, StatusCode};
use slot::{Slot, Stage, Step};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::sync::oneshot;
use trunkline_core::http::{Fields, RequestHead, Reset, StreamId, Token};

#[path = "exchange_slot.rs"]
mod slot;

/// The exchanges of one connection.
pub(super) struct Exchanges<S: HttpService> {
    service: S,
    /// Nothing while the connection idles.
    scratch: Option<Box<Scratch>>,
    /// The connection is under TLS.
    secure: bool,
    /// What every answer carries beside the handler's fields.
    extra: Extra,
    /// Who wants to know what of the connection, if anybody does.
    view: Option<Box<View>>,
    signals: Arc<Signals>,
    slots: Vec<Slot<S>>,
    /// One per slot, made with it.
    wakers: Vec<Waker>,
    free: Vec<u32>,
    /// The slots in use, by stream. Handlers that are ready at once never enter it.
    waiting: Vec<(StreamId, u32)>,
    /// HTTP/1.1 requests that may leave HTTP: only the last one on a connection can.
    upgrade: Option<(StreamId, oneshot::Sender<Upgraded>)>,
}

/// What handlers and the access log learn of the connection.
struct View {
    info: ConnectionInfo,
    /// Requests carry it.
    attach: bool,
    sni_is_binding: bool,
    log: Option<AccessLog>,
    counters: Arc<Counters>,
}

impl View {
    /// Whether the request is for another host than the connection.
    fn is_misdirected(&self, head: &RequestHead) -> bool {
        let name = self.info.tls().and_then(TlsInfo::server_name);
        self.sni_is_binding && name.is_some_and(|name| !head.is_for(name))
    }
}

/// What turns heads into requests and responses into heads, with memory that is used again.
struct Scratch {
    requests: Requests,
    responses: Responses,
}

impl<S: HttpService> Exchanges<S> {
    /// None yet.
    pub(super) fn new(service: S, signals: Arc<Signals>, secure: bool, extra: Extra) -> Self {
        Self {
            service,
            scratch: None,
            secure,
            extra,
            view: None,
            signals,
            slots: Vec::new(),
            wakers: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            upgrade: None,
        }
    }
    /// How many wait for their handler or for room.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
    /// A request came: runs its handler as far as it goes.
    pub(super) fn start(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        head: RequestHead,
        end: bool,
    ) {
        if self
            .view
            .as_ref()
            .is_some_and(|view| view.is_misdirected(&head))
        {
            return self.misdirect(machine, now, stream, head);
        }
        let asked = Asked {
            stream,
            head: head.method() == b"HEAD",
            connect: head.method() == b"CONNECT",
        };
        let invite = !end
            && head
                .get(Token::EXPECT)
                .is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
        let (inlet, body) = if end {
            (None, Body::empty())
        } else {
            let (inlet, body) = Body::incoming(&self.signals, stream, head.content_length());
            (Some(inlet), body)
        };
        let mut request = self
            .scratch()
            .requests
            .build(&head, machine.version(), body);
        let offers = matches!(machine, Machine::H1(_))
            && (asked.connect || head.get(Token::UPGRADE).is_some());
        machine.recycle(head.into_fields());
        let Some(made) = &mut request else {
            self.scratch()
                .responses
                .status(machine, now, stream, StatusCode::BAD_REQUEST);
            machine.handler_done(now, stream);
            return;
        };
        if offers {
            let (sender, offer) = Offer::new();
            made.extensions_mut().insert(offer);
            self.upgrade = Some((stream, sender));
        }
        let record = self.introduce(made, now);
        let slot = self.take_slot(asked, inlet);
        self.slots[slot as usize].record = record;
        let progress = self.call(slot, &mut request, invite);
        if progress.is_none() {
            self.advance(machine, now, slot);
        } else {
            self.fail(machine, now, slot);
        }
        if !matches!(self.slots[slot as usize].stage, Stage::Free) {
            self.waiting.push((stream, slot));
        }
    }
    /// The connection is `info`; tells those who want to know.
    pub(super) fn show(&mut self, info: ConnectionInfo, shown: &Shown, counters: &Arc<Counters>) {
        self.view = Some(Box::new(View {
            info,
            attach: shown.info,
            sni_is_binding: shown.sni_is_binding,
            log: shown.log.clone(),
            counters: Arc::clone(counters),
        }));
    }
    /// Tells the request what it came on, and begins its line in the access log.
    fn introduce(&self, request: &mut Request<Body>, now: Instant) -> Option<Box<Record>> {
        let view = self.view.as_ref()?;
        if view.attach {
            request.extensions_mut().insert(view.info.clone());
        }
        view.log.as_ref().map(|_| Record::of(request, now))
    }
    /// The connection is not one for this host (RFC 9110 section 15.5.20).
    fn misdirect(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        head: RequestHead,
    ) {
        if let Some(view) = &self.view {
            add(&view.counters.misdirected, 1);
        }
        machine.recycle(head.into_fields());
        self.scratch()
            .responses
            .status(machine, now, stream, StatusCode::MISDIRECTED_REQUEST);
        machine.handler_done(now, stream);
    }
    /// A slot's waker was called, or the machine has room for its body again.
    pub(super) fn resume(&mut self, machine: &mut Machine, now: Instant, slot: u32) {
        let Some(taken) = self.slots.get(slot as usize) else {
            return;
        };
        // A late wake of an exchange that ended finds the slot free, or another exchange in it
        // that is polled once for nothing.
        if matches!(taken.stage, Stage::Free) {
            return;
        }
        let stream = taken.asked.stream;
        self.advance(machine, now, slot);
        if matches!(self.slots[slot as usize].stage, Stage::Free) {
            self.forget(stream);
        }
    }
    /// The machine has room for the body of `stream` again.
    pub(super) fn resume_stream(&mut self, machine: &mut Machine, now: Instant, stream: StreamId) {
        if let Some(slot) = self.slot_of(stream) {
            self.resume(machine, now, slot);
        }
    }
    /// Body bytes came.
    pub(super) fn receive(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) {
        let length = data.len();
        let read = self
            .inlet_of(stream)
            .is_some_and(|inlet| inlet.push(data, end));
        if !read && length > 0 {
            machine.consume(now, stream, length);
        }
    }
    /// The request's trailers came.
    pub(super) fn receive_trailers(&mut self, stream: StreamId, trailers: &Fields) {
        if let Some(inlet) = self.inlet_of(stream) {
            inlet.end(Some(trailer_map(trailers)));
        }
    }
    /// The exchange ended early: its handler is cancelled.
    pub(super) fn cancel(
        &mut self,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        reset: Reset,
    ) {
        if let Some(slot) = self.slot_of(stream) {
            if let Some(inlet) = &self.slots[slot as usize].inlet {
                inlet.fail(Error::reset(reset));
            }
            self.give_back(machine, now, slot);
            self.forget(stream);
        }
    }
    /// Where the connection goes that left HTTP with `stream`.
    pub(super) fn take_upgrade(&mut self, stream: StreamId) -> Option<oneshot::Sender<Upgraded>> {
        self.upgrade
            .take_if(|(offered, _)| *offered == stream)
            .map(|(_, sender)| sender)
    }
    /// Gives memory back while the connection idles.
    pub(super) fn release(&mut self) {
        if self.waiting.is_empty() {
            self.slots = Vec::new();
            self.wakers = Vec::new();
            self.free = Vec::new();
            self.waiting = Vec::new();
            self.scratch = None;
        }
    }
    fn scratch(&mut self) -> &mut Scratch {
        let Self {
            scratch,
            secure,
            extra,
            ..
        } = self;
        scratch.get_or_insert_with(|| Scratch::new(*secure, extra))
    }

    /// Hands the request to the service, or queues it; `Some(())` when the service failed.
    ///
    /// It is large, so it is taken out where it is used and not handed from one to the next.
    fn call(&mut self, slot: u32, request: &mut Option<Request<Body>>, invite: bool) -> Option<()> {
        let Self { service, slots, .. } = self;
        let mut cx = Context::from_waker(&self.wakers[slot as usize]);
        let slot = &mut slots[slot as usize];
        let ready = catch_unwind(AssertUnwindSafe(|| {
            let ready = service.poll_ready(&mut cx).map(|ready| ready.is_ok());
            if ready == Poll::Ready(true)
                && let Some(request) = request.take()
            {
                slot.handler.set(Some(service.call(request)));
            }
            ready
        }));
        match ready {
            Ok(Poll::Ready(true)) => slot.stage = Stage::Handling { invite },
            Ok(Poll::Pending) => {
                slot.stage = Stage::Queued(Box::new((service.clone(), request.take()?)));
            }
            Ok(Poll::Ready(false)) | Err(_) => return Some(()),
        }
        None
    }
    /// Runs the exchange as far as it goes; gives the slot back when it is over.
    fn advance(&mut self, machine: &mut Machine, now: Instant, index: u32) {
        let scratch = self
            .scratch
            .get_or_insert_with(|| Scratch::new(self.secure, &self.extra));
        let slot = &mut self.slots[index as usize];
        let mut cx = Context::from_waker(&self.wakers[index as usize]);
        loop {
            let step = match &mut slot.stage {
                Stage::Free => return,
                Stage::Queued(_) => slot.leave_queue(&mut cx),
                Stage::Handling { .. } => slot.run(machine, now, &mut scratch.responses, &mut cx),
                Stage::Sending => slot.send(machine, now, &mut cx),
            };
            match step {
                Step::Again => {}
                Step::Wait => return,
                Step::Over => break self.give_back(machine, now, index),
                Step::Failed => break self.fail(machine, now, index),
            }
        }
    }
    /// The handler failed or panicked before it gave a head.
    fn fail(&mut self, machine: &mut Machine, now: Instant, slot: u32) {
        let stream = self.slots[slot as usize].asked.stream;
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        self.scratch()
            .responses
            .status(machine, now, stream, status);
        if let Some(record) = &mut self.slots[slot as usize].record {
            record.status = Some(status);
        }
        self.give_back(machine, now, slot);
    }
    fn take_slot(&mut self, asked: Asked, inlet: Option<Inlet>) -> u32 {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.asked = asked;
            slot.inlet = inlet;
            return index;
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot {
            asked,
            stage: Stage::Free,
            handler: Box::pin(None),
            body: Box::pin(None),
            inlet,
            record: None,
        });
        self.wakers.push(SlotWaker::waker(&self.signals, index));
        index
    }
    fn give_back(&mut self, machine: &mut Machine, now: Instant, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.stage = Stage::Free;
        slot.handler.set(None);
        slot.body.set(None);
        slot.inlet = None;
        if let Some(record) = slot.record.take()
            && let Some(view) = &self.view
            && let Some(log) = &view.log
        {
            record.tell(log, &view.info, now);
        }
        machine.handler_done(now, slot.asked.stream);
        self.free.push(index);
    }
    fn slot_of(&self, stream: StreamId) -> Option<u32> {
        self.waiting
            .iter()
            .find(|(waiting, _)| *waiting == stream)
            .map(|(_, slot)| *slot)
    }
    fn inlet_of(&self, stream: StreamId) -> Option<&Inlet> {
        self.slots[self.slot_of(stream)? as usize].inlet.as_ref()
    }
    fn forget(&mut self, stream: StreamId) {
        if let Some(at) = self
            .waiting
            .iter()
            .position(|(waiting, _)| *waiting == stream)
        {
            self.waiting.swap_remove(at);
        }
    }
}

impl Scratch {
    fn new(secure: bool, extra: &Extra) -> Box<Self> {
        Box::new(Self {
            requests: Requests::new(secure),
            responses: Responses::new(extra.clone()),
        })
    }
}
