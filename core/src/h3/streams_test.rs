use super::{H3Streams, SPAN_MAX};
use crate::http::StreamId;

#[test]
fn ids_go_up_by_four() {
    let mut streams = H3Streams::new();
    let ids: Vec<u64> = (0..4).map(|n| streams.open(n).0).collect();
    assert_eq!(ids, [0, 4, 8, 12]);
    assert_eq!(streams.get(StreamId(8)), Some(&2));
    for foreign in [1, 2, 3, 9, 16, u64::MAX, u64::MAX - 3] {
        assert_eq!(streams.get(StreamId(foreign)), None, "{foreign}");
    }
}

#[test]
fn a_stream_that_is_gone_is_gone_and_its_place_is_used_again() {
    let mut streams = H3Streams::new();
    for n in 0..3 {
        streams.open(n);
    }
    let key = streams.key(StreamId(4));
    assert_eq!(streams.remove(StreamId(4)), Some(1));
    assert_eq!(streams.remove(StreamId(4)), None);
    let id = streams.open(3);
    assert_eq!((id, streams.key(id)), (StreamId(12), key));
    assert_eq!(streams.len(), 3);
    assert_eq!(streams.ids(), [0, 8, 12].map(StreamId));
}

#[test]
fn one_that_was_skipped_is_not_live_and_takes_its_id() {
    let mut streams = H3Streams::new();
    assert_eq!(streams.skip(), StreamId(0));
    assert_eq!(streams.open(1), StreamId(4));
    assert_eq!(streams.skip(), StreamId(8));
    assert_eq!(streams.next_id(), StreamId(12));
    assert_eq!(streams.ids(), [StreamId(4)]);
}

#[test]
fn a_hundred_thousand_streams_beside_one_that_stays_take_the_same_memory() {
    let mut streams = H3Streams::new();
    streams.open(0);
    for n in 1..100_000 {
        let id = streams.open(n);
        assert_eq!(streams.remove(id), Some(n));
        assert!(streams.ring.len() <= SPAN_MAX && streams.slab.len() <= 2);
    }
    assert_eq!(streams.remove(StreamId(0)), Some(0));
    assert!(streams.is_empty() && streams.old.is_empty());
}
