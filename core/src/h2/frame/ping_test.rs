//! RFC 9113 section 6.7.

use super::Ping;
use crate::error::Violation;
use crate::h2::frame::frame_test::{frame, header, only_lengths};
use crate::h2::frame::{flag, kind};

fn parse(flags: u8, stream: u32, payload: &[u8]) -> Result<Ping, Violation> {
    Ping::parse(header(kind::PING, flags, stream, payload), payload)
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for ack in [false, true] {
        let ping = Ping {
            ack,
            opaque: *b"\x00\xff345678",
        };
        let mut out = Vec::new();
        ping.write(&mut out);
        let (header, payload) = frame(&out);
        assert_eq!((header.kind, header.stream), (kind::PING, 0));
        assert_eq!(Ping::parse(header, payload), Ok(ping));
    }
}

#[test]
fn every_length_but_eight_is_a_connection_error() {
    let wrong = Violation::FrameSizeInvalid;
    only_lengths(|len| len == 8, wrong, |payload| parse(0, 0, payload));
    only_lengths(
        |len| len == 8,
        wrong,
        |payload| parse(flag::ACK, 0, payload),
    );
}

#[test]
fn a_ping_on_a_stream_is_a_connection_error() {
    assert_eq!(parse(0, 1, &[0; 8]), Err(Violation::FrameOnWrongStream));
}

#[test]
fn only_ack_makes_an_answer() {
    assert!(parse(flag::ACK, 0, &[0; 8]).expect("valid").ack);
    assert!(!parse(!flag::ACK, 0, &[0; 8]).expect("valid").ack);
}
