use super::*;

/// The events as (stream, bytes, whether they are the last).
fn taken(events: &mut VecDeque<Event>) -> Vec<(u64, Vec<u8>, bool)> {
    let bodies = events.drain(..).map(|event| match event {
        Event::BodyReceived { stream, data, end } => (stream.0, data.to_vec(), end),
        other => panic!("{other:?} is no body"),
    });
    bodies.collect()
}

#[test]
fn pieces_of_one_stream_are_one_event_and_another_stream_begins_a_new_one() {
    let (mut slab, mut events) = (BodySlab::default(), VecDeque::new());
    slab.push(StreamId(1), b"ab", &mut events);
    slab.push(StreamId(1), b"cd", &mut events);
    assert!(events.is_empty(), "nothing before the slab is closed");
    slab.push(StreamId(3), b"e", &mut events);
    slab.end(StreamId(3), &mut events);
    let expected = [(1, b"abcd".to_vec(), false), (3, b"e".to_vec(), true)];
    assert_eq!(taken(&mut events), expected);
    slab.close(&mut events);
    assert!(events.is_empty(), "each byte has one event");
}

#[test]
fn an_end_without_bytes_is_an_event_behind_those_of_others() {
    let (mut slab, mut events) = (BodySlab::default(), VecDeque::new());
    slab.push(StreamId(1), b"ab", &mut events);
    slab.end(StreamId(3), &mut events);
    let expected = [(1, b"ab".to_vec(), false), (3, Vec::new(), true)];
    assert_eq!(taken(&mut events), expected);
}

#[test]
fn bytes_that_a_slab_has_no_room_for_go_into_the_next_and_those_before_stay() {
    let (mut slab, mut events) = (BodySlab::default(), VecDeque::new());
    slab.push(StreamId(1), &[1; 10], &mut events);
    slab.push(StreamId(1), &vec![2; SLAB_BYTES], &mut events);
    slab.push(StreamId(1), &vec![3; BULK_SLAB_BYTES + 1], &mut events);
    slab.release();
    slab.close(&mut events);
    let expected = [
        (1, vec![1; 10], false),
        (1, vec![2; SLAB_BYTES], false),
        (1, vec![3; BULK_SLAB_BYTES + 1], false),
    ];
    assert_eq!(taken(&mut events), expected);
}

#[test]
fn small_frames_of_one_stream_that_fill_a_slab_go_into_a_larger_one() {
    let (mut slab, mut events) = (BodySlab::default(), VecDeque::new());
    let packet = [7; 1400];
    for _ in 0..100 {
        slab.push(StreamId(1), &packet, &mut events);
    }
    slab.close(&mut events);
    let pieces: Vec<usize> = taken(&mut events)
        .iter()
        .map(|(_, bytes, _)| bytes.len())
        .collect();
    assert_eq!(pieces.iter().sum::<usize>(), 100 * packet.len());
    assert!(pieces[0] <= SLAB_BYTES, "the first is small: {pieces:?}");
    assert!(pieces[1] > SLAB_BYTES, "the next is not: {pieces:?}");
    assert_eq!(pieces.len(), 3, "{pieces:?}");
}

#[test]
fn small_frames_of_many_streams_stay_in_small_slabs() {
    let (mut slab, mut events) = (BodySlab::default(), VecDeque::new());
    for turn in 0..100 {
        slab.push(StreamId(turn % 10), &[7; 1400], &mut events);
        assert!(slab.slab.capacity() <= SLAB_BYTES);
    }
}
