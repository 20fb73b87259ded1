//! The connection's receive window on HTTP/3: it grows with the bytes read, borrows from one
//! budget, shrinks when idle, and makes room beside unread bodies.

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::credit::{BudgetShare, WINDOW_MAX};
use trunkline_core::error::Misuse;
use trunkline_core::http::{Side, StreamId};
use trunkline_core::limits::{
    Config, QUIC_RECEIVE_WINDOW_BYTES, QUIC_SEND_WINDOW_BYTES, QUIC_SEND_WINDOW_BYTES_MAX, Windows,
};

const KIB: usize = 1024;
const MIB: u32 = 1024 * 1024;
const RTT: Duration = Duration::from_millis(100);

/// A server with a known round trip, and an upload begun on stream 0.
fn uploading(config: Config) -> Rig {
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.conn.handle_round_trip(RTT);
    rig.sends(0, &headers(POST));
    rig.events();
    rig
}

/// A piece of body comes and is read at once.
fn uploads(rig: &mut Rig, stream: u64, bytes: usize) {
    rig.sends(stream, &data(&vec![0; bytes]));
    rig.events();
    rig.conn.consume(rig.now, StreamId(stream), bytes);
    rig.run();
}

/// A round trip in which `bytes` arrive, evenly.
fn round(rig: &mut Rig, stream: u64, bytes: usize) {
    let pieces = bytes / (32 * KIB);
    for _ in 0..pieces {
        rig.now += RTT / pieces as u32;
        uploads(rig, stream, 32 * KIB);
    }
}

#[test]
fn the_window_grows_with_what_is_read_to_a_few_times_what_the_path_holds() {
    let mut rig = uploading(Config::default());
    round(&mut rig, 0, 128 * KIB);
    assert!(rig.windows.is_empty(), "an eighth of the window is enough");
    for _ in 0..20 {
        round(&mut rig, 0, 2048 * KIB);
    }
    let window = *rig.windows.last().expect("it has grown");
    assert!((4 * MIB..=10 * MIB).contains(&window), "{window}");
    assert!(rig.windows.is_sorted(), "{:?}", rig.windows);
    assert!((2 * MIB..=window).contains(&rig.conn.bdp_bytes(rig.now)));
}

#[test]
fn a_fixed_window_stays() {
    let config = Config::default().with_windows(Windows::fixed(MIB, 4 * MIB));
    assert_eq!(config.windows.quic_connection(), 4 * MIB);
    assert_eq!(config.windows.quic_stream(), MIB);
    let mut rig = uploading(config);
    for _ in 0..20 {
        round(&mut rig, 0, 4096 * KIB);
    }
    rig.conn.handle_blocked(rig.now);
    rig.run();
    assert!(rig.windows.is_empty(), "{:?}", rig.windows);
}

#[test]
fn what_the_transport_grants_of_a_fixed_window_is_counted_and_its_deadline_passes() {
    let config = Config::default().with_windows(Windows::fixed(MIB, 4 * MIB));
    let mut rig = uploading(config);
    // The last grant holds less than an eighth of the window back.
    for bytes in [5 * MIB, 1000] {
        uploads(&mut rig, 0, bytes as usize);
    }
    let read = rig.conn.receive_window(None).expect("of the connection");
    assert_eq!(read.used, u64::from(5 * MIB) + 1000);
    assert_eq!(read.granted, u64::from(9 * MIB));
    rig.waits(Duration::from_secs(6));
    let read = rig.conn.receive_window(None).expect("of the connection");
    assert_eq!(read.granted, u64::from(9 * MIB) + 1000);
}

#[test]
fn a_window_that_rests_gives_back_what_it_borrowed_and_the_next_request_begins_with_what_it_needed()
{
    let budget_share = BudgetShare::new(64 << 20);
    let mut rig = uploading(Config::default());
    let fresh = std::mem::replace(&mut rig.conn, uploading(Config::default()).conn);
    rig.conn = fresh.with_receive_budget(&budget_share);
    for _ in 0..20 {
        round(&mut rig, 0, 2048 * KIB);
    }
    let window = *rig.windows.last().expect("it has grown");
    assert_eq!(
        budget_share.reserved(),
        u64::from(window - QUIC_RECEIVE_WINDOW_BYTES)
    );
    rig.waits(Duration::from_secs(3));
    assert_eq!(rig.windows.last(), Some(&QUIC_RECEIVE_WINDOW_BYTES));
    // Granted bytes stay granted: the peer uses it up first.
    for _ in 0..window / 32_768 {
        rig.waits(RTT);
        uploads(&mut rig, 0, 32 * KIB);
    }
    rig.waits(Duration::from_secs(6));
    assert_eq!(budget_share.reserved(), 0);
    let need = rig.conn.bdp_bytes(rig.now);
    rig.answer(0, "");
    rig.resets(0, trunkline_core::error::H3Code::REQUEST_CANCELLED);
    rig.acknowledge(0);
    rig.events();
    assert_eq!(rig.conn.active(), 0);
    rig.sends(4, &headers(POST));
    rig.sends(4, &data(&[0; 1000]));
    rig.events();
    let rested = Some(&QUIC_RECEIVE_WINDOW_BYTES);
    assert_eq!(rig.windows.last(), rested, "an upload that is not read");
    rig.conn.consume(rig.now, StreamId(4), 1000);
    rig.run();
    assert_eq!(rig.windows.last(), Some(&need), "its handler reads");
}

#[test]
fn what_an_earlier_connection_has_learned_widens_the_window_with_the_first_request() {
    let mut rig = Rig::client(Cut::Whole);
    rig.conn.remember_path(rig.now, 6 * MIB);
    rig.run();
    assert!(rig.windows.is_empty(), "nothing is asked for yet");
    rig.get();
    assert_eq!(rig.windows, [6 * MIB]);
    assert_eq!(rig.conn.bdp_bytes(rig.now), 0, "it was not seen here");
}

#[test]
fn bodies_that_nobody_reads_leave_room_for_the_others_as_far_as_the_budget_goes() {
    let mut rig = uploading(Config::default());
    rig.conn.handle_blocked(rig.now);
    rig.run();
    assert!(rig.windows.is_empty(), "everything was read");
    rig.sends(0, &data(&[0; 64 * KIB]));
    rig.events();
    assert!(rig.conn.holds_back());
    for _ in 0..100 {
        rig.conn.handle_blocked(rig.now);
    }
    rig.run();
    let window = *rig.windows.last().expect("it was widened");
    assert_eq!(window, 16 * MIB, "a quarter of the budget");
    rig.conn.consume(rig.now, StreamId(0), 64 * KIB);
    assert!(!rig.conn.holds_back());
}

#[test]
fn a_peer_that_used_up_a_window_before_it_fell_is_granted_more() {
    for mut rig in [uploading(Config::default()), downloading()] {
        let head = match rig.conn.side() {
            Side::Server => headers(POST),
            Side::Client => {
                rig.get();
                headers(OK)
            }
        };
        rig.sends(0, &data(&[0; 64 * KIB]));
        rig.sends(4, &head);
        rig.events();
        rig.conn.handle_blocked(rig.now);
        rig.conn.handle_blocked(rig.now);
        uploads(&mut rig, 4, 1000);
        assert_eq!(rig.windows.last(), Some(&(4 * MIB)));
        rig.waits(Duration::from_secs(3));
        uploads(&mut rig, 4, 1000);
        assert_eq!(rig.windows.last(), Some(&QUIC_RECEIVE_WINDOW_BYTES));
        // It has sent 4 MiB, of which next to nothing was read: a window of less grants it nothing.
        rig.conn.handle_blocked(rig.now);
        rig.run();
        let window = *rig.windows.last().expect("it was widened");
        assert!(window > 4 * MIB, "{:?} {window}", rig.conn.side());
    }
}

/// The bytes that a client may send on uploads that no handler reads.
fn unread_of_one_connection(windows: Windows) -> u32 {
    let mut rig = uploading(Config::default().with_windows(windows));
    let (mut sent, mut stream) = (0, 0);
    loop {
        let window = rig.windows.last().copied();
        let window = window.unwrap_or(QUIC_RECEIVE_WINDOW_BYTES);
        while sent + 64 * 1024 <= window {
            // Bytes that are not read ahead of a handler wait in the transport.
            if (1..50).contains(&(stream / 4)) {
                rig.sends(stream, &headers(POST));
            }
            if stream / 4 < 50 {
                rig.sends(stream, &data(&[0; 64 * KIB]));
                rig.events();
            }
            (sent, stream) = (sent + 64 * 1024, stream + 4);
        }
        rig.conn.handle_blocked(rig.now);
        rig.run();
        if rig.windows.last().is_none_or(|&now| now <= window) {
            return sent;
        }
    }
}

#[test]
fn uploads_of_one_connection_that_no_handler_reads_fill_a_quarter_of_the_budget() {
    let windows = Windows::default();
    assert_eq!(windows.quic_unread_uploads(), 16 * MIB);
    assert_eq!(unread_of_one_connection(windows), 16 * MIB);
    let narrow = Windows::default().with_memory_budget(8 << 20);
    assert_eq!(unread_of_one_connection(narrow), 2 * MIB);
}

#[test]
fn a_lone_upload_whose_handler_begins_to_read_late_grows_its_window_as_one_that_is_read() {
    let mut rig = uploading(Config::default());
    rig.sends(0, &data(&[0; 64 * KIB]));
    rig.events();
    for _ in 0..10 {
        rig.conn.handle_blocked(rig.now);
    }
    rig.conn.consume(rig.now, StreamId(0), 64 * KIB);
    for _ in 0..20 {
        round(&mut rig, 0, 2048 * KIB);
    }
    let window = *rig.windows.last().expect("it has grown");
    assert!(window >= 4 * MIB, "{window}");
}

#[test]
fn connections_share_one_budget() {
    let budget_share = BudgetShare::new(u64::from(MIB));
    let mut windows = 0;
    for _ in 0..3 {
        let mut rig = uploading(Config::default());
        let fresh = std::mem::replace(&mut rig.conn, uploading(Config::default()).conn);
        rig.conn = fresh.with_receive_budget(&budget_share);
        for _ in 0..20 {
            round(&mut rig, 0, 2048 * KIB);
        }
        let window = rig.windows.last().copied();
        windows += window.unwrap_or(QUIC_RECEIVE_WINDOW_BYTES);
        // A connection that dies gives back what it borrowed: it lives on.
        std::mem::forget(rig);
    }
    assert_eq!(windows, 3 * QUIC_RECEIVE_WINDOW_BYTES + MIB);
    assert_eq!(budget_share.left(), 0);
}

#[test]
fn a_window_is_read_and_set_as_far_as_quic_lets_it() {
    let mut rig = uploading(Config::default());
    rig.sends(0, &data(&[0; 10_000]));
    rig.events();
    let stream = Some(StreamId(0));
    let read = rig.conn.receive_window(stream).expect("it is open");
    assert_eq!(
        (read.used, read.unread, read.rtt),
        (10_000, 10_000, Some(RTT))
    );
    assert_eq!(read.granted, 10_000 + u64::from(read.window));
    let read = rig.conn.receive_window(None).expect("it is open");
    assert_eq!((read.used, read.unread), (10_000, 10_000));
    assert_eq!(read.window, QUIC_RECEIVE_WINDOW_BYTES);
    assert_eq!(rig.conn.receive_window(Some(StreamId(40))), None);

    let now = rig.now;
    for refused in [0, MIB - 1, WINDOW_MAX + 1] {
        for window in [None, stream] {
            let set = rig.conn.set_receive_window(now, window, refused);
            assert!(matches!(set, Err(Misuse::WindowInvalid(_))), "{refused}");
        }
    }
    assert_eq!(rig.conn.set_receive_window(now, None, 20 * MIB), Ok(()));
    rig.run();
    assert_eq!(rig.windows, [20 * MIB]);
    let read = rig.conn.receive_window(None).expect("it is open");
    assert_eq!(read.window, 20 * MIB);
}

#[test]
fn a_stream_window_above_quics_is_made_of_what_is_read_ahead() {
    let mut rig = uploading(Config::default());
    let stream = StreamId(0);
    rig.sends(0, &data(&[0; 64 * KIB]));
    assert_eq!(rig.conn.read_room(stream), 0);
    let now = rig.now;
    let set = |rig: &mut Rig, window| rig.conn.set_receive_window(now, Some(stream), window);
    assert_eq!(set(&mut rig, 4 * MIB), Ok(()), "as it is");
    assert_eq!(rig.conn.read_room(stream), 0);
    assert_eq!(set(&mut rig, 6 * MIB), Ok(()));
    rig.reads.clear();
    rig.run();
    assert!(rig.reads.contains(&0), "what the transport holds is wanted");
    assert_eq!(rig.conn.read_room(stream), (2 * MIB) as usize - 64 * KIB);
    assert!(matches!(
        set(&mut rig, 5 * MIB),
        Err(Misuse::WindowInvalid(_))
    ));
    let read = rig.conn.receive_window(Some(stream)).expect("it is open");
    assert_eq!((read.window, read.unread), (6 * MIB, 64 << 10));
    let gone = rig
        .conn
        .set_receive_window(now, Some(StreamId(40)), 6 * MIB);
    assert_eq!(gone, Err(Misuse::StreamNotOpen));
}

#[test]
fn a_wider_window_for_a_stream_that_has_ended_reads_nothing_more() {
    let mut rig = uploading(Config::default());
    rig.sends_all(0, &data(&[0; 64 * KIB]));
    rig.reads.clear();
    let set = rig
        .conn
        .set_receive_window(rig.now, Some(StreamId(0)), 18 * MIB);
    assert_eq!(set, Ok(()));
    rig.run();
    assert!(rig.reads.is_empty(), "{:?}", rig.reads);
}

#[test]
fn a_body_that_is_expected_widens_the_window() {
    let mut rig = Rig::client(Cut::Whole);
    let stream = StreamId(rig.get());
    rig.conn.expect_body(rig.now, stream, 5 << 20);
    rig.run();
    assert_eq!(rig.windows, [5 * MIB]);
    rig.conn.expect_body(rig.now, stream, 100);
    rig.run();
    assert_eq!(rig.windows, [5 * MIB], "it never shrinks for it");
}

#[test]
fn what_waits_for_an_acknowledgement_follows_the_path_and_an_idle_connection_gives_it_back() {
    let (budget_share, reading) = (BudgetShare::new(64 << 20), BudgetShare::new(64 << 20));
    let mut rig = Rig::server_with(Config::default(), Cut::Whole);
    let fresh = std::mem::replace(&mut rig.conn, Rig::server(Cut::Whole).conn);
    rig.conn = fresh
        .with_receive_budget(&reading)
        .with_send_budget(&budget_share);
    rig.conn.handle_congestion_window(5 << 20);
    rig.conn.handle_congestion_window((5 << 20) - 1);
    rig.run();
    assert_eq!(rig.send_windows, [10 << 20]);
    assert_eq!((budget_share.reserved(), reading.reserved()), (9 << 20, 0));
    rig.conn.release();
    rig.run();
    assert_eq!(rig.send_windows, [10 << 20, QUIC_SEND_WINDOW_BYTES]);
    assert_eq!(budget_share.reserved(), 0);
}

#[test]
fn what_waits_for_an_acknowledgement_follows_the_path_with_fixed_receive_windows_too() {
    let config = Config::default().with_windows(Windows::fixed(MIB, 4 * MIB));
    let mut rig = Rig::server_with(config, Cut::Whole);
    rig.conn.handle_congestion_window(1 << 30);
    rig.run();
    let alone = Windows::default().send_budget / 4;
    assert!(alone > QUIC_SEND_WINDOW_BYTES_MAX - QUIC_SEND_WINDOW_BYTES);
    assert_eq!(rig.send_windows, [QUIC_SEND_WINDOW_BYTES_MAX]);
}

/// A client with a body on its way.
fn downloading() -> Rig {
    let mut rig = Rig::client(Cut::Whole);
    let id = rig.get();
    rig.sends(id, &headers(&[(":status", "200")]));
    rig.events();
    rig
}

#[test]
fn where_the_window_can_be_widened_no_more_further_requests_go_elsewhere_until_somebody_reads() {
    let mut rig = downloading();
    let free = rig.conn.capacity();
    assert!(free > 0);
    rig.sends(0, &data(&[0; 64 * KIB]));
    rig.events();
    rig.conn.handle_blocked(rig.now);
    assert_eq!(rig.conn.capacity(), free, "it can be widened for another");
    // Each further one is held up, and its body is not read either.
    let mut others = Vec::new();
    while rig.conn.capacity() > 0 {
        let other = rig.get();
        rig.conn.handle_blocked(rig.now);
        rig.sends(other, &headers(OK));
        rig.sends(other, &data(&[0; 64 * KIB]));
        rig.events();
        rig.conn.handle_blocked(rig.now);
        others.push(other);
    }
    assert!((3..12).contains(&others.len()), "{}", others.len());
    let window = *rig.windows.last().expect("it was widened");
    assert!((16 * MIB..=48 * MIB).contains(&window), "{window}");
    others.push(0);
    for stream in others {
        rig.conn.consume(rig.now, StreamId(stream), 64 * KIB);
    }
    assert!(rig.conn.capacity() > 0);
}

/// A reader that takes `piece` bytes each millisecond of what a peer always has more of: the most
/// that the peer may have sent unread at any time. The transport's estimate of the round trip is
/// `rtt`, and a peer that is held up says so.
fn unread_by_a_reader_that_takes(piece: usize, rtt: Duration, rounds: u32) -> u64 {
    let mut rig = Rig::client(Cut::Whole);
    let stream = rig.get();
    rig.conn.handle_round_trip(rtt);
    rig.sends(stream, &headers(OK));
    rig.events();
    // Bytes that the peer has sent, those given to the machine, and those read.
    let (mut sent, mut given, mut read, mut most) = (0, 0, 0, 0);
    let frame = data(&vec![0; 32 << 20]);
    for _ in 0..rounds {
        let window = rig.windows.last().copied();
        let window = u64::from(window.unwrap_or(QUIC_RECEIVE_WINDOW_BYTES));
        sent = sent.max(read + window);
        most = most.max(sent - read);
        rig.conn.handle_blocked(rig.now);
        // The frame's head counts for nothing.
        while rig.conn.read_room(StreamId(stream)) > 0 {
            let room = rig.conn.read_room(StreamId(stream)) as u64;
            let bytes = room.min(sent - given);
            if bytes == 0 {
                rig.conn.handle_drained(rig.now, StreamId(stream));
                break;
            }
            let part = &frame[given as usize..(given + bytes) as usize];
            let id = StreamId(stream);
            rig.conn.handle_stream(rig.now, id, part, false);
            given += bytes;
        }
        rig.events();
        rig.now += Duration::from_millis(1);
        let taken = (piece as u64).min(given - read);
        rig.conn.consume(rig.now, StreamId(stream), taken as usize);
        read += taken;
        rig.run();
    }
    most
}

#[test]
fn a_slow_reader_of_one_body_has_no_more_unread_than_a_connection_begins_with() {
    for rtt in [1, 50, 200] {
        let rtt = Duration::from_millis(rtt);
        let unread = unread_by_a_reader_that_takes(16 * KIB, rtt, 2_000);
        assert!(
            unread <= u64::from(QUIC_RECEIVE_WINDOW_BYTES),
            "{unread} bytes with an estimate of {rtt:?}"
        );
    }
}

#[test]
fn a_client_whose_upload_is_not_read_gets_room_for_the_head_of_its_next_request() {
    // The upload holds all of the connection's window, so that the server cannot know of another.
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &headers(POST));
    rig.sends(0, &data(&[0; 64 * KIB]));
    rig.events();
    rig.conn.handle_blocked(rig.now);
    rig.run();
    assert_eq!(rig.windows, [2 * QUIC_RECEIVE_WINDOW_BYTES]);
}

/// A client with an unread body, whose server is blocked.
fn blocked_upload() -> (Rig, u64) {
    let mut rig = Rig::client(Cut::Whole);
    let stream = rig.get();
    rig.sends(stream, &headers(OK));
    rig.sends(stream, &data(&[0; 64 * KIB]));
    rig.events();
    rig.conn.handle_blocked(rig.now);
    rig.run();
    assert!(rig.windows.is_empty(), "no stream could use more");
    (rig, stream)
}

#[test]
fn the_next_exchange_behind_a_body_that_is_not_read_has_room_for_its_answer() {
    let (mut rig, _) = blocked_upload();
    // The server says once for each limit that it is held up.
    rig.get();
    assert_eq!(rig.windows, [2 * QUIC_RECEIVE_WINDOW_BYTES]);
}

#[test]
fn a_reader_that_goes_on_beside_one_that_rests_has_room_for_the_rest_of_its_body() {
    let mut rig = Rig::client(Cut::Whole);
    let [rests, reads] = [rig.get(), rig.get()];
    for stream in [rests, reads] {
        rig.sends(stream, &headers(OK));
        rig.sends(stream, &data(&[0; 64 * KIB]));
    }
    rig.events();
    rig.conn.handle_blocked(rig.now);
    rig.run();
    assert!(rig.windows.is_empty(), "both rest");
    rig.conn.consume(rig.now, StreamId(reads), 64 * KIB);
    rig.run();
    assert!(rig.reads.contains(&reads));
    rig.conn.handle_drained(rig.now, StreamId(reads));
    rig.run();
    assert_eq!(rig.windows, [2 * QUIC_RECEIVE_WINDOW_BYTES]);
}

#[test]
fn a_reader_that_is_alone_and_catches_up_again_and_again_gets_no_wider_window_for_its_rests() {
    let (mut rig, stream) = blocked_upload();
    for _ in 0..10 {
        rig.conn.consume(rig.now, StreamId(stream), 64 * KIB);
        rig.conn.handle_drained(rig.now, StreamId(stream));
        rig.sends(stream, &data(&[0; 64 * KIB]));
        rig.events();
        rig.conn.handle_blocked(rig.now);
        rig.run();
        assert!(rig.windows.is_empty(), "{:?}", rig.windows);
    }
}
