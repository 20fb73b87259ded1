//! The client: what the engine does with the pool and its machines, without sockets.
//!
//! Every request ends once. It is sent again only when it is provably unprocessed and its body can
//! be.

use super::ledger::Ledger;
use super::link::{End, Exchange, Link};
use super::machine::Machine;
use super::world::{Happening, Outcome, SILENCE_MAX, World, speaks_h2};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::error::{Closed, H2Code, Misuse, Violation};
use trunkline_core::http::{Fields, RequestHead, Side, StreamId, Token, Version};
use trunkline_core::pool::{AttemptId, Capacity, Multiplexing, OriginId, Standing};
use trunkline_core::{h1, h2};

/// How often one request is sent.
pub(super) const TRIES_MAX: u32 = 3;
/// An exchange without any progress for this long is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);
/// How often a slow reader reads.
pub(super) const READ_EVERY: Duration = Duration::from_millis(50);
/// The largest piece of an upload.
const PIECE_BYTES: u64 = 20_000;
/// What an outbox holds at most beside its bound: one write of `poll_write`, and a frame.
const OUTBOX_SLACK_BYTES: usize = 96 * 1024;

impl World {
    pub(super) fn submit(&mut self, request: u32) {
        let plan = &self.plan.requests[request as usize];
        let deadline = plan.patience.map(|patience| self.now + patience);
        let own = &mut self.requests[request as usize];
        if own.settled.is_some() {
            return;
        }
        own.waits = true;
        let origin = &self.origins[plan.origin].origin;
        own.ticket = self.pool.submit(self.now, origin, request, deadline);
    }

    pub(super) fn abort(&mut self, request: u32) {
        let own = &self.requests[request as usize];
        if own.settled.is_some() {
            return;
        }
        if own.waits {
            let ticket = own.ticket.expect("what waits has a ticket");
            let cancelled = self.pool.cancel(self.now, ticket);
            assert_eq!(
                cancelled,
                Some(request),
                "a request in line that cannot be cancelled"
            );
            self.requests[request as usize].waits = false;
        } else if let Some((link, stream)) = own.at {
            let now = self.now;
            if let Some(own) = &mut self.links[link] {
                own.client
                    .machine
                    .reset(now, StreamId(stream), H2Code::CANCEL);
                own.exchanges.remove(&stream);
            }
            self.agenda.enter(
                now,
                Happening::Wake {
                    link,
                    side: Side::Client,
                },
            );
        }
        self.settle(request, Outcome::Aborted);
    }

    // Attempts.

    pub(super) fn begin_attempt(&mut self, origin: OriginId, attempt: AttemptId) {
        let named = self
            .pool
            .origin(origin)
            .expect("an origin that is being opened");
        let found = self.origins.iter().position(|own| own.origin == *named);
        let origin = found.expect("an origin of this world");
        let plan = &self.plan.origins[origin];
        // TCP, then TLS 1.3.
        let takes = 2 * plan.path.round_trip + plan.handshake_delay;
        self.agenda
            .enter(self.now + takes, Happening::Attempt { attempt, origin });
    }

    pub(super) fn end_attempt(&mut self, attempt: AttemptId, origin: usize) {
        let plan = &self.plan.origins[origin];
        if self.dice.per_mille(plan.handshake_failures_per_mille) {
            return self.pool.handle_attempt_failed(self.now, attempt);
        }
        let h2 = speaks_h2(plan);
        let config = Arc::new(self.plan.config.clone());
        let now = self.now;
        let (mut machine, multiplexing) = match h2 {
            true => (
                Machine::H2(h2::Conn::new(Side::Client, config, now)),
                Multiplexing::Yes,
            ),
            false => (
                Machine::H1(h1::Conn::new(Side::Client, config, now)),
                Multiplexing::No,
            ),
        };
        let reported = Capacity::fresh(machine.capacity(), !h2);
        let link = self.links.len();
        let connected = self
            .pool
            .handle_connected(now, attempt, multiplexing, reported);
        let Some(id) = connected else {
            return;
        };
        self.by_id.insert(id, link);
        let mut own = Link {
            origin,
            id,
            client: End::new(machine, now),
            server: End::new(self.server_machine(origin, h2), now),
            ledger: h2.then(Ledger::default),
            taken: 0,
            settled: !h2,
            draining: false,
            reported,
            left: false,
            exchanges: BTreeMap::new(),
            handlers: BTreeMap::new(),
            fault: None,
            mute_until: None,
            dead: false,
            streams_seen: 0,
            goaway_last: None,
            limits: Vec::new(),
            late: Vec::new(),
            ack_passed: false,
        };
        self.begin_server(link, &mut own);
        self.links.push(Some(Box::new(own)));
        self.inboxes.push(Vec::new());
        for side in [Side::Client, Side::Server] {
            self.agenda.enter(now, Happening::Wake { link, side });
        }
    }

    // A turn.

    pub(super) fn client_turn(&mut self, link: usize, own: &mut Link) {
        self.read_end(link, own, Side::Client, Self::take_client_events);
        self.report(own);
        for request in std::mem::take(&mut self.inboxes[link]) {
            own.taken += 1;
            self.start(link, own, request);
        }
        self.write_end(link, own, Side::Client);
        self.take_client_events(link, own);
        self.check_client(own);
        if own.client.machine.is_closed() && !std::mem::replace(&mut own.left, true) {
            self.pool.handle_closed(self.now, own.id);
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
        } else if own.client.machine.capacity() != own.reported.free {
            self.report(own);
        }
    }

    fn report(&mut self, own: &mut Link) {
        if own.left {
            return;
        }
        let (free, active) = (own.client.machine.capacity(), own.client.machine.active());
        own.settled |= free + active > 1;
        own.reported = Capacity {
            free,
            active,
            taken: own.taken,
            settled: own.settled,
            standing: match own.draining {
                true => Standing::Draining,
                false => Standing::Open,
            },
        };
        self.pool.handle_capacity(self.now, own.id, own.reported);
    }

    fn start(&mut self, link: usize, own: &mut Link, request: u32) {
        if self.requests[request as usize].settled.is_some() {
            return;
        }
        let active = own.client.machine.active();
        let plan = &self.plan.requests[request as usize];
        let head = request_head(request, plan.upload);
        let end = plan.upload == 0;
        let stream = match own.client.machine.open(self.now, &head, end) {
            Ok(stream) => stream.0,
            Err(Misuse::NoCapacity | Misuse::ConnectionClosed) => {
                return self.send_elsewhere(own, request);
            }
            Err(misuse) => panic!("request {request} cannot be opened: {misuse:?}"),
        };
        if let Some(limit) = own.limit_known() {
            assert!(
                active < limit,
                "a stream beside {active} where {limit} are allowed"
            );
        }
        let state = &mut self.requests[request as usize];
        state.tries += 1;
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
                settled: false,
                progress_at: self.now,
            },
        );
        self.agenda
            .enter(self.now + PATIENCE, Happening::Overdue { link, stream });
        self.upload(own, stream);
    }

    /// A request of which the peer provably processed nothing goes back to the pool.
    pub(super) fn send_elsewhere(&mut self, own: &Link, request: u32) {
        let state = &mut self.requests[request as usize];
        if state.settled.is_some() {
            return;
        }
        self.summary.sent_again += 1;
        state.at = None;
        state.waits = true;
        let plan = &self.plan.requests[request as usize];
        let deadline = plan.patience.map(|patience| self.now + patience);
        let origin = &self.origins[plan.origin].origin;
        state.ticket = self
            .pool
            .resubmit(self.now, origin, request, deadline, own.id);
    }

    pub(super) fn upload(&mut self, own: &mut Link, stream: u64) {
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

    // Bounds.

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

    /// Neither end finds fault with the other: both are ours.
    pub(super) fn check_closed(&self, side: Side, closed: Closed, own: &Link) {
        if let Closed::ByUs(violation) = closed {
            assert!(
                is_lateness(violation) && !self.calm,
                "the {side:?} found fault with an honest peer: {violation:?} ({:?})",
                own.fault
            );
        }
    }

    /// A connection that is over; every ledger of it was checked as it was written.
    pub(super) fn bury(&mut self, own: &Link) {
        if let Some(server) = own.server.machine.h2() {
            self.summary.refused += server.counts().refused;
        }
        if let Some(ledger) = &own.ledger {
            // A PING asks only whether a reset was seen.
            let (pings, resets) = (ledger.client.pings, ledger.client.resets);
            assert!(pings <= resets, "{pings} PINGs for {resets} resets");
        }
    }

    /// The path of a dead connection is noticed at last.
    pub(super) fn cut(&mut self, link: usize) {
        for side in [Side::Server, Side::Client] {
            if let Some(own) = &mut self.links[link] {
                own.end(side).eof = true;
                self.turn(link, side);
            }
        }
    }

    pub(super) fn fall_silent(&mut self, link: usize) {
        if let Some(own) = &mut self.links[link] {
            own.dead = true;
            self.agenda
                .enter(self.now + SILENCE_MAX, Happening::Cut { link });
        }
    }
}

/// What a slow or dead peer earns, which is no fault of a machine.
pub(super) fn is_lateness(violation: Violation) -> bool {
    matches!(
        violation,
        Violation::PrefaceTimeout
            | Violation::SettingsTimeout
            | Violation::HeadTimeout
            | Violation::HeaderBlockTimeout
            | Violation::BodyTimeout
            | Violation::BodyTruncated
            | Violation::StreamStalled
            | Violation::WriteStalled
            | Violation::RateTooLow
    )
}

fn request_head(request: u32, upload: u64) -> RequestHead {
    let mut fields = Fields::new();
    let method: &[u8] = if upload == 0 { b"GET" } else { b"POST" };
    fields.push(Token::METHOD, method);
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"origin.example");
    fields.push(Token::PATH, format!("/{request}").as_bytes());
    if upload > 0 {
        fields.push_named(b"content-length", upload.to_string().as_bytes());
    }
    RequestHead::from_fields(fields, Version::Http2).expect("the head is valid")
}
