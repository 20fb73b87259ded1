//! Applying the peer's settings, and announcing ours.

use super::{Changes, HeaderTableChange, Settings, write_ours};
use crate::error::Violation;
use crate::h2::frame::settings::write;
use crate::h2::frame::{FRAME_HEADER_BYTES, FrameHeader, Setting, SettingsFrame};
use crate::http::Side;
use crate::limits::Config;

/// Applies `settings` as one frame of the peer of `side`.
fn apply(to: &mut Settings, side: Side, settings: &[Setting]) -> Result<Changes, Violation> {
    let mut out = Vec::new();
    write(settings, &mut out);
    to.apply(side, parse(&out))
}

fn parse(written: &[u8]) -> SettingsFrame<'_> {
    let (head, payload) = written
        .split_first_chunk::<FRAME_HEADER_BYTES>()
        .expect("a whole header");
    let header = FrameHeader::parse(head);
    assert_eq!(header.len as usize, payload.len());
    SettingsFrame::parse(header, payload).expect("valid")
}

fn ours(side: Side, config: &Config) -> Vec<Setting> {
    let mut out = Vec::new();
    write_ours(side, config, &mut out);
    parse(&out).iter().collect()
}

#[test]
fn the_defaults_are_those_of_rfc_9113_section_6_5_2() {
    let defaults = Settings::default();
    assert_eq!(defaults.header_table_size, 4_096);
    assert!(defaults.enable_push);
    assert_eq!(defaults.max_concurrent_streams, u32::MAX);
    assert_eq!(defaults.initial_window_size, 65_535);
    assert_eq!(defaults.max_frame_size, 16_384);
    assert_eq!(defaults.max_header_list_size, u32::MAX);
    assert!(!defaults.enable_connect_protocol);
    assert!(!defaults.no_rfc7540_priorities);
}

#[test]
fn an_empty_frame_changes_nothing() {
    let mut settings = Settings::default();
    let changes = apply(&mut settings, Side::Server, &[]);
    assert_eq!(changes, Ok(Changes::default()));
    assert_eq!(settings, Settings::default());
}

#[test]
fn every_setting_lands_in_its_field() {
    let mut settings = Settings::default();
    let all = [
        Setting::HeaderTableSize(1),
        Setting::EnablePush(false),
        Setting::MaxConcurrentStreams(2),
        Setting::InitialWindowSize(3),
        Setting::MaxFrameSize(20_000),
        Setting::MaxHeaderListSize(4),
        Setting::EnableConnectProtocol(true),
        Setting::NoRfc7540Priorities(true),
    ];
    apply(&mut settings, Side::Client, &all).expect("valid");
    let expected = Settings {
        header_table_size: 1,
        enable_push: false,
        max_concurrent_streams: 2,
        initial_window_size: 3,
        max_frame_size: 20_000,
        max_header_list_size: 4,
        enable_connect_protocol: true,
        no_rfc7540_priorities: true,
    };
    assert_eq!(settings, expected);
}

#[test]
fn the_window_delta_is_from_the_value_before_to_the_last_of_the_frame() {
    let mut settings = Settings::default();
    let steps = [
        Setting::InitialWindowSize((1 << 31) - 1),
        Setting::InitialWindowSize(0),
    ];
    let changes = apply(&mut settings, Side::Server, &steps).expect("valid");
    assert_eq!(changes.window_delta, -65_535);
    let widest = [Setting::InitialWindowSize((1 << 31) - 1)];
    let changes = apply(&mut settings, Side::Server, &widest).expect("valid");
    assert_eq!(changes.window_delta, (1 << 31) - 1);
    let changes = apply(&mut settings, Side::Server, &widest).expect("valid");
    assert_eq!(changes.window_delta, 0, "the same value again");
}

#[test]
fn the_smallest_and_the_last_table_size_are_kept() {
    let mut settings = Settings::default();
    let sizes = [100, 0, 50].map(Setting::HeaderTableSize);
    let changes = apply(&mut settings, Side::Server, &sizes).expect("valid");
    let expected = HeaderTableChange {
        smallest: 0,
        last: 50,
    };
    assert_eq!(changes.header_table, Some(expected));
    assert_eq!(settings.header_table_size, 50);
}

#[test]
fn a_change_of_the_stream_limit_is_reported_once() {
    let mut settings = Settings::default();
    let limit = [Setting::MaxConcurrentStreams(100)];
    let changes = apply(&mut settings, Side::Client, &limit).expect("valid");
    assert!(changes.max_concurrent_streams);
    let changes = apply(&mut settings, Side::Client, &limit).expect("valid");
    assert!(!changes.max_concurrent_streams);
}

#[test]
fn a_server_that_offers_to_take_pushes_breaks_a_rule_and_nothing_of_its_frame_counts() {
    let mut settings = Settings::default();
    let frame = [Setting::HeaderTableSize(1), Setting::EnablePush(true)];
    let refused = apply(&mut settings, Side::Client, &frame);
    assert_eq!(refused, Err(Violation::SettingInvalid));
    assert_eq!(settings, Settings::default());
    assert!(
        apply(&mut settings, Side::Server, &frame).is_ok(),
        "a client may"
    );
}

#[test]
fn extended_connect_that_was_offered_cannot_be_taken_back() {
    let mut settings = Settings::default();
    let (on, off) = (
        [Setting::EnableConnectProtocol(true)],
        [Setting::EnableConnectProtocol(false)],
    );
    assert!(
        apply(&mut settings, Side::Client, &off).is_ok(),
        "not offered yet"
    );
    assert!(apply(&mut settings, Side::Client, &on).is_ok());
    let refused = apply(&mut settings, Side::Client, &off);
    assert_eq!(refused, Err(Violation::SettingInvalid));
    assert!(settings.enable_connect_protocol);
}

#[test]
fn a_server_announces_its_limits() {
    let mut config = Config::default();
    let expected = [
        Setting::MaxConcurrentStreams(config.limits.concurrent_streams_max),
        Setting::InitialWindowSize(config.windows.stream_initial),
        Setting::MaxHeaderListSize(64 * 1024),
        Setting::NoRfc7540Priorities(true),
    ];
    assert_eq!(ours(Side::Server, &config), expected);
    config.extended_connect = true;
    let with_connect = ours(Side::Server, &config);
    assert!(with_connect.contains(&Setting::EnableConnectProtocol(true)));
}

#[test]
fn a_client_forbids_pushes_and_announces_no_stream_limit() {
    let config = Config {
        extended_connect: true,
        ..Config::default()
    };
    let announced = ours(Side::Client, &config);
    assert_eq!(announced[0], Setting::EnablePush(false));
    let server_only = |setting: &Setting| {
        matches!(
            setting,
            Setting::MaxConcurrentStreams(_) | Setting::EnableConnectProtocol(_)
        )
    };
    assert!(!announced.iter().any(server_only));
}

#[test]
fn a_window_beyond_the_protocol_is_announced_as_the_widest() {
    let mut config = Config::default();
    config.windows.stream_initial = u32::MAX;
    let widest = Setting::InitialWindowSize((1 << 31) - 1);
    assert!(ours(Side::Server, &config).contains(&widest));
}
