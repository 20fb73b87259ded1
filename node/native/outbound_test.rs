use super::*;
use crate::ring::ENTRIES;
use crate::ring::ring_test::Reader;

fn pair() -> (Outbound, Reader) {
    let memory = Memory::new();
    (Outbound::new(Arc::clone(&memory)), Reader::new(memory))
}

fn entry(number: u32) -> Entry {
    [1, number, 0, 0, 0, 0, 0, 0]
}

#[test]
fn what_finds_no_room_comes_later_and_in_order() {
    let (mut outbound, mut reader) = pair();
    let count = 3 * ENTRIES;
    for number in 0..count {
        let _ = outbound.complete(entry(number), b"head", b"body");
    }
    for number in 0..count {
        if number % 1000 == 0 {
            outbound.spill();
        }
        let next = reader.next().or_else(|| {
            outbound.spill();
            reader.next()
        });
        let (entry, text) = next.unwrap();
        assert_eq!((entry[1], text.as_slice()), (number, &b"head"[..]));
    }
    outbound.spill();
    assert!(reader.next().is_none());
}

#[test]
fn javascript_hears_of_what_waits_though_it_slept_before_it_was_said_that_something_does() {
    let (mut outbound, mut reader) = pair();
    for number in 0..=ENTRIES {
        let _ = outbound.complete(entry(number), b"", b"");
    }
    for _ in 0..ENTRIES {
        reader.next().unwrap();
    }
    assert!(reader.next().is_none(), "the last one waits at the engine");
    reader.sleep();
    assert!(outbound.rest(), "it is rung for");
    assert_eq!(reader.next().unwrap().0[1], ENTRIES);
}

#[test]
fn an_engine_that_rests_with_nothing_new_rings_for_nobody() {
    let (mut outbound, mut reader) = pair();
    assert!(!outbound.rest());
    assert!(!outbound.complete(entry(0), b"", b""));
    assert!(outbound.rest());
    assert!(!outbound.rest());
    assert!(reader.next().is_some());
}
