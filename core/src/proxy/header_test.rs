use super::*;
use ProxyHeaderError::{Checksum, Command, Family, Length, Line, LineTooLong, Missing, Tlv};
use ProxyHeaderVersion::{V1, V2};

/// The header in `bytes` and the number of its bytes, read in pieces of at most `step`; `None`: bytes are missing.
fn read(bytes: &[u8], step: usize) -> Result<Option<(ProxyHeader, usize)>, ProxyHeaderError> {
    let mut reader = ProxyHeaderReader::new();
    let mut at = 0;
    while reader.wants() > 0 {
        let take = reader.wants().min(step).min(bytes.len() - at);
        if take == 0 {
            return Ok(None);
        }
        reader.handle_bytes(&bytes[at..at + take])?;
        at += take;
    }
    Ok(reader.header().map(|header| (header, at)))
}

/// The result of all bytes, with a client's bytes behind them, in pieces of every size: each reading takes the header alone.
#[track_caller]
fn found(header: &[u8]) -> Result<ProxyHeader, ProxyHeaderError> {
    let whole = [header, b"GET / HTTP/1.1\r\n"].concat();
    let first = read(&whole, usize::MAX);
    for step in 1..=whole.len() {
        assert_eq!(read(&whole, step), first, "in pieces of {step}");
    }
    let found = first?.expect("it is whole");
    assert_eq!(found.1, header.len(), "bytes of the client were taken");
    for cut in 0..header.len() {
        assert_eq!(read(&header[..cut], usize::MAX), Ok(None), "cut at {cut}");
    }
    Ok(found.0)
}

fn named(source: &str, destination: &str) -> ProxyHeader {
    let address = |text: &str| text.parse().expect("an address");
    ProxyHeader {
        addresses: Some((address(source), address(destination))),
    }
}

const NOTHING: ProxyHeader = ProxyHeader { addresses: None };

/// A header of version 2 with these bytes behind the signature, and their length between.
fn v2(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let length = (rest.len() as u16).to_be_bytes();
    [&SIGNATURE[..], &[command, family], &length, rest].concat()
}

const FOUR: [u8; 12] = [192, 0, 2, 1, 198, 51, 100, 2, 0xdb, 0xe4, 1, 0xbb];

#[test]
fn both_versions_name_the_clients_addresses_at_every_split() {
    let four = named("192.0.2.1:56292", "198.51.100.2:443");
    let six = named("[2001:db8::1]:56292", "[2001:db8::2]:443");
    let line = b"PROXY TCP4 192.0.2.1 198.51.100.2 56292 443\r\n";
    assert_eq!(found(line), Ok(four));
    let line = b"PROXY TCP6 2001:db8::1 2001:db8::2 56292 443\r\n";
    assert_eq!(found(line), Ok(six));
    assert_eq!(
        found(b"PROXY TCP4 1.1.1.1 2.2.2.2 0 1\r\n"),
        Ok(named("1.1.1.1:0", "2.2.2.2:1"))
    );
    assert_eq!(found(&v2(0x21, 0x11, &FOUR)), Ok(four));
    for header in [four, six] {
        for version in [V1, V2] {
            assert_eq!(found(&header.encode(version)), Ok(header));
        }
    }
}

#[test]
fn a_header_without_internet_addresses_leaves_those_of_the_connection() {
    let long = format!("PROXY UNKNOWN {}\r\n", "f".repeat(107 - 16));
    assert_eq!(long.len(), PROXY_HEADER_V1_BYTES_MAX);
    for line in [
        "PROXY UNKNOWN\r\n",
        "PROXY UNKNOWN 1.1.1.1 2.2.2.2 1 2\r\n",
        &long,
    ] {
        assert_eq!(found(line.as_bytes()), Ok(NOTHING), "{line:?}");
    }
    for (command, family, rest) in [
        (0x20, 0, &[][..]),
        // LOCAL discards what else is said, also a family that there is not.
        (0x20, 0x11, &FOUR),
        (0x20, 0xff, b"junk"),
        (0x21, 0, &[]),
        (0x21, 0x12, &FOUR),
        (0x21, 0x31, &[b'/'; UNIX_ADDRESSES_BYTES]),
    ] {
        assert_eq!(
            found(&v2(command, family, rest)),
            Ok(NOTHING),
            "{family:#x}"
        );
    }
    for version in [V1, V2] {
        assert_eq!(found(&NOTHING.encode(version)), Ok(NOTHING));
        let mixed = named("1.1.1.1:1", "[::1]:2");
        assert_eq!(found(&mixed.encode(version)), Ok(NOTHING));
    }
}

#[test]
fn bytes_that_are_no_header_are_refused_by_what_is_wrong_at_every_split() {
    let long = format!("PROXY UNKNOWN {}", "f".repeat(200));
    for (bytes, expected) in [
        (&b"GET / HTTP/1.1\r\nhost: a.test\r\n"[..], Missing),
        (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03abcdef",
            Missing,
        ),
        (b"\r\n\r\n\0\r\nQUIX\nabcdef", Missing),
        (b"PROXY_TCP4 1.1.1.1 2.2.2.2 1 2\r\n", Missing),
        (b"proxy TCP4 1.1.1.1 2.2.2.2 1 2\r\n", Missing),
        (long.as_bytes(), LineTooLong),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\nGET / HTTP/1.1", Line),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 1 \r2\r\n", Line),
        (b"PROXY TCP4\r\nGET / HTTP/1.1\r\n", Line),
        (b"PROXY TCP5 1.1.1.1 2.2.2.2 1 2\r\n", Line),
        (b"PROXY TCP4 ::1 ::2 1 2\r\nabcdef", Line),
        (b"PROXY TCP6 1.1.1.1 2.2.2.2 1 2\r\n", Line),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 1 65536\r\n", Line),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 01 2\r\n", Line),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 +1 2\r\n", Line),
        (b"PROXY TCP4 1.1.1.1  2.2.2.2 1 2\r\n", Line),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2 3\r\n", Line),
        (b"PROXY TCP4 1.1.1.1 2.2.2.2 1\r\nabc", Line),
        (b"PROXY TCP4 1.1.1 2.2.2.2 1 2\r\n", Line),
        (&v2(0x11, 0x11, &FOUR), Command(0x11)),
        (&v2(0x22, 0x11, &FOUR), Command(0x22)),
        (&v2(0x21, 0x41, &FOUR), Family(0x41)),
        (&v2(0x21, 0x13, &FOUR), Family(0x13)),
        (&v2(0x21, 0x21, &FOUR), Length(12)),
        (&v2(0x21, 0x11, &[&FOUR[..], &[4, 0]].concat()), Tlv),
        (&v2(0x21, 0x11, &[&FOUR[..], &[4, 0, 2, 0]].concat()), Tlv),
        (&v2(0x21, 0x11, &[&FOUR[..], &[3, 0, 1, 0]].concat()), Tlv),
        (
            &v2(0x21, 0x11, &[&FOUR[..], &[3, 0, 4, 0, 0, 0, 0]].concat()),
            Checksum,
        ),
    ] {
        for step in 1..=bytes.len() {
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(
                read(bytes, step),
                Err(expected),
                "{text:?} in pieces of {step}"
            );
        }
        assert!(!expected.to_string().is_empty());
    }
}

#[test]
fn tlvs_are_passed_over_up_to_their_bound_and_a_checksum_counts() {
    let four = named("192.0.2.1:56292", "198.51.100.2:443");
    let mut header = v2(
        0x21,
        0x11,
        &[&FOUR[..], &[4, 0, 1, 0], &[3, 0, 4, 0, 0, 0, 0]].concat(),
    );
    let at = header.len() - 4;
    // A checksum over zeros in its place is the sum itself.
    let sum = crc32c(&header, at).to_be_bytes();
    header[at..].copy_from_slice(&sum);
    assert_eq!(found(&header), Ok(four));
    header[16] ^= 1;
    assert_eq!(found(&header), Err(Checksum));

    let most = UNIX_ADDRESSES_BYTES + PROXY_HEADER_TLV_BYTES_MAX;
    let value = most - FOUR.len() - 3;
    let length = (value as u16).to_be_bytes();
    let noop = [&FOUR[..], &[4], &length, &vec![0; value]].concat();
    let header = v2(0x21, 0x11, &noop);
    assert_eq!(read(&header, usize::MAX), Ok(Some((four, 16 + most))));
    let more = (most as u16 + 1).to_be_bytes();
    let header = [&SIGNATURE[..], &[0x21, 0x11], &more].concat();
    // It is refused before any of it is read.
    assert_eq!(read(&header, usize::MAX), Err(Length(most as u16 + 1)));
}

#[test]
fn the_checksum_is_that_of_rfc_3720() {
    // RFC 3720 appendix B.4, with the four bytes of its own place behind what is summed left out.
    let sum_of = |bytes: &[u8]| !(0..bytes.len()).fold(u32::MAX, |sum, at| step(sum, bytes[at]));
    assert_eq!(sum_of(&[0; 32]), 0x8a91_36aa);
    assert_eq!(crc32c(&[0; 32], 28), 0x8a91_36aa);
    assert_eq!(
        crc32c(&[[0; 28].as_slice(), &[9; 4]].concat(), 28),
        0x8a91_36aa
    );
    assert_eq!(sum_of(b"123456789"), 0xe306_9283);
}

/// One byte, bit by bit, as the polynomial says.
fn step(sum: u32, byte: u8) -> u32 {
    let mut sum = sum ^ u32::from(byte);
    for _ in 0..8 {
        sum = if sum & 1 == 1 {
            (sum >> 1) ^ 0x82f6_3b78
        } else {
            sum >> 1
        };
    }
    sum
}
