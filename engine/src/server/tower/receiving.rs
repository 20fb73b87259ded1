//! Passes the body of a request on to its reader, also behind a complete response.

use super::TowerExchanges;
use super::service::HttpService;
use super::slot::SlotStage;
use crate::body::header_map::map_of;
use crate::server::exchange::turn::Turn;
use bytes::Bytes;
use trunkline_core::http::{Fields, StreamId};

impl<S: HttpService> TowerExchanges<S> {
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
            inlet.end(Some(map_of(trailers)));
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
}
