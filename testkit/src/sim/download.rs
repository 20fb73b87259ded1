//! One connection, one or more long downloads: the world in which windows are measured. The
//! server has more to send than anybody reads; its machine and the client's are ours.

use super::agenda::Agenda;
use super::dice::Dice;
use super::ledger::Ledger;
use super::link::End;
use super::machine::Machine;
use super::path::{Line, PathPlan};
use super::seen::Seen;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::H2Code;
use trunkline_core::h2;
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::{Config, Windows};

/// How often a slow reader reads.
const READ_EVERY: Duration = Duration::from_millis(50);
/// What the server gives its machine at once.
const PIECE_BYTES: usize = 64 * 1024;

/// What is to be downloaded, over what.
#[derive(Clone, Debug)]
pub struct Download {
    /// The way.
    pub path: PathPlan,
    /// The client's windows.
    pub windows: Windows,
    /// One stream each: bytes per second, or `None` for as fast as they come.
    pub readers: Vec<Option<u64>>,
    /// A stream before them brings so many, so that the connection is warm: marks and times begin
    /// with the request behind it, once the line is empty again.
    pub warm_up_bytes: u64,
    /// The window that an earlier connection has shown to be needed; 0: there was none.
    pub path_need: u32,
    /// The server's kernel remembers the path too: all that it holds may be under way at once.
    pub sender_is_open: bool,
    /// Every DATA frame has one byte.
    pub one_byte: bool,
    /// A reader that takes everything at once has so many, and it is over.
    pub bytes: u64,
    /// It is over at the latest then.
    pub time: Duration,
    /// The chance of a loss.
    pub seed: u64,
}

#[derive(Debug)]
enum Happening {
    Arrive(Side, Bytes),
    Acknowledge(Side, u64),
    Wake(Side),
    Read,
}

#[derive(Debug)]
struct Reader {
    speed: Option<u64>,
    unread: u64,
    read: u64,
}

struct Scene {
    plan: Download,
    agenda: Agenda<Happening>,
    base: Instant,
    now: Instant,
    client: End,
    server: End,
    up: Line,
    down: Line,
    dice: Dice,
    ledger: Ledger,
    readers: BTreeMap<u64, Reader>,
    sending: Vec<StreamId>,
    /// The stream that warms the connection up, and what it has brought.
    warming: Option<(StreamId, u64)>,
    /// It has been reset; what is under way arrives before this.
    quiet_at: Option<Instant>,
    piece: Bytes,
    /// Bytes of the reader that takes everything at once.
    fast_read: u64,
    seen: Seen,
}

impl Download {
    /// One stream read as fast as it comes.
    pub fn of(path: PathPlan, windows: Windows, bytes: u64) -> Self {
        Self {
            path,
            windows,
            readers: vec![None],
            warm_up_bytes: 0,
            path_need: 0,
            sender_is_open: false,
            one_byte: false,
            bytes,
            time: Duration::from_secs(24 * 3600),
            seed: 0,
        }
    }
    /// Does it.
    pub fn run(self) -> Seen {
        Scene::new(self).run()
    }
}

impl Scene {
    fn new(plan: Download) -> Self {
        let base = Instant::now();
        let mut config = Config {
            windows: plan.windows.clone(),
            ..Config::default()
        };
        config.limits.concurrent_streams_max = 1000;
        let mut client = h2::Conn::new(Side::Client, Arc::new(config), base);
        client.remember_path(base, plan.path_need);
        let mut config = Config::default();
        config.limits.concurrent_streams_max = 1000;
        config.limits.running_handlers_max = 1000;
        let server = h2::Conn::new(Side::Server, Arc::new(config), base);
        let mut server = End::new(Machine::H2(server), base);
        if plan.sender_is_open {
            server.out.open_to(plan.path.bytes_under_way());
        }
        let piece = if plan.one_byte { 1 } else { PIECE_BYTES };
        Self {
            agenda: Agenda::default(),
            base,
            now: base,
            client: End::new(Machine::H2(client), base),
            server,
            up: Line::new(plan.path, base),
            down: Line::new(plan.path, base),
            dice: Dice::new(plan.seed),
            ledger: Ledger::default(),
            readers: BTreeMap::new(),
            sending: Vec::new(),
            warming: None,
            quiet_at: None,
            piece: Bytes::from(vec![0; piece]),
            fast_read: 0,
            seen: Seen::default(),
            plan,
        }
    }

    fn run(mut self) -> Seen {
        for side in [Side::Server, Side::Client] {
            self.agenda.enter(self.base, Happening::Wake(side));
        }
        if self.plan.readers.iter().any(Option::is_some) {
            self.agenda.enter(self.base, Happening::Read);
        }
        while let Some((at, happening)) = self.agenda.take() {
            self.now = at;
            if self.fast_read >= self.plan.bytes || at - self.base >= self.plan.time {
                break;
            }
            self.happen(happening);
        }
        self.finish()
    }

    fn finish(mut self) -> Seen {
        self.seen.lasted = self.now - self.base;
        self.seen.read = self.readers.values().map(|reader| reader.read).collect();
        self.seen.pings = self.ledger.client.pings;
        self.seen.window_updates = self.ledger.client.window_updates;
        self.seen.data_bytes = self.ledger.server.data_bytes();
        self.seen.data_frames = self.ledger.server.data_frames;
        if let Some(client) = self.client.machine.h2() {
            let first = self.readers.keys().next().copied().unwrap_or(1);
            let window = client.stream_window(StreamId(first));
            self.seen.window = window.map_or(0, |window| window.window);
            self.seen.round_trip = client.round_trip();
            self.seen.path_need = client.path_need(self.now);
        }
        self.seen
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrive(to, bytes) => {
                self.end(to).inbox.push_back(bytes);
                self.turn(to);
            }
            Happening::Acknowledge(from, bytes) => {
                let path = self.plan.path;
                self.end(from).out.acknowledge(bytes, &path);
                self.turn(from);
            }
            Happening::Wake(side) => {
                self.end(side).wake_at = None;
                self.turn(side);
            }
            Happening::Read => {
                self.read();
                self.agenda.enter(self.now + READ_EVERY, Happening::Read);
                self.turn(Side::Client);
            }
        }
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
        if self
            .end(side)
            .machine
            .next_deadline()
            .is_some_and(|at| at <= now)
        {
            self.end(side).machine.handle_timeout(now);
            self.take_events(side);
        }
        loop {
            match side {
                Side::Client => self.open(),
                Side::Server => self.fill(),
            }
            // What leaves the socket makes room in it.
            if !self.write(side) {
                break;
            }
            self.take_events(side);
        }
        self.take_events(side);
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
            self.agenda
                .enter(burst.acknowledged_at, Happening::Acknowledge(side, bytes));
            self.agenda
                .enter(burst.arrives_at, Happening::Arrive(to, burst.bytes));
        }
        wrote
    }

    fn take_events(&mut self, side: Side) {
        while let Some(event) = self.end(side).machine.poll_event() {
            match event {
                Event::BodyReceived { stream, data, .. } => self.receive(stream, data.len() as u64),
                Event::RequestReceived { stream, .. } => self.respond(stream),
                Event::ResponseReceived { .. }
                | Event::SendReady { .. }
                | Event::CapacityChanged => {}
                Event::StreamReset { stream, .. } => self.sending.retain(|&it| it != stream),
                other => panic!("an event that nothing caused: {other:?}"),
            }
        }
    }

    /// Opens what the server allows.
    fn open(&mut self) {
        if self.plan.warm_up_bytes > 0 {
            return self.warm_up();
        }
        while self.readers.len() < self.plan.readers.len() && self.client.machine.capacity() > 0 {
            let opened = self.client.machine.open(self.now, &request_head(), true);
            let stream = opened.expect("there is capacity");
            let reader = Reader {
                speed: self.plan.readers[self.readers.len()],
                unread: 0,
                read: 0,
            };
            self.readers.insert(stream.0, reader);
        }
    }

    /// Reads the stream before the readers', and ends it when it has brought enough. The line is
    /// then full of it, the more the wider its window was: the readers' time begins behind that.
    fn warm_up(&mut self) {
        match (self.warming, self.quiet_at) {
            (_, Some(at)) if at <= self.now => {
                self.plan.warm_up_bytes = 0;
                self.base = self.now;
                self.open();
            }
            (_, Some(_)) => {}
            (Some((stream, brought)), None) if brought >= self.plan.warm_up_bytes => {
                self.client.machine.reset(self.now, stream, H2Code::CANCEL);
                let at = self.now + 2 * self.plan.path.round_trip;
                self.quiet_at = Some(at);
                self.agenda.enter(at, Happening::Wake(Side::Client));
            }
            (Some(_), None) => {}
            (None, None) if self.client.machine.capacity() > 0 => {
                let opened = self.client.machine.open(self.now, &request_head(), true);
                self.warming = Some((opened.expect("there is capacity"), 0));
            }
            (None, None) => {}
        }
    }

    fn receive(&mut self, stream: StreamId, bytes: u64) {
        if let Some((warming, brought)) = &mut self.warming
            && *warming == stream
        {
            *brought += bytes;
            self.client
                .machine
                .consume(self.now, stream, bytes as usize);
            return;
        }
        let reader = self
            .readers
            .get_mut(&stream.0)
            .expect("a stream that was opened");
        if reader.speed.is_some() {
            reader.unread += bytes;
        } else {
            reader.read += bytes;
            self.fast_read = self.fast_read.max(reader.read);
            self.client
                .machine
                .consume(self.now, stream, bytes as usize);
            self.mark(self.fast_read);
        }
        if let Some(client) = self.client.machine.h2() {
            let unread = client.connection_window().unread;
            self.seen.unread_max = self.seen.unread_max.max(unread);
        }
    }

    fn mark(&mut self, read: u64) {
        let lasted = self.now - self.base;
        let mut mark = 1 << 20;
        while mark <= read {
            self.seen.marks.entry(mark).or_insert(lasted);
            mark *= 2;
        }
    }

    fn read(&mut self) {
        for (&stream, reader) in &mut self.readers {
            let Some(speed) = reader.speed else {
                continue;
            };
            let share = speed * READ_EVERY.as_millis() as u64 / 1000;
            let bytes = reader.unread.min(share);
            reader.unread -= bytes;
            reader.read += bytes;
            if bytes > 0 {
                self.client
                    .machine
                    .consume(self.now, StreamId(stream), bytes as usize);
            }
        }
    }

    fn respond(&mut self, stream: StreamId) {
        let head =
            ResponseHead::new(200, Fields::new(), Version::Http2).expect("the head is valid");
        let answered = self.server.machine.respond(self.now, stream, &head, false);
        answered.expect("the stream is open");
        self.sending.push(stream);
    }

    /// The server always has more.
    fn fill(&mut self) {
        for &stream in &self.sending {
            let many = if self.plan.one_byte { 200 } else { 4 };
            for _ in 0..many {
                if !self.server.out.has_room()
                    || self.server.machine.send_room(stream) < self.piece.len()
                {
                    break;
                }
                let sent =
                    self.server
                        .machine
                        .send_body(self.now, stream, self.piece.clone(), false);
                sent.expect("the stream is open");
                if self.plan.one_byte {
                    self.server.machine.poll_write(self.now);
                }
            }
        }
    }
}

fn request_head() -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"origin.example");
    fields.push(Token::PATH, b"/");
    RequestHead::from_fields(fields, Version::Http2).expect("the head is valid")
}
