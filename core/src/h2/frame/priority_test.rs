//! RFC 9113 section 6.3.

use super::StreamDependency;
use crate::error::{H2Code, Scope, Violation};
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::kind;

fn parse(stream: u32, payload: &[u8]) -> Result<StreamDependency, Violation> {
    StreamDependency::parse(header(kind::PRIORITY, 0xff, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for exclusive in [false, true] {
        let priority = StreamDependency {
            stream: 3,
            dependency: 1,
            exclusive,
            weight: 15,
        };
        let mut out = Vec::new();
        priority.write(&mut out);
        let (header, payload) = frame(&out);
        assert_eq!(header.kind, kind::PRIORITY);
        assert_eq!(StreamDependency::parse(header, payload), Ok(priority));
    }
}

#[test]
fn every_length_but_five_is_a_stream_error() {
    let wrong = Violation::FrameSizeInvalidOnStream;
    only_lengths(|len| len == 5, wrong, |payload| parse(3, payload));
    assert_eq!(wrong.scope(), Scope::Stream);
    assert_eq!(wrong.h2_code(), H2Code::FRAME_SIZE_ERROR);
}

#[test]
fn priority_on_stream_0_is_a_connection_error_whatever_its_length() {
    for len in 0..10 {
        assert_eq!(
            parse(0, &[0; 10][..len]),
            Err(Violation::FrameOnWrongStream)
        );
    }
}

#[test]
fn a_stream_that_depends_on_itself_is_a_stream_error() {
    assert_eq!(parse(3, b"\0\0\0\x03\0"), Err(Violation::DependsOnItself));
    let exclusive = parse(3, b"\x80\0\0\x03\0");
    assert_eq!(exclusive, Err(Violation::DependsOnItself));
    assert!(parse(3, b"\0\0\0\0\0").is_ok(), "the root is no stream");
}
