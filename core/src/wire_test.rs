use super::*;

/// The waiting bytes that `slots` slices cover, without sending any.
fn front(outbox: &Outbox, slots: usize) -> Vec<u8> {
    front_of(outbox, slots, usize::MAX)
}

/// As `front`, at most `most` bytes.
fn front_of(outbox: &Outbox, slots: usize, most: usize) -> Vec<u8> {
    let mut slices = vec![IoSlice::new(&[]); slots];
    let filled = outbox.slices(&mut slices, most);
    assert!(
        slices[..filled].iter().all(|slice| !slice.is_empty()),
        "no empty slices"
    );
    let slices = slices[..filled].iter();
    slices.flat_map(|slice| slice.iter().copied()).collect()
}

fn body(byte: u8, len: usize) -> Bytes {
    (0..len)
        .map(|at| byte.wrapping_add((at % 7) as u8))
        .collect::<Vec<_>>()
        .into()
}

/// An outbox with plain and large parts in many orders, and what it must send.
fn filled() -> (Outbox, Vec<u8>) {
    let parts: [(&[u8], usize); 6] = [
        (b"", BY_REFERENCE_BYTES_MIN),
        (b"head", BY_REFERENCE_BYTES_MIN + 1),
        (b"", BY_REFERENCE_BYTES_MIN),
        (b"middle", BY_REFERENCE_BYTES_MIN - 1),
        (b"x", BY_REFERENCE_BYTES_MIN * 2),
        (b"tail", 0),
    ];
    let (mut outbox, mut expected) = (Outbox::new(), Vec::new());
    for (at, (plain, len)) in parts.into_iter().enumerate() {
        let body = body(at as u8, len);
        outbox.buffer().extend_from_slice(plain);
        outbox.push_body(body.clone());
        expected.extend_from_slice(plain);
        expected.extend_from_slice(&body);
    }
    (outbox, expected)
}

#[test]
fn everything_goes_out_in_order() {
    let (outbox, expected) = filled();
    assert_eq!(outbox.len(), expected.len());
    assert_eq!(front(&outbox, 16), expected);
}

#[test]
fn with_few_slices_the_front_goes_out() {
    let (outbox, expected) = filled();
    assert!(front(&outbox, 0).is_empty());
    for slots in 1..10 {
        let part = front(&outbox, slots);
        assert!(
            !part.is_empty() && expected.starts_with(&part),
            "{slots} slices"
        );
    }
}

#[test]
fn a_write_may_stop_at_every_byte() {
    let (_, expected) = filled();
    // Every place near a seam, and some in between.
    let near = |at: usize| at.is_multiple_of(997) || (at + 20) % BY_REFERENCE_BYTES_MIN < 60;
    for split in (0..=expected.len()).filter(|&at| near(at)) {
        let (mut outbox, _) = filled();
        outbox.advance(split);
        assert_eq!(outbox.len(), expected.len() - split, "split at {split}");
        assert!(front(&outbox, 16) == expected[split..], "split at {split}");
        outbox.advance(expected.len() - split);
        assert!(outbox.is_empty() && front(&outbox, 16).is_empty());
    }
}

#[test]
fn writes_of_any_size_send_all() {
    for step in [
        1,
        3,
        1000,
        BY_REFERENCE_BYTES_MIN,
        BY_REFERENCE_BYTES_MIN + 1,
        70_000,
    ] {
        let (mut outbox, expected) = filled();
        let mut sent = Vec::new();
        while !outbox.is_empty() {
            let part = front_of(&outbox, 2, step);
            sent.extend_from_slice(&part);
            outbox.advance(part.len());
        }
        assert!(sent == expected, "steps of {step}");
    }
}

#[test]
fn what_is_appended_between_writes_comes_behind() {
    let mut outbox = Outbox::new();
    let (mut expected, mut sent) = (Vec::new(), Vec::new());
    for round in 0..200_u32 {
        let large = body(
            round as u8,
            if round % 3 == 0 {
                BY_REFERENCE_BYTES_MIN
            } else {
                5
            },
        );
        outbox.buffer().extend_from_slice(&round.to_be_bytes());
        outbox.push_body(large.clone());
        expected.extend_from_slice(&round.to_be_bytes());
        expected.extend_from_slice(&large);
        let part = front(&outbox, 3);
        let len = part.len() * (round as usize % 5) / 4;
        sent.extend_from_slice(&part[..len.min(part.len())]);
        outbox.advance(len.min(part.len()));
    }
    sent.extend_from_slice(&front(&outbox, 1000));
    assert!(sent == expected);
}

#[test]
fn an_outbox_that_is_never_empty_does_not_keep_what_it_sent() {
    let mut outbox = Outbox::new();
    outbox.buffer().extend_from_slice(&[7; 100]);
    for _ in 0..1000 {
        outbox.buffer().extend_from_slice(&[7; 10_000]);
        outbox.advance(10_000);
        assert_eq!(outbox.len(), 100);
    }
    assert!(outbox.buffer().capacity() < 4 * SENT_BYTES_MAX);
}

#[test]
fn a_little_that_is_left_moves_to_where_the_memory_begins() {
    let mut outbox = Outbox::new();
    outbox.buffer().extend_from_slice(&[7; 900]);
    for round in 0..100_u8 {
        outbox.buffer().extend_from_slice(&[round; 8_000]);
        outbox.advance(8_000);
        assert_eq!(outbox.whole(), Some(&[round; 900][..]));
    }
    let room = outbox.buffer().capacity();
    assert!(room < SENT_BYTES_MAX, "{room} bytes");
}

#[test]
fn an_empty_outbox_gives_its_memory_back() {
    let mut outbox = Outbox::new();
    outbox.buffer().extend_from_slice(b"abc");
    outbox.release();
    assert_eq!(front(&outbox, 1), b"abc", "not while bytes wait");
    outbox.advance(3);
    assert!(outbox.buffer().capacity() > 0, "kept for the next write");
    outbox.release();
    assert_eq!(outbox.buffer().capacity(), 0);
}

#[test]
fn a_cursor_reads_what_is_there_and_no_more() {
    let bytes: Vec<u8> = (1..=12).collect();
    let mut cursor = Cursor::new(&bytes);
    assert_eq!(cursor.u8(), Some(1));
    assert_eq!(cursor.u16(), Some(0x0203));
    assert_eq!(cursor.u32(), Some(0x0405_0607));
    assert_eq!(cursor.take(3), Some(&[8, 9, 10][..]));
    assert_eq!(cursor.u32(), None);
    assert_eq!(cursor.take(3), None);
    assert_eq!(cursor.rest(), [11, 12], "a read that fails takes nothing");
    assert_eq!(cursor.u16(), Some(0x0b0c));
    assert_eq!(
        (cursor.u8(), cursor.take(0), cursor.take(usize::MAX)),
        (None, Some(&[][..]), None)
    );
}
