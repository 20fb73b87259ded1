//! The response events of the client's machines, and their readers.

use super::READ_EVERY;
use crate::sim::world::link::Link;
use crate::sim::world::{Outcome, World, WorldEvent};
use trunkline_core::error::TransportEnd;
use trunkline_core::http::{Event, Side, StreamId};

impl World {
    pub(super) fn take_client_events(&mut self, link: usize, own: &mut Link) {
        while let Some(event) = own.client.machine.poll_event() {
            match event {
                Event::ResponseReceived { stream, head, end } => {
                    own.answered = true;
                    if let Some(open) = own.exchanges.get_mut(&stream.0) {
                        assert_eq!(head.status, 200, "an answer nobody gave");
                        open.head_seen = true;
                        open.progress_at = self.now;
                    }
                    if end {
                        self.receive(link, own, stream.0, &[], true);
                    }
                }
                Event::BodyReceived { stream, data, end } => {
                    self.receive(link, own, stream.0, &data, end);
                }
                Event::StreamReset { stream, reset } => self.lose(own, stream.0, reset),
                Event::SendReady { stream } => self.upload(own, stream.0),
                Event::CapacityChanged | Event::PongReceived { .. } => {}
                Event::GoingAway { .. } => own.draining = true,
                Event::Closed(closed) => {
                    own.draining = true;
                    self.check_closed(Side::Client, closed, own);
                }
                other => panic!("an event that nothing caused: {other:?}"),
            }
        }
    }

    fn receive(&mut self, link: usize, own: &mut Link, stream: u64, data: &[u8], end: bool) {
        let is_delimited = own.delimits_by_end().is_some();
        let kind = own.client.eof;
        let Some(open) = own.exchanges.get_mut(&stream) else {
            return own
                .client
                .machine
                .consume(self.now, StreamId(stream), data.len());
        };
        let (request, offset) = (open.request, open.received);
        let len = data.len() as u64;
        open.received += len;
        open.unread += len;
        open.ended |= end;
        open.progress_at = self.now;
        let plan = &self.plan.requests[request as usize];
        assert!(open.received <= plan.download, "more than was sent");
        assert!(
            !end || open.received == plan.download,
            "request {request} ended early"
        );
        assert!(
            !end || !is_delimited || kind == Some(TransportEnd::InOrder),
            "request {request} is complete behind an end that is not in order"
        );
        let slow = plan.reads.is_some();
        self.check_body(request, offset, data);
        if !slow {
            self.consume(own, stream, len);
        } else if offset == 0 {
            self.events
                .push(self.now + READ_EVERY, WorldEvent::Read { link, stream });
        }
        self.finish_if_read(own, stream);
    }

    fn consume(&mut self, own: &mut Link, stream: u64, bytes: u64) {
        if let Some(open) = own.exchanges.get_mut(&stream) {
            open.unread -= bytes;
            open.progress_at = self.now;
        }
        own.client
            .machine
            .consume(self.now, StreamId(stream), bytes as usize);
    }

    /// A slow reader takes its share.
    pub(in crate::sim) fn read_some(&mut self, link: usize, stream: u64) {
        let Some(mut own) = self.links[link].take() else {
            return;
        };
        if let Some(open) = own.exchanges.get(&stream) {
            let speed = self.plan.requests[open.request as usize]
                .reads
                .unwrap_or(u64::MAX);
            let share = speed.saturating_mul(READ_EVERY.as_millis() as u64) / 1000;
            let bytes = open.unread.min(share);
            self.consume(&mut own, stream, bytes);
            self.finish_if_read(&mut own, stream);
            if own.exchanges.contains_key(&stream) {
                self.events
                    .push(self.now + READ_EVERY, WorldEvent::Read { link, stream });
            }
        }
        self.links[link] = Some(own);
        self.turn(link, Side::Client);
    }

    pub(super) fn finish_if_read(&mut self, own: &mut Link, stream: u64) {
        let Some(open) = own.exchanges.get_mut(&stream) else {
            return;
        };
        if !open.ended || open.unread > 0 {
            return;
        }
        let (request, done) = (open.request, open.upload_done || own.left);
        if !std::mem::replace(&mut open.limit_known, true) {
            self.complete(request, Outcome::Answered);
        }
        if done {
            own.exchanges.remove(&stream);
        }
    }
}
