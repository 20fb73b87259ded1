//! A client's early data: requests under remembered settings, taken or not.

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use trunkline_core::error::{H2Code, Violation};
use trunkline_core::h3::settings::{Settings, id};
use trunkline_core::http::event::ResetBy;
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::Config;

const REMEMBERED: Settings = Settings {
    qpack_table_bytes_max: 100,
    qpack_blocked_streams_max: 3,
    field_section_bytes_max: 1000,
    enable_connect_protocol: true,
    datagrams: false,
};

/// A client that begins with early data.
fn early() -> Rig {
    let mut rig = Rig::fresh(Side::Client, Config::default(), Cut::Whole);
    rig.conn.remember_settings(REMEMBERED);
    rig.conn.handle_streams_available(rig.now, 10);
    rig.events();
    rig
}

#[test]
fn a_request_goes_out_under_what_the_server_said_before() {
    let mut rig = early();
    assert!(rig.conn.takes_extended_connect());
    assert!(!rig.conn.is_limit_known());
    assert_eq!(rig.get(), 0);
    assert!(rig.wire_streams[&0].fin, "it does not wait for SETTINGS");
    let same = [
        (id::QPACK_MAX_TABLE_CAPACITY, 100),
        (id::QPACK_BLOCKED_STREAMS, 3),
        (id::MAX_FIELD_SECTION_SIZE, 2000),
        (id::ENABLE_CONNECT_PROTOCOL, 1),
    ];
    rig.sends(3, &control(&same));
    assert_eq!(rig.closed, None);
    let sent = rig
        .conn
        .peer_settings()
        .map(|it| it.field_section_bytes_max);
    assert_eq!(sent, Some(2000));
    rig.sends_all(0, &headers(&[(":status", "200")]));
    let (head, end) = rig.response(0);
    assert_eq!((head.status, end), (200, true));
}

#[test]
fn a_server_that_says_less_after_early_data_breaks_a_rule() {
    let mut rig = early();
    rig.get();
    rig.sends(
        3,
        &control(&[
            (id::QPACK_MAX_TABLE_CAPACITY, 100),
            (id::QPACK_BLOCKED_STREAMS, 3),
            (id::MAX_FIELD_SECTION_SIZE, 999),
            (id::ENABLE_CONNECT_PROTOCOL, 1),
        ]),
    );
    rig.breaks(Violation::SettingInvalid);
}

#[test]
fn a_server_that_took_early_data_goes_on_taking_datagrams() {
    let before = Settings {
        datagrams: true,
        ..REMEMBERED
    };
    // RFC 9297 section 2.1.1.
    assert_eq!(
        REMEMBERED.check_against(&before),
        Err(Violation::SettingInvalid)
    );
    assert_eq!(before.check_against(&REMEMBERED), Ok(()));
}

#[test]
fn early_data_that_is_not_taken_comes_back_unprocessed_and_goes_out_again() {
    let mut rig = early();
    assert_eq!((rig.get(), rig.get()), (0, 4));
    rig.wire_streams.clear();
    rig.opened.clear();
    rig.conn.handle_early_data_rejected(rig.now);
    rig.conn.handle_streams_available(rig.now, 10);
    rig.run();
    let mut back = Vec::new();
    for event in rig.events() {
        if let Event::StreamReset { stream, reset } = event {
            assert_eq!(reset.by, ResetBy::EarlyDataRejected);
            assert!(reset.unprocessed);
            back.push(stream);
        }
    }
    assert_eq!(back, [StreamId(0), StreamId(4)]);
    assert_eq!(rig.conn.capacity(), 10);
    assert_eq!(rig.opened, [2], "a control stream of its own");
    assert_eq!(rig.control_frames().len(), 1, "with SETTINGS");
    assert_eq!(rig.get(), 0, "streams begin again");
    rig.sends(3, &control(&[]));
    assert_eq!(rig.closed, None, "nothing remembered binds the server now");
    rig.sends_all(0, &headers(&[(":status", "200")]));
    assert_eq!(rig.response(0).0.status, 200);
}

#[test]
fn the_window_that_the_transport_announced_for_streams_outlives_a_rejection() {
    const WINDOW: u32 = 12_345_678;
    let mut rig = early();
    let fresh = early().conn;
    rig.conn = std::mem::replace(&mut rig.conn, fresh).with_stream_window(WINDOW);
    let window = |rig: &mut Rig| {
        let stream = StreamId(rig.get());
        let read = rig.conn.receive_window(Some(stream));
        read.map(|read| (read.window, read.granted))
    };
    let announced = Some((WINDOW, u64::from(WINDOW)));
    assert_eq!(window(&mut rig), announced);
    rig.wire_streams.clear();
    rig.conn.handle_early_data_rejected(rig.now);
    rig.conn.handle_streams_available(rig.now, 10);
    rig.run();
    assert_eq!(window(&mut rig), announced);
}

#[test]
fn a_machine_that_is_closed_learns_nothing_of_early_data() {
    let mut rig = early();
    rig.get();
    rig.conn.abort(rig.now, H2Code::CANCEL);
    rig.run();
    rig.events();
    rig.conn.handle_early_data_rejected(rig.now);
    rig.no_event("it is over");
    assert!(rig.conn.is_closed());
}
