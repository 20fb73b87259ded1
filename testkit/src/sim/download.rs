//! One connection with one or more long downloads: the world in which windows are measured. The
//! server has more to send than the reader takes; its machine and the client's are ours.

pub mod seen;

use super::machine::request_head;
use super::pair::{Conduct, Pair};
use super::path::PathPlan;
use bytes::Bytes;
use seen::Seen;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::error::H2Code;
use trunkline_core::h2;
use trunkline_core::http::{Event, Fields, ResponseHead, Side, StreamId, Version};
use trunkline_core::limits::{Config, Windows};

/// How often a slow reader reads.
const READ_EVERY: Duration = Duration::from_millis(50);
/// The bytes that the server gives its machine at once.
const PIECE_BYTES: usize = 64 * 1024;

/// The downloads and their path.
#[derive(Clone, Debug)]
pub struct Download {
    /// The way.
    pub path: PathPlan,
    /// The client's windows.
    pub windows: Windows,
    /// One stream each: bytes per second, or `None` for as fast as they come.
    pub readers: Vec<Option<u64>>,
    /// Bytes of a stream that warms the connection up first: marks and times begin with the request
    /// behind it, once the path is empty again.
    pub warm_up_bytes: u64,
    /// The window that an earlier connection has shown to be needed; 0: there was none.
    pub bdp_bytes: u32,
    /// The server's kernel remembers the path too: all that it holds may be under way at once.
    pub sender_is_open: bool,
    /// Every DATA frame has one byte.
    pub one_byte: bool,
    /// The run ends when a reader that takes everything at once has this many bytes.
    pub bytes: u64,
    /// It is over at the latest then.
    pub time: Duration,
    /// The chance of a loss.
    pub seed: u64,
}

#[derive(Debug)]
struct Reader {
    speed: Option<u64>,
    unread: u64,
    read: u64,
}

struct Downloads {
    plan: Download,
    /// When the readers' time began.
    began: Instant,
    readers: BTreeMap<u64, Reader>,
    /// When slow readers read next.
    read_at: Instant,
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
            bdp_bytes: 0,
            sender_is_open: false,
            one_byte: false,
            bytes,
            time: Duration::from_secs(24 * 3600),
            seed: 0,
        }
    }
    /// Does it.
    pub fn run(self) -> Seen {
        let began = Instant::now();
        let mut pair = self.pair(began);
        let mut downloads = Downloads::new(self, began);
        pair.run(&mut downloads);
        downloads.finish(&pair)
    }

    fn pair(&self, began: Instant) -> Pair {
        let mut config = Config::default().with_windows(self.windows.clone());
        config.limits.concurrent_streams_max = 1000;
        let mut client = h2::Conn::new(Side::Client, Arc::new(config), began);
        client.remember_path(began, self.bdp_bytes);
        let mut config = Config::default();
        config.limits.concurrent_streams_max = 1000;
        config.limits.running_handlers_max = 1000;
        let server = h2::Conn::new(Side::Server, Arc::new(config), began);
        let mut pair = Pair::new(began, client, server, self.path, self.seed);
        if self.sender_is_open {
            pair.server.out.open_to(self.path.bytes_under_way());
        }
        pair
    }
}

impl Conduct for Downloads {
    fn is_over(&self, pair: &Pair) -> bool {
        self.fast_read >= self.plan.bytes || pair.now - self.began >= self.plan.time
    }
    fn handle(&mut self, pair: &mut Pair, _: Side, event: Event) {
        match event {
            Event::BodyReceived { stream, data, .. } => self.receive(pair, stream, data.len()),
            Event::RequestReceived { stream, .. } => self.respond(pair, stream),
            Event::ResponseReceived { .. } | Event::SendReady { .. } | Event::CapacityChanged => {}
            Event::StreamReset { stream, .. } => self.sending.retain(|&it| it != stream),
            other => panic!("an event that nothing caused: {other:?}"),
        }
    }
    fn act(&mut self, pair: &mut Pair, side: Side) {
        match side {
            Side::Client => {
                self.read(pair);
                self.open(pair);
            }
            Side::Server => self.fill(pair),
        }
    }
}

impl Downloads {
    fn new(plan: Download, began: Instant) -> Self {
        let piece = if plan.one_byte { 1 } else { PIECE_BYTES };
        Self {
            began,
            readers: BTreeMap::new(),
            read_at: began,
            sending: Vec::new(),
            warming: None,
            quiet_at: None,
            piece: Bytes::from(vec![0; piece]),
            fast_read: 0,
            seen: Seen::default(),
            plan,
        }
    }

    fn finish(mut self, pair: &Pair) -> Seen {
        let (client, server) = (&pair.ledger.client, &pair.ledger.server);
        self.seen.lasted = pair.now - self.began;
        self.seen.read = self.readers.values().map(|reader| reader.read).collect();
        self.seen.pings = client.pings;
        self.seen.window_updates = client.window_updates;
        self.seen.data_bytes = server.data_bytes();
        self.seen.data_frames = server.data_frames;
        if let Some(client) = pair.client.machine.h2() {
            let first = self.readers.keys().next().copied().unwrap_or(1);
            let window = client.stream_window(StreamId(first));
            self.seen.window = window.map_or(0, |window| window.window);
            self.seen.round_trip = client.round_trip();
            self.seen.bdp_bytes = client.bdp_bytes(pair.now);
        }
        self.seen
    }

    /// Opens what the server allows.
    fn open(&mut self, pair: &mut Pair) {
        if self.plan.warm_up_bytes > 0 {
            return self.warm_up(pair);
        }
        while self.readers.len() < self.plan.readers.len() && pair.client.machine.capacity() > 0 {
            let head = request_head(b"GET", "/", None);
            let opened = pair.client.machine.open(pair.now, &head, true);
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
    fn warm_up(&mut self, pair: &mut Pair) {
        match (self.warming, self.quiet_at) {
            (_, Some(at)) if at <= pair.now => {
                self.plan.warm_up_bytes = 0;
                self.began = pair.now;
                self.open(pair);
            }
            (_, Some(_)) => {}
            (Some((stream, brought)), None) if brought >= self.plan.warm_up_bytes => {
                pair.client.machine.reset(pair.now, stream, H2Code::CANCEL);
                let at = pair.now + 2 * self.plan.path.round_trip;
                self.quiet_at = Some(at);
                pair.wake(Side::Client, at);
            }
            (Some(_), None) => {}
            (None, None) if pair.client.machine.capacity() > 0 => {
                let head = request_head(b"GET", "/", None);
                let opened = pair.client.machine.open(pair.now, &head, true);
                self.warming = Some((opened.expect("there is capacity"), 0));
            }
            (None, None) => {}
        }
    }

    fn receive(&mut self, pair: &mut Pair, stream: StreamId, bytes: usize) {
        let (client, brings) = (&mut pair.client.machine, bytes as u64);
        if let Some((warming, brought)) = &mut self.warming
            && *warming == stream
        {
            *brought += brings;
            return client.consume(pair.now, stream, bytes);
        }
        let reader = self
            .readers
            .get_mut(&stream.0)
            .expect("a stream that was opened");
        if reader.speed.is_some() {
            reader.unread += brings;
        } else {
            reader.read += brings;
            self.fast_read = self.fast_read.max(reader.read);
            client.consume(pair.now, stream, bytes);
            self.mark(pair.now - self.began);
        }
        if let Some(client) = client.h2() {
            let unread = client.connection_window().unread;
            self.seen.unread_max = self.seen.unread_max.max(unread);
        }
    }

    fn mark(&mut self, lasted: Duration) {
        let mut mark = 1 << 20;
        while mark <= self.fast_read {
            self.seen.marks.entry(mark).or_insert(lasted);
            mark *= 2;
        }
    }

    /// Slow readers read when it is time.
    fn read(&mut self, pair: &mut Pair) {
        if pair.now < self.read_at || self.plan.readers.iter().all(Option::is_none) {
            return;
        }
        self.read_at = pair.now + READ_EVERY;
        pair.wake(Side::Client, self.read_at);
        for (&stream, reader) in &mut self.readers {
            let Some(speed) = reader.speed else {
                continue;
            };
            let share = speed * READ_EVERY.as_millis() as u64 / 1000;
            let bytes = reader.unread.min(share);
            reader.unread -= bytes;
            reader.read += bytes;
            if bytes > 0 {
                let client = &mut pair.client.machine;
                client.consume(pair.now, StreamId(stream), bytes as usize);
            }
        }
    }

    fn respond(&mut self, pair: &mut Pair, stream: StreamId) {
        let head =
            ResponseHead::new(200, Fields::new(), Version::Http2).expect("the head is valid");
        let answered = pair.server.machine.respond(pair.now, stream, &head, false);
        answered.expect("the stream is open");
        self.sending.push(stream);
    }

    /// The server always has more.
    fn fill(&mut self, pair: &mut Pair) {
        let (server, now) = (&mut pair.server, pair.now);
        for &stream in &self.sending {
            let many = if self.plan.one_byte { 200 } else { 4 };
            for _ in 0..many {
                if !server.out.has_room() || server.machine.send_room(stream) < self.piece.len() {
                    break;
                }
                let piece = self.piece.clone();
                let sent = server.machine.send_body(now, stream, piece, false);
                sent.expect("the stream is open");
                if self.plan.one_byte {
                    server.machine.poll_write(now);
                }
            }
        }
    }
}
