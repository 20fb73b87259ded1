//! The extensions that a handler gets for the time of its exchange: the mark of early data, the sender of interim
//! responses, and the datagrams of a tunnel; and the body that its request brings, also behind a complete response.

use super::interim::InterimSender;
use super::service::HttpService;
use super::slot::SlotStage;
use super::{Slots, TowerExchanges};
use crate::body::{Body, Inlet};
use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use crate::error::Error;
use crate::server::exchange::turn::Turn;
use crate::server::response::AnswerOptions;
use crate::tunnel::datagrams::DatagramInlet;
use crate::tunnel::upgrade::Protocol;
use bytes::Bytes;
use http::{Request, Version};
use std::sync::Arc;
use trunkline_core::http::{Fields, Reset, StreamId};

/// Extension of a request that arrived before its connection's handshake was done
/// ([`Server::early_data`](crate::Server::early_data)): an attacker may have recorded and replayed
/// it. A handler that must not process a replay answers with `425 (Too Early)` (RFC 8470 section
/// 5.2); the client then sends the request again after the handshake, without this extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlyData;

impl<S: HttpService> Slots<S> {
    /// Puts it among the request's extensions. `datagram_size`: what a packet holds.
    pub(super) fn add_extensions(
        &mut self,
        extra: &AnswerOptions,
        signals: &Arc<Signals>,
        datagram_size: Option<usize>,
        slot: u32,
        request: &mut Request<Body>,
    ) {
        let index = slot as usize;
        if extra.interim {
            let interim = InterimSender::new(self.wakers[index].clone());
            request.extensions_mut().insert(interim.clone());
            self.all[index].interim = Some(interim);
        }
        // RFC 9297 section 2: only an extended CONNECT gives datagrams a meaning.
        if extra.datagrams
            && request.version() == Version::HTTP_3
            && request.extensions().get::<Protocol>().is_some()
        {
            let stream = self.all[index].facts.stream;
            let (inlet, datagrams) = DatagramInlet::new(signals, stream, datagram_size);
            self.all[index].datagrams = Some(inlet);
            request.extensions_mut().insert(datagrams);
        }
    }
}

impl<S: HttpService> TowerExchanges<S> {
    /// A datagram came.
    pub(super) fn push_datagram(&self, stream: StreamId, datagram: Bytes) {
        if let Some(inlet) = self.datagrams_of(stream) {
            inlet.push(datagram);
        }
    }
    /// The handler of `stream` has datagrams to send.
    pub(super) fn pop_datagrams(&self, machine: &mut Machine, stream: StreamId) {
        if let Some(inlet) = self.datagrams_of(stream)
            && let Some(h3) = machine.h3()
        {
            for datagram in inlet.take() {
                // Our side of the stream may be closed by now: then it is lost.
                let _ = h3.send_datagram(stream, &datagram);
            }
        }
    }
    /// A packet holds so much from now on.
    pub(super) fn report_datagram_size(&mut self, size_max: Option<usize>) {
        self.datagram_size = size_max;
        let slots = self.slots.iter().flat_map(|slots| &slots.all);
        for inlet in slots.filter_map(|slot| slot.datagrams.as_ref()) {
            inlet.resize(size_max);
        }
    }
    pub(super) fn pass_on(
        &mut self,
        turn: &mut Turn<'_>,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) {
        let length = data.len();
        let read = self
            .inlet_of(stream)
            .is_some_and(|inlet| inlet.push(data, end));
        if !read && length > 0 {
            turn.machine.consume(turn.now, stream, length);
        }
        if end || !read {
            self.end_receiving(turn, stream);
        }
    }
    pub(super) fn pass_trailers_on(
        &mut self,
        turn: &mut Turn<'_>,
        stream: StreamId,
        trailers: &Fields,
    ) {
        if let Some(inlet) = self.inlet_of(stream) {
            inlet.end(trailers);
        }
        self.end_receiving(turn, stream);
    }
    /// No more of the request's body comes, for the reason in `reset`; its handler answers.
    pub(super) fn end_with_error(&mut self, turn: &mut Turn<'_>, stream: StreamId, reset: Reset) {
        if let Some(inlet) = self.inlet_of(stream) {
            inlet.fail(Error::reset(reset));
        }
        if let Some(connection_context) = &mut self.connection_context {
            let slots = self.slots.as_mut();
            let record = slots.and_then(|slots| {
                let slot = slots.of(stream)?;
                slots.all[slot as usize].record.as_deref_mut()
            });
            connection_context.note_lost_body(record, reset);
        }
        self.end_receiving(turn, stream);
    }
    /// Ends an exchange whose response is complete, if no reader is left that waits for the rest of its request.
    pub(super) fn end_receiving(&mut self, turn: &mut Turn<'_>, stream: StreamId) {
        let Some(slots) = &mut self.slots else {
            return;
        };
        let Some(index) = slots.of(stream) else {
            return;
        };
        let slot = &slots.all[index as usize];
        if matches!(slot.stage, SlotStage::Receiving) && !slot.is_received_on() {
            slots.give_back(turn, index, self.connection_context.as_deref());
            slots.forget(stream);
        }
    }
    /// The pipe of a request's body.
    pub(super) fn inlet_of(&self, stream: StreamId) -> Option<&Inlet> {
        let slots = self.slots.as_ref()?;
        slots.all[slots.of(stream)? as usize].inlet.as_ref()
    }
    fn datagrams_of(&self, stream: StreamId) -> Option<&DatagramInlet> {
        let slots = self.slots.as_ref()?;
        slots.all[slots.of(stream)? as usize].datagrams.as_ref()
    }
}
