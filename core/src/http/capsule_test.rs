#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use super::*;

/// A reserved type without meaning (RFC 9297 section 5.4: 0x29 * N + 0x17).
const UNKNOWN: u64 = 0x29 * 1000 + 0x17;
const KNOWN: u64 = 0x2843;

fn bytes_of(capsules: &[Capsule]) -> Bytes {
    let whole: Vec<u8> = capsules
        .iter()
        .flat_map(|capsule| Bytes::from(capsule.clone()))
        .collect();
    whole.into()
}

fn capsule(kind: u64, len: usize) -> Capsule {
    let value: Vec<u8> = (0..len).map(|at| at as u8).collect();
    Capsule::new(kind, value).unwrap()
}

/// The capsules read from these pieces, and the reader at their end.
fn read(
    mut reader: CapsuleReader,
    pieces: impl IntoIterator<Item = Bytes>,
) -> (Vec<Capsule>, CapsuleReader) {
    let mut all = Vec::new();
    for mut piece in pieces {
        while let Some(capsule) = reader.next(&mut piece).unwrap() {
            all.push(capsule);
        }
        assert!(piece.is_empty(), "it is used up");
    }
    (all, reader)
}

#[test]
fn a_capsule_is_a_type_a_length_and_a_value() {
    let bytes = Bytes::from(Capsule::datagram("ping"));
    assert_eq!(bytes, b"\x00\x04ping"[..]);
    assert_eq!(Bytes::from(capsule(KNOWN, 0)), b"\x68\x43\x00"[..]);
    assert_eq!(Capsule::new(varint::MAX + 1, ""), None);
    let largest = Capsule::new(varint::MAX, "").unwrap();
    assert_eq!(
        Bytes::from(largest),
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x00"[..]
    );
}

#[test]
fn capsules_are_read_however_their_bytes_are_cut_and_unknown_ones_are_skipped() {
    let sent = [
        Capsule::datagram("first"),
        capsule(UNKNOWN, 300),
        Capsule::datagram(""),
        capsule(KNOWN, 70),
        capsule(UNKNOWN, 0),
        Capsule::datagram("last"),
    ];
    let wanted = [0, 2, 3, 5].map(|index: usize| sent[index].clone());
    let bytes = bytes_of(&sent);
    let reader = || CapsuleReader::default().taking(KNOWN);
    let (whole, at_end) = read(reader(), [bytes.clone()]);
    assert_eq!(whole, wanted);
    assert_eq!(at_end.end(), Ok(()));
    for cut in 0..=bytes.len() {
        let pieces = [bytes.slice(..cut), bytes.slice(cut..)];
        assert_eq!(read(reader(), pieces).0, wanted, "cut at {cut}");
    }
    let (single, at_end) = read(reader(), (0..bytes.len()).map(|at| bytes.slice(at..=at)));
    assert_eq!(single, wanted, "byte by byte");
    assert_eq!(at_end.end(), Ok(()));
}

#[test]
fn a_tunnel_that_ends_within_a_capsule_breaks_the_rule_and_one_that_ends_between_two_does_not() {
    let sent = [Capsule::datagram("one"), capsule(UNKNOWN, 3)];
    let bytes = bytes_of(&sent);
    let between = bytes_of(&sent[..1]).len();
    for cut in 0..=bytes.len() {
        let (_, reader) = read(CapsuleReader::default(), [bytes.slice(..cut)]);
        let whole = [0, between, bytes.len()].contains(&cut);
        let expected = if whole {
            Ok(())
        } else {
            Err(Violation::CapsuleTruncated)
        };
        assert_eq!(reader.end(), expected, "cut at {cut}");
    }
}

#[test]
fn what_is_too_large_is_an_error_where_it_was_asked_for_and_dropped_where_it_may_be_lost() {
    let reader = || CapsuleReader::default().taking(KNOWN).bytes_max(10);
    let fits = [capsule(KNOWN, 10), capsule(DATAGRAM, 10)];
    assert_eq!(read(reader(), [bytes_of(&fits)]).0, fits);
    let mut large = bytes_of(&[capsule(KNOWN, 11)]);
    assert_eq!(reader().next(&mut large), Err(Violation::CapsuleTooLarge));
    let sent = [
        capsule(DATAGRAM, 11),
        capsule(UNKNOWN, 11),
        capsule(DATAGRAM, 1),
    ];
    let (rest, at_end) = read(reader(), [bytes_of(&sent)]);
    assert_eq!(rest, sent[2..]);
    assert_eq!(at_end.dropped(), 1);
}

#[test]
fn a_length_that_is_only_said_takes_no_memory() {
    // 2^62-1 bytes of an unknown type: they never end.
    let mut reader = CapsuleReader::default();
    let mut head = Vec::new();
    varint::put(UNKNOWN, &mut head);
    varint::put(varint::MAX, &mut head);
    assert_eq!(reader.next(&mut head.into()), Ok(None));
    for _ in 0..1000 {
        let mut piece = Bytes::from_static(&[0; 4096]);
        assert_eq!(reader.next(&mut piece), Ok(None));
    }
    assert_eq!(reader.end(), Err(Violation::CapsuleTruncated));
    // A datagram that is announced as large as may be: nothing is there before its bytes are.
    let mut reader = CapsuleReader::default();
    let announced = bytes_of(&[capsule(DATAGRAM, CAPSULE_BYTES_MAX)]).slice(..8);
    read_nothing(&mut reader, announced);
    let held = reader.under_way.as_ref().and_then(|it| it.value.as_ref());
    assert!(held.unwrap().capacity() < 1024);
}

fn read_nothing(reader: &mut CapsuleReader, mut bytes: Bytes) {
    assert_eq!(reader.next(&mut bytes), Ok(None));
}
