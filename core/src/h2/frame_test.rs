//! The frame header, what all parsers share, and random bytes through each of them.

use super::{
    Continuation, DataLayout, FRAME_BYTES_MAX, FRAME_HEADER_BYTES, FrameHeader, Goaway, Headers,
    Ping, PriorityUpdate, PushPromise, RstStream, STREAM_ID_MAX, SettingsFrame, StreamDependency,
    WindowUpdate, flag, kind,
};
use crate::error::Violation;

/// The header of a frame with this payload.
pub(super) fn header(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> FrameHeader {
    FrameHeader {
        len: payload.len() as u32,
        kind,
        flags,
        stream,
    }
}

/// Splits what a writer appended into frames; every length must fit.
pub(super) fn frames(mut written: &[u8]) -> Vec<(FrameHeader, &[u8])> {
    let mut frames = Vec::new();
    while let Some((head, rest)) = written.split_first_chunk::<FRAME_HEADER_BYTES>() {
        let header = FrameHeader::parse(head);
        let (payload, rest) = rest.split_at(header.len as usize);
        frames.push((header, payload));
        written = rest;
    }
    assert!(written.is_empty(), "half a frame header at the end");
    frames
}

/// The only frame that a writer appended.
pub(super) fn frame(written: &[u8]) -> (FrameHeader, &[u8]) {
    let frames = frames(written);
    assert_eq!(frames.len(), 1);
    frames[0]
}

/// A parser refuses every length from 0 to 64 except those in `allowed`, with `violation`.
pub(super) fn only_lengths<T: std::fmt::Debug>(
    allowed: impl Fn(usize) -> bool,
    violation: Violation,
    parse: impl Fn(&[u8]) -> Result<T, Violation>,
) {
    // Ones: no field is 0, and no padding fits.
    let bytes = [1_u8; 64];
    for len in 0..=bytes.len() {
        match parse(&bytes[..len]) {
            Ok(_) => assert!(allowed(len), "length {len} was taken"),
            Err(refused) => {
                assert!(!allowed(len), "length {len} was refused: {refused:?}");
                assert_eq!(refused, violation, "length {len}");
            }
        }
    }
}

/// Equal numbers for equal seeds, on every machine.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
    pub(super) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }
}

#[test]
fn a_header_is_read_as_it_was_written() {
    for header in [
        FrameHeader {
            len: 0,
            kind: 0,
            flags: 0,
            stream: 0,
        },
        FrameHeader {
            len: 0x01_02_03,
            kind: 4,
            flags: 5,
            stream: 0x06_07_08_09,
        },
        FrameHeader {
            len: FRAME_BYTES_MAX,
            kind: 255,
            flags: 255,
            stream: STREAM_ID_MAX,
        },
    ] {
        let mut out = vec![0xaa];
        header.write(&mut out);
        assert_eq!(out.len(), 1 + FRAME_HEADER_BYTES);
        assert_eq!(out[0], 0xaa, "it appends");
        let bytes: [u8; FRAME_HEADER_BYTES] = out[1..].try_into().expect("nine bytes");
        assert_eq!(FrameHeader::parse(&bytes), header);
    }
}

#[test]
fn the_bytes_of_a_header_are_those_of_rfc_9113_section_4_1() {
    let header = FrameHeader {
        len: 0x01_02_03,
        kind: 4,
        flags: 5,
        stream: 0x06_07_08_09,
    };
    assert_eq!(header.bytes(), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn the_reserved_bit_of_a_stream_id_is_ignored() {
    let header = FrameHeader::parse(&[0, 0, 0, 0, 0, 0x80, 0, 0, 7]);
    assert_eq!(header.stream, 7);
    let header = FrameHeader::parse(&[0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(header.stream, STREAM_ID_MAX);
}

#[test]
fn a_flag_is_set_or_not() {
    let header = header(kind::HEADERS, flag::END_HEADERS | flag::PADDED, 1, &[]);
    assert!(header.has(flag::END_HEADERS));
    assert!(header.has(flag::PADDED));
    assert!(!header.has(flag::END_STREAM));
    assert!(!header.has(flag::PRIORITY));
}

/// Gives a frame to the parser of its kind, writes what came out, and parses that again.
fn parse_and_write_again(header: FrameHeader, payload: &[u8]) -> Result<(), Violation> {
    let mut out = Vec::new();
    match header.kind {
        kind::DATA => {
            let layout = DataLayout::parse(header, payload.first().copied())?;
            let padding = header.len - layout.body_len;
            assert_eq!(
                padding,
                layout.pad_len + u32::from(header.has(flag::PADDED))
            );
        }
        kind::HEADERS => {
            let first = Headers::parse(header, payload)?;
            super::headers::write(first.stream, first.fragment, first.end_stream, 7, &mut out);
            let frames = frames(&out);
            let again = Headers::parse(frames[0].0, frames[0].1)?;
            let mut block = again.fragment.to_vec();
            for &(header, payload) in &frames[1..] {
                block.extend_from_slice(Continuation::parse(header, payload)?.fragment);
            }
            assert_eq!(block, first.fragment);
            assert_eq!(again.end_stream, first.end_stream);
        }
        kind::PRIORITY => {
            let first = StreamDependency::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(StreamDependency::parse(header, payload), Ok(first));
        }
        kind::RST_STREAM => {
            let first = RstStream::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(RstStream::parse(header, payload), Ok(first));
        }
        kind::SETTINGS => {
            let first: Vec<_> = SettingsFrame::parse(header, payload)?.iter().collect();
            super::settings::write(&first, &mut out);
            let (header, payload) = frame(&out);
            let again = SettingsFrame::parse(header, payload)?;
            assert!(again.iter().eq(first));
        }
        kind::PUSH_PROMISE => {
            let first = PushPromise::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(PushPromise::parse(header, payload), Ok(first));
        }
        kind::PING => {
            let first = Ping::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(Ping::parse(header, payload), Ok(first));
        }
        kind::GOAWAY => {
            let first = Goaway::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(Goaway::parse(header, payload), Ok(first));
        }
        kind::WINDOW_UPDATE => {
            let first = WindowUpdate::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(WindowUpdate::parse(header, payload), Ok(first));
        }
        kind::CONTINUATION => {
            let first = Continuation::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(Continuation::parse(header, payload), Ok(first));
        }
        _ => {
            let first = PriorityUpdate::parse(header, payload)?;
            first.write(&mut out);
            let (header, payload) = frame(&out);
            assert_eq!(PriorityUpdate::parse(header, payload), Ok(first));
        }
    }
    Ok(())
}

#[test]
fn random_bytes_panic_no_parser_and_what_parses_is_written_alike() {
    for kind in 0..=10_u8 {
        let mut random = Random(u64::from(kind) + 1);
        let mut taken = 0;
        let mut refused = 0;
        for _ in 0..30_000 {
            // Lengths that are right for some type come up often.
            let len = match random.below(4) {
                0 => [0, 4, 5, 6, 8, 12][random.below(6) as usize],
                _ => random.below(40) as usize,
            };
            let mut payload = random.bytes(len);
            // Small first bytes, so that padding fits now and then.
            if let Some(first) = payload.first_mut()
                && random.below(2) == 0
            {
                *first %= 16;
            }
            let stream = [0, 1, 2, 0x01_01_01_01, STREAM_ID_MAX][random.below(5) as usize];
            let header = header(kind, random.below(256) as u8, stream, &payload);
            match parse_and_write_again(header, &payload) {
                Ok(()) => taken += 1,
                Err(_) => refused += 1,
            }
        }
        assert!(taken > 0, "kind {kind}: nothing was taken");
        assert!(refused > 0, "kind {kind}: nothing was refused");
    }
}
