//! RFC 9113 section 6.9.

use super::WindowUpdate;
use crate::error::{H2Code, Scope, Violation};
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::kind;

fn parse(stream: u32, payload: &[u8]) -> Result<WindowUpdate, Violation> {
    WindowUpdate::parse(header(kind::WINDOW_UPDATE, 0xff, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written_on_a_stream_and_on_the_connection() {
    for stream in [0, 3] {
        for increment in [1, (1 << 31) - 1] {
            let update = WindowUpdate { stream, increment };
            let mut out = Vec::new();
            update.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!((header.kind, header.flags), (kind::WINDOW_UPDATE, 0));
            assert_eq!(WindowUpdate::parse(header, payload), Ok(update));
        }
    }
}

#[test]
fn every_length_but_four_is_a_connection_error_on_a_stream_too() {
    let wrong = Violation::FrameSizeInvalid;
    for stream in [0, 3] {
        only_lengths(|len| len == 4, wrong, |payload| parse(stream, payload));
    }
    assert_eq!(wrong.scope(), Scope::Connection);
}

#[test]
fn zero_increment_on_a_stream_is_a_stream_error() {
    // The reserved bit makes it no more than zero.
    for zero in [b"\0\0\0\0", b"\x80\0\0\0"] {
        let violation = parse(3, zero).expect_err("zero");
        assert_eq!(violation.scope(), Scope::Stream);
        assert_eq!(violation.h2_code(), H2Code::PROTOCOL_ERROR);
    }
}

#[test]
fn zero_increment_on_the_connection_is_a_connection_error() {
    for zero in [b"\0\0\0\0", b"\x80\0\0\0"] {
        let violation = parse(0, zero).expect_err("zero");
        assert_eq!(violation.scope(), Scope::Connection);
        assert_eq!(violation.h2_code(), H2Code::PROTOCOL_ERROR);
    }
}
