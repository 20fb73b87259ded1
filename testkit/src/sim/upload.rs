//! One connection with many uploads at once over one path: the world in which a server's timeouts
//! for bodies are measured. Both machines are ours; the server reads everything as it arrives.

use super::machine::request_head;
use super::pair::{Conduct, Pair};
use super::path::PathPlan;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::h2;
use trunkline_core::http::{Event, Fields, ResponseHead, Side, StreamId, Version};
use trunkline_core::limits::Config;

/// The bytes that the client gives its machine at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The uploads and their path.
#[derive(Clone, Copy, Debug)]
pub struct Upload {
    /// The way.
    pub path: PathPlan,
    /// How many at once.
    pub count: u32,
    /// How long each is.
    pub bytes: u64,
    /// Each says so in its head.
    pub announced: bool,
    /// The server waits so long between two pieces of a body.
    pub patience: Duration,
}

/// The observations.
#[derive(Clone, Debug, Default)]
pub struct UploadOutcome {
    /// Uploads that were answered with all of their bytes read.
    pub complete: u32,
    /// Streams that either side has reset.
    pub resets: u64,
    /// How long it took.
    pub lasted: Duration,
    /// WINDOW_UPDATE frames of the server, by stream; stream 0 is the connection.
    pub updates: BTreeMap<u32, u64>,
}

struct Uploads {
    plan: Upload,
    /// Bytes that each upload has still to give its machine.
    left: BTreeMap<StreamId, u64>,
    /// Bytes that the server has read of each.
    read: BTreeMap<StreamId, u64>,
    opened: u32,
    outcome: UploadOutcome,
}

impl Upload {
    /// Does it.
    pub fn run(self) -> UploadOutcome {
        let began = Instant::now();
        let mut config = Config::default();
        config.limits.concurrent_streams_max = 1000;
        config.limits.running_handlers_max = 1000;
        config.timeouts.body_idle = Some(self.patience);
        // The line may be slower than any peer should be.
        config.timeouts.rate_min = 0;
        let config = Arc::new(config);
        let [client, server] = [Side::Client, Side::Server]
            .map(|side| h2::Conn::new(side, Arc::clone(&config), began));
        let mut uploads = Uploads {
            plan: self,
            left: BTreeMap::new(),
            read: BTreeMap::new(),
            opened: 0,
            outcome: UploadOutcome::default(),
        };
        let mut pair = Pair::new(began, client, server, self.path, 0);
        pair.run(&mut uploads);
        uploads.outcome.updates = pair.ledger.server.updates_by_stream().clone();
        uploads.outcome
    }
}

impl Conduct for Uploads {
    fn is_over(&self, _: &Pair) -> bool {
        let ended = u64::from(self.outcome.complete) + self.outcome.resets;
        ended >= u64::from(self.plan.count)
    }
    fn handle(&mut self, pair: &mut Pair, side: Side, event: Event) {
        match event {
            Event::BodyReceived { stream, data, end } if side == Side::Server => {
                self.receive(pair, stream, data.len(), end);
            }
            Event::StreamReset { stream, .. } => {
                self.left.remove(&stream);
                self.outcome.resets += 1;
                self.outcome.lasted = pair.now - pair.began;
            }
            Event::ResponseReceived { .. } => {
                self.outcome.complete += 1;
                self.outcome.lasted = pair.now - pair.began;
            }
            _ => {}
        }
    }
    fn act(&mut self, pair: &mut Pair, side: Side) {
        if side == Side::Client {
            self.open(pair);
            self.fill(pair);
        }
    }
}

impl Uploads {
    fn receive(&mut self, pair: &mut Pair, stream: StreamId, bytes: usize, end: bool) {
        let (server, now) = (&mut pair.server.machine, pair.now);
        server.consume(now, stream, bytes);
        let read = self.read.entry(stream).or_default();
        *read += bytes as u64;
        if end {
            assert_eq!(*read, self.plan.bytes, "a body is whole");
            let head = ResponseHead::new(204, Fields::new(), Version::Http2);
            let head = head.expect("the head is valid");
            let answered = server.respond(now, stream, &head, true);
            answered.expect("the stream is open");
            server.handler_done(now, stream);
        }
    }
    fn open(&mut self, pair: &mut Pair) {
        let length = self.plan.announced.then_some(self.plan.bytes);
        while self.opened < self.plan.count && pair.client.machine.capacity() > 0 {
            let head = request_head(b"POST", "/", length);
            let opened = pair.client.machine.open(pair.now, &head, false);
            let stream = opened.expect("there is capacity");
            self.left.insert(stream, self.plan.bytes);
            self.opened += 1;
        }
    }
    fn fill(&mut self, pair: &mut Pair) {
        let machine = &mut pair.client.machine;
        for (&stream, left) in &mut self.left {
            let piece = (PIECE_BYTES as u64).min(*left);
            while *left > 0 && machine.send_room(stream) as u64 >= piece.min(*left) {
                let bytes = Bytes::from(vec![0; piece.min(*left) as usize]);
                *left -= bytes.len() as u64;
                let sent = machine.send_body(pair.now, stream, bytes, *left == 0);
                sent.expect("the stream is open");
            }
        }
        self.left.retain(|_, left| *left > 0);
    }
}
