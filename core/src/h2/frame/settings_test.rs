//! RFC 9113 section 6.5.

use super::{Setting, SettingsFrame, write, write_ack};
use crate::error::{H2Code, Violation};
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::{flag, kind};

fn parse(flags: u8, stream: u32, payload: &[u8]) -> Result<SettingsFrame<'_>, Violation> {
    SettingsFrame::parse(header(kind::SETTINGS, flags, stream, payload), payload)
}

fn pair(id: u16, value: u32) -> Vec<u8> {
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend_from_slice(&value.to_be_bytes());
    bytes
}

#[test]
fn settings_are_read_as_they_were_written_in_order() {
    let settings = [
        Setting::HeaderTableSize(0),
        Setting::EnablePush(false),
        Setting::EnablePush(true),
        Setting::MaxConcurrentStreams(u32::MAX),
        Setting::InitialWindowSize(0),
        Setting::InitialWindowSize((1 << 31) - 1),
        Setting::MaxFrameSize(1 << 14),
        Setting::MaxFrameSize((1 << 24) - 1),
        Setting::MaxHeaderListSize(1),
        Setting::EnableConnectProtocol(true),
        Setting::NoRfc7540Priorities(true),
        Setting::HeaderTableSize(4096),
    ];
    let mut out = Vec::new();
    write(&settings, &mut out);
    let (header, payload) = frame(&out);
    assert_eq!(
        (header.kind, header.flags, header.stream),
        (kind::SETTINGS, 0, 0)
    );
    let parsed = SettingsFrame::parse(header, payload).expect("valid");
    assert!(!parsed.ack);
    assert!(parsed.iter().eq(settings));
}

#[test]
fn an_empty_frame_is_valid() {
    assert_eq!(parse(0, 0, b"").expect("valid").iter().count(), 0);
}

#[test]
fn the_identifiers_are_those_of_the_registry() {
    let ids = [
        (Setting::HeaderTableSize(1), 0x1),
        (Setting::EnablePush(true), 0x2),
        (Setting::MaxConcurrentStreams(1), 0x3),
        (Setting::InitialWindowSize(1), 0x4),
        (Setting::MaxFrameSize(1), 0x5),
        (Setting::MaxHeaderListSize(1), 0x6),
        (Setting::EnableConnectProtocol(true), 0x8),
        (Setting::NoRfc7540Priorities(true), 0x9),
    ];
    for (setting, id) in ids {
        assert_eq!(setting.wire(), (id, 1));
    }
}

#[test]
fn unknown_settings_are_ignored() {
    for id in [0, 0x7, 0xa, 0x0a0a, 0xffff] {
        let mut payload = pair(id, u32::MAX);
        payload.extend(pair(0x1, 7));
        let parsed = parse(0, 0, &payload).expect("valid");
        assert!(parsed.iter().eq([Setting::HeaderTableSize(7)]), "id {id}");
    }
}

#[test]
fn values_out_of_range_are_connection_errors() {
    for (id, value, violation) in [
        (0x2, 2, Violation::SettingInvalid),
        (0x2, u32::MAX, Violation::SettingInvalid),
        (0x4, 1 << 31, Violation::InitialWindowInvalid),
        (0x4, u32::MAX, Violation::InitialWindowInvalid),
        (0x5, 0, Violation::SettingInvalid),
        (0x5, (1 << 14) - 1, Violation::SettingInvalid),
        (0x5, 1 << 24, Violation::SettingInvalid),
        (0x8, 2, Violation::SettingInvalid),
        (0x9, 2, Violation::SettingInvalid),
    ] {
        // Also behind a valid one.
        let mut payload = pair(0x1, 7);
        payload.extend(pair(id, value));
        assert_eq!(parse(0, 0, &payload), Err(violation), "{id:#x} = {value}");
    }
    let code = Violation::InitialWindowInvalid.h2_code();
    assert_eq!(code, H2Code::FLOW_CONTROL_ERROR);
}

#[test]
fn every_length_that_is_not_a_multiple_of_six_is_a_connection_error() {
    let wrong = Violation::FrameSizeInvalid;
    only_lengths(
        |len| len % 6 == 0,
        wrong,
        // 0x0101 is no setting that we know: no value is out of range.
        |payload| parse(0, 0, payload).map(|frame| frame.ack),
    );
}

#[test]
fn an_acknowledgement_with_settings_has_the_wrong_size() {
    assert!(parse(flag::ACK, 0, b"").expect("valid").ack);
    for len in 1..=12 {
        let parsed = parse(flag::ACK, 0, &[0; 12][..len]);
        assert_eq!(parsed, Err(Violation::FrameSizeInvalid), "{len} bytes");
    }
}

#[test]
fn other_flags_mean_nothing() {
    let payload = pair(0x1, 7);
    let parsed = parse(!flag::ACK, 0, &payload).expect("valid");
    assert!(!parsed.ack);
    assert_eq!(parsed.iter().count(), 1);
}

#[test]
fn settings_on_a_stream_are_a_connection_error() {
    assert_eq!(parse(0, 1, b""), Err(Violation::FrameOnWrongStream));
    assert_eq!(parse(flag::ACK, 1, b""), Err(Violation::FrameOnWrongStream));
}

#[test]
fn an_acknowledgement_is_read_as_it_was_written() {
    let mut out = Vec::new();
    write_ack(&mut out);
    let (header, payload) = frame(&out);
    assert!(SettingsFrame::parse(header, payload).expect("valid").ack);
}
