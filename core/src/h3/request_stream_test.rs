use super::{RequestInput, RequestState, Takes, input_of, step};
use crate::error::Violation;
use crate::h3::frame::FrameKind;
use crate::http::Side;

#[test]
fn every_state_answers_every_input() {
    use RequestInput::{Data, Fin, Headers};
    use RequestState::{Body, Ended, Head, Trailers, Tunnel};
    let unexpected = Err(Violation::FrameUnexpected);
    let table = [
        (Head, Headers, Ok(Takes::Head)),
        (Head, Data, unexpected),
        (Head, Fin, Err(Violation::RequestIncomplete)),
        (Body, Headers, Ok(Takes::Trailers)),
        (Body, Data, Ok(Takes::Body)),
        (Body, Fin, Ok(Takes::End)),
        (Tunnel, Headers, unexpected),
        (Tunnel, Data, Ok(Takes::Body)),
        (Tunnel, Fin, Ok(Takes::End)),
        (Trailers, Headers, unexpected),
        (Trailers, Data, unexpected),
        (Trailers, Fin, Ok(Takes::End)),
        (Ended, Headers, unexpected),
        (Ended, Data, unexpected),
        (Ended, Fin, unexpected),
    ];
    for (state, input, expected) in table {
        assert_eq!(
            step(state, input, Side::Server),
            expected,
            "{state:?} {input:?}"
        );
    }
    assert_eq!(
        step(Head, Fin, Side::Client),
        Err(Violation::ResponseIncomplete)
    );
}

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
