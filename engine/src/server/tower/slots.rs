//! The slots of a connection's exchanges: each has its index from the request's head to the end of the answer.

use super::service::HttpService;
use super::slot::{Slot, SlotStage};
use crate::body::{Body, Inlet};
use crate::driver::signals::{Signals, SlotWaker};
use crate::server::exchange::context::ConnectionContext;
use crate::server::exchange::request::Prepared;
use crate::server::exchange::send::SendSide;
use crate::server::exchange::turn::Turn;
use crate::server::observe::access::Record;
use crate::server::response::RequestFacts;
use http::Request;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use trunkline_core::http::StreamId;

/// Where exchanges run. A slot's index is its place here, and stays.
pub(super) struct Slots<S: HttpService> {
    pub(super) all: Vec<Slot<S>>,
    /// One per slot, made with it.
    pub(super) wakers: Vec<Waker>,
    free: Vec<u32>,
    /// The slots in use, by stream. Handlers that are ready at once never enter it.
    pub(super) waiting: Vec<(StreamId, u32)>,
    /// An exchange with a timeline waits since the last look at the reasons.
    pub(super) waits_unnoted: bool,
    /// The last request that came again.
    pub(super) prepared: Option<Prepared>,
}

impl<S: HttpService> Default for Slots<S> {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            wakers: Vec::new(),
            free: Vec::new(),
            waiting: Vec::new(),
            waits_unnoted: false,
            prepared: None,
        }
    }
}

impl<S: HttpService> Slots<S> {
    pub(super) fn take(
        &mut self,
        signals: &Arc<Signals>,
        (facts, began): (RequestFacts, Instant),
        inlet: Option<Inlet>,
        record: Option<Box<Record>>,
    ) -> u32 {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.all[index as usize];
            slot.facts = facts;
            slot.began = began;
            slot.send = SendSide::Head;
            slot.inlet = inlet;
            slot.is_unrequested = false;
            slot.record = record;
            return index;
        }
        let index = self.all.len() as u32;
        self.all.push(Slot {
            facts,
            began,
            stage: SlotStage::Free,
            send: SendSide::Head,
            handler: Box::pin(None),
            body: Box::pin(None),
            inlet,
            is_unrequested: false,
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
    pub(super) fn call(
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
            (Ok(Poll::Ready(true)), _) => slot.stage = SlotStage::Handling { invite },
            (Ok(Poll::Pending), Some(request)) => {
                // The service that was asked waits: it may stand in a queue, where a place that nothing polls any more
                // stops all behind it.
                let next = service.clone();
                let call = Box::new((std::mem::replace(service, next), request));
                slot.stage = SlotStage::Queued { call, invite };
            }
            _ => return false,
        }
        true
    }
    pub(super) fn give_back(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        connection_context: Option<&ConnectionContext>,
    ) {
        let slot = &mut self.all[index as usize];
        slot.stage = SlotStage::Free;
        slot.handler.set(None);
        slot.body.set(None);
        slot.inlet = None;
        slot.datagrams = None;
        if let Some(interim) = slot.interim.take() {
            drop(interim.take(true));
        }
        if let Some(record) = slot.record.take()
            && let Some(connection_context) = connection_context
        {
            connection_context.report(&record, turn.now);
        }
        turn.count_end(slot.began);
        turn.machine.handler_done(turn.now, slot.facts.stream);
        self.free.push(index);
    }
    pub(super) fn is_free(&self, index: u32) -> bool {
        self.stream_in(index).is_none()
    }
    /// The stream of the exchange in a slot, if there is one.
    pub(super) fn stream_in(&self, index: u32) -> Option<StreamId> {
        let slot = self.all.get(index as usize)?;
        (!matches!(slot.stage, SlotStage::Free)).then_some(slot.facts.stream)
    }
    /// The slot of a stream that waits.
    pub(super) fn of(&self, stream: StreamId) -> Option<u32> {
        self.waiting
            .iter()
            .find(|(waiting, _)| *waiting == stream)
            .map(|(_, slot)| *slot)
    }
    pub(super) fn forget(&mut self, stream: StreamId) {
        if let Some(at) = self
            .waiting
            .iter()
            .position(|(waiting, _)| *waiting == stream)
        {
            self.waiting.swap_remove(at);
        }
    }
}
