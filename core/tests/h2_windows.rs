//! Receive windows beyond the plain refill: raised with a request, set by a command, given back
//! when idle, shared between connections.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::credit::{BudgetShare, WINDOW_MAX};
use trunkline_core::error::Misuse;
use trunkline_core::h2::frame::{Setting, kind};
use trunkline_core::http::StreamId;
use trunkline_core::limits::{Config, Windows};

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;

fn client() -> Rig {
    let limit = Setting::MaxConcurrentStreams(1000);
    Rig::client_with(Config::default(), &[limit], Cut::Whole)
}

/// Opens a request; returns its id and what its window was raised by.
fn open(rig: &mut Rig) -> (u32, Option<u32>) {
    let head = request("GET");
    let opened = rig.conn.open(rig.now, &head, true);
    let id = opened.expect("the connection takes it").0 as u32;
    let frames = rig.frames();
    assert_eq!((frames[0].kind, frames[0].stream), (kind::HEADERS, id));
    let raise = frames.get(1).map(|update| {
        assert_eq!((update.kind, update.stream), (kind::WINDOW_UPDATE, id));
        update.number()
    });
    assert!(frames.len() <= 2, "{frames:?}");
    (id, raise)
}

#[test]
fn a_request_on_an_unknown_path_has_the_initial_window() {
    let mut rig = client();
    assert_eq!(open(&mut rig), (1, None));
    assert_eq!(rig.conn.bdp_bytes(rig.now), 0);
}

#[test]
fn a_request_on_a_known_path_raises_its_window_behind_its_head() {
    let mut rig = client();
    rig.conn.remember_path(rig.now, 4 * MIB);
    assert_eq!(open(&mut rig), (1, Some(4 * MIB - 64 * KIB)));
    assert_eq!(
        open(&mut rig),
        (3, Some(2 * MIB - 64 * KIB)),
        "two readers share the path"
    );
}

#[test]
fn a_minute_later_the_path_is_unknown_again() {
    let mut rig = client();
    rig.conn.remember_path(rig.now, 4 * MIB);
    assert_eq!(
        rig.conn.bdp_bytes(rig.now),
        0,
        "what is only remembered is not passed on as seen"
    );
    rig.now += Duration::from_secs(65);
    assert_eq!(open(&mut rig).1, None);
}

#[test]
fn many_requests_on_a_known_path_leave_most_of_the_budget() {
    let mut rig = client();
    rig.conn.remember_path(rig.now, u32::MAX);
    let raised: u64 = (0..100)
        .filter_map(|_| open(&mut rig).1)
        .map(u64::from)
        .sum();
    assert!(raised > 16 << 20, "{raised} bytes");
    let budget = Windows::default().memory_budget;
    assert!(raised < budget, "{raised} of {budget} bytes");
}

#[test]
fn a_fixed_window_is_not_raised() {
    let config = Config::default().with_windows(Windows::default().with_auto(false));
    let mut rig = Rig::client_with(config, &[], Cut::Whole);
    rig.conn.remember_path(rig.now, 4 * MIB);
    assert_eq!(open(&mut rig).1, None);
}

#[test]
fn a_content_length_below_the_window_gives_the_surplus_back() {
    let budget_share = BudgetShare::new(64 << 20);
    let mut rig = client();
    let fresh = std::mem::replace(&mut rig.conn, client().conn);
    rig.conn = fresh.with_receive_budget(&budget_share);
    rig.conn.remember_path(rig.now, 4 * MIB);
    open(&mut rig);
    assert_eq!(budget_share.reserved(), u64::from(4 * MIB - 64 * KIB));
    rig.sends(&headers(
        1,
        &[(":status", "200"), ("content-length", "100000")],
        false,
    ));
    rig.events();
    assert_eq!(budget_share.reserved(), 100_001 - 65_536);
    rig.sends(&body(1, &[0; 16_000], false));
    rig.events();
    rig.conn.consume(rig.now, StreamId(1), 16_000);
    rig.is_quiet("all of the body is granted already");
    rig.sends(&rst(1, trunkline_core::error::H2Code::CANCEL));
    assert_eq!(budget_share.reserved(), 0);
}

/// Padding counts against the window and not against content-length: a stream whose padding ate
/// what was granted must get the rest.
#[test]
fn padding_does_not_block_a_body_whose_length_is_known() {
    let mut rig = client();
    rig.reads_bodies = true;
    open(&mut rig);
    let length = 60_000;
    let text = length.to_string();
    let head = [(":status", "200"), ("content-length", text.as_str())];
    rig.sends(&headers(1, &head, false));
    let mut window: i64 = 65_536;
    let mut left = length;
    while left > 0 {
        let mut payload = vec![255];
        payload.extend_from_slice(&[b'x'; 100]);
        payload.extend_from_slice(&[0; 255]);
        window -= payload.len() as i64;
        assert!(window >= 0, "{left} bytes are due and nothing is granted");
        left -= 100;
        let end = if left == 0 { 1 } else { 0 };
        rig.sends(&frame(kind::DATA, 8 | end, 1, &payload));
        rig.events();
        let updates = rig.frames().into_iter();
        let updates = updates.filter(|frame| frame.stream == 1);
        window += updates.map(|frame| i64::from(frame.number())).sum::<i64>();
    }
    assert_eq!(rig.conn.active(), 0);
}

#[test]
fn an_upload_on_a_known_path_is_granted_its_length_when_its_handler_begins_to_read() {
    let mut rig = Rig::server(Cut::Whole);
    rig.conn.remember_path(rig.now, 4 * MIB);
    rig.sends(&headers(
        1,
        &with(POST, &[("content-length", "1000000")]),
        false,
    ));
    rig.sends(&frame(kind::DATA, 0, 1, &[0; 1000]));
    rig.is_quiet("an upload that is not read is granted no more");
    rig.events();
    rig.conn.consume(rig.now, StreamId(1), 1000);
    let update = rig.expects(kind::WINDOW_UPDATE, 1, "the length of the body");
    assert_eq!(update.number(), 1_000_001 - 65_536);
    rig.sends(&headers(3, &with(POST, &[("content-length", "10")]), false));
    rig.is_quiet("the initial window is enough");
}

#[test]
fn a_lone_upload_that_is_not_read_brings_no_more_than_the_initial_window_on_a_path_that_took_more()
{
    let mut rig = Rig::server(Cut::Whole);
    rig.conn.remember_path(rig.now, 16 * MIB);
    rig.sends(&headers(1, POST, false));
    rig.is_quiet("its window is the one of SETTINGS");
    let unread = |rig: &Rig| {
        let window = rig.conn.receive_window(Some(StreamId(1)));
        window.map(|read| (read.granted, read.unread))
    };
    assert_eq!(unread(&rig), Some((64 * 1024, 0)));
    for _ in 0..4 {
        rig.sends(&frame(kind::DATA, 0, 1, &[0; 16 * 1024]));
        rig.now += Duration::from_secs(1);
        rig.conn.handle_timeout(rig.now);
    }
    rig.events();
    rig.is_quiet("no byte was read");
    assert_eq!(unread(&rig), Some((64 * 1024, 64 * 1024)));
}

#[test]
fn a_body_that_is_expected_widens_its_window() {
    let mut rig = client();
    let (id, _) = open(&mut rig);
    let stream = StreamId(u64::from(id));
    rig.conn.expect_body(rig.now, stream, 1 << 20);
    let update = rig.expects(kind::WINDOW_UPDATE, id, "the expected size");
    assert_eq!(update.number(), MIB - 64 * KIB);
    rig.conn.expect_body(rig.now, stream, 1000);
    rig.is_quiet("a window does not shrink for a guess");
    rig.conn.expect_body(rig.now, StreamId(99), 1 << 20);
    rig.is_quiet("a stream that is not open");
}

#[test]
fn a_receive_window_is_set_upwards_and_announced_at_once() {
    let mut rig = client();
    let (id, _) = open(&mut rig);
    let stream = Some(StreamId(u64::from(id)));
    let set = rig.conn.set_receive_window(rig.now, stream, 64 * KIB + 1);
    assert_eq!(set, Ok(()));
    let update = rig.expects(kind::WINDOW_UPDATE, id, "one byte more");
    assert_eq!(update.number(), 1);
    let set = rig.conn.set_receive_window(rig.now, None, 32 * MIB);
    assert_eq!(set, Ok(()));
    let update = rig.expects(kind::WINDOW_UPDATE, 0, "the connection's");
    assert_eq!(update.number(), 16 * MIB);
    let window = rig.conn.receive_window(None).unwrap();
    assert_eq!((window.window, window.unread), (32 * MIB, 0));
}

#[test]
fn a_receive_window_that_would_shrink_or_is_out_of_range_is_refused_with_what_is_allowed() {
    let mut rig = client();
    let (id, _) = open(&mut rig);
    for (stream, now) in [(Some(StreamId(u64::from(id))), 64 * KIB), (None, 16 * MIB)] {
        for window in [0, 1, now - 1, WINDOW_MAX + 1, u32::MAX] {
            let refused = rig.conn.set_receive_window(rig.now, stream, window);
            let text = refused.unwrap_err().to_string();
            for part in [
                "receive_window".to_owned(),
                window.to_string(),
                now.to_string(),
                WINDOW_MAX.to_string(),
            ] {
                assert!(text.contains(&part), "{text}");
            }
        }
        rig.is_quiet("a refusal changes nothing");
    }
    let gone = rig
        .conn
        .set_receive_window(rig.now, Some(StreamId(99)), MIB);
    assert_eq!(gone, Err(Misuse::StreamNotOpen));
}

#[test]
fn credit_that_was_held_back_is_granted_after_five_seconds_without_another_event() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(&headers(1, POST, false));
    rig.sends(&body(1, &[0; 1000], false));
    rig.events();
    rig.conn.consume(rig.now, StreamId(1), 1000);
    rig.is_quiet("less than a quantum");
    rig.waits(Duration::from_millis(4_900));
    rig.is_quiet("not yet");
    rig.waits(Duration::from_millis(200));
    let update = rig.frames();
    let update = update.iter().find(|frame| frame.stream == 1).unwrap();
    assert_eq!((update.kind, update.number()), (kind::WINDOW_UPDATE, 1000));
    rig.waits(Duration::from_millis(4_800));
    rig.is_quiet("nothing is held back any more");
}

#[test]
fn the_windows_of_two_connections_share_one_budget() {
    let budget_share = BudgetShare::new(u64::from(2 * MIB));
    let mut rigs = [client(), client()];
    for rig in &mut rigs {
        let fresh = std::mem::replace(&mut rig.conn, client().conn);
        rig.conn = fresh.with_receive_budget(&budget_share);
        let (id, _) = open(rig);
        rig.sends(&headers(id, &[(":status", "200")], false));
        rig.events();
    }
    // Both expect a body far larger than the budget, and neither is read.
    for _ in 0..50 {
        for rig in &mut rigs {
            rig.conn.expect_body(rig.now, StreamId(1), 1 << 30);
        }
    }
    let mut unread = 0;
    for rig in &mut rigs {
        rig.frames();
        let mut room = rig.conn.receive_window(Some(StreamId(1))).unwrap().granted;
        while room > 0 {
            let bytes = room.min(16_384);
            rig.sends(&body(1, &vec![0; bytes as usize], false));
            rig.events();
            room -= bytes;
        }
        rig.frames();
        assert!(!rig.conn.is_closed());
        unread += rig.conn.receive_window(None).unwrap().unread;
    }
    assert!(budget_share.reserved() <= budget_share.total());
    assert!(unread > u64::from(MIB / 2), "only {unread} bytes came");
    assert!(
        unread <= u64::from(2 * MIB + 2 * 64 * KIB),
        "{unread} bytes lie unread"
    );
    let [first, second] = rigs;
    drop(first);
    drop(second);
    assert_eq!(
        budget_share.reserved(),
        0,
        "connections that are gone owe nothing"
    );
}

#[test]
fn bodies_that_a_client_sends_share_the_line_unless_their_request_says_otherwise() {
    let theirs = [
        Setting::InitialWindowSize(1 << 20),
        Setting::MaxConcurrentStreams(100),
    ];
    let order = |priority: Option<&str>| {
        let mut rig = Rig::client_with(Config::default(), &theirs, Cut::Whole);
        rig.sends(&window_update(0, 1 << 24));
        let fields: Vec<_> = priority
            .map(|value| ("priority", value))
            .into_iter()
            .collect();
        for _ in 0..3 {
            let head = request_with("POST", &fields);
            rig.conn.open(rig.now, &head, false).unwrap();
        }
        for id in [1, 3, 5] {
            rig.send(id, vec![0; 40_000], true);
        }
        let data = rig.frames().into_iter();
        let data = data.filter(|frame| frame.kind == kind::DATA);
        data.map(|frame| frame.stream).collect::<Vec<_>>()
    };
    assert_eq!(order(None), [1, 3, 5, 1, 3, 5, 1, 3, 5]);
    assert_eq!(order(Some("u=3")), [1, 1, 1, 3, 3, 3, 5, 5, 5]);
}
