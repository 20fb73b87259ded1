//! One connection, many uploads at once over one line: the world in which a server's patience with
//! bodies is measured. Both machines are ours; the server reads everything as it comes.

use super::agenda::Agenda;
use super::dice::Dice;
use super::ledger::Ledger;
use super::link::End;
use super::machine::Machine;
use super::path::{Line, PathPlan};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::h2;
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::Config;

/// What the client gives its machine at once.
const PIECE_BYTES: usize = 64 * 1024;

/// What is to be uploaded, over what.
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

/// What was seen.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Uploads that were answered with all of their bytes read.
    pub complete: u32,
    /// Streams that either side has reset.
    pub resets: u64,
    /// How long it took.
    pub lasted: Duration,
    /// WINDOW_UPDATE frames of the server, by stream; stream 0 is the connection.
    pub updates: BTreeMap<u32, u64>,
}

#[derive(Debug)]
enum Happening {
    Arrive(Side, Bytes),
    Acknowledge(Side, u64),
    Wake(Side),
}

struct Scene {
    plan: Upload,
    agenda: Agenda<Happening>,
    now: Instant,
    client: End,
    server: End,
    up: Line,
    down: Line,
    dice: Dice,
    ledger: Ledger,
    /// Bytes that each upload has still to give its machine.
    left: BTreeMap<StreamId, u64>,
    /// Bytes that the server has read of each.
    read: BTreeMap<StreamId, u64>,
    opened: u32,
    outcome: Outcome,
}

impl Upload {
    /// Does it.
    pub fn run(self) -> Outcome {
        let base = Instant::now();
        let mut config = Config::default();
        config.limits.concurrent_streams_max = 1000;
        config.limits.running_handlers_max = 1000;
        config.timeouts.body_idle = Some(self.patience);
        // The line may be slower than any peer should be.
        config.timeouts.rate_min = 0;
        let config = Arc::new(config);
        let end = |side| {
            let conn = h2::Conn::new(side, Arc::clone(&config), base);
            End::new(Machine::H2(conn), base)
        };
        let mut scene = Scene {
            agenda: Agenda::default(),
            now: base,
            client: end(Side::Client),
            server: end(Side::Server),
            up: Line::new(self.path, base),
            down: Line::new(self.path, base),
            dice: Dice::new(0),
            ledger: Ledger::default(),
            left: BTreeMap::new(),
            read: BTreeMap::new(),
            opened: 0,
            outcome: Outcome::default(),
            plan: self,
        };
        for side in [Side::Server, Side::Client] {
            scene.agenda.enter(base, Happening::Wake(side));
        }
        while let Some((at, happening)) = scene.agenda.take() {
            scene.now = at;
            scene.happen(happening);
            if u64::from(scene.outcome.complete) + scene.outcome.resets >= u64::from(self.count) {
                break;
            }
        }
        scene.outcome.lasted = scene.now - base;
        scene.outcome.updates = scene.ledger.server.updates_by_stream().clone();
        scene.outcome
    }
}

impl Scene {
    fn happen(&mut self, happening: Happening) {
        let side = match happening {
            Happening::Arrive(to, bytes) => {
                self.end(to).inbox.push_back(bytes);
                to
            }
            Happening::Acknowledge(from, bytes) => {
                let path = self.plan.path;
                self.end(from).out.acknowledge(bytes, &path);
                from
            }
            Happening::Wake(side) => {
                self.end(side).wake_at = None;
                side
            }
        };
        self.turn(side);
    }
    fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
    fn turn(&mut self, side: Side) {
        let now = self.now;
        while let Some(bytes) = self.end(side).inbox.pop_front() {
            self.end(side).machine.handle_bytes(now, &bytes);
            self.take_events(side);
        }
        let deadline = self.end(side).machine.next_deadline();
        if deadline.is_some_and(|at| at <= now) {
            self.end(side).machine.handle_timeout(now);
            self.take_events(side);
        }
        loop {
            if side == Side::Client {
                self.open();
                self.fill();
            }
            if !self.write(side) {
                break;
            }
        }
        let end = self.end(side);
        if let Some(at) = end.machine.next_deadline().map(|at| at.max(now))
            && end.wake_at.is_none_or(|set| at < set)
        {
            end.wake_at = Some(at);
            self.agenda.enter(at, Happening::Wake(side));
        }
    }
    /// True when the socket took anything.
    fn write(&mut self, side: Side) -> bool {
        let mut wrote = false;
        let now = self.now;
        let (end, line) = match side {
            Side::Client => (&mut self.client, &mut self.up),
            Side::Server => (&mut self.server, &mut self.down),
        };
        while end.out.has_room() {
            let written = end.machine.written(now);
            if written.is_empty() {
                break;
            }
            self.ledger.book(now, side, &written);
            end.out.push(written);
            wrote = true;
        }
        let to = super::world::other(side);
        for burst in end.transmit(now, line, &mut self.dice) {
            let bytes = burst.bytes.len() as u64;
            let acknowledged = Happening::Acknowledge(side, bytes);
            self.agenda.enter(burst.acknowledged_at, acknowledged);
            let arrival = Happening::Arrive(to, burst.bytes);
            self.agenda.enter(burst.arrives_at, arrival);
        }
        wrote
    }
    fn take_events(&mut self, side: Side) {
        while let Some(event) = self.end(side).machine.poll_event() {
            match event {
                Event::BodyReceived { stream, data, end } if side == Side::Server => {
                    self.receive(stream, data.len(), end);
                }
                Event::StreamReset { stream, .. } => {
                    self.left.remove(&stream);
                    self.outcome.resets += 1;
                }
                Event::ResponseReceived { .. } => self.outcome.complete += 1,
                _ => {}
            }
        }
    }
    fn receive(&mut self, stream: StreamId, bytes: usize, end: bool) {
        self.server.machine.consume(self.now, stream, bytes);
        let read = self.read.entry(stream).or_default();
        *read += bytes as u64;
        if end {
            assert_eq!(*read, self.plan.bytes, "a body is whole");
            let head = ResponseHead::new(204, Fields::new(), Version::Http2);
            let head = head.expect("the head is valid");
            let answered = self.server.machine.respond(self.now, stream, &head, true);
            answered.expect("the stream is open");
            self.server.machine.handler_done(stream);
        }
    }
    fn open(&mut self) {
        while self.opened < self.plan.count && self.client.machine.capacity() > 0 {
            let head = self.head();
            let opened = self.client.machine.open(self.now, &head, false);
            let stream = opened.expect("there is capacity");
            self.left.insert(stream, self.plan.bytes);
            self.opened += 1;
        }
    }
    fn fill(&mut self) {
        let machine = &mut self.client.machine;
        for (&stream, left) in &mut self.left {
            let piece = (PIECE_BYTES as u64).min(*left);
            while *left > 0 && machine.send_room(stream) as u64 >= piece.min(*left) {
                let bytes = Bytes::from(vec![0; piece.min(*left) as usize]);
                *left -= bytes.len() as u64;
                let sent = machine.send_body(self.now, stream, bytes, *left == 0);
                sent.expect("the stream is open");
            }
        }
        self.left.retain(|_, left| *left > 0);
    }
    fn head(&self) -> RequestHead {
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"POST");
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"origin.example");
        fields.push(Token::PATH, b"/");
        if self.plan.announced {
            let length = self.plan.bytes.to_string();
            fields.push(Token::CONTENT_LENGTH, length.as_bytes());
        }
        RequestHead::from_fields(fields, Version::Http2).expect("the head is valid")
    }
}
