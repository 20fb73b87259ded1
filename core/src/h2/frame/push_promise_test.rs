//! RFC 9113 section 6.6.

use super::PushPromise;
use crate::error::Violation;
use crate::h2::frame::frame_test::{frame, header};
use crate::h2::frame::{flag, kind};

fn parse(flags: u8, stream: u32, payload: &[u8]) -> Result<PushPromise<'_>, Violation> {
    PushPromise::parse(header(kind::PUSH_PROMISE, flags, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for end_headers in [false, true] {
        let promise = PushPromise {
            stream: 1,
            promised: 2,
            fragment: b"block",
            end_headers,
        };
        let mut out = Vec::new();
        promise.write(&mut out);
        let (header, payload) = frame(&out);
        assert_eq!(header.kind, kind::PUSH_PROMISE);
        assert_eq!(PushPromise::parse(header, payload), Ok(promise));
    }
}

#[test]
fn padding_and_the_reserved_bit_are_stripped() {
    let promise = parse(flag::PADDED, 1, b"\x02\x80\0\0\x02block\0\0").expect("valid");
    assert_eq!(promise.fragment, b"block");
    assert_eq!(promise.promised, 2);
}

#[test]
fn a_frame_too_short_for_the_promised_id_has_the_wrong_size() {
    for len in 0..4 {
        let parsed = parse(0, 1, &[0; 4][..len]);
        assert_eq!(parsed, Err(Violation::FrameSizeInvalid), "{len} bytes");
    }
    for len in 0..5 {
        let parsed = parse(flag::PADDED, 1, &[0; 5][..len]);
        assert_eq!(parsed, Err(Violation::FrameSizeInvalid), "{len} bytes");
    }
}

#[test]
fn padding_that_does_not_fit_is_a_connection_error() {
    for payload in [b"\x01\0\0\0\x02".as_slice(), b"\xff\0\0\0\x02"] {
        assert_eq!(
            parse(flag::PADDED, 1, payload),
            Err(Violation::PaddingTooLong)
        );
    }
}

#[test]
fn a_promised_id_that_no_server_may_open_is_a_connection_error() {
    for promised in [b"\0\0\0\0", b"\0\0\0\x03", b"\x80\0\0\0"] {
        assert_eq!(parse(0, 1, promised), Err(Violation::StreamIdInvalid));
    }
}

#[test]
fn a_promise_on_stream_0_is_a_connection_error() {
    assert_eq!(
        parse(0, 0, b"\0\0\0\x02"),
        Err(Violation::FrameOnWrongStream)
    );
}
