use super::*;

#[test]
fn no_more_is_written_than_the_window_of_bytes_that_were_not_taken() {
    let mut state = StreamState::default();
    let mut written = 0;
    while let Some(room) = state.reserve(100_000) {
        written += room;
    }
    assert_eq!(written, OUTBOUND_BYTES_MAX);
    state.outbound -= 10;
    assert_eq!(state.reserve(100), Some(10));
    assert_eq!(state.reserve(100), None);
}

#[test]
fn javascript_learns_of_bytes_that_were_read_before_its_window_is_full() {
    let mut state = StreamState::default();
    let mut reported = 0;
    let mut unread: usize = 0;
    for _ in 0..1000 {
        assert!(
            unread < STREAM_UNREAD_BYTES_MAX,
            "JavaScript would not read"
        );
        state.inbound.push_back(Bytes::from(vec![7; 3000]));
        unread += 3000;
        let mut buffer = [0; 8192];
        assert!(state.read(&mut ReadBuf::new(&mut buffer)));
        if let Some(taken) = state.due() {
            reported += taken;
            unread -= taken;
        }
    }
    assert!(reported + TAKEN_BYTES_MIN > 3_000_000);
}

#[test]
fn pieces_are_read_whole_in_order_and_split_by_the_readers_buffer() {
    let mut state = StreamState::default();
    assert!(!state.read(&mut ReadBuf::new(&mut [0; 4])));
    for piece in ["ab", "", "cdefg", "h"] {
        state.inbound.push_back(Bytes::from(piece));
    }
    for expected in ["abc", "def", "gh"] {
        let mut bytes = [0; 3];
        let mut buffer = ReadBuf::new(&mut bytes);
        assert!(state.read(&mut buffer));
        assert_eq!(buffer.filled(), expected.as_bytes());
    }
    assert!(!state.read(&mut ReadBuf::new(&mut [0; 4])));
}
