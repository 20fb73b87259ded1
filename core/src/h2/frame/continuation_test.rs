//! RFC 9113 section 6.10.

use super::Continuation;
use crate::error::Violation;
use crate::h2::frame::frame_test::{frame, header};
use crate::h2::frame::{flag, kind};

fn parse(flags: u8, stream: u32, payload: &[u8]) -> Result<Continuation<'_>, Violation> {
    Continuation::parse(header(kind::CONTINUATION, flags, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for fragment in [b"".as_slice(), b"block"] {
        for end_headers in [false, true] {
            let continuation = Continuation {
                stream: 3,
                fragment,
                end_headers,
            };
            let mut out = Vec::new();
            continuation.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(header.kind, kind::CONTINUATION);
            assert_eq!(Continuation::parse(header, payload), Ok(continuation));
        }
    }
}

#[test]
fn there_is_neither_padding_nor_priority_whatever_the_flags() {
    let others = !flag::END_HEADERS;
    let continuation = parse(others, 3, b"\xffblock").expect("valid");
    assert_eq!(continuation.fragment, b"\xffblock");
    assert!(!continuation.end_headers);
}

#[test]
fn continuation_on_stream_0_is_a_connection_error() {
    assert_eq!(parse(0, 0, b"block"), Err(Violation::FrameOnWrongStream));
}
