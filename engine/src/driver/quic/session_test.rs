//! Two sessions over a simulated path in virtual time: quinn-proto reads no clock, so a long path
//! costs a test only its packets.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use super::*;
use crate::driver::quic::config::cid::Steering;
use crate::driver::quic::config::secret::Secret;
use crate::driver::quic::config::{self, QuicSettings};
use crate::driver::quic::unanswered::Answers;
use bytes::BytesMut;
use quinn_proto::{ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, Transmit};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use trunkline_core::credit::Readback;
use trunkline_core::http::{
    Event as Fact, Fields, RequestHead, ResponseHead, Side, Token, Version,
};
use trunkline_core::limits::{Config, QUIC_RECEIVE_WINDOW_BYTES, Windows};

const MIB: u64 = 1 << 20;
const ONE_WAY: Duration = Duration::from_millis(50);
const BYTES_PER_SECOND: u64 = 25_000_000;
const FAST_BYTES_PER_SECOND: u64 = 125_000_000;

/// One end, and the line that leads to it.
struct End {
    address: SocketAddr,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Session)>,
    machine: h3::Conn,
    coming: VecDeque<Packet>,
    line_free_at: Instant,
    bytes_per_second: u64,
    one_way: Duration,
    /// Packets that come and are lost, from now on.
    loses: u64,
    /// The number of packets that are lost one behind the other, of this number that come.
    loses_of: Option<[u64; 2]>,
    /// Packets that would arrive before are held until then.
    held_until: Instant,
    /// The end's thread gets no processor until then; what comes waits in the socket's queue.
    asleep_until: Instant,
    /// Bytes that the socket's queue takes; what comes beyond is lost.
    queue_bytes: usize,
    /// Packets of one send.
    segments: usize,
    /// Packets that came.
    came: u64,
    /// Those of them that were not lost and belong to a connection, as the client's transport counts them.
    received: u64,
    /// Counts what the other end has not acknowledged, as the client's transport does.
    answers: Answers,
}

/// On its way.
struct Packet {
    arrives: Instant,
    from: SocketAddr,
    bytes: Vec<u8>,
}

/// A client that reads bodies of a server that always has more.
struct Scene {
    now: Instant,
    client: End,
    server: End,
    /// Bytes read by stream; `None`: the stream is not read.
    read: BTreeMap<StreamId, Option<u64>>,
    sending: Vec<StreamId>,
    piece: Bytes,
    /// When to look whether it is done, whatever happens.
    alarm: Option<Instant>,
    /// The server has the secret that its keys are derived from.
    secret: Secret,
    /// The server begins no answer.
    answers_nothing: bool,
    /// Bytes of bodies that the server got; it reads none of them.
    uploaded: u64,
}

fn tls() -> (Arc<rustls::ServerConfig>, Arc<rustls::ClientConfig>) {
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
    let root = signed.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::try_from(signed.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![root.clone()], key.unwrap())
        .unwrap();
    server.alpn_protocols = vec![b"h3".to_vec()];
    let mut roots = rustls::RootCertStore::empty();
    roots.add(root).unwrap();
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h3".to_vec()];
    (Arc::new(server), Arc::new(client))
}

/// The keys of resets and of connection ids, as a server of one worker has them.
fn keys_of(secret: &Secret) -> Arc<EndpointConfig> {
    let steering = Steering::new(&secret.steering_key().unwrap(), 0, 1, None);
    let mut config = EndpointConfig::new(secret.reset_key().unwrap());
    config.cid_generator(move || Box::new(steering.ids_of(0)));
    Arc::new(config)
}

fn request() -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"localhost");
    fields.push(Token::PATH, b"/");
    RequestHead::from_fields(fields, Version::Http3).unwrap()
}

impl End {
    fn new(side: Side, config: &Arc<Config>, quic: Option<quinn_proto::ServerConfig>) -> Self {
        let now = Instant::now();
        let port = match side {
            Side::Client => 1,
            Side::Server => 2,
        };
        let settings = Arc::new(EndpointConfig::default());
        Self {
            address: ([127, 0, 0, 1], port).into(),
            endpoint: Endpoint::new(settings, quic.map(Arc::new), false, Some([7; 32])),
            connection: None,
            machine: h3::Conn::new(side, Arc::clone(config), now),
            coming: VecDeque::new(),
            line_free_at: now,
            bytes_per_second: BYTES_PER_SECOND,
            one_way: ONE_WAY,
            loses: 0,
            loses_of: None,
            held_until: now,
            asleep_until: now,
            queue_bytes: usize::MAX,
            segments: 1,
            came: 0,
            received: 0,
            answers: Answers::default(),
        }
    }
    /// Takes what has arrived; what the endpoint itself answers.
    fn receive(&mut self, now: Instant) -> Vec<(Transmit, Vec<u8>)> {
        let mut answers = Vec::new();
        let mut answer = Vec::new();
        let mut queued = 0;
        while now >= self.asleep_until && self.coming.front().is_some_and(|it| it.arrives <= now) {
            let Packet { from, bytes, .. } = self.coming.pop_front().unwrap();
            queued += bytes.len();
            if queued > self.queue_bytes {
                continue;
            }
            if self.loses > 0 {
                self.loses -= 1;
                continue;
            }
            self.came += 1;
            if self
                .loses_of
                .is_some_and(|[lost, of]| self.came % of < lost)
            {
                continue;
            }
            let packet = BytesMut::from(&bytes[..]);
            match self
                .endpoint
                .handle(now, from, None, None, packet, &mut answer)
            {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                    let (handle, quic) = accepted.ok().unwrap();
                    self.connection = Some((handle, Session::new(quic, 0)));
                    self.received += 1;
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    let (_, session) = self.connection.as_mut().unwrap();
                    session.quic.handle_event(event);
                    self.received += 1;
                    self.answers.note_received();
                }
                Some(DatagramEvent::Response(transmit)) => {
                    answers.push((transmit, std::mem::take(&mut answer)));
                }
                None => {}
            }
        }
        answers
    }
    /// Carries out timers and actions, and reports to the machine; returns what is to be sent.
    fn turn(&mut self, now: Instant) -> Vec<(Transmit, Vec<u8>)> {
        let Some((handle, session)) = &mut self.connection else {
            return Vec::new();
        };
        if now < self.asleep_until {
            return Vec::new();
        }
        if session.quic.poll_timeout().is_some_and(|at| at <= now) {
            session.quic.handle_timeout(now);
            self.answers.note_timeout();
        }
        if self.machine.next_deadline().is_some_and(|at| at <= now) {
            self.machine.handle_timeout(now);
        }
        while let Some(event) = session.quic.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                session.quic.handle_event(event);
            }
        }
        session.report(&mut self.machine, now);
        session.carry_out_actions(&mut self.machine, now);
        let mut sent = Vec::new();
        loop {
            let mut packet = Vec::new();
            match session.quic.poll_transmit(now, self.segments, &mut packet) {
                Some(transmit) => split(&transmit, &packet, &mut sent),
                None => break,
            }
        }
        if !sent.is_empty() {
            self.answers.note_sent(now, &session.quic.stats().frame_tx);
        }
        sent
    }
    /// Sends packets one after the other at the path's rate; packets to an unused address are lost.
    fn carry(&mut self, now: Instant, from: SocketAddr, packets: Vec<(Transmit, Vec<u8>)>) {
        for (transmit, bytes) in packets {
            if transmit.destination != self.address {
                continue;
            }
            let size = transmit.size as u64;
            let takes = Duration::from_nanos(size * 1_000_000_000 / self.bytes_per_second);
            self.line_free_at = self.line_free_at.max(now) + takes;
            let arrives = (self.line_free_at + self.one_way).max(self.held_until);
            // No packet overtakes another.
            let last = self.coming.back().map(|it| it.arrives);
            let arrives = last.map_or(arrives, |last| last.max(arrives));
            self.coming.push_back(Packet {
                arrives,
                from,
                bytes,
            });
        }
    }
    fn next(&mut self) -> Option<Instant> {
        let arrival = self.coming.front().map(|it| it.arrives);
        let machine = self.machine.next_deadline();
        let quic = self.connection.as_mut();
        let timer = quic.and_then(|(_, session)| session.quic.poll_timeout());
        let next = arrival.into_iter().chain(machine).chain(timer).min();
        next.map(|at| at.max(self.asleep_until))
    }
}

/// The packets of one send, each apart.
fn split(transmit: &Transmit, bytes: &[u8], sent: &mut Vec<(Transmit, Vec<u8>)>) {
    for packet in bytes.chunks(transmit.segment_size.unwrap_or(bytes.len())) {
        let transmit = Transmit {
            destination: transmit.destination,
            ecn: transmit.ecn,
            size: packet.len(),
            segment_size: None,
            src_ip: transmit.src_ip,
        };
        sent.push((transmit, packet.to_vec()));
    }
}

impl Scene {
    fn new(windows: Windows) -> Self {
        let stream_window = windows.quic_stream();
        Self::with_stream_window(windows, stream_window)
    }
    /// Over a path of so long a round trip, which the client knows from before.
    fn over(windows: Windows, round_trip: Duration) -> Self {
        let stream_window = windows.quic_stream_over(Some(round_trip), 0);
        let mut scene = Self::with_stream_window(windows, stream_window);
        for end in [&mut scene.client, &mut scene.server] {
            end.one_way = round_trip / 2;
        }
        scene
    }
    fn with_stream_window(windows: Windows, stream_window: u32) -> Self {
        let (server_tls, client_tls) = tls();
        let config = Config::default().with_windows(windows.clone());
        let settings = QuicSettings::default();
        let quic = config::client(client_tls, &config, stream_window, &settings, None);
        Self::of(server_tls, quic.unwrap(), windows)
    }
    fn of(
        server_tls: Arc<rustls::ServerConfig>,
        quic: quinn_proto::ClientConfig,
        windows: Windows,
    ) -> Self {
        let server_config = Arc::new(Config::default());
        let client_config = Arc::new(Config::default().with_windows(windows));
        let mut client = End::new(Side::Client, &client_config, None);
        let (secret, settings) = (Secret::random().unwrap(), QuicSettings::default());
        let accepts = config::server(server_tls, &server_config, &secret, &settings, None).unwrap();
        let mut server = End::new(Side::Server, &server_config, Some(accepts.clone()));
        server.endpoint = Endpoint::new(
            keys_of(&secret),
            Some(Arc::new(accepts)),
            false,
            Some([7; 32]),
        );
        let now = client.line_free_at.max(server.line_free_at);
        let begun = client
            .endpoint
            .connect(now, quic, server.address, "localhost");
        let (handle, quic) = begun.unwrap();
        client.connection = Some((handle, Session::new(quic, 128)));
        Self {
            now,
            client,
            server,
            read: BTreeMap::new(),
            sending: Vec::new(),
            piece: Bytes::from(vec![0; 64 * 1024]),
            alarm: None,
            secret,
            answers_nothing: false,
            uploaded: 0,
        }
    }
    /// Goes on for so long, in virtual time.
    fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        self.alarm = Some(until);
        self.run_until(|scene| scene.now >= until);
        self.alarm = None;
    }
    /// Goes on until `done`, in virtual time.
    fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        let began = self.now;
        while !done(self) {
            self.client.receive(self.now);
            let answers = self.server.receive(self.now);
            self.client.carry(self.now, self.server.address, answers);
            self.take_facts();
            self.fill();
            let up = self.client.turn(self.now);
            let down = self.server.turn(self.now);
            self.server.carry(self.now, self.client.address, up);
            self.client.carry(self.now, self.server.address, down);
            if self.take_facts() {
                continue;
            }
            let next = [self.client.next(), self.server.next(), self.alarm];
            let next = next.into_iter().flatten().min().unwrap();
            self.now = self.now.max(next);
            assert!(self.now - began < Duration::from_secs(60), "it stands");
        }
    }
    fn take_facts(&mut self) -> bool {
        let mut any = false;
        while let Some(fact) = self.client.machine.poll_event() {
            any = true;
            if let Fact::BodyReceived { stream, data, .. } = fact
                && let Some(Some(read)) = self.read.get_mut(&stream)
            {
                *read += data.len() as u64;
                self.client.machine.consume(self.now, stream, data.len());
            }
        }
        while let Some(fact) = self.server.machine.poll_event() {
            any = true;
            if let Fact::BodyReceived { data, .. } = &fact {
                self.uploaded += data.len() as u64;
            }
            if let Fact::RequestReceived { stream, .. } = fact {
                if self.answers_nothing {
                    continue;
                }
                let head = ResponseHead::new(200, Fields::new(), Version::Http3).unwrap();
                let answered = self.server.machine.respond(self.now, stream, &head, false);
                answered.unwrap();
                self.sending.push(stream);
            }
        }
        any
    }
    fn fill(&mut self) {
        let machine = &mut self.server.machine;
        for &stream in &self.sending {
            while machine.send_room(stream) >= self.piece.len() {
                let piece = self.piece.clone();
                machine.send_body(self.now, stream, piece, false).unwrap();
            }
        }
    }
    /// Why each end lost the connection.
    fn lost(&self) -> [Option<&ConnectionError>; 2] {
        [&self.client, &self.server].map(|end| end.connection.as_ref()?.1.lost())
    }
    fn connect(&mut self) {
        self.run_until(|scene| scene.client.machine.capacity() > 0);
    }
    fn open(&mut self, is_read: bool) -> StreamId {
        let opened = self.client.machine.open(self.now, &request(), true);
        let stream = opened.unwrap();
        self.read.insert(stream, is_read.then_some(0));
        stream
    }
    /// How long the stream takes to deliver `bytes` more.
    fn time_of(&mut self, stream: StreamId, bytes: u64) -> Duration {
        let began = self.now;
        let until = self.read[&stream].unwrap() + bytes;
        self.run_until(|scene| scene.read[&stream].unwrap() >= until);
        self.now - began
    }
    fn window(&self) -> Readback {
        self.client.machine.receive_window(None).unwrap()
    }
}

#[test]
fn a_download_over_a_long_path_is_as_fast_as_with_windows_that_are_never_full() {
    let time_of = |windows: Windows| {
        let mut scene = Scene::new(windows);
        scene.connect();
        let stream = scene.open(true);
        let [start, steady] = [8 * MIB, 8 * MIB].map(|bytes| scene.time_of(stream, bytes));
        (start.as_secs_f64(), steady.as_secs_f64(), scene.window())
    };
    let (start, steady, window) = time_of(Windows::default());
    let (wide_start, wide_steady, _) = time_of(Windows::fixed(64 << 20, 64 << 20));
    assert!(start <= 1.05 * wide_start, "{start} s, {wide_start} s");
    assert!(steady <= 1.05 * wide_steady, "{steady} s, {wide_steady} s");
    // 25 MB/s less what frames and packets take of it.
    assert!(steady <= 8.0 * MIB as f64 / 25e6 / 0.90, "{steady} s");
    assert!(window.window > 2 << 20, "{window:?}");
}

#[test]
fn what_waits_for_an_acknowledgement_grows_with_the_path() {
    let mut scene = Scene::new(Windows::default());
    scene.client.bytes_per_second = FAST_BYTES_PER_SECOND;
    scene.connect();
    let stream = scene.open(true);
    scene.time_of(stream, 32 * MIB);
    let steady = scene.time_of(stream, 16 * MIB).as_secs_f64();
    let speed = 16.0 * MIB as f64 / steady;
    // With 4 MiB under way it would be 42 MB/s over this path.
    let line = FAST_BYTES_PER_SECOND as f64;
    assert!(speed >= 0.8 * line, "{speed} bytes/s");
}

#[test]
fn bodies_that_nobody_reads_do_not_stand_in_the_way_of_one_that_is_read() {
    let mib = 1 << 20;
    let mut scene = Scene::new(
        Windows::default()
            .with_stream_max(2 * mib)
            .with_connection(4 * mib)
            .with_memory_budget(16 * MIB),
    );
    scene.connect();
    for _ in 0..3 {
        scene.open(false);
    }
    let stream = scene.open(true);
    // The others take their share of the line until their windows are full.
    scene.time_of(stream, 4 * MIB);
    let steady = scene.time_of(stream, 4 * MIB).as_secs_f64();
    let window = scene.window().window;
    assert!(window > 6 * mib, "room beside what is unread: {window}");
    assert!(window <= 12 * mib, "half of the budget at most: {window}");
    // A stream of 2 MiB has 20 MB/s at most over this path.
    assert!(steady <= 1.25 * 4.0 * MIB as f64 / 20e6, "{steady} s");
}

/// 100 readers that take 20 kB a second, and one that takes all: what the fast one gets in bytes
/// per second in the last half of this time, and the most that the peer might have sent unread.
fn beside_slow_readers(mut scene: Scene, seconds: u32) -> (f64, u64) {
    scene.connect();
    let slow: Vec<StreamId> = (0..100).map(|_| scene.open(false)).collect();
    let fast = scene.open(true);
    let (mut unread_max, mut before) = (0, 0);
    for tenth in 0..seconds * 10 {
        if tenth == seconds * 5 {
            before = scene.read[&fast].unwrap();
        }
        scene.run_for(Duration::from_millis(100));
        for &stream in &slow {
            scene.client.machine.consume(scene.now, stream, 2_000);
        }
        unread_max = unread_max.max(u64::from(scene.window().window));
    }
    let read = scene.read[&fast].unwrap() - before;
    (read as f64 * 2.0 / f64::from(seconds), unread_max)
}

#[test]
fn a_hundred_slow_readers_do_not_hold_a_fast_one_back_where_their_windows_fit_the_connections() {
    let windows = Windows::default().with_stream_max(256 * 1024);
    let budget = windows.memory_budget;
    let (rate, unread) = beside_slow_readers(Scene::new(windows), 24);
    // A window per round trip, less what comes while an update is under way, and less what it waits for its source, which is
    // asked by turns while the server holds that much for slow readers.
    let most = 256.0 * 1024.0 / (2.0 * ONE_WAY.as_secs_f64());
    assert!(rate >= 0.7 * most, "{rate} of {most} bytes/s");
    assert!(unread <= budget, "{unread} bytes");
}

#[test]
fn a_hundred_slow_readers_leave_a_fast_one_the_line_on_a_short_path_by_default() {
    let windows = Windows::default();
    let budget = windows.memory_budget;
    let scene = Scene::over(windows, Duration::from_millis(2));
    let (rate, unread) = beside_slow_readers(scene, 4);
    // They take 2 MB/s of it; frames and packets take some of the rest.
    let line = BYTES_PER_SECOND as f64 - 2e6;
    assert!(rate >= 0.9 * line, "{rate} of {line} bytes/s");
    assert!(unread <= budget, "{unread} bytes");
}

#[test]
fn a_hundred_slow_readers_take_no_more_than_the_budget_whatever_a_streams_window_is() {
    let windows = Windows::default();
    let budget = windows.memory_budget;
    let (_, unread) = beside_slow_readers(Scene::new(windows), 4);
    assert!((32 * MIB..=budget).contains(&unread), "{unread} bytes");
}

#[test]
fn a_slow_reader_alone_is_sent_no_more_unread_than_a_connection_begins_with() {
    for round_trip in [None, Some(Duration::from_millis(2))] {
        let windows = Windows::default();
        let mut scene = match round_trip {
            None => Scene::new(windows),
            Some(round_trip) => Scene::over(windows, round_trip),
        };
        scene.connect();
        let stream = scene.open(false);
        let (mut read, mut most) = (0, 0);
        for _ in 0..80 {
            scene.run_for(Duration::from_millis(100));
            let (_, session) = scene.client.connection.as_ref().unwrap();
            // All that came, and not only this body.
            most = most.max(session.quic.stats().udp_rx.bytes - read);
            let unread = scene
                .client
                .machine
                .receive_window(Some(stream))
                .unwrap()
                .unread;
            let taken = unread.min(200_000);
            read += taken;
            scene
                .client
                .machine
                .consume(scene.now, stream, taken as usize);
        }
        // Packets and frames are a twentieth of it.
        let begins_with = u64::from(QUIC_RECEIVE_WINDOW_BYTES);
        assert!(read > 4 << 20, "{read} bytes read");
        assert!(
            most <= begins_with + (read + begins_with) / 20,
            "{most} bytes, {round_trip:?}"
        );
    }
}

#[test]
fn a_window_set_above_quics_lets_the_peer_send_that_much_unread() {
    let mib = 1 << 20;
    let mut scene = Scene::new(Windows::fixed(64 * 1024, 8 * mib));
    scene.connect();
    let stream = scene.open(false);
    let rests = |scene: &mut Scene| {
        scene.run_for(Duration::from_secs(5));
        let machine = &scene.client.machine;
        machine.receive_window(Some(stream)).unwrap()
    };
    let before = rests(&mut scene);
    assert_eq!((before.window, before.unread), (64 * 1024, 64 * 1024));
    let now = scene.now;
    let machine = &mut scene.client.machine;
    let set = machine.set_receive_window(now, Some(stream), 2 * mib);
    set.unwrap();
    let after = rests(&mut scene);
    assert_eq!(after.window, 2 * mib);
    // Here lies what is above QUIC's 64 KiB; those fill behind it.
    assert_eq!(after.unread, u64::from(2 * mib - 64 * 1024));
    assert_eq!(after.granted, u64::from(2 * mib));
}

#[test]
fn what_a_connection_has_learned_makes_the_next_ones_window() {
    let mut scene = Scene::new(Windows::default());
    scene.connect();
    let stream = scene.open(true);
    scene.time_of(stream, 16 * MIB);
    let need = scene.client.machine.bdp_bytes(scene.now);
    assert!(need > 2 << 20, "{need}");
    let mut next = Scene::new(Windows::default());
    let now = next.now;
    next.client.machine.remember_path(now, need);
    next.connect();
    next.open(true);
    assert_eq!(next.window().window, need);
}

#[path = "session/alive_test.rs"]
mod alive;
#[path = "session/attack_test.rs"]
mod attacks;
#[path = "session/close_test.rs"]
mod closes;
#[path = "session/loss_test.rs"]
mod losses;
#[path = "session/path_test.rs"]
mod paths;
#[path = "session/progress_test.rs"]
mod progress;
#[path = "session/silence_test.rs"]
mod silence;
#[path = "session/stop_test.rs"]
mod stop;
#[path = "session/turns_test.rs"]
mod turns;
