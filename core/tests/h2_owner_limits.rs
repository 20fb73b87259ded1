//! Limits of HTTP/2 that are without bound until an owner sets them: each ends what the defaults bear.

#[path = "h2/rig.rs"]
mod rig;

use rig::*;
use trunkline_core::error::{Closed, H2Code, Violation};
use trunkline_core::h2::frame::{Setting, kind};
use trunkline_core::limits::{Config, Limits};

fn server(limits: Limits) -> Rig {
    Rig::server_with(Config::default().with_limits(limits), Cut::Whole)
}

/// Requests with a pseudo-field of responses are malformed (RFC 9113 section 8.3.1).
fn malformed(count: u32) -> Vec<u8> {
    headers(1 + 2 * count, &[(":status", "200")], true)
}

#[test]
fn streams_that_a_peer_breaks_are_bounded_by_their_own_limit() {
    let mut rig = server(Limits::default().with_stream_errors_max(5));
    for count in 0..6 {
        rig.sends(&malformed(count));
        rig.expects_reset(1 + 2 * count, H2Code::PROTOCOL_ERROR, "within the limit");
    }
    rig.sends(&malformed(6));
    let closed = rig.expects_close(H2Code::ENHANCE_YOUR_CALM, "beyond it");
    assert_eq!(closed, Closed::ByUs(Violation::StreamErrorsTooMany));
}

#[test]
fn empty_data_frames_count_among_the_frames_that_break_their_stream() {
    let mut rig = server(Limits::default().with_stream_errors_max(1));
    rig.sends(&headers(1, POST, false));
    rig.sends(&body(1, b"", false));
    rig.sends(&body(1, b"", false));
    rig.frames();
    rig.sends(&body(1, b"", false));
    let closed = rig.expects_close(H2Code::ENHANCE_YOUR_CALM, "the third");
    assert_eq!(closed, Closed::ByUs(Violation::StreamErrorsTooMany));
}

#[test]
fn settings_beyond_the_limit_of_a_frame_end_the_connection() {
    let limits = Limits::default().with_settings_per_frame_max(2);
    let settings = |count| settings_frame(&vec![Setting::MaxConcurrentStreams(7); count]);
    however_it_is_cut(|cut| {
        let mut rig = Rig::server_with(Config::default().with_limits(limits.clone()), cut);
        rig.sends(&settings(2));
        rig.expects(kind::SETTINGS, 0, "two are acknowledged");
        rig.sends(&settings(3));
        let closed = rig.expects_close(H2Code::ENHANCE_YOUR_CALM, "three");
        assert_eq!(closed, Closed::ByUs(Violation::SettingsTooMany));
    });
}

#[test]
fn a_request_is_refused_while_too_many_bytes_of_responses_wait() {
    let mut rig = server(Limits::default().with_queued_bytes_max(100_000));
    rig.sends(&headers(1, GET, true));
    rig.respond(1, &[], false);
    rig.send(1, vec![0; 300_000], true);
    rig.frames();
    rig.sends(&headers(3, GET, true));
    rig.expects_reset(
        3,
        H2Code::ENHANCE_YOUR_CALM,
        "the window of the first is spent",
    );
    rig.sends(&[window_update(0, 400_000), window_update(1, 400_000)].concat());
    rig.frames();
    rig.events();
    rig.sends(&headers(5, GET, true));
    rig.request(5);
}

#[test]
fn streams_refused_one_after_the_other_are_bounded_by_their_own_limit() {
    let limits = Limits::default()
        .with_concurrent_streams_max(1)
        .with_refused_streams_max(3);
    let mut rig = server(limits);
    rig.sends(&headers(1, POST, false));
    let refused = |rig: &mut Rig, id| {
        rig.sends(&headers(id, GET, true));
        rig.expects_reset(id, H2Code::REFUSED_STREAM, "one is open");
    };
    for at in 1..=3 {
        refused(&mut rig, 1 + 2 * at);
    }
    rig.respond(1, &[], true);
    rig.sends(&body(1, b"", true));
    rig.events();
    rig.frames();
    rig.sends(&headers(101, POST, false));
    for at in 1..=4 {
        refused(&mut rig, 101 + 2 * at);
    }
    rig.sends(&headers(201, GET, true));
    let closed = rig.expects_close(H2Code::ENHANCE_YOUR_CALM, "the count began anew");
    assert_eq!(closed, Closed::ByUs(Violation::RefusedStreamsTooMany));
}
