use super::{FrameKind, FrameReader, Piece, kind, put_frame, put_header};
use bytes::BytesMut;

/// Everything the reader says about `bytes` given in pieces of `size`, payloads joined.
fn frames(bytes: &[u8], size: usize) -> Vec<(FrameKind, u64, Vec<u8>)> {
    let mut reader = FrameReader::default();
    let mut found: Vec<(FrameKind, u64, Vec<u8>)> = Vec::new();
    for mut input in bytes.chunks(size) {
        while let Some(piece) = reader.next(&mut input) {
            match piece {
                Piece::Header { kind, len } => found.push((kind, len, Vec::new())),
                Piece::Payload {
                    kind,
                    bytes,
                    is_last,
                } => {
                    let frame = found.last_mut().expect("a header came first");
                    assert_eq!(frame.0, kind);
                    frame.2.extend_from_slice(bytes);
                    assert_eq!(is_last, frame.2.len() as u64 == frame.1);
                }
            }
        }
        assert!(input.is_empty());
    }
    assert!(reader.is_between_frames());
    found
}

#[test]
fn frames_come_out_alike_at_every_split() {
    let mut bytes = Vec::new();
    put_frame(kind::HEADERS, b"section", &mut bytes);
    put_frame(kind::DATA, b"", &mut bytes);
    put_frame(kind::DATA, &[7; 300], &mut bytes);
    put_frame(kind::PRIORITY_UPDATE_REQUEST, b"\0u=1", &mut bytes);
    put_frame(0x21, b"", &mut bytes);
    let whole = frames(&bytes, bytes.len());
    assert_eq!(whole.len(), 5);
    assert_eq!(whole[2], (FrameKind::Data, 300, vec![7; 300]));
    assert_eq!(whole[4], (FrameKind::Unknown, 0, Vec::new()));
    for size in 1..bytes.len() {
        assert_eq!(frames(&bytes, size), whole, "in pieces of {size}");
    }
}

#[test]
fn a_header_in_the_longest_form_is_read() {
    let bytes = [
        0xc0, 0, 0, 0, 0, 0, 0, 1, 0xc0, 0, 0, 0, 0, 0, 0, 2, b'h', b'i',
    ];
    for size in 1..=bytes.len() {
        assert_eq!(
            frames(&bytes, size),
            [(FrameKind::Headers, 2, b"hi".to_vec())],
            "in pieces of {size}"
        );
    }
}

#[test]
fn the_types_of_http2_are_reserved() {
    for wire in [0x2, 0x6, 0x8, 0x9] {
        assert_eq!(FrameKind::of(wire), FrameKind::ReservedHttp2);
    }
    assert_eq!(FrameKind::of(0x21), FrameKind::Unknown);
}

#[test]
fn a_header_says_its_kind_and_length_however_long_its_integers_are() {
    for wire in [kind::DATA, kind::HEADERS, kind::PRIORITY_UPDATE_REQUEST] {
        for (len, bytes) in [(0, 1), (63, 1), (64, 2), (16_383, 2), (16_384, 4)] {
            let mut out = BytesMut::new();
            put_header(wire, len, &mut out);
            let kind_bytes = if wire < 64 { 1 } else { 4 };
            assert_eq!(out.len(), kind_bytes + bytes);
            let mut input = &out[..];
            let sent = FrameReader::default().next(&mut input);
            let expected = Piece::Header {
                kind: FrameKind::of(wire),
                len: len as u64,
            };
            assert_eq!(sent, Some(expected));
        }
    }
}
