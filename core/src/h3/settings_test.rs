use super::{Settings, id, write, write_ours};
use crate::error::Violation;
use crate::http::Side;
use crate::limits::Config;

fn parse(pairs: &[(u64, u64)]) -> Result<Settings, Violation> {
    let mut frame = Vec::new();
    write(pairs, &mut frame);
    // One byte of type, one of length: the payloads here are short.
    assert_eq!(usize::from(frame[1]), frame.len() - 2);
    Settings::parse(&frame[2..])
}

#[test]
fn what_is_left_out_has_its_default() {
    assert_eq!(parse(&[]), Ok(Settings::default()));
}

#[test]
fn what_is_said_is_kept_and_the_unknown_is_ignored() {
    let settings = parse(&[
        (id::QPACK_MAX_TABLE_CAPACITY, 100),
        (0x21, 77),
        (id::QPACK_BLOCKED_STREAMS, 3),
        (id::MAX_FIELD_SECTION_SIZE, 65_536),
        (id::ENABLE_CONNECT_PROTOCOL, 1),
        (id::H3_DATAGRAM, 1),
    ]);
    let expected = Settings {
        qpack_table_bytes_max: 100,
        qpack_blocked_streams_max: 3,
        field_section_bytes_max: 65_536,
        enable_connect_protocol: true,
        datagrams: true,
    };
    assert_eq!(settings, Ok(expected));
}

#[test]
fn a_setting_of_http2_is_an_error() {
    for id in [0x0, 0x2, 0x3, 0x4, 0x5] {
        assert_eq!(parse(&[(id, 1)]), Err(Violation::SettingInvalid), "{id:#x}");
    }
}

#[test]
fn a_setting_that_comes_twice_is_an_error() {
    for id in [id::MAX_FIELD_SECTION_SIZE, 0x21] {
        assert_eq!(
            parse(&[(id, 1), (0x40, 0), (id, 1)]),
            Err(Violation::SettingInvalid),
            "{id:#x}"
        );
    }
}

#[test]
fn a_switch_is_on_or_off() {
    for id in [id::ENABLE_CONNECT_PROTOCOL, id::H3_DATAGRAM] {
        assert_eq!(parse(&[(id, 2)]), Err(Violation::SettingInvalid), "{id:#x}");
    }
}

#[test]
fn half_a_setting_is_malformed() {
    assert_eq!(Settings::parse(&[0x6]), Err(Violation::FrameMalformed));
    assert_eq!(
        Settings::parse(&[0x6, 0x40]),
        Err(Violation::FrameMalformed)
    );
}

#[test]
fn a_server_offers_extended_connect_only_when_asked_to() {
    for (side, on, offered) in [
        (Side::Server, true, true),
        (Side::Server, false, false),
        (Side::Client, true, false),
    ] {
        let config = Config {
            extended_connect: on,
            ..Config::default()
        };
        let mut frame = Vec::new();
        write_ours(side, &config, &mut frame);
        let settings = Settings::parse(&frame[2..]).expect("ours are valid");
        assert_eq!(settings.enable_connect_protocol, offered, "{side:?} {on}");
    }
}

#[test]
fn after_early_data_nothing_may_be_lowered_and_the_table_stays() {
    let before = Settings {
        qpack_table_bytes_max: 100,
        qpack_blocked_streams_max: 3,
        field_section_bytes_max: 1000,
        enable_connect_protocol: true,
        datagrams: true,
    };
    assert_eq!(before.check_against(&before), Ok(()));
    let raised = Settings {
        qpack_blocked_streams_max: 4,
        field_section_bytes_max: 1001,
        ..before
    };
    assert_eq!(raised.check_against(&before), Ok(()));
    let without_table = Settings {
        qpack_table_bytes_max: 0,
        ..before
    };
    assert_eq!(before.check_against(&without_table), Ok(()));
    let lowered: [fn(&mut Settings); 4] = [
        |it| it.qpack_blocked_streams_max = 2,
        |it| it.field_section_bytes_max = 999,
        |it| it.enable_connect_protocol = false,
        |it| it.datagrams = false,
    ];
    for lower in lowered {
        let mut now = before;
        lower(&mut now);
        assert_eq!(now.check_against(&before), Err(Violation::SettingInvalid));
    }
    for bytes in [0, 99, 101] {
        let now = Settings {
            qpack_table_bytes_max: bytes,
            ..before
        };
        let wrong = now.check_against(&before);
        assert_eq!(wrong, Err(Violation::QpackDecoderStreamInvalid), "{bytes}");
    }
}
