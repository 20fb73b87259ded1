//! GOAWAY both ways, and the end of connections (RFC 9114 section 5).
#![allow(clippy::unwrap_used, reason = "a scripted peer may panic")]

#[path = "h3/rig.rs"]
mod rig;

use rig::*;
use std::time::Duration;
use trunkline_core::error::{Closed, H3Code};
use trunkline_core::h3::frame::kind;
use trunkline_core::http::{Event, Side, StreamId};
use trunkline_core::limits::Config;
use trunkline_core::wire::varint;

/// The ids of the GOAWAY frames since the last look.
fn goaways(rig: &mut Rig) -> Vec<u64> {
    let frames = rig.control_frames().into_iter();
    let frames = frames.filter(|frame| frame.0 == kind::GOAWAY);
    frames
        .map(|frame| varint::take(&frame.1).unwrap().0)
        .collect()
}

#[test]
fn a_server_drains_in_two_steps_a_round_trip_apart() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends(0, &headers(POST));
    rig.conn.handle_round_trip(Duration::from_millis(80));
    rig.conn.shut_down(rig.now);
    rig.run();
    assert_eq!(
        goaways(&mut rig),
        [varint::MAX - 3],
        "nothing is refused yet"
    );
    rig.sends_all(4, &headers(GET));
    rig.events();
    rig.waits(Duration::from_millis(79));
    assert!(goaways(&mut rig).is_empty());
    rig.waits(Duration::from_millis(1));
    assert_eq!(goaways(&mut rig), [8], "what crossed it is served");
    rig.sends_all(8, &headers(GET));
    assert_eq!(rig.wire_streams[&8].reset, Some(H3Code::REQUEST_REJECTED));
    assert_eq!(rig.wire_streams[&8].stopped, Some(H3Code::REQUEST_REJECTED));
    rig.no_event("it was not taken");
    rig.sends_all(0, b"");
    rig.events();
    rig.answer(0, "a");
    rig.answer(4, "b");
    assert_eq!(rig.closed, None, "both answers are on their way");
    rig.acknowledge(0);
    assert_eq!(rig.closed, None);
    rig.acknowledge(4);
    rig.waits(Duration::from_millis(80));
    assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
    assert!(matches!(
        rig.events().pop(),
        Some(Event::Closed(Closed::Drained))
    ));
}

#[test]
fn a_drained_server_lets_its_last_goaway_arrive_before_it_closes() {
    let mut rig = Rig::server(Cut::Whole);
    rig.conn.handle_round_trip(Duration::from_millis(80));
    rig.conn.shut_down(rig.now);
    rig.waits(Duration::from_millis(80));
    assert_eq!(goaways(&mut rig), [varint::MAX - 3, 0]);
    assert_eq!(rig.closed, None, "closing would throw it away");
    rig.sends_all(0, &headers(GET));
    assert_eq!(rig.wire_streams[&0].reset, Some(H3Code::REQUEST_REJECTED));
    rig.waits(Duration::from_millis(79));
    assert_eq!(rig.closed, None);
    rig.waits(Duration::from_millis(1));
    assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
}

#[test]
fn what_a_client_stops_stands_for_no_other_response_in_a_drain() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.sends_all(4, &headers(GET));
    rig.sends(8, &headers(POST));
    rig.events();
    rig.answer(0, "a");
    rig.answer(4, "b");
    // The end was out when the client stopped it, and is acknowledged all the same.
    rig.stops(0, H3Code::REQUEST_CANCELLED);
    rig.acknowledge(0);
    // This one never had an end.
    rig.resets(8, H3Code::REQUEST_CANCELLED);
    rig.stops(8, H3Code::REQUEST_CANCELLED);
    rig.conn.handle_round_trip(Duration::from_millis(80));
    rig.conn.shut_down(rig.now);
    rig.waits(Duration::from_millis(80));
    rig.waits(Duration::from_millis(80));
    assert_eq!(rig.closed, None, "the second response is on its way");
    rig.acknowledge(4);
    assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
}

#[test]
fn a_drained_server_does_not_wait_for_ever_for_acknowledgements() {
    let mut rig = Rig::server(Cut::Whole);
    rig.sends_all(0, &headers(GET));
    rig.events();
    rig.conn.shut_down(rig.now);
    rig.answer(0, "a");
    // Both steps with a guessed round trip, and then the wait.
    rig.waits(Duration::from_secs(6));
    assert_eq!(rig.closed, None);
    rig.waits(Duration::from_secs(1));
    assert!(rig.closed.is_some());
}

#[test]
fn a_client_gives_up_what_a_goaway_refuses_and_finishes_the_rest() {
    however_it_is_cut(|cut| {
        let mut rig = Rig::client(cut);
        for _ in 0..3 {
            rig.get();
        }
        rig.sends(3, &number(kind::GOAWAY, 4));
        assert_eq!(rig.conn.capacity(), 0);
        let resets: Vec<_> = rig
            .events()
            .into_iter()
            .filter_map(|event| match event {
                Event::StreamReset { stream, reset } => Some((stream.0, reset.unprocessed)),
                _ => None,
            })
            .collect();
        assert_eq!(resets, [(4, true), (8, true)]);
        assert_eq!(
            rig.wire_streams[&4].stopped,
            Some(H3Code::REQUEST_CANCELLED)
        );
        assert!(rig.conn.open(rig.now, &request("GET"), true).is_err());
        rig.sends_all(0, &headers(OK));
        rig.response(0);
        assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
    });
}

#[test]
fn a_second_goaway_may_refuse_more() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.get();
    rig.sends(3, &number(kind::GOAWAY, varint::MAX - 3));
    assert_eq!(rig.conn.active(), 2, "the first step refuses nothing");
    rig.sends(3, &number(kind::GOAWAY, 4));
    assert_eq!(rig.conn.active(), 1);
}

#[test]
fn a_client_that_shuts_down_says_so_and_closes_when_it_has_its_answers() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.conn.shut_down(rig.now);
    rig.run();
    assert_eq!(goaways(&mut rig), [0], "no push is taken");
    assert_eq!(rig.conn.capacity(), 0);
    rig.sends_all(0, &headers(OK));
    assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
}

#[test]
fn a_drained_client_waits_until_the_end_of_an_upload_behind_its_response_has_arrived() {
    for by_peer in [true, false] {
        let mut rig = Rig::client(Cut::Whole);
        let id = rig.conn.open(rig.now, &request("POST"), false).unwrap().0;
        rig.run();
        match by_peer {
            true => rig.sends(3, &number(kind::GOAWAY, 4)),
            false => rig.conn.shut_down(rig.now),
        }
        rig.sends_all(id, &headers(OK));
        rig.send(id, "the rest", true);
        assert_eq!(rig.closed, None, "closing would throw it away");
        rig.acknowledge(id);
        assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")), "{by_peer}");
    }
}

#[test]
fn a_drained_client_waits_for_an_end_that_was_written_before_the_response_ended_until_it_has_arrived()
 {
    let mut rig = Rig::client(Cut::Whole);
    let [early, late, unwanted] = [(); 3].map(|()| {
        let id = rig.conn.open(rig.now, &request("POST"), false).unwrap().0;
        rig.send(id, "all of it", true);
        id
    });
    rig.conn.shut_down(rig.now);
    rig.acknowledge(early);
    for id in [early, late, unwanted] {
        rig.sends_all(id, &headers(OK));
    }
    let waits = |rig: &Rig, id| rig.conn.is_sending(StreamId(id));
    assert!(!waits(&rig, early), "its server has it");
    assert!(waits(&rig, late) && waits(&rig, unwanted));
    rig.stops(unwanted, H3Code::NO_ERROR);
    assert!(!waits(&rig, unwanted), "its server wants no more");
    assert_eq!(rig.closed, None, "closing would throw the other away");
    rig.acknowledge(late);
    assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
}

#[test]
fn a_drained_client_does_not_wait_for_ever_for_the_end_of_an_upload() {
    for by_peer in [true, false] {
        let mut rig = Rig::client(Cut::Whole);
        let id = rig.conn.open(rig.now, &request("POST"), false).unwrap().0;
        rig.run();
        match by_peer {
            true => rig.sends(3, &number(kind::GOAWAY, 4)),
            false => rig.conn.shut_down(rig.now),
        }
        rig.sends_all(id, &headers(OK));
        rig.send(id, "the rest", true);
        rig.waits(Duration::from_secs(4));
        assert_eq!(rig.closed, None);
        rig.waits(Duration::from_secs(1));
        assert!(rig.closed.is_some(), "{by_peer}");
    }
}

#[test]
fn a_connection_that_does_nothing_is_closed() {
    for side in [Side::Server, Side::Client] {
        let mut rig = Rig::fresh(side, Config::default(), Cut::Whole);
        rig.sends(if side == Side::Server { 2 } else { 3 }, &control(&[]));
        rig.waits(Duration::from_secs(74));
        assert_eq!(rig.closed, None);
        rig.waits(Duration::from_secs(1));
        assert_eq!(rig.closed, Some((H3Code::NO_ERROR, "")));
        assert!(matches!(
            rig.events().pop(),
            Some(Event::Closed(Closed::Idle))
        ));
    }
}

#[test]
fn the_end_of_the_transport_ends_every_exchange_and_asks_for_nothing() {
    let mut rig = Rig::client(Cut::Whole);
    rig.get();
    rig.get();
    rig.conn.handle_close(rig.now, None);
    let ends: Vec<_> = rig.events();
    assert_eq!(ends.len(), 3, "{ends:?}");
    assert!(matches!(
        ends.last(),
        Some(Event::Closed(Closed::Transport(_)))
    ));
    assert_eq!(rig.conn.poll_transport(rig.now), None);
    assert_eq!(rig.conn.read_room(StreamId(0)), usize::MAX);
}

#[test]
fn a_server_that_is_asked_to_reports_the_settings_and_the_going_away_of_its_client() {
    for frame_events in [true, false] {
        let config = Config::default().with_frame_events(frame_events);
        let mut rig = Rig::fresh(Side::Server, config, Cut::EveryByte);
        rig.sends(2, &control(&[(0x6, 1234)]));
        rig.sends(2, &number(kind::GOAWAY, 9));
        rig.sends(2, &number(kind::GOAWAY, 3));
        let reported = rig.events();
        if !frame_events {
            assert!(reported.is_empty(), "{reported:?}");
            continue;
        }
        let [
            Event::SettingsReceived { .. },
            Event::GoingAway { code, last, .. },
        ] = &reported[..]
        else {
            panic!("{reported:?}");
        };
        assert_eq!((code.0, last.0), (0, 9), "once");
        let settings = rig.conn.peer_settings().unwrap();
        assert_eq!(settings.field_section_bytes_max, 1234);
    }
}
