//! RFC 9113 section 6.4.

use super::RstStream;
use crate::error::{H2Code, Scope, Violation};
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::kind;

fn parse(stream: u32, payload: &[u8]) -> Result<RstStream, Violation> {
    RstStream::parse(header(kind::RST_STREAM, 0xff, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written_unknown_codes_too() {
    for code in [H2Code::CANCEL, H2Code(0xdead_beef)] {
        let reset = RstStream { stream: 3, code };
        let mut out = Vec::new();
        reset.write(&mut out);
        let (header, payload) = frame(&out);
        assert_eq!((header.kind, header.flags), (kind::RST_STREAM, 0));
        assert_eq!(RstStream::parse(header, payload), Ok(reset));
    }
}

#[test]
fn every_length_but_four_is_a_connection_error() {
    let wrong = Violation::FrameSizeInvalid;
    only_lengths(|len| len == 4, wrong, |payload| parse(3, payload));
    assert_eq!(wrong.scope(), Scope::Connection);
}

#[test]
fn rst_stream_on_stream_0_is_a_connection_error() {
    assert_eq!(parse(0, &[0; 4]), Err(Violation::FrameOnWrongStream));
}
