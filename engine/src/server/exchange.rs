//! The exchanges of one connection under a tower service. Each handler is polled inline where its
//! request was read, and takes a slot only when it is pending. No task, lock or allocation per
//! exchange: a slot's box and waker are reused.
//!
//! Invariant: `handler_done` is called once per slot taken, when it is freed.

use super::accept::Shown;
use super::access::Record;
use super::early::EarlyData;
use super::request::{Prepared, trailer_map};
use super::respond::{Asked, Extra};
use super::scratch::Scratch;
use super::serve::{Exchanging, Left, Serve};
use super::service::HttpService;
use super::view::View;
use crate::body::{Body, Inlet};
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::Machine;
use crate::driver::signals::{Signals, SlotWaker};
use crate::upgrade::{Offer, Upgraded};
use bytes::Bytes;
use http::{Request, StatusCode};
use slot::{Slot, Stage, Step};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use tokio::sync::oneshot;
use trunkline_core::error::Closed;
use trunkline_core::http::{Fields, RequestHead, Reset, StreamId, Token, Version};

#[path = "exchange_lent.rs"]
mod lent;
#[path = "exchange_slot.rs"]
mod slot;

/// The exchanges of one connection.
pub(super) struct Exchanges<S: HttpService> {
    service: S,
    /// The connection is under TLS.
    secure: bool,
    /// Fields that every response carries beside the handler's.
    extra: Arc<Extra>,
    /// The handshake is not done: requests that come now are early data.
    early: bool,
    /// The largest datagram that a packet holds; `None`: the peer has not said that it takes any.
    datagram_size: Option<usize>,
    /// The connection's context for handlers and logs, if any of them reads it.
    view: Option<Box<View>>,
    signals: Arc<Signals>,
    /// Nothing while the connection idles.
    slots: Option<Box<Slots<S>>>,
    /// HTTP/1.1 requests that may leave HTTP: only the last one on a connection can.
    upgrade: Option<Box<Leave>>,
}

/// An exchange that may take the connection out of HTTP, and who waits for that.
struct Leave {
    stream: StreamId,
    taker: oneshot::Sender<Upgraded>,
}

/// Where exchanges run. A slot's index is its place here, and stays.
struct Slots<S: HttpService> {
    all: Vec<Slot<S>>,
    /// One per slot, made with it.
    wakers: Vec<Waker>,
    free: Vec<u32>,
    /// The slots in use, by stream. Handlers that are ready at once never enter it.
    waiting: Vec<(StreamId, u32)>,
    /// The last request that came again.
    prepared: Option<Prepared>,
}

/// A tower service, cloned for each connection.
#[derive(Clone)]
pub(super) struct Tower<S>(pub(super) S);

impl<S: HttpService> Serve for Tower<S> {
    type Exchanges = Exchanges<S>;

    fn exchanges(
        &self,
        signals: &Arc<Signals>,
        secure: bool,
        extra: &Arc<Extra>,
    ) -> Self::Exchanges {
        Exchanges {
            service: self.0.clone(),
            secure,
            extra: Arc::clone(extra),
            early: false,
            datagram_size: None,
            view: None,
            signals: Arc::clone(signals),
            slots: None,
            upgrade: None,
        }
    }
}

impl<S: HttpService> Exchanging for Exchanges<S> {
    fn len(&self) -> usize {
        self.slots.as_ref().map_or(0, |slots| slots.waiting.len())
    }
    fn start(
        &mut self,
        scratch: &mut Scratch,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
        head: RequestHead,
        end: bool,
    ) {
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
        let (version, secure) = (machine.version(), self.secure);
        let slots = self.slots.get_or_insert_default();
        let last = &mut slots.prepared;
        let mut request = Some(Request::new(body));
        let requests = &mut scratch.requests;
        let made = request.as_mut();
        let made = made.and_then(|made| requests.fill(made, &head, version, secure, last));
        let Some(made) = made else {
            let status = StatusCode::BAD_REQUEST;
            return self.turn_away(scratch, machine, now, stream, head, status);
        };
        let offers = matches!(machine, Machine::H1(_))
            && (asked.connect || head.has_hop_fields() && head.get(Token::UPGRADE).is_some());
        machine.recycle_head(head);
        if offers {
            let (taker, offer) = Offer::new();
            made.extensions_mut().insert(offer);
            self.upgrade = Some(Box::new(Leave { stream, taker }));
        }
        let view = self.view.as_ref();
        let record = view.and_then(|view| view.introduce(made, now));
        let slot = slots.take(&self.signals, asked, inlet, record);
        if self.early {
            made.extensions_mut().insert(EarlyData);
        }
        slots.lend(&self.extra, &self.signals, self.datagram_size, slot, made);
        if slots.call(&mut self.service, slot, &mut request, invite) {
            self.advance(scratch, machine, now, slot);
        } else {
            self.fail(scratch, machine, now, slot);
        }
        if let Some(slots) = &mut self.slots
            && !slots.is_free(slot)
        {
            slots.waiting.push((stream, slot));
        }
    }
    fn set_early(&mut self, early: bool) {
        self.early = early;
    }
    fn show(&mut self, info: Option<ConnectionInfo>, version: Version, shown: &Shown) {
        self.view = info.map(|info| Box::new(View::new(info, version, shown)));
    }
    fn extra(&self) -> &Extra {
        &self.extra
    }
    fn view(&self) -> Option<&View> {
        self.view.as_deref()
    }
    fn resume(&mut self, scratch: &mut Scratch, machine: &mut Machine, now: Instant, slot: u32) {
        // A late wake of an exchange that ended finds the slot free or gone, or another exchange
        // in it that is polled once for nothing.
        let Some(stream) = self.slots.as_ref().and_then(|slots| slots.stream_in(slot)) else {
            return;
        };
        self.advance(scratch, machine, now, slot);
        if let Some(slots) = &mut self.slots
            && slots.is_free(slot)
        {
            slots.forget(stream);
        }
    }
    fn resume_stream(
        &mut self,
        scratch: &mut Scratch,
        machine: &mut Machine,
        now: Instant,
        stream: StreamId,
    ) {
        if let Some(slot) = self.slots.as_ref().and_then(|slots| slots.of(stream)) {
            self.resume(scratch, machine, now, slot);
        }
    }
    fn receive(
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
    fn receive_trailers(
        &mut self,
        _: &mut Machine,
        _: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) {
        if let Some(inlet) = self.inlet_of(stream) {
            inlet.end(Some(trailer_map(trailers)));
        }
    }
    fn receive_datagram(&mut self, stream: StreamId, datagram: Bytes) {
        self.push_datagram(stream, datagram);
    }
    fn send_datagrams(&mut self, machine: &mut Machine, stream: StreamId) {
        self.pop_datagrams(machine, stream);
    }
    fn resize_datagrams(&mut self, size_max: Option<usize>) {
        self.tell_datagram_size(size_max);
    }
    fn cancel(&mut self, machine: &mut Machine, now: Instant, stream: StreamId, reset: Reset) {
        if let Some(slots) = &mut self.slots
            && let Some(slot) = slots.of(stream)
        {
            let ended = &mut slots.all[slot as usize];
            ended.fail_request(reset, &slots.wakers[slot as usize]);
            if let (Some(view), Some(record)) = (&mut self.view, &mut ended.record) {
                view.heed_reset(record, reset);
            }
            slots.give_back(machine, now, slot, self.view.as_deref());
            slots.forget(stream);
        }
    }
    fn leave(&mut self, left: Left) {
        let leave = self.upgrade.take_if(|leave| leave.stream == left.stream);
        if let Some(leave) = leave {
            // A handler that did not wait for it lets the connection close.
            let _ = leave.taker.send(left.bytes);
        }
    }
    fn release(&mut self) {
        self.slots.take_if(|slots| slots.waiting.is_empty());
    }
    fn close(&mut self, closed: Closed, now: Instant) {
        if let Some(view) = &self.view {
            view.tell_closed(closed, now);
        }
    }
}

impl<S: HttpService> Exchanges<S> {
    /// Runs the exchange as far as it goes; gives the slot back when it is over.
    fn advance(&mut self, scratch: &mut Scratch, machine: &mut Machine, now: Instant, index: u32) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let slot = &mut slots.all[index as usize];
        let mut cx = Context::from_waker(&slots.wakers[index as usize]);
        loop {
            let step = match &mut slot.stage {
                Stage::Free => return,
                Stage::Queued { .. } => slot.leave_queue(&mut cx),
                Stage::Handling { .. } => {
                    slot.run(machine, now, &mut scratch.responses, &self.extra, &mut cx)
                }
                Stage::Sending => slot.send(machine, now, None, &mut cx),
            };
            match step {
                Step::Again => {}
                Step::Wait => return,
                Step::Over => break slots.give_back(machine, now, index, self.view.as_deref()),
                Step::Failed => break self.fail(scratch, machine, now, index),
            }
        }
    }
    /// The handler failed or panicked before it gave a head.
    fn fail(&mut self, scratch: &mut Scratch, machine: &mut Machine, now: Instant, slot: u32) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let stream = slots.all[slot as usize].asked.stream;
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        let responses = &mut scratch.responses;
        responses.status(machine, now, stream, &self.extra, status);
        if let Some(record) = &mut slots.all[slot as usize].record {
            record.status = Some(status);
        }
        slots.give_back(machine, now, slot, self.view.as_deref());
    }
}

impl<S: HttpService> Default for Slots<S> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            wakers: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            prepared: None,
        }
    }
}

impl<S: HttpService> Slots<S> {
    fn take(
        &mut self,
        signals: &Arc<Signals>,
        asked: Asked,
        inlet: Option<Inlet>,
        record: Option<Box<Record>>,
    ) -> u32 {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.all[index as usize];
            slot.asked = asked;
            slot.inlet = inlet;
            slot.record = record;
            return index;
        }
        let index = self.all.len() as u32;
        self.all.push(Slot {
            asked,
            stage: Stage::Free,
            handler: Box::pin(None),
            body: Box::pin(None),
            inlet,
            interim: None,
            datagrams: None,
            record,
        });
        self.wakers.push(SlotWaker::waker(signals, index));
        index
    }
    /// Hands the request to the service, or queues it; false when the service failed.
    ///
    /// It is large, so it is taken out where it is used and not handed from one to the next.
    fn call(
        &mut self,
        service: &mut S,
        slot: u32,
        request: &mut Option<Request<Body>>,
        invite: bool,
    ) -> bool {
        let mut cx = Context::from_waker(&self.wakers[slot as usize]);
        let slot = &mut self.all[slot as usize];
        let ready = catch_unwind(AssertUnwindSafe(|| {
            let ready = service.poll_ready(&mut cx).map(|ready| ready.is_ok());
            if ready == Poll::Ready(true)
                && let Some(request) = request.take()
            {
                slot.handler.set(Some(service.call(request)));
            }
            ready
        }));
        match (ready, request.take()) {
            (Ok(Poll::Ready(true)), _) => slot.stage = Stage::Handling { invite },
            (Ok(Poll::Pending), Some(request)) => {
                let call = Box::new((service.clone(), request));
                slot.stage = Stage::Queued { call, invite };
            }
            _ => return false,
        }
        true
    }
    fn give_back(&mut self, machine: &mut Machine, now: Instant, index: u32, view: Option<&View>) {
        let slot = &mut self.all[index as usize];
        slot.stage = Stage::Free;
        slot.handler.set(None);
        slot.body.set(None);
        slot.inlet = None;
        slot.datagrams = None;
        if let Some(interim) = slot.interim.take() {
            drop(interim.take(true));
        }
        if let Some(record) = slot.record.take()
            && let Some(view) = view
        {
            view.tell(&record, now);
        }
        machine.handler_done(now, slot.asked.stream);
        self.free.push(index);
    }
    fn is_free(&self, index: u32) -> bool {
        self.stream_in(index).is_none()
    }
    /// The stream of the exchange in a slot, if there is one.
    fn stream_in(&self, index: u32) -> Option<StreamId> {
        let slot = self.all.get(index as usize)?;
        (!matches!(slot.stage, Stage::Free)).then_some(slot.asked.stream)
    }
    /// The slot of a stream that waits.
    fn of(&self, stream: StreamId) -> Option<u32> {
        self.waiting
            .iter()
            .find(|(waiting, _)| *waiting == stream)
            .map(|(_, slot)| *slot)
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
