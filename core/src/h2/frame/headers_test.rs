//! RFC 9113 section 6.2, and how a header block is split (sections 4.3 and 6.10).

use super::{HeaderBlockStart, Headers, write};
use crate::error::{Scope, Violation};
use crate::h2::frame::frame_test::{frames, header};
use crate::h2::frame::{Continuation, flag, kind};

fn parse(flags: u8, stream: u32, payload: &[u8]) -> Result<Headers<'_>, Violation> {
    Headers::parse(header(kind::HEADERS, flags, stream, payload), payload)
}

#[test]
fn a_bare_frame_is_all_fragment() {
    let headers = parse(0, 1, b"block").expect("valid");
    assert_eq!(headers.fragment, b"block");
    assert_eq!(headers.stream, 1);
    assert_eq!(headers.flaw, None);
    assert!(!headers.end_stream);
    assert!(!headers.end_headers);
    assert_eq!(parse(0, 1, b"").expect("empty is valid").fragment, b"");
}

#[test]
fn each_flag_says_what_it_says() {
    let headers = parse(flag::END_STREAM, 1, b"x").expect("valid");
    assert!(headers.end_stream && !headers.end_headers);
    let headers = parse(flag::END_HEADERS, 1, b"x").expect("valid");
    assert!(headers.end_headers && !headers.end_stream);
    // Flags without a meaning here are ignored (section 4.1).
    let headers = parse(0x2 | 0x10 | 0x40 | 0x80, 1, b"x").expect("valid");
    assert!(!headers.end_headers && !headers.end_stream);
    assert_eq!(headers.fragment, b"x");
}

#[test]
fn padding_is_stripped() {
    let headers = parse(flag::PADDED, 1, b"\x02block\0\0").expect("valid");
    assert_eq!(headers.fragment, b"block");
    let headers = parse(flag::PADDED, 1, b"\x00block").expect("valid");
    assert_eq!(headers.fragment, b"block");
    let headers = parse(flag::PADDED, 1, b"\x01p").expect("padding alone is valid");
    assert_eq!(headers.fragment, b"");
}

#[test]
fn the_longest_padding_is_stripped() {
    let mut payload = vec![255];
    payload.extend_from_slice(b"block");
    payload.extend_from_slice(&[0; 255]);
    let headers = parse(flag::PADDED, 1, &payload).expect("valid");
    assert_eq!(headers.fragment, b"block");
}

#[test]
fn padding_that_does_not_fit_is_a_connection_error() {
    for payload in [b"\x01".as_slice(), b"\x06block", b"\xffblock"] {
        assert_eq!(
            parse(flag::PADDED, 1, payload),
            Err(Violation::PaddingTooLong)
        );
    }
}

#[test]
fn a_padded_frame_without_its_padding_length_has_the_wrong_size() {
    assert_eq!(
        parse(flag::PADDED, 1, b""),
        Err(Violation::FrameSizeInvalid)
    );
}

#[test]
fn priority_is_stripped() {
    let headers = parse(flag::PRIORITY, 3, b"\0\0\0\x01\x0fblock").expect("valid");
    assert_eq!(headers.fragment, b"block");
    assert_eq!(headers.flaw, None);
    let both = flag::PRIORITY | flag::PADDED;
    let headers = parse(both, 3, b"\x02\0\0\0\x01\x0fblock\0\0").expect("valid");
    assert_eq!(headers.fragment, b"block");
}

#[test]
fn a_frame_too_short_for_its_priority_has_the_wrong_size() {
    for len in 0..5 {
        let parsed = parse(flag::PRIORITY, 3, &[0; 5][..len]);
        assert_eq!(parsed, Err(Violation::FrameSizeInvalid), "{len} bytes");
    }
    let both = flag::PRIORITY | flag::PADDED;
    for len in 1..6 {
        let parsed = parse(both, 3, &[0; 6][..len]);
        assert_eq!(parsed, Err(Violation::FrameSizeInvalid), "{len} bytes");
    }
}

#[test]
fn padding_that_reaches_into_the_priority_is_a_connection_error() {
    let both = flag::PRIORITY | flag::PADDED;
    let parsed = parse(both, 3, b"\x01\0\0\0\x01\x0f");
    assert_eq!(parsed, Err(Violation::PaddingTooLong));
}

#[test]
fn a_stream_that_depends_on_itself_is_a_flaw_but_its_block_is_there_to_decode() {
    for dependency in [b"\0\0\0\x03", b"\x80\0\0\x03"] {
        let mut payload = dependency.to_vec();
        payload.extend_from_slice(b"\x0fblock");
        let headers = parse(flag::PRIORITY, 3, &payload).expect("the connection goes on");
        assert_eq!(headers.flaw, Some(Violation::DependsOnItself));
        assert_eq!(headers.fragment, b"block");
    }
    assert_eq!(Violation::DependsOnItself.scope(), Scope::Stream);
}

#[test]
fn headers_on_stream_0_are_a_connection_error() {
    assert_eq!(parse(0, 0, b"block"), Err(Violation::FrameOnWrongStream));
}

#[test]
fn a_block_that_fits_is_one_frame() {
    for end in [false, true] {
        let mut out = Vec::new();
        write(5, b"block", end, 5, &mut out);
        let frames = frames(&out);
        assert_eq!(frames.len(), 1);
        let headers = Headers::parse(frames[0].0, frames[0].1).expect("valid");
        assert_eq!(headers.fragment, b"block");
        assert_eq!(headers.end_stream, end);
        assert!(headers.end_headers);
    }
}

#[test]
fn a_block_of_every_length_is_split_into_the_fewest_frames() {
    let block: Vec<u8> = (0..100).collect();
    for len in 0..=block.len() {
        for frame_max in [1, 2, 3, 7, 33, 99, 100] {
            let mut out = b"before".to_vec();
            write(5, &block[..len], true, frame_max, &mut out);
            assert_eq!(&out[..6], b"before", "it appends");
            let frames = frames(&out[6..]);
            assert_eq!(frames.len(), len.div_ceil(frame_max as usize).max(1));
            let first = Headers::parse(frames[0].0, frames[0].1).expect("valid");
            assert!(first.end_stream, "END_STREAM stands on HEADERS");
            let mut joined = first.fragment.to_vec();
            let mut ends = vec![first.end_headers];
            for &(header, payload) in &frames[1..] {
                assert_eq!(header.kind, kind::CONTINUATION);
                assert_eq!(header.stream, 5);
                let next = Continuation::parse(header, payload).expect("valid");
                joined.extend_from_slice(next.fragment);
                ends.push(next.end_headers);
            }
            assert!(frames.iter().all(|(header, _)| header.len <= frame_max));
            assert_eq!(joined, block[..len], "{len} bytes in frames of {frame_max}");
            assert_eq!(ends.pop(), Some(true), "the last frame ends the block");
            assert!(!ends.contains(&true), "and only the last");
        }
    }
}

#[test]
fn a_block_that_is_cancelled_leaves_nothing() {
    let mut out = b"before".to_vec();
    let start = HeaderBlockStart::reserve(&mut out);
    out.extend_from_slice(b"half a blo");
    start.cancel(&mut out);
    assert_eq!(out, b"before");
}
