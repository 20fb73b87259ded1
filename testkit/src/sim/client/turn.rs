//! A turn of the client's end: reads, reports to the pool, starts dispatched requests, writes.

use super::PATIENCE;
use crate::sim::machine::request_head;
use crate::sim::world::link::{Exchange, Link};
use crate::sim::world::{World, WorldEvent};
use trunkline_core::error::Misuse;
use trunkline_core::http::{Side, StreamId};
use trunkline_core::pool::{Capacity, Standing};

/// The largest piece of an upload.
const PIECE_BYTES: u64 = 20_000;
/// The most that an outbox holds beside its bound, bytes: one write of `poll_write`, and a frame.
const OUTBOX_SLACK_BYTES: usize = 96 * 1024;

impl World {
    pub(in crate::sim) fn client_turn(&mut self, link: usize, own: &mut Link) {
        self.read_end(link, own, Side::Client, Self::take_client_events);
        self.apply_others(link, own);
        self.judge_silence(link, own);
        self.report(link, own);
        if !self.inboxes[link].is_empty() {
            // The ledger learns which limits are acknowledged.
            self.write_end(link, own, Side::Client);
        }
        for request in std::mem::take(&mut self.inboxes[link]) {
            own.taken += 1;
            self.start(link, own, request);
        }
        // Behind what was dispatched before.
        if std::mem::take(&mut self.stops[link]) {
            own.draining = true;
            own.client.machine.shut_down(self.now);
        }
        self.write_end(link, own, Side::Client);
        self.take_client_events(link, own);
        self.check_client(own);
        if own.client.machine.is_closed() && !std::mem::replace(&mut own.left, true) {
            self.pool.handle_closed(self.now, own.id);
            self.summary.open_until = self.age();
            self.referee.closed(link);
            self.carry_out();
            for request in std::mem::take(&mut self.inboxes[link]) {
                self.send_elsewhere(own, request);
            }
            let streams: Vec<u64> = own.exchanges.keys().copied().collect();
            for stream in streams {
                assert!(
                    own.exchanges[&stream].ended,
                    "a closed connection keeps requests"
                );
                self.finish_if_read(own, stream);
            }
        } else {
            self.report(link, own);
        }
    }

    /// Tells the pool what is new.
    fn report(&mut self, link: usize, own: &mut Link) {
        if own.left {
            return;
        }
        let now = self.now;
        let round_trip = own.client.machine.round_trip();
        if round_trip != own.round_trip {
            own.round_trip = round_trip;
            if let Some(time) = round_trip {
                self.pool.handle_round_trip(own.id, time);
            }
        }
        let report = Capacity {
            free: own.client.machine.capacity(),
            active: own.client.machine.active(),
            taken: own.taken,
            limit_known: own.client.machine.is_limit_known(),
            standing: match own.draining {
                true => Standing::Draining,
                false if own.health.is_suspect() => Standing::Suspect {
                    since: own.health.unanswered_since(),
                },
                false => Standing::Open,
            },
        };
        if report == own.reported {
            return;
        }
        own.reported = report;
        self.referee.reported(now, link, report);
        self.pool.handle_capacity(now, own.id, report);
        self.carry_out();
    }

    fn start(&mut self, link: usize, own: &mut Link, request: u32) {
        if self.requests[request as usize].limit_known.is_some() {
            return;
        }
        self.check_up(own);
        let active = own.client.machine.active();
        let is_written = own.client.machine.poll_write(self.now).is_empty();
        let plan = &self.plan.requests[request as usize];
        let end = plan.upload == 0;
        let method: &[u8] = if end { b"GET" } else { b"POST" };
        let length = (!end).then_some(plan.upload);
        let head = request_head(method, &format!("/{request}"), length);
        let stream = match own.client.machine.open(self.now, &head, end) {
            Ok(stream) => stream.0,
            Err(Misuse::NoCapacity | Misuse::ConnectionClosed) => {
                return self.send_elsewhere(own, request);
            }
            Err(misuse) => panic!("request {request} cannot be opened: {misuse:?}"),
        };
        if let Some(limit) = own.limit_known() {
            assert!(
                active < limit || !is_written,
                "a stream beside {active} where {limit} are allowed"
            );
        }
        let state = &mut self.requests[request as usize];
        state.tries += 1;
        self.summary.sent += 1;
        state.at = Some((link, stream));
        own.exchanges.insert(
            stream,
            Exchange {
                request,
                sent: 0,
                upload_done: end,
                head_seen: false,
                received: 0,
                unread: 0,
                ended: false,
                limit_known: false,
                progress_at: self.now,
            },
        );
        self.events
            .push(self.now + PATIENCE, WorldEvent::Overdue { link, stream });
        self.upload(own, stream);
    }

    pub(in crate::sim) fn upload(&mut self, own: &mut Link, stream: u64) {
        let Some(open) = own.exchanges.get_mut(&stream) else {
            return;
        };
        let whole = self.plan.requests[open.request as usize].upload;
        while !open.upload_done {
            let room = own.client.machine.send_room(StreamId(stream)) as u64;
            let piece = room.min(PIECE_BYTES).min(whole - open.sent);
            if piece == 0 {
                return;
            }
            let data = self.body(open.request, open.sent, piece);
            open.sent += data.len() as u64;
            open.upload_done = open.sent == whole;
            open.progress_at = self.now;
            let (id, end) = (StreamId(stream), open.upload_done);
            let sent = own.client.machine.send_body(self.now, id, data, end);
            if sent.is_err() {
                // It was reset in between; the event says so.
                return;
            }
        }
    }

    /// The client's own bounds hold after every turn.
    fn check_client(&mut self, own: &mut Link) {
        let limits = &self.plan.config.limits;
        let waiting = own.client.machine.poll_write(self.now).len();
        assert!(
            waiting
                <= limits.outbox_bytes_max.max(limits.send_buffer_bytes_max) + OUTBOX_SLACK_BYTES,
            "{waiting} bytes in an outbox"
        );
        let windows = &self.plan.config.windows;
        if let Some(machine) = own.client.machine.h2() {
            let unread = machine.connection_window().unread;
            let streams =
                u64::from(machine.active()) * u64::from(windows.stream_initial.max(65_535));
            assert!(
                unread <= windows.memory_budget + streams,
                "{unread} bytes unread"
            );
        }
    }
}
