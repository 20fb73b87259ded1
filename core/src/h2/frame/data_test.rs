//! RFC 9113 section 6.1.

use super::{DataLayout, write, write_header};
use crate::error::Violation;
use crate::h2::frame::frame_test::frame;
use crate::h2::frame::{FrameHeader, flag, kind};

fn header(len: u32, flags: u8, stream: u32) -> FrameHeader {
    FrameHeader {
        len,
        kind: kind::DATA,
        flags,
        stream,
    }
}

fn layout(body_len: u32, pad_len: u32) -> Result<DataLayout, Violation> {
    Ok(DataLayout { pad_len, body_len })
}

#[test]
fn a_frame_without_padding_is_all_body() {
    for len in [0, 1, 16_384] {
        // Whatever the first byte is: it is body.
        assert_eq!(
            DataLayout::parse(header(len, 0, 1), Some(255)),
            layout(len, 0)
        );
        assert_eq!(DataLayout::parse(header(len, 0, 1), None), layout(len, 0));
    }
}

#[test]
fn padding_and_the_byte_that_gives_its_length_are_no_body() {
    for (len, pad, body) in [
        (1, 0, 0),
        (2, 0, 1),
        (2, 1, 0),
        (256, 255, 0),
        (300, 255, 44),
    ] {
        let parsed = DataLayout::parse(header(len, flag::PADDED, 1), Some(pad));
        assert_eq!(parsed, layout(body, u32::from(pad)), "{len} bytes");
    }
}

#[test]
fn padding_as_long_as_the_payload_is_a_connection_error() {
    for len in 1..=255_u8 {
        for pad in [len, 255] {
            let parsed = DataLayout::parse(header(u32::from(len), flag::PADDED, 1), Some(pad));
            assert_eq!(
                parsed,
                Err(Violation::PaddingTooLong),
                "{pad} of {len} bytes"
            );
        }
    }
}

#[test]
fn a_padded_frame_without_its_padding_length_has_the_wrong_size() {
    let empty = header(0, flag::PADDED, 1);
    assert_eq!(
        DataLayout::parse(empty, None),
        Err(Violation::FrameSizeInvalid)
    );
    // Even if a byte of the next frame is shown.
    assert_eq!(
        DataLayout::parse(empty, Some(0)),
        Err(Violation::FrameSizeInvalid)
    );
}

#[test]
fn the_first_byte_is_needed_only_if_it_gives_padding() {
    assert!(DataLayout::needs_first_byte(header(1, flag::PADDED, 1)));
    assert!(!DataLayout::needs_first_byte(header(0, flag::PADDED, 1)));
    assert!(!DataLayout::needs_first_byte(header(
        1,
        flag::END_STREAM,
        1
    )));
}

#[test]
fn data_on_stream_0_is_a_connection_error() {
    let parsed = DataLayout::parse(header(5, 0, 0), None);
    assert_eq!(parsed, Err(Violation::FrameOnWrongStream));
}

#[test]
fn end_stream_is_a_flag_and_others_mean_nothing() {
    assert!(DataLayout::ends_stream(header(5, flag::END_STREAM, 1)));
    let others = !(flag::END_STREAM | flag::PADDED);
    assert!(!DataLayout::ends_stream(header(5, others, 1)));
    assert_eq!(DataLayout::parse(header(5, others, 1), None), layout(5, 0));
}

#[test]
fn a_frame_is_read_as_it_was_written() {
    for end in [false, true] {
        let mut out = Vec::new();
        write(7, b"hello", end, &mut out);
        let (header, payload) = frame(&out);
        assert_eq!((header.kind, header.stream), (kind::DATA, 7));
        assert_eq!(DataLayout::ends_stream(header), end);
        assert_eq!(DataLayout::parse(header, Some(payload[0])), layout(5, 0));
        assert_eq!(payload, b"hello");

        let mut split = Vec::new();
        write_header(7, 5, end, &mut split);
        assert_eq!(split, out[..9]);
    }
}
