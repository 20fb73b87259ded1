use super::{ControlFrame, admit};
use crate::error::Violation;
use crate::h3::frame::FrameKind;
use crate::http::Side;

#[test]
fn nothing_comes_before_settings() {
    for kind in [
        FrameKind::Goaway,
        FrameKind::Unknown,
        FrameKind::Data,
        FrameKind::ReservedHttp2,
        FrameKind::MaxPushId,
    ] {
        assert_eq!(
            admit(kind, Side::Server, false),
            Err(Violation::SettingsMissing),
            "{kind:?}"
        );
    }
    assert_eq!(admit(FrameKind::Settings, Side::Server, false), Ok(()));
}

#[test]
fn frames_of_request_streams_and_second_settings_are_unexpected() {
    for kind in [
        FrameKind::Settings,
        FrameKind::Data,
        FrameKind::Headers,
        FrameKind::PushPromise,
        FrameKind::ReservedHttp2,
    ] {
        for side in [Side::Server, Side::Client] {
            assert_eq!(
                admit(kind, side, true),
                Err(Violation::FrameUnexpected),
                "{kind:?} {side:?}"
            );
        }
    }
}

#[test]
fn a_client_does_not_take_what_clients_send() {
    for kind in [
        FrameKind::MaxPushId,
        FrameKind::PriorityUpdateRequest,
        FrameKind::PriorityUpdatePush,
    ] {
        assert_eq!(admit(kind, Side::Server, true), Ok(()));
        assert_eq!(
            admit(kind, Side::Client, true),
            Err(Violation::FrameUnexpected)
        );
    }
}

#[test]
fn a_payload_has_all_of_its_fields_and_nothing_more() {
    for kind in [
        FrameKind::Goaway,
        FrameKind::MaxPushId,
        FrameKind::CancelPush,
    ] {
        for payload in [&b""[..], b"\x40", b"\x00\x00"] {
            assert_eq!(
                ControlFrame::parse(kind, payload),
                Err(Violation::FrameMalformed),
                "{kind:?} {payload:?}"
            );
        }
    }
    assert_eq!(
        ControlFrame::parse(FrameKind::PriorityUpdateRequest, b""),
        Err(Violation::FrameMalformed)
    );
}

#[test]
fn a_priority_update_names_its_stream() {
    assert_eq!(
        ControlFrame::parse(FrameKind::PriorityUpdateRequest, b"\x04u=1"),
        Ok(ControlFrame::PriorityUpdate {
            stream: 4,
            value: b"u=1"
        })
    );
}

#[test]
fn pushes_do_not_exist() {
    assert_eq!(
        ControlFrame::parse(FrameKind::CancelPush, b"\x00"),
        Err(Violation::PushIdInvalid)
    );
    assert_eq!(
        ControlFrame::parse(FrameKind::PriorityUpdatePush, b"\x00u=1"),
        Err(Violation::PushIdInvalid)
    );
}
