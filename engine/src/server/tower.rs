//! The exchanges of one connection under a tower service. Each handler is polled inline where its
//! request was read, and takes a slot only when it is pending. No task, lock or allocation per
//! exchange: a slot's box and waker are reused.
//!
//! Invariant: `handler_done` is called once per slot taken, when it is freed.

use super::exchange::context::ConnectionContext;
use super::exchange::info_policy::InfoPolicy;
use super::exchange::serve::{Exchanging, RawConnection, Serve};
use super::exchange::turn::Turn;
use super::response::RequestFacts;
use crate::body::Body;
use crate::config::HEADER_MAP_FIELDS_MAX;
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use crate::tunnel::upgrade::{Offer, Upgraded};
use bytes::Bytes;
use extensions::EarlyData;
use http::{Request, StatusCode};
use service::HttpService;
use slot::{SlotStage, Step};
use slots::Slots;
use std::future::Ready;
use std::sync::Arc;
use std::task::Context;
use std::time::Instant;
use tokio::sync::oneshot;
use trunkline_core::error::Closed;
use trunkline_core::http::{Fields, RequestHead, Reset, StreamId, Token, Version};

pub(super) mod extensions;
mod handler_runtime;
pub(super) mod interim;
pub(super) mod on_runtime;
pub(super) mod per_connection;
pub(super) mod runtime_tower;
pub(super) mod service;
pub(super) mod service_fn;
mod slot;
mod slots;
mod upgrading;

/// Streams of a connection that are looked at for the reasons of their waits: timelines of those behind them have none.
const TIMELINE_STREAMS_MAX: usize = 256;

/// The exchanges of one connection.
pub(super) struct TowerExchanges<S: HttpService> {
    service: S,
    /// The connection is under TLS.
    secure: bool,
    /// The handshake is not done: requests that come now are early data.
    early: bool,
    /// The largest datagram that a packet holds; `None`: the peer has not said that it takes any.
    datagram_size: Option<usize>,
    /// The connection's context for handlers and logs, if any of them reads it.
    connection_context: Option<Box<ConnectionContext>>,
    signals: Arc<Signals>,
    /// Nothing while the connection idles.
    slots: Option<Box<Slots<S>>>,
    /// HTTP/1.1 requests that may leave HTTP: only the last one on a connection can.
    upgrade: Option<Box<Leave>>,
}

/// An exchange that may take the connection out of HTTP, and the upgrade that waits for that.
struct Leave {
    stream: StreamId,
    taker: oneshot::Sender<Upgraded>,
}

/// A tower service, cloned for each connection.
#[derive(Clone)]
pub(super) struct Tower<S>(pub(super) S);

impl<S: HttpService> Serve for Tower<S> {
    type Exchanges = TowerExchanges<S>;

    fn exchanges(&self, signals: &Arc<Signals>, secure: bool) -> Self::Exchanges {
        TowerExchanges {
            service: self.0.clone(),
            secure,
            early: false,
            datagram_size: None,
            connection_context: None,
            signals: Arc::clone(signals),
            slots: None,
            upgrade: None,
        }
    }
}

impl<S: HttpService> Exchanging for TowerExchanges<S> {
    type Pause = Ready<()>;
    const ANSWERS_LOST_BODIES: bool = true;

    fn pause(&self) -> Option<Ready<()>> {
        None
    }
    fn len(&self) -> usize {
        self.slots.as_ref().map_or(0, |slots| slots.waiting.len())
    }
    fn target_of(&self, stream: StreamId) -> Option<Box<str>> {
        let slots = self.slots.as_ref()?;
        let slot = slots.all.get(slots.of(stream)? as usize)?;
        slot.record.as_ref()?.target()
    }
    fn start(&mut self, turn: &mut Turn<'_>, stream: StreamId, head: RequestHead, end: bool) {
        let facts = RequestFacts {
            stream,
            head: head.method() == b"HEAD",
            connect: head.method() == b"CONNECT",
        };
        let invite = !end && head.asks_for_continue();
        let (inlet, body) = if end {
            (None, Body::empty())
        } else {
            let (inlet, body) = Body::incoming(&self.signals, stream, head.content_length());
            let body = if invite { body.withheld() } else { body };
            (Some(inlet), body)
        };
        let version = match turn.machine.is_http10(stream) {
            true => Version::Http10,
            false => turn.machine.version(),
        };
        let secure = self.secure;
        let slots = self.slots.get_or_insert_default();
        let last = &mut slots.prepared;
        let mut request = Some(Request::new(body));
        let requests = &mut turn.scratch.requests;
        let made = request.as_mut();
        let made = made.and_then(|made| requests.fill(made, &head, version, secure, last));
        let Some(made) = made else {
            let status = match head.fields().len() > HEADER_MAP_FIELDS_MAX {
                true => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                false => StatusCode::BAD_REQUEST,
            };
            return self.reject(turn, stream, head, status);
        };
        // RFC 9110 section 7.8: the field of an HTTP/1.0 request is ignored.
        let takes_upgrade = version == Version::Http11 && head.has_hop_fields();
        let offers = matches!(turn.machine, Machine::H1(_))
            && (facts.connect || takes_upgrade && head.get(Token::UPGRADE).is_some());
        turn.machine.recycle_head(head);
        if offers {
            let (taker, offer) = Offer::new();
            made.extensions_mut().insert(offer);
            self.upgrade = Some(Box::new(Leave { stream, taker }));
        }
        let connection_context = self.connection_context.as_ref();
        let record = connection_context
            .and_then(|connection_context| connection_context.add_facts(made, turn.now));
        let slot = slots.take(&self.signals, (facts, turn.now), inlet, record);
        if self.early {
            made.extensions_mut().insert(EarlyData);
        }
        slots.add_extensions(turn.extra, &self.signals, self.datagram_size, slot, made);
        if slots.call(&mut self.service, slot, &mut request, invite) {
            self.advance(turn, slot);
        } else {
            self.fail(turn, slot);
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
    fn connected(&mut self, info: Option<ConnectionInfo>, version: Version, policy: &InfoPolicy) {
        self.connection_context =
            info.map(|info| Box::new(ConnectionContext::new(info, version, policy)));
    }
    fn connection_context(&self) -> Option<&ConnectionContext> {
        self.connection_context.as_deref()
    }
    fn resume(&mut self, turn: &mut Turn<'_>, slot: u32) {
        // A late wake of an exchange that ended finds the slot free or gone, or another exchange
        // in it that is polled once for nothing.
        let Some(stream) = self.slots.as_ref().and_then(|slots| slots.stream_in(slot)) else {
            return;
        };
        self.advance(turn, slot);
        if let Some(slots) = &mut self.slots
            && slots.is_free(slot)
        {
            slots.forget(stream);
        }
    }
    fn resume_stream(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        if let Some(slot) = self.slots.as_ref().and_then(|slots| slots.of(stream)) {
            self.resume(turn, slot);
        }
    }
    fn receive(&mut self, turn: &mut Turn<'_>, stream: StreamId, data: Bytes, end: bool) {
        self.pass_on(turn, stream, data, end);
    }
    fn receive_trailers(&mut self, turn: &mut Turn<'_>, stream: StreamId, trailers: &Fields) {
        self.pass_trailers_on(turn, stream, trailers);
    }
    fn lose_reader(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        self.end_receiving(turn, stream);
    }
    fn invite_body(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        if let Some(slots) = &mut self.slots
            && let Some(slot) = slots.of(stream)
            && let SlotStage::Handling { invite } = &mut slots.all[slot as usize].stage
            && std::mem::take(invite)
        {
            turn.invite_body(stream);
        }
    }
    fn receive_datagram(&mut self, stream: StreamId, datagram: Bytes) {
        self.push_datagram(stream, datagram);
    }
    fn send_datagrams(&mut self, machine: &mut Machine, stream: StreamId) {
        self.pop_datagrams(machine, stream);
    }
    fn resize_datagrams(&mut self, size_max: Option<usize>) {
        self.report_datagram_size(size_max);
    }
    fn cancel(&mut self, turn: &mut Turn<'_>, stream: StreamId, reset: Reset) {
        if let Some(slots) = &mut self.slots
            && let Some(slot) = slots.of(stream)
        {
            let ended = &mut slots.all[slot as usize];
            ended.fail_request(reset, &slots.wakers[slot as usize]);
            if let (Some(connection_context), Some(record)) =
                (&mut self.connection_context, &mut ended.record)
            {
                connection_context.note_reset(record, reset);
            }
            slots.give_back(turn, slot, self.connection_context.as_deref());
            slots.forget(stream);
        }
    }
    fn lose_body(&mut self, turn: &mut Turn<'_>, stream: StreamId, reset: Reset) {
        self.end_with_error(turn, stream, reset);
    }
    fn note_waits(&mut self, machine: &Machine, now: Instant) {
        if let Some(slots) = &mut self.slots
            && std::mem::take(&mut slots.waits_unnoted)
        {
            let snapshot = machine.inspect(now, TIMELINE_STREAMS_MAX);
            let noted = slots.all.iter_mut().filter(|slot| slot.has_timeline());
            noted.for_each(|slot| slot.note_wait(now, &snapshot));
        }
    }
    fn leave(&mut self, left: RawConnection) {
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
        if let Some(connection_context) = &self.connection_context {
            connection_context.report_closed(closed, now);
        }
    }
}

impl<S: HttpService> TowerExchanges<S> {
    /// Runs the exchange as far as it goes; gives the slot back when it is over.
    fn advance(&mut self, turn: &mut Turn<'_>, index: u32) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let slot = &mut slots.all[index as usize];
        let mut cx = Context::from_waker(&slots.wakers[index as usize]);
        loop {
            let step = match &mut slot.stage {
                SlotStage::Free | SlotStage::Receiving => return,
                SlotStage::Queued { .. } => slot.leave_queue(&mut cx),
                SlotStage::Handling { .. } => slot.run(turn, &mut cx),
                SlotStage::Sending => slot.send(turn, None, &mut cx),
            };
            match step {
                Step::Again => {}
                Step::Wait => {
                    slots.waits_unnoted |= slot.has_timeline();
                    return;
                }
                Step::Over if !slot.finish_response() => return,
                Step::Over | Step::Cut => {
                    break slots.give_back(turn, index, self.connection_context.as_deref());
                }
                Step::Failed => break self.fail(turn, index),
            }
        }
    }
    /// The handler failed or panicked before it gave a head.
    fn fail(&mut self, turn: &mut Turn<'_>, slot: u32) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let failed = &slots.all[slot as usize];
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        turn.answer_status(failed.facts.stream, status, failed.began);
        if let Some(record) = &mut slots.all[slot as usize].record {
            record.answered(status);
        }
        slots.give_back(turn, slot, self.connection_context.as_deref());
    }
}
