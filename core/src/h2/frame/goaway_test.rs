//! RFC 9113 section 6.8.

use super::Goaway;
use crate::error::{H2Code, Violation};
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::kind;

fn parse(stream: u32, payload: &[u8]) -> Result<Goaway<'_>, Violation> {
    Goaway::parse(header(kind::GOAWAY, 0xff, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for debug in [b"".as_slice(), b"too many pings"] {
        let goaway = Goaway {
            last_stream: (1 << 31) - 1,
            code: H2Code::ENHANCE_YOUR_CALM,
            debug,
        };
        let mut out = Vec::new();
        goaway.write(&mut out);
        let (header, payload) = frame(&out);
        assert_eq!((header.kind, header.flags), (kind::GOAWAY, 0));
        assert_eq!(Goaway::parse(header, payload), Ok(goaway));
    }
}

#[test]
fn less_than_eight_bytes_have_the_wrong_size() {
    let wrong = Violation::FrameSizeInvalid;
    only_lengths(
        |len| len >= 8,
        wrong,
        |payload| parse(0, payload).map(|_| ()),
    );
}

#[test]
fn the_reserved_bit_of_the_last_stream_is_ignored() {
    let goaway = parse(0, b"\x80\0\0\x05\0\0\0\0").expect("valid");
    assert_eq!(goaway.last_stream, 5);
}

#[test]
fn goaway_on_a_stream_is_a_connection_error() {
    assert_eq!(parse(1, &[0; 8]), Err(Violation::FrameOnWrongStream));
}
