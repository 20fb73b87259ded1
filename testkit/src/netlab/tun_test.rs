use super::{HEADER_BYTES, on_the_wire};

/// A read with a header that announces `kind`, heads of `head` bytes and segments of `segment`.
fn read(kind: u8, head: u16, segment: u16, packet: usize) -> Vec<u8> {
    let mut bytes = vec![0, kind];
    bytes.extend(head.to_ne_bytes());
    bytes.extend(segment.to_ne_bytes());
    bytes.resize(HEADER_BYTES + packet, 0);
    bytes
}

#[test]
fn a_single_packet_counts_as_itself() {
    assert_eq!(on_the_wire(&read(0, 0, 0, 1500)), (1500, 1));
    assert_eq!(
        on_the_wire(&read(1, 52, 1448, 52)),
        (52, 1),
        "an empty segment"
    );
}

#[test]
fn segments_count_with_a_head_each() {
    // 10 segments of 1,448 bytes, 52 bytes of heads: 10 packets of 1,500 bytes.
    assert_eq!(on_the_wire(&read(1, 52, 1448, 52 + 14_480)), (15_000, 10));
    // One byte more is one packet more.
    assert_eq!(on_the_wire(&read(1, 52, 1448, 52 + 14_481)), (15_053, 11));
}

#[test]
fn a_short_read_is_no_reason_to_fail() {
    assert_eq!(on_the_wire(&[]), (0, 1));
    assert_eq!(on_the_wire(&[0; HEADER_BYTES]), (0, 1));
}
