use super::input_of;
use crate::error::Violation;
use crate::h3::frame::FrameKind;
use crate::http::Side;

#[test]
fn frames_of_control_streams_are_unexpected_on_a_request_stream() {
    for kind in [
        FrameKind::CancelPush,
        FrameKind::Settings,
        FrameKind::Goaway,
        FrameKind::MaxPushId,
        FrameKind::PriorityUpdateRequest,
        FrameKind::PriorityUpdatePush,
        FrameKind::ReservedHttp2,
    ] {
        for side in [Side::Server, Side::Client] {
            assert_eq!(
                input_of(kind, side),
                Err(Violation::FrameUnexpected),
                "{kind:?}"
            );
        }
    }
    assert_eq!(
        input_of(FrameKind::PushPromise, Side::Server),
        Err(Violation::FrameUnexpected)
    );
    assert_eq!(
        input_of(FrameKind::PushPromise, Side::Client),
        Err(Violation::PushIdInvalid)
    );
    assert_eq!(input_of(FrameKind::Unknown, Side::Server), Ok(None));
}
