//! RFC 9218 section 7.1.

use super::PriorityUpdate;
use crate::error::Violation;
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::kind;

fn parse(stream: u32, payload: &[u8]) -> Result<PriorityUpdate<'_>, Violation> {
    PriorityUpdate::parse(
        header(kind::PRIORITY_UPDATE, 0xff, stream, payload),
        payload,
    )
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for value in [b"".as_slice(), b"u=1, i"] {
        let update = PriorityUpdate {
            prioritized: 5,
            value,
        };
        let mut out = Vec::new();
        update.write(&mut out);
        let (header, payload) = frame(&out);
        assert_eq!((header.kind, header.stream), (kind::PRIORITY_UPDATE, 0));
        assert_eq!(PriorityUpdate::parse(header, payload), Ok(update));
    }
}

#[test]
fn less_than_four_bytes_have_the_wrong_size() {
    let wrong = Violation::FrameSizeInvalid;
    only_lengths(
        |len| len >= 4,
        wrong,
        |payload| parse(0, payload).map(|_| ()),
    );
}

#[test]
fn priority_update_on_a_stream_is_a_connection_error() {
    assert_eq!(
        parse(5, b"\0\0\0\x05u=1"),
        Err(Violation::FrameOnWrongStream)
    );
}

#[test]
fn priority_update_for_stream_0_is_a_connection_error() {
    for zero in [b"\0\0\0\0", b"\x80\0\0\0"] {
        assert_eq!(parse(0, zero), Err(Violation::PriorityUpdateInvalid));
    }
}
