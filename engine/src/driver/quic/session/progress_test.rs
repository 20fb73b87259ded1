//! Readers that pause and continue in any order: each body arrives whole, both ways, and a single
//! reader never has more unread bytes in flight than the initial window.

use super::*;
use trunkline_core::limits::QUIC_RECEIVE_WINDOW_BYTES;

const KIB: u64 = 1024;
/// Plays of each test.
const SEEDS: u64 = 24;

/// xorshift64*: the same numbers for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// One body and its reader.
pub(super) struct Transfer {
    stream: StreamId,
    reader: Side,
    size: u64,
    /// Given to the sender's machine.
    granted: u64,
    /// Handed to the reader.
    came: u64,
    read: u64,
    rests: bool,
    ended: bool,
    /// The server has begun its answer.
    begun: bool,
}

pub(super) struct Play {
    pub(super) scene: Scene,
    pub(super) transfers: Vec<Transfer>,
    /// Bytes that came to the reader of the first transfer beyond what it has read, at most.
    unread_max: u64,
    /// Bytes of the connection before the first transfer.
    before: u64,
    began: Instant,
}

impl Play {
    pub(super) fn new(one_way: Duration, bytes_per_second: u64) -> Self {
        let mut scene = Scene::new(Windows::default());
        for end in [&mut scene.client, &mut scene.server] {
            end.one_way = one_way;
            end.bytes_per_second = bytes_per_second;
        }
        scene.connect();
        let began = scene.now;
        Self {
            scene,
            began,
            transfers: Vec::new(),
            unread_max: 0,
            before: 0,
        }
    }
    pub(super) fn begin(&mut self, reader: Side, size: u64) {
        let method: &[u8] = match reader {
            Side::Client => b"GET",
            Side::Server => b"POST",
        };
        let mut fields = Fields::new();
        fields.push(Token::METHOD, method);
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"localhost");
        fields.push(Token::PATH, b"/");
        let head = RequestHead::from_fields(fields, Version::Http3).unwrap();
        let machine = &mut self.scene.client.machine;
        let opened = machine.open(self.scene.now, &head, reader == Side::Client);
        self.transfers.push(Transfer {
            stream: opened.unwrap(),
            reader,
            size,
            granted: 0,
            came: 0,
            read: 0,
            rests: false,
            ended: false,
            begun: false,
        });
    }
    fn take_facts(&mut self) -> bool {
        let mut any = false;
        let now = self.scene.now;
        for side in [Side::Client, Side::Server] {
            let machine = match side {
                Side::Client => &mut self.scene.client.machine,
                Side::Server => &mut self.scene.server.machine,
            };
            while let Some(fact) = machine.poll_event() {
                any = true;
                match fact {
                    Fact::RequestReceived { stream, .. } => {
                        let mut all = self.transfers.iter_mut();
                        let found = all.find(|it| it.stream == stream).unwrap();
                        found.begun = true;
                        if found.reader == Side::Client {
                            let head = ResponseHead::new(200, Fields::new(), Version::Http3);
                            machine.respond(now, stream, &head.unwrap(), false).unwrap();
                        }
                    }
                    Fact::BodyReceived { stream, data, end } => {
                        let mut all = self.transfers.iter_mut();
                        let found = all.find(|it| it.stream == stream).unwrap();
                        if found.reader != side {
                            continue;
                        }
                        found.came += data.len() as u64;
                        found.ended |= end;
                        if !found.rests {
                            found.read += data.len() as u64;
                            machine.consume(now, stream, data.len());
                        }
                    }
                    Fact::StreamReset { .. } | Fact::Closed(_) => {
                        let lost = self.scene.lost();
                        panic!("{side:?} at {:?}: {fact:?}, {lost:?}", now - self.began);
                    }
                    _ => {}
                }
            }
        }
        any
    }
    fn feed(&mut self) {
        let now = self.scene.now;
        for it in &mut self.transfers {
            let machine = match it.reader {
                Side::Client => &mut self.scene.server.machine,
                Side::Server => &mut self.scene.client.machine,
            };
            if it.reader == Side::Client && !it.begun {
                continue;
            }
            while it.granted < it.size && machine.send_room(it.stream) > 0 {
                let len = (it.size - it.granted).min(16 * KIB);
                it.granted += len;
                let piece = self.scene.piece.slice(..len as usize);
                let ends = it.granted == it.size;
                machine.send_body(now, it.stream, piece, ends).unwrap();
            }
        }
    }
    /// The reader takes up to `bytes` of the available bytes.
    fn read(&mut self, at: usize, bytes: u64) {
        let it = &mut self.transfers[at];
        let bytes = bytes.min(it.came - it.read);
        it.read += bytes;
        let machine = match it.reader {
            Side::Client => &mut self.scene.client.machine,
            Side::Server => &mut self.scene.server.machine,
        };
        machine.consume(self.scene.now, it.stream, bytes as usize);
    }
    pub(super) fn run_for(&mut self, time: Duration) {
        let until = self.scene.now + time;
        while self.scene.now < until {
            let scene = &mut self.scene;
            scene.client.receive(scene.now);
            let answers = scene.server.receive(scene.now);
            scene.client.carry(scene.now, scene.server.address, answers);
            self.take_facts();
            self.feed();
            let scene = &mut self.scene;
            let up = scene.client.turn(scene.now);
            let down = scene.server.turn(scene.now);
            scene.server.carry(scene.now, scene.client.address, up);
            scene.client.carry(scene.now, scene.server.address, down);
            self.note_unread();
            if self.take_facts() {
                continue;
            }
            let scene = &mut self.scene;
            let next = [scene.client.next(), scene.server.next(), Some(until)];
            let next = next.into_iter().flatten().min().unwrap();
            scene.now = scene.now.max(next);
        }
    }
    /// Bytes that have come to the client.
    fn came(&self) -> u64 {
        let (_, session) = self.scene.client.connection.as_ref().unwrap();
        session.quic.stats().udp_rx.bytes
    }
    fn note_unread(&mut self) {
        if let Some(first) = self.transfers.first() {
            let unread = (self.came() - self.before).saturating_sub(first.read);
            self.unread_max = self.unread_max.max(unread);
        }
    }
    /// Those that do not rest get all of their bodies.
    pub(super) fn ends(&mut self, row: &str) {
        let is_done = |it: &Transfer| it.rests || it.ended && it.read == it.size;
        for _ in 0..600 {
            if self.transfers.iter().all(is_done) {
                return;
            }
            self.run_for(Duration::from_millis(100));
        }
        let left: Vec<_> = self
            .transfers
            .iter()
            .map(|it| (it.rests, it.came, it.read))
            .collect();
        panic!("{row}: it stands at {left:?}");
    }
    /// The reader of a body pauses, continues or takes some of it, by `step` from 0 to 2.
    pub(super) fn step(&mut self, at: usize, step: u64, dice: &mut Dice) {
        match step {
            0 => self.transfers[at].rests = true,
            1 => self.goes_on(at),
            _ => self.read(at, dice.of(&[1, 1_000, 40_000, 300_000])),
        }
    }
    pub(super) fn goes_on(&mut self, at: usize) {
        self.transfers[at].rests = false;
        self.read(at, u64::MAX);
    }
}

#[test]
fn readers_that_rest_and_go_on_in_any_order_get_their_bodies_and_hold_up_no_other() {
    for seed in 1..=SEEDS {
        let mut dice = Dice::new(seed);
        let one_way = dice.of(&[50, 500, 5_000, 30_000]);
        let speed = dice.of(&[2_000_000, 25_000_000, 125_000_000]);
        let mut play = Play::new(Duration::from_micros(one_way), speed);
        let count = 1 + dice.below(4) as usize;
        let reader = dice.of(&[Side::Client, Side::Server]);
        for _ in 0..count {
            let mixed = dice.below(4) == 0;
            let reader = match mixed {
                true => dice.of(&[Side::Client, Side::Server]),
                false => reader,
            };
            let size = dice.below(4 * MIB) + 1;
            play.begin(reader, size);
        }
        for _ in 0..dice.below(40) {
            let at = dice.below(count as u64) as usize;
            match dice.below(5) {
                step @ 0..3 => play.step(at, step, &mut dice),
                // A short exchange beside them.
                3 => play.begin(Side::Client, 5),
                _ => {}
            }
            let time = dice.of(&[0, 100, 3_000, 100_000, 1_500_000]);
            play.run_for(Duration::from_micros(time));
        }
        let row = format!("seed {seed}, {one_way} us, {speed} B/s");
        // Those that rest hold up neither those that read nor an exchange that begins.
        play.begin(Side::Client, 5);
        play.begin(Side::Server, 5);
        play.ends(&row);
        for at in 0..count {
            play.goes_on(at);
            play.ends(&row);
        }
    }
}

#[test]
fn a_reader_that_is_alone_and_rests_has_no_more_unread_than_a_connection_begins_with() {
    for seed in 1..=SEEDS / 2 {
        let mut dice = Dice::new(seed);
        let one_way = dice.of(&[50, 1_000, 30_000]);
        let mut play = Play::new(Duration::from_micros(one_way), 125_000_000);
        play.begin(Side::Client, 64 * MIB);
        play.transfers[0].rests = true;
        play.before = play.came();
        for _ in 0..60 {
            let bytes = dice.of(&[0, 1_000, 40_000, 300_000]);
            play.read(0, bytes);
            let time = dice.of(&[100, 3_000, 100_000, 1_500_000]);
            play.run_for(Duration::from_micros(time));
        }
        // The window, and what the machine holds for its user; packets and frames are a twelfth.
        let held = u64::from(QUIC_RECEIVE_WINDOW_BYTES + Windows::default().stream_initial);
        let most = held + (play.transfers[0].read + held) / 12;
        let row = format!("seed {seed}, {one_way} us");
        assert!(play.unread_max <= most, "{row}: {}", play.unread_max);
    }
}

#[test]
fn a_window_that_falls_in_idle_times_and_rises_again_lets_nothing_come_twice() {
    let mut play = Play::new(Duration::from_millis(20), 125_000_000);
    play.begin(Side::Client, 64 * MIB);
    play.ends("a long body");
    for _ in 0..10 {
        // Long enough for the window to fall; the next exchange begins with what the path needed.
        play.run_for(Duration::from_secs(3));
        play.begin(Side::Client, 5);
        play.ends("a short body");
    }
    play.run_for(Duration::from_secs(3));
    play.transfers.clear();
    play.before = play.came();
    for _ in 0..8 {
        play.begin(Side::Client, 32 * MIB);
        play.transfers.last_mut().unwrap().rests = true;
    }
    play.run_for(Duration::from_secs(10));
    let window = u64::from(play.scene.window().window);
    let came = play.came() - play.before;
    let held = window + 8 * u64::from(Windows::default().stream_initial);
    assert!(window > MIB, "it rose: {window}");
    assert!(
        came <= held + held / 12,
        "{came} bytes in a window of {window}"
    );
}
