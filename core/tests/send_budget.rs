//! Bytes for peers that do not read come out of one budget, on every version, counted over many
//! streams and connections (CVE-2019-9511, CVE-2019-9517).
#![allow(clippy::unwrap_used, reason = "a scripted peer may panic")]

#[path = "h2/rig.rs"]
mod h2_rig;
#[path = "h3/rig.rs"]
mod h3_rig;

use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::credit::BudgetShare;
use trunkline_core::error::H2Code;
use trunkline_core::h1;
use trunkline_core::h2::frame::{Setting, kind};
use trunkline_core::http::{Event, Fields, ResponseHead, Side, StreamId, Token, Version};
use trunkline_core::limits::{
    Config, PIPELINED_REQUESTS_MAX, SEND_AHEAD_BYTES_MAX, SEND_FREE_BYTES, SEND_SHUT_BYTES,
    SEND_TURNS_MAX,
};

const PIECE: usize = 8 * 1024;
const BUDGET: u64 = 4 * 1024 * 1024;
const CONNECTIONS: usize = 40;
const STREAMS: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);
/// The most that a connection may hold without a share of the budget, exceeding its room by a piece
/// each time.
const FREE: u64 = (1 + SEND_TURNS_MAX as u64) * (SEND_FREE_BYTES + PIECE as u64);
/// The most that the budget and the free bytes allow.
const ALLOWED: u64 = BUDGET + CONNECTIONS as u64 * FREE;

/// Gives a body piece by piece, as long as there is room; how many bytes were given.
macro_rules! pump {
    ($conn:expr, $now:expr, $stream:expr) => {{
        let mut given = 0;
        while $conn.send_room($stream) > 0 {
            let piece = Bytes::from(vec![7; PIECE]);
            $conn.send_body($now, $stream, piece, false).unwrap();
            given += PIECE as u64;
        }
        given
    }};
}

/// An HTTP/2 server at this budget, whose client has said these settings.
fn h2(budget: &BudgetShare, settings: &[Setting]) -> h2_rig::Rig {
    let mut rig = h2_rig::Rig::server(h2_rig::Cut::Whole);
    let fresh = h2_rig::Rig::server(h2_rig::Cut::Whole).conn;
    rig.conn = std::mem::replace(&mut rig.conn, fresh).with_send_budget(budget);
    rig.sends(&h2_rig::settings_frame(settings));
    rig.frames();
    rig
}

/// Asks for `STREAMS` answers and gives as much of each as there is room for.
fn h2_attack(rig: &mut h2_rig::Rig) -> u64 {
    let mut given = 0;
    for stream in 0..STREAMS {
        let id = 1 + 2 * stream;
        rig.sends(&h2_rig::headers(id, h2_rig::GET, true));
        rig.events();
        rig.respond(id, &[], false);
        given += pump!(rig.conn, rig.now, StreamId(u64::from(id)));
    }
    given
}

#[test]
fn streams_of_http_2_whose_windows_are_shut_hold_a_little_each_and_one_budget_together() {
    let budget = BudgetShare::new(BUDGET);
    let mut rigs: Vec<_> = (0..CONNECTIONS)
        .map(|_| h2(&budget, &[Setting::InitialWindowSize(0)]))
        .collect();
    let given: Vec<u64> = rigs.iter_mut().map(h2_attack).collect();
    let each = u64::from(STREAMS) * (SEND_SHUT_BYTES + PIECE) as u64;
    assert!(given.iter().all(|&one| one <= each), "{given:?}");
    assert!(given.iter().sum::<u64>() <= ALLOWED, "{given:?}");
    assert!(given.iter().all(|&one| one >= SEND_FREE_BYTES), "{given:?}");

    let mut neighbour = h2(&budget, &[]);
    neighbour.sends(&h2_rig::headers(1, h2_rig::GET, true));
    neighbour.events();
    neighbour.respond(1, &[], false);
    assert!(neighbour.conn.send_room(StreamId(1)) > 0);
    neighbour.send(1, vec![1; 40_000], true);
    let frames = neighbour.frames();
    let data = frames.iter().filter(|frame| frame.kind == kind::DATA);
    assert_eq!(data.map(|frame| frame.payload.len()).sum::<usize>(), 40_000);

    // While half of the budget is lent streams have 30 s, and those that are left have 300.
    rigs[0].waits(31 * SECOND);
    assert!(rigs[0].conn.active() < STREAMS as _, "the budget is scarce");
    for rig in &mut rigs {
        rig.waits(301 * SECOND);
        let over = count(rig, |event| matches!(event, Event::StreamReset { .. }));
        assert!(
            over > 0,
            "each stream with bytes is over after the stall time"
        );
        assert_eq!(
            over + rig.conn.active(),
            STREAMS,
            "the others had none, and may go on"
        );
        assert!(rig.conn.send_room(StreamId(u64::from(2 * STREAMS - 1))) > 0 || over == STREAMS);
    }
    assert_eq!(budget.reserved(), 0, "what waited for them is back");
}

fn count(rig: &mut h2_rig::Rig, is_one: fn(&Event) -> bool) -> u32 {
    rig.events().iter().filter(|event| is_one(event)).count() as u32
}

#[test]
fn a_shut_connection_window_of_http_2_holds_no_more_than_the_budget_allows() {
    let budget = BudgetShare::new(BUDGET);
    let open = [Setting::InitialWindowSize(1 << 24)];
    let mut rigs: Vec<_> = (0..CONNECTIONS).map(|_| h2(&budget, &open)).collect();
    let given: u64 = rigs.iter_mut().map(h2_attack).sum();
    // 65,535 bytes of each went out.
    let sent = CONNECTIONS as u64 * 65_535;
    assert!(given <= ALLOWED + sent, "{given}");
    assert!(
        given >= BUDGET / 2,
        "{given}: the budget is there to be used"
    );
}

/// The streams that got `SendReady`.
fn reported(events: Vec<Event>) -> Vec<u64> {
    let reported = events.into_iter().filter_map(|event| match event {
        Event::SendReady { stream } => Some(stream.0),
        _ => None,
    });
    reported.collect()
}

#[test]
fn a_stream_that_found_no_room_goes_on_when_another_one_left() {
    let budget = BudgetShare::new(0);
    let mut rig = h2(&budget, &[]);
    let ids = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19];
    for id in ids {
        rig.sends(&h2_rig::headers(id, h2_rig::GET, true));
        rig.events();
        rig.respond(id, &[], false);
    }
    // The windows of the streams are open, that of the connection is not.
    rig.send(1, vec![1; 65_535], false);
    rig.frames();
    rig.send(1, vec![1; SEND_FREE_BYTES as usize], false);
    let given = ids.map(|id| pump!(rig.conn, rig.now, StreamId(u64::from(id))));
    let turn = PIECE as u64;
    assert_eq!(
        given,
        [0, turn, turn, turn, turn, 0, 0, 0, 0, 0],
        "four have a turn"
    );
    rig.events();
    rig.sends(&h2_rig::rst(5, H2Code::CANCEL));
    assert_eq!(
        reported(rig.events()),
        [11, 13, 15, 17, 19],
        "who waits for one"
    );
    assert!(rig.conn.send_room(StreamId(11)) > 0);
    rig.sends(&h2_rig::rst(1, H2Code::CANCEL));
    let first = reported(rig.events());
    assert_eq!(
        first[..5],
        [11, 13, 15, 17, 19],
        "those behind the last turn first"
    );
    assert_eq!(first[5..], [3, 7, 9], "and with room all of them");
}

#[test]
fn streams_that_are_read_go_on_beside_those_that_are_not() {
    let budget = BudgetShare::new(0);
    let mut rig = h2(&budget, &[Setting::InitialWindowSize(0)]);
    rig.sends(&h2_rig::window_update(0, 1 << 30));
    for id in [1, 3, 5, 7] {
        rig.sends(&h2_rig::headers(id, h2_rig::GET, true));
        rig.events();
        rig.respond(id, &[], false);
        pump!(rig.conn, rig.now, StreamId(u64::from(id)));
    }
    let read = [9, 11, 13];
    for id in read {
        rig.sends(&h2_rig::headers(id, h2_rig::GET, true));
        rig.sends(&h2_rig::window_update(id, 1 << 24));
        rig.respond(id, &[], false);
        pump!(rig.conn, rig.now, StreamId(u64::from(id)));
    }
    let mut sent = [0; 3];
    for _ in 0..100 {
        for frame in rig.frames() {
            let at = read.iter().position(|&id| id == frame.stream);
            if let (kind::DATA, Some(at)) = (frame.kind, at) {
                sent[at] += frame.payload.len();
            }
        }
        for stream in reported(rig.events()) {
            pump!(rig.conn, rig.now, StreamId(stream));
        }
    }
    assert!(sent.iter().all(|&bytes| bytes > 20 * PIECE), "{sent:?}");
}

#[test]
fn answers_given_whole_hold_the_next_request_back_until_some_of_them_left() {
    let budget = BudgetShare::new(0);
    let mut rig = h2(&budget, &[Setting::InitialWindowSize(0)]);
    let whole = (SEND_FREE_BYTES + SEND_AHEAD_BYTES_MAX) as usize;
    for id in [1, 3, 5] {
        rig.sends(&h2_rig::headers(id, h2_rig::GET, true));
    }
    let is_of = |event: Option<Event>, id: u64| matches!(event, Some(Event::RequestReceived { stream, .. }) if stream.0 == id);
    assert!(is_of(rig.conn.poll_event(), 1));
    rig.conn
        .answer(
            rig.now,
            StreamId(1),
            &h2_rig::response(200, &[]),
            vec![1; whole].into(),
        )
        .unwrap();
    assert!(
        rig.conn.poll_event().is_none(),
        "two requests came, and wait"
    );
    rig.sends(&h2_rig::window_update(1, 60_000));
    rig.frames();
    assert!(is_of(rig.conn.poll_event(), 3));
    assert!(is_of(rig.conn.poll_event(), 5));
}

#[test]
fn small_answers_pass_large_ones_that_were_given_whole_and_are_not_taken() {
    let budget = BudgetShare::new(Config::default().windows.send_budget);
    let mut rig = h2(&budget, &[]);
    let whole = budget.total() as usize;
    let asked = |rig: &mut h2_rig::Rig, id: u32, bytes: usize| {
        rig.sends(&h2_rig::headers(id, h2_rig::GET, true));
        let came = matches!(rig.conn.poll_event(), Some(Event::RequestReceived { .. }));
        if came {
            let head = h2_rig::response(200, &[]);
            let stream = StreamId(u64::from(id));
            let body = vec![1; bytes].into();
            rig.conn.answer(rig.now, stream, &head, body).unwrap();
        }
        came
    };
    assert!(asked(&mut rig, 1, whole));
    // The client takes no more than its windows said at the beginning, of the connection too: heads and the ends of answers pass.
    rig.frames();
    for id in (3..).step_by(2).take(50) {
        assert!(asked(&mut rig, id, 0));
        assert!(rig.frames().iter().any(|frame| frame.stream == id));
    }
    for id in (103..).step_by(2).take(SEND_TURNS_MAX as usize) {
        assert!(asked(&mut rig, id, whole));
    }
    assert!(!asked(&mut rig, 201, 0), "five answers wait");
}

#[test]
fn small_answers_of_http_3_pass_large_ones_that_were_given_whole_and_are_not_taken() {
    let budget = BudgetShare::new(Config::default().windows.send_budget);
    let mut rig = h3(&budget);
    let whole = budget.total() as usize;
    let asked = |rig: &mut h3_rig::Rig, id: u64, bytes: usize| {
        rig.sends_all(id, &h3_rig::headers(h3_rig::GET));
        let came = matches!(rig.conn.poll_event(), Some(Event::RequestReceived { .. }));
        if came {
            rig.respond(id, &[], false);
            rig.send(id, vec![1; bytes], true);
        }
        came
    };
    rig.room.insert(0, 0);
    assert!(asked(&mut rig, 0, whole));
    for id in (4..).step_by(4).take(50) {
        assert!(asked(&mut rig, id, 10));
        assert!(rig.wire_streams[&id].fin);
    }
    for id in (204..).step_by(4).take(SEND_TURNS_MAX as usize) {
        rig.room.insert(id, 0);
        assert!(asked(&mut rig, id, whole));
    }
    assert!(!asked(&mut rig, 400, 10), "five answers wait");
}

/// An HTTP/3 server at this budget.
fn h3(budget: &BudgetShare) -> h3_rig::Rig {
    let mut rig = h3_rig::Rig::server(h3_rig::Cut::Whole);
    let fresh = h3_rig::Rig::server(h3_rig::Cut::Whole).conn;
    rig.conn = std::mem::replace(&mut rig.conn, fresh).with_send_budget(budget);
    rig
}

#[test]
fn streams_of_http_3_that_take_nothing_hold_one_budget_together() {
    let budget = BudgetShare::new(BUDGET);
    let mut rigs: Vec<_> = (0..CONNECTIONS).map(|_| h3(&budget)).collect();
    let mut given = Vec::new();
    for rig in &mut rigs {
        let mut one = 0;
        for stream in 0..u64::from(STREAMS) {
            let id = stream * 4;
            rig.room.insert(id, 0);
            rig.sends_all(id, &h3_rig::headers(h3_rig::GET));
            rig.events();
            rig.respond(id, &[], false);
            one += pump!(rig.conn, rig.now, StreamId(id));
            rig.run();
        }
        given.push(one);
    }
    // Beside bodies their heads wait, and their frames.
    let heads = CONNECTIONS as u64 * u64::from(STREAMS) * 1024;
    assert!(given.iter().sum::<u64>() <= ALLOWED + heads, "{given:?}");

    let mut neighbour = h3(&budget);
    neighbour.sends_all(0, &h3_rig::headers(h3_rig::GET));
    neighbour.events();
    neighbour.respond(0, &[], false);
    assert!(neighbour.conn.send_room(StreamId(0)) > 0);
    neighbour.send(0, vec![1; 40_000], true);
    assert!(neighbour.wire_streams[&0].fin);

    // While half of the budget is lent streams have 30 s, and those that are left have 300.
    rigs[0].waits(31 * SECOND);
    assert!(rigs[0].conn.active() < STREAMS as _, "the budget is scarce");
    for rig in &mut rigs {
        rig.waits(301 * SECOND);
        assert_eq!(
            rig.conn.active(),
            0,
            "each stream is over after the stall time"
        );
    }
    assert_eq!(budget.reserved(), 0, "what waited for them is back");
}

#[test]
fn a_stream_of_http_3_that_found_no_room_goes_on_when_another_one_left() {
    let budget = BudgetShare::new(0);
    let mut rig = h3(&budget);
    let ids = [0, 4, 8, 12, 16, 20, 24];
    for id in ids {
        rig.room.insert(id, 0);
        rig.sends_all(id, &h3_rig::headers(h3_rig::GET));
        rig.events();
        rig.respond(id, &[], false);
        rig.run();
    }
    for id in ids {
        pump!(rig.conn, rig.now, StreamId(id));
        rig.run();
    }
    assert_eq!(rig.conn.send_room(StreamId(24)), 0);
    rig.events();
    rig.takes(0, usize::MAX);
    let reported = reported(rig.events());
    assert!(reported.contains(&24), "{reported:?}");
    assert!(rig.conn.send_room(StreamId(24)) > 0);
}

/// Bytes that an HTTP/1.1 server with this budget holds of responses to `asked`, and the machine.
fn h1_attack(budget: &BudgetShare, now: Instant, asked: &str) -> (u64, h1::Conn) {
    let config = Arc::new(Config::default());
    let mut conn = h1::Conn::new(Side::Server, config, now).with_send_budget(budget);
    let mut given = 0;
    conn.handle_bytes(now, asked.as_bytes());
    while let Some(event) = conn.poll_event() {
        if let Event::RequestReceived { stream, .. } = event {
            let mut fields = Fields::new();
            fields.push(Token::CONTENT_LENGTH, b"1000000000");
            let head = ResponseHead::new(200, fields, Version::Http11).unwrap();
            conn.respond(now, stream, &head, false).unwrap();
            given += pump!(conn, now, stream);
        }
    }
    (given, conn)
}

#[test]
fn answers_of_http_1_that_nobody_reads_hold_one_budget_together() {
    let now = h2_rig::Rig::server(h2_rig::Cut::Whole).now;
    let budget = BudgetShare::new(BUDGET);
    let pipelined = "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(16);
    let attackers: Vec<_> = (0..CONNECTIONS)
        .map(|_| h1_attack(&budget, now, &pipelined))
        .collect();
    let given: Vec<u64> = attackers.iter().map(|(given, _)| *given).collect();
    assert!(given.iter().sum::<u64>() <= ALLOWED, "{given:?}");
    assert!(
        given.iter().all(|&one| one >= SEND_FREE_BYTES - 1024),
        "{given:?}"
    );
    drop(attackers);
    assert_eq!(budget.reserved(), 0);
}

#[test]
fn pipelined_requests_wait_while_the_answers_before_them_do() {
    let now = h2_rig::Rig::server(h2_rig::Cut::Whole).now;
    let config = Arc::new(Config::default());
    let mut conn = h1::Conn::new(Side::Server, config, now);
    conn.handle_bytes(
        now,
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(2_000).as_bytes(),
    );
    let head = ResponseHead::new(200, Fields::new(), Version::Http11).unwrap();
    let answer = Bytes::from(vec![7; 100_000]);
    let mut answered = 0;
    let mut serve = |conn: &mut h1::Conn| {
        while let Some(event) = conn.poll_event() {
            if let Event::RequestReceived { stream, .. } = event {
                let mut fields = Fields::new();
                fields.push(Token::CONTENT_LENGTH, b"100000");
                let head = ResponseHead::new(head.status, fields, Version::Http11).unwrap();
                conn.answer(now, stream, &head, answer.clone()).unwrap();
                conn.handler_done(stream);
                answered += 1;
            }
        }
        answered
    };
    // Those that were parsed ahead are answered; no others before these left.
    assert!(serve(&mut conn) <= 2 * PIPELINED_REQUESTS_MAX);
    for _ in 0..2_000 {
        while !conn.poll_write(now).is_empty() {
            let left = conn.poll_write(now).len();
            conn.poll_write(now).advance(left);
        }
        serve(&mut conn);
    }
    assert_eq!(serve(&mut conn), 2_000);
}
