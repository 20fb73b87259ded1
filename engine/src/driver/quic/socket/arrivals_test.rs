use super::*;

/// `length` bytes that come in a buffer, all `value`.
fn came(arrivals: &mut Arrivals, number: usize, length: usize, value: u8) -> BytesMut {
    arrivals.slices()[number][..length].fill(value);
    let taken = arrivals.take(number, length, &mut BytesMut::new());
    assert!(taken.len() == length && taken.iter().all(|&byte| byte == value));
    taken
}

#[test]
fn a_large_receive_is_handed_on_without_a_copy_and_its_buffer_used_again() {
    let mut arrivals = Arrivals::new();
    let at = arrivals.slices()[0].as_ptr();
    for length in [BUFFER_BYTES, HANDED_ON_BYTES_MIN, BUFFER_BYTES - 1] {
        let taken = came(&mut arrivals, 0, length, 1);
        assert_eq!(taken.as_ptr(), at, "{length}");
        drop(taken);
        assert_eq!(arrivals.slices()[0].as_ptr(), at, "{length}");
    }
}

#[test]
fn what_is_kept_of_a_large_receive_is_not_written_over() {
    let mut arrivals = Arrivals::new();
    let mut kept = came(&mut arrivals, 0, BUFFER_BYTES, 1);
    let part = kept.split_to(1200);
    drop(kept);
    for value in 2..5 {
        let _ = came(&mut arrivals, 0, BUFFER_BYTES, value);
    }
    assert!(part.iter().all(|&byte| byte == 1));
}

#[test]
fn a_small_receive_pins_no_buffer() {
    let mut arrivals = Arrivals::new();
    let at = arrivals.slices()[3].as_ptr();
    for length in [
        0,
        1,
        1200,
        super::super::ARENA_BYTES_MAX + 1,
        HANDED_ON_BYTES_MIN - 1,
    ] {
        let kept = came(&mut arrivals, 3, length, 9);
        assert_eq!(arrivals.slices()[3].as_ptr(), at, "{length}");
        assert_eq!(kept.len(), length);
    }
}
