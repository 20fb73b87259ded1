//! Finding streams by id: the ring, the map of old ids, the memory of closed ones.

use super::{CLOSED_MAX, H2Streams, SPAN_MAX};
use crate::h2::stream_state::ClosedHow;
use std::collections::BTreeMap;

const ENDED: ClosedHow = ClosedHow::Ended;

#[test]
fn a_stream_is_found_by_its_id_until_it_is_removed() {
    let mut streams = H2Streams::new();
    streams.insert(1, "one");
    streams.insert(3, "three");
    assert_eq!(streams.get(1), Some(&"one"));
    assert_eq!(streams.get(3), Some(&"three"));
    assert_eq!(streams.len(), 2);
    assert_eq!(streams.remove(1, ENDED), Some("one"));
    assert_eq!(streams.get(1), None);
    assert_eq!(streams.remove(1, ENDED), None, "only once");
    assert_eq!(streams.get(3), Some(&"three"));
    assert_eq!(streams.len(), 1);
}

#[test]
fn even_ids_and_ids_out_of_range_find_nothing() {
    let mut streams = H2Streams::new();
    streams.insert(5, ());
    streams.insert(7, ());
    for id in [0, 1, 2, 3, 4, 6, 8, 9, u32::MAX - 1, u32::MAX] {
        assert_eq!(streams.get(id), None, "id {id}");
        assert_eq!(streams.key(id), None, "id {id}");
        assert_eq!(streams.remove(id, ENDED), None, "id {id}");
        assert_eq!(streams.closed(id), None, "id {id}");
    }
    assert_eq!(streams.len(), 2);
}

#[test]
fn keys_are_used_again() {
    let mut streams = H2Streams::new();
    for id in (1..20_000).step_by(2) {
        let key = streams.insert(id, id);
        assert!(key < 3, "key {key} though three streams are live at most");
        assert_eq!(streams.by_key(key), Some((id, &id)));
        if id >= 5 {
            streams.remove(id - 4, ENDED);
        }
    }
    assert_eq!(streams.slab.len(), 3);
    assert!(streams.ring.len() <= 3);
    assert!(streams.old.is_empty());
}

#[test]
fn a_key_of_a_removed_stream_finds_nothing() {
    let mut streams = H2Streams::new();
    let key = streams.insert(1, ());
    streams.remove(1, ENDED);
    assert_eq!(streams.by_key(key), None);
    assert_eq!(streams.by_key_mut(key), None);
    assert_eq!(streams.by_key(99), None);
}

#[test]
fn a_key_stays_when_its_stream_moves_to_the_old_ones() {
    let mut streams = H2Streams::new();
    let key = streams.insert(1, "long");
    for id in (3..10_000).step_by(2) {
        streams.insert(id, "short");
        streams.remove(id, ENDED);
        assert!(streams.ring.len() <= SPAN_MAX as usize);
    }
    assert_eq!(streams.old.len(), 1, "the ring let it go");
    assert_eq!(streams.key(1), Some(key));
    assert_eq!(streams.get_mut(1), Some(&mut "long"));
    assert_eq!(streams.remove(1, ENDED), Some("long"));
    assert!(streams.old.is_empty());
    assert!(streams.is_empty());
}

#[test]
fn a_leap_of_ids_costs_no_more_than_the_span() {
    let mut streams = H2Streams::new();
    streams.insert(1, 'a');
    streams.insert((1 << 31) - 3, 'b');
    streams.insert((1 << 31) - 1, 'c');
    assert_eq!(streams.ring.len(), 2);
    assert_eq!(
        streams.ids().collect::<Vec<_>>(),
        [1, (1 << 31) - 3, (1 << 31) - 1]
    );
    for (id, name) in [(1, 'a'), ((1 << 31) - 3, 'b'), ((1 << 31) - 1, 'c')] {
        assert_eq!(streams.remove(id, ENDED), Some(name));
    }
    assert!(streams.is_empty());
    assert_eq!(
        streams.last_id(),
        (1 << 31) - 1,
        "the last id does not go back"
    );
}

#[test]
fn ids_that_were_skipped_are_neither_live_nor_remembered() {
    let mut streams = H2Streams::new();
    streams.insert(1, ());
    streams.insert(9, ());
    for id in [3, 5, 7] {
        assert_eq!(streams.get(id), None);
        assert_eq!(streams.closed(id), None);
    }
    assert_eq!(streams.ids().collect::<Vec<_>>(), [1, 9]);
}

#[test]
fn how_a_stream_ended_is_remembered() {
    let mut streams = H2Streams::new();
    for (id, how) in [
        (1, ClosedHow::Ended),
        (3, ClosedHow::ResetByPeer),
        (5, ClosedHow::ResetByUs),
    ] {
        streams.insert(id, ());
        assert_eq!(streams.closed(id), None, "it is live");
        streams.remove(id, how);
        assert_eq!(streams.closed(id), Some(how));
    }
    assert_eq!(streams.closed(7), None, "it is idle");
    assert_eq!(streams.closed(4), None, "it is no id of ours");
}

#[test]
fn the_last_ids_are_remembered_and_older_ones_forgotten() {
    let mut streams = H2Streams::new();
    let last = 2 * 1000 - 1;
    for id in (1..=last).step_by(2) {
        streams.insert(id, ());
        streams.remove(id, ClosedHow::ResetByUs);
    }
    let oldest = last - 2 * (CLOSED_MAX as u32 - 1);
    for id in (oldest..=last).step_by(2) {
        assert_eq!(streams.closed(id), Some(ClosedHow::ResetByUs), "id {id}");
    }
    assert_eq!(streams.closed(oldest - 2), None);
    assert_eq!(streams.closed(1), None);
}

#[test]
fn the_highest_id_of_all_can_be_removed() {
    let mut streams = H2Streams::new();
    streams.insert((1 << 31) - 1, ());
    assert_eq!(streams.remove((1 << 31) - 1, ENDED), Some(()));
    assert_eq!(streams.closed((1 << 31) - 1), Some(ENDED));
}

#[test]
fn memory_goes_back_only_while_no_stream_is_live() {
    let mut streams = H2Streams::new();
    streams.insert(1, ());
    streams.release();
    assert!(streams.get(1).is_some());
    streams.remove(1, ENDED);
    streams.release();
    assert_eq!(streams.slab.capacity(), 0);
    assert_eq!(streams.closed(1), Some(ENDED), "what ended is still known");
    assert_eq!(streams.insert(3, ()), 0);
}

#[test]
fn steady_traffic_allocates_nothing() {
    let mut streams = H2Streams::new();
    let mut next = 1;
    let mut churn = |streams: &mut H2Streams<u32>, rounds: u32| {
        for _ in 0..rounds {
            streams.insert(next, next);
            if next > 200 {
                streams.remove(next - 200, ENDED);
            }
            next += 2;
        }
    };
    churn(&mut streams, 2_000);
    let memory = |streams: &H2Streams<u32>| (streams.ring.capacity(), streams.slab.capacity());
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
        let mut streams = H2Streams::new();
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
                assert_eq!(streams.remove(id, ENDED), plain.remove(&id));
                assert_eq!(streams.closed(id), Some(ENDED));
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
        assert!(streams.ids().eq(plain.keys().copied()));
        let by_key: BTreeMap<_, _> = streams.iter().map(|(id, &at)| (id, at)).collect();
        assert_eq!(by_key, plain);
        for (id, stream) in streams.iter_mut() {
            assert_eq!(Some(&*stream), plain.get(&id));
        }
    }
}
