//! A server that fails silently: how long its client takes to detect it, in virtual time.

use super::*;
use trunkline_core::limits::{
    QUIC_SERVER_PING_INTERVAL, QUIC_SERVER_SILENCE_MAX, QUIC_UPLOAD_WINDOW_BYTES,
};
use trunkline_core::pool::{Health, HealthAction, HealthTimes};

/// The client's activity when the server fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// It sends a request.
    Request,
    /// It waits for the answer to one whose every packet is acknowledged.
    Wait,
    /// It sends a body in small pieces, each within the probe timeout of the one before.
    Pieces,
    /// It sends a body that fills the congestion window, which holds PINGs back too.
    Upload,
}

/// Events at a client, with their times after the failure.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) suspect: Option<Duration>,
    replaced: Option<Duration>,
    pub(super) ended: Option<Duration>,
    reset: Option<Duration>,
    /// How often it became suspect.
    pub(super) suspects: u32,
    /// PINGs that it was asked for.
    pub(super) pings: u32,
}

/// A client's health, carried out as the engine does.
pub(super) struct Watch {
    began: Instant,
    times: HealthTimes,
    health: Health,
    /// When a new connection, which was asked for in its place, works.
    other_works: Option<Instant>,
    received: u64,
    pub(super) course: Course,
}

impl Watch {
    pub(super) fn new(scene: &Scene) -> Self {
        Self {
            began: scene.now,
            times: HealthTimes::default(),
            health: Health::new(scene.now),
            other_works: None,
            received: scene.client.received,
            course: Course::default(),
        }
    }
    /// Goes on for a millisecond: the timers are no finer. A new connection needs `opens`.
    pub(super) fn step(&mut self, scene: &mut Scene, opens: Duration) {
        let client = &mut scene.client;
        let (_, session) = client.connection.as_mut().unwrap();
        let rtt = Some(session.slow_round_trip());
        if client.received > std::mem::replace(&mut self.received, client.received) {
            self.health.handle_bytes(scene.now);
            self.other_works = None;
        }
        self.health.note_unanswered(client.answers.unanswered());
        let due = self.health.next_deadline(&self.times, rtt, true);
        let due = due.into_iter().chain(self.other_works).min();
        if due.is_some_and(|due| due <= scene.now) {
            if self.other_works.is_some_and(|at| at <= scene.now) {
                self.other_works = None;
                if self.health.handle_outlived(scene.now, opens) == HealthAction::Ping {
                    session.ask(&mut client.machine);
                }
            }
            let after = scene.now - self.began;
            let course = &mut self.course;
            match self
                .health
                .handle_timeout(scene.now, &self.times, rtt, true)
            {
                HealthAction::Nothing => {}
                HealthAction::Ping => {
                    course.pings += 1;
                    session.ask(&mut client.machine);
                }
                HealthAction::ChangePath => {
                    course.suspects += 1;
                    course.suspect.get_or_insert(after);
                    session.change_path(&mut client.machine);
                }
                HealthAction::Replace => {
                    course.replaced.get_or_insert(after);
                    self.other_works = Some(scene.now + opens);
                }
                HealthAction::Close => {
                    course.ended.get_or_insert(after);
                }
            }
        }
        scene.run_for(Duration::from_millis(1));
    }
}

/// A new process has the server's port, with the key of the one before it or with another.
fn die(scene: &mut Scene, same_key: bool) {
    let settings = match same_key {
        true => keys_of(&scene.secret),
        false => keys_of(&Secret::random().unwrap()),
    };
    let accepts = config::server(
        tls().0,
        &Config::default(),
        &scene.secret,
        &QuicSettings::default(),
        None,
    );
    let accepts = Arc::new(accepts.unwrap());
    scene.server.endpoint = Endpoint::new(settings, Some(accepts), false, Some([9; 32]));
    scene.server.connection = None;
    scene.server.coming.clear();
    scene.client.coming.clear();
}

/// Follows a client from the death of its server. A new connection is there two round trips after it
/// was asked for, where the port answers at all.
fn follow(at: At, same_key: bool, one_way: Duration) -> Course {
    let mut scene = Scene::new(Windows::default());
    for end in [&mut scene.client, &mut scene.server] {
        end.one_way = one_way;
    }
    scene.connect();
    // Beyond what is sent at the beginning, acknowledgements of it included.
    scene.run_for(Duration::from_secs(1));
    scene.answers_nothing = true;
    if at == At::Wait {
        scene.open(true);
        scene.run_for(Duration::from_millis(250));
    }
    let upload = matches!(at, At::Pieces | At::Upload).then(|| scene.upload());
    if at == At::Pieces {
        // Its head is acknowledged.
        scene.run_for(Duration::from_secs(1));
    }
    die(&mut scene, same_key);
    if at == At::Request {
        scene.open(true);
    }
    let mut watch = Watch::new(&scene);
    for step in 0.. {
        if let (At::Pieces, Some(stream), 0) = (at, upload, step % 20) {
            scene.send(stream, &[0; 100]);
        }
        if let (At::Upload, Some(stream)) = (at, upload) {
            scene.send(stream, &[0; 64 * 1024]);
        }
        watch.step(&mut scene, one_way * 4);
        let (_, session) = scene.client.connection.as_ref().unwrap();
        if session.lost().is_some() {
            watch.course.reset = Some(scene.now - watch.began);
        }
        if watch.course.reset.is_some() || watch.course.ended.is_some() {
            break;
        }
    }
    watch.course
}

#[test]
fn a_client_knows_within_a_second_that_its_server_died_and_a_new_one_knows_nothing_of_it() {
    for at in [At::Request, At::Wait] {
        // Where nothing is sent before it is asked for, 300 ms pass first.
        let (asked, one_ways) = match at {
            At::Request => (0, &[0, 1, 5, 10, 20, 30][..]),
            _ => (310, &[0, 1, 5, 10, 20][..]),
        };
        for &one_way in one_ways {
            let course = follow(at, false, Duration::from_millis(one_way));
            let within = |what: Option<Duration>, most: u64| {
                assert!(
                    what.is_some_and(|what| what <= Duration::from_millis(most)),
                    "{at:?}, {one_way} ms one way: {course:?}, {most} ms"
                );
            };
            // Two probe timeouts and the slack of what counts them, every 75 ms.
            let probes = 15 * one_way + 150;
            within(course.suspect, asked + 380.max(probes));
            within(course.replaced, asked + 540.max(probes + 4 * one_way));
            within(course.ended, 1_000);
            assert_eq!(course.reset, None);
        }
    }
}

#[test]
fn a_server_with_the_key_of_the_one_before_it_says_so_in_a_round_trip() {
    for one_way in [0, 1, 10, 50, 100] {
        let trip = Duration::from_millis(2 * one_way + 2);
        let course = follow(At::Request, true, Duration::from_millis(one_way));
        assert!(course.reset.is_some_and(|at| at <= trip), "{course:?}");
        let course = follow(At::Wait, true, Duration::from_millis(one_way));
        let asked = Duration::from_millis(310);
        assert!(
            course.reset.is_some_and(|at| at <= asked + trip),
            "{course:?}"
        );
    }
}

#[test]
fn a_long_path_has_time_in_proportion() {
    for one_way in [50, 70, 100, 150] {
        let course = follow(At::Request, false, Duration::from_millis(one_way));
        let suspect = course.suspect.unwrap();
        let trip = Duration::from_millis(2 * one_way);
        assert!(suspect >= trip * 5 / 2, "{course:?}");
        assert!(
            suspect <= trip * 5 / 2 + Duration::from_millis(110),
            "{course:?}"
        );
        let ended = course.ended.unwrap();
        assert!(
            ended <= Duration::from_secs(1).max(trip * 23 / 4 + Duration::from_millis(200)),
            "{course:?}"
        );
    }
}

#[test]
fn a_server_that_dies_is_left_within_the_times_that_are_stated_for_its_round_trip() {
    let page = include_str!("../../../../../docs/ends.md");
    let section = page
        .split("\n## ")
        .find(|section| section.starts_with("A server that dies without a word\n"));
    let rows = section
        .unwrap()
        .lines()
        .filter(|line| line.starts_with('|'));
    let mut trips = Vec::new();
    for row in rows.skip(2) {
        let cells = row.trim_matches('|').split('|');
        let cells: Vec<u64> = cells.map(|cell| cell.trim().parse().unwrap()).collect();
        let [trip, bounds @ ..] = &cells[..] else {
            panic!("{row}");
        };
        trips.push(*trip);
        let one_way = Duration::from_micros(trip * 500);
        let sends = [At::Request, At::Pieces, At::Upload].map(|at| (at, &bounds[..2]));
        for (at, bounds) in sends.into_iter().chain([(At::Wait, &bounds[2..])]) {
            let course = follow(at, false, one_way);
            let times = [course.suspect.unwrap(), course.ended.unwrap()];
            for (time, &most) in times.iter().zip(bounds) {
                let most = Duration::from_millis(most);
                assert!(*time <= most, "{at:?}, {trip} ms: {course:?}, {most:?}");
            }
            // Not before a packet could have been lost twice. A client that waits may have sent a PING before.
            assert!(
                at == At::Wait || times[0] >= one_way * 5,
                "{at:?}, {trip} ms: {course:?}"
            );
        }
    }
    assert_eq!(trips, [1, 40, 100, 300]);
}

/// A client whose request a handler works on for ever.
fn waiting() -> Scene {
    let mut scene = Scene::new(Windows::default());
    scene.connect();
    scene.answers_nothing = true;
    scene.open(true);
    scene.run_for(Duration::from_secs(1));
    scene
}

fn is_closed(end: &End) -> bool {
    end.connection
        .as_ref()
        .is_none_or(|(_, session)| session.quic.is_closed())
}

#[test]
fn a_client_that_is_gone_costs_a_server_a_minute_while_its_handler_works() {
    let mut scene = waiting();
    // Its host is gone: nothing answers, not even its system.
    scene.client.connection = None;
    scene.client.address.set_port(3);
    scene.run_for(QUIC_SERVER_SILENCE_MAX - Duration::from_secs(5));
    assert!(!is_closed(&scene.server), "its path may come back");
    scene.run_for(QUIC_SERVER_PING_INTERVAL + Duration::from_secs(6));
    assert!(is_closed(&scene.server));
    assert!(scene.server.machine.is_closed());
    let most = QUIC_SERVER_SILENCE_MAX + QUIC_SERVER_PING_INTERVAL;
    assert!(most <= Duration::from_secs(60), "{most:?}");
}

#[test]
fn a_client_that_waits_for_an_answer_for_ten_minutes_and_sends_nothing_lives() {
    let mut scene = waiting();
    let before = scene.client.received;
    for _ in 0..20 {
        scene.run_for(Duration::from_secs(30));
        assert!(!is_closed(&scene.server) && !is_closed(&scene.client));
    }
    let pings = 600 / QUIC_SERVER_PING_INTERVAL.as_secs();
    let received = scene.client.received - before;
    assert!(
        (pings / 2..=2 * pings + 8).contains(&received),
        "{received}"
    );
}

impl Scene {
    /// Begins a POST.
    fn upload(&mut self) -> StreamId {
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"POST");
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"localhost");
        fields.push(Token::PATH, b"/");
        let head = RequestHead::from_fields(fields, Version::Http3).unwrap();
        self.client.machine.open(self.now, &head, false).unwrap()
    }
    /// Sends as much of the POST's body as there is room for, in such pieces; at most one where they
    /// are small.
    fn send(&mut self, stream: StreamId, piece: &'static [u8]) {
        let machine = &mut self.client.machine;
        while machine.send_room(stream) >= piece.len() {
            let sent = machine.send_body(self.now, stream, Bytes::from_static(piece), false);
            sent.unwrap();
            if piece.len() < 1024 {
                break;
            }
        }
    }
}

/// An upload of as much as the server lets in, which its handler does not read.
fn unread_upload(scene: &mut Scene) {
    let stream = scene.upload();
    for _ in 0..100 {
        scene.send(stream, &[0; 64 * 1024]);
        scene.run_for(Duration::from_millis(100));
    }
}

#[test]
fn an_upload_that_is_not_read_brings_a_servers_stream_window_and_leaves_room_for_the_next_request()
{
    let mut scene = Scene::new(Windows::default());
    scene.connect();
    scene.answers_nothing = true;
    unread_upload(&mut scene);
    let (_, session) = scene.client.connection.as_ref().unwrap();
    let sent = session.quic.stats().udp_tx.bytes;
    let window = u64::from(QUIC_UPLOAD_WINDOW_BYTES);
    assert!(sent >= window, "{sent}");
    // Bytes read ahead of the handler, and those that frames and packets add.
    assert!(sent <= window + window / 8, "{sent}");
    scene.open(true);
    scene.run_for(Duration::from_secs(1));
    assert_eq!(scene.server.machine.active(), 2);
}
