//! Finding streams by id: the ring and the map of old ids.

use super::{H2Ids, H3Ids, SPAN_MAX, StreamTable};
use crate::http::StreamId;
use std::collections::BTreeMap;

#[test]
fn a_stream_is_found_by_its_id_until_it_is_removed() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    streams.insert(1, "one");
    streams.insert(3, "three");
    assert_eq!(streams.get(1), Some(&"one"));
    assert_eq!(streams.get(3), Some(&"three"));
    assert_eq!(streams.len(), 2);
    assert_eq!(streams.remove(1), Some("one"));
    assert_eq!(streams.get(1), None);
    assert_eq!(streams.remove(1), None, "only once");
    assert_eq!(streams.get(3), Some(&"three"));
    assert_eq!(streams.len(), 1);
}

#[test]
fn even_ids_and_ids_out_of_range_find_nothing() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    streams.insert(5, ());
    streams.insert(7, ());
    for id in [0, 1, 2, 3, 4, 6, 8, 9, u32::MAX - 1, u32::MAX] {
        assert_eq!(streams.get(id), None, "id {id}");
        assert_eq!(streams.key(id), None, "id {id}");
        assert_eq!(streams.remove(id), None, "id {id}");
    }
    assert_eq!(streams.len(), 2);
}

#[test]
fn keys_are_used_again() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    for id in (1..20_000).step_by(2) {
        let key = streams.insert(id, id);
        assert!(key < 3, "key {key} though three streams are live at most");
        assert_eq!(streams.by_key(key), Some((id, &id)));
        if id >= 5 {
            streams.remove(id - 4);
        }
    }
    assert_eq!(streams.slab.len(), 3);
    assert!(streams.ring.len() <= 3);
    assert!(streams.old.is_empty());
}

#[test]
fn a_key_of_a_removed_stream_finds_nothing() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    let key = streams.insert(1, ());
    streams.remove(1);
    assert_eq!(streams.by_key(key), None);
    assert_eq!(streams.by_key_mut(key), None);
    assert_eq!(streams.by_key(99), None);
}

#[test]
fn a_key_stays_when_its_stream_moves_to_the_old_ones() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    let key = streams.insert(1, "long");
    for id in (3..10_000).step_by(2) {
        streams.insert(id, "short");
        streams.remove(id);
        assert!(streams.ring.len() <= SPAN_MAX as usize);
    }
    assert_eq!(streams.old.len(), 1, "the ring let it go");
    assert_eq!(streams.key(1), Some(key));
    assert_eq!(streams.get_mut(1), Some(&mut "long"));
    assert_eq!(streams.remove(1), Some("long"));
    assert!(streams.old.is_empty());
    assert!(streams.is_empty());
}

#[test]
fn a_leap_of_ids_costs_no_more_than_the_span() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    streams.insert(1, 'a');
    streams.insert((1 << 31) - 3, 'b');
    streams.insert((1 << 31) - 1, 'c');
    assert_eq!(streams.ring.len(), 2);
    assert_eq!(streams.ids(), [1, (1 << 31) - 3, (1 << 31) - 1]);
    for (id, name) in [(1, 'a'), ((1 << 31) - 3, 'b'), ((1 << 31) - 1, 'c')] {
        assert_eq!(streams.remove(id), Some(name));
    }
    assert!(streams.is_empty());
}

#[test]
fn ids_that_were_skipped_are_neither_live_nor_remembered() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    streams.insert(1, ());
    streams.insert(9, ());
    for id in [3, 5, 7] {
        assert_eq!(streams.get(id), None);
    }
    assert_eq!(streams.ids(), [1, 9]);
}

#[test]
fn the_highest_id_of_all_can_be_removed() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    streams.insert((1 << 31) - 1, ());
    assert_eq!(streams.remove((1 << 31) - 1), Some(()));
}

#[test]
fn memory_goes_back_only_while_no_stream_is_live() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    streams.insert(1, ());
    streams.release();
    assert!(streams.get(1).is_some());
    streams.remove(1);
    streams.release();
    assert_eq!(streams.slab.capacity(), 0);
    assert_eq!(streams.insert(3, ()), 0);
}

#[test]
fn steady_traffic_allocates_nothing() {
    let mut streams = StreamTable::<H2Ids, _>::new();
    let mut next = 1;
    let mut churn = |streams: &mut StreamTable<H2Ids, u32>, rounds: u32| {
        for _ in 0..rounds {
            streams.insert(next, next);
            if next > 200 {
                streams.remove(next - 200);
            }
            next += 2;
        }
    };
    churn(&mut streams, 2_000);
    let memory =
        |streams: &StreamTable<H2Ids, u32>| (streams.ring.capacity(), streams.slab.capacity());
    let before = memory(&streams);
    churn(&mut streams, 20_000);
    assert_eq!(memory(&streams), before);
}

#[test]
fn long_random_runs_agree_with_an_ordered_map() {
    for seed in 1..=10_u64 {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut streams = StreamTable::<H2Ids, _>::new();
        let mut plain = BTreeMap::new();
        let mut next = 1_u32;
        for step in 0..20_000_u32 {
            if plain.len() < 60 && random(2) == 0 {
                // Mostly the next id, now and then a leap, some beyond the span.
                next += match random(50) {
                    0 => 2 * random(3_000) as u32,
                    1..5 => 2 * random(20) as u32,
                    _ => 0,
                };
                streams.insert(next, step);
                plain.insert(next, step);
                next += 2;
            } else if !plain.is_empty() {
                // Mostly young ones end, so that some live long.
                let from = if random(100) == 0 { 0 } else { plain.len() / 2 };
                let nth = from + random((plain.len() - from) as u64) as usize;
                let id = *plain.keys().nth(nth).expect("nth is below the length");
                assert_eq!(streams.remove(id), plain.remove(&id));
            }
            assert_eq!(
                streams.len() as usize,
                plain.len(),
                "seed {seed}, step {step}"
            );
            let probe = random(u64::from(next) + 4) as u32;
            assert_eq!(
                streams.get(probe),
                plain.get(&probe),
                "seed {seed}, step {step}"
            );
            assert!(streams.ring.len() <= SPAN_MAX as usize);
        }
        assert!(streams.ids().into_iter().eq(plain.keys().copied()));
        let by_key: BTreeMap<_, _> = streams.iter().map(|(id, &at)| (id, at)).collect();
        assert_eq!(by_key, plain);
        for (id, stream) in streams.iter_mut() {
            assert_eq!(Some(&*stream), plain.get(&id));
        }
    }
}

fn open(streams: &mut StreamTable<H3Ids, u32>, stream: u32) -> StreamId {
    let id = streams.next_id();
    streams.insert(id, stream);
    id
}

#[test]
fn ids_go_up_by_four() {
    let mut streams = StreamTable::<H3Ids, _>::new();
    let ids: Vec<u64> = (0..4).map(|n| open(&mut streams, n).0).collect();
    assert_eq!(ids, [0, 4, 8, 12]);
    assert_eq!(streams.get(StreamId(8)), Some(&2));
    for foreign in [1, 2, 3, 9, 16, u64::MAX, u64::MAX - 3] {
        assert_eq!(streams.get(StreamId(foreign)), None, "{foreign}");
    }
}

#[test]
fn a_stream_that_is_gone_is_gone_and_its_place_is_used_again() {
    let mut streams = StreamTable::<H3Ids, _>::new();
    for n in 0..3 {
        open(&mut streams, n);
    }
    let key = streams.key(StreamId(4));
    assert_eq!(streams.remove(StreamId(4)), Some(1));
    assert_eq!(streams.remove(StreamId(4)), None);
    let id = open(&mut streams, 3);
    assert_eq!((id, streams.key(id)), (StreamId(12), key));
    assert_eq!(streams.len(), 3);
    assert_eq!(streams.ids(), [0, 8, 12].map(StreamId));
}

#[test]
fn one_that_was_skipped_is_not_live_and_takes_its_id() {
    let mut streams = StreamTable::<H3Ids, _>::new();
    assert_eq!(streams.skip(), StreamId(0));
    assert_eq!(open(&mut streams, 1), StreamId(4));
    assert_eq!(streams.skip(), StreamId(8));
    assert_eq!(streams.next_id(), StreamId(12));
    assert_eq!(streams.ids(), [StreamId(4)]);
}

#[test]
fn a_hundred_thousand_streams_beside_one_that_stays_take_the_same_memory() {
    let mut streams = StreamTable::<H3Ids, _>::new();
    open(&mut streams, 0);
    for n in 1..100_000 {
        let id = open(&mut streams, n);
        assert_eq!(streams.remove(id), Some(n));
        assert!(streams.ring.len() as u64 <= SPAN_MAX && streams.slab.len() <= 2);
    }
    assert_eq!(streams.remove(StreamId(0)), Some(0));
    assert!(streams.is_empty() && streams.old.is_empty());
}
